"""Sentences for errors of DuckDB, whose own messages may quote cells."""

import re

import duckdb
import ibis
import pyarrow as pa

from kanon.base.formatting import write_count
from kanon.errors import quote
from kanon.settings import get_settings
from kanon.sources.addresses import Address
from kanon.sources.engines.rows import find_sentence

DUCKDB_ERRORS = (
    duckdb.Error, OSError, MemoryError, pa.ArrowException, ibis.common.exceptions.IbisError,
)  # fmt: skip

_SENTENCES = {
    r"No space left|disk full": "The disk is full: nothing was written under the final name.",
    r"failed to offload|max_temp_directory_size": (
        "The engine has used all the space that it is allowed in KANON_SCRATCH for {name}: nine "
        "tenths of the free space there, up to {spilled} MB (scratch_megabytes, see "
        "docs/operate/limits.md). Free space on that disk, or set KANON_MEMORY higher."
    ),
    r"(?i)out of memory|could not allocate|failed to (pin|allocate)|malloc of|bad_alloc": (
        "The engine needs more memory for {name} than it is allowed: set KANON_MEMORY higher, or "
        "set KANON_SCRATCH to a folder where it can put up to {spilled} MB (scratch_megabytes, "
        "see docs/operate/limits.md)."
    ),
    r"\b(TIME WITH TIME ZONE|TIMETZ|TIME_NS|time64)\b|:time\b": (
        "A column of {name} holds times of day, which the engine cannot group: convert it to "
        "text in the database, for example with CAST(its name AS VARCHAR), or leave it out."
    ),
    r"schema mismatch|type of column|Mismatch Type|Conversion Error|Could not convert": (
        "A column of {name} changes its type: every file and row must have the same type."
    ),
    r"we can only read version|newer (storage )?version|(?i:failed to deserialize)": (
        "{name} was written by another version of DuckDB, probably a newer one, and cannot be read "
        "here: export the table there as Parquet (COPY … TO 'table.parquet'), or update DuckDB "
        "here."
    ),
    r"not a valid DuckDB|not a DuckDB": (
        "{name} is not a DuckDB file, or is from a newer version: export the table as Parquet."
    ),
    r"Conflicting lock|Could not set lock|different configuration|already attached": (
        "{name} is open in another program or page: close it there, or use another file."
    ),
    r"Permission denied": "kanon has no permission to read {name} or to write its release there.",
    r"disabled by (the )?configuration": (
        "{name} reads other files or connections, which is not allowed."
    ),
    r"No magic bytes|Footer|Parquet magic|corrupt|Snappy|thrift|decompress": (
        "{name} cannot be read as Parquet: it is damaged, locked or another kind of file."
    ),
    r"(?i)connection (has been |was |already )*closed": "The connection to {name} was lost.",
}
"""Patterns of DuckDB's messages, and the sentence for each."""


def explain_duckdb_error(address: Address, message: str) -> str | None:
    name = address.name
    if not address.is_url and not address.path.exists():
        return f"{quote(name)} is no longer there."
    line = re.search(r"CSV Error on Line: (\d+)", message)
    if line:
        return _explain_csv_line(f"Line {line.group(1)} of {quote(name)}", message)
    spilled = write_count(get_settings().scratch_megabytes)
    return find_sentence(_SENTENCES, message, name, spilled=spilled)


def _explain_csv_line(where: str, message: str) -> str:
    counts = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", message)
    if counts:
        has = "1 cell" if counts[2] == "1" else f"{counts[2]} cells"
        return f"{where} has {has} where the header has {counts[1]}."
    if "unicode" in message or "encoded" in message:
        return f"{where} cannot be read in its encoding: convert the file to UTF-8."
    if "quote" in message:
        return (
            f"{where} has a quote that is not closed where its cell ends: inside quotes, a quote "
            'is written twice ("").'
        )
    return f"{where} cannot be read as a record."
