"""What the page Lattice shows of a lattice, and a lattice that was looked at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kanon.charts.lattice import Colouring
from kanon.charts.walks import WALK_LOOKS


@dataclass(frozen=True)
class LatticeView:
    """What is shown.

    Attributes
    ----------
    columns
        The quasi-identifiers in the lattice; None for the first ones, as many as can be drawn.
    colouring
        What the colour of a node says.
    walks
        The searches whose walks are drawn.
    step
        Up to which step; None for all.
    node
        The level of each quasi-identifier at the chosen node; None for the node of least loss.
    """

    columns: tuple[str, ...] | None = None
    colouring: Colouring = "loss"
    walks: tuple[str, ...] = tuple(WALK_LOOKS)
    step: int | None = None
    node: Mapping[str, int] | None = None
