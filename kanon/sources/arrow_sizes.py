"""How large a Parquet or Arrow file is when it is unpacked, read from what the unpacking goes by.

What the footer of a Parquet file says of sizes may be a lie. What a page's own header says may not:
the reader unpacks a page into so many bytes and refuses one with more. So the headers are walked,
page by page, without unpacking any; of an Arrow file the same is done buffer by buffer.

Sources: https://github.com/apache/parquet-format (PageHeader in parquet.thrift, in the compact
protocol of Thrift), https://arrow.apache.org/docs/format/Columnar.html (RecordBatch in Message.fbs,
a FlatBuffer; a compressed buffer begins with its length).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["arrow_size", "expanded_size", "parquet_size"]

_MOST_PAGES = 1_000_000  # each takes two microseconds to walk past
_DICTIONARY_PAGE, _DELTA_BYTE_ARRAY = 2, 7


def parquet_size(data: bytes, metadata: Any) -> tuple[int, int]:
    """How large a Parquet file is.

    Parameters
    ----------
    data
        The file.
    metadata
        Its footer, as pyarrow has read it.

    Returns
    -------
    unpacked : int
        The bytes of all pages, unpacked.
    reach : int
        So many bytes a row may have at most beyond those: values that stand once in a page and
        are meant by many rows.

    Raises
    ------
    ValueError
        The file is damaged.
    """
    unpacked = pages = 0
    reach = [0] * metadata.num_columns
    for group in range(metadata.num_row_groups):
        for column in range(metadata.num_columns):
            chunk = metadata.row_group(group).column(column)
            sizes, repeated, delta = 0, 0, False
            if not chunk.num_values:  # then no page of it is read
                continue
            for kind, size, encoding in _pages(data, chunk):
                pages += 1
                if pages > _MOST_PAGES:
                    raise ValueError("more pages than any table has")
                sizes += size
                repeated = max(repeated, size if kind == _DICTIONARY_PAGE else 0)
                delta = delta or encoding == _DELTA_BYTE_ARRAY
            unpacked += sizes
            reach[column] = max(reach[column], sizes if delta else repeated)
    return unpacked, sum(reach)


def _pages(data: bytes, chunk: Any) -> Iterator[tuple[int, int, int]]:
    """Per page its type, its bytes unpacked, and the encoding of its values."""
    at = chunk.data_page_offset
    if chunk.dictionary_page_offset:
        at = min(at, chunk.dictionary_page_offset)
    end = at + chunk.total_compressed_size
    if not 0 <= at <= end <= len(data):
        raise ValueError("a column lies outside the file")
    while at < end:
        header, at = _thrift(data, at)
        kind, unpacked, packed = (_size(header.get(field)) for field in (1, 2, 3))
        about = header.get(5) or header.get(8) or {}
        if not isinstance(about, dict):
            raise ValueError("a number where a page says how it is written")
        yield kind, unpacked, about.get(4 if 8 in header else 2, 0)
        at += packed


def _size(number: object) -> int:
    if not isinstance(number, int) or number < 0:
        raise ValueError("a page without a size")
    return number


def _thrift(data: bytes, at: int, depth: int = 0) -> tuple[dict[int, Any], int]:
    """The numbers and structures of a structure by their field, and where it ends."""
    found: dict[int, Any] = {}
    field = 0
    try:
        while head := data[at]:
            at += 1
            field += head >> 4
            kind = head & 15
            if not head >> 4:
                field, at = _signed(data, at)
            if kind in (3, 4, 5, 6):
                found[field], at = (data[at], at + 1) if kind == 3 else _signed(data, at)
            elif kind == 8:
                length, at = _varint(data, at)
                at += length
            elif kind == 12 and depth < 8:
                found[field], at = _thrift(data, at, depth + 1)
            elif kind not in (1, 2):
                raise ValueError("a kind of field that no page header has")
    except IndexError:
        raise ValueError("a page header outside the file") from None
    return found, at + 1


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at
        if shift > 63:
            raise ValueError("a number of more than 64 bits")


def _signed(data: bytes, at: int) -> tuple[int, int]:
    value, at = _varint(data, at)
    return (value >> 1) ^ -(value & 1), at


def arrow_size(data: bytes | memoryview) -> tuple[int, int]:
    """The records of a stream of Arrow messages, and its bytes when it is unpacked.

    Raises
    ------
    ValueError
        The stream is damaged.
    """
    rows = unpacked = 0
    for message in pa.ipc.MessageReader.open_stream(pa.BufferReader(data)):
        if message.type not in ("record batch", "dictionary"):
            continue
        try:
            more, size = _batch(message.metadata.to_pybytes(), memoryview(message.body))
        except struct.error:
            raise ValueError("a batch outside its message") from None
        rows += more if message.type == "record batch" else 0
        unpacked += size
    return rows, unpacked


def _batch(head: bytes, body: memoryview) -> tuple[int, int]:
    """The length of a batch and the bytes of its buffers."""
    table = _follow(head, _field(head, _number(head, "<I", 0), 2))
    if _number(head, "<B", _field(head, _number(head, "<I", 0), 1)) == 2:  # of a dictionary
        table = _follow(head, _field(head, table, 1))
    length = _field(head, table, 0)
    rows = _number(head, "<q", length) if length else 0
    buffers, compressed = _field(head, table, 2), _field(head, table, 3)
    if not buffers:
        return rows, 0
    start = _follow(head, buffers)
    size = 0
    for place in range(_number(head, "<I", start)):
        at, stored = struct.unpack_from("<qq", head, start + 4 + 16 * place)
        unpacked = _number(body, "<q", at) if compressed and stored else -1
        size += stored if unpacked < 0 else unpacked
    return rows, size


def _number(data: bytes | memoryview, kind: str, at: int) -> int:
    return int(struct.unpack_from(kind, data, at)[0])


def _follow(data: bytes, at: int) -> int:
    return at + _number(data, "<I", at)


def _field(data: bytes, table: int, index: int) -> int:
    """Where a field of a FlatBuffer's table is; 0 if it is not there."""
    known = table - _number(data, "<i", table)
    if 4 + 2 * index >= _number(data, "<H", known):
        return 0
    offset = _number(data, "<H", known + 4 + 2 * index)
    return table + offset if offset else 0


def expanded_size(column: Any) -> int:
    """The bytes that a column of an Arrow table has once every row has its value.

    >>> short = pa.array(["abcd"] * 3).dictionary_encode()
    >>> expanded_size(pa.chunked_array([short]))
    12
    """
    kind = column.type
    if pa.types.is_dictionary(kind):
        return sum(
            _lengths(chunk.dictionary, chunk.indices) if len(chunk.dictionary) else 0
            for chunk in column.chunks
        )
    if pa.types.is_string_view(kind) or pa.types.is_binary_view(kind):
        return sum(map(_viewed, column.chunks))
    return int(column.nbytes)


def _viewed(chunk: Any) -> int:
    """The bytes that the views of an array show: each is four numbers, the first a length."""
    numbers = np.frombuffer(chunk.buffers()[1], dtype=np.int32).reshape(-1, 4)
    lengths = numbers[chunk.offset : chunk.offset + len(chunk), 0].astype(np.int64)
    return int(lengths[chunk.is_valid().to_numpy(zero_copy_only=False)].sum())


def _lengths(values: Any, indices: Any) -> int:
    kind = values.type
    if pa.types.is_dictionary(kind) or pa.types.is_nested(kind):
        raise ValueError("a dictionary of dictionaries or lists")
    try:
        lengths = pc.binary_length(values)
    except pa.ArrowNotImplementedError:
        return len(indices) * -(-values.nbytes // len(values))
    return int(pc.sum(pc.take(lengths, indices)).as_py() or 0)
