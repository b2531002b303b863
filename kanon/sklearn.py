"""A plan as a transformer of scikit-learn, for pipelines and cross-validation.

>>> plan = {"version": 2, "algorithm": {"name": "gaa"}, "columns": {"age": {
...     "role": "quasi-identifier", "hierarchy": {"build": "intervals", "widths": [10]}}},
...     "privacy": [{"model": "k-anonymity", "k": 2}]}
>>> anonymizer = Anonymizer(plan).fit(pd.DataFrame({"age": [31, 34, 52, 57]}))
>>> anonymizer.transform(pd.DataFrame({"age": [57, 38]}))["age"].tolist()
['50-59', '30-39']
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from kanon.base.formatting import count_noun
from kanon.base.kinds import ColumnKind, read_numbers
from kanon.base.values import MISSING_LABEL, encode_texts
from kanon.errors import KanonError, TableError, list_names
from kanon.hierarchy import Hierarchy
from kanon.hierarchy.plans import CodesPlan, GroupsPlan, NodesPlan, build_hierarchy
from kanon.hierarchy.ranges import build_flat_hierarchy, covers, list_covered_leaves
from kanon.measures.cells import scale_metric_potentials
from kanon.plan import Plan
from kanon.run import run
from kanon.run.preparation import as_kinds
from kanon.schema import SUPPRESSED, Role
from kanon.sources.memory import MemoryTable, convert_to_table, find_incomplete_records
from kanon.sources.rows import build_released_rows


class Anonymizer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Learns a release from one table, and raises the rows of others as it raised that table's.

    A row with quasi-identifiers that ``fit`` saw goes to the class that they went to. Any other
    row goes to the released class that contains it; of several to the one that loses least by the
    plan's metric, of these to the first in canonical order. A value that ``fit`` did not see is in
    the groups that the plan's builder puts it in, and in ranges of numbers around it; a hierarchy
    from a file or list lacks it.

    Identifiers are left out, pseudonyms too. Rows that the plan drops or suppresses stay, as
    pipelines need: at the roots, their other cells missing.

    Rows keep their order and index. **That gives away which record each row is about to anyone who
    has the table or its order**: kanon's own releases are sorted. So what ``transform`` returns is
    for models, not for recipients; give out what :func:`kanon.run.run` releases. The models of the
    plan hold for the table of ``fit`` alone: of new rows a class may have one. A fitted object
    holds the original quasi-identifiers of each class with their numbers of records, so it may go
    only where the table may go.

    Parameters
    ----------
    plan : Plan, dict or path
        The plan; paths in it start in its folder, or in the current one if it is no file.
    unseen : {"error", "suppress"}
        What happens to rows that no released class contains.

    Attributes
    ----------
    recoding_ : Recoding
        The released class of each original class, without sensitive values and persons.
    unplaced_ : int
        How many rows of the last ``transform`` no released class contains.

    Raises
    ------
    TypeError
        The rows are not a pandas DataFrame.
    ValueError
        ``unseen`` is something else, or the columns differ from those of ``fit``.
    TableError
        In ``transform``, no released class contains some rows, and ``unseen`` is ``error``.
    KanonError
        In ``fit``, see :func:`kanon.run.run`.
    """

    def __init__(
        self,
        plan: Plan | dict[str, Any] | str | Path,
        unseen: Literal["error", "suppress"] = "error",
    ) -> None:
        self.plan = plan
        self.unseen = unseen

    def fit(self, X: pd.DataFrame, y: object = None) -> Self:
        """Run the plan on a table and keep the recoding; ``y`` is not used."""
        if self.unseen not in ("error", "suppress"):
            raise ValueError(f"unseen has to be 'error' or 'suppress', not {self.unseen!r}.")
        _check_frame(self, X, reset=True)
        folder = Path()
        if isinstance(self.plan, str | Path):
            plan, folder = Plan.load(Path(self.plan)), Path(self.plan).parent
        else:
            plan = self.plan if isinstance(self.plan, Plan) else Plan.from_content(self.plan)
        release = run(plan, X, folder)
        prepared, recoding = release.prepared, release.recoding
        classes = replace(recoding.classes, sensitive=(), persons=None, combined=None)
        self.plan_ = plan
        self.recoding_ = replace(recoding, classes=classes)
        self.coarsened_ = prepared.coarsened
        self.unplaced_ = 0
        # The ranges of codes are read now: their file may be elsewhere when rows are raised.
        self._builders = {
            column: part.read_ranges(folder) if isinstance(part, CodesPlan) else part
            for column in classes.attributes
            for part in [plan.columns[column].hierarchy]
        }
        potentials = scale_metric_potentials(
            self.recoding_.original, plan.metric, prepared.attribute_weights
        )
        detail = sum(d[nodes] for d, nodes in zip(potentials, recoding.nodes.T, strict=True))
        self._by_loss = np.argsort(-np.asarray(detail), kind="stable")
        return self

    def transform(self, X: pd.DataFrame) -> pd.DataFrame:
        """The rows in their order, raised as ``fit`` learned."""
        check_is_fitted(self)
        _check_frame(self, X, reset=False)
        plan = self.plan_
        table = convert_to_table(X.reset_index(drop=True))
        table = table.repair(plan.repairs, plan.read.column_kinds)
        table = as_kinds(plan, table).replace_by_groups(self.coarsened_)
        assert isinstance(table, MemoryTable)
        rows = table.frame
        if plan.read.missing == "drop-records":
            rows = rows[~find_incomplete_records(rows, self.recoding_.classes.attributes)]
        place = np.full(len(X), -1)
        place[rows.index], lacking = self._find_places(rows)
        self.unplaced_ = int((place == _NO_CLASS).sum())
        if self.unplaced_ and self.unseen == "error":
            columns = f" None has room for some values of {list_names(lacking)}." if lacking else ""
            raise TableError(
                f"No released class contains {self.unplaced_} of {count_noun(len(X), 'row')}."
                f"{columns} Set unseen='suppress' to suppress them, or fit on a table with such "
                "rows."
            )
        released = build_released_rows(
            rows.reindex(range(len(X))), np.arange(len(X)),
            replace(self.recoding_, assigned=np.maximum(place, -1)), plan.roles, {},
            plan.suppressed == "keep",
        )  # fmt: skip
        return released.set_axis(X.index)

    def get_feature_names_out(self, input_features: object = None) -> np.ndarray:
        """The columns of what ``transform`` returns: those of the table but the identifiers."""
        check_is_fitted(self)
        identifiers = self.plan_.roles.columns(Role.IDENTIFIER)
        names = [name for name in self.feature_names_in_ if name not in identifiers]
        marks = [SUPPRESSED] if self.plan_.suppressed == "keep" else []
        return np.array([*names, *marks], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.categorical = tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = []
        return tags

    def _find_places(self, rows: pd.DataFrame) -> tuple[np.ndarray, list[str]]:
        """Per row its released class or why it has none, and columns with values in no class."""
        recoding, classes = self.recoding_, self.recoding_.classes
        missing = MISSING_LABEL if self.plan_.read.missing == "as-value" else ""
        cells: list[np.ndarray] = []  # per quasi-identifier the number of each row's value
        originals: list[list[int]] = []  # the node of each value; -1 if it is new
        rooms: list[tuple[np.ndarray, np.ndarray]] = []  # the nodes that contain it, by class
        for j, column in enumerate(classes.attributes):
            codes, texts = encode_texts(rows[column])
            labels = [*texts, missing]  # a missing cell has the code -1
            nodes, of_class = np.unique(recoding.nodes[:, j], return_inverse=True)
            cells.append(codes)
            originals.append([classes.hierarchies[j].node_of.get(text, -1) for text in labels])
            rooms.append((self._find_room(j, nodes, labels), of_class))
        assigned = recoding.assigned.tolist()
        seen = dict(zip(map(tuple, classes.nodes.tolist()), assigned, strict=True))
        places = []
        tuples, group = np.unique(np.stack(cells, axis=1), axis=0, return_inverse=True)
        for row in tuples.tolist():
            original = tuple(nodes[code] for nodes, code in zip(originals, row, strict=True))
            if original in seen:
                places.append(seen[original])
                continue
            pairs = zip(rooms, row, strict=True)
            contains = np.logical_and.reduce([room[code][of] for (room, of), code in pairs])
            places.append(next(iter(self._by_loss[contains[self._by_loss]]), _NO_CLASS))
        place = np.array(places, dtype=np.int64)[group.ravel()]
        outside = place == _NO_CLASS
        lacking = [
            column
            for column, codes, (room, _) in zip(classes.attributes, cells, rooms, strict=True)
            if not room[codes[outside]].any(axis=1).all()
        ]
        return place, lacking

    def _find_room(self, j: int, nodes: np.ndarray, texts: Sequence[str]) -> np.ndarray:
        """Per text whether each of some released nodes contains it. Shape (texts, nodes)."""
        column = self.recoding_.classes.attributes[j]
        plain, tree = self.recoding_.classes.hierarchies[j], self.recoding_.hierarchies[j]
        room = np.zeros((len(texts), len(nodes)), bool)
        new: dict[str, int] = {}
        for row, text in enumerate(texts):
            if text in plain.node_of:
                room[row] = covers(tree, nodes, plain.node_of[text])
            elif text == MISSING_LABEL:
                room[row] = nodes == tree.root
            elif text:
                new[text] = row
        kind, builder = self.plan_.read.column_kinds.get(column), self._builders[column]
        if builder is None:
            build = partial(build_flat_hierarchy, kind=kind)
        else:
            build = partial(build_hierarchy, column, builder, folder=Path(), kind=kind)
        used = np.unique(self.recoding_.classes.nodes[:, j])
        values = [plain.labels[node] for node in used if plain.labels[node] != MISSING_LABEL]
        buildable = [] if isinstance(builder, _COMPLETE) else [*new]
        for larger, added in _add_values(plain, values, build, buildable):
            for text in added:
                above = {larger.labels[node] for node in larger.path(larger.node_of[text])}
                room[new[text]] = [tree.labels[node] in above for node in nodes]
        for text, row in new.items():
            room[row] |= _is_in_range(tree, nodes, text, kind)
        return room


_NO_CLASS = -2  # of a row that no released class contains; -1 is a suppressed one
_COMPLETE = (str, NodesPlan, GroupsPlan)  # hierarchies that list their values


def _check_frame(anonymizer: Anonymizer, X: object, reset: bool) -> None:
    if not isinstance(X, pd.DataFrame):
        raise TypeError(
            "Anonymizer needs a pandas DataFrame, because a plan names columns, not "
            f"{type(X).__name__}."
        )
    validate_data(anonymizer, X, reset=reset, skip_check_array=True)


def _add_values(
    tree: Hierarchy,
    values: list[str],
    build: Callable[[list[str]], Hierarchy],
    texts: list[str],
) -> Iterator[tuple[Hierarchy, list[str]]]:
    """Trees with new values beside the old ones, whose groups stay; each with its new values.

    A value with which a builder would group the old ones otherwise is in none.
    """
    if not texts:
        return
    try:
        larger = build([*values, *texts])
    except KanonError:
        larger = tree
    if {*texts} <= {*larger.node_of} and all(
        [label for label in _list_groups(larger, value) if label in tree.node_of]
        == _list_groups(tree, value)
        for value in values
    ):
        yield larger, texts
    elif len(texts) > 1:
        for part in (texts[::2], texts[1::2]):
            yield from _add_values(tree, values, build, part)


def _list_groups(tree: Hierarchy, label: str) -> list[str]:
    return [tree.labels[node] for node in tree.path(tree.node_of[label])]


def _is_in_range(
    tree: Hierarchy, nodes: np.ndarray, text: str, kind: ColumnKind | None
) -> np.ndarray:
    """Whether each of some nodes is a range of numbers around a new one. Shape (nodes,)."""
    leaves = [*tree.labels[: tree.n_leaves]]
    filled = [place for place, leaf in enumerate(leaves) if leaf != MISSING_LABEL]
    within, ranges = np.zeros(len(nodes), bool), np.flatnonzero(nodes > tree.root)
    sizes = read_numbers([*(leaves[place] for place in filled), text], kind)
    if sizes is None or not len(ranges):
        return within
    size_of = np.full(tree.n_leaves, np.nan)
    size_of[filled] = sizes[:-1]
    for place in ranges:
        covered = size_of[list_covered_leaves(tree, nodes[[place]])[1]]
        label = tree.labels[nodes[place]]
        low = -np.inf if " or less" in label else np.nanmin(covered)
        high = np.inf if " or more" in label else np.nanmax(covered)
        within[place] = low <= sizes[-1] <= high
    return within
