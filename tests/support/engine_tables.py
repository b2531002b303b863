"""Tables put where an engine reads them."""

import sqlite3
from pathlib import Path

import pandas as pd

from kanon.sources.addresses import Address
from kanon.sources.stored import StoredTable, open_stored
from support.spark import require_spark


def put_in_engine(frame: pd.DataFrame, engine: str, folder: Path) -> StoredTable:
    """A table as a Parquet file that an engine reads, or in a SQLite file."""
    if engine == "spark":
        require_spark()
    if engine in ("duckdb", "spark"):
        frame.to_parquet(folder / "t.parquet", index=False)
        return open_stored(Address(str(folder / "t.parquet")), engine)
    with sqlite3.connect(folder / "t.sqlite") as connection:
        frame.to_sql("t", connection, index=False)
    connection.close()
    return open_stored(Address(str(folder / "t.sqlite"), "t"))
