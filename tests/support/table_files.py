"""Table files for tests, as kanon writes them."""

from pathlib import Path

import pandas as pd

from kanon.sources.formats import find_format
from kanon.sources.writing import table_bytes, write_whole


def write_table(table: pd.DataFrame, path: Path) -> None:
    """Write a table as the kind that the ending of its path tells."""
    write_whole(table_bytes(table, find_format(path.name).name), path)
