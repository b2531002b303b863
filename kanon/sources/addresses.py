"""Where a table is that does not come as an upload: a path, or the URL of a database.

``people.parquet``, ``parts/`` (a folder of Parquet files), ``people.csv``, ``data.duckdb#people``,
``data.sqlite#people``, ``postgres://host/data#people``: after ``#`` comes a table in it.

>>> Address.parse("data.duckdb#people")
Address(place='data.duckdb', table='people')
>>> Address.parse("postgres://ana:secret@host/data#people").shown
'postgres://host/data#people'
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from kanon.errors import NotAFile, TableError, quote
from kanon.settings import describe_exceeded_limit, get_settings

DATABASES: Mapping[str, str] = {
    ".duckdb": "duckdb",
    ".ddb": "duckdb",
    ".sqlite": "sqlite",
    ".sqlite3": "sqlite",
}
"""The kind of database by file ending; for ``.db`` the first bytes of the file decide."""

SERVERS = (
    *("athena", "bigquery", "clickhouse", "databricks", "druid", "exasol", "impala", "materialize"),
    *("mssql", "mysql", "oracle", "postgres", "postgresql", "risingwave", "singlestoredb"),
    *("snowflake", "trino"),
)
"""The schemes of database servers."""

_URL = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)

# At most one @, after user and password: what stands before it is never shown.
_READABLE = re.compile(r"[^:/?#]+://([^/?#@]*@)?[^@]*$")


@dataclass(frozen=True)
class Address:
    place: str  # a path, or the URL of a database
    table: str | None = None  # the table within the database

    @classmethod
    def parse(cls, text: str) -> Address:
        text = text.strip()
        if not text:
            raise TableError("Give the path of a table, or the URL of a database.")
        scheme = _URL.match(text)
        if scheme and scheme.group().removesuffix("://").lower() not in SERVERS:
            raise TableError(
                f"URLs that begin with {quote(scheme.group())} cannot be opened: give the path of "
                f"a file, or the URL of a server ({', '.join(SERVERS)})."
            )
        if scheme and not _READABLE.match(text):
            raise TableError(
                "In the URL of a database, write the characters # / ? @ % of a user name or "
                "password as %23 %2F %3F %40 %25."
            )
        place, _, table = text.rpartition("#")
        with _raise_table_errors(text):
            has_table = place and table and not Path(text).exists()
        return cls(place, table) if has_table else cls(text)

    def check_table(self) -> None:
        """Check that only the address of a database names a table in it."""
        if self.table is not None and self.kind not in ("url", *DATABASES.values()):
            raise TableError(
                f"{quote(self.path.name)} is one table, not a database: leave out the '#' and "
                "what follows it."
            )

    @property
    def is_url(self) -> bool:
        return _URL.match(self.place) is not None

    @property
    def path(self) -> Path:
        try:
            return Path(self.place).expanduser()
        except RuntimeError:  # no user of that name has a home
            return Path(self.place)

    @property
    def stamp(self) -> tuple[tuple[str, int, int], ...]:
        """The sizes of its files and when they were changed; empty for a URL."""
        if self.kind == "url":
            return ()
        path = self.path
        logs = [Path(f"{path}-wal"), Path(f"{path}.wal")]  # of SQLite and DuckDB files
        with _raise_table_errors(self.place):
            files = sorted(_list_files(path)) or [path, *logs]
            stats = [(str(file), file.stat()) for file in files if file.is_file()]
        return tuple((name, stat.st_size, stat.st_mtime_ns) for name, stat in stats)

    @property
    def shown(self) -> str:
        """The address without the user and password that a URL may hold."""
        place = re.sub(r"(?<=://)[^/@]*@", "", self.place)
        place = re.sub(r"\?.*$", "", place) if self.is_url else place
        return f"{place}#{self.table}" if self.table else place

    @property
    def name(self) -> str:
        return self.table or (self.shown if self.is_url else self.path.name or self.place)

    @property
    def kind(self) -> str:
        """``url``, ``folder``, ``duckdb``, ``sqlite``, or the ending of a file without its dot."""
        if self.is_url:
            return "url"
        path = self.path
        with _raise_table_errors(self.place):
            if path.is_dir():
                return "folder"
            if not path.is_file() and path.exists():
                raise NotAFile(self.place)
            if not path.is_file():
                raise TableError(f"{quote(self.place, 200)} does not exist.")
            ending = path.suffix.lower()
            if ending == ".db":
                with path.open("rb") as file:
                    return "sqlite" if file.read(15) == b"SQLite format 3" else "duckdb"
        return DATABASES.get(ending, ending.removeprefix("."))


def can_open_tables(environment: Mapping[str, str] = os.environ) -> bool:
    return environment.get("KANON_TABLES", "").strip().lower() != "off"


def get_tables_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """The folder that tables must be in; see :func:`check_address`."""
    return Path(environment.get("KANON_TABLES", "").strip() or Path.home() / "kanon-tables")


def can_open_connections(environment: Mapping[str, str] = os.environ) -> bool:
    default = "off" if environment.get("KANON_TABLES", "").strip() else "on"
    choice = environment.get("KANON_CONNECTIONS", "").strip().lower() or default
    return can_open_tables(environment) and choice == "on"


def check_address(address: Address, environment: Mapping[str, str] = os.environ) -> Address:
    """Check an address against the settings of this server; the command line does not."""
    if not can_open_tables(environment):
        raise TableError("Paths and connections are switched off on this server; upload a file.")
    if address.is_url:
        if not can_open_connections(environment):
            raise TableError("Connections to databases are switched off on this server.")
        return address
    path = resolve_allowed_path(address.path, environment)
    with _raise_table_errors(address.place):
        for link in _list_files(path):
            if link.is_symlink():
                resolve_allowed_path(link, environment)
    return replace(address, place=str(path))


def _list_files(path: Path) -> list[Path]:
    most = get_settings().folder_files
    files = list(islice(path.glob("**/*"), most + 1)) if path.is_dir() else []
    if len(files) > most:
        has = f"The folder {quote(path.name)} contains more files (choose the folder of one table)"
        raise TableError(describe_exceeded_limit("folder_files", has))
    return files


@contextmanager
def _raise_table_errors(place: str) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a usable path"
        raise TableError(f"{quote(place)} cannot be opened ({reason}).") from None


def resolve_allowed_path(path: Path, environment: Mapping[str, str] = os.environ) -> Path:
    """A path with all links followed, if it is in the allowed folder; see :func:`check_address`."""
    folder = get_tables_folder(environment)
    try:
        resolved, allowed = (folder / path).resolve(), folder.resolve()
    except (OSError, RuntimeError, ValueError):  # links in a circle, a path that cannot be
        resolved, allowed = path, path / "nowhere"
    if not resolved.is_relative_to(allowed):
        raise TableError(
            f"{quote(path, 200)} is not allowed: tables must be in the folder {quote(folder, 200)}."
        )
    typed = folder / path
    below = typed.relative_to(folder).parts if typed.is_relative_to(folder) else ()
    names = (*below, *resolved.relative_to(allowed).parts)
    if any(name.startswith(".") and name != ".." for name in names):
        raise TableError(
            f"{quote(path, 200)} is not allowed: hidden files and folders, whose names begin with "
            "a dot, cannot be opened."
        )
    return resolved
