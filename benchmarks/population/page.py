"""docs/figures/population-uniqueness.md: the text of page.md with its figures filled in."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.claims import check_claims
from benchmarks.fresh import ROOT
from benchmarks.markdown import table
from benchmarks.population.measured import FRACTIONS, METHODS, SEEDS, Outcome
from benchmarks.provenance import made

__all__ = ["PAGE", "page"]

PAGE = ROOT / "docs" / "figures" / "population-uniqueness.md"
TITLES = {"pitman": "Pitman", "zayatz": "Zayatz", "snb": "SNB", "rule": "the rule"}
CLAIMS = {
    "no estimate that is off by more than half is called reliable": lambda outcomes: (
        _count_misleading(outcomes) == 0
    ),
    "nothing is settled where fewer than 45 % are unique": lambda outcomes: (
        not any(
            outcome.is_called_reliable(method) and outcome.truth < 0.45 * outcome.found.population
            for outcome in outcomes
            for method in METHODS
        )
    ),
    "the truth is nearly always in the range": lambda outcomes: (
        _count_inside(outcomes) >= 0.99 * len(outcomes)
    ),
}


def page(outcomes: Sequence[Outcome]) -> str:
    """The whole page.

    Raises
    ------
    CaseError
        The figures do not bear out a sentence.
    """
    check_claims(CLAIMS, outcomes)
    return Path(__file__).with_name("page.md").read_text("utf-8").format(
        samples=len(outcomes),
        seeds=len(SEEDS),
        off=sum(outcome.is_off(method) for outcome in outcomes for method in METHODS[:3]),
        misleading=_count_misleading(outcomes),
        inside=_count_inside(outcomes),
        confirmed=f"{100 * _share_confirmed(outcomes):.0f}",
        summary=_summarise(outcomes),
        details=_list_details(outcomes),
        made="\n".join(made(PAGE, "numpy", "scipy")),
    )  # fmt: skip


def _count_misleading(outcomes: Sequence[Outcome]) -> int:
    return sum(
        outcome.is_off(method) and outcome.is_called_reliable(method)
        for outcome in outcomes
        for method in METHODS[:3]
    )


def _count_inside(outcomes: Sequence[Outcome]) -> int:
    return sum(o.found.least <= o.truth <= o.found.most for o in outcomes)


def _share_confirmed(outcomes: Sequence[Outcome]) -> float:
    """Of the estimates within half of the truth, the share that is called reliable."""
    good = [
        outcome.is_called_reliable(method)
        for outcome in outcomes
        for method in METHODS[:3]
        if outcome.estimate(method) is not None and not outcome.is_off(method)
    ]
    return float(np.mean(good)) if good else 0.0


def _summarise(outcomes: Sequence[Outcome]) -> str:
    rows = []
    for method in METHODS:
        for fraction in FRACTIONS:
            here = [o for o in outcomes if o.fraction == fraction]
            there = [o for o in here if o.estimate(method) is not None]
            off = [o for o in there if o.is_off(method)]
            good = [o for o in there if not o.is_off(method)]
            rows.append(
                [
                    f"{TITLES[method]}, {100 * fraction:g} %",
                    str(len(here) - len(there)),
                    str(len(off)),
                    str(sum(not o.is_called_reliable(method) for o in off)),
                    str(len(good)),
                    str(sum(o.is_called_reliable(method) for o in good)),
                ]
            )
    return table(
        ["estimator, sample", "no estimate", "off by more than half", "called not reliable",
         "within half", "called reliable"], rows,
    )  # fmt: skip


def _list_details(outcomes: Sequence[Outcome]) -> str:
    rows = []
    for name in dict.fromkeys(outcome.population for outcome in outcomes):
        for fraction in FRACTIONS:
            here = [o for o in outcomes if (o.population, o.fraction) == (name, fraction)]
            rows.append(
                [
                    f"{name}; {100 * fraction:g} %",
                    _share(np.mean([o.truth / o.found.population for o in here])),
                    *(
                        _share(np.mean([getattr(o.found, end) / o.found.population for o in here]))
                        for end in ("least", "most")
                    ),
                    *(_write_ratios(here, method) for method in METHODS),
                ]
            )
    return table(["population; sample", "truth, %", "from, %", "to, %", *TITLES.values()], rows)


def _share(share: float) -> str:
    return f"{100 * share:.2f}" if share < 0.0995 else f"{100 * share:.1f}"


def _write_ratios(outcomes: Sequence[Outcome], method: str) -> str:
    """Mean and spread of the estimate in multiples of the truth; bold where it is reliable."""
    estimates = [(outcome.estimate(method), outcome.truth) for outcome in outcomes]
    ratios = [estimate / truth for estimate, truth in estimates if truth and estimate is not None]
    if not ratios:
        return "–"
    large = max(ratios) >= 9.95
    text = f"{np.mean(ratios):.{0 if large else 2}f} ± {np.std(ratios):.{0 if large else 2}f}"
    reliable = sum(outcome.is_called_reliable(method) for outcome in outcomes)
    return f"**{text}**" if 2 * reliable > len(outcomes) else text
