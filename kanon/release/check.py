"""Whether a released table meets its plan, found out from the table alone.

Nothing here is shared with what made the release: no class, histogram or privacy model of kanon is
used, so that a mistake there does not vouch for itself. The release is taken as somebody gets it:
DuckDB groups its rows by the texts of their cells, which takes a second per million.

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
import re
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from datetime import datetime, time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pyarrow as pa

from kanon.base.formatting import write_number
from kanon.errors import ReleaseError, quoted
from kanon.plan import Plan
from kanon.privacy.t_closeness import SPOKEN
from kanon.release.model_checks import MODEL_CHECKS, ClassMix
from kanon.release.spelling_checks import read_as
from kanon.schema import Role
from kanon.sources.arrow_tables import arrow_table
from kanon.sources.engines.settings import duckdb_settings, limit_spilling
from kanon.sources.formats import FORMATS, read_back
from kanon.sources.read_back import UNREADABLE

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

NOT_CONSIDERED = (
    "what is known about these persons from elsewhere, other releases of the same table, what "
    "columns tell that are left as they are, and that a release is minimal, which may tell more"
)
"""What no model of a release looks at; a verdict always says so."""

TABLE_ORDER = ", and that the rows keep the table's order"  # where a plan has it so

_PSEUDONYM = "(P_[1-9][0-9]*)?"  # stands for an identifier; nothing where that is missing


@dataclass(frozen=True)
class Verdict:
    """What a release reaches of one thing that its plan asks for.

    Attributes
    ----------
    model
        The privacy model, by its name in plans; or ``columns`` for which columns there are,
        ``pseudonyms`` for what stands in those of identifiers, ``suppressed`` for what stands in
        the rows that are marked so, and ``coarsened`` for what stands in a coarsened column.
    column
        The column that it looks at; or "".
    asked
        Its parameters.
    level
        What the worst class has: the number that the model is about, such as records or values.
        None if there is no class.
    holds
        Whether that is enough.
    """

    model: str
    column: str
    asked: str
    level: float | None
    holds: bool

    @property
    def sentence(self) -> str:
        """What was asked for and what was found.

        >>> print(Verdict("t-closeness", "ill", "t = 0.3", 0.25, True).sentence)
        t-closeness (t = 0.3) for 'ill': 0.25 in the worst class
        """
        column = f" for {quoted(self.column)}" if self.column else ""
        if self.model == "columns":
            return "its columns are not those of the plan"
        if self.model == "pseudonyms":
            return f"{quoted(self.column)} has values that are no pseudonyms"
        if self.model == "coarsened":
            return f"{quoted(self.column)} shows values finer than {self.asked} of its hierarchy"
        if self.model == "suppressed":
            return f"{quoted(self.column)} shows values in rows that are marked as suppressed"
        if self.level is None:
            return f"{self.model} ({self.asked}){column}: no class is left"
        level = f"{write_number(self.level, 6)} in the worst class"
        return f"{self.model} ({self.asked}){column}: {level}"


def require(verdicts: Sequence[Verdict], file: str = "") -> None:
    """Check that all hold.

    Parameters
    ----------
    file
        The kind of the file that they are about; nothing if they are about the table in memory.

    Raises
    ------
    ReleaseError
        Some do not; the message says which.

    >>> require([Verdict("k-anonymity", "", "k = 3", 2, False)])
    Traceback (most recent call last):
    kanon.errors.ReleaseError: The release does not meet its plan, so it is not given out: k-ano...
    """
    failed = [verdict.sentence for verdict in verdicts if not verdict.holds]
    if failed and file:
        raise ReleaseError(
            f"Read back from its file ({file}), the release does not meet its plan, so it is not "
            f"given out: {'; '.join(failed)}. Where a kind of file does not keep all values apart, "
            "another one does."
        )
    if failed:
        raise ReleaseError(
            f"The release does not meet its plan, so it is not given out: {'; '.join(failed)}. "
            "This is an error of kanon itself; please report it."
        )


def check_release(
    released: pd.DataFrame,
    plan: Plan,
    roots: Mapping[str, str] | None = None,
    persons: pd.Series | None = None,
    coarse: Mapping[str, Collection[str]] | None = None,
) -> tuple[Verdict, ...]:
    """Check a released table against each model of its plan.

    Parameters
    ----------
    released
        The table, as it was made or as it was read back from a file. Rows that a plan with
        ``suppressed: keep`` has blanked are told by 1 in its column ``suppressed``; they are left
        out once nothing but pseudonyms stands in them.
    plan
        What was asked for.
    roots
        Per quasi-identifier the label of its root, which all blanked rows have. None if it is not
        known: then they only have to be alike.
    persons
        Row by row whom the record is about, for a plan that counts k in persons. None if the
        release shows that itself, by pseudonyms.
    coarse
        Per sensitive column that was coarsened all that it may show.

    Returns
    -------
    tuple of Verdict
        A verdict per model, in the order of the plan, and last k in persons; or a single one if an
        identifier was released, under its own name or where its pseudonyms belong, if a
        quasi-identifier or sensitive column is missing, if a row that is marked as suppressed
        shows a value, or if a column that was coarsened shows a finer one.

    Raises
    ------
    ReleaseError
        The plan counts k in persons, and nothing says whom the records are about; or there is no
        memory for the check.
    """
    with _connection() as connection:
        names = [str(name) for name in released.columns]
        # DuckDB does not tell upper from lower case in names.
        numbered = released.set_axis([f"c{i}" for i in range(len(names))], axis=1)
        for column in plan.roles.columns(Role.SENSITIVE):
            if column in names:
                place = f"c{names.index(column)}"
                numbered = numbered.assign(**{place: _cells(numbered[place])})
        if persons is not None:
            if len(persons) != len(released):
                raise _not_checked()
            numbered = numbered.assign(person=_numbers_of(persons))
        connection.register("release", arrow_table(numbered))
        return _verdicts(connection, names, plan, roots, coarse)


def check_content(
    content: bytes,
    kind: str,
    released: pd.DataFrame,
    plan: Plan,
    roots: Mapping[str, str] | None = None,
    persons: pd.Series | None = None,
    coarse: Mapping[str, Collection[str]] | None = None,
    form: tuple[str, str] = (",", "utf-8"),
) -> tuple[Verdict, ...]:
    """Check the file of a release, as whoever gets it reads it; see :func:`check_release`.

    Parameters
    ----------
    content, kind
        See :func:`kanon.sources.formats.read_back`.
    released
        The table that the file is of, whose columns and number of records it has to have.
    plan, roots, persons, coarse
        See :func:`check_release`.
    form
        The separator and the encoding of a text file.

    Returns
    -------
    tuple of Verdict
        See :func:`check_release`.

    Raises
    ------
    ReleaseError
        The file cannot be read back as a table of these columns and so many records; or see
        :func:`check_release`.
    """
    try:
        header, columns = read_back(content, kind, *form)
    except UNREADABLE:
        raise _not_checked() from None
    names = [str(name) for name in released.columns]
    numbered = {f"c{place}": column for place, column in enumerate(columns)}
    if persons is not None:
        numbered["person"] = _numbers_of(persons)
    sizes = {len(column) for column in numbered.values()}
    if list(map(_header_text, header)) != list(map(_header_text, names)) or sizes != {
        len(released)
    }:
        raise _not_checked()
    with _connection() as connection:
        connection.register("release", pa.table(numbered))
        return _verdicts(connection, names, plan, roots, coarse)


def check_files(
    written: Path | DuckDBPyConnection,
    kind: str,
    plan: Plan,
    roots: Mapping[str, str] | None = None,
) -> tuple[Verdict, ...]:
    """Check a release that an engine has written, as :func:`check_release` does.

    Parameters
    ----------
    written
        Where it stands: a path, or the connection to a DuckDB file.
    kind
        ``folder`` of Parquet files, ``parquet``, ``csv`` or ``tsv``; of a DuckDB file the name of
        the table, as SQL writes it.
    plan, roots
        See :func:`check_release`.

    Returns
    -------
    tuple of Verdict
        See :func:`check_release`.
    """
    import duckdb  # only where a release is checked, as it takes a while

    with _connection(None if isinstance(written, Path) else written) as connection:
        if not isinstance(written, Path):
            rows = connection.sql(f"SELECT * FROM {kind}")
            names = list(rows.columns)
        elif kind != "folder" and FORMATS[kind].cells == "text":
            separator = FORMATS[kind].separator or ","
            names = _header(written, separator)
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
        numbered = (f"{_name(old)} AS c{i}" for i, old in enumerate(rows.columns))
        connection.register("release", rows.project(", ".join(numbered)))
        return _verdicts(connection, names, plan, roots)


@contextmanager
def _connection(opened: DuckDBPyConnection | None = None) -> Iterator[DuckDBPyConnection]:
    import duckdb

    try:
        with nullcontext(opened) if opened else duckdb.connect(config=duckdb_settings()) as found:
            if opened is None:
                limit_spilling(found.execute)
            yield found
    except duckdb.OutOfMemoryException:
        raise ReleaseError(
            "Checking the release needs more memory than it may take, so it is not given out: set "
            "KANON_MEMORY higher."
        ) from None
    except duckdb.Error:
        raise _not_checked() from None


def _not_checked() -> ReleaseError:
    return ReleaseError("The release could not be checked, so it is not given out.")


def _header_text(name: str) -> str:
    """A name without what a kind of file may alter: blanks, and a mark before a formula."""
    return "".join(name.split()).lstrip("'")


def _header(path: Path, separator: str) -> list[str]:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return next(csv.reader(file, delimiter=separator, strict=True))
    except (OSError, UnicodeDecodeError, csv.Error, StopIteration):
        raise _not_checked() from None


def _name(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


def _verdicts(
    connection: DuckDBPyConnection,
    names: Sequence[str],
    plan: Plan,
    roots: Mapping[str, str] | None,
    coarse: Mapping[str, Collection[str]] | None = None,
) -> tuple[Verdict, ...]:
    """Check the table ``release``, whose columns c0, c1, ... are called ``names``."""
    quasi, sensitive = plan.roles.quasi_identifiers, plan.roles.columns(Role.SENSITIVE)
    hidden = {
        name
        for name, column in plan.columns.items()
        if column.role is Role.IDENTIFIER and not column.pseudonym
    }
    if hidden & set(names) or not {*quasi, *sensitive} <= set(names):
        return (Verdict("columns", "", "no identifier, every other column", None, False),)

    listed = connection.sql("DESCRIBE release").fetchall()
    floating = {name for name, kind, *_ in listed if kind in ("FLOAT", "DOUBLE")}

    def cell(column: str) -> str:
        place = f"c{names.index(column)}"
        text = f"CAST({place} AS VARCHAR)"
        return f"nullif({text}, 'nan')" if place in floating else text

    def text(column: str) -> str:
        return f"coalesce({cell(column)}, '')"

    pseudonyms = set(plan.roles.columns(Role.IDENTIFIER)) - hidden
    for column in names:
        if column in pseudonyms:
            fits = f"regexp_full_match({text(column)}, '{_PSEUDONYM}')"
            if connection.sql(f"SELECT 1 FROM release WHERE NOT {fits} LIMIT 1").fetchall():
                return (Verdict("pseudonyms", column, "P_1, P_2, …", None, False),)

    blanked = plan.suppressed == "keep" and "suppressed" in names
    kept = f"FROM release WHERE {text('suppressed')} <> '1'" if blanked else "FROM release"
    for column in names if blanked else ():
        if column == "suppressed" or column in pseudonyms:
            continue
        marked = f"FROM release WHERE {text('suppressed')} = '1'"
        cells = connection.sql(f"SELECT DISTINCT {text(column)} {marked} LIMIT 2").fetchall()
        allowed = [("",)] if column not in quasi else [(roots[column],)] if roots else cells[:1]
        if not set(cells) <= set(allowed):
            return (Verdict("suppressed", column, "blank, or the root", None, False),)
    for column, labels in (coarse or {}).items():
        found_there = connection.sql(f"SELECT DISTINCT {text(column)} {kept}").fetchall()
        # A mark may stand before what a spreadsheet would take for a formula.
        known = {"", *map(_value, labels), *(f"'{label}" for label in labels)}
        if not {_value(cell) for (cell,) in found_there} <= known:
            named = f"level {plan.columns[column].level}"
            return (Verdict("coarsened", column, named, None, False),)
    tuples = ", ".join(map(text, quasi))
    found = []
    for part in plan.privacy:
        asked = {name: getattr(part, name) for name in type(part).model_fields if name != "model"}
        column = ""
        if "column" in asked:
            column = asked.pop("column") or sensitive[0]
            texts = connection.sql(
                f"SELECT DISTINCT {cell(column)} AS text {kept}"
            ).to_arrow_table()
            # The groups of a coarsened column are called in a way of their own.
            kind = "" if column in plan.coarsened else (plan.read.kinds or {}).get(column, "")
            written = texts["text"].to_pylist()
            numbers = pa.array(_numbered(written, kind))
            if part.model.endswith("-diversity") or part.model == "alpha-k-anonymity":
                place: dict[Hashable, int] = {}
                read = [read_as(_value(text or "")) for text in written]
                numbers = pa.array([place.setdefault(value, len(place)) for value in read])
            connection.register("known", texts.append_column("number", numbers))
            # A number of 64 bits for a class: two of ten million classes share one in 1e-5 cases.
            groups = connection.sql(
                f"SELECT hash({tuples}) AS class, number, count(*) AS n FROM "
                f"(SELECT * {kept}) JOIN known ON {cell(column)} IS NOT DISTINCT FROM text "
                "GROUP BY ALL"
            ).fetchnumpy()
        else:
            groups = connection.sql(
                f"SELECT row_number() OVER () AS class, 0 AS number, n FROM "
                f"(SELECT count(*) AS n {kept} GROUP BY {tuples})"
            ).fetchnumpy()
        level, holds = None, True
        if len(groups["n"]):
            _, classes = np.unique(groups["class"], return_inverse=True)
            mix = ClassMix.counted(classes, np.asarray(groups["number"]), np.asarray(groups["n"]))
            level, holds = MODEL_CHECKS[part.model](mix, **asked)
        said = ", ".join(SPOKEN.get(value, f"{name} = {value}") for name, value in asked.items())
        found.append(Verdict(part.model, column, said, level, bool(holds)))
    if plan.person is not None:
        known = {name for name, *_ in listed}
        if "person" not in known and plan.person not in names:
            raise ReleaseError(
                "The release does not say which records are of one person, so k cannot be counted "
                "in persons; give them beside it."
            )
        who = "person" if "person" in known else text(plan.person)
        persons = f"SELECT count(DISTINCT {who}) AS n {kept} GROUP BY {tuples}"
        (least,) = connection.sql(f"SELECT min(n) FROM ({persons})").fetchall()[0]
        enough = least is None or least >= plan.k
        found.append(Verdict("k-in-persons", plan.person, f"k = {plan.k}", least, enough))
    return tuple(found)


def _numbers_of(persons: pd.Series) -> np.ndarray:
    """Whom each record is about as a number; -1 for nobody, who counts as one person."""
    codes, known = pd.factorize(_cells(persons))
    texts = [_text(cell) for cell in known]
    return np.append(_numbered(texts), -1)[codes]


def _cells(column: pd.Series) -> pd.Series:
    """A column of a table in memory, as texts where Arrow would make one value of several.

    >>> from decimal import Decimal
    >>> _cells(pd.Series([Decimal("1.5"), Decimal("1.50"), None], dtype=object)).tolist()
    ['1.5', '1.50', None]
    """
    if isinstance(column.dtype, pd.StringDtype) or getattr(column.dtype, "kind", "O") in "iufbM":
        return column
    missing = column.isna()
    texts = [None if gone else _text(cell) for cell, gone in zip(column, missing, strict=True)]
    return pd.Series(texts, column.index, dtype=object)


def _text(cell: object) -> str:
    """A cell as text: 39 and 39.0 are one number, a day and its midnight one day."""
    if isinstance(cell, (float, np.floating)) and float(cell).is_integer():
        return str(int(cell))
    if isinstance(cell, datetime) and cell.tzinfo is None and cell.time() == time():
        return str(cell.date())
    return str(cell)


def _numbered(texts: Sequence[str | None], kind: str = "") -> np.ndarray:
    """Different values as numbers from 0, by their size if they have one; the missing one last."""
    plain = [(text and _value(text)) or None for text in texts]
    known = sorted({value for value in plain if value is not None})
    known.sort(key=dict(zip(known, _sizes(known, kind), strict=True)).__getitem__)
    number = {value: place for place, value in enumerate(known)}
    return np.array([len(number) if value is None else number[value] for value in plain], np.int64)


def _sizes(texts: Sequence[str], kind: str) -> list[float]:
    """The numbers that texts are, written as the plan says or as their marks tell; else all 0.

    >>> _sizes(["1.234,5", "7,25"], ""), _sizes(["1.234", "950"], "decimal 1234.56")
    ([1234.5, 7.25], [1.234, 950.0])
    >>> _sizes(["1.234 €", "-950 €"], ""), _sizes(["b", "a"], "")
    ([1234.0, -950.0], [0.0, 0.0])
    """
    bare = [re.sub(r"[^0-9.,+-]", "", text.replace("−", "-")) for text in texts]
    groups = all(re.fullmatch(r"[+-]?[1-9]\d{0,2}(\.\d{3})*", text) for text in bare)
    groups = groups and any(re.fullmatch(r"[+-]?\d{3}", text) for text in bare)
    with suppress(ValueError):
        if kind in ("whole number 1234", "decimal 1234.56") or not (kind or groups):
            return [float(text) for text in texts]
    ends = [
        found[1]
        for text in bare
        if (found := re.search(r"([.,])(\d*)$", text))
        and (len(found[2]) != 3 or {".", ","} <= {*text})
    ]
    if kind:
        mark = kind[-3] if kind.startswith("decimal") else ""
    elif ends:
        mark = ends[0]
    else:  # three digits follow every mark
        mark = "" if groups or any("," in text or text.count(".") > 1 for text in bare) else "."
    other = str.maketrans({sign: "." if sign == mark else "" for sign in ".,"})
    try:
        return [float(text.translate(other)) for text in bare]
    except ValueError:
        return [0.0] * len(texts)


def _value(text: str) -> str:
    value = re.sub(r"^([+-]?\d+)\.0$", r"\1", text.strip())
    return "0" if value in ("+0", "-0") else value
