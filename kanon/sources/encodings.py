"""The encoding of a text file: given, told by its mark, or guessed."""

import codecs

from kanon.base.encodings import find_marked_encoding, guess_text, is_binary
from kanon.errors import TableError, quoted


def empty(name: str) -> TableError:
    """The error for a file that holds nothing.

    >>> print(empty("people.csv"))
    'people.csv' is empty: a header and at least one record are needed.
    """
    return TableError(f"{quoted(name)} is empty: a header and at least one record are needed.")


def decode(data: bytes, name: str, encoding: str | None = None) -> tuple[bytes, str, bool]:
    """The content of a text file as UTF-8 without a byte order mark.

    >>> decode("Zoë;Gaël".encode("latin-1"), "t.csv")[1:]
    ('cp1252', True)
    """
    guessed = False
    encoding = find_marked_encoding(data) if encoding is None else _known(encoding)
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
    if is_binary(data):
        raise _not_text(name)
    guess = guess_text(data)
    if guess is None:
        raise TableError(
            f"The encoding of {quoted(name)} cannot be found: give it, for example latin-1 or "
            "cp1252."
        )
    return guess


def _undecodable(name: str, encoding: str, line: int | None = None) -> TableError:
    where = f"Line {line} of {quoted(name)}" if line else quoted(name)
    return TableError(
        f"{where} cannot be read in the encoding {encoding.upper()}: give another one, or none to"
        " have it found."
    )


def _not_text(name: str) -> TableError:
    return TableError(
        f"{quoted(name)} holds binary data, not text: if it is another kind of table, its name"
        " must end so, such as .parquet or .xlsx."
    )
