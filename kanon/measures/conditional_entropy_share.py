"""Conditional entropy as a share of what there was to lose."""

from __future__ import annotations

import math

from kanon.cards import Card
from kanon.measures.cells import original_cells, released_cells, share, summed
from kanon.measures.node_losses import conditional_bits
from kanon.recoding import Recoding

__all__ = ["CARD", "value"]

CARD = Card(
    name="conditional_entropy_percent",
    title="Conditional entropy, share",
    summary="The conditional entropy of the release, of that of a table with every "
    "quasi-identifier at its root.",
    source="Gionis, Tassa 2009; de Spoelberch, interim report, Imperial College London",
    unit="%",
    direction="lower",
    lowest="0 %: every original value can be told",
    highest="100 %: as much is open as with everything at its root; more can be",
)


def value(recoding: Recoding) -> float:
    """100 * Π_e(release) / Π_e(all at the root), in percent; 0 if there is nothing to lose.

    See :mod:`kanon.measures.conditional_entropy`: it may be above 100.
    """
    before = original_cells(recoding)
    losses = [*map(conditional_bits, recoding.hierarchies, before)]
    n = recoding.classes.n_records
    most = [n * lost[tree.root] for tree, lost in zip(recoding.hierarchies, losses, strict=True)]
    return share(summed(released_cells(recoding), losses), math.fsum(most))
