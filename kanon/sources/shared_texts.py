"""The texts of an XLSX, each of which stands there once and may be meant by many cells.

A reader of sheets makes a copy for every cell, so that a long text and very many cells that mean
it would take all memory, however little the file unpacks to.
"""

import re
import zipfile
from collections import Counter
from collections.abc import Sequence
from xml.parsers import expat

from kanon.base.unzipping import Unreadable

_TEXTS = "xl/sharedstrings.xml"  # the reader looks for this name, in small letters or large ones
_SHARED = re.compile(rb"""[\s"']t\s*=\s*["']s["']""")
_PLAIN = re.compile(
    _SHARED.pattern
    + rb"""(?:\s{1,9}[\w:]{1,32}=["'][^"'<>]{0,64}["']){0,9}\s{0,9}>"""
    + rb"""\s{0,99}<(?:\w{1,32}:)?v>([0-9]{1,9})</(?:\w{1,32}:)?v>\s{0,99}</(?:\w{1,32}:)?c>"""
)


def copied_size(book: zipfile.ZipFile, most: int) -> int:
    """How many bytes the shared texts have once each cell of a sheet has its own copy."""
    texts = b"".join(book.read(name) for name in book.namelist() if name.lower() == _TEXTS)
    sizes: Sequence[int] = ()
    found = 0
    for name in book.namelist() if texts else ():
        content = book.read(name)
        cells = sum(1 for _ in _SHARED.finditer(content))
        if cells * len(texts) > most:
            sizes = sizes or text_sizes(texts)
            if cells * max(sizes, default=0) > most:
                found = max(found, _copied(content, cells, sizes))
    return found


def _copied(content: bytes, cells: int, sizes: Sequence[int]) -> int:
    plain = Counter(int(cell[1]) for cell in _PLAIN.finditer(content))
    known = {text: times for text, times in plain.items() if text < len(sizes)}
    copied = sum(times * sizes[text] for text, times in known.items())
    return copied + (cells - sum(known.values())) * max(sizes)


def text_sizes(content: bytes) -> list[int]:
    """How many bytes each shared text has.

    >>> text_sizes(b"<sst><si><t>abc</t></si><si/><si><r><t>d</t></r><r><t>e</t></r></si></sst>")
    [3, 0, 2]
    """
    sizes: list[int] = []
    inside = False

    def begun(name: str, _: object) -> None:
        nonlocal inside
        if _is_text(name):
            if inside:
                raise Unreadable
            inside = True
            sizes.append(0)

    def ended(name: str) -> None:
        nonlocal inside
        inside = inside and not _is_text(name)

    def said(text: str) -> None:
        if inside:
            sizes[-1] += len(text)

    def declared(*_: object) -> None:
        raise Unreadable

    parser = expat.ParserCreate("iso-8859-1")  # so that a sign is a byte, whatever the encoding
    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler = begun, ended
    parser.CharacterDataHandler, parser.StartDoctypeDeclHandler = said, declared
    try:
        parser.Parse(content.removeprefix(b"\xef\xbb\xbf"), True)
    except expat.ExpatError:
        raise Unreadable from None
    return sizes


def _is_text(name: str) -> bool:
    return name.rpartition(":")[2] == "si"
