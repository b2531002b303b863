"""The tables of the page, from what was measured."""

from __future__ import annotations

from itertools import product

import numpy as np

from benchmarks.fidelity.measured import ALGORITHMS, COSTS, GROUPINGS, TIE_SEEDS, Findings, Reading
from benchmarks.fidelity.published import PUBLISHED_TABLES, to_whole
from benchmarks.markdown import signed, table
from kanon.metrics import METRICS, PUBLISHED

__all__ = ["TITLES", "metrics", "readings", "side_by_side", "summary", "swaps"]

TITLES = [METRICS[name].card.title for name in PUBLISHED]
"""The metrics as the papers print them, in the order of the tables."""


def summary(found: Findings) -> str:
    """Mean and largest difference of every grouping, algorithm and k."""
    body = []
    for grouping, algorithm, k in product(GROUPINGS, ALGORITHMS, PUBLISHED_TABLES):
        row = [f"`{grouping}`", f"`{algorithm}`", str(k)]
        for rounded in (True, False):
            far = np.abs(found.apart(Reading(grouping, algorithm), k, rounded))
            (measured, guide), *others = np.argwhere(far == far.max())
            more = f", {len(others)} more" if others else ""
            row += [f"{far.mean():.2f}", f"{far.max():.{0 if rounded else 2}f}"]
            row.append(f"{TITLES[measured]} under {TITLES[guide]}{more}")
        body.append(row)
    head = ["hierarchies", "algorithm", "k", "rounded: mean", "largest", "where"]
    return table([*head, "unrounded: mean", "largest", "where"], body)


def side_by_side(found: Findings, reading: Reading) -> str:
    """Published / ours / difference at every published k, cell by cell, in whole percent."""
    parts = []
    for k, published in PUBLISHED_TABLES.items():
        rows = zip(TITLES, published, to_whole(found.tables[reading][k]), strict=True)
        body = [
            [f"**{name}**"]
            + [f"{a} / {b:.0f} / {signed(b - a)}" for a, b in zip(theirs, own, strict=True)]
            for name, theirs, own in rows
        ]
        parts.append(f"`{reading.algorithm}`, k = {k}: published / ours / difference")
        parts.append(table(["measured ↓ guided by →", *TITLES], body))
    return "\n\n".join(parts)


def metrics(found: Findings) -> str:
    """Per metric, measured and guiding, how far gaa is from the published table for k = 100."""
    apart, (low, high) = found.apart(Reading(), 100), found.span(100)
    spread = high - low
    body = []
    for i, name in enumerate(PUBLISHED):
        row = [TITLES[i]]
        for own, span in ((apart[i], spread[i]), (apart[:, i], spread[:, i])):
            row += [f"{np.abs(own).mean():.1f}", signed(own.mean(), 1), f"{span.mean():.1f}"]
        held = found.shares.loc[name, ["age", "native-country"]]
        body.append([*row, *map("{:.0f} %".format, held)])
    head = ["metric", "measured: difference", "signed", "spread"]
    head += ["guiding: difference", "signed", "spread", "`age` holds", "`native-country` holds"]
    return table(head, body)


def swaps(found: Findings) -> str:
    """What one column's grouping changes at k = 100, the largest change first."""
    ours = found.tables[Reading()][100]
    changes = {each: found.tables[each][100] - ours for each in found.tables if each.only}
    leaves = [PUBLISHED.index("llm"), PUBLISHED.index("wllm")]
    body = [
        [
            *(f"`{swap.only}`", f"`{swap.grouping}`"),
            *(f"{np.abs(change).mean():.2f}", f"{np.abs(change).max():.1f}"),
            *(signed(change[leaves].mean(), 1), f"{found.off(swap, 100):.2f}"),
        ]
        for swap, change in sorted(changes.items(), key=lambda item: -np.abs(item[1]).mean())
    ]
    head = ["tree of", "from", "mean change of a cell", "largest", "rows LLM and WLLM, signed"]
    return table([*head, "mean difference then"], body)


def readings(found: Findings) -> str:
    """The mean differences of every reading; of several seeds the least and the largest."""
    columns, body = list(product(PUBLISHED_TABLES, GROUPINGS)), []
    for name, cost in product(ALGORITHMS, COSTS):
        for ties, seeds in (("canonical order", [None]), ("seeds", TIE_SEEDS)):
            row = [f"`{name}`", COSTS[cost], ties]
            for k, of in columns:
                offs = sorted(found.off(Reading(of, name, cost, seed), k) for seed in seeds)
                row.append(" to ".join(dict.fromkeys(f"{off:.2f}" for off in (offs[0], offs[-1]))))
            body.append(row)
    head = ["algorithm", "a merge counts", "ties", *(f"k = {k}: `{of}`" for k, of in columns)]
    return table(head, body)
