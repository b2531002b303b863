"""Valid files and structures, broken: how the fuzzer's inputs are made.

Everything is drawn from a :class:`random.Random`, so that a seed repeats an input.
"""

from __future__ import annotations

import io
import json
import math
import zipfile
from collections.abc import Sequence
from copy import deepcopy
from random import Random
from typing import Any

__all__ = ["JUNK", "broken_bytes", "broken_json", "broken_value", "broken_zip"]

_TEXTS = [
    "", " ", "*", "(missing)", "\0", "\ud800", "\ufeff", "\u202e", "\u2028", "é" * 50, "x" * 10_001,
    "٣", "²", "½", "1e999", "-1e-999", "nan", "inf", "-0", "0x1F", "1_000", "1,5", "007", "9" * 400,
    "=1+1", "{cells}", "%s", "{0}", "../../etc/passwd", "/dev/null", "C:\\", "a\nb", "a;b", '"',
    "'", "<b>", "suppression", "2020-02-30", "0000-00-00", "99999-01-01", "k-anonymity", "gaa",
]  # fmt: skip

JUNK: Sequence[Any] = [
    None, True, False, 0, -1, 1, 2, 0.5, -0.0, 1e308, math.inf, -math.inf, math.nan, 2**31, 2**63,
    -(2**63) - 1, 10**400, [], {}, [[]], [None], {"": None}, [[[[[[[[]]]]]]]], *_TEXTS,
]  # fmt: skip
"""What may stand where something else is expected."""

_BITS = [
    *(b"", b"\n", b"\r", b"\r\n", b"\0", b'"', b'""', b"'", b";", b",", b"\t", b"|", b" ", b"\\"),
    *(b"*", b"-", b"{", b"}", b"[", b"]", b":", b"null", b"NaN", b"Infinity", b"1e999", b"a,b\n"),
    *(b"\xff", b"\xfe\xff", b"\xef\xbb\xbf", b"\xc3", b"\xed\xa0\x80", b"\n\n\n\n"),
    *(b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\x80\x80\x80\x80\x10"),
    *(b"PK\x03\x04", b"PK\x05\x06", b"PAR1", b"ARROW1"),
]


def broken_bytes(draw: Random, seeds: Sequence[bytes]) -> bytes:
    """One of the seeds with one to six changes: of bytes, of slices, of lines."""
    data = bytearray(draw.choice(seeds))
    for _ in range(draw.choice([1, 1, 2, 3, 6])):
        _BREAK[draw.randrange(len(_BREAK))](draw, data, seeds)
    return bytes(data)


def _slice(draw: Random, data: Sequence, most: int = 64) -> tuple[int, int]:
    first = draw.randrange(len(data) + 1)
    return first, min(len(data), first + draw.randint(0, most))


def _flip(draw: Random, data: bytearray, _: object) -> None:
    if data:
        data[draw.randrange(len(data))] = draw.randrange(256)


def _cut(draw: Random, data: bytearray, _: object) -> None:
    first, last = _slice(draw, data)
    del data[first:last]


def _insert(draw: Random, data: bytearray, _: object) -> None:
    at = draw.randrange(len(data) + 1)
    data[at:at] = draw.choice(_BITS) * draw.choice([1, 1, 1, 2, 300])


def _repeat(draw: Random, data: bytearray, _: object) -> None:
    first, last = _slice(draw, data)
    data[last:last] = data[first:last] * draw.choice([1, 2, 50])


def _end(draw: Random, data: bytearray, _: object) -> None:
    del data[draw.randrange(len(data) + 1) :]


def _splice(draw: Random, data: bytearray, seeds: Sequence[bytes]) -> None:
    other = draw.choice(seeds)
    first, last = _slice(draw, other, 400)
    at, end = _slice(draw, data)
    data[at:end] = other[first:last]


def _number(draw: Random, data: bytearray, _: object) -> None:
    """Write a large or small number over some bytes, as lengths and offsets are written."""
    at, width = draw.randrange(len(data) + 1), draw.choice([2, 4, 8])
    value = draw.choice([0, 1, 2**7, 2**15 - 1, 2**31 - 1, 2**32 - 1, 2**63, 2**64 - 1])
    data[at : at + width] = (value % 2 ** (8 * width)).to_bytes(
        width, draw.choice(["little", "big"])
    )


def _lines(draw: Random, data: bytearray, _: object) -> None:
    lines = data.split(b"\n")
    at, other = draw.randrange(len(lines)), draw.randrange(len(lines))
    lines[at] = draw.choice([lines[other], lines[at] + lines[other], b"", lines[at] * 3])
    data[:] = b"\n".join(lines)


_BREAK = (_flip, _flip, _cut, _insert, _insert, _repeat, _end, _splice, _number, _lines)


def broken_value(draw: Random, value: Any) -> Any:
    """A copy of a structure of dicts and lists with one to three changes somewhere in it."""
    made = deepcopy(value)
    for _ in range(draw.choice([1, 1, 2, 3])):
        made = _changed(draw, made)
    return made


def _changed(draw: Random, value: Any) -> Any:
    """The structure with one change; the deeper, the likelier it is not here but further down."""
    if not isinstance(value, dict | list) or not value or draw.random() < 0.15:
        return deepcopy(draw.choice(JUNK))
    keys = list(value) if isinstance(value, dict) else range(len(value))
    key = draw.choice(keys)
    what = draw.random()
    if what < 0.1:
        del value[key]
    elif what < 0.2 and isinstance(value, dict):
        value[str(draw.choice(_TEXTS))] = value.pop(key)
    elif what < 0.2:
        value.insert(key, deepcopy(value[draw.randrange(len(value))]))
    elif what < 0.3:
        other = draw.choice(keys)
        value[key], value[other] = value[other], value[key]
    elif what < 0.35:
        value[key] = [value[key]] * draw.choice([1, 2, 40])
    else:
        value[key] = _changed(draw, value[key])
    return value


def broken_json(draw: Random, seeds: Sequence[Any]) -> bytes:
    """One of the structures as JSON, changed in its structure, in its text, or in both."""
    value = draw.choice(seeds)
    if draw.random() < 0.85:
        value = broken_value(draw, value)
    try:
        text = json.dumps(value, ensure_ascii=draw.random() < 0.3)
    except (ValueError, RecursionError):
        text = "[]"
    data = text.encode("utf-8", "surrogatepass")
    what = draw.random()
    if what < 0.01:
        depth = draw.choice([100, 1000, 100_000])
        data = b'{"version":' + b"[" * depth + data + b"]" * depth + b"}"
    elif what < 0.05:  # a key twice
        data = data[:1] + b'"version": 2, "columns": {}, "nodes": [],' + data[1:]
    return broken_bytes(draw, [data]) if what > 0.8 else data


def broken_zip(draw: Random, seeds: Sequence[bytes]) -> bytes:
    """One of the archives with a member changed, renamed, doubled or left out."""
    if draw.random() < 0.15:
        return broken_bytes(draw, seeds)
    with zipfile.ZipFile(io.BytesIO(draw.choice(seeds))) as archive:
        members = [(one.filename, archive.read(one)) for one in archive.infolist()]
    at = draw.randrange(len(members))
    name, content = members[at]
    what = draw.random()
    if what < 0.75:
        members[at] = (name, broken_bytes(draw, [content]))
    elif what < 0.82:
        members[at] = (
            draw.choice(["", "../x.csv", "a/" * 50, "x.zip", "é.csv", name * 2]),
            content,
        )
    elif what < 0.9:
        del members[at]
    else:
        members[at] = (name, draw.choice(members)[1])
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", draw.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])) as made:
        for name, content in members:
            made.writestr(zipfile.ZipInfo(name or "x"), content)
    return out.getvalue()
