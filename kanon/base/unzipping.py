"""The members of a zip, counted while they are unpacked: what a zip says of itself may be a lie.

>>> out = io.BytesIO()
>>> with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
...     archive.writestr("a.csv", "0" * 10_000)
>>> [(name, len(content)) for name, content in unzipped(out.getvalue(), 10_000, 5)]
[('a.csv', 10000)]
>>> list(unzipped(out.getvalue(), 9_999, 5))
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
    """There are more members than are allowed; how many is its argument."""


class Unreadable(Exception):
    """It is damaged, locked, no zip, or packed in another way than Deflate."""


def unzipped(
    data: bytes,
    most_bytes: int,
    most_members: int,
    wanted: Callable[[str], bool] = lambda name: True,
) -> Iterator[tuple[str, bytes]]:
    """The wanted members of a zip with their contents, never more than are allowed.

    A zip that says that it has more is refused before anything is unpacked; one that says that it
    has less, as soon as that turns out to be false. Only members that are stored or deflated are
    read: of the other methods Python unpacks all at once what cannot be counted before.
    """
    entries = data.count(_ENTRY)
    if entries > 10 * most_members + 10:  # zipfile would make an object of each
        raise TooMany(entries)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if len(archive.infolist()) > most_members:
                raise TooMany(len(archive.infolist()))
            members = [member for member in archive.infolist() if wanted(member.filename)]
            if sum(member.file_size for member in members) > most_bytes:
                raise TooLarge
            for member in members:
                content = _content(archive, member, most_bytes)
                most_bytes -= len(content)
                yield member.filename, content
    except _UNREADABLE:
        raise Unreadable from None


def _content(archive: zipfile.ZipFile, member: zipfile.ZipInfo, most: int) -> bytes:
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
