"""The card of an algorithm: what pages, plans and reports say of it and have to know of it."""

from dataclasses import dataclass
from typing import Literal

from kanon.cards import Card, Parameter

Setting = Literal[
    "metric", "attribute_weights", "strategy", "cost", "tie_seed", "seed", "suppression", "node"
]


@dataclass(frozen=True, kw_only=True)
class AlgorithmCard(Card):
    """What an algorithm is called, does and needs; its summary has two sentences."""

    family: Literal["merging", "levels", "regions", "clusters"]  # how it goes about it
    how: str  # what was done, for who reads a release, and where it deviates from the publication
    # what a release is sure to have, and when it takes long
    guarantees: str
    slow: str
    uses: tuple[Setting, ...] = ()  # the settings that it takes of those that many share
    # its own choices: keys of plans and fields of pages, read by ``task.option``
    parameters: tuple[Parameter, ...] = ()
    needs_hierarchies: bool = True  # whether every quasi-identifier has to have a hierarchy
    runs_stored: bool = False  # whether it runs on classes that an engine keeps
    one_k: bool = False  # whether a run for another k than the one asked for may take minutes
