"""The record of releases that an operator may ask for: a line for each release.

It is kept only in the folder that the environment variable ``KANON_RECORD`` names. A line holds no
cell and no column name. It is written before the release is given out: a release that cannot be
recorded is not made, so none is missing from the record.
"""

import hashlib
import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from kanon.base.formatting import count_noun
from kanon.errors import SettingsError, TableError, quote
from kanon.release.released_rows import Verdict

try:
    import fcntl
except ImportError:  # no such locks on Windows: there a line is one call to write
    fcntl = None  # type: ignore[assignment]

VARIABLE = "KANON_RECORD"  # the environment variable that names the folder

LOCAL = "local"  # the user where nobody logs in
FILE = "releases.jsonl"  # the file in the folder: a line of JSON for each release


def get_record_file(environment: Mapping[str, str] = os.environ) -> Path | None:
    """The file of the record; None without a record.

    >>> get_record_file({"KANON_RECORD": "/srv/record"}).name, get_record_file({})
    ('releases.jsonl', None)
    """
    folder = environment.get(VARIABLE, "").strip()
    return Path(folder) / FILE if folder else None


def get_account() -> str:
    """The account that this process runs under; ``local`` where the system does not tell."""
    try:  # not by LOGNAME, which anyone may set
        import pwd  # not on Windows

        return pwd.getpwuid(os.getuid()).pw_name
    except (ImportError, KeyError):
        return LOCAL


@dataclass(frozen=True)
class Recorder:
    who: str  # who asks for it: the name of the login or account, or ``local``
    by: str  # by which way: ``dashboard`` or ``command line``
    # the SHA-256 of each
    table: str | None
    plan: str
    k: int  # the k of the plan

    def __call__(self, release: str | None, verdicts: Sequence[Verdict]) -> None:
        models = [
            {
                "model": verdict.model,
                "asked": verdict.asked,
                "found": verdict.level
                if verdict.level is None or math.isfinite(verdict.level)
                else None,
                "holds": verdict.holds,
            }
            for verdict in verdicts
        ]
        when = datetime.now(UTC).isoformat(timespec="seconds")
        line = {"when": when, **vars(self), "release": release, "models": models}
        _add_line((json.dumps(line, ensure_ascii=False) + "\n").encode("utf-8", "replace"))


def describe_record_problem() -> str | None:
    """Why nothing can be recorded; None if it can be, or if there is no record."""
    try:
        check_record_writable()
    except SettingsError as error:
        return error.sentence
    return None


def check_record_writable() -> None:
    _add_line(b"")


def _add_line(line: bytes) -> None:
    path = get_record_file()
    if path is None:
        return
    try:
        file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            if line:
                _write_line(file, line)
        finally:
            os.close(file)
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or "no such name").lower()
        raise SettingsError(
            f"The record of releases, in the folder that {VARIABLE} names, cannot be "
            f"written ({reason}), so nothing is released."
        ) from None


def _write_line(file: int, line: bytes) -> None:
    """Write a whole line or nothing, even if others write too."""
    if fcntl is not None:
        fcntl.flock(file, fcntl.LOCK_EX)  # ends with the file
    before = os.fstat(file).st_size
    if os.write(file, line) < len(line):  # the disk is full
        os.ftruncate(file, before)
        raise OSError(0, "the disk is full")
    os.fsync(file)


def read_recorded_releases(table: str) -> tuple[Mapping[str, Any], ...]:
    """The lines about the table of a fingerprint, the oldest first."""
    path = get_record_file()
    if path is None or not path.exists():
        return ()
    try:
        with path.open("rb") as file:
            lines = [json.loads(line) for line in file if table.encode() in line]
    except (OSError, ValueError):
        raise SettingsError(
            f"The record of releases, in the folder that {VARIABLE} names, cannot be read."
        ) from None
    return tuple(line for line in lines if line["table"] == table)


def describe_earlier_releases(table: str | None) -> str | None:
    """What the record says of earlier releases of a table, or why it cannot be read; else None."""
    try:
        lines = read_recorded_releases(table) if table else ()
    except SettingsError as error:
        return error.sentence
    if not lines:
        return None
    return (
        f"This table has been released before ({count_noun(len(lines), 'time')}), most recently on "
        f"{lines[-1]['when'][:10]} with k = {lines[-1]['k']}. Run 'kanon combine' with the plans "
        "of all its releases to see what they reveal together."
    )


def compute_path_fingerprint(path: Path) -> str:
    """The SHA-256 of a file; of a folder, that of what ``sha256sum`` prints for its files."""
    try:
        if not path.is_dir():
            with path.open("rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
        files = sorted(member for member in path.rglob("*") if member.is_file())
        lines = (
            f"{compute_path_fingerprint(member)}  {member.relative_to(path).as_posix()}\n"
            for member in files
        )
        return hashlib.sha256("".join(lines).encode("utf-8", "surrogateescape")).hexdigest()
    except OSError as error:
        reason = (error.strerror or "no reason given").lower()
        raise TableError(f"{quote(path.name)} cannot be read: {reason}.") from None
