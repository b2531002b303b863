"""The drawing of a hierarchy: what the browser shows of it, and what it asks to be changed.

The browser is not trusted: every operation is checked, and done on a copy or not at all.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from kanon.base.formatting import count_noun, write_count
from kanon.base.values import MISSING_LABEL, convert_to_text
from kanon.errors import HierarchyError, KanonError, list_names, quote
from kanon.hierarchy import Hierarchy, edit
from kanon.hierarchy.cost_matrices import cost_text, decimals_of
from kanon.hierarchy.spellings import (
    Spellings,
    add_look_alikes,
    find_look_alikes,
    find_separate_spellings,
    find_spellings,
    join_spellings,
)
from kanon.hierarchy.tables import (
    build_edge_table,
    find_new_edges,
    parse_weight,
    read_edge_table,
    read_level_table,
)
from kanon.metrics import edge_weights
from kanon.studio.session import state
from kanon.studio.session.choices import HierarchyChoice, set_drawn_tree
from kanon.studio.session.hierarchy_choices import (
    redo_hierarchy,
    set_hierarchies,
    set_hierarchy,
    undo_hierarchy,
)
from kanon.studio.session.work import SessionState, count_records_at_nodes, get_metric

LARGEST_DRAWING = 50_000  # values of a tree that is still drawn; three times as many nodes

DRAWN = "\tdrawn"  # stands for the user's own weights, beside metrics; no metric can have this name


def can_draw(tree: Hierarchy) -> bool:
    return tree.n_leaves <= LARGEST_DRAWING and tree.n_nodes <= 3 * LARGEST_DRAWING


# --- operations -----------------------------------------------------------------------------
def apply_operation(work: SessionState, operation: Mapping[str, Any]) -> SessionState:
    """Apply an operation of the browser; a refused one changes only the message."""
    columns = {_get_drawing_name(work, name): name for name in work.table.hierarchy_columns}
    column = columns.get(str(operation.get("about")))
    if column is None or column not in work.table.choices:
        return work
    history = work.table.get_history(column)
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
        return work.replace_sections(table)
    after = new.table.histories[column]
    after = replace(after, answered=name, said=sentence, refused=False, select=tuple(select))
    if operation.get("kind") == "weigh":
        # All shown weights are the user's own now.
        new = new.replace_sections(replace(new.shared, shown=DRAWN))
    return new.replace_sections(
        replace(new.table, histories={**new.table.histories, column: after})
    )


def _apply_operation(
    work: SessionState, column: str, operation: Mapping[str, Any]
) -> tuple[SessionState, Sequence[str], str]:
    """The new state, the nodes to select, and the message."""
    kind, history = operation.get("kind"), work.table.get_history(column)
    if kind == "undo":
        return undo_hierarchy(work, column), (), "Undone."
    if kind == "redo":
        return redo_hierarchy(work, column), (), "Redone."
    choice = work.table.choices[column]
    tree = choice.tree
    perform = _OPERATIONS.get(str(kind))
    if tree is None or perform is None:
        raise HierarchyError(f"The operation {quote(kind)} is not known.")
    new_tree, select = perform(_Operation(work, column, tree, operation))
    if new_tree == tree:
        # Nothing to undo; the browser learns that its operation was dealt with.
        table = replace(work.table, histories={**work.table.histories, column: history})
        return work.replace_sections(table), select, ""
    emptied = [label for label in _list_groups(tree) if label not in new_tree.node_of]
    sentence = ""
    if kind in ("move", "group") and emptied:
        sentence = (
            f"{list_names(emptied)} had no members left and was removed; Undo brings it back."
        )
    return set_hierarchy(work, column, set_drawn_tree(choice, new_tree)), select, sentence


class _Operation:
    def __init__(
        self, work: SessionState, column: str, tree: Hierarchy, operation: Mapping[str, Any]
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
        records = self.work.table.choices[self.column].lacking.get(convert_to_text(name))
        if records is not None:
            raise HierarchyError(
                f"{{cells}} is already a value, in {count_noun(records, 'record')}, and it has no "
                "place in the tree yet; choose another name for the group.",
                [name],
            )
        return name

    def read_part(self, part: str) -> str | list[str]:
        if part == "nodes":
            return self.get_nodes()
        return self.get_name() if part == "name" else self.get_node(part)

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
        kind = quote(self._operation.get("kind"))
        return HierarchyError(f"The operation {kind} is incomplete.")


_EDITS: Mapping[str, tuple[Callable[..., Hierarchy], tuple[str, ...]]] = {
    "move": (edit.move, ("nodes", "to")),
    "group": (edit.group, ("nodes", "name")),
    "rename": (edit.rename, ("node", "name")),
    "ungroup": (edit.ungroup, ("nodes",)),
    "insert": (edit.insert_group_above, ("nodes",)),
}
"""What changes the groups of a tree, and the parts of the operation that it takes."""


def _edit_groups(operation: _Operation, kind: str) -> tuple[Hierarchy, Sequence[str]]:
    change, parts = _EDITS[kind]
    arguments = [operation.read_part(part) for part in parts]
    new_tree = change(operation.tree, *arguments)
    return new_tree, arguments[0] if kind == "move" else _list_new_groups(operation.tree, new_tree)


def _weigh_edge(operation: _Operation) -> tuple[Hierarchy, Sequence[str]]:
    node, weight = operation.get_node("node"), parse_weight(operation.get_text("weight"))
    metric_name = get_shown_weights_name(
        operation.work, operation.work.table.choices[operation.column]
    )
    start = get_shown_weights(operation.work, operation.column, operation.tree, metric_name)
    tree = operation.tree if start is None else edit.with_weights(operation.tree, start)
    return edit.set_weight(tree, node, weight), [node]


def _sort_members(operation: _Operation) -> tuple[Hierarchy, Sequence[str]]:
    tree, records = operation.tree, None
    if operation.get_text("by") == "records":
        records = _count_records_below(tree, operation.work.table.choices[operation.column])
    return edit.sort(tree, operation.get_node("node"), records), ()


_OPERATIONS: Mapping[str, Callable[[_Operation], tuple[Hierarchy, Sequence[str]]]] = {
    **{kind: partial(_edit_groups, kind=kind) for kind in _EDITS},
    "weigh": _weigh_edge,
    "sort": _sort_members,
}


def _list_groups(tree: Hierarchy) -> tuple[str, ...]:
    return tree.labels[tree.n_leaves :]


def _list_new_groups(old: Hierarchy, new: Hierarchy) -> list[str]:
    return [label for label in _list_groups(new) if label not in old.node_of]


# --- changes from beside the drawing --------------------------------------------------------
def set_tree(
    work: SessionState, column: str, tree: Hierarchy, notes: tuple[str, ...] = ()
) -> SessionState:
    return set_hierarchy(work, column, set_drawn_tree(work.table.choices[column], tree, notes))


def set_levels_table(work: SessionState, column: str, table: pd.DataFrame) -> SessionState:
    before = work.table.choices[column].tree
    tree = read_level_table(table, before)
    notes: tuple[str, ...] = ()
    if before is not None and tree.weight is not None and (new := find_new_edges(tree, before)):
        notes = (
            (
                f"New edges (above {list_names(new)}) get the weight of the heaviest edge beside "
                "them, or 1 if there is none; please check them."
            ),
        )
    return set_tree(work, column, tree, notes)


def set_edge_table(work: SessionState, column: str, table: pd.DataFrame) -> SessionState:
    tree = read_edge_table(table)
    new = set_tree(work, column, tree)
    return new if tree.weight is None else new.replace_sections(replace(new.shared, shown=DRAWN))


def find_proposed_spellings(work: SessionState, column: str) -> list[Spellings]:
    """Values that look like spellings of one and are not joined in the tree yet."""
    choice = work.table.choices[column]
    if choice.tree is None:
        return []
    counts = {value: n for value, n in choice.counts.items() if value != MISSING_LABEL}
    columns = tuple(work.table.hierarchy_columns)
    all_spellings = state.get_or_compute(
        f"spellings-{column}",
        (work.table.digest, work.version, columns, work.table.missing),
        lambda: find_spellings(counts),
    )
    return find_separate_spellings(choice.tree, all_spellings, counts)


def join_tree_spellings(
    work: SessionState, column: str, spellings_to_join: Sequence[Spellings]
) -> SessionState:
    tree = work.table.choices[column].tree
    if tree is None or not spellings_to_join:
        return work
    return set_tree(work, column, join_spellings(tree, spellings_to_join))


def add_missing_values(work: SessionState, column: str, parent: str) -> SessionState:
    choice = work.table.choices[column]
    if choice.tree is None or not choice.lacking:
        return work
    tree = edit.add_leaves(choice.tree, list(choice.lacking), parent)
    return set_tree(work, column, tree)


def find_look_alikes_of(choice: HierarchyChoice) -> dict[str, str]:
    return find_look_alikes(choice.tree, choice.lacking) if choice.tree and choice.lacking else {}


def join_look_alikes(work: SessionState, column: str) -> SessionState:
    choice = work.table.choices[column]
    alike = find_look_alikes_of(choice)
    if choice.tree is None or not alike:
        return work
    tree = add_look_alikes(choice.tree, alike, choice.counts)
    return set_tree(work, column, tree)


def set_drawn_weights(work: SessionState, metric_name: str, columns: Sequence[str]) -> SessionState:
    """Set a metric's weights, or none, on the edges of these columns, in one undo step."""
    trees, choices = work.table.trees, work.table.choices
    trees_weighed = {
        column: edit.with_weights(
            trees[column],
            get_shown_weights(work, column, trees[column], metric_name) if metric_name else None,
        )
        for column in columns
        if column in trees
    }
    return set_hierarchies(
        work,
        {column: set_drawn_tree(choices[column], tree) for column, tree in trees_weighed.items()},
    )


def list_unweighed_columns(work: SessionState) -> list[str]:
    """The quasi-identifiers whose hierarchy has edges but no drawn weights."""
    return [
        name for name, tree in work.table.trees.items() if tree.weight is None and tree.n_nodes > 1
    ]


# --- what the browser draws -----------------------------------------------------------------
def get_shown_weights_name(work: SessionState, choice: HierarchyChoice) -> str:
    drawn_there = choice.tree is not None and choice.tree.weight is not None
    return "" if work.shared.shown == DRAWN and not drawn_there else work.shared.shown


def get_shown_weights(
    work: SessionState, column: str, tree: Hierarchy, metric_name: str
) -> np.ndarray | None:
    if not metric_name:
        return None
    if metric_name == DRAWN:
        return tree.weight
    trees = {**work.table.trees, column: tree}
    metric = get_metric(work, metric_name)
    weights = edge_weights(
        metric, list(trees.values()), count_records_at_nodes(work, metric, trees)
    )
    return weights[list(trees).index(column)]


def _get_drawing_name(work: SessionState, column: str) -> str:
    return f"{work.version} {column}"


def _count_records_below(tree: Hierarchy, choice: HierarchyChoice) -> np.ndarray:
    return tree.sum_below(np.array([choice.counts.get(label, 0) for label in tree.labels]))


def build_drawing(
    work: SessionState,
    column: str,
    choice: HierarchyChoice,
    editable: bool = True,
    shown: str | None = None,
) -> dict[str, Any]:
    """All that the browser needs to draw a hierarchy; every number is text already."""
    tree, history = choice.tree, work.table.get_history(column)
    assert tree is not None
    shown = get_shown_weights_name(work, choice) if shown is None else shown
    weights = get_shown_weights(work, column, tree, shown)
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
        "records": [write_count(count) for count in records.tolist()],
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
        return [format_weight(weight) for weight in weights.tolist()]
    decimals = decimals_of(weights)
    # Without spaces: a user who changes one of them begins with this text.
    return [cost_text(weight, decimals).replace("\u202f", "") for weight in weights.tolist()]


def format_weight(weight: float) -> str:
    """Write a weight as it stands on an edge and can be typed again.

    >>> format_weight(0.03333333), format_weight(12345.0), format_weight(2.0)
    ('0.03333', '12345', '2')
    """
    return f"{weight:.4g}" if weight < 1000 else f"{weight:.10g}"


def build_edge_texts(tree: Hierarchy) -> pd.DataFrame:
    """The edges as text: in a column of numbers a slip of the finger becomes 0."""
    table = build_edge_table(tree)
    weights = ["" if np.isnan(weight) else format_weight(weight) for weight in table["weight"]]
    return table.assign(weight=weights)


def describe_tree(choice: HierarchyChoice) -> str:
    tree = choice.tree
    assert tree is not None
    nodes, values = count_noun(tree.n_nodes, "node"), count_noun(tree.n_leaves, "value")
    return f"{nodes} over {values}, height {tree.height}"
