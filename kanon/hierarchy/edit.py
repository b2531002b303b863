"""Pure operations on hierarchies: each returns a new tree."""

from __future__ import annotations

from kanon.errors import HierarchyError
from kanon.hierarchy.tree import Hierarchy

__all__ = ["add_leaf"]


def add_leaf(hierarchy: Hierarchy, label: str, parent: str | None = None) -> Hierarchy:
    """Add a leaf under ``parent`` (the root if not given), after its other children.

    Where edge weights were drawn, the new edge weighs as much as its heaviest sibling, so that
    the new leaf is not the cheap way out.

    Raises
    ------
    HierarchyError
        The parent is unknown or a leaf, or the label exists.

    Examples
    --------
    >>> from kanon.hierarchy.build import suppression
    >>> add_leaf(suppression(["F", "M"]), "X").labels
    ('F', 'M', 'X', '*')
    """
    above = hierarchy.root if parent is None else hierarchy.node_of.get(parent, -1)
    if above < hierarchy.n_leaves:
        raise HierarchyError("The parent {cells} is not a group of the tree.", [parent])
    weight = None
    if hierarchy.weight is not None:
        weight = max(float(hierarchy.weight[child]) for child in hierarchy.children[above])
    entry = (label, hierarchy.labels[above], weight)
    return Hierarchy.from_entries([*hierarchy.entries(), entry])
