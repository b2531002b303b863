"""The part *Which strategy in general?*, about simulated sensitive columns."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pandas as pd
import streamlit as st

from kanon.base.fingerprint import compute_fingerprint
from kanon.base.formatting import count_noun, write_count
from kanon.base.how_texts import Sections
from kanon.cards import Card
from kanon.charts.simulated import draw_mean_ranks
from kanon.errors import KanonError
from kanon.experiments.criteria import L_CARD, T_CARD
from kanon.experiments.simulated.columns import COLUMNS, DISTRIBUTIONS, SIZES, Column
from kanon.experiments.simulated.files import (
    MEGABYTES,
    StudyInputs,
    create_study_inputs,
    read_study,
    write_study,
)
from kanon.experiments.simulated.ranks import (
    DIGITS,
    build_results_table,
    compute_mean_ranks,
    list_complete_columns,
    rank_strategies,
)
from kanon.experiments.simulated.study import (
    CRITERIA,
    RUNS,
    STRATEGIES,
    RunResult,
    Study,
    StudyRun,
    create_study,
    list_missing_runs,
)
from kanon.measures.alteration import CARD as ALTERATION_CARD
from kanon.measures.comparing import Standing
from kanon.plan import Plan
from kanon.run import prepare
from kanon.strategies import SCOPES
from kanon.studio.decide.state import SimulatedView
from kanon.studio.jobs.durations import measure_job
from kanon.studio.jobs.partial_results import request_study, run_simulations
from kanon.studio.session import state
from kanon.studio.session.parts import Message
from kanon.studio.session.run_plan import build_plan, hash_run_inputs
from kanon.studio.session.text import escape_markdown
from kanon.studio.session.work import JobRequest, SessionState, get_metric
from kanon.studio.widgets.controls import draw_segments, draw_upload_field
from kanon.studio.widgets.files import draw_code_buttons, draw_file_button
from kanon.studio.widgets.picture import PictureSettings, draw_data_button, show_picture
from kanon.studio.widgets.progress import draw_start_button, show_earlier_study
from kanon.studio.widgets.standings import build_standing_table

_how = Sections(__file__)

_MOST_STUDIES = 20  # so many studies are remembered; the oldest are dropped


@dataclass(frozen=True, eq=False)
class Simulation:
    study: Study  # the worker's input
    made: StudyInputs  # everything that its results depend on

    @property
    def key(self) -> str:
        return compute_fingerprint(self.made)

    def known(self, work: SessionState) -> tuple[RunResult, ...]:
        return work.findings.simulations.get(self.key, ())

    def lacking(self, work: SessionState) -> list[StudyRun]:
        return list_missing_runs(self.known(work))


def show_simulated_panel(work: SessionState) -> None:
    st.markdown(
        "Which strategy is best depends on the sensitive column. This study draws 21 random "
        "columns, with 5 to 500 values in three distributions. It ranks the strategies S1 to S7 "
        "on each of them, with your records and your hierarchies."
    )
    try:
        key = get_simulation_settings(work)
        simulation = state.get_or_compute("simulated study", key, lambda: build_simulation(work))
    except KanonError as error:
        st.error(escape_markdown(error.sentence), icon=":material/error:")
        return
    if simulation.study.task.classes.of == "persons":
        st.caption("Here k counts persons.")
    _show_start(work, simulation)
    outcomes = simulation.known(work)
    if list_complete_columns(outcomes):
        _show_ranks(work, simulation, outcomes)
    elif outcomes:
        st.caption(describe_results(work, simulation))
    elif "simulating" not in work.running:
        st.info(
            "There are no results with these settings yet. The study makes 127 runs, which take "
            f"about half a minute for {write_count(20000)} different records. Results "
            "are kept for this session, and a cancelled study continues where it stopped."
        )
    _show_study_files(work, simulation, outcomes)
    with st.expander("How it is computed", icon=":material/calculate:"):
        st.markdown(explain_simulation(simulation))
        draw_code_buttons("study", lambda: _get_plan(work))


def _show_start(work: SessionState, simulation: Simulation) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        draw_segments(
            "Measure l and t in",
            {name: card.title for name, card in SCOPES.items()},
            "study-scope",
            work.view(SimulatedView).scope,
            "scope",
            SimulatedView,
            help="Where strategies measure l and t when they choose a merge. By definition this "
            "is the whole table. Measuring in the merged class takes about four times as "
            "long.",
        )
        kind = f"simulating, {work.view(SimulatedView).scope}"
        lacking = len(simulation.lacking(work))
        label = f"Continue: {lacking} of {len(RUNS)} results to find" if lacking else ""
        if lacking == len(RUNS):
            label = "Run the study"
        effort = measure_job(work, kind, lacking)
        draw_start_button("simulating", label, build_simulation_request, effort=effort)
    show_earlier_study(work, "simulating", simulation.key)


def _show_ranks(
    work: SessionState, simulation: Simulation, outcomes: tuple[RunResult, ...]
) -> None:
    about = f"{simulation.key}|{len(outcomes)}"
    means = compute_mean_ranks(outcomes)
    chart = state.get_or_compute("simulated ranks", about, lambda: draw_mean_ranks(means))
    settings = PictureSettings.from_table(
        work, "simulated sensitive columns", f"metric: {simulation.study.metric.card.title}"
    )
    show_picture(
        chart, lambda: means.reset_index(names="strategy"), "strategies-in-general", about, settings
    )
    st.markdown(f"**{describe_best_strategy(means)}**")
    st.caption(describe_results(work, simulation))
    titles = {
        name: f"{card.title} {'↑' if card.direction == 'higher' else '↓'}"
        for name, card in CRITERIA.items()
    }
    criterion = work.view(SimulatedView).criterion
    about, into = CRITERIA[criterion].summary, SimulatedView
    draw_segments("Ranks by", titles, "study-criterion", criterion, "criterion", into, help=about)
    columns = {name: name.upper() for name in STRATEGIES}
    rows = {
        column.name: f"{DISTRIBUTIONS[column.distribution].title}, {column.values} values"
        for column in COLUMNS
    }
    st.table(build_standing_table(get_ranks(outcomes, criterion), rows, columns, DIGITS))
    st.caption(
        "Each cell shows the area in per cent, with its rank among the seven in brackets; 1 is the "
        "best. The shade goes from the best (green) to the worst (orange)."
    )


def _show_study_files(
    work: SessionState, simulation: Simulation, outcomes: tuple[RunResult, ...]
) -> None:
    about = f"{simulation.key}|{len(outcomes)}"
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if outcomes:
            draw_data_button(
                "All results",
                lambda: build_results_table(simulation.study, outcomes),
                "study-results",
                about,
            )
            draw_file_button(
                "Study as a file", lambda: write_study(simulation.made, outcomes), "study",
                "json", about, "study-file",
                help="STUDY.json, to continue another day, here or with python -m kanon simulate "
                "--state. It contains no values from the table.",
            )  # fmt: skip
    key = f"study-upload-{work.version}-{work.view(SimulatedView).uploads}"
    draw_upload_field(
        "Load a study file", MEGABYTES, type=["json"], key=key, on_change=_load_study,
        args=(key, simulation),
    )  # fmt: skip


def _load_study(key: str, simulation: Simulation) -> None:
    file = state.get_widget_value(key)
    if file is not None:
        state.try_update(lambda: load_study(state.get_session(), simulation, file.getvalue()))


# --- the study and its results ----------------------------------------------------------------
def _get_plan(work: SessionState) -> Plan:
    scope = work.view(SimulatedView).scope
    return build_plan(
        work.replace_sections(
            replace(work.settings, algorithm="gaa", strategy="s1", scope=scope, models=())
        )
    )


def get_simulation_settings(work: SessionState) -> str:
    # A run of S1 depends on neither scope nor seed.
    return compute_fingerprint(
        hash_run_inputs(work, _get_plan(work)), work.view(SimulatedView).scope, work.settings.seed
    )


def build_simulation(work: SessionState) -> Simulation:
    study = create_study(prepare(_get_plan(work), work.table.records))
    return Simulation(study, create_study_inputs(study))


def build_simulation_request(work: SessionState) -> JobRequest:
    simulation = build_simulation(work)
    arguments = (simulation.study, simulation.lacking(work))
    return request_study("simulating", run_simulations, arguments, store_results, simulation.key)


def store_results(work: SessionState, key: str, parts: Sequence[object]) -> SessionState:
    outcomes = {result.run: result for result in work.findings.simulations.get(key, ())}
    outcomes |= {result.run: result for result in parts if isinstance(result, RunResult)}
    others = {name: earlier for name, earlier in work.findings.simulations.items() if name != key}
    recent = dict([*others.items()][-(_MOST_STUDIES - 1) :])
    return work.replace_sections(
        replace(work.findings, simulations={**recent, key: tuple(outcomes.values())})
    )


def load_study(work: SessionState, simulation: Simulation, content: bytes) -> SessionState:
    loaded = read_study(content, simulation.made)
    view = replace(work.view(SimulatedView), uploads=work.view(SimulatedView).uploads + 1)
    notice = count_noun(len(loaded), "result was loaded.", "results were loaded.")
    new = store_results(work, simulation.key, loaded)
    return new.replace_sections(view, Message(notice=notice))


def get_ranks(outcomes: Sequence[RunResult], criterion: str) -> Standing:
    standing = rank_strategies(outcomes, criterion)
    names = [Column(*about).name for about in standing.values.index]
    values, ranks = (frame.set_axis(names, axis=0) for frame in (standing.values, standing.ranks))
    return replace(standing, values=values, ranks=ranks)


# --- sentences ------------------------------------------------------------------------------
def describe_results(work: SessionState, simulation: Simulation) -> str:
    outcomes = simulation.known(work)
    low, high = simulation.study.interval
    sentence = (
        f"Areas for k from {write_count(low)} to {write_count(high)}, guided by "
        f"{escape_markdown(get_metric(work, work.settings.metric).card.title)}, with l "
        f"and t measured in {SCOPES[work.view(SimulatedView).scope].title}. They say what "
        "to expect of a strategy in general, not on your own column; for that, use Compare."
    )
    if len(outcomes) < len(RUNS):
        part = (
            f"So far there are {len(outcomes)} of {len(RUNS)} results. The ranks use the "
            f"{len(list_complete_columns(outcomes))} of "
            f"{len(COLUMNS)} columns on which all strategies ran."
        )
        sentence = f"{part} {sentence}"
    return sentence


def describe_best_strategy(means: pd.DataFrame) -> str:
    """Say which strategy has the best mean rank in all criteria, if one has."""
    rounded = means[list(CRITERIA)].round(DIGITS)
    best = (rounded == rounded.min()).all(axis=1)
    names = [str(name).upper() for name in means.index[best]]
    if len(names) == 1:
        return f"{names[0]} is ahead in all three criteria."
    if names:
        return f"These tie for the lead in all three criteria: {', '.join(names)}."
    return (
        "No strategy is ahead in all three criteria, so none is best in general. Decide what "
        "matters more for your purpose: little alteration or mixed sensitive values."
    )


def explain_simulation(simulation: Simulation) -> str:
    low, high = simulation.study.interval
    return _how(
        "simulated",
        sizes=", ".join(map(str, SIZES)),
        seed=simulation.study.task.seed,
        low=write_count(low),
        high=write_count(high),
        ks=", ".join(write_count(k) for k in simulation.study.ks),
        alteration=_describe_card(ALTERATION_CARD),
        diversity=_describe_card(L_CARD),
        distance=_describe_card(T_CARD),
    )


def _describe_card(card: Card) -> str:
    return escape_markdown(f"{card.title}: {card.summary}")
