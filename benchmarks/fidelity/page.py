"""docs/fidelity.md: the text of page.md with its figures filled in."""

from __future__ import annotations

import hashlib
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.fidelity import tables
from benchmarks.fidelity.measured import (
    ALGORITHMS,
    COSTS,
    GROUPINGS,
    HIERARCHIES,
    TIE_SEEDS,
    Findings,
    Reading,
)
from benchmarks.fidelity.published import AIMS, PUBLISHED_TABLES
from benchmarks.fresh import ROOT
from benchmarks.markdown import aim, signed, table, thousands
from benchmarks.provenance import made

__all__ = ["PAGE", "aims", "checksum", "page"]

PAGE = ROOT / "docs" / "fidelity.md"
TEXT = Path(__file__).with_name("page.md")


def page(found: Findings, shape: tuple[int, int]) -> str:
    """The whole page; ``shape`` is that of the Adult table."""
    others = [
        f"<details>\n<summary>{grouping}, {algorithm}</summary>\n\n"
        f"{tables.side_by_side(found, Reading(grouping, algorithm))}\n\n</details>"
        for grouping, algorithm in product(GROUPINGS, ALGORITHMS)
        if Reading(grouping, algorithm) != Reading()
    ]
    sums = [[f"`hierarchies/{each}`", f"`{checksum(each)}`"] for each in GROUPINGS]
    return TEXT.read_text("utf-8").format(
        aims="\n\n".join(aims(found)),
        summary=tables.summary(found),
        ours=tables.side_by_side(found, Reading()),
        others="\n\n".join(others),
        metrics=tables.metrics(found),
        swaps=tables.swaps(found),
        readings=tables.readings(found),
        made="\n".join(made(PAGE, "numpy", "pandas", "numba")),
        records=thousands(shape[0]),
        columns=shape[1],
        checksums=table(["hierarchies", "sha256 of `cat *.csv`"], sums),
        **_figures(found),
    )


def aims(found: Findings) -> list[str]:
    """What was aimed at with our hierarchies and gaa, and what was found."""
    low = np.abs(found.apart(Reading(), 2, rounded=True)).max()
    whole, exact = (found.off(Reading(), 100, rounded) for rounded in (True, False))
    return [
        aim(
            f"at k = 2 no rounded cell differs by more than {AIMS[2]} point",
            f"largest {low:.0f}",
            low <= AIMS[2],
        ),
        aim(
            f"at k = 100 the mean absolute difference is below {AIMS[100]} points",
            f"{whole:.2f} rounded, {exact:.2f} unrounded",
            max(whole, exact) < AIMS[100],
        ),
    ]


def checksum(grouping: str) -> str:
    """The sha256 of a folder's files, joined in the order of their names."""
    files = sorted((HIERARCHIES / grouping).glob("*.csv"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()


def _figures(found: Findings) -> dict[str, Any]:
    """The figures of the sentences, of k = 100 and our hierarchies where nothing else is said."""
    own = {name: Reading(algorithm=name) for name in ALGORITHMS}
    apart = {name: found.apart(reading, 100) for name, reading in own.items()}
    rows = np.abs(apart["gaa"]).mean(axis=1)
    spans = {k: found.span(k) for k in PUBLISHED_TABLES}
    spread = {k: high - low for k, (low, high) in spans.items()}
    beyond = [tables.TITLES[i] for i in np.flatnonzero(rows > spread[100].mean(axis=1))]
    age, country = found.shares["age"], found.shares["native-country"]
    return {
        "cells": rows.size**2,
        "off": {name: {k: found.off(own[name], k) for k in PUBLISHED_TABLES} for name in own},
        "most": " and ".join(tables.TITLES[i] for i in np.argsort(-rows, kind="stable")[:2]),
        "beyond": ", ".join(beyond) or "no metric",
        "llm": age["llm"] + country["llm"],
        "wllm": country["wllm"],
        "total": age["total"] + country["total"],
        "lower": {name: (each < 0).sum() for name, each in apart.items()},
        "mean": {name: signed(each.mean(), 2) for name, each in apart.items()},
        "span": {k: _mean_and_most(each) for k, each in spread.items()},
        "inside": {k: _inside(PUBLISHED_TABLES[k], *spans[k]) for k in spans},
        "seeds": len(TIE_SEEDS),
        "moved": {name: _mean_and_most(_moved(found, name)) for name in ALGORITHMS},
        "nearest": {k: _nearest(found, k) for k in PUBLISHED_TABLES},
    }


def _mean_and_most(points: np.ndarray) -> str:
    return f"{points.mean():.2f} points on average and {points.max():.1f} at most"


def _inside(published: np.ndarray, low: np.ndarray, high: np.ndarray) -> int:
    """How many published cells lie between two tables, give or take the half point of rounding."""
    return int(((published >= low - 0.5) & (published <= high + 0.5)).sum())


def _moved(found: Findings, algorithm: str) -> np.ndarray:
    """By how much each tie seed moves each cell."""
    own = found.tables[Reading(algorithm=algorithm)][100]
    seeded = [Reading(algorithm=algorithm, tie_seed=seed) for seed in TIE_SEEDS]
    return np.abs([found.tables[reading][100] - own for reading in seeded])


def _nearest(found: Findings, k: int) -> str:
    """Which algorithm and cost comes nearest, with how many groupings and orders of ties."""
    wins: Counter[str] = Counter()
    cases = list(product(GROUPINGS, (None, *TIE_SEEDS)))
    for of, seed in cases:
        offs = {
            f"`{name}` that counts {COSTS[cost]}": found.off(Reading(of, name, cost, seed), k)
            for name, cost in product(ALGORITHMS, COSTS)
        }
        wins.update(name for name, off in offs.items() if off == min(offs.values()))
    return " and ".join(f"{name} ({n} of {len(cases)} times)" for name, n in wins.most_common())
