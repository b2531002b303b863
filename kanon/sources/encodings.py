"""The encoding of a text file: given, read from its byte order mark, or guessed."""

import codecs

from kanon.base.encodings import decode_guessed_text, find_marked_encoding, is_binary
from kanon.errors import TableError, quote


def get_empty_file_error(name: str) -> TableError:
    return TableError(f"{quote(name)} is empty: it needs a header and at least one record.")


def decode(data: bytes, name: str, encoding: str | None = None) -> tuple[bytes, str, bool]:
    """The content of a text file as UTF-8 without a byte order mark."""
    guessed = False
    encoding = find_marked_encoding(data) if encoding is None else _normalise_encoding(encoding)
    if encoding is not None:
        text = _decode_strictly(data, name, encoding)
    else:
        try:
            text, encoding = data.decode(), "utf-8"
        except UnicodeDecodeError:
            text, encoding = _guess_encoding(data, name)
            guessed = True
    if "\0" in text:
        raise _build_binary_error(name)
    text = text.removeprefix("\ufeff")
    if not text.strip():
        raise get_empty_file_error(name)
    try:
        return text.encode(), encoding, guessed
    except UnicodeEncodeError:  # half of a pair, which some encodings let through
        raise _build_decoding_error(name, encoding) from None


def _normalise_encoding(encoding: str) -> str:
    try:
        name = codecs.lookup(encoding).name
        "".encode(name)  # some codecs are not of text
    except (LookupError, ValueError):
        raise TableError(
            f"Encoding {quote(encoding)} is unknown: choose one such as utf-8, utf-16, latin-1 "
            "or cp1252."
        ) from None
    return "utf-8" if name == "utf-8-sig" else name


def _decode_strictly(data: bytes, name: str, encoding: str) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise _build_decoding_error(name, encoding, data.count(b"\n", 0, error.start) + 1) from None
    except (ValueError, LookupError):
        raise _build_decoding_error(name, encoding) from None


def _guess_encoding(data: bytes, name: str) -> tuple[str, str]:
    if is_binary(data):
        raise _build_binary_error(name)
    guess = decode_guessed_text(data)
    if guess is None:
        raise TableError(
            f"The encoding of {quote(name)} cannot be detected: choose one, such as latin-1 or "
            "cp1252."
        )
    return guess


def _build_decoding_error(name: str, encoding: str, line: int | None = None) -> TableError:
    where = f"Line {line} of {quote(name)}" if line else quote(name)
    return TableError(
        f"{where} cannot be read in the encoding {encoding.upper()}: choose another one, or "
        "none to have it detected."
    )


def _build_binary_error(name: str) -> TableError:
    return TableError(
        f"{quote(name)} holds binary data, not text. If it is another kind of table, its name "
        "has to end accordingly, for example in .parquet or .xlsx."
    )
