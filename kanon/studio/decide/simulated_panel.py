"""Which strategy in general? The part of the page Decide about simulated sensitive columns."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pandas as pd
import streamlit as st

from kanon.base.fingerprint import fingerprint_of
from kanon.base.formatting import counted, thin
from kanon.base.how_texts import Sections
from kanon.cards import Card
from kanon.charts.simulated import mean_ranks_chart
from kanon.errors import KanonError
from kanon.experiments.criteria import L_CARD, T_CARD
from kanon.experiments.simulated.columns import COLUMNS, DISTRIBUTIONS, SIZES, Column
from kanon.experiments.simulated.files import (
    MEGABYTES,
    StudyInputs,
    made_with,
    read_study,
    written_study,
)
from kanon.experiments.simulated.ranks import DIGITS, complete, mean_ranks, places, results
from kanon.experiments.simulated.study import (
    CRITERIA,
    RUNS,
    STRATEGIES,
    RunResult,
    Study,
    StudyRun,
    lacking,
    study_of,
)
from kanon.measures.alteration import CARD as ALTERATION_CARD
from kanon.measures.comparing import Standing
from kanon.plan import Plan
from kanon.run import prepare
from kanon.strategies import SCOPES
from kanon.studio.decide.state import SimulatedView
from kanon.studio.jobs.partial_results import simulate_runs, study_request
from kanon.studio.session import state
from kanon.studio.session.parts import Message
from kanon.studio.session.run_plan import plan_of, settings_of
from kanon.studio.session.text import plain
from kanon.studio.session.work import Request, Work, metric_called
from kanon.studio.widgets.controls import segments, upload_field
from kanon.studio.widgets.files import file_button
from kanon.studio.widgets.picture import PictureSettings, data_button, picture
from kanon.studio.widgets.progress import begin_button, earlier_study
from kanon.studio.widgets.standings import standing_table

_how = Sections(__file__)

_MOST_STUDIES = 20  # so many studies are remembered; the oldest give way


@dataclass(frozen=True, eq=False)
class Simulation:
    study: Study  # what a worker is given
    made: StudyInputs  # what its results depend on

    @property
    def key(self) -> str:
        return fingerprint_of(self.made)

    def known(self, work: Work) -> tuple[RunResult, ...]:
        return work.findings.simulations.get(self.key, ())

    def lacking(self, work: Work) -> list[StudyRun]:
        return lacking(self.known(work))


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
        st.info(
            "Nothing was found with these settings yet. The study makes 127 runs: with "
            f"{thin(20000)} different records about half a minute. What is found stays for this "
            "session, and a cancelled study goes on where it was."
        )
    _files(work, simulation, found)
    with st.expander("How it is computed", icon=":material/calculate:"):
        st.markdown(how_simulated(simulation))


def _start(work: Work, simulation: Simulation) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        segments(
            "l and t are those of",
            {name: card.title for name, card in SCOPES.items()},
            "study-scope",
            work.view(SimulatedView).scope,
            "scope",
            SimulatedView,
            help="What the strategies look at when they pick a partner. By the definition it is "
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
    about, into = CRITERIA[criterion].summary, SimulatedView
    segments("Ranks by", titles, "study-criterion", criterion, "criterion", into, help=about)
    columns = {name: name.upper() for name in STRATEGIES}
    rows = {
        column.name: f"{DISTRIBUTIONS[column.distribution].title}, {column.values} values"
        for column in COLUMNS
    }
    st.table(standing_table(places_shown(found, criterion), rows, columns, DIGITS))
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


# --- what it is of, and what is known of it ---------------------------------------------------
def _plan(work: Work) -> Plan:
    """The plan of the study: greedy merging whatever is chosen, for k-anonymity alone."""
    scope = work.view(SimulatedView).scope
    return plan_of(
        work.with_parts(
            replace(work.settings, algorithm="gaa", strategy="s1", scope=scope, models=())
        )
    )


def settings_of_simulation(work: Work) -> str:
    # A run of S1 depends on neither scope nor seed.
    return fingerprint_of(
        settings_of(work, _plan(work)), work.view(SimulatedView).scope, work.settings.seed
    )


def simulation_of(work: Work) -> Simulation:
    """The study of the table with the current settings; KanonError if there can be none."""
    study = study_of(prepare(_plan(work), work.table.records))
    return Simulation(study, made_with(study))


def simulation_request(work: Work) -> Request:
    simulation = simulation_of(work)
    given = (simulation.study, simulation.lacking(work))
    return study_request("simulating", simulate_runs, given, with_results, simulation.key)


def with_results(work: Work, key: str, parts: Sequence[object]) -> Work:
    found = {one.run: one for one in work.findings.simulations.get(key, ())}
    found |= {one.run: one for one in parts if isinstance(one, RunResult)}
    others = {name: each for name, each in work.findings.simulations.items() if name != key}
    kept = dict([*others.items()][-(_MOST_STUDIES - 1) :])
    return work.with_parts(replace(work.findings, simulations={**kept, key: tuple(found.values())}))


def opened_study(work: Work, simulation: Simulation, content: bytes) -> Work:
    """The work with the results of a study file; StudyError if it is of another study or none."""
    found = read_study(content, simulation.made)
    view = replace(work.view(SimulatedView), uploads=work.view(SimulatedView).uploads + 1)
    said = counted(len(found), "result was loaded.", "results were loaded.")
    new = with_results(work, simulation.key, found)
    return new.with_parts(view, Message(notice=said))


def places_shown(found: Sequence[RunResult], criterion: str) -> Standing:
    ranked = places(found, criterion)
    names = [Column(*about).name for about in ranked.values.index]
    values, ranks = (one.set_axis(names, axis=0) for one in (ranked.values, ranked.ranks))
    return replace(ranked, values=values, ranks=ranks)


# --- sentences ------------------------------------------------------------------------------
def to_run(work: Work, simulation: Simulation) -> str:
    """What the button that starts it says; nothing if nothing is lacking."""
    missing = len(simulation.lacking(work))
    if not missing:
        return ""
    if missing == len(RUNS):
        return "Run the study"
    return f"Go on: {missing} of {len(RUNS)} results to find"


def known_said(work: Work, simulation: Simulation) -> str:
    found = simulation.known(work)
    low, high = simulation.study.interval
    said = (
        f"Areas on k from {thin(low)} to {thin(high)}, guided by "
        f"{plain(metric_called(work, work.settings.metric).card.title)}, l and t of "
        f"{SCOPES[work.view(SimulatedView).scope].title}. They say what to expect of a strategy "
        "on some column, and nothing of your own: put that one on Compare."
    )
    if len(found) < len(RUNS):
        part = (
            f"So far {len(found)} of {len(RUNS)} results are there; ranked are the "
            f"{len(complete(found))} of {len(COLUMNS)} columns on which all strategies were run."
        )
        said = f"{part} {said}"
    return said


def best_said(means: pd.DataFrame) -> str:
    """Which strategy has the best mean rank in everything, if one has."""
    ranked = means[list(CRITERIA)].round(DIGITS)
    best = (ranked == ranked.min()).all(axis=1)
    names = [str(name).upper() for name in means.index[best]]
    if len(names) == 1:
        return f"{names[0]} is ahead in all three criteria."
    if names:
        return f"Ahead in all three criteria, and level with each other: {', '.join(names)}."
    return (
        "No strategy is ahead in all three criteria, so there is none that is best in general: "
        "decide what matters more for your purpose, little alteration, or mixed sensitive values."
    )


def how_simulated(simulation: Simulation) -> str:
    low, high = simulation.study.interval
    return _how(
        "simulated",
        sizes=", ".join(map(str, SIZES)),
        seed=simulation.study.task.seed,
        first=STRATEGIES[0].upper(),
        last=STRATEGIES[-1].upper(),
        low=thin(low),
        high=thin(high),
        ks=", ".join(thin(k) for k in simulation.study.ks),
        alteration=_called(ALTERATION_CARD),
        diversity=_called(L_CARD),
        distance=_called(T_CARD),
    )


def _called(card: Card) -> str:
    return plain(f"{card.title}: {card.summary}")
