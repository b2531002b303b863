"""Where a table is that does not come as an upload: a path, or the URL of a database.

``people.parquet``, ``parts/`` (a folder of Parquet files), ``people.csv``, ``data.duckdb#people``,
``data.sqlite#people``, ``postgres://host/data#people``: what stands after ``#`` is the table within
the database.

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

from kanon.errors import NotAFile, TableError, quoted
from kanon.settings import exceeded, settings

DATABASES: Mapping[str, str] = {
    ".duckdb": "duckdb",
    ".ddb": "duckdb",
    ".sqlite": "sqlite",
    ".sqlite3": "sqlite",
}
"""The kind of database that each file ending stands for; ``.db`` is told by its first bytes."""

SERVERS = (
    *("athena", "bigquery", "clickhouse", "databricks", "druid", "exasol", "impala", "materialize"),
    *("mssql", "mysql", "oracle", "postgres", "postgresql", "risingwave", "singlestoredb"),
    *("snowflake", "trino"),
)
"""What the URL of a database server begins with; any other one names files of this computer."""

_URL = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)

# One sign @ at most, after the user and the password: what is before it is never shown.
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
                f"URLs that begin with {quoted(scheme.group())} are not opened: give the path of a "
                f"file, or the URL of a server ({', '.join(SERVERS)})."
            )
        if scheme and not _READABLE.match(text):
            raise TableError(
                "In the URL of a database, the signs # / ? @ % of a user's name or password are "
                "written as %23 %2F %3F %40 %25."
            )
        place, _, table = text.rpartition("#")
        with _opening(text):
            named = place and table and not Path(text).exists()
        return cls(place, table) if named else cls(text)

    def check_table(self) -> None:
        """Check that only a database is asked for one of its tables."""
        if self.table is not None and self.kind not in ("url", *DATABASES.values()):
            raise TableError(
                f"{quoted(self.path.name)} is one table, not a database: leave out the '#' and "
                "what follows it."
            )

    @property
    def is_url(self) -> bool:
        return _URL.match(self.place) is not None

    @property
    def path(self) -> Path:
        try:
            return Path(self.place).expanduser()
        except RuntimeError:  # nobody of that name has a home
            return Path(self.place)

    @property
    def stamp(self) -> tuple[tuple[str, int, int], ...]:
        """The sizes of its files and when they were changed; nothing of a URL."""
        if self.kind == "url":
            return ()
        path = self.path
        beside = [Path(f"{path}-wal"), Path(f"{path}.wal")]  # of SQLite and DuckDB files
        with _opening(self.place):
            files = sorted(_within(path)) or [path, *beside]
            found = [(str(file), file.stat()) for file in files if file.is_file()]
        return tuple((name, stat.st_size, stat.st_mtime_ns) for name, stat in found)

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
        with _opening(self.place):
            if path.is_dir():
                return "folder"
            if not path.is_file() and path.exists():
                raise NotAFile(self.place)
            if not path.is_file():
                raise TableError(f"{quoted(self.place, 200)} does not exist.")
            ending = path.suffix.lower()
            if ending == ".db":
                with path.open("rb") as file:
                    return "sqlite" if file.read(15) == b"SQLite format 3" else "duckdb"
        return DATABASES.get(ending, ending.removeprefix("."))


def tables_allowed(environment: Mapping[str, str] = os.environ) -> bool:
    return environment.get("KANON_TABLES", "").strip().lower() != "off"


def allowed_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """The folder that tables have to be in; see :func:`check_address`.

    >>> allowed_folder({}).name
    'kanon-tables'
    """
    return Path(environment.get("KANON_TABLES", "").strip() or Path.home() / "kanon-tables")


def connections_allowed(environment: Mapping[str, str] = os.environ) -> bool:
    otherwise = "off" if environment.get("KANON_TABLES", "").strip() else "on"
    wanted = environment.get("KANON_CONNECTIONS", "").strip().lower() or otherwise
    return tables_allowed(environment) and wanted == "on"


def check_address(address: Address, environment: Mapping[str, str] = os.environ) -> Address:
    """Check that who runs this server allows an address; the command line asks nobody."""
    if not tables_allowed(environment):
        raise TableError("Paths and connections are switched off on this server; upload a file.")
    if address.is_url:
        if not connections_allowed(environment):
            raise TableError("Connections to databases are switched off on this server.")
        scheme = address.place.split(":")[0].lower()
        if scheme not in SERVERS:
            raise TableError(
                f"{quoted(scheme)} is no database server that is known: give the path of a file, "
                "or a URL such as postgres://host/data#people."
            )
        return address
    found = allowed_path(address.path, environment)
    with _opening(address.place):
        for link in _within(found):
            if link.is_symlink():
                allowed_path(link, environment)
    return replace(address, place=str(found))


def _within(path: Path) -> list[Path]:
    """What is in a folder, and in folders in it; nothing of a file."""
    most = settings().folder_files
    found = list(islice(path.glob("**/*"), most + 1)) if path.is_dir() else []
    if len(found) > most:
        has = f"The folder {quoted(path.name)} holds more files (give the folder of one table)"
        raise TableError(exceeded("folder_files", has))
    return found


@contextmanager
def _opening(place: str) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a usable path"
        raise TableError(f"{quoted(place)} cannot be opened ({reason}).") from None


def allowed_path(path: Path, environment: Mapping[str, str] = os.environ) -> Path:
    """A path with all links followed, if it is in the allowed folder; see :func:`check_address`."""
    folder = allowed_folder(environment)
    try:
        found, allowed = (folder / path).resolve(), folder.resolve()
    except (OSError, RuntimeError, ValueError):  # links in a circle, a path that cannot be
        found, allowed = path, path / "nowhere"
    if not found.is_relative_to(allowed):
        raise TableError(
            f"{quoted(path, 200)} is not allowed: tables have to be in the folder "
            f"{quoted(folder, 200)}."
        )
    typed = folder / path
    below = typed.relative_to(folder).parts if typed.is_relative_to(folder) else ()
    names = (*below, *found.relative_to(allowed).parts)
    if any(name.startswith(".") and name != ".." for name in names):
        raise TableError(
            f"{quoted(path, 200)} is not allowed: hidden files and folders, whose names begin with "
            "a dot, are not opened."
        )
    return found
