"""From a plan and a table to up to three proposals, how steady they are, and all alternatives."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from kanon.base.formatting import count_noun, write_count, write_percent
from kanon.base.progress import Progress, ignore_progress, scale_progress
from kanon.base.rounding import write_decimals
from kanon.errors import PlanError
from kanon.experiments.advisor.proposals import (
    Proposal,
    count_best_k,
    describe_first_warning,
    describe_limits,
    propose,
)
from kanon.experiments.advisor.repetition import (
    ProposalStability,
    RepeatedLoss,
    measure_stability,
    run_again,
)
from kanon.experiments.advisor.ways import (
    ADVISOR_METRICS,
    build_advisor_comparison,
    choose_averaged_k,
    choose_solved_k,
    choose_tried_k,
    create_advisor_runs,
    list_advisor_configurations,
    plan_to_advise,
)
from kanon.experiments.advisor.weights import (
    DEFAULT_WEIGHTS,
    Ranking,
    check_limits,
    check_weights,
    compute_weight_shares,
    rank_configurations,
)
from kanon.experiments.comparison import Comparison
from kanon.experiments.sweep import Configuration, PlannedRun, run_sweep
from kanon.plan import Plan
from kanon.run import prepare
from kanon.sources.tables import Table

AGAIN = 0.7
"""The share of the time after which the proposals are run again."""


@dataclass(frozen=True, eq=False)
class Advice:
    weighed: Ranking  # every configuration with its score
    repeated_losses: Mapping[
        int, RepeatedLoss
    ]  # by the place of a proposal: its losses when run again

    @cached_property
    def proposals(self) -> tuple[Proposal, ...]:
        return propose(self.weighed)

    @cached_property
    def best_at(self) -> np.ndarray:
        return count_best_k(self.weighed)

    @cached_property
    def steady(self) -> ProposalStability | None:
        if any(proposal.place not in self.repeated_losses for proposal in self.proposals):
            return None
        shares = compute_weight_shares(self.weighed.weights, self.weighed.concerns)
        return measure_stability(
            [self.repeated_losses[proposal.place] for proposal in self.proposals], shares
        )

    def title(self, proposal: Proposal) -> str:
        """The configuration that is proposed, such as ``NLLM · S3 (merged class)``."""
        return self.weighed.title(proposal.place)

    def over_k(self, proposal: Proposal) -> str:
        """A sentence: at how many of the compared k the proposal is the best."""
        ks, times = self.weighed.comparison.ks, int(self.best_at[proposal.place])
        tried = (
            f"{count_noun(len(ks), 'k', 'k')} from {write_count(ks[0])} to {write_count(ks[-1])}"
        )
        return f"It is best, alone or tied, at {write_count(times)} of {tried}."

    @property
    def about_ties(self) -> str:
        """A sentence: whether the order of ties decides which is first; empty for one proposal."""
        steady = self.steady
        if steady is None or len(self.proposals) == 1:
            return ""
        bands = ", ".join(
            f"{self.title(proposal)} {write_decimals(low, 1)} to {write_percent(high)}"
            for proposal, low, high in zip(self.proposals, steady.low, steady.high, strict=True)
        )
        if steady.undecided:
            return f"Undecided: the first place depends on how ties are broken. Scores: {bands}."
        return f"The first proposal stays first however ties are broken. Scores: {bands}."

    @property
    def about_records(self) -> str:
        """A sentence: on how many redrawn tables the first stays best; empty for one proposal."""
        steady = self.steady
        if steady is None or len(self.proposals) == 1:
            return ""
        possible, tables = (
            steady.n_samples - steady.n_impossible,
            count_noun(steady.n_samples, "table"),
        )
        if not possible:
            return (
                f"None of {tables} redrawn from these records can meet the required models, so "
                "nothing is known about other records."
            )
        sentence = (
            f"On {write_count(steady.held)} of {count_noun(possible, 'table')} redrawn from these "
            "records, the first proposal is still the best of the proposals."
        )
        if not steady.n_impossible:
            return sentence
        return (
            f"{sentence} {write_count(steady.n_impossible)} more cannot meet the required models."
        )

    def describe_advice(self) -> tuple[str, ...]:
        """All sentences: warnings, limits, a line per proposal, and how stable the choice is."""
        ranking = self.weighed
        sentences = []
        if not ranking.comparison.sensitive:
            sentences.append(
                f"Without a sensitive column only strategy S1 applies: {len(ranking.ways)} "
                "configurations are compared by alteration alone."
            )
        sentences += [
            about for about in (describe_first_warning(ranking), describe_limits(ranking)) if about
        ]
        for number, proposal in enumerate(self.proposals, 1):
            score = write_percent(float(ranking.scores[proposal.place]))
            alteration = write_percent(ranking.figures(proposal.place)["mean_alteration"])
            sentences.append(
                f"{number}. {self.title(proposal)}: score {score} ↓, alteration {alteration} ↓. "
                f"{proposal.reason} {self.over_k(proposal)}"
            )
        sentences += [self.about_ties] if self.about_ties else []
        sentences += [self.about_records] if self.about_records else []
        return tuple(sentences)

    def table(self) -> pd.DataFrame:
        """All configurations, a row each, the best first."""
        return self.weighed.table()

    @property
    def numbers(self) -> dict[str, Any]:
        """The weights, the limits, the proposals and their stability, as JSON can store them."""
        ranking, steady = self.weighed, self.steady
        return {
            "k": list(ranking.ks),
            "weights": dict(ranking.weights),
            "limits": dict(ranking.limits),
            "sensitive": ranking.comparison.sensitive or None,
            "ways": len(ranking.ways),
            "meeting_limits": int(ranking.meets.sum()),
            "warning": describe_first_warning(ranking) or None,
            "proposals": [
                {
                    **self._get_plan_keys(proposal),
                    "for": proposal.sake,
                    "at_k": ranking.at_k[proposal.place].tolist(),
                    "score": float(ranking.scores[proposal.place]),
                    **ranking.figures(proposal.place),
                    "front": bool(ranking.front[proposal.place]),
                    "meets_limits": bool(ranking.meets[proposal.place]),
                    "best_at": int(self.best_at[proposal.place]),
                    "reason": proposal.reason,
                }
                for proposal in self.proposals
            ],
            "tried_k": list(ranking.comparison.ks),
            "ties": None if steady is None else {
                "undecided": steady.undecided, "low": steady.low, "high": steady.high,
            },
            "drawn_again": None if steady is None else {
                "held": steady.held, "drawn": steady.n_samples,
                "impossible": steady.n_impossible,
            },
        }  # fmt: skip

    def _get_plan_keys(self, proposal: Proposal) -> dict[str, str]:
        configuration = self.weighed.ways[proposal.place].configuration
        return {
            "metric": configuration.metric,
            "strategy": configuration.strategy,
            "scope": configuration.scope,
        }


def advise(
    plan: Plan,
    table: Table | pd.DataFrame,
    k: int | tuple[int, int] | None = None,
    weights: Mapping[str, float] = DEFAULT_WEIGHTS,
    limits: Mapping[str, float] | None = None,
    folder: Path = Path(),
    progress: Progress = ignore_progress,
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
        :func:`kanon.experiments.advisor.ways.choose_averaged_k`); by default the plan's.
    weights
        How much ``utility``, ``l`` and ``t`` matter; see
        :func:`kanon.experiments.advisor.weights.check_weights`.
    limits
        What ``k`` and ``l`` of every class should be at least, and ``t`` at most; see
        :func:`kanon.experiments.advisor.weights.check_limits`.
    workers
        How many runs may go at once; by default one per core.
    steady
        Whether the proposals are run again: with other orders of ties, and on records drawn again.

    Raises
    ------
    PlanError
        A weight, a limit or a k is not allowed, or neither the call nor the plan gives a k.
    Unsatisfiable
        The table has fewer records than a k, or cannot meet a model.
    KanonError
        See :func:`kanon.run.preparation.prepare`.

    Examples
    --------
    Without a sensitive column there are seven configurations, one per metric.

    >>> table = pd.DataFrame({"sex": ["F", "F", "M"]})
    >>> plan = Plan.from_content({"version": 2, "algorithm": {"name": "gaa"}, "columns":
    ...     {"sex": {"role": "quasi-identifier", "hierarchy": {"build": "suppression"}}},
    ...     "privacy": [{"model": "k-anonymity", "k": 2}]})
    >>> advice = advise(plan, table)
    >>> len(advice.weighed.ways), advice.weighed.scores[0].item(), len(advice.proposals)
    (7, 100.0, 1)
    """
    check_weights(weights)  # before anything runs
    check_limits(limits or {})
    plan = plan_to_advise(plan)
    if k is None and plan.k < 2:
        raise PlanError("The plan sets no k: give the k you want advice on (--k 5), or a range.")
    low, high = k if isinstance(k, tuple) else (plan.k if k is None else k, None)
    ks = choose_averaged_k(low, high)
    prepared = prepare(plan, table, folder)
    configurations = list_advisor_configurations(plan.led_by is not None, plan.algorithm.tie_seed)
    runs = create_advisor_runs(prepared, configurations)
    runs[0].task.for_k(max(ks)).check()
    tried_ks = choose_tried_k(ks, prepared.classes.highest_k)
    comparison, again = run_configurations(
        progress, runs, configurations, tried_ks, ks, weights, limits, workers, steady
    )
    return Advice(rank_configurations(comparison, ks, weights, limits), again)


def run_configurations(
    progress: Progress,
    runs: Sequence[PlannedRun],
    configurations: Sequence[Configuration],
    tried: Sequence[int],
    ks: Sequence[int],
    weights: Mapping[str, float] = DEFAULT_WEIGHTS,
    limits: Mapping[str, float] | None = None,
    workers: int | None = None,
    steady: bool = True,
) -> tuple[Comparison, dict[int, RepeatedLoss]]:
    """Run every configuration, and the proposals again, in a worker process.

    ``tried`` are all k that are looked at, ``ks`` those that are averaged over. The second result
    holds, by the place of a proposal, its losses when run again.
    """
    end = AGAIN if steady else 1.0
    solved_ks = choose_solved_k(tried, runs[0].task.classes.highest_k)
    measured = run_sweep(
        scale_progress(progress, 0.0, end), runs, solved_ks, ADVISOR_METRICS, workers
    )
    comparison = build_advisor_comparison(runs[0].task, configurations, measured, tried)
    if not steady:
        return comparison, {}
    ranking = rank_configurations(comparison, ks, weights, limits)
    places = [proposal.place for proposal in propose(ranking)]
    proposed_runs = [runs[place] for place in places]
    losses = run_again(
        scale_progress(progress, end, 1.0), proposed_runs, ks, ranking.limits, workers
    )
    return comparison, dict(zip(places, losses, strict=True))
