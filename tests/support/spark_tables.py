"""A table that Spark has opened, with what pandas finds in it."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from kanon.sources.addresses import Address
from kanon.sources.read_settings import ReadSettings
from support.part_works import SUMS

PEOPLE = 3_000


def people() -> pd.DataFrame:
    """Records in six parts, one of which has half of them, and one a single record."""
    draw = np.random.default_rng(7)
    part = draw.choice([0, 3, 5, 8, 9], PEOPLE, p=[0.5, 0.2, 0.15, 0.1, 0.05])
    part[17] = -4
    days = draw.integers(0, 9_000, PEOPLE)
    return pd.DataFrame(
        {
            "zip": draw.integers(0, 30, PEOPLE).astype(str),
            "weight": draw.integers(0, 90, PEOPLE).astype(float),
            "born": pd.Timestamp("1980-01-01") + pd.to_timedelta(days, "D"),
            "left": pd.array(draw.choice([True, False, None], PEOPLE), "boolean"),
            "part": part,
        }
    )  # fmt: skip


@dataclass
class SparkTable:
    """A table that Spark has opened."""

    frame: pd.DataFrame
    rows: Any
    context: Any

    @property
    def sizes(self) -> dict[int, int]:
        return {int(part): int(n) for part, n in self.frame["part"].value_counts().items()}

    def sums(self) -> pd.DataFrame:
        """What :class:`Sums` finds in all parts, by pandas."""
        groups = self.frame.groupby(["part", "zip"])["weight"].agg(["count", "sum"]).reset_index()
        return in_order(groups.drop(columns="part").set_axis(SUMS.names, axis=1))

    def fetched(self, kept: Any) -> pd.DataFrame:
        return in_order(self.rows.fetch(kept).to_pandas())

    def check_nothing_is_left(self) -> None:
        """Nothing runs, and nothing is persisted."""
        tracker = self.context._jsc.sc().statusTracker()
        assert list(tracker.getActiveJobIds()) == []
        until = time.monotonic() + 20  # executors tell how many tasks they run now and then
        while any(each.numRunningTasks() for each in tracker.getExecutorInfos()):
            assert time.monotonic() < until
            time.sleep(0.2)
        assert dict(self.context._jsc.getPersistentRDDs()) == {}


def in_order(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.sort_values(list(frame.columns)).reset_index(drop=True)


def opened(path: Path) -> Any:
    """The rows of a file or folder; imports pyspark, which may be missing."""
    from kanon.sources.engines.spark import open_rows

    return open_rows(Address(str(path)), ReadSettings())


def kept_table(folder: Path) -> SparkTable:
    """Open :func:`people` on the master that KANON_SPARK names."""
    frame = people()
    frame.to_parquet(folder / "people.parquet", index=False)
    rows = opened(folder / "people.parquet")
    return SparkTable(frame, rows, rows.workspace._cluster.session.sparkContext)
