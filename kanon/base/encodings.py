"""The encoding of a text: read from its byte order mark, or guessed."""

import codecs
import re
from itertools import islice

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


def find_marked_encoding(data: bytes) -> str | None:
    """Find the encoding that the mark at the start of a text names."""
    return next((encoding for mark, encoding in _MARKS if data.startswith(mark)), None)


def is_binary(data: bytes) -> bool:
    """Whether bytes without a mark cannot be text in any encoding."""
    return re.search(rb"[\x00-\x08\x0e-\x1f]", data) is not None


def decode_guessed_text(data: bytes) -> tuple[str, str] | None:
    """The text of a file without a mark, and the likeliest encoding; None if none fits.

    >>> decode_guessed_text("Zoë;Gaël".encode("latin-1"))
    ('Zoë;Gaël', 'cp1252')
    """
    from charset_normalizer import from_bytes

    # Only lines with letters outside ASCII tell encodings apart, and 500 are enough.
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
    return None
