"""The part *Which strategy in general?*, about simulated sensitive columns."""

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

_MOST_STUDIES = 20  # so many studies are remembered; the oldest are dropped


@dataclass(frozen=True, eq=False)
class Simulation:
    study: Study  # the worker's input
    made: StudyInputs  # everything that its results depend on

    @property
    def key(self) -> str:
        return fingerprint_of(self.made)

    def known(self, work: Work) -> tuple[RunResult, ...]:
        return work.findings.simulations.get(self.key, ())

    def lacking(self, work: Work) -> list[StudyRun]:
        return lacking(self.known(work))


def show(work: Work) -> None:
    st.markdown(
        "Which strategy is best depends on the sensitive column. This study draws 21 random "
        "columns, with 5 to 500 values in three distributions. It ranks the strategies S1 to S7 "
        "on each of them, with your records and your hierarchies."
    )
    try:
        key = settings_of_simulation(work)
        simulation = state.remembered("simulated study", key, lambda: simulation_of(work))
    except KanonError as error:
        st.error(plain(error.sentence), icon=":material/error:")
        return
    if simulation.study.task.classes.of == "persons":
        st.caption("Here k counts persons.")
    _show_start(work, simulation)
    outcomes = simulation.known(work)
    if complete(outcomes):
        _show_ranks(work, simulation, outcomes)
    elif outcomes:
        st.caption(known_said(work, simulation))
    elif "simulating" not in work.running:
        st.info(
            "There are no results with these settings yet. The study makes 127 runs, which take "
            f"about half a minute for {thin(20000)} different records. Results stay for this "
            "session, and a cancelled study continues where it stopped."
        )
    _show_study_files(work, simulation, outcomes)
    with st.expander("How it is computed", icon=":material/calculate:"):
        st.markdown(how_simulated(simulation))


def _show_start(work: Work, simulation: Simulation) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        segments(
            "Measure l and t in",
            {name: card.title for name, card in SCOPES.items()},
            "study-scope",
            work.view(SimulatedView).scope,
            "scope",
            SimulatedView,
            help="Where strategies measure l and t when they choose a merge. By definition this is "
            "the whole table. The merged class alone takes about four times as long.",
        )
        begin_button("simulating", to_run(work, simulation), simulation_request)
    earlier_study(work, "simulating", simulation.key)


def _show_ranks(work: Work, simulation: Simulation, outcomes: tuple[RunResult, ...]) -> None:
    about = f"{simulation.key}|{len(outcomes)}"
    means = mean_ranks(outcomes)
    chart = state.remembered("simulated ranks", about, lambda: mean_ranks_chart(means))
    settings = PictureSettings.of_table(
        work, "simulated sensitive columns", f"metric: {simulation.study.metric.card.title}"
    )
    picture(
        chart, lambda: means.reset_index(names="strategy"), "strategies-in-general", about, settings
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
    st.table(standing_table(places_shown(outcomes, criterion), rows, columns, DIGITS))
    st.caption(
        "Each cell shows the area in per cent, with its rank among the seven in brackets; 1 is the "
        "best. The shade goes from the best (green) to the worst (orange)."
    )


def _show_study_files(work: Work, simulation: Simulation, outcomes: tuple[RunResult, ...]) -> None:
    about = f"{simulation.key}|{len(outcomes)}"
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if outcomes:
            data_button(
                "All results", lambda: results(simulation.study, outcomes), "study-results", about
            )
            file_button(
                "Study as a file", lambda: written_study(simulation.made, outcomes), "study",
                "json", about, "study-file",
                help="STUDY.json, to continue another day, here or with python -m kanon simulate "
                "--state. It contains no values of the table.",
            )  # fmt: skip
    key = f"study-upload-{work.version}-{work.view(SimulatedView).uploads}"
    upload_field(
        "Load a study file", MEGABYTES, type=["json"], key=key, on_change=_load_study,
        args=(key, simulation),
    )  # fmt: skip


def _load_study(key: str, simulation: Simulation) -> None:
    file = state.typed(key)
    if file is not None:
        state.attempt(lambda: opened_study(state.work(), simulation, file.getvalue()))


# --- the study and its results ----------------------------------------------------------------
def _get_plan(work: Work) -> Plan:
    scope = work.view(SimulatedView).scope
    return plan_of(
        work.with_parts(
            replace(work.settings, algorithm="gaa", strategy="s1", scope=scope, models=())
        )
    )


def settings_of_simulation(work: Work) -> str:
    # A run of S1 depends on neither scope nor seed.
    return fingerprint_of(
        settings_of(work, _get_plan(work)), work.view(SimulatedView).scope, work.settings.seed
    )


def simulation_of(work: Work) -> Simulation:
    study = study_of(prepare(_get_plan(work), work.table.records))
    return Simulation(study, made_with(study))


def simulation_request(work: Work) -> Request:
    simulation = simulation_of(work)
    arguments = (simulation.study, simulation.lacking(work))
    return study_request("simulating", simulate_runs, arguments, with_results, simulation.key)


def with_results(work: Work, key: str, parts: Sequence[object]) -> Work:
    outcomes = {result.run: result for result in work.findings.simulations.get(key, ())}
    outcomes |= {result.run: result for result in parts if isinstance(result, RunResult)}
    others = {name: earlier for name, earlier in work.findings.simulations.items() if name != key}
    recent = dict([*others.items()][-(_MOST_STUDIES - 1) :])
    return work.with_parts(
        replace(work.findings, simulations={**recent, key: tuple(outcomes.values())})
    )


def opened_study(work: Work, simulation: Simulation, content: bytes) -> Work:
    loaded = read_study(content, simulation.made)
    view = replace(work.view(SimulatedView), uploads=work.view(SimulatedView).uploads + 1)
    notice = counted(len(loaded), "result was loaded.", "results were loaded.")
    new = with_results(work, simulation.key, loaded)
    return new.with_parts(view, Message(notice=notice))


def places_shown(outcomes: Sequence[RunResult], criterion: str) -> Standing:
    standing = places(outcomes, criterion)
    names = [Column(*about).name for about in standing.values.index]
    values, ranks = (frame.set_axis(names, axis=0) for frame in (standing.values, standing.ranks))
    return replace(standing, values=values, ranks=ranks)


# --- sentences ------------------------------------------------------------------------------
def to_run(work: Work, simulation: Simulation) -> str:
    missing = len(simulation.lacking(work))
    if not missing:
        return ""
    if missing == len(RUNS):
        return "Run the study"
    return f"Continue: {missing} of {len(RUNS)} results to find"


def known_said(work: Work, simulation: Simulation) -> str:
    outcomes = simulation.known(work)
    low, high = simulation.study.interval
    sentence = (
        f"Areas for k from {thin(low)} to {thin(high)}, guided by "
        f"{plain(metric_called(work, work.settings.metric).card.title)}, with l and t measured in "
        f"{SCOPES[work.view(SimulatedView).scope].title}. They say what to expect of a strategy "
        "in general, not on your own column: use Compare for that."
    )
    if len(outcomes) < len(RUNS):
        part = (
            f"So far there are {len(outcomes)} of {len(RUNS)} results. The ranks use the "
            f"{len(complete(outcomes))} of {len(COLUMNS)} columns on which all strategies ran."
        )
        sentence = f"{part} {sentence}"
    return sentence


def best_said(means: pd.DataFrame) -> str:
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
        alteration=_describe_card(ALTERATION_CARD),
        diversity=_describe_card(L_CARD),
        distance=_describe_card(T_CARD),
    )


def _describe_card(card: Card) -> str:
    return plain(f"{card.title}: {card.summary}")
