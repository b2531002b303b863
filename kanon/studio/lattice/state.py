"""What the Lattice page shows."""

from collections.abc import Mapping
from dataclasses import dataclass

from kanon.charts.lattice import Colouring
from kanon.charts.walks import WALK_LOOKS
from kanon.studio.session.parts import StateSection


@dataclass(frozen=True)
class LatticeView(StateSection):
    columns: tuple[str, ...] | None = None  # None for the first quasi-identifiers that can be drawn
    colouring: Colouring = "loss"  # what nodes are coloured by
    walks: tuple[str, ...] = tuple(WALK_LOOKS)  # the searches whose walks are drawn
    step: int | None = None  # the last step drawn; None for all
    node: Mapping[str, int] | None = None  # the chosen node's levels; None for the least loss
