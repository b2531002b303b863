"""Sentences for what goes wrong in DuckDB. Its own messages may quote cells."""

import re

import duckdb
import ibis
import pyarrow as pa

from kanon.base.formatting import thin
from kanon.errors import quoted
from kanon.settings import settings
from kanon.sources.addresses import Address
from kanon.sources.engines.rows import find_sentence

DUCKDB_ERRORS = (
    duckdb.Error, OSError, MemoryError, pa.ArrowException, ibis.common.exceptions.IbisError,
)  # fmt: skip

_SENTENCES = {
    r"No space left|disk full": "The disk is full: nothing was written under the final name.",
    r"failed to offload|max_temp_directory_size": (
        "What the engine may spill to KANON_SCRATCH for {name} is full: it takes nine tenths of "
        "what is free there, and no more than {spilled} MB (scratch_megabytes, see "
        "docs/operate/limits.md). Free its disk, or set KANON_MEMORY higher."
    ),
    r"(?i)out of memory|could not allocate|failed to (pin|allocate)|malloc of|bad_alloc": (
        "The engine needs more memory than it may take for {name}: set KANON_MEMORY higher, or "
        "KANON_SCRATCH to a folder that it may spill to, up to {spilled} MB (scratch_megabytes, "
        "see docs/operate/limits.md)."
    ),
    r"\b(TIME WITH TIME ZONE|TIMETZ|TIME_NS|time64)\b|:time\b": (
        "A column of {name} holds times of day, which the engine cannot compare with their groups: "
        "convert it to text in the database, as by CAST(its name AS VARCHAR), or leave it out."
    ),
    r"schema mismatch|type of column|Mismatch Type|Conversion Error|Could not convert": (
        "A column of {name} changes its type: every file and row has to have the same type."
    ),
    r"we can only read version|newer (storage )?version|(?i:failed to deserialize)": (
        "{name} was written by another version of DuckDB than the one here reads, likely a newer "
        "one: export the table there as Parquet (COPY … TO 'table.parquet'), or update DuckDB here."
    ),
    r"not a valid DuckDB|not a DuckDB": (
        "{name} is no DuckDB file, or one of a newer version: export the table as Parquet."
    ),
    r"Conflicting lock|Could not set lock|different configuration|already attached": (
        "{name} is open in another program or page: close it there, or use another file."
    ),
    r"Permission denied": "{name} may not be read, or its release not be written there.",
    r"disabled by (the )?configuration": (
        "{name} reads other files or connections, which is not allowed."
    ),
    r"No magic bytes|Footer|Parquet magic|corrupt|Snappy|thrift|decompress": (
        "{name} cannot be read as Parquet: it is damaged, locked or another kind of file."
    ),
    r"(?i)connection (has been |was |already )*closed": "The connection to {name} was lost.",
}
"""What DuckDB says, and the sentence for it."""


def duckdb_sentence(address: Address, message: str) -> str | None:
    """A sentence for what DuckDB said, which may quote cells."""
    name = address.name
    if not address.is_url and not address.path.exists():
        return f"{quoted(name)} is not there any more."
    line = re.search(r"CSV Error on Line: (\d+)", message)
    if line:
        return _about_line(f"Line {line.group(1)} of {quoted(name)}", message)
    spilled = thin(settings().scratch_megabytes)
    return find_sentence(_SENTENCES, message, name, spilled=spilled)


def _about_line(where: str, message: str) -> str:
    widths = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", message)
    if widths:
        has = "1 cell" if widths[2] == "1" else f"{widths[2]} cells"
        return f"{where} has {has} where the header has {widths[1]}."
    if "unicode" in message or "encoded" in message:
        return f"{where} cannot be read in its encoding: convert the file to UTF-8."
    if "quote" in message:
        return (
            f"{where} has a quote that is not closed where its cell ends: inside quotes a quote is "
            'written twice ("").'
        )
    return f"{where} is no record that can be read."
