"""The drawing of a hierarchy: what the browser shows of it, and what it asks to be changed.

The browser is not trusted: every operation is checked, and done on a copy or not at all.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from kanon.base.formatting import counted, thin
from kanon.base.values import MISSING_LABEL, canonical_text
from kanon.errors import HierarchyError, KanonError, listing, quoted
from kanon.hierarchy import Hierarchy, edit
from kanon.hierarchy.cost_matrices import cost_text, decimals_of
from kanon.hierarchy.spellings import (
    Spellings,
    find_look_alikes,
    joined,
    spellings,
    unjoined,
    with_look_alikes,
)
from kanon.hierarchy.tables import (
    edge_table,
    new_edges,
    parse_weight,
    tree_from_edges,
    tree_from_levels,
)
from kanon.metrics import edge_weights
from kanon.studio.session import state
from kanon.studio.session.choices import HierarchyChoice, drawn
from kanon.studio.session.hierarchy_choices import redone, undone, with_choice, with_chosen
from kanon.studio.session.work import Work, counted_records, metric_called

LARGEST_DRAWING = 50_000  # values of a tree that is still drawn; three times as many nodes

DRAWN = "\tdrawn"  # stands for the user's own weights, beside metrics; no metric can have this name


def drawable(tree: Hierarchy) -> bool:
    return tree.n_leaves <= LARGEST_DRAWING and tree.n_nodes <= 3 * LARGEST_DRAWING


# --- operations -----------------------------------------------------------------------------
def edited(work: Work, operation: Mapping[str, Any]) -> Work:
    """Apply an operation of the browser; a refused one changes only the message."""
    columns = {_get_drawing_name(work, name): name for name in work.table.hierarchy_columns}
    column = columns.get(str(operation.get("about")))
    if column is None or column not in work.table.choices:
        return work
    history = work.table.history(column)
    name = str(operation.get("id", ""))[:64]
    if name and name == history.answered:
        return work
    try:
        base = operation.get("base")
        if type(base) is not int or base != history.version:
            raise HierarchyError(
                "The tree has changed since this was drawn, so nothing was done; please try again."
            )
        new, select, sentence = _apply_operation(work, column, operation)
    except KanonError as error:
        refused = replace(history, answered=name, said=error.sentence, refused=True, select=())
        table = replace(work.table, histories={**work.table.histories, column: refused})
        return work.with_parts(table)
    after = new.table.histories[column]
    after = replace(after, answered=name, said=sentence, refused=False, select=tuple(select))
    if operation.get("kind") == "weigh":
        # All shown weights are the user's own now.
        new = new.with_parts(replace(new.shared, shown=DRAWN))
    return new.with_parts(replace(new.table, histories={**new.table.histories, column: after}))


def _apply_operation(
    work: Work, column: str, operation: Mapping[str, Any]
) -> tuple[Work, Sequence[str], str]:
    """The new state, the nodes to select, and the message."""
    kind, history = operation.get("kind"), work.table.history(column)
    if kind == "undo":
        return undone(work, column), (), "Undone."
    if kind == "redo":
        return redone(work, column), (), "Redone."
    choice = work.table.choices[column]
    tree = choice.tree
    perform = _OPERATIONS.get(str(kind))
    if tree is None or perform is None:
        raise HierarchyError(f"The operation {quoted(kind)} is not known.")
    new_tree, select = perform(_Operation(work, column, tree, operation))
    if new_tree == tree:
        # Nothing to undo; the browser learns that its operation was dealt with.
        table = replace(work.table, histories={**work.table.histories, column: history})
        return work.with_parts(table), select, ""
    emptied = [label for label in _list_groups(tree) if label not in new_tree.node_of]
    sentence = ""
    if kind in ("move", "group") and emptied:
        sentence = f"{listing(emptied)} had no members left and was removed; Undo brings it back."
    return with_choice(work, column, drawn(choice, new_tree)), select, sentence


class _Operation:
    def __init__(
        self, work: Work, column: str, tree: Hierarchy, operation: Mapping[str, Any]
    ) -> None:
        self.work, self.column, self.tree = work, column, tree
        self._operation = operation

    def get_text(self, key: str) -> str:
        text = self._operation.get(key)
        if not isinstance(text, str):
            raise self._get_error()
        return text

    def get_name(self) -> str:
        """The name of a group; a value without a place would be taken for the group."""
        name = self.get_text("name")
        records = self.work.table.choices[self.column].lacking.get(canonical_text(name))
        if records is not None:
            raise HierarchyError(
                f"{{cells}} is a value of {counted(records, 'record')} that has no place yet; "
                "give the group another name.",
                [name],
            )
        return name

    def get_node(self, key: str) -> str:
        return self._get_label(self._operation.get(key))

    def get_nodes(self) -> list[str]:
        nodes = self._operation.get("nodes")
        if not isinstance(nodes, list):
            raise self._get_error()
        return list(dict.fromkeys(self._get_label(node) for node in nodes))

    def _get_label(self, node: object) -> str:
        if isinstance(node, int) and not isinstance(node, bool) and 0 <= node < self.tree.n_nodes:
            return self.tree.labels[node]
        raise self._get_error()

    def _get_error(self) -> HierarchyError:
        kind = quoted(self._operation.get("kind"))
        return HierarchyError(f"The operation {kind} is incomplete.")


def _move_nodes(operation: _Operation) -> tuple[Hierarchy, Sequence[str]]:
    nodes = operation.get_nodes()
    return edit.move(operation.tree, nodes, operation.get_node("to")), nodes


def _group_nodes(operation: _Operation) -> tuple[Hierarchy, Sequence[str]]:
    new_tree = edit.group(operation.tree, operation.get_nodes(), operation.get_name())
    return new_tree, _list_new_groups(operation.tree, new_tree)


def _rename_node(operation: _Operation) -> tuple[Hierarchy, Sequence[str]]:
    new_tree = edit.rename(operation.tree, operation.get_node("node"), operation.get_name())
    return new_tree, _list_new_groups(operation.tree, new_tree)


def _ungroup_nodes(operation: _Operation) -> tuple[Hierarchy, Sequence[str]]:
    return edit.ungroup(operation.tree, operation.get_nodes()), ()


def _insert_groups(operation: _Operation) -> tuple[Hierarchy, Sequence[str]]:
    new_tree = edit.insert_group_above(operation.tree, operation.get_nodes())
    return new_tree, _list_new_groups(operation.tree, new_tree)


def _weigh_edge(operation: _Operation) -> tuple[Hierarchy, Sequence[str]]:
    node, weight = operation.get_node("node"), parse_weight(operation.get_text("weight"))
    metric_name = shown_now(operation.work, operation.work.table.choices[operation.column])
    start = shown_weights(operation.work, operation.column, operation.tree, metric_name)
    tree = operation.tree if start is None else edit.with_weights(operation.tree, start)
    return edit.set_weight(tree, node, weight), [node]


def _sort_members(operation: _Operation) -> tuple[Hierarchy, Sequence[str]]:
    tree, records = operation.tree, None
    if operation.get_text("by") == "records":
        records = _count_records_below(tree, operation.work.table.choices[operation.column])
    return edit.sort(tree, operation.get_node("node"), records), ()


_OPERATIONS: Mapping[str, Callable[[_Operation], tuple[Hierarchy, Sequence[str]]]] = {
    "move": _move_nodes,
    "group": _group_nodes,
    "rename": _rename_node,
    "ungroup": _ungroup_nodes,
    "insert": _insert_groups,
    "weigh": _weigh_edge,
    "sort": _sort_members,
}


def _list_groups(tree: Hierarchy) -> tuple[str, ...]:
    return tree.labels[tree.n_leaves :]


def _list_new_groups(old: Hierarchy, new: Hierarchy) -> list[str]:
    return [label for label in _list_groups(new) if label not in old.node_of]


# --- changes from beside the drawing --------------------------------------------------------
def with_tree_drawn(work: Work, column: str, tree: Hierarchy, notes: tuple[str, ...] = ()) -> Work:
    return with_choice(work, column, drawn(work.table.choices[column], tree, notes))


def with_levels(work: Work, column: str, table: pd.DataFrame) -> Work:
    before = work.table.choices[column].tree
    tree = tree_from_levels(table, before)
    notes: tuple[str, ...] = ()
    if before is not None and tree.weight is not None and (new := new_edges(tree, before)):
        notes = (
            (
                f"New edges (above {listing(new)}) weigh as much as the heaviest one beside them, "
                "or 1; please check them."
            ),
        )
    return with_tree_drawn(work, column, tree, notes)


def with_edges(work: Work, column: str, table: pd.DataFrame) -> Work:
    tree = tree_from_edges(table)
    new = with_tree_drawn(work, column, tree)
    return new if tree.weight is None else new.with_parts(replace(new.shared, shown=DRAWN))


def proposed_spellings(work: Work, column: str) -> list[Spellings]:
    """Values that look like spellings of one and are not joined in the tree yet."""
    choice = work.table.choices[column]
    if choice.tree is None:
        return []
    counts = {value: n for value, n in choice.counts.items() if value != MISSING_LABEL}
    columns = tuple(work.table.hierarchy_columns)
    all_spellings = state.remembered(
        f"spellings-{column}",
        (work.table.digest, work.version, columns, work.table.missing),
        lambda: spellings(counts),
    )
    return unjoined(choice.tree, all_spellings, counts)


def with_spellings_joined(work: Work, column: str, spellings_to_join: Sequence[Spellings]) -> Work:
    tree = work.table.choices[column].tree
    if tree is None or not spellings_to_join:
        return work
    return with_tree_drawn(work, column, joined(tree, spellings_to_join))


def with_added(work: Work, column: str, parent: str) -> Work:
    choice = work.table.choices[column]
    if choice.tree is None or not choice.lacking:
        return work
    tree = edit.add_leaves(choice.tree, list(choice.lacking), parent)
    return with_tree_drawn(work, column, tree)


def find_look_alikes_of(choice: HierarchyChoice) -> dict[str, str]:
    return find_look_alikes(choice.tree, choice.lacking) if choice.tree and choice.lacking else {}


def with_alike_as_one(work: Work, column: str) -> Work:
    choice = work.table.choices[column]
    alike = find_look_alikes_of(choice)
    if choice.tree is None or not alike:
        return work
    tree = with_look_alikes(choice.tree, alike, choice.counts)
    return with_tree_drawn(work, column, tree)


def without_unused(work: Work, column: str) -> Work:
    """Remove the leaves without records; HierarchyError if no leaf would stay."""
    choice = work.table.choices[column]
    spare = removable(choice)
    if choice.tree is None or not spare:
        return work
    return with_tree_drawn(work, column, edit.remove_leaves(choice.tree, spare))


def removable(choice: HierarchyChoice) -> list[str]:
    tree, spare = choice.tree, set(choice.unused)
    if tree is None:
        return []
    for group in range(tree.n_leaves, tree.n_nodes):
        below = tree.labels[tree.first[group] : tree.last[group]]
        if tree.labels[group] in choice.counts and spare.issuperset(below):
            spare.discard(below[0])
    return [leaf for leaf in choice.unused if leaf in spare]


def with_drawn_weights(work: Work, metric_name: str, columns: Sequence[str]) -> Work:
    """Set a metric's weights, or none, on the edges of these columns, in one undo step."""
    trees, choices = work.table.trees, work.table.choices
    trees_weighed = {
        column: edit.with_weights(
            trees[column],
            shown_weights(work, column, trees[column], metric_name) if metric_name else None,
        )
        for column in columns
        if column in trees
    }
    return with_chosen(
        work, {column: drawn(choices[column], tree) for column, tree in trees_weighed.items()}
    )


def unweighed(work: Work) -> list[str]:
    """The quasi-identifiers whose hierarchy has edges but no drawn weights."""
    return [
        name for name, tree in work.table.trees.items() if tree.weight is None and tree.n_nodes > 1
    ]


# --- what the browser draws -----------------------------------------------------------------
def shown_now(work: Work, choice: HierarchyChoice) -> str:
    drawn_there = choice.tree is not None and choice.tree.weight is not None
    return "" if work.shared.shown == DRAWN and not drawn_there else work.shared.shown


def shown_weights(work: Work, column: str, tree: Hierarchy, metric_name: str) -> np.ndarray | None:
    if not metric_name:
        return None
    if metric_name == DRAWN:
        return tree.weight
    trees = {**work.table.trees, column: tree}
    metric = metric_called(work, metric_name)
    weights = edge_weights(metric, list(trees.values()), counted_records(work, metric, trees))
    return weights[list(trees).index(column)]


def _get_drawing_name(work: Work, column: str) -> str:
    return f"{work.version} {column}"


def _count_records_below(tree: Hierarchy, choice: HierarchyChoice) -> np.ndarray:
    return tree.sum_below(np.array([choice.counts.get(label, 0) for label in tree.labels]))


def picture(
    work: Work,
    column: str,
    choice: HierarchyChoice,
    editable: bool = True,
    shown: str | None = None,
) -> dict[str, Any]:
    """All that the browser needs to draw a hierarchy; every number is text already."""
    tree, history = choice.tree, work.table.history(column)
    assert tree is not None
    shown = shown_now(work, choice) if shown is None else shown
    weights = shown_weights(work, column, tree, shown)
    records = _count_records_below(tree, choice)
    return {
        "about": _get_drawing_name(work, column)
        if editable
        else f"preview {_get_drawing_name(work, column)}",
        "version": history.version,
        "answered": history.answered,
        "said": history.said,
        "bad": history.refused,
        "select": [tree.node_of[label] for label in history.select if label in tree.node_of],
        "labels": list(tree.labels),
        "parents": tree.parent.tolist(),
        "leaves": tree.n_leaves,
        "records": [thin(count) for count in records.tolist()],
        "empty": np.flatnonzero(records[: tree.n_leaves] == 0).tolist(),
        "weights": None if weights is None else _format_weights(weights, shown == DRAWN),
        "weighable": editable and weights is not None,
        "editable": editable,
        "undo": len(history.past),
        "redo": len(history.future),
        "lit": [],
        "climbed": [],
        "height": 560,
    }


def _format_weights(weights: np.ndarray, own: bool) -> list[str]:
    if own:
        return [weight_text(weight) for weight in weights.tolist()]
    decimals = decimals_of(weights)
    # Without spaces: a user who changes one of them begins with this text.
    return [cost_text(weight, decimals).replace("\u202f", "") for weight in weights.tolist()]


def weight_text(weight: float) -> str:
    """Write a weight as it stands on an edge and can be typed again.

    >>> weight_text(0.03333333), weight_text(12345.0), weight_text(2.0)
    ('0.03333', '12345', '2')
    """
    return f"{weight:.4g}" if weight < 1000 else f"{weight:.10g}"


def edge_texts(tree: Hierarchy) -> pd.DataFrame:
    """The edges as text: in a column of numbers a slip of the finger becomes 0."""
    table = edge_table(tree)
    weights = ["" if np.isnan(weight) else weight_text(weight) for weight in table["weight"]]
    return table.assign(weight=weights)


def summary(choice: HierarchyChoice) -> str:
    tree = choice.tree
    assert tree is not None
    nodes, values = counted(tree.n_nodes, "node"), counted(tree.n_leaves, "value")
    return f"{nodes} over {values}, height {tree.height}"
