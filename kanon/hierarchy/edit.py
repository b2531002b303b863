"""Pure operations on hierarchies: each returns a new tree and leaves its arguments unchanged.

Nodes are named by their labels. No operation but :func:`add_leaves` and :func:`remove_leaves`
changes the set of leaves. Where edge weights were drawn, :func:`group` of siblings,
:func:`insert_group_above` and :func:`ungroup` keep the cost of every path between nodes that
existed before, so that reshaping a tree does not silently change its costs.
"""

import functools
import itertools
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from kanon.base.formatting import write_count
from kanon.base.kinds import find_kind
from kanon.base.values import MISSING_LABEL, convert_to_text
from kanon.errors import HierarchyError, quote
from kanon.hierarchy.draft import Draft
from kanon.hierarchy.natural_order import make_sort_key
from kanon.hierarchy.tree import LARGEST_WEIGHT, Hierarchy, describe_weight

LONGEST_NAME = 10_000
"""The most characters that the name of a group may have."""


def add_leaves(tree: Hierarchy, labels: Sequence[str], parent: str | None = None) -> Hierarchy:
    """Add leaves under ``parent`` (the root if not given), after its other children.

    Where edge weights were drawn, a new edge weighs as much as its heaviest sibling, so that
    the new leaf is not the cheapest to raise.

    >>> from kanon.hierarchy.build import suppression
    >>> add_leaves(suppression(["F", "M"]), ["X", "Y"]).labels
    ('F', 'M', 'X', 'Y', '*')

    Raises
    ------
    HierarchyError
        The parent is unknown or a leaf, or a label is empty or exists.
    """
    above = tree.root if parent is None else tree.node_of.get(convert_to_text(parent), -1)
    if above < tree.n_leaves:
        raise HierarchyError("The parent {cells} is not a group of the tree.", [parent])
    weight = None
    if tree.weight is not None:
        weight = max(float(tree.weight[child]) for child in tree.children[above])
    draft = Draft.from_tree(tree)
    for label in labels:
        draft.add(label, above, weight)
    return draft.build()


def remove_leaves(tree: Hierarchy, labels: Sequence[str]) -> Hierarchy:
    """Remove leaves, and groups that become empty.

    >>> from kanon.hierarchy.build import groups
    >>> remove_leaves(groups([{"Felid": ["Cat", "Lion"], "Canid": ["Dog"]}]), ["Dog"]).labels
    ('Cat', 'Lion', 'Felid', '*')

    Raises
    ------
    HierarchyError
        A label is not a leaf of the tree, or no leaf would remain.
    """
    nodes = _find_nodes(tree, labels)
    inner = [tree.labels[node] for node in nodes if node >= tree.n_leaves]
    if inner:
        raise HierarchyError("Only leaves can be removed; {cells} is a group.", inner)
    if len(nodes) == tree.n_leaves:
        raise HierarchyError("A tree needs at least one leaf; keep one of these.")
    draft = Draft.from_tree(tree)
    draft.remove_empty(draft.take(nodes))
    return draft.build()


def move(tree: Hierarchy, labels: Sequence[str], parent: str) -> Hierarchy:
    """Move nodes, with all that is below them, under another group, after its children.

    They keep their order in the tree and the weight of their edges. If some of the
    nodes lie below others, only the upper ones are moved. Groups that become empty vanish.

    >>> from kanon.hierarchy.build import groups
    >>> zoo = groups([{"Felid": ["Cat", "Fox"], "Canid": ["Dog"]}])
    >>> move(zoo, ["Fox"], "Canid").labels
    ('Cat', 'Dog', 'Fox', 'Felid', 'Canid', '*')

    Raises
    ------
    HierarchyError
        A label is unknown or the root; ``parent`` is unknown, a leaf, one of the nodes to move
        or below one of them.
    """
    nodes = _keep_uppermost(tree, _find_non_root(tree, labels, "moved"))
    (target,) = _find_nodes(tree, [parent])
    if target < tree.n_leaves:
        raise HierarchyError(
            "Nodes can only be moved to a group; {cells} is a value.", [tree.labels[target]]
        )
    if any(tree.is_ancestor(node, target) for node in nodes):
        raise HierarchyError(
            "A node cannot be moved below itself: {cells} is one of the nodes to move, or below "
            "one of them.",
            [tree.labels[target]],
        )
    draft = Draft.from_tree(tree)
    old_parents = draft.take(nodes)
    draft.attach_nodes(nodes, target)
    draft.remove_empty(old_parents)
    return draft.build()


def group(tree: Hierarchy, labels: Sequence[str], name: str) -> Hierarchy:
    """Put nodes into a new group, under their lowest common parent.

    The group takes the place of the first of them. Nodes from elsewhere are moved first (after
    the branch of the first one, if that lies deeper); groups that become empty vanish.

    With drawn weights the edges are split: if w is the least weight of the members, the edge
    above the group weighs w/2, and each member's edge w/2 less than before. Paths of siblings
    keep their cost.

    >>> from kanon.hierarchy.build import suppression
    >>> group(suppression(["Cat", "Dog", "Lion"]), ["Cat", "Lion"], "Felid").labels
    ('Cat', 'Lion', 'Dog', 'Felid', '*')

    Raises
    ------
    HierarchyError
        There are no labels, one is unknown or the root, or the name is empty, too long or taken.
    """
    nodes = _keep_uppermost(tree, _find_non_root(tree, labels, "put into a group"))
    if not nodes:
        raise HierarchyError("A group needs at least one member.")
    name = _check_group_name(name)
    above = functools.reduce(tree.lca, (int(tree.parent[node]) for node in nodes))
    branch = nodes[0]
    while tree.parent[branch] != above:
        branch = int(tree.parent[branch])
    draft = Draft.from_tree(tree)
    new = draft.add(name, above, 0.0)
    siblings = draft.children[above]
    siblings.pop()
    siblings.insert(siblings.index(branch) + 1, new)
    old_parents = draft.take(nodes)
    draft.attach_nodes(nodes, new)
    draft.remove_empty(old_parents)
    _refuse_used_name(name, tree, draft.removed_nodes)
    draft.split(new)
    return draft.build()


def join(tree: Hierarchy, groups: Mapping[str, Sequence[str]]) -> Hierarchy:
    """Put leaves into new groups just above them, each under the parent of its first member.

    The group takes the place of its first member; members from elsewhere move there. Groups that
    become empty vanish. With drawn weights the edges are split as by :func:`group`.

    >>> from kanon.hierarchy.build import suppression
    >>> join(suppression(["a", "b", "A"]), {"either a": ["a", "A"]}).labels
    ('a', 'A', 'b', 'either a', '*')

    Parameters
    ----------
    groups
        The members of each group by its name; a name in use gets a number.

    Raises
    ------
    HierarchyError
        A member is not a leaf of the tree.
    """
    draft = Draft.from_tree(tree)
    names, old_parents = set(tree.labels), set[int]()
    for name, members in groups.items():
        nodes = [node for label in members for node in _find_nodes(tree, [label])]
        inner = [tree.labels[node] for node in nodes if node >= tree.n_leaves]
        if inner:
            raise HierarchyError("Only values can be joined; {cells} is a group.", inner)
        name = _find_free_name(_check_group_name(name), names)
        names.add(name)
        above = draft.parent[nodes[0]]
        new = draft.create_node(name, above, 0.0)
        beside = draft.children[above]
        beside.insert(beside.index(nodes[0]), new)
        old_parents |= draft.take(nodes)
        draft.attach_nodes(nodes, new)
        draft.split(new)
    draft.remove_empty(old_parents)
    return draft.build()


def ungroup(tree: Hierarchy, labels: Sequence[str]) -> Hierarchy:
    """Dissolve groups: their children take their place.

    With drawn weights the edge of the group is added to the edges of its children, so that every
    remaining path keeps its cost.

    >>> from kanon.hierarchy.build import groups
    >>> ungroup(groups([{"Felid": ["Cat", "Lion"]}, {"*": ["Felid", "Dog"]}]), ["Felid"]).labels
    ('Cat', 'Lion', 'Dog', '*')

    Raises
    ------
    HierarchyError
        A label is unknown, the root, or a leaf.
    """
    nodes = _find_non_root(tree, labels, "dissolved")
    values = [tree.labels[node] for node in nodes if node < tree.n_leaves]
    if values:
        raise HierarchyError("Only groups can be dissolved; {cells} is a value.", values)
    draft = Draft.from_tree(tree)
    draft.remove_groups(nodes)
    return draft.build()


def rename(tree: Hierarchy, label: str, name: str) -> Hierarchy:
    """Give a group, or the root, another name.

    >>> from kanon.hierarchy.build import suppression
    >>> rename(suppression(["F", "M"]), "*", "Any").labels
    ('F', 'M', 'Any')

    Raises
    ------
    HierarchyError
        The label is unknown or a leaf, or the name is empty, too long or taken.
    """
    (node,) = _find_nodes(tree, [label])
    if node < tree.n_leaves:
        raise HierarchyError(
            "{cells} cannot be renamed: it is a value of the column.", [tree.labels[node]]
        )
    name = _check_group_name(name)
    if name == tree.labels[node]:
        return tree
    _refuse_used_name(name, tree)
    draft = Draft.from_tree(tree)
    draft.labels[node] = name
    return draft.build()


def insert_group_above(tree: Hierarchy, labels: Sequence[str]) -> Hierarchy:
    """Give each of the nodes a new parent of its own, named "<label> (group)".

    With drawn weights each edge is split in halves, so that every path keeps its cost.

    >>> from kanon.hierarchy.build import suppression
    >>> insert_group_above(suppression(["F", "M"]), ["F"]).labels
    ('F', 'M', 'F (group)', '*')

    Raises
    ------
    HierarchyError
        A label is unknown or the root.
    """
    nodes = _find_non_root(tree, labels, "given a parent of its own")
    draft = Draft.from_tree(tree)
    names = set(tree.labels)
    new: dict[int, int] = {}
    for node in nodes:
        name = _find_free_name(f"{tree.labels[node]} (group)", names)
        names.add(name)
        new[node] = draft.create_node(name, draft.parent[node], 0.0)
    for above in {draft.parent[node] for node in nodes}:
        draft.children[above] = [new.get(child, child) for child in draft.children[above]]
    for node, between in new.items():
        draft.attach_nodes([node], between)
        draft.split(between)
    return draft.build()


def sort(tree: Hierarchy, label: str, records: np.ndarray | None = None) -> Hierarchy:
    """Sort the children of a group, and of all groups below it.

    >>> from kanon.hierarchy.build import suppression
    >>> sort(suppression(["10-14", "b", "5-9", "A", "21", "3"]), "*").labels
    ('3', '21', '5-9', '10-14', 'A', 'b', '*')
    >>> sort(suppression(["x", "y", "z"]), "*", np.array([1, 5, 5, 11])).labels
    ('y', 'z', 'x', '*')

    Parameters
    ----------
    records
        The records at and below each node, shape (N,): most first, ties keep their order. If not
        given: by name, numbers by size before texts, runs of digits within texts as numbers.

    Raises
    ------
    HierarchyError
        The label is unknown or a leaf, or ``records`` has another shape.
    """
    (target,) = _find_nodes(tree, [label])
    if target < tree.n_leaves:
        raise HierarchyError(
            "Only the members of a group can be sorted; {cells} is a value.", [tree.labels[target]]
        )
    if records is not None and np.shape(records) != (tree.n_nodes,):
        raise HierarchyError(
            f"Sorting by records needs one number for each of the {write_count(tree.n_nodes)} "
            "nodes."
        )
    draft = Draft.from_tree(tree)
    most = None if records is None else (-np.asarray(records, dtype=np.float64)).tolist()
    kind = find_kind([leaf for leaf in tree.labels[: tree.n_leaves] if leaf != MISSING_LABEL])
    kinds = [kind] if kind.is_number or kind.is_moment else []

    def get_sort_key(node: int) -> tuple[object, ...]:
        return make_sort_key(tree.labels[node], *kinds)

    waiting = [target]
    while waiting:
        below = draft.children[waiting.pop()]
        below.sort(key=get_sort_key if most is None else most.__getitem__)
        waiting.extend(child for child in below if child >= tree.n_leaves)
    return draft.build()


def set_weight(tree: Hierarchy, label: str, weight: float) -> Hierarchy:
    """Draw the weight of the edge above a node.

    >>> from kanon.hierarchy.build import suppression
    >>> tree = with_weights(suppression(["F", "M"]), np.array([1, 1, 0]))
    >>> set_weight(tree, "M", 2.5).weight.tolist()
    [1.0, 2.5, 0.0]

    Raises
    ------
    HierarchyError
        The label is unknown or the root, the tree has no weights, or the weight is not a
        number from 0 to :data:`~kanon.hierarchy.LARGEST_WEIGHT`.
    """
    (node,) = _find_nodes(tree, [label])
    if node == tree.root:
        raise HierarchyError("The root has no edge above it, so it has no weight.")
    if tree.weight is None:
        raise HierarchyError(
            "The tree has no weights of its own. Give all its edges a weight before changing one."
        )
    number = isinstance(weight, int | float | np.number) and not isinstance(weight, bool)
    if not number or not 0 <= weight <= LARGEST_WEIGHT:
        raise HierarchyError(f"{describe_weight(weight)} is not allowed; {_WEIGHT_RULE}.")
    weight_array = tree.weight.copy()
    weight_array[node] = weight
    return with_weights(tree, weight_array)


def with_weights(tree: Hierarchy, weights: np.ndarray | None) -> Hierarchy:
    """The same tree with other weights drawn, or with none.

    >>> from kanon.hierarchy.build import suppression
    >>> with_weights(suppression(["F", "M"]), np.array([1, 2, 3])).weight.tolist()
    [1.0, 2.0, 0.0]

    Parameters
    ----------
    weights
        Shape (N,): per node of this tree the weight of the edge above it (the root's is ignored);
        or None for a tree without weights of its own.

    Raises
    ------
    HierarchyError
        There is not one number from 0 to :data:`~kanon.hierarchy.LARGEST_WEIGHT` per edge.
    """
    if weights is None:
        return replace(tree, weight=None)
    try:
        weight_array = np.array(weights, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise HierarchyError(f"One of the weights is not a number; {_WEIGHT_RULE}.") from None
    if weight_array.shape != (tree.n_nodes,):
        raise HierarchyError(
            f"The {write_count(tree.n_nodes)} nodes of the tree need one weight each."
        )
    weight_array[tree.root] = 0
    bad = np.flatnonzero(~((weight_array >= 0) & (weight_array <= LARGEST_WEIGHT)))
    if len(bad):
        raise HierarchyError(
            f"The weight {quote(weight_array[bad[0]])} above {{cells}} is not allowed; "
            f"{_WEIGHT_RULE}.",
            [tree.labels[bad[0]]],
        )
    if tree.n_nodes == 1:  # no edge, so nothing was drawn
        return replace(tree, weight=None)
    weight_array.setflags(write=False)
    return replace(tree, weight=weight_array)


_WEIGHT_RULE = f"it has to be a number from 0 to {LARGEST_WEIGHT:g}"


def _find_nodes(tree: Hierarchy, labels: Iterable[str]) -> list[int]:
    """Find the numbers of the nodes with these labels, ascending, each once."""
    texts = list(dict.fromkeys(map(convert_to_text, labels)))
    unknown = [text for text in texts if text not in tree.node_of]
    if unknown:
        raise HierarchyError("The tree has no node with the label {cells}.", unknown)
    return sorted(tree.node_of[text] for text in texts)


def _find_non_root(tree: Hierarchy, labels: Iterable[str], action: str) -> list[int]:
    nodes = _find_nodes(tree, labels)
    if tree.root in nodes:
        raise HierarchyError(f"The root {{cells}} cannot be {action}.", [tree.labels[tree.root]])
    return nodes


def _keep_uppermost(tree: Hierarchy, nodes: Sequence[int]) -> list[int]:
    """Keep the nodes that lie below none of the others, in the order of the tree."""
    selected = set(nodes)
    parent = tree.parent.tolist()
    is_covered = [False] * tree.n_nodes
    for node in range(tree.root - 1, -1, -1):  # parents have larger numbers
        is_covered[node] = is_covered[parent[node]] or parent[node] in selected
    return sorted((node for node in selected if not is_covered[node]), key=tree.first.__getitem__)


def _check_group_name(name: str) -> str:
    text = convert_to_text(name)
    if not text:
        raise HierarchyError("The name of a group cannot be empty.")
    if len(text) > LONGEST_NAME:
        raise HierarchyError(
            f"The name of a group can have at most {write_count(LONGEST_NAME)} characters, "
            f"not {write_count(len(text))}."
        )
    if any(unicodedata.category(mark) == "Cc" for mark in text):
        raise HierarchyError("The name of a group is a line of text without control characters.")
    return text


def _refuse_used_name(name: str, tree: Hierarchy, removed: Iterable[int] = ()) -> None:
    if name in tree.node_of and tree.node_of[name] not in removed:
        raise HierarchyError("The name {cells} is in use; choose another one.", [name])


def _find_free_name(name: str, used_names: set[str]) -> str:
    """Return the name, or the first of "name 2", "name 3", … that is not in use."""
    numbered_names = (f"{name} {number}" for number in itertools.count(2))
    return next(text for text in itertools.chain([name], numbered_names) if text not in used_names)
