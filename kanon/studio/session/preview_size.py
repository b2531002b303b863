"""How many rows of a table a page shows."""

from __future__ import annotations


def preview_rows(records: int, columns: int) -> int:
    """The rows of a preview: at most 200, and fewer of a wide table.

    >>> preview_rows(30_000, 10), preview_rows(30_000, 300), preview_rows(3, 2)
    (200, 33, 3)
    """
    return min(records, 200, max(10, 10_000 // columns))
