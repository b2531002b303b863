"""Where a table comes from that stays where it is, and where its release goes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import count

from kanon.errors import TableError, quoted
from kanon.sources.addresses import Address, allowed_folder, allowed_path
from kanon.sources.stored_source import check_outside, kind_written
from kanon.studio.session.parts import SessionPart


@dataclass(frozen=True)
class Place(SessionPart):
    """Where a table is, as it was typed."""

    # A path, or the URL of a database; see :class:`kanon.sources.addresses.Address`.
    typed: str = ""
    engine: str = ""  # The engine that was asked for; empty for what fits
    problem: str = ""  # Why it could not be opened

    def for_another_table(self) -> Place:
        """All of it: the next table may lie beside it."""
        return self


@dataclass(frozen=True)
class WrittenRelease:
    """A release that was written."""

    place: str  # Where it is
    k: int  # Its k and how many records it holds
    records: int
    seconds: float  # How long it took to write


@dataclass(frozen=True)
class Destination(SessionPart):
    """Where a release goes, as it was typed."""

    typed: str = ""  # A path; empty for the one that is suggested
    problem: str = ""  # Why nothing was written there
    written: WrittenRelease | None = None  # What was written last
    target: Address | None = None  # Where it is being written to, or was


def complete_at(target: Address | None) -> bool:
    """Whether a release stands where nothing was, or an empty folder, when its writing began."""
    if target is None or target.table is not None:
        return False
    path = target.path
    return any(path.iterdir()) if path.is_dir() else path.exists()


def suggested_destination(
    address: Address, name: str, environment: Mapping[str, str] = os.environ
) -> str:
    """A folder for a release where nothing is yet: beside the table."""
    folder = allowed_folder(environment) if address.is_url else address.path.parent
    paths = (folder / (name if n == 1 else f"{name}-{n}") for n in count(1))
    return str(next(path for path in paths if not os.path.lexists(path)))


def checked_destination(
    typed: str, address: Address, environment: Mapping[str, str] = os.environ
) -> Address:
    """Where a release may be written to: nothing is there yet, and it is allowed."""
    if not typed.strip():
        raise TableError("Say where the release goes: a new folder, or a file.")
    target = Address.parse(typed)
    if target.is_url:
        raise TableError("A release is written to a path, not to a URL.")
    path = allowed_path(target.path, environment)
    target = replace(target, place=str(path))
    check_outside(target, address)
    try:
        kind = kind_written(target)
        if kind != "duckdb" and path.exists() and not path.is_dir():
            raise TableError(f"{quoted(path, 200)} exists already: give another name.")
        if not path.parent.is_dir():
            raise TableError(f"The folder {quoted(path.parent, 200)} does not exist.")
    except OSError as error:
        why = error.strerror or "not a usable path"
        raise TableError(f"{quoted(path, 200)} cannot be written ({why}).") from None
    return target
