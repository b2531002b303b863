"""Table files for tests, as kanon writes them."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from kanon.sources.names import kind_of
from kanon.sources.writing import table_bytes, write_whole


def write_table(table: pd.DataFrame, path: Path) -> None:
    """Write a table as the kind that the ending of its path tells."""
    write_whole(table_bytes(table, kind_of(path.name)), path)
