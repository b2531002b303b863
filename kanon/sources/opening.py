"""Open a table file of any kind that kanon knows."""

from __future__ import annotations

import hashlib
from pathlib import Path

from kanon.sources import adult
from kanon.sources.reading import ReadSettings, TableFile, read_table

__all__ = ["open_table"]


def open_table(
    source: bytes | Path, name: str | None = None, settings: ReadSettings | None = None
) -> TableFile:
    """Read a table file as :func:`~kanon.sources.reading.read_table` does, or UCI's adult.data.

    The latter has neither a header nor the ending of a table, and is known by its hash.

    Raises
    ------
    TableError
        See :func:`~kanon.sources.reading.read_table`.
    """
    if isinstance(source, Path) and source.suffix == ".data" and source.is_file():
        name, source = source.name, source.read_bytes()
    if isinstance(source, bytes) and hashlib.sha256(source).hexdigest() == adult.ADULT_SHA256:
        return adult.parse_adult(source, "This is the Adult table of the UCI repository.")
    return read_table(source, name, settings)
