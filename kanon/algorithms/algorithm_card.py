"""The card of an algorithm: what pages, plans and reports say of it and have to know of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kanon.cards import Card, Parameter

Setting = Literal[
    "metric", "attribute_weights", "strategy", "cost", "tie_seed", "seed", "suppression", "node"
]


@dataclass(frozen=True, kw_only=True)
class AlgorithmCard(Card):
    """What an algorithm is called, does and needs; its summary has two sentences.

    Attributes
    ----------
    family
        How it goes about it; a key of :data:`kanon.algorithms.catalogue.FAMILIES`.
    how
        What was done, for who reads a release, and where it deviates from the publication.
    guarantees, slow
        What a release is sure to have, and when it takes long.
    uses
        The settings that it takes of those that many share.
    parameters
        Its own choices: keys of plans and fields of pages, read by ``task.option``.
    needs_hierarchies
        Whether every quasi-identifier has to have a hierarchy.
    runs_stored
        Whether it runs on classes that an engine keeps. Full-domain algorithms do anyway.
    one_k
        Whether a run for another k than the one asked for may take minutes.
    """

    family: Literal["merging", "levels", "regions", "clusters"]
    how: str
    guarantees: str
    slow: str
    uses: tuple[Setting, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    needs_hierarchies: bool = True
    runs_stored: bool = False
    one_k: bool = False
