"""What runs in an executor of Spark: the work on one part."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from kanon.base.progress import no_progress
from kanon.errors import KanonError, withheld
from kanon.stored_classes import PartWork

_BATCH = 65_536  # rows that go back at once: Spark reads a batch of Arrow as a whole


@dataclass(frozen=True)
class PartTask:
    """A function of batches of Arrow, as Spark wants one, of the work on the part they hold."""

    work: PartWork  # gets the rows of the part
    # the columns that it gets and returns
    rows: pa.Schema
    found: pa.Schema
    ready: Any  # an accumulator of the rows that are done

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        held = list(batches)
        if any(len(batch) for batch in held):
            part = pa.Table.from_batches(held).cast(self.rows)
            held.clear()
            try:
                found = self.work(part, no_progress).cast(self.found)
            except (KanonError, ImportError) as error:  # their texts hold no cells
                raise error from None
            except Exception as error:  # noqa: BLE001 Spark logs whatever an exception says
                raise RuntimeError(withheld(error)) from None
            self.ready.add(len(part))
            yield from found.to_batches(max_chunksize=_BATCH)
