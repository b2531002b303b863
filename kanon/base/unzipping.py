"""Unpack a zip and count its bytes meanwhile, as the sizes that a zip states may be false.

>>> out = io.BytesIO()
>>> with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
...     archive.writestr("a.csv", "0" * 10_000)
>>> [(name, len(content)) for name, content in extract_members(out.getvalue(), 10_000, 5)]
[('a.csv', 10000)]
>>> list(extract_members(out.getvalue(), 9_999, 5))
Traceback (most recent call last):
kanon.base.unzipping.TooLarge
"""

import io
import zipfile
import zlib
from collections.abc import Callable, Iterator

_PIECE = 1 << 20
_ENTRY = b"PK\1\2"  # what each entry in the directory of a zip begins with
_UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    OSError,
    RuntimeError,  # zipfile's word for "encrypted"; NotImplementedError (unknown method) is one
    ValueError,
)


class TooLarge(Exception):
    """The members have more bytes than are allowed."""


class TooMany(Exception):
    """There are more members than are allowed; its argument is their number."""


class Unreadable(Exception):
    """It is damaged, encrypted, not a zip file, or compressed with something other than Deflate."""


def extract_members(
    data: bytes,
    most_bytes: int,
    most_members: int,
    is_wanted: Callable[[str], bool] = lambda name: True,
) -> Iterator[tuple[str, bytes]]:
    """Unpack the wanted members of a zip, never more than are allowed.

    A zip that states a larger size is refused before anything is unpacked; one that states a
    false size, as soon as it exceeds the limit. Only stored and deflated members are read: Python
    unpacks other methods all at once, so their bytes cannot be counted in time.
    """
    entries = data.count(_ENTRY)
    if entries > 10 * most_members + 10:  # zipfile would make an object of each
        raise TooMany(entries)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if len(archive.infolist()) > most_members:
                raise TooMany(len(archive.infolist()))
            members = [member for member in archive.infolist() if is_wanted(member.filename)]
            if sum(member.file_size for member in members) > most_bytes:
                raise TooLarge
            for member in members:
                content = _read_member(archive, member, most_bytes)
                most_bytes -= len(content)
                yield member.filename, content
    except _UNREADABLE:
        raise Unreadable from None


def _read_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, most: int) -> bytes:
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise Unreadable
    pieces: list[bytes] = []
    with archive.open(member) as stream:
        while piece := stream.read(_PIECE):
            most -= len(piece)
            if most < 0:
                raise TooLarge
            pieces.append(piece)
    return b"".join(pieces)
