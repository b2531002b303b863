"""Limits: the size of a table in memory and on disk, and the years of its dates."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

import numpy as np
import pandas as pd

from kanon.base.formatting import count_noun, write_count
from kanon.base.progress import Progress
from kanon.errors import TableError, quote
from kanon.settings import MEGABYTE, describe_exceeded_limit, get_byte_limit, get_settings
from kanon.stored_classes import get_class_limit_error

_IS_OUR_OWN: ContextVar[bool] = ContextVar("of_our_own", default=False)

_FIRST, _END = np.datetime64("0001-01-01", "s"), np.datetime64("10000-01-01", "s")
_LEFT_FREE = 64 * MEGABYTE
"""The free space that a growing file leaves, or its own size if that is less."""


@contextmanager
def lift_size_limits() -> Iterator[None]:
    """Lift the size limits, for samples that come with kanon."""
    before = _IS_OUR_OWN.set(True)
    try:
        yield
    finally:
        _IS_OUR_OWN.reset(before)


def check_size(name: str, rows: int, columns: int) -> None:
    if _IS_OUR_OWN.get():
        return
    most = get_settings()
    numbers = {"columns": columns, "rows": rows, "cells": rows * columns}
    words = {"columns": "column", "rows": "record", "cells": "cell"}
    for limit, number in numbers.items():
        if number > getattr(most, limit):
            what = f"{quote(name)} has {count_noun(number, words[limit])}"
            raise TableError(describe_exceeded_limit(limit, what))


def require_records(n_records: int) -> None:
    if not n_records:
        raise TableError("The table has no records.")


def check_unpacked(name: str, size: int) -> None:
    if size > get_byte_limit("unpacked_megabytes"):
        what = f"{quote(name)} unpacks to {write_count(-(-size // MEGABYTE))} MB or more"
        raise TableError(describe_exceeded_limit("unpacked_megabytes", what))


def check_classes(number: int) -> None:
    if number > get_settings().classes:
        raise get_class_limit_error(number)


def check_days(column: pd.Series, name: str) -> None:
    if isinstance(column.dtype, pd.DatetimeTZDtype):
        variants = [column.dt.tz_convert(None), column.dt.tz_localize(None)]  # in UTC, and here
    elif isinstance(column.dtype, np.dtype) and column.dtype.kind == "M":
        variants = [column]
    else:
        return
    for moments in variants:
        seconds = moments.to_numpy().astype("datetime64[s]")
        if ((seconds < _FIRST) | (seconds >= _END)).any():
            raise get_date_error(name)


def get_date_error(name: str) -> TableError:
    return TableError(
        f"Column {quote(name)} holds a date outside the years 1 to 9999: correct it, or "
        "convert the column to text."
    )


def check_room(path: Path, size: int) -> None:
    """Check that this number of bytes may be written to a path, and fits on its disk."""
    name = quote(path.name)
    takes = f"{name} would take about {_format_bytes(size)}"
    if size > get_byte_limit("release_megabytes"):
        raise TableError(describe_exceeded_limit("release_megabytes", takes))
    free = _get_free_bytes(path)
    if size > free:
        raise TableError(
            f"{takes}, but the disk has only {_format_bytes(free, up=False)} free: choose another "
            "place."
        )


def limit_growth(progress: Progress, path: Path, taken: Callable[[], int]) -> Progress:
    def check_and_report(fraction: float, text: str) -> None:
        size = taken()
        if size > get_byte_limit("release_megabytes"):
            what = f"Writing was stopped: {quote(path.name)} had reached {_format_bytes(size)}"
            raise TableError(describe_exceeded_limit("release_megabytes", what))
        if _get_free_bytes(path) < min(size, _LEFT_FREE):
            raise TableError(
                f"The disk is full except for {_format_bytes(_LEFT_FREE)}: writing "
                f"{quote(path.name)} was stopped, and its unfinished file was deleted."
            )
        progress(fraction, text)

    return check_and_report


def measure_path(path: Path) -> int:
    """The bytes of a file, or of all files in a folder; 0 if there is neither."""
    try:
        if not path.is_dir():
            return path.stat().st_size
        parts = list(path.iterdir())
    except OSError:  # it is not there yet, or not any more
        return 0
    return sum(map(measure_path, parts))


def _get_free_bytes(path: Path) -> int:
    try:
        return shutil.disk_usage(path.parent).free
    except OSError:  # there is no such folder: writing will report it
        return 1 << 62


def _format_bytes(size: int, up: bool = True) -> str:
    """Bytes in megabytes or a smaller unit; needed space is rounded up, free space down."""
    units = ((MEGABYTE, "MB"), (1024, "kB"), (1, "bytes"))
    unit, name = next((candidate for candidate in units if size >= candidate[0]), units[-1])
    return f"{write_count(-(-size // unit) if up else size // unit)} {name}"
