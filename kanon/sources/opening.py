"""Open a table file of any kind that kanon knows."""

import contextlib
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import pyarrow as pa
import pyarrow.parquet

from kanon.base.progress import Progress, no_progress, stretch
from kanon.errors import PlanError, TableError, UnclearHeader, quoted
from kanon.hierarchy import Hierarchy
from kanon.schema import Schema
from kanon.settings import bytes_of, settings
from kanon.sources import adult
from kanon.sources.addresses import DATABASES, Address
from kanon.sources.formats import find_stored_format
from kanon.sources.memory import MemorySource, MemoryTable
from kanon.sources.missing import about_missing
from kanon.sources.read_settings import ReadSettings
from kanon.sources.reading import TableFile, about_blank, file_content, read_table
from kanon.sources.stored import StoredTable, open_stored
from kanon.sources.stored_source import StoredSource
from kanon.sources.tables import Source, Table


@dataclass(frozen=True, eq=False)
class OpenedTable:
    """A table that stays where it is, and what was found when it was opened.

    Attributes
    ----------
    name, kind
        What the table is called; see :class:`kanon.sources.addresses.Address`.
    records
        The table, to be asked in numbers.
    settings, found, unclear
        See :class:`kanon.sources.reading.TableFile`.
    """

    name: str
    kind: str
    records: StoredTable
    settings: ReadSettings
    found: tuple[str, ...]
    unclear: str = ""

    @property
    def fingerprint(self) -> str:
        """What tells it from any other table, and from itself after a change."""
        table = self.records
        return repr((table.address, table.engine, table.stamp, table.n_records))


def open_stored_file(
    address: Address,
    engine: str | None = None,
    settings: ReadSettings | None = None,
    progress: Progress = no_progress,
) -> OpenedTable:
    """Open a table that stays where it is, and look at its columns.

    Parameters
    ----------
    address, engine, settings
        See :func:`kanon.sources.stored.open_stored`.

    Raises
    ------
    TableError
        There is no such table, it cannot be read, or it has no records.
    """
    progress(0, "Opening")
    table = open_stored(address, engine, settings)
    if not table.n_records:
        raise TableError(f"{quoted(address.name)} has no records.")
    missing, further = {}, stretch(progress, 0.1, 1)
    for place, column in enumerate(table.columns):
        further(place / len(table.columns), f"Counting the values of {column}")
        lacking = table.n_records - table.distinct_of(column).filled
        if lacking:
            missing[column] = lacking
    found = [
        f"It stays where it is ({address.shown}): kanon asks for counts and for a few records.",
        *table.found,
        *about_blank(table.opened.sizes["blank"]),
        *about_missing(missing, {}, table.markers),
    ]
    used = ReadSettings(*table.text, table.markers, header=table.settings.header)
    return OpenedTable(address.name, address.kind, table, used, tuple(found))


def open_address(
    address: Address,
    engine: str | None = None,
    settings: ReadSettings | None = None,
    notify: Callable[[str], None] = lambda notice: None,
) -> Table:
    """Open a table where it is: in memory if it is a small file, else by an engine.

    Parameters
    ----------
    address
        Where it is.
    engine
        ``memory``, or one of :data:`kanon.sources.engines.ENGINES`; None for what fits.
    notify
        Takes a sentence about how the table was read, for each thing that a person should know.

    Raises
    ------
    TableError
        There is no such table, or it cannot be read so.
    """
    if engine == "memory" or (engine is None and _fits(address)):
        address.check_table()
        if address.kind in ("url", *DATABASES.values()):
            raise TableError("A database is not read into memory: leave the engine out.")
        file = open_table(address.path, address.path.name, settings)
        for notice in file.notices:
            notify(notice)
        return file.records
    table = open_stored(address, engine, settings)
    if table.text != (None, None):
        for notice in table.found[1:]:
            notify(notice)
    return table


def _fits(address: Address) -> bool:
    """Whether a file is read into memory: it is small, or of a kind that no engine reads."""
    if address.is_url or address.kind in ("folder", *DATABASES.values()):
        return False
    its = find_stored_format(address)
    if its is None:
        return True
    if its.cells == "typed":
        with contextlib.suppress(pa.ArrowException, OSError):  # what is damaged is said later
            inside = pyarrow.parquet.read_metadata(address.path)
            return bool(inside.num_rows * inside.num_columns <= settings().memory_cells)
    return address.path.stat().st_size <= bytes_of("memory_megabytes")


_File = TypeVar("_File", TableFile, OpenedTable)


def open_in_doubt(
    opened: Callable[[ReadSettings], _File], settings: ReadSettings | None = None
) -> _File:
    """A table, its first line read as a record where that is likely; ``unclear`` says why."""
    settings = settings or ReadSettings()
    try:
        return opened(settings)
    except UnclearHeader as error:
        file = opened(replace(settings, header=False))
        asked = replace(file.settings, header=None)
        return replace(file, unclear=error.reason, settings=asked)


def open_table(
    source: bytes | Path, name: str | None = None, settings: ReadSettings | None = None
) -> TableFile:
    """Read a table file as :func:`~kanon.sources.reading.read_table` does, or UCI's adult.data.

    The latter has neither a header nor the ending of a table, and is known by its hash.

    Raises
    ------
    TableError
        See :func:`~kanon.sources.reading.read_table`.
    """
    if isinstance(source, Path) and source.suffix == ".data" and source.is_file():
        name, source = source.name, file_content(source)
    if isinstance(source, bytes) and hashlib.sha256(source).hexdigest() == adult.ADULT_SHA256:
        return adult.parse_adult(source, "This is the Adult table of the UCI repository.")
    return read_table(source, name, settings)


def open_source(
    table: Table,
    schema: Schema,
    hierarchies: Mapping[str, Hierarchy],
    pseudonyms: Sequence[str] = (),
    keep_suppressed: bool = False,
    person: str | None = None,
) -> Source:
    """A table with its roles and hierarchies.

    Raises
    ------
    PlanError
        A person is asked for, and an engine has the rows.
    """
    if isinstance(table, MemoryTable):
        return MemorySource(
            table.frame, schema, hierarchies, pseudonyms, keep_suppressed, person, table.numbered,
            table.given, table.kinds,
        )  # fmt: skip
    assert isinstance(table, StoredTable)
    if person is not None:
        raise PlanError(
            f"k is counted in persons (plan key person: {quoted(person)}) for a table in "
            "memory alone; add --engine memory, or load the table as a file."
        )
    return StoredSource(table, schema, hierarchies, pseudonyms, keep_suppressed)
