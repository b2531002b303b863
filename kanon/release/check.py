"""Check from a released table alone whether it meets its plan.

Nothing here is shared with what made the release: it uses no class, histogram or level of kanon,
so that a mistake there cannot confirm itself. The ``check_rows`` of each model, written separately,
recounts it. DuckDB groups the released rows by the texts of their cells: a second per million.

>>> from kanon.plan import Plan
>>> plan = Plan.from_content({
...     "version": 2, "algorithm": {"name": "gaa"},
...     "columns": {"age": {"role": "quasi-identifier"}, "ill": {"role": "sensitive"}},
...     "privacy": [{"model": "k-anonymity", "k": 3}, {"model": "distinct-l-diversity", "l": 2}]})
>>> released = pd.DataFrame({"age": ["[20, 30)"] * 2 + ["[30, 40)"] * 3, "ill": list("abaab")})
>>> for verdict in check_release(released, plan):
...     print(verdict.model, verdict.asked, verdict.level, verdict.holds)
k-anonymity k = 3 2 False
distinct-l-diversity l = 2 2 True
"""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import pyarrow as pa

from kanon.errors import ReleaseError
from kanon.plan import Plan
from kanon.privacy.row_checks import PlainTree, PopulationRows
from kanon.release.released_rows import (
    ReleasedRows,
    Verdict,
    convert_cells_to_texts,
    number_persons,
)
from kanon.schema import Role
from kanon.sources.arrow_tables import build_arrow_table
from kanon.sources.engines.settings import get_duckdb_settings, set_spilling_limit
from kanon.sources.formats import FORMATS, read_back
from kanon.sources.read_back import UNREADABLE

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

NOT_CONSIDERED = (
    "what is known about these people from elsewhere, other releases of the same table, what the "
    "unchanged columns reveal, and what can be inferred because values were generalised no "
    "more than needed"
)
"""What no privacy model of a release covers; a verdict always says so."""

TABLE_ORDER = ", and that the rows keep the table's order"  # appended where a plan keeps it


def require_verdicts(verdicts: Sequence[Verdict], file: str = "") -> None:
    """Check that all hold; a ReleaseError says which do not.

    ``file`` is the kind of the file that they are about, "" for the table in memory.

    >>> require_verdicts([Verdict("k-anonymity", "", "k = 3", 2, False)])
    Traceback (most recent call last):
    kanon.errors.ReleaseError: The release does not meet its plan, so it is not given out: k-ano...
    """
    failed = [verdict.sentence for verdict in verdicts if not verdict.holds]
    if failed and file:
        raise ReleaseError(
            f"Read back from its file ({file}), the release does not meet its plan, so it is not "
            f"given out: {'; '.join(failed)}. Choose another kind of file: this kind may write "
            "different values alike."
        )
    if failed:
        raise ReleaseError(
            f"The release does not meet its plan, so it is not given out: {'; '.join(failed)}. "
            "This is an error in kanon itself; please report it."
        )


def check_release(
    released: pd.DataFrame,
    plan: Plan,
    roots: Mapping[str, str] | None = None,
    persons: pd.Series | None = None,
    coarse: Mapping[str, Collection[str]] | None = None,
    people: Mapping[str, PopulationRows] | None = None,
    trees: Mapping[str, PlainTree] | None = None,
) -> tuple[Verdict, ...]:
    """Check a released table against each model of its plan.

    A verdict per model, in the order of the plan, and last k in persons; or a single one if an
    identifier was released, under its own name or where its pseudonyms belong, if a
    quasi-identifier or sensitive column is missing, if a row that is marked as suppressed shows a
    value, or if a column shows a value of a level that the plan does not allow.

    Parameters
    ----------
    released
        The table, as it was made or as it was read back from a file. Rows that a plan with
        ``suppressed: keep`` has blanked have a 1 in the column ``suppressed``; they are left out
        if they show nothing but pseudonyms.
    plan
        The requirements.
    roots
        Per quasi-identifier the label of its root, which all blanked rows have. None if it is not
        known: then they only have to be alike.
    persons
        Row by row whom the record is about, for a plan that counts k in persons. None if the
        release shows that itself, by pseudonyms.
    coarse
        Per sensitive column that was coarsened all that it may show; per quasi-identifier with
        level bounds the labels that it may not show.
    people
        The people of each population that the plan names, by its path.
    trees
        Per sensitive column with a hierarchical distance, for each value and group, the group
        above it (empty for the root) and its level.

    Raises
    ------
    ReleaseError
        The plan counts k in persons, and nothing says whom the records are about; it asks for a
        hierarchical distance, and its tree is not given; or there is no memory for the check.
    """
    with _open_connection() as connection:
        names = [str(name) for name in released.columns]
        # DuckDB does not tell upper from lower case in names.
        numbered = released.set_axis([f"c{i}" for i in range(len(names))], axis=1)
        for column in plan.roles.columns(Role.SENSITIVE):
            if column in names:
                place = f"c{names.index(column)}"
                numbered = numbered.assign(**{place: convert_cells_to_texts(numbered[place])})
        if persons is not None:
            if len(persons) != len(released):
                raise _build_check_error()
            numbered = numbered.assign(person=number_persons(persons))
        connection.register("release", build_arrow_table(numbered))
        return ReleasedRows(connection, names, plan, roots, coarse, people, trees).verdicts()


def check_content(
    content: bytes,
    kind: str,
    released: pd.DataFrame,
    plan: Plan,
    roots: Mapping[str, str] | None = None,
    persons: pd.Series | None = None,
    coarse: Mapping[str, Collection[str]] | None = None,
    form: tuple[str, str] = (",", "utf-8"),
    people: Mapping[str, PopulationRows] | None = None,
    trees: Mapping[str, PlainTree] | None = None,
) -> tuple[Verdict, ...]:
    """Check the file of a release as its recipient reads it, as :func:`check_release` does.

    It is read by :func:`kanon.sources.formats.read_back`; a ReleaseError says so where it has not
    the columns and the number of records of ``released``. ``form`` is the separator and the
    encoding of a text file.
    """
    try:
        header, columns = read_back(content, kind, *form)
    except UNREADABLE:
        raise _build_check_error() from None
    names = [str(name) for name in released.columns]
    numbered = {f"c{place}": column for place, column in enumerate(columns)}
    if persons is not None:
        numbered["person"] = number_persons(persons)
    sizes = {len(column) for column in numbered.values()}
    if list(map(_normalise_header, header)) != list(map(_normalise_header, names)) or sizes != {
        len(released)
    }:
        raise _build_check_error()
    with _open_connection() as connection:
        connection.register("release", pa.table(numbered))
        return ReleasedRows(connection, names, plan, roots, coarse, people, trees).verdicts()


def check_files(
    written: Path | DuckDBPyConnection,
    kind: str,
    plan: Plan,
    roots: Mapping[str, str] | None = None,
) -> tuple[Verdict, ...]:
    """Check a release that an engine has written, as :func:`check_release` does.

    ``kind`` is ``folder`` of Parquet files, ``parquet``, ``csv`` or ``tsv``; where ``written`` is
    the connection to a DuckDB file, the name of the table, as SQL writes it.
    """
    import duckdb  # only where a release is checked, as it takes a while

    with _open_connection(None if isinstance(written, Path) else written) as connection:
        if not isinstance(written, Path):
            rows = connection.sql(f"SELECT * FROM {kind}")
            names = list(rows.columns)
        elif kind != "folder" and FORMATS[kind].cells == "text":
            separator = FORMATS[kind].separator or ","
            names = _read_header(written, separator)
            # As it was written: nothing about the file is guessed.
            rows = connection.read_csv(
                str(written), auto_detect=False, header=True, sep=separator, quotechar='"',
                escapechar='"', lineterminator=duckdb.CSVLineTerminator.LINE_FEED,
                strict_mode=True, hive_partitioning=False, allow_quoted_nulls=False,
                columns={f"t{i}": "VARCHAR" for i in range(len(names))},
            )  # fmt: skip
        else:
            files = sorted(written.glob("*.parquet")) if kind == "folder" else [written]
            rows = connection.read_parquet([str(file) for file in files], hive_partitioning=False)
            names = list(rows.columns)
        quoted = (column.replace('"', '""') for column in rows.columns)
        numbered = (f'"{column}" AS c{i}' for i, column in enumerate(quoted))
        connection.register("release", rows.project(", ".join(numbered)))
        return ReleasedRows(connection, names, plan, roots, None).verdicts()


@contextmanager
def _open_connection(opened: DuckDBPyConnection | None = None) -> Iterator[DuckDBPyConnection]:
    import duckdb

    try:
        with (
            nullcontext(opened)
            if opened
            else duckdb.connect(config=get_duckdb_settings()) as connection
        ):
            if opened is None:
                set_spilling_limit(connection.execute)
            yield connection
    except duckdb.OutOfMemoryException:
        raise ReleaseError(
            "Checking the release needs more memory than is allowed, so nothing is given out: set "
            "KANON_MEMORY higher."
        ) from None
    except duckdb.Error:
        raise _build_check_error() from None


def _build_check_error() -> ReleaseError:
    return ReleaseError("The release could not be checked, so it is not given out.")


def _normalise_header(name: str) -> str:
    """A name without what a kind of file may alter: blanks, and a mark before a formula."""
    return "".join(name.split()).lstrip("'")


def _read_header(path: Path, separator: str) -> list[str]:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return next(csv.reader(file, delimiter=separator, strict=True))
    except (OSError, UnicodeDecodeError, csv.Error, StopIteration):
        raise _build_check_error() from None
