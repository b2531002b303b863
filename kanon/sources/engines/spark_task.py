"""The task of an executor of Spark: processing one part."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from kanon.base.progress import ignore_progress
from kanon.errors import KanonError, describe_safely
from kanon.stored_classes import PartWork

_BATCH = 65_536  # rows that are returned at once: Spark reads a batch of Arrow as a whole


@dataclass(frozen=True)
class PartTask:
    """The work on a part as a function of Arrow batches, as Spark expects it."""

    work: PartWork  # gets the rows of the part
    rows: pa.Schema  # the columns that it gets
    found: pa.Schema  # the columns that it returns
    processed_rows: Any  # an accumulator of the processed rows

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        held = list(batches)
        if any(len(batch) for batch in held):
            part = pa.Table.from_batches(held).cast(self.rows)
            held.clear()
            try:
                result = self.work(part, ignore_progress).cast(self.found)
            except (KanonError, ImportError) as error:  # their texts hold no cells
                raise error from None
            except Exception as error:  # noqa: BLE001 Spark logs whatever an exception says
                raise RuntimeError(describe_safely(error)) from None
            self.processed_rows.add(len(part))
            yield from result.to_batches(max_chunksize=_BATCH)
