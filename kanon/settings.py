"""The limits that an operator may change: ``settings.toml``, and the operator's own file.

>>> get_settings().job_minutes > 0
True
"""

import os
import tomllib
from dataclasses import dataclass, field, fields
from functools import lru_cache
from pathlib import Path
from typing import Any

from kanon.base.formatting import write_count
from kanon.errors import NotAFile, SettingsError, quote

VARIABLE = "KANON_SETTINGS"
"""The environment variable that names the operator's file."""

DEFAULTS = Path(__file__).with_name("settings.toml")
"""The file with every setting, its default and what it means."""


def _create_limit(least: float, most: float) -> Any:
    return field(metadata={"least": least, "most": most})


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Every limit; ``settings.toml`` says what each means.

    The metadata of a field has its least and greatest value.
    """

    upload_megabytes: int = _create_limit(1, 100_000)
    unpacked_megabytes: int = _create_limit(1, 1_000_000)
    rows: int = _create_limit(1, 10**10)
    columns: int = _create_limit(1, 10**6)
    cells: int = _create_limit(1, 10**12)
    record_megabytes: int = _create_limit(1, 1_000)
    memory_megabytes: int = _create_limit(0, 1_000_000)
    memory_cells: int = _create_limit(0, 10**12)
    folder_files: int = _create_limit(1, 10**8)
    release_megabytes: int = _create_limit(1, 10**8)
    scratch_megabytes: int = _create_limit(1, 10**8)
    distinct_values: int = _create_limit(1, 10**9)
    classes: int = _create_limit(1, 10**9)
    hierarchy_nodes: int = _create_limit(1, 10**8)
    hierarchy_levels: int = _create_limit(2, 10**4)
    hierarchies_megabytes: int = _create_limit(1, 10_000)
    hierarchies_files: int = _create_limit(1, 10**6)
    plan_megabytes: int = _create_limit(1, 10_000)
    opening_megabytes: int = _create_limit(50, 1_000_000)
    jobs_at_once: int = _create_limit(1, 1_000)
    long_jobs_at_once: int = _create_limit(0, 1_000)
    studies_at_once: int = _create_limit(0, 1_000)
    job_minutes: float = _create_limit(0.01, 100_000)
    study_minutes: float = _create_limit(0.01, 100_000)
    engine_minutes: float = _create_limit(0.01, 100_000)
    alternatives_seconds: float = _create_limit(0, 3600)
    curve_seconds: float = _create_limit(0, 3600)
    keep_minutes: float = _create_limit(0, 100_000)
    kept_sessions: int = _create_limit(0, 100_000)
    original_values_downloads: bool = True


def get_settings() -> Settings:
    """The limits in force: the defaults, with the changes of the operator's file.

    Each file is read once; a SettingsError says what in it is not allowed.
    """
    return _read_settings(os.environ.get(VARIABLE, ""))


MEGABYTE = 1 << 20
"""The bytes of a megabyte, as browsers and Streamlit count them."""


def get_byte_limit(name: str) -> int:
    """A limit in megabytes, in bytes.

    >>> get_byte_limit("upload_megabytes") == get_settings().upload_megabytes * MEGABYTE
    True
    """
    return int(getattr(get_settings(), name)) * MEGABYTE


def read_up_to(most: int, path: Path) -> tuple[bytes, int]:
    """Read a file, but at most one byte more than ``most``; returns its content and size.

    A pipe or a device is :class:`NotAFile`.

    >>> content, size = read_up_to(5, DEFAULTS)
    >>> len(content), size == DEFAULTS.stat().st_size
    (6, True)
    """
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise NotAFile(path)
    with path.open("rb") as file:
        content = file.read(most + 1)
        return content, max(len(content), os.fstat(file.fileno()).st_size)


def describe_exceeded_limit(name: str, finding: str) -> str:
    """Describe an exceeded limit: what was found, what is allowed, and where to change it.

    >>> describe_exceeded_limit("kept_sessions", "There are 21 sessions")
    'There are 21 sessions; the limit is 20 (kept_sessions, see docs/operate/limits.md).'
    """
    limit = getattr(get_settings(), name)
    most = write_count(limit) if limit >= 1 else f"{limit:g}"
    unit = " MB" if name.endswith("_megabytes") else ""
    return f"{finding}; the limit is {most}{unit} ({name}, see docs/operate/limits.md)."


@lru_cache(maxsize=8)
def _read_settings(operators_file: str) -> Settings:
    values = _read_values(DEFAULTS)
    if operators_file:
        values |= _read_values(Path(operators_file))
    return Settings(**values)


def _read_values(path: Path) -> dict[str, Any]:
    place = f"The settings file {quote(path.name)}"
    try:
        content, size = read_up_to(MEGABYTE, path)
        if size > MEGABYTE:
            raise SettingsError(f"{place} is larger than 1 MB. It needs only one line per limit.")
        values = tomllib.loads(content.decode("utf-8"))
    except (OSError, UnicodeDecodeError, ValueError) as error:
        if isinstance(error, tomllib.TOMLDecodeError):
            raise SettingsError(f"{place} is not valid TOML: {error}.") from None
        raise SettingsError(f"{place}, named by {VARIABLE}, cannot be read.") from None
    limits = {limit.name: limit for limit in fields(Settings)}
    for name, value in values.items():
        if name not in limits:
            raise SettingsError(
                f"{place} has the unknown name {quote(name)}; choose from {', '.join(limits)}."
            )
        _check_limit(place, name, value, limits[name])
    return values


def _check_limit(place: str, name: str, value: object, limit: Any) -> None:
    if limit.type is bool:
        if not isinstance(value, bool):
            raise SettingsError(f"{place}: {name} = {value!r}, but it has to be true or false.")
        return
    whole = limit.type is int
    least, most = limit.metadata["least"], limit.metadata["most"]
    fits = isinstance(value, int if whole else int | float) and not isinstance(value, bool)
    if not (fits and least <= value <= most):
        kind = "a whole number" if whole else "a number"
        raise SettingsError(
            f"{place}: {name} = {value!r}, but it has to be {kind} from {least} to {most}."
        )
