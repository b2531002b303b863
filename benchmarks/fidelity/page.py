"""docs/figures/fidelity.md: the text of page.md with its figures filled in."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.claims import check_claims
from benchmarks.fidelity import tables
from benchmarks.fidelity.claims import CLAIMS, diagonal
from benchmarks.fidelity.measured import (
    AREA_KS,
    GROUPINGS,
    HIERARCHIES,
    OURS,
    Findings,
    Reading,
)
from benchmarks.fidelity.published import (
    AIMS,
    AREAS_AIM,
    CRITERIA,
    FIGURES,
    INTERVAL,
    PUBLISHED_AREAS,
    PUBLISHED_RANKS,
)
from benchmarks.fresh import ROOT
from benchmarks.markdown import aim, signed, table, thousands
from benchmarks.provenance import made
from kanon.metrics import PUBLISHED

__all__ = ["PAGE", "aims", "checksum", "page"]

PAGE = ROOT / "docs" / "figures" / "fidelity.md"
TEXT = Path(__file__).with_name("page.md")
MAIN = [Reading(), Reading(algorithm="gaa-small")]
OTHERS = [Reading(of, algorithm) for of in GROUPINGS[1:] for algorithm in ("gaa", "gaa-small")]


def page(found: Findings, shape: tuple[int, int]) -> str:
    """The whole page; ``shape`` is that of the Adult table.

    Raises
    ------
    CaseError
        The figures do not bear out a sentence.
    """
    check_claims(CLAIMS, found)
    sums = [[f"`hierarchies/{each}`", f"`{checksum(each)}`"] for each in GROUPINGS]
    return TEXT.read_text("utf-8").format(
        aims="\n\n".join(aims(found)),
        summary=tables.summary(found, MAIN),
        ours=_cells(found, MAIN[0]),
        others_summary=tables.summary(found, OTHERS),
        small=_cells(found, MAIN[1]),
        misfit=len(tables.misfits()),
        ranks=sum(each.size for each in PUBLISHED_RANKS.values()),
        misfits="; ".join(tables.misfits()),
        requested=tables.requested(found),
        curves=tables.said_of_curves(found),
        low=INTERVAL[0],
        high=INTERVAL[1],
        area_ks=", ".join(map(str, AREA_KS)),
        areas=tables.areas(found, Reading()),
        every_grouping=tables.every_grouping(found),
        voters="; ".join(
            f"by {title} {', '.join(tables.TITLES[place] for place in np.argsort(row))}"
            for title, row in zip(CRITERIA.values(), found.voters, strict=True)
        ),
        readings=tables.readings(found),
        other_readings="\n\n".join(
            f"`{of}`\n\n{tables.readings(found, of)}" for of in GROUPINGS[1:]
        ),
        runs=len(found.results) * len(PUBLISHED),
        made="\n".join(made(PAGE, "numpy", "pandas", "numba")),
        records=thousands(shape[0]),
        columns=shape[1],
        checksums=table(["hierarchies", "sha256 of `cat *.csv`"], sums),
        **_figures(found),
    )


def aims(found: Findings) -> list[str]:
    """What was aimed at with our hierarchies and gaa, and what was found."""
    said = []
    for k, most in AIMS.items():
        apart = found.apart(Reading(), k)
        its = {
            "mean": float(np.abs(apart).mean()),
            "sd": float(apart.std(ddof=1)),
            "largest": float(np.abs(apart).max()),
        }
        wanted = ", ".join(f"{name} at most {limit:g}" for name, limit in most.items())
        got = ", ".join(f"{name} {its[name]:.3g}" for name in most)
        met = all(its[name] <= limit for name, limit in most.items())
        said.append(aim(f"{FIGURES[k]}, k = {k}: {wanted}", got, met))
    off = found.areas_off(Reading())
    text = f"Table 3: mean at most {AREAS_AIM:g} over its {found.areas().size} cells"
    return [*said, aim(text, f"{off:.2f}", off <= AREAS_AIM)]


def checksum(grouping: str) -> str:
    """The sha256 of a folder's files, joined in the order of their names."""
    files = sorted((HIERARCHIES / grouping).glob("*.csv"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()


def _cells(found: Findings, reading: Reading) -> str:
    """Every figure cell by cell."""
    return "\n\n".join(
        f"{FIGURES[k]}, k = {k}\n\n{tables.side_by_side(found, reading, k)}" for k in FIGURES
    )


def _figures(found: Findings) -> dict[str, Any]:
    """The figures of the sentences: differences of the rounded cells, ours less published."""

    def bias(reading: Reading) -> float:
        return float(found.apart(reading, 100).mean())

    leaf, rows = (found.apart(each, 100).mean(axis=1) for each in (Reading(leaf=1), Reading()))
    counted = [name in ("llm", "wllm") for name in PUBLISHED]
    root = found.areas()[-1]
    on, elsewhere = diagonal(found, OURS, 1500)
    return {
        "cells": found.apart(Reading(), 100).size,
        "printed_best": tables.TITLES[int(PUBLISHED_AREAS[-1].argmin())],
        "printed_worst": tables.TITLES[int(PUBLISHED_AREAS[-1].argmax())],
        "root_best": tables.TITLES[int(root.argmin())],
        "root_worst": tables.TITLES[int(root.argmax())],
        "leaf_rows": signed(leaf[counted].mean(), 1),
        "leaf_others": signed(np.delete(leaf, np.flatnonzero(counted)).mean(), 1),
        "row_least": signed(rows.min(), 1),
        "row_most": signed(rows.max(), 1),
        "lower": f"{-bias(Reading()):.1f}",
        "biases": ", ".join(signed(bias(Reading(each)), 1) for each in GROUPINGS),
        "joint_bias": ", ".join(signed(bias(Reading(each, cost="joint")), 1) for each in GROUPINGS),
        "own_areas": f"{found.areas_off(Reading()):.2f}",
        "un_areas": f"{found.areas_off(Reading(GROUPINGS[2])):.2f}",
        "own_order": f"{tables.order(found, Reading(), 1500):.2f}",
        "orders": ", ".join(
            f"{tables.order(found, Reading(each), 1500):.2f}" for each in GROUPINGS[1:]
        ),
        "diagonal": f"{on:.1f}",
        "elsewhere": f"{elsewhere:.1f}",
    }
