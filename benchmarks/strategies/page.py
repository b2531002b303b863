"""docs/figures/strategies.md: the text of page.md with its figures filled in."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np

from benchmarks.claims import check_claims
from benchmarks.fidelity.page import checksum
from benchmarks.fresh import ROOT
from benchmarks.markdown import thousands
from benchmarks.provenance import made
from benchmarks.strategies import claims, tables
from benchmarks.strategies.measured import COLUMNS, GUIDES, KS, Findings
from benchmarks.strategies.published import FIGURES, INTERVAL
from kanon.experiments.comparison import TIE_SEEDS
from kanon.metrics import METRICS
from kanon.strategies import SCOPES

__all__ = ["PAGE", "page"]

PAGE = ROOT / "docs" / "figures" / "strategies.md"
TEXT = Path(__file__).with_name("page.md")


def page(found: Findings, records: int) -> str:
    """The whole page; ``records`` is the length of the Adult table.

    Raises
    ------
    CaseError
        The figures do not bear out a sentence.
    """
    check_claims(claims.CLAIMS, found)
    far = {
        name: {scope: tables.distance(found, name, name, scope) for scope in SCOPES}
        for name in tables.NUMBERED
    }
    first, *_ = s5 = tables.nearest(found, "s5", COLUMNS[1:])
    return TEXT.read_text("utf-8").format(
        low=INTERVAL[0],
        high=INTERVAL[1],
        ks=", ".join(map(str, KS)),
        seeds=len(TIE_SEEDS),
        orders_of_ties=len(TIE_SEEDS) + 1,
        areas={guide: _areas(found, guide) for guide in GUIDES},
        orders=tables.orders(found),
        s5_age=tables.distance(found, "s5", "s6", "class", COLUMNS[:1]),
        s5_marital=tables.distance(found, "s5", "s6", "class", COLUMNS[1:]),
        s5_least=tables.distance(found, "s5", *first, COLUMNS[1:]),
        s5_nearest=tables.named(s5[:1]),
        widths=tables.widths(found),
        same={name: _same(found, name) for name in ("s2", "s5")},
        cases=len(COLUMNS) * len(GUIDES),
        near=tables.NEAR,
        fits=tables.fits(found),
        compared=tables.COMPARED,
        in_s2={scope: tables.inside(found, "s2", "s2", scope) for scope in SCOPES},
        yard=tables.yardsticks(found),
        of_text=tables.of_text(found),
        runs=found.n_runs,
        minutes=max(1.0, found.seconds / 60),
        made="\n".join(made(PAGE, "numpy", "pandas", "numba")),
        records=thousands(records),
        checksum=checksum("adult"),
        **far,
    )


def _areas(found: Findings, guide: str) -> str:
    """A table per sensitive column and figure."""
    titles = ("Alteration (lower is better)", "l (higher is better)", "t (lower is better)")
    title = METRICS[guide].card.title
    return "\n\n".join(
        f"{title}, `{column}`. {titles[figure]}, %\n\n{tables.areas(found, column, guide, figure)}"
        for column, figure in product(COLUMNS, range(len(FIGURES)))
    )


def _same(found: Findings, strategy: str) -> int:
    """In how many cases a strategy at table scope has the areas and the bands of S1."""
    held = 0
    for column, guide in product(COLUMNS, GUIDES):
        one, other = (found.of(column, name, "table", guide) for name in ("s1", strategy))
        held += all(
            np.allclose(getattr(one, each), getattr(other, each)) for each in ("own", "low", "high")
        )
    return held
