"""Work on parts that executors are given in tests; they import it by this name."""

import os
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from kanon.base.progress import Progress
from kanon.errors import Unsatisfiable

SUMS = pa.schema([("zip", pa.string()), ("records", pa.int64()), ("weight", pa.float64())])
"""What :class:`Sums` returns."""


@dataclass(frozen=True)
class Sums:
    """Per value of ``zip`` its records and their weight, after some seconds; tells its process."""

    seconds: float = 0.0
    started: str = ""

    def __call__(self, rows: pa.Table, progress: Progress) -> pa.Table:
        progress(0.0, "")
        if self.started:
            Path(self.started).write_text(str(os.getpid()), "utf-8")
        time.sleep(self.seconds)
        found = rows.group_by("zip").aggregate([("zip", "count"), ("weight", "sum")])
        return found.select(["zip", "zip_count", "weight_sum"]).rename_columns(SUMS.names)


def echoing(rows: pa.Table, progress: Progress) -> pa.Table:
    """Returns what it is given."""
    return rows


def ending(rows: pa.Table, progress: Progress) -> pa.Table:
    """Ends its process, as the system ends one that has taken too much memory."""
    os._exit(137)


@dataclass(frozen=True)
class Taking:
    """Takes memory, and returns nothing."""

    gigabytes: int

    def __call__(self, rows: pa.Table, progress: Progress) -> pa.Table:
        np.ones(self.gigabytes * 2**27)
        return SUMS.empty_table()


def refusing(rows: pa.Table, progress: Progress) -> pa.Table:
    """Refuses its part, with the cells that are at fault."""
    raise Unsatisfiable("The values {cells} are too few.", cells=rows["zip"].to_pylist())


def failing(rows: pa.Table, progress: Progress) -> pa.Table:
    """Has a fault, whose text holds cells."""
    raise ValueError(f"what is {rows['zip'][0]}")
