"""The lessons of regions: Mondrian cuts the table, the lattice sweep takes groups out of it."""

from collections.abc import Callable, Iterator, Mapping

from kanon.teaching.blackboard import Blackboard
from kanon.teaching.cuts import cutting
from kanon.teaching.lesson import Step
from kanon.teaching.sweep import sweeping

REPLAYS: Mapping[str, Callable[[Blackboard], Iterator[Step]]] = {
    "mondrian": cutting,
    "lattice-sweep": sweeping,
}
