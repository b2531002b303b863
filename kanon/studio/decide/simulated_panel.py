"""Which strategy in general? The part of the page Decide about simulated sensitive columns."""

import streamlit as st

from kanon.charts.simulated import mean_ranks_chart
from kanon.errors import KanonError
from kanon.experiments.simulated.files import MEGABYTES, written_study
from kanon.experiments.simulated.ranks import DIGITS, complete, mean_ranks, results
from kanon.experiments.simulated.study import CRITERIA, STRATEGIES, RunResult
from kanon.strategies import SCOPES
from kanon.studio.decide.simulated import (
    Simulation,
    best_said,
    column_titles,
    how_simulated,
    known_said,
    nothing_said,
    opened_study,
    places_shown,
    settings_of_simulation,
    simulation_of,
    simulation_request,
    to_run,
)
from kanon.studio.decide.state import SimulatedView
from kanon.studio.session import state
from kanon.studio.session.state import bound
from kanon.studio.session.text import plain
from kanon.studio.session.work import Work
from kanon.studio.widgets.controls import upload_field
from kanon.studio.widgets.files import file_button
from kanon.studio.widgets.picture import PictureSettings, data_button, picture
from kanon.studio.widgets.progress import begin_button, earlier_study
from kanon.studio.widgets.standings import standing_table


def show(work: Work) -> None:
    st.markdown(
        "What a strategy is worth depends on the sensitive column. So 21 columns are drawn, "
        "of 5 to 500 values in three distributions, and the strategies S1 to S7 are ranked "
        "on each, with your records and your hierarchies."
    )
    try:
        key = settings_of_simulation(work)
        simulation = state.remembered("simulated study", key, lambda: simulation_of(work))
    except KanonError as error:
        st.error(plain(error.sentence), icon=":material/error:")
        return
    if simulation.study.task.classes.of == "persons":
        st.caption("Here k counts persons.")
    _start(work, simulation)
    found = simulation.known(work)
    if complete(found):
        _ranks(work, simulation, found)
    elif found:
        st.caption(known_said(work, simulation))
    elif "simulating" not in work.running:
        st.info(nothing_said())
    _files(work, simulation, found)
    with st.expander("How it is computed", icon=":material/calculate:"):
        st.markdown(how_simulated(simulation))


def _choice(field: str, label: str, titles: dict[str, str], chosen: str, about: str) -> None:
    st.segmented_control(
        label,
        list(titles),
        **bound(f"study-{field}", chosen, field, into=SimulatedView, keep=True),
        format_func=lambda one: titles[one],
        help=about,
    )


def _start(work: Work, simulation: Simulation) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        _choice(
            "scope",
            "l and t are those of",
            {name: card.title for name, card in SCOPES.items()},
            work.view(SimulatedView).scope,
            "What the strategies look at when they pick a partner. By the definition it is "
            "the whole table; the merged class alone takes about four times as long.",
        )
        begin_button("simulating", to_run(work, simulation), simulation_request)
    earlier_study(work, "simulating", simulation.key)


def _ranks(work: Work, simulation: Simulation, found: tuple[RunResult, ...]) -> None:
    about = f"{simulation.key}|{len(found)}"
    means = mean_ranks(found)
    drawn = state.remembered("simulated ranks", about, lambda: mean_ranks_chart(means))
    settings = PictureSettings.of_table(
        work, "simulated sensitive columns", f"metric: {simulation.study.metric.card.title}"
    )
    picture(
        drawn, lambda: means.reset_index(names="strategy"), "strategies-in-general", about, settings
    )
    st.markdown(f"**{best_said(means)}**")
    st.caption(known_said(work, simulation))
    titles = {
        name: f"{card.title} {'↑' if card.direction == 'higher' else '↓'}"
        for name, card in CRITERIA.items()
    }
    criterion = work.view(SimulatedView).criterion
    card = CRITERIA[criterion]
    _choice("criterion", "Ranks by", titles, criterion, card.summary)
    columns = {name: name.upper() for name in STRATEGIES}
    ranked = places_shown(found, criterion)
    st.table(standing_table(ranked, column_titles(), columns, DIGITS))
    st.caption(
        "Each cell: the area in per cent, in brackets its rank among the seven, 1 the best. "
        "The shade goes from the best (green) to the last (orange)."
    )


def _files(work: Work, simulation: Simulation, found: tuple[RunResult, ...]) -> None:
    about = f"{simulation.key}|{len(found)}"
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if found:
            data_button(
                "All results", lambda: results(simulation.study, found), "study-results", about
            )
            file_button(
                "Study as a file", lambda: written_study(simulation.made, found), "study", "json",
                about, "study-file",
                help="STUDY.json, to go on with another day, here or by python -m kanon simulate "
                "--state. It holds no value of the table.",
            )  # fmt: skip
    key = f"study-upload-{work.version}-{work.view(SimulatedView).uploads}"
    upload_field(
        "Load a study file", MEGABYTES, type=["json"], key=key, on_change=_load,
        args=(key, simulation),
    )  # fmt: skip


def _load(key: str, simulation: Simulation) -> None:
    """Go on with a study; a file that is none, or of another study, is said and changes nothing."""
    given = state.typed(key)
    if given is not None:
        state.attempt(lambda: opened_study(state.work(), simulation, given.getvalue()))
