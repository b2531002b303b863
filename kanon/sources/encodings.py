"""The encoding of a text file: given, told by its mark, or guessed.

>>> decode("José".encode("utf-16"), "t.csv")[1:]
('utf-16', False)
"""

from __future__ import annotations

import codecs
import re
from itertools import islice

from kanon.errors import TableError, quoted
from kanon.sources.names import ENDINGS
from kanon.sources.sentences import empty

_MARKS = (  # UTF-32 before UTF-16: its mark begins with the other's
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)

# Tried when a file is neither marked nor valid UTF-8. Without this list the guess falls on
# encodings that hardly anybody uses, because short tables offer little text to judge by.
_LIKELY = [
    *("cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "koi8_r", "mac_roman"),
    *("shift_jis", "gb18030", "big5", "euc_kr"),
]


def decode(data: bytes, name: str, encoding: str | None = None) -> tuple[bytes, str, bool]:
    """The content of a text file as UTF-8 without a byte order mark.

    Parameters
    ----------
    data
        The content as stored.
    encoding
        Its encoding; None if it is to be found.

    Returns
    -------
    content : bytes
        The content as UTF-8.
    encoding : str
        The encoding it was stored in.
    guessed : bool
        Whether that is only a guess.

    Raises
    ------
    TableError
        If the encoding is not known or does not fit, or the file is empty or holds no text.

    >>> decode("Zoë;Gaël".encode("latin-1"), "t.csv")[1:]
    ('cp1252', True)
    """
    guessed = False
    encoding = _marked(data) if encoding is None else _known(encoding)
    if encoding is not None:
        text = _strictly(data, name, encoding)
    else:
        try:
            text, encoding = data.decode(), "utf-8"
        except UnicodeDecodeError:
            text, encoding = _guess(data, name)
            guessed = True
    if "\0" in text:
        raise _not_text(name)
    text = text.removeprefix("\ufeff")
    if not text.strip():
        raise empty(name)
    try:
        return text.encode(), encoding, guessed
    except UnicodeEncodeError:  # half of a pair, which some encodings let through
        raise _undecodable(name, encoding) from None


def _marked(data: bytes) -> str | None:
    return next((encoding for mark, encoding in _MARKS if data.startswith(mark)), None)


def _known(encoding: str) -> str:
    try:
        found = codecs.lookup(encoding).name
        "".encode(found)  # some codecs are not of text
    except (LookupError, ValueError):
        raise TableError(
            f"Encoding {quoted(encoding)} is not known: allowed are names such as utf-8, utf-16,"
            " latin-1 or cp1252."
        ) from None
    return "utf-8" if found == "utf-8-sig" else found


def _strictly(data: bytes, name: str, encoding: str) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise _undecodable(name, encoding, data.count(b"\n", 0, error.start) + 1) from None
    except (ValueError, LookupError):
        raise _undecodable(name, encoding) from None


def _guess(data: bytes, name: str) -> tuple[str, str]:
    """The text of a file without a mark, and the likeliest encoding."""
    if re.search(rb"[\x00-\x08\x0e-\x1f]", data):
        raise _not_text(name)
    from charset_normalizer import from_bytes

    # Only lines with letters outside ASCII tell encodings apart, and some are enough.
    telling = islice(re.finditer(rb"[^\n]*[\x80-\xff][^\n]*", data), 500)
    sample = b"\n".join(match.group()[:2000] for match in telling)
    plausible = {
        encoding: match.chaos
        for match in from_bytes(sample, cp_isolation=_LIKELY)
        for encoding in match.could_be_from_charset
    }
    # Names are too short to tell Western from Central European letters: the more usual goes first.
    for encoding in sorted(plausible, key=lambda e: (plausible[e], _LIKELY.index(e))):
        try:
            return data.decode(encoding), encoding
        except UnicodeDecodeError:
            continue
    raise TableError(
        f"The encoding of {quoted(name)} cannot be found: give it, for example latin-1 or cp1252."
    )


def _undecodable(name: str, encoding: str, line: int | None = None) -> TableError:
    where = f"Line {line} of {quoted(name)}" if line else quoted(name)
    return TableError(
        f"{where} cannot be read in the encoding {encoding.upper()}: give another one, or none to"
        " have it found."
    )


def _not_text(name: str) -> TableError:
    return TableError(
        f"{quoted(name)} holds binary data, not text: if it is another kind of table, its name"
        f" must end so (allowed are {', '.join(ENDINGS)})."
    )
