"""Conditional entropy: how many bits of each original value its released one leaves open."""

from __future__ import annotations

from kanon.cards import Card
from kanon.measures.cells import original_cells, released_cells, summed
from kanon.measures.node_losses import conditional_bits
from kanon.recoding import Recoding

__all__ = ["CARD", "value"]

CARD = Card(
    name="conditional_entropy_bits",
    title="Conditional entropy",
    summary="How many bits of the original value a released one leaves open, to who knows how "
    "often each value occurs in the original table; added up over cells.",
    source="Gionis, Tassa 2009; de Spoelberch, interim report, Imperial College London",
    unit="bits",
    direction="lower",
    lowest="0 bits: every original value can be told",
    highest="n · Σ log2 of the number of values: nothing can be told of any of them",
)


def value(recoding: Recoding) -> float:
    """Π_e = Σ over cells of H(V | released value), in bits.

    V is the original value, as a record drawn from those of the original table that are at the
    released value or below has it. Suppressed records count as root cells. Of a full-domain release
    of leaves that suppresses nobody it equals the non-uniform entropy. Raising a cell may lower it
    (see :func:`kanon.measures.node_losses.conditional_bits`), so it suits no search by bounds.
    """
    losses = map(conditional_bits, recoding.hierarchies, original_cells(recoding))
    return summed(released_cells(recoding), losses)
