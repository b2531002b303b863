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
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kanon.errors import TableError, quoted

__all__ = ["DATABASES", "SERVERS", "Address", "allowed_path", "check_address"]

DATABASES: Mapping[str, str] = {
    ".duckdb": "duckdb",
    ".ddb": "duckdb",
    ".sqlite": "sqlite",
    ".sqlite3": "sqlite",
}
"""The kind of database that each file ending stands for; ``.db`` is told by its first bytes."""

SERVERS = (
    *("athena", "bigquery", "clickhouse", "databricks", "druid", "exasol", "impala"),
    *("materialize", "mssql", "mysql", "oracle", "postgres", "postgresql"),
    *("risingwave", "singlestoredb", "snowflake", "trino"),
)
"""The servers whose URLs are opened; a URL of a file would go past the check of paths."""

_URL = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)


@dataclass(frozen=True)
class Address:
    """Where a table is.

    Attributes
    ----------
    place
        A path, or the URL of a database.
    table
        The table within the database; None for the only one, or for a file.
    """

    place: str
    table: str | None = None

    @classmethod
    def parse(cls, text: str) -> Address:
        """The address that a text stands for.

        Raises
        ------
        TableError
            It is empty, or a URL that is not one of a server.
        """
        text = text.strip()
        if not text:
            raise TableError("Give the path of a table, or the URL of a database.")
        scheme = _URL.match(text)
        if scheme and scheme.group().removesuffix("://").lower() not in SERVERS:
            raise TableError(
                f"URLs that begin with {quoted(scheme.group())} are not opened: give the path of a "
                f"file, or the URL of a server ({', '.join(SERVERS)})."
            )
        if "#" in text and not Path(text).exists():
            place, _, table = text.rpartition("#")
            if place and table:
                return cls(place, table)
        return cls(text)

    @property
    def is_url(self) -> bool:
        """Whether it is the URL of a database, and not a path."""
        return _URL.match(self.place) is not None

    @property
    def path(self) -> Path:
        """The path, of an address that is no URL."""
        return Path(self.place).expanduser()

    @property
    def shown(self) -> str:
        """The address without the user and password that a URL may hold."""
        place = re.sub(r"(?<=://)[^/@]*@", "", self.place)
        place = re.sub(r"\?.*$", "", place) if self.is_url else place
        return f"{place}#{self.table}" if self.table else place

    @property
    def name(self) -> str:
        """What the table is called: the table in a database, or the last part of a path."""
        return self.table or (self.shown if self.is_url else self.path.name or self.place)

    @property
    def kind(self) -> str:
        """``url``, ``folder``, ``duckdb``, ``sqlite``, or the ending of a file without its dot.

        Raises
        ------
        TableError
            There is nothing at that path.
        """
        if self.is_url:
            return "url"
        path = self.path
        try:
            if path.is_dir():
                return "folder"
            if not path.is_file():
                raise TableError(f"{quoted(self.place)} does not exist.")
            ending = path.suffix.lower()
            if ending == ".db":
                with path.open("rb") as file:
                    return "sqlite" if file.read(15) == b"SQLite format 3" else "duckdb"
        except OSError as error:
            raise TableError(
                f"{quoted(self.place)} cannot be opened ({error.strerror or 'not a usable path'})."
            ) from None
        return DATABASES.get(ending, ending.removeprefix("."))


def check_address(address: Address, environment: Mapping[str, str] = os.environ) -> None:
    """Check that who runs this server allows an address; the command line asks nobody.

    ``KANON_TABLES`` is a folder, outside of which no path is allowed and which rules out
    connections, or ``off``, or not set: then it is the home folder, and connections are allowed.
    ``KANON_CONNECTIONS=on`` allows connections beside a folder, ``off`` rules them out.

    Raises
    ------
    TableError
        It is not allowed.

    >>> check_address(Address("/etc/passwd"), {"KANON_TABLES": "/data"})
    Traceback (most recent call last):
    kanon.errors.TableError: '/etc/passwd' is not allowed: tables have to be in the folder '/data'.
    >>> check_address(Address("people.csv"), {"KANON_TABLES": "off"})
    Traceback (most recent call last):
    kanon.errors.TableError: Paths and connections are switched off on this server; upload a file.
    """
    setting = environment.get("KANON_TABLES", "").strip()
    if setting.lower() == "off":
        raise TableError("Paths and connections are switched off on this server; upload a file.")
    if address.is_url:
        wanted = environment.get("KANON_CONNECTIONS", "off" if setting else "on").strip().lower()
        if wanted != "on":
            raise TableError("Connections to databases are switched off on this server.")
        return
    allowed_path(address.path, environment)


def allowed_path(path: Path, environment: Mapping[str, str] = os.environ) -> Path:
    """A path with all links followed, if it is in the allowed folder; see :func:`check_address`.

    Raises
    ------
    TableError
        It is not.
    """
    folder = Path(environment.get("KANON_TABLES", "").strip() or Path.home())
    try:
        found, allowed = path.resolve(), folder.resolve()
    except (OSError, RuntimeError):  # links in a circle
        found, allowed = path, path / "nowhere"
    if not found.is_relative_to(allowed):
        raise TableError(
            f"{quoted(path)} is not allowed: tables have to be in the folder {quoted(folder)}."
        )
    return found
