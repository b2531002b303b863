"""The simulated study of a session: what it is of, what is known of it, what is said of it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pandas as pd

from kanon.base.fingerprint import fingerprint_of
from kanon.base.formatting import counted, thin
from kanon.base.how_texts import Sections
from kanon.cards import Card
from kanon.experiments.criteria import L_CARD, T_CARD
from kanon.experiments.simulated.columns import COLUMNS, DISTRIBUTIONS, SIZES, Column
from kanon.experiments.simulated.files import StudyInputs, made_with, read_study
from kanon.experiments.simulated.ranks import DIGITS, complete, places
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
from kanon.studio.session.parts import Message
from kanon.studio.session.run_plan import plan_of, settings_of
from kanon.studio.session.text import plain
from kanon.studio.session.work import Request, Work, metric_called

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


def column_titles() -> dict[str, str]:
    return {
        column.name: f"{DISTRIBUTIONS[column.distribution].title}, {column.values} values"
        for column in COLUMNS
    }


# --- sentences ------------------------------------------------------------------------------
def to_run(work: Work, simulation: Simulation) -> str:
    """What the button that starts it says; nothing if nothing is lacking."""
    missing = len(simulation.lacking(work))
    if not missing:
        return ""
    if missing == len(RUNS):
        return "Run the study"
    return f"Go on: {missing} of {len(RUNS)} results to find"


def nothing_said() -> str:
    return (
        f"Nothing was found with these settings yet. The study makes 127 runs: with {thin(20000)} "
        "different records about half a minute. What is found stays for this session, and a "
        "cancelled study goes on where it was."
    )


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
