"""docs/figures/algorithms.md: the text of page.md with its figures filled in."""

from __future__ import annotations

from pathlib import Path

from benchmarks.algorithms import claims, tables
from benchmarks.algorithms.measured import (
    CENSUS,
    GUIDE,
    NUMBERS,
    SEARCH_LIMITS,
    Findings,
    Result,
    Side,
)
from benchmarks.algorithms.shapes import HEIGHTS
from benchmarks.claims import check_claims
from benchmarks.fidelity.page import checksum
from benchmarks.fresh import ROOT
from benchmarks.markdown import thousands
from benchmarks.provenance import made
from kanon.algorithms.catalogue import short_title
from kanon.metrics import METRICS

__all__ = ["PAGE", "page"]

PAGE = ROOT / "docs" / "figures" / "algorithms.md"
TEXT = Path(__file__).with_name("page.md")


def page(found: Findings) -> str:
    """The whole page.

    Raises
    ------
    CaseError
        The figures do not bear out a sentence.
    """
    check_claims(claims.CLAIMS, found)
    shaped = found.searches[claims.PUBLISHED_HEIGHTS, SEARCH_LIMITS[0]]
    guided, unguided = tables.guided()
    return TEXT.read_text("utf-8").format(
        records=thousands(found.adult.records),
        classes=thousands(found.adult.classes),
        guide=METRICS[GUIDE].card.title,
        guided=guided,
        unguided=unguided,
        refused="\n".join(
            f"{short_title(name)} is left out here, see *Only numbers*: “{sentence}”"
            for name, sentence in found.adult.refused.items()
        ),
        adult=_losses(found.adult, "## Adult, k = {}"),
        said_mean=tables.said_least(found.adult, _mean),
        said_guide=tables.said_least(found.adult, _by_guide),
        said_groups=tables.said_least(found.adult, _mean, tables.GROUPS),
        said_groups_guide=tables.said_least(found.adult, _by_guide, tables.GROUPS),
        least_mean=tables.least(found.adult, _mean),
        least_guide=tables.least(found.adult, _by_guide),
        numbers=tables.listed([f"`{name}`" for name in NUMBERS]),
        number_records=thousands(found.numbers.records),
        number_classes=thousands(found.numbers.classes),
        census=_losses(found.numbers, "k = {}:"),
        nodes=thousands(found.adult.nodes),
        searching=tables.nodes(found.adult),
        limits=tables.listed([f"{100 * limit:g}" for limit in SEARCH_LIMITS]),
        ks=", ".join(map(thousands, shaped.ks)),
        heights=tables.listed([f"`{name}` {height}" for name, height in HEIGHTS.items()]),
        levels=tables.comparisons(found, tables.LEVELS),
        lost=tables.comparisons(found, tables.LOST),
        finding="\n\n".join(
            f"<details>\n<summary>{tables.searches_title(place)}</summary>\n\n"
            f"{tables.searched(its)}\n\n</details>"
            for place, its in found.searches.items()
        ),
        times=tables.times(shaped),
        over_columns=tables.over_columns(shaped),
        **claims.figures(found),
        minutes=max(1.0, found.seconds / 60),
        machine=found.machine,
        made="\n".join(made(PAGE, "numpy", "pandas", "numba")),
        adult_checksum=checksum("adult"),
        census_checksum=checksum(CENSUS),
    )


def _losses(side: Side, title: str) -> str:
    """A table per k, each below its title."""
    return "\n\n".join(f"{title.format(thousands(k))}\n\n{tables.losses(side, k)}" for k in side.ks)


def _mean(result: Result) -> float:
    return result.mean


def _by_guide(result: Result) -> float:
    return result.alteration[GUIDE]
