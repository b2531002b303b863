"""A stored table with its roles and hierarchies; its engine counts and releases it."""

import contextlib
import os
import secrets
import shutil
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from kanon.base.progress import Progress, ignore_progress
from kanon.base.values import MISSING_LABEL, encode_texts
from kanon.classes import EquivalenceClasses, number_tuples, sum_tuples
from kanon.errors import TableError, quote
from kanon.hierarchy import Hierarchy
from kanon.recoding import Recoding
from kanon.schema import SUPPRESSED, Role, Schema, check_columns
from kanon.sensitive import Sensitive
from kanon.settings import get_settings
from kanon.sources.addresses import Address
from kanon.sources.coverage import fit_tree
from kanon.sources.engine_classes import SUPPRESSED_ROW, EngineClasses, EngineRecoding
from kanon.sources.engine_groups import add_keys, list_key_columns
from kanon.sources.engine_order import KEY, rank_nodes
from kanon.sources.formats import FORMATS, WRITTEN_BY_ENGINES
from kanon.sources.limits import check_room, limit_growth, measure_path
from kanon.sources.rows import build_released_rows, compute_rise
from kanon.sources.stored import StoredTable
from kanon.sources.stored_values import EXCERPT, QUERY_PREFIX, convert_to_frame, find_positions
from kanon.sources.tables import Excerpt, Source
from kanon.sources.writing import check_replaceable, keep_mode
from kanon.stored_classes import TupleNumbers


class StoredSource(Source):
    def __init__(
        self,
        table: StoredTable,
        schema: Schema,
        hierarchies: Mapping[str, Hierarchy],
        pseudonyms: Sequence[str] = (),
        keep_suppressed: bool = False,
    ) -> None:
        super().__init__(table, schema, hierarchies, pseudonyms, keep_suppressed)
        self.table: StoredTable = table
        columns = schema.quasi_identifiers
        trees = []
        self._lookup: list[np.ndarray] = []
        for column in columns:
            texts, records = table.values(column).texts, table.count_records_by_code(column)
            tree, lookup = _match_nodes(column, hierarchies[column], texts, records)
            trees.append(tree)
            self._lookup.append(lookup)
        most = get_settings().classes
        if table.estimate_most_classes(columns) > most and table.n_classes(columns) > most:
            sensitive = schema.columns(Role.SENSITIVE)
            self.classes: EquivalenceClasses = EngineClasses(
                table, tuple(columns), tuple(trees), self._lookup, sensitive
            )
        else:
            self.classes = self._fetch_classes(tuple(trees))

    def _fetch_classes(self, trees: tuple[Hierarchy, ...]) -> EquivalenceClasses:
        columns = self._schema.quasi_identifiers
        codes, counts = self.table.count_code_tuples(columns)
        nodes = np.empty_like(codes)  # filled column by column: there may be millions of rows
        for j, lookup in enumerate(self._lookup):
            nodes[:, j] = lookup[codes[:, j]]
        keys = number_tuples(nodes, [tree.n_nodes for tree in trees])
        nodes, counts = sum_tuples(nodes, counts, keys)
        sensitive = tuple(
            self.table.build_stored_histogram(column, columns, nodes, self._lookup)
            for column in self._schema.columns(Role.SENSITIVE)
        )
        return EquivalenceClasses(tuple(columns), trees, nodes, counts, sensitive)

    def build_column_histogram(self, column: str) -> Sensitive:
        check_columns(self.table.columns, [column])
        columns = self.classes.attributes
        return self.table.build_stored_histogram(column, columns, self.classes.nodes, self._lookup)

    def get_excerpt(self, recoding: Recoding, most: int, position: int | None = None) -> Excerpt:
        if position is None:
            rows = self.table.head(EXCERPT)
        else:
            members = np.flatnonzero(recoding.assigned == position)
            joined = self._join_members(self.table, self.table.expression, members, {})
            fetched = self.table.opened.fetch(joined.select(*self.table.columns).limit(most))
            rows = convert_to_frame(fetched, self.table.markers)
        row_class = find_positions(self.classes.nodes, self._find_nodes(rows))
        if not self._keep_suppressed:
            visible = recoding.assigned[row_class] >= 0
            rows, row_class = rows[visible], row_class[visible]
        rows, row_class = rows.iloc[:most], row_class[:most]
        labels = {}
        for column in self.pseudonyms:
            codes, texts = encode_texts(rows[column])
            names = [*(f"P_{number + 1}" for number in range(len(texts))), None]
            labels[column] = np.array(names, dtype=object)[codes]
        after = build_released_rows(
            rows, row_class, recoding, self._schema, labels, self._keep_suppressed
        )
        return Excerpt(rows, after, compute_rise(row_class, recoding))

    def _find_nodes(self, rows: pd.DataFrame) -> np.ndarray:
        columns = []
        for column, tree in zip(self.classes.attributes, self.classes.hierarchies, strict=True):
            codes, texts = encode_texts(rows[column])
            missing = tree.node_of.get(MISSING_LABEL, 0)
            columns.append(np.array([*(tree.node_of[text] for text in texts), missing])[codes])
        return np.stack(columns, axis=1)

    def get_row_classes(self, recoding: Recoding, most: int) -> np.ndarray | None:
        """The class of each row of the release in the engine's order; None for too many rows."""
        table, columns = self.table, self.classes.attributes
        if self.classes.in_engine or table.n_records > most:
            return None
        cells, nodes = table.opened.fetch(table.expression.select(*columns)), []
        for column, lookup in zip(columns, self._lookup, strict=True):
            nodes.append(lookup[table.values(column).find_codes(cells[column])])
        row_class = find_positions(self.classes.nodes, np.stack(nodes, axis=1))
        return row_class[self._keep_suppressed | (recoding.assigned[row_class] >= 0)]

    def released(self, recoding: Recoding, table: StoredTable, order: str) -> tuple[Any, list[str]]:
        """The unsorted release as an expression, and the columns to sort it by."""
        import ibis

        rows, keeps = table.expression, self._keep_suppressed
        if order == "table":
            rows = rows.mutate(**{_ROW: ibis.row_number()})
        if self.pseudonyms:
            rows = rows.mutate(**{_LAST: ibis.random()})
        for number, column in enumerate(self.pseudonyms):
            rows = _add_pseudonyms(table, rows, column, f"{QUERY_PREFIX} pseudonym {number}")
        if isinstance(recoding, EngineRecoding):
            by, ranks = self._build_sort_keys(recoding, recoding.released_nodes, order)
            rows = recoding.add_released_keys(table, rows, keeps)
            rows = recoding.add_labels(rows, ranks, keeps)
            return self._select_columns(table, rows, rows[SUPPRESSED_ROW] if keeps else None, by)
        place, assigned = f"{QUERY_PREFIX} place", recoding.assigned
        members = np.arange(len(assigned)) if keeps else np.flatnonzero(assigned >= 0)
        places = np.where(assigned[members] < 0, recoding.n_classes, assigned[members])
        rows = self._join_members(table, rows, members, {place: places.astype(np.int32)})
        nodes = recoding.nodes
        if keeps:  # what suppressed records get
            roots = np.array([tree.root for tree in self.classes.hierarchies], dtype=np.int32)
            nodes = np.vstack([nodes, roots])
        labels = {f"{place}, known": np.arange(len(nodes), dtype=np.int32)}
        by, ranks = self._build_sort_keys(recoding, list(nodes.T), order)
        for j, rank in enumerate(ranks):
            labels[f"{KEY} {j}"] = rank[nodes[:, j]]
        for j, tree in enumerate(recoding.hierarchies):
            labels[f"{QUERY_PREFIX} label {j}"] = pa.DictionaryArray.from_arrays(
                nodes[:, j], tree.labels
            )
        rows = _join_matching(rows, ibis.memtable(pa.table(labels)), [place])
        gone = rows[place] == recoding.n_classes if keeps else None
        return self._select_columns(table, rows, gone, by)

    def _build_sort_keys(
        self, recoding: Recoding, nodes: Sequence[np.ndarray], order: str
    ) -> tuple[list[str], list[np.ndarray]]:
        """The columns to sort by, and per quasi-identifier the ranks of its nodes."""
        if order == "table":  # joins lose the order
            return [_ROW], []
        attributes = self.classes.attributes
        identifiers = self._schema.columns(Role.IDENTIFIER)  # pseudonyms among them decide nothing
        by = [
            f"{KEY} {attributes.index(column)}" if column in attributes else column
            for column in self.table.columns
            if column not in identifiers
        ]
        by += [SUPPRESSED] * self._keep_suppressed + [_LAST] * bool(self.pseudonyms)
        return by, list(map(rank_nodes, recoding.hierarchies, nodes))

    def _join_members(
        self, table: StoredTable, rows: Any, members: np.ndarray, known: dict[str, np.ndarray]
    ) -> Any:
        import ibis

        numbers, key = TupleNumbers([tree.n_nodes for tree in self.classes.hierarchies]), _KEY
        rows = add_keys(table.opened, rows, self.classes.attributes, numbers, self._lookup, key)
        names = list_key_columns(numbers, key)
        packed = numbers.encode_tuples(self.classes.nodes[members])
        tuples = {f"{name}, known": cells for name, cells in zip(names, packed.T, strict=True)}
        return _join_matching(rows, ibis.memtable(pa.table({**tuples, **known})), names)

    def _select_columns(
        self, table: StoredTable, rows: Any, gone: Any, by: Sequence[str]
    ) -> tuple[Any, list[str]]:
        """The columns of a release, and the keys; ``gone`` is None if no suppressed row stays."""
        wanted = {}
        for column in table.columns:
            if column in self.classes.attributes:
                wanted[column] = rows[
                    f"{QUERY_PREFIX} label {self.classes.attributes.index(column)}"
                ]
            elif column in self.pseudonyms:
                wanted[column] = rows[f"{QUERY_PREFIX} pseudonym {self.pseudonyms.index(column)}"]
            elif column not in self._schema.columns(Role.IDENTIFIER):
                cells = table.mark_missing_cells(rows, column)
                wanted[column] = cells if gone is None else gone.ifelse(None, cells)
        if gone is not None:
            wanted[SUPPRESSED] = gone.cast("int64")
        wanted |= {key: rows[key] for key in by if key.startswith(KEY)}
        return rows.select([cells.name(column) for column, cells in wanted.items()]), list(by)

    def write(
        self,
        recoding: Recoding,
        target: Address,
        progress: Progress = ignore_progress,
        part: Path | None = None,
        replaces: bool = True,
        check: Callable[[Any, str], None] = lambda written, kind: None,
        order: str = "released",
    ) -> None:
        """Have the engine write the release, completely or not at all."""
        kind, path = find_written_kind(target), target.path
        check_outside(target, self.table.address)
        check_replaceable(path)
        table = self.table.copy_for_writing(path.parent)
        written = "folder" if kind == "duckdb" else kind
        if written not in table.opened.rows.kinds:
            raise TableError(
                f"The engine that holds the rows cannot write {quote(path.name)}: choose a folder "
                "for Parquet files."
            )
        check_room(path, self._estimate_size(recoding, table, written))
        # In the same folder, so that the last step is atomic.
        beside = part or get_part_path(path)
        progress = limit_growth(progress, path, partial(measure_path, beside))
        try:
            try:
                rows, by = self.released(recoding, table, order)
                table.opened.rows.write(rows, beside, written, progress, by)
                progress(1.0, "Checking the release")
                if kind == "duckdb":
                    engine = import_module("kanon.sources.engines.duckdb")
                    engine.add_table(beside, target, check, progress)
                    return
                check(beside, written)
                if replaces or written == "folder":
                    keep_mode(beside, path)
                    os.replace(beside, path)
                else:
                    _place_new_file(beside, path)
            finally:
                remove_part(beside)
        except OSError as error:
            raise TableError(
                f"{quote(path)} cannot be written: {(error.strerror or 'no reason given').lower()}."
            ) from None

    def _estimate_size(self, recoding: Recoding, table: StoredTable, written: str) -> int:
        """The approximate bytes of a release, from the mean length of the first records."""
        length = _measure_mean_length(table, self.list_unchanged_columns())
        records = recoding.classes.n_records
        for tree, cells in zip(recoding.hierarchies, recoding.cells, strict=True):
            lengths = np.array([len(label) for label in tree.labels])
            length += float(lengths @ cells) / max(records, 1)
        length += len(table.columns)
        is_text = written != "folder" and FORMATS[written].cells == "text"
        size = int((records - recoding.suppressed_records) * length)
        return size if is_text else size // _COMPRESSION


_KEY = f"{QUERY_PREFIX} key"
_ROW, _LAST = f"{KEY} row", f"{KEY} last"
"""A row's place in the table; a random number, which shuffles rows that differ in pseudonyms."""

_SAMPLE_RECORDS = 10_000
_NUMBER_LENGTH = 8
_COMPRESSION = 8  # Parquet is at best 8 times smaller than text: no release that fits is refused


def _measure_mean_length(table: StoredTable, columns: Sequence[str]) -> float:
    rows = table.expression.limit(_SAMPLE_RECORDS)
    kinds = {name: rows[name].type() for name in columns}
    texts = [name for name, kind in kinds.items() if kind.is_string() or kind.is_binary()]
    sums = {
        f"{QUERY_PREFIX} {j}": rows[name].cast("string").length().sum()
        for j, name in enumerate(texts)
    }
    totals = table.opened.fetch(
        rows.aggregate(**sums, **{f"{QUERY_PREFIX} n": rows.count()})
    ).to_pylist()
    *lengths, records = (number or 0 for number in totals[0].values())
    return sum(lengths) / max(records, 1) + _NUMBER_LENGTH * (len(columns) - len(texts))


def _place_new_file(part: Path, path: Path) -> None:
    """Give a file its final name, unless another file has it by now."""
    try:
        os.link(part, path)
    except OSError as error:  # it is there, or the disk has no links
        if isinstance(error, FileExistsError) or path.exists():
            raise TableError(f"{quote(path)} already exists: choose another name.") from None
        os.replace(part, path)


def check_outside(target: Address, address: Address) -> None:
    """Check that a release does not go to the table itself, or into it."""
    if target.is_url or address.is_url:
        return
    path, table = target.path.resolve(), address.path.resolve()
    if path == table or path.is_relative_to(table):
        raise TableError(
            f"{quote(target.path, 200)} is the table itself, or lies inside it: choose another "
            "place."
        )


def get_part_path(path: Path) -> Path:
    return path.with_name(f".{uuid.uuid4().hex}.part")


def remove_part(part: Path) -> None:
    """Remove the rest of an interrupted release."""
    for _ in range(20):  # a cancelled engine may go on writing for a moment
        shutil.rmtree(part, ignore_errors=True)
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
        if not os.path.lexists(part):
            return
        time.sleep(0.1)


def find_written_kind(target: Address) -> str:
    """The kind of release for an address: ``folder``, ``parquet``, ``csv``, ``tsv``, ``duckdb``."""
    if target.is_url:
        raise TableError("A release is written to a path, not to a URL.")
    path = target.path
    if path.is_dir() and any(path.iterdir()):
        raise TableError(f"The folder {quote(path, 200)} is not empty: choose another one.")
    ending = path.suffix.lower()
    kind = WRITTEN_BY_ENGINES.get(ending)
    if kind == "duckdb" and target.table is None:
        raise TableError(
            f"{quote(path.name)} is a database: name the new table too, such as "
            f"{quote(path.name + '#released')}."
        )
    if kind is None or (kind != "duckdb" and target.table is not None):
        raise TableError(
            f"An engine cannot write {quote(path.name)}: choose .parquet, .csv, .tsv, a folder "
            "(a name without an ending) for Parquet files, or a new table of a "
            "DuckDB file (such as data.duckdb#released)."
        )
    return kind


def _join_matching(rows: Any, known: Any, keys: Sequence[str]) -> Any:
    return rows.inner_join(known, [(key, f"{key}, known") for key in keys])


def _add_pseudonyms(table: StoredTable, rows: Any, column: str, name: str) -> Any:
    import ibis

    original, secret = f"{name}, known", secrets.token_hex(32)
    rows = rows.mutate(**{f"{name}, given": table.mark_missing_cells(rows, column)})
    people = rows.select(**{original: rows[f"{name}, given"]}).distinct()
    people = people.filter(people[original].notnull())
    order = (ibis.literal(secret) + people[original].cast("string")).hexdigest("sha256")
    number = ibis.row_number().over(order_by=order) + 1
    label = ibis.literal("P_") + number.cast("string")
    people = people.select(**{original: people[original], name: label})
    return rows.left_join(people, [(f"{name}, given", original)])


def _match_nodes(
    column: str, tree: Hierarchy, texts: Sequence[str], records: np.ndarray
) -> tuple[Hierarchy, np.ndarray]:
    """The tree, with a leaf for missing cells if any, and the node of every code."""
    present = {text: int(n) for text, n in zip(texts, records[1:], strict=True) if n}
    tree, missing = fit_tree(column, present, bool(records[0]), tree)
    return tree, np.array([missing, *(tree.node_of.get(text, 0) for text in texts)], dtype=np.int64)
