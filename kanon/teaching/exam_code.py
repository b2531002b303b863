"""The teacher's code of an exam: its file holds a salted hash, which only the code opens."""

import hashlib
import hmac
import re
import secrets
from unicodedata import normalize

from kanon.base.formatting import write_count
from kanon.errors import ExerciseError

SHORTEST, _LONGEST = 8, 100  # characters of a code

EXAM_LIMITS = (
    "The code guards the marks and solutions of this file. It cannot stop a student who "
    "types the same table into another kanon, whose pages compute the answers, or who guesses a "
    "short code. Someone has to watch the screens."
)
"""What a code cannot prevent: on the page, and in docs/how-to/exercises.md."""


def hash_code(code: str, salt: bytes | None = None) -> str:
    """The salt and the scrypt hash of a code, each in hexadecimal digits, for an exercise file.

    >>> hash_code("eight letters", salt=bytes(16))[:45]
    '00000000000000000000000000000000:cfa05c648cde'
    """
    text = normalize("NFC", code).strip()
    if not SHORTEST <= len(text) <= _LONGEST:
        raise ExerciseError(
            f"The code has {write_count(len(text))} characters; it must have {SHORTEST} to "
            f"{_LONGEST}. Several words are hard to guess."
        )
    salt = salt or secrets.token_bytes(16)
    content = text.encode("utf-8", "surrogatepass")
    digest = hashlib.scrypt(content, salt=salt, n=2**14, r=8, p=1, dklen=32)
    return f"{salt.hex()}:{digest.hex()}"


def check_hash(stored: str) -> str:
    """The hash of a code as a file holds it, or a ``ValueError``."""
    if stored and not re.fullmatch("[0-9a-f]{32}:[0-9a-f]{64}", stored):
        raise ValueError("it has to be the salt and hash of a code, which the editor writes")
    return stored


def check_code(code: str, stored: str) -> None:
    """An ``ExerciseError`` unless ``stored`` is a hash of the code."""
    salt = bytes.fromhex(stored.partition(":")[0])
    try:
        is_right = hmac.compare_digest(hash_code(code, salt), stored)
    except ExerciseError:
        is_right = False  # too short or too long for any exam
    if not is_right:
        raise ExerciseError("This is not the code of the exam. Ask whoever made it.")
