"""The unpacked size of a Parquet or Arrow file, read from its page headers without unpacking.

The sizes in the footer of a Parquet file may be a lie. The size in a page's own header may not: the
reader unpacks the page into that many bytes and refuses one with more. In an Arrow file every
buffer begins with its size.

Sources: https://github.com/apache/parquet-format (PageHeader in parquet.thrift, in the compact
protocol of Thrift), https://arrow.apache.org/docs/format/Columnar.html (RecordBatch in Message.fbs,
a FlatBuffer; a compressed buffer begins with its length).
"""

import struct
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

LONGEST_FOOTER = 5_000_000
"""The most bytes of a Parquet footer that are read: some 50,000 columns times row groups."""

_MOST_PAGES = 1_000_000  # each takes two microseconds to walk past
_DICTIONARY_PAGE, _DELTA_BYTE_ARRAY = 2, 7

_I32, _I64, _LIST, _STRUCT = 5, 6, 9, 12
_Fields = int | dict[int, Any] | list[Any] | None
"""What to keep of a value: a number of that kind, fields of a structure, structures of a list."""

_FOOTER: _Fields = {4: [{1: [{3: {5: _I64, 7: _I64, 9: _I64, 11: _I64}}]}]}
_PAGE: _Fields = {1: _I32, 2: _I32, 3: _I32, 5: {2: _I32}, 8: {4: _I32}}


def measure_parquet(data: bytes) -> tuple[int, int]:
    unpacked = pages = 0
    reach: dict[int, int] = {}
    for group in _read_groups(data):
        for column, chunk in enumerate(group):
            sizes, repeated, delta = 0, 0, False
            if not chunk[5]:  # then no page of it is read
                continue
            for kind, size, encoding in _walk_pages(data, chunk):
                pages += 1
                if pages > _MOST_PAGES:
                    raise ValueError("more pages than any table has")
                sizes += size
                repeated = max(repeated, size if kind == _DICTIONARY_PAGE else 0)
                delta = delta or encoding == _DELTA_BYTE_ARRAY
            unpacked += sizes
            reach[column] = max(reach.get(column, 0), sizes if delta else repeated)
    return unpacked, sum(reach.values())


def read_footer_length(data: bytes) -> int:
    return int.from_bytes(data[-8:-4], "little")


def _read_groups(data: bytes) -> list[list[dict[int, int]]]:
    """Per row group and column the metadata fields: number of values, places of its pages."""
    length = read_footer_length(data)
    if data[-4:] != b"PAR1" or not 0 < length <= len(data) - 8:
        raise ValueError("no footer")
    footer, _ = _read(data[-8 - length : -8], 0, _STRUCT, _FOOTER)
    groups = [[chunk.get(3) for chunk in group.get(1, [])] for group in footer.get(4, [])]
    for chunk in (chunk for group in groups for chunk in group):
        if chunk is None or not {5, 7, 9} <= set(chunk):
            raise ValueError("a column without metadata")
    return groups


def _walk_pages(data: bytes, chunk: dict[int, int]) -> Iterator[tuple[int, int, int]]:
    at = min(chunk[9], chunk.get(11) or chunk[9])
    end = at + chunk[7]
    if not 0 <= at <= end <= len(data):
        raise ValueError("a column lies outside the file")
    while at < end:
        header, at = _read(data, at, _STRUCT, _PAGE)
        kind, unpacked, packed = (_check_page_size(header.get(field)) for field in (1, 2, 3))
        details = header.get(5) or header.get(8) or {}
        yield kind, unpacked, details.get(4 if 8 in header else 2, 0)
        at += packed


def _check_page_size(number: object) -> int:
    if not isinstance(number, int) or number < 0:
        raise ValueError("a page without a size")
    return number


# --- the compact protocol of Thrift ---------------------------------------------------------
def _read(data: bytes, at: int, kind: int, keep: _Fields, depth: int = 0) -> tuple[Any, int]:
    if depth > 32:
        raise ValueError("deeper than any footer is")
    try:
        if kind == _STRUCT:
            return _read_structure(data, at, keep if isinstance(keep, dict) else None, depth)
        if kind in (_LIST, 10):
            return _read_list(data, at, keep if isinstance(keep, list) else None, depth)
        if kind in (4, _I32, _I64):
            number, at = _read_signed(data, at)
            return (number if keep == kind else None), at
        if kind == 8:
            length, at = _read_varint(data, at)
            return None, at + length
        if kind == 11:
            return _skip_map(data, at, depth)
        if kind in (1, 2, 3, 7):
            return None, at + {1: 0, 2: 0, 3: 1, 7: 8}[kind]
    except IndexError:
        raise ValueError("a value outside the file") from None
    raise ValueError("an unknown kind of value")


def _read_structure(
    data: bytes, at: int, keep: dict[int, Any] | None, depth: int
) -> tuple[dict[int, Any] | None, int]:
    values: dict[int, Any] = {}
    seen: set[int] = set()
    field = 0
    while head := data[at]:
        at += 1
        field += head >> 4
        if not head >> 4:
            field, at = _read_signed(data, at)
        inner = keep.get(field) if keep else None
        value, at = _read(data, at, head & 15, inner, depth + 1)
        if inner is not None:
            if field in seen:
                raise ValueError("a field that occurs twice")
            seen.add(field)
            if value is not None:
                values[field] = value
    return (None if keep is None else values), at + 1


def _read_list(
    data: bytes, at: int, keep: list[Any] | None, depth: int
) -> tuple[list[Any] | None, int]:
    size, kind = data[at] >> 4, data[at] & 15
    at += 1
    if size == 15:
        size, at = _read_varint(data, at)
    if kind in (4, _I32, _I64) and keep is None:
        return None, _skip_numbers(data, at, size)
    values = []
    for _ in range(size):
        if at >= len(data):
            raise ValueError("a list outside the file")
        if kind in (1, 2):  # in a list, each has a byte
            at += 1
            continue
        value, at = _read(data, at, kind, keep[0] if keep else None, depth + 1)
        if keep is not None:
            values.append(value if value is not None else {})
    return (None if keep is None else values), at


def _skip_numbers(data: bytes, at: int, size: int) -> int:
    ends = np.flatnonzero(np.frombuffer(data[at : at + 10 * size], np.uint8) < 128)
    if len(ends) < size:
        raise ValueError("a list outside the file")
    return at + int(ends[size - 1]) + 1 if size else at


def _skip_map(data: bytes, at: int, depth: int) -> tuple[None, int]:
    size, at = _read_varint(data, at)
    if size:
        kinds = data[at]
        at += 1
        for _ in range(size):
            for kind in (kinds >> 4, kinds & 15):
                at = at + 1 if kind in (1, 2) else _read(data, at, kind, None, depth + 1)[1]
                if at > len(data):
                    raise ValueError("a map outside the file")
    return None, at


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at
        if shift > 63:
            raise ValueError("a number of over 64 bits")


def _read_signed(data: bytes, at: int) -> tuple[int, int]:
    value, at = _read_varint(data, at)
    return (value >> 1) ^ -(value & 1), at


def measure_arrow(data: bytes | memoryview) -> tuple[int, int]:
    rows = unpacked = 0
    for message in pa.ipc.MessageReader.open_stream(pa.BufferReader(data)):
        if message.type not in ("record batch", "dictionary"):
            continue
        try:
            n_rows, size = _measure_batch(message.metadata.to_pybytes(), memoryview(message.body))
        except struct.error:
            raise ValueError("a batch outside its message") from None
        rows += n_rows if message.type == "record batch" else 0
        unpacked += size
    return rows, unpacked


def _measure_batch(head: bytes, body: memoryview) -> tuple[int, int]:
    table = _follow_offset(head, _find_field(head, _unpack(head, "<I", 0), 2))
    if _unpack(head, "<B", _find_field(head, _unpack(head, "<I", 0), 1)) == 2:  # of a dictionary
        table = _follow_offset(head, _find_field(head, table, 1))
    length = _find_field(head, table, 0)
    rows = _unpack(head, "<q", length) if length else 0
    buffers, compressed = _find_field(head, table, 2), _find_field(head, table, 3)
    if not buffers:
        return rows, 0
    start = _follow_offset(head, buffers)
    size = 0
    for place in range(_unpack(head, "<I", start)):
        at, stored = struct.unpack_from("<qq", head, start + 4 + 16 * place)
        unpacked = _unpack(body, "<q", at) if compressed and stored else -1
        size += stored if unpacked < 0 else unpacked
    return rows, size


def _unpack(data: bytes | memoryview, kind: str, at: int) -> int:
    return int(struct.unpack_from(kind, data, at)[0])


def _follow_offset(data: bytes, at: int) -> int:
    return at + _unpack(data, "<I", at)


def _find_field(data: bytes, table: int, index: int) -> int:
    """The place of a field in a FlatBuffer's table; 0 if it is not there."""
    vtable = table - _unpack(data, "<i", table)
    if 4 + 2 * index >= _unpack(data, "<H", vtable):
        return 0
    offset = _unpack(data, "<H", vtable + 4 + 2 * index)
    return table + offset if offset else 0


def measure_expanded_column(column: Any) -> int:
    """The bytes of an Arrow column once every row has its own copy of its value."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return sum(
            _measure_entries(chunk.dictionary, chunk.indices) if len(chunk.dictionary) else 0
            for chunk in column.chunks
        )
    if pa.types.is_string_view(kind) or pa.types.is_binary_view(kind):
        return sum(map(_measure_views, column.chunks))
    return int(column.nbytes)


def _measure_views(chunk: Any) -> int:
    """The bytes that the views of an array reach: each is four numbers, the first a length."""
    numbers = np.frombuffer(chunk.buffers()[1], dtype=np.int32).reshape(-1, 4)
    lengths = numbers[chunk.offset : chunk.offset + len(chunk), 0].astype(np.int64)
    return int(lengths[chunk.is_valid().to_numpy(zero_copy_only=False)].sum())


def _measure_entries(values: Any, indices: Any) -> int:
    kind = values.type
    if pa.types.is_dictionary(kind) or pa.types.is_nested(kind):
        raise ValueError("a dictionary of dictionaries or lists")
    try:
        lengths = pc.binary_length(values)
    except pa.ArrowNotImplementedError:
        return len(indices) * -(-values.nbytes // len(values))
    return int(pc.sum(pc.take(lengths, indices)).as_py() or 0)
