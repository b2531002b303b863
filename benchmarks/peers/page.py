"""docs/figures/peers.md: the text of page.md with its figures filled in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.case import CaseError
from benchmarks.fresh import ROOT
from benchmarks.markdown import seconds, table, thousands, times
from benchmarks.peers.agreements import Comparison
from benchmarks.peers.algorithms import Grouping
from benchmarks.peers.environments import PEERS
from benchmarks.provenance import machine, made

__all__ = ["PAGE", "REASONS", "page"]

PAGE = ROOT / "docs" / "figures" / "peers.md"
NAMES = {"pycanon": "pyCANON", "anonypyx": "AnonyPyx"}
REASONS: Mapping[tuple[str, str], str] = {
    ("pycanon", "entropy_l"): "theirs is cut to a whole number, after rounding errors",
    ("pycanon", "recursive_c"): "theirs compares the rarest value with the others, for its own l; "
    "kanon's the most frequent one, for l = 2",
    ("pycanon", "enhanced_beta"): "theirs caps a gain at −ln p; in kanon no β is enough for it",
    ("pycanon", "mean_risk"): "theirs is the mean over classes, kanon's over records",
    ("pycanon", "classification_metric"): "where two values are the most frequent of a class, "
    "theirs counts neither's records as wrong",
}
"""Why a measure differs; another difference stops the page."""


def page(
    comparisons: Sequence[Comparison], mondrian: Mapping[int, Sequence[Grouping]],
    mdav: Sequence[Grouping], datafly: Mapping[str, Any],
) -> str:  # fmt: skip
    """The whole page; a CaseError says what it would say that the figures do not bear out."""
    if not datafly["same"]:
        raise CaseError("ANJANA's release is not Datafly's: change page.md.")
    for k, ones in mondrian.items():
        if any(min(one.sizes) < k for one in ones):
            raise CaseError("A Mondrian misses k: change page.md.")
        last = ones[-1]
        if any(one[2] < last.by_hierarchy or one[3] < last.by_values for one in ones):
            raise CaseError("The lattice sweep does not lose least: change page.md.")
    return Path(__file__).with_name("page.md").read_text("utf-8").format(
        agreements=_list_agreements(comparisons),
        compared=thousands(len(comparisons)),
        equal=thousands(sum(comparison.is_equal for comparison in comparisons)),
        **{f"mondrian{k}": _list_groupings(ones) for k, ones in mondrian.items()},
        mdav=_list_groupings(mdav),
        classes=thousands(datafly["classes"]),
        suppressed=thousands(datafly["suppressed"]),
        theirs=seconds(datafly["theirs"]),
        ours=seconds(datafly["ours"]),
        ratio=times(datafly["theirs"] / datafly["ours"]),
        peers=", ".join(PEERS.values()),
        machine=machine(),
        made="\n".join(made(PAGE, "numpy", "numba", "pandas")),
    )  # fmt: skip


def _list_agreements(comparisons: Sequence[Comparison]) -> str:
    rows = []
    for peer, measure in dict.fromkeys(comparison[:2] for comparison in comparisons):
        here = [comparison for comparison in comparisons if comparison[:2] == (peer, measure)]
        unequal = [comparison for comparison in here if not comparison.is_equal]
        if bool(unequal) != ((peer, measure) in REASONS):
            raise CaseError(f"Whether {peer}'s {measure} is kanon's is not as REASONS says.")
        example = [f"{_write(one.theirs)}, {_write(one.ours)} ({one.table})" for one in unequal[:1]]
        rows.append(
            [
                f"`{measure}`",
                NAMES.get(peer, peer),
                f"{len(here) - len(unequal)} of {len(here)}",
                *(example or [""]),
                REASONS.get((peer, measure), ""),
            ]
        )
    return table(["measure", "tool", "equal", "first difference: theirs, kanon's", "why"], rows)


def _write(level: float | str | None) -> str:
    return "∞" if level is None else level if isinstance(level, str) else f"{level:.6g}"


def _list_groupings(groupings: Sequence[Grouping]) -> str:
    header = ["algorithm", "groups", "smallest", "largest", "loss by hierarchies, %",
              "loss by ranges and sets, %", "seconds"]  # fmt: skip
    return table(header, [
        [one.name, thousands(len(one.sizes)), str(min(one.sizes)), str(max(one.sizes)),
         f"{100 * one.by_hierarchy:.2f}", f"{100 * one.by_values:.2f}", seconds(one.seconds)]
        for one in groupings
    ])  # fmt: skip
