"""Tables that an engine computes once and keeps, and work that is done on each part of one."""

import threading
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Protocol

import pyarrow as pa

from kanon.base.parallel import side_by_side
from kanon.base.progress import Progress
from kanon.stored_classes import PartWork


class Workspace(Protocol):
    """Where an engine keeps tables that queries go on from; nobody else sees them."""

    def keep(self, wanted: Any, progress: Progress, text: str) -> Any:
        """Compute what an expression yields, once."""

    def drop(self, kept: Any) -> None:
        """Give up a table that was kept."""

    def by_part(
        self, kept: Any, part: str, sizes: Mapping[int, int], work: PartWork, schema: pa.Schema,
        progress: Progress, text: str,
    ) -> Any:  # fmt: skip
        """Do some work on the rows of each part by themselves, several parts at once."""


def parts_here(
    fetch: Callable[[Any], pa.Table], append: Callable[[pa.Table], None], kept: Any, part: str,
    sizes: Mapping[int, int], work: PartWork, schema: pa.Schema, progress: Progress,
) -> None:  # fmt: skip
    asking = threading.Lock()

    def one(number: int, told: Progress) -> None:
        with asking:
            rows = fetch(kept.filter(kept[part] == number).drop(part))
        found = work(rows, told).cast(schema)
        with asking:
            append(found)

    works = [partial(one, number) for number in sizes]
    side_by_side(works, progress, "part", weights=list(sizes.values()))
