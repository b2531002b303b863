"""From a plan and a table to up to three proposals, how steady they are, and every alternative."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from kanon.base.formatting import counted, percent, thin, write_decimals
from kanon.base.progress import Progress, no_progress, stretch
from kanon.errors import PlanError
from kanon.experiments.advisor.proposals import (
    Proposal,
    about_first,
    about_limits,
    best_over_k,
    propose,
)
from kanon.experiments.advisor.repetition import (
    ProposalStability,
    RepeatedLoss,
    run_again,
    steadiness,
)
from kanon.experiments.advisor.ways import (
    MEASURED,
    averaged_k,
    compared,
    looked_at,
    plan_to_advise,
    runs_of,
    tried_k,
    ways,
)
from kanon.experiments.advisor.weights import (
    USUAL,
    WeighedWays,
    checked_limits,
    checked_weights,
    shares_of,
    weigh,
)
from kanon.experiments.comparison import Comparison
from kanon.experiments.sweep import Configuration, PlannedRun, solve_sweep
from kanon.plan import Plan
from kanon.run import prepare
from kanon.sources.tables import Table

AGAIN = 0.7
"""The share of the time after which every way was tried, and the proposals are run again."""


@dataclass(frozen=True, eq=False)
class Advice:
    """What the advisor says.

    Attributes
    ----------
    weighed
        Every way with its score.
    again
        Per place of a way what it lost when it was run again; of proposals, if that was asked for.
    """

    weighed: WeighedWays
    again: Mapping[int, RepeatedLoss]

    @cached_property
    def proposals(self) -> tuple[Proposal, ...]:
        """The best way by the weights, and at most two alternatives."""
        return propose(self.weighed)

    @cached_property
    def best_at(self) -> np.ndarray:
        """At how many of the k that were tried each way is the best. Shape (W,)."""
        return best_over_k(self.weighed)

    @cached_property
    def steady(self) -> ProposalStability | None:
        """Whether the first proposal stays the first; None if they were not all run again."""
        if any(one.place not in self.again for one in self.proposals):
            return None
        shares = shares_of(self.weighed.weights, self.weighed.concerns)
        return steadiness([self.again[one.place] for one in self.proposals], shares)

    def title(self, proposal: Proposal) -> str:
        """What a proposal is called, such as ``NLLM · S3 (merged class)``."""
        return self.weighed.title(proposal.place)

    def over_k(self, proposal: Proposal) -> str:
        """At how many k it is the best, in a sentence."""
        ks = self.weighed.comparison.ks
        return (
            f"The best at {thin(int(self.best_at[proposal.place]))} of {counted(len(ks), 'k', 'k')}"
            f" from {thin(ks[0])} to {thin(ks[-1])}, alone or with others."
        )

    @property
    def about_ties(self) -> str:
        """Whether the order of ties decides, in a sentence; nothing of a single proposal."""
        steady = self.steady
        if steady is None or len(self.proposals) == 1:
            return ""
        bands = ", ".join(
            f"{self.title(one)} {write_decimals(low, 1)} to {percent(high)}"
            for one, low, high in zip(self.proposals, steady.low, steady.high, strict=True)
        )
        if steady.undecided:
            return f"Undecided: the order of ties decides which is the first. Scores: {bands}."
        return f"Whatever the order of ties, the first stays the first. Scores: {bands}."

    @property
    def about_records(self) -> str:
        """Whether other records turn the choice round, in a sentence; nothing of one proposal."""
        steady = self.steady
        if steady is None or len(self.proposals) == 1:
            return ""
        possible, tables = steady.drawn - steady.impossible, counted(steady.drawn, "table")
        if not possible:
            return (
                f"None of {tables} whose records were drawn again from this one can meet the "
                "models that are required, so nothing is known of other records."
            )
        said = (
            f"On {thin(steady.held)} of {counted(possible, 'table')} whose records were drawn "
            "again from this one the first stays the best of these proposals."
        )
        if not steady.impossible:
            return said
        return f"{said} {thin(steady.impossible)} more cannot meet the models that are required."

    def said(self) -> tuple[str, ...]:
        """All of it in sentences: the proposals, and how steady they are."""
        weighed = self.weighed
        found = []
        if not weighed.comparison.sensitive:
            found.append(
                f"Without a sensitive column only S1 can be followed: {len(weighed.ways)} ways, "
                "compared by alteration alone."
            )
        found += [about for about in (about_first(weighed), about_limits(weighed)) if about]
        for number, one in enumerate(self.proposals, 1):
            score = percent(float(weighed.scores[one.place]))
            lost = percent(weighed.figures(one.place)["mean_alteration"])
            found.append(
                f"{number}. {self.title(one)}: score {score} ↓, alteration {lost} ↓. {one.reason} "
                f"{self.over_k(one)}"
            )
        found += [self.about_ties] if self.about_ties else []
        found += [self.about_records] if self.about_records else []
        return tuple(found)

    def table(self) -> pd.DataFrame:
        """Every way, the best first; see :meth:`~.weighing.Weighed.table`."""
        return self.weighed.table()

    @property
    def numbers(self) -> dict[str, Any]:
        """The same as JSON can hold it."""
        weighed, steady = self.weighed, self.steady
        return {
            "k": list(weighed.ks),
            "weights": dict(weighed.weights),
            "limits": dict(weighed.limits),
            "sensitive": weighed.comparison.sensitive or None,
            "ways": len(weighed.ways),
            "meeting_limits": int(weighed.meets.sum()),
            "warning": about_first(weighed) or None,
            "proposals": [
                {
                    **self._plan_keys(one),
                    "for": one.sake,
                    "at_k": weighed.at_k[one.place].tolist(),
                    "score": float(weighed.scores[one.place]),
                    **weighed.figures(one.place),
                    "front": bool(weighed.front[one.place]),
                    "meets_limits": bool(weighed.meets[one.place]),
                    "best_at": int(self.best_at[one.place]),
                    "reason": one.reason,
                }
                for one in self.proposals
            ],
            "tried_k": list(weighed.comparison.ks),
            "ties": None if steady is None else {
                "undecided": steady.undecided, "low": steady.low, "high": steady.high,
            },
            "drawn_again": None if steady is None else {
                "held": steady.held, "drawn": steady.drawn,
                "impossible": steady.impossible,
            },
        }  # fmt: skip

    def _plan_keys(self, proposal: Proposal) -> dict[str, str]:
        own = self.weighed.ways[proposal.place].configuration
        return {"metric": own.metric, "strategy": own.strategy, "scope": own.scope}


def advise(
    plan: Plan,
    table: Table | pd.DataFrame,
    k: int | tuple[int, int] | None = None,
    weights: Mapping[str, float] = USUAL,
    limits: Mapping[str, float] | None = None,
    folder: Path = Path(),
    progress: Progress = no_progress,
    workers: int | None = None,
    steady: bool = True,
) -> Advice:
    """Try every published metric, strategy and scope on a table, and propose up to three.

    Parameters
    ----------
    plan
        Roles, hierarchies and models. The algorithm is GAA; the plan's metric, strategy and scope
        give way.
    table, folder
        See :func:`kanon.run.preparation.prepare`.
    k
        One k, or a range, over which criteria are averaged (see
        :func:`kanon.experiments.advisor.ways.averaged_k`); by default the plan's.
    weights
        How much ``utility``, ``l`` and ``t`` matter; see
        :func:`kanon.experiments.advisor.weights.checked_weights`.
    limits
        What ``k`` and ``l`` of every class should be at least, and ``t`` at most; see
        :func:`kanon.experiments.advisor.weights.checked_limits`.
    workers
        How many runs may go at once; by default one per core.
    steady
        Whether the proposals are run again: with other orders of ties, and on records drawn again.

    Raises
    ------
    PlanError
        A weight, a limit or a k is not allowed, or neither a k is given nor asked for by the plan.
    Unsatisfiable
        The table has fewer records than a k, or cannot meet a model.
    KanonError
        See :func:`kanon.run.preparation.prepare`.

    Examples
    --------
    Without a sensitive column there are seven ways, one per metric.

    >>> table = pd.DataFrame({"sex": ["F", "F", "M"]})
    >>> plan = Plan.from_content({"version": 2, "algorithm": {"name": "gaa"}, "columns":
    ...     {"sex": {"role": "quasi-identifier", "hierarchy": {"build": "suppression"}}},
    ...     "privacy": [{"model": "k-anonymity", "k": 2}]})
    >>> found = advise(plan, table)
    >>> len(found.weighed.ways), found.weighed.scores[0].item(), len(found.proposals)
    (7, 100.0, 1)
    """
    checked_weights(weights)  # what is wrong with them is said before anything runs
    checked_limits(limits or {})
    plan = plan_to_advise(plan)
    if k is None and plan.k < 2:
        raise PlanError("The plan asks for no k, so name the one to advise on, or a range (--k 5).")
    low, high = k if isinstance(k, tuple) else (plan.k if k is None else k, None)
    ks = averaged_k(low, high)
    prepared = prepare(plan, table, folder)
    wanted = ways(plan.led_by is not None, plan.algorithm.tie_seed)
    runs = runs_of(prepared, wanted)
    runs[0].task.for_k(max(ks)).check()
    tried = tried_k(ks, prepared.classes.highest_k)
    comparison, again = try_ways(
        progress, runs, wanted, tried, ks, weights, limits, workers, steady
    )
    return Advice(weigh(comparison, ks, weights, limits), again)


def try_ways(
    progress: Progress,
    runs: Sequence[PlannedRun],
    wanted: Sequence[Configuration],
    tried: Sequence[int],
    ks: Sequence[int],
    weights: Mapping[str, float] = USUAL,
    limits: Mapping[str, float] | None = None,
    workers: int | None = None,
    steady: bool = True,
) -> tuple[Comparison, dict[int, RepeatedLoss]]:
    """Run every way, and the proposals again: what a worker process is given.

    Parameters
    ----------
    runs, wanted
        The ways, as :func:`kanon.experiments.advisor.ways.runs_of` gives them, and what each is.
    tried, ks
        All k that are looked at, and those that are averaged over.
    progress, weights, limits, workers, steady
        See :func:`advise`.

    Returns
    -------
    comparison
        The ways side by side.
    again
        Per place of a proposal what it lost when it was run again.
    """
    end = AGAIN if steady else 1.0
    looked = looked_at(tried, runs[0].task.classes.highest_k)
    found = solve_sweep(stretch(progress, 0.0, end), runs, looked, MEASURED, workers)
    comparison = compared(runs[0].task, wanted, found, tried)
    if not steady:
        return comparison, {}
    weighed = weigh(comparison, ks, weights, limits)
    places = [one.place for one in propose(weighed)]
    proposed = [runs[place] for place in places]
    repeated = run_again(stretch(progress, end, 1.0), proposed, ks, weighed.limits, workers)
    return comparison, dict(zip(places, repeated, strict=True))
