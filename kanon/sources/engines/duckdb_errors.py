"""Sentences for errors of DuckDB, whose own messages may quote cells."""

import re

import duckdb
import ibis
import pyarrow as pa

from kanon.base.data_files import read_data
from kanon.base.formatting import write_count
from kanon.errors import quote
from kanon.settings import get_settings
from kanon.sources.addresses import Address
from kanon.sources.engines.rows import find_sentence

DUCKDB_ERRORS = (
    duckdb.Error, OSError, MemoryError, pa.ArrowException, ibis.common.exceptions.IbisError,
)  # fmt: skip

_SENTENCES = read_data(__file__)
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
