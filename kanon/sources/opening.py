"""Open a table file of any kind that kanon knows."""

import contextlib
import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import pyarrow as pa
import pyarrow.parquet

from kanon.base.progress import Progress, ignore_progress, scale_progress
from kanon.errors import PlanError, TableError, UnclearHeader, quote
from kanon.hierarchy import Hierarchy
from kanon.schema import Schema
from kanon.settings import get_byte_limit, get_settings
from kanon.sources.addresses import DATABASES, Address
from kanon.sources.formats import find_stored_format
from kanon.sources.memory import MemorySource, MemoryTable
from kanon.sources.missing import describe_missing_cells
from kanon.sources.read_settings import ReadSettings
from kanon.sources.reading import TableFile, describe_blank_records, read_file_content, read_table
from kanon.sources.stored import StoredTable, open_stored
from kanon.sources.stored_source import StoredSource
from kanon.sources.tables import Source, Table

ADULT_URL = "https://archive.ics.uci.edu/ml/machine-learning-databases/adult/adult.data"
ADULT_SHA256 = "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d"
ADULT_NAME = "adult.data"
ADULT_LICENCE = "CC BY 4.0"
ADULT_ATTRIBUTION = (
    "Becker, B. and Kohavi, R. (1996). Adult. UCI Machine Learning Repository."
    " https://doi.org/10.24432/C5XW20."
)
COLUMNS = (
    *("sex", "age", "race", "marital-status", "education", "native-country"),
    *("workclass", "occupation", "salary-class"),
)
"""The nine columns that the papers use, in their order."""
_ADULT_HEADER = (
    "age, workclass, fnlwgt, education, education-num, marital-status, occupation, relationship,"
    " race, sex, capital-gain, capital-loss, hours-per-week, native-country, salary-class\n"
)
_SECONDS = 20
_ADVICE = "upload adult.data instead"


@dataclass(frozen=True, eq=False)
class OpenedTable:
    """A table that stays where it is stored, with remarks from opening it.

    See :class:`kanon.sources.reading.TableFile` and :class:`kanon.sources.addresses.Address`.
    """

    name: str
    kind: str
    records: StoredTable
    settings: ReadSettings
    found: tuple[str, ...]
    unclear: str = ""

    @property
    def fingerprint(self) -> str:
        """Distinguishes it from any other table, and from itself after a change."""
        table = self.records
        return repr((table.address, table.engine, table.stamp, table.n_records))


def open_stored_file(
    address: Address,
    engine: str | None = None,
    settings: ReadSettings | None = None,
    progress: Progress = ignore_progress,
) -> OpenedTable:
    """Open a table that stays where it is stored, and count the values of its columns.

    Raises
    ------
    TableError
        There is no such table, it cannot be read, or it has no records.
    """
    progress(0, "Opening")
    table = open_stored(address, engine, settings)
    if not table.n_records:
        raise TableError(f"{quote(address.name)} has no records.")
    missing, counting_progress = {}, scale_progress(progress, 0.1, 1)
    for place, column in enumerate(table.columns):
        counting_progress(place / len(table.columns), f"Counting the values of {column}")
        missing_cells = table.n_records - table.count_distinct(column).n_filled
        if missing_cells:
            missing[column] = missing_cells
    remarks = [
        f"The table stays where it is ({address.shown}): kanon reads counts and a few records.",
        *table.found,
        *describe_blank_records(table.opened.sizes["blank"]),
        *describe_missing_cells(missing, {}, table.markers),
    ]
    used_settings = ReadSettings(*table.text, table.markers, header=table.settings.header)
    return OpenedTable(address.name, address.kind, table, used_settings, tuple(remarks))


def open_address(
    address: Address,
    engine: str | None = None,
    settings: ReadSettings | None = None,
    notify: Callable[[str], None] = lambda notice: None,
) -> Table:
    """Open a table where it is: in memory if it is a small file, else by an engine.

    Parameters
    ----------
    engine
        ``memory``, or one of :data:`kanon.sources.engines.ENGINES`; None for what fits.
    notify
        Receives each sentence about how the table was read.

    Raises
    ------
    TableError
        There is no such table, or it cannot be read in this way.
    """
    if engine == "memory" or (engine is None and _needs_memory(address)):
        address.check_table()
        if address.kind in ("url", *DATABASES.values()):
            raise TableError("A database cannot be read into memory: leave out --engine memory.")
        file = open_table(address.path, address.path.name, settings)
        for notice in file.notices:
            notify(notice)
        return file.records
    table = open_stored(address, engine, settings)
    if table.text != (None, None):
        for notice in table.found[1:]:
            notify(notice)
    return table


def _needs_memory(address: Address) -> bool:
    """Whether a file is small, or of a format that no engine reads."""
    if address.is_url or address.kind in ("folder", *DATABASES.values()):
        return False
    table_format = find_stored_format(address)
    if table_format is None:
        return True
    if table_format.cells == "typed":
        with contextlib.suppress(pa.ArrowException, OSError):  # damage is reported later
            metadata = pyarrow.parquet.read_metadata(address.path)
            return bool(metadata.num_rows * metadata.num_columns <= get_settings().memory_cells)
    return address.path.stat().st_size <= get_byte_limit("memory_megabytes")


_AnyFile = TypeVar("_AnyFile", TableFile, OpenedTable)


def open_in_doubt(
    open_file: Callable[[ReadSettings], _AnyFile], settings: ReadSettings | None = None
) -> _AnyFile:
    """Open a table, its first line read as a record where that is likely; ``unclear`` says why."""
    settings = settings or ReadSettings()
    try:
        return open_file(settings)
    except UnclearHeader as error:
        file = open_file(replace(settings, header=False))
        undecided = replace(file.settings, header=None)
        return replace(file, unclear=error.reason, settings=undecided)


def open_table(
    source: bytes | Path, name: str | None = None, settings: ReadSettings | None = None
) -> TableFile:
    """Read a table file as :func:`~kanon.sources.reading.read_table` does, or UCI's adult.data.

    adult.data has neither a header nor the ending of a table; its hash identifies it.
    """
    if isinstance(source, Path) and source.suffix == ".data" and source.is_file():
        name, source = source.name, read_file_content(source)
    if isinstance(source, bytes) and hashlib.sha256(source).hexdigest() == ADULT_SHA256:
        return parse_adult(source, "This is the Adult table of the UCI repository.")
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
        A column identifies the person, and an engine has the rows.
    """
    if isinstance(table, MemoryTable):
        return MemorySource(table, schema, hierarchies, pseudonyms, keep_suppressed, person)
    assert isinstance(table, StoredTable)
    if person is not None:
        raise PlanError(
            f"k can count persons (plan key person: {quote(person)}) only for a table in memory; "
            "add --engine memory, or load the table as a file."
        )
    return StoredSource(table, schema, hierarchies, pseudonyms, keep_suppressed)


def fetch_adult(url: str = ADULT_URL, known_hash: str = ADULT_SHA256) -> TableFile:
    """Download the Adult table; none of it stays on the disk."""
    if url == ADULT_URL:
        url = os.environ.get("KANON_ADULT_URL") or url
    return parse_adult(
        _download_adult(url, known_hash), "Downloaded from the UCI Machine Learning Repository."
    )


def parse_adult(content: bytes, origin: str) -> TableFile:
    """The nine columns of the papers from UCI's ``adult.data``, which has no header."""
    file = read_table(
        _ADULT_HEADER.encode() + content, "adult.csv", ReadSettings(",", "utf-8", ("?",))
    )
    return replace(
        file,
        name=ADULT_NAME,
        table=file.table[list(COLUMNS)],
        found=(origin, *file.found[1:]),
        missing={name: count for name, count in file.missing.items() if name in COLUMNS},
    )


def _download_adult(url: str, known_hash: str) -> bytes:
    import requests

    try:
        answer = requests.get(url, timeout=_SECONDS)
        answer.raise_for_status()
    except requests.Timeout:
        reason = f"the server did not answer within {_SECONDS} seconds"
    except requests.HTTPError as error:
        status = getattr(error.response, "status_code", "unknown")
        reason = f"the server answered with status {status}"
    except (requests.RequestException, ValueError):  # of an address that is none
        reason = "the server cannot be reached"
    else:
        if hashlib.sha256(answer.content).hexdigest() == known_hash:
            return answer.content
        raise TableError(
            "The downloaded Adult table is not the expected file (its SHA-256 differs) and was not"
            f" used; {_ADVICE}."
        )
    raise TableError(f"The Adult table could not be downloaded: {reason}; {_ADVICE}.")
