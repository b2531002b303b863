"""What the command line prints, as it reaches a terminal: everything printed goes through here."""

import contextlib
import errno
import os
import re
from typing import Any

from kanon.errors import KanonError

_UNSEEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls, but for the end of a line and the tab
    r"\u202a-\u202e\u2066-\u2069"  # what turns the direction of the signs that follow
    r"\ud800-\udfff]"  # bytes of a file's name that are no text
)


class OutputError(KanonError):
    def __init__(self, error: OSError) -> None:
        reason = (error.strerror or "no reason given").lower()
        super().__init__(f"Standard output cannot be written to: {reason}.")
        self.unread = error.errno == errno.EPIPE
        """Whether what reads it, such as ``head``, has seen enough."""


class Stream:
    """A text stream whose reader sees control characters, and is not controlled by them.

    A cell or a name may hold signs that move a terminal's cursor, hide what was said or turn its
    direction. They are written as JSON writes them, so that printed JSON means the same. A carriage
    return that begins a text stays: it is the bar's.

    >>> import sys
    >>> print("a\\x1b[2Jb", file=Stream(sys.stdout, needed=True))
    a\\u001b[2Jb
    """

    def __init__(self, stream: Any, needed: bool) -> None:
        self._stream, self._needed = stream, needed
        self._in_bar = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write a text; what follows a bar begins a line of its own."""
        bar = text.startswith("\r")
        if text:
            begin = "\r" if bar else "\n" if self._in_bar and text != "\n" else ""
            self._in_bar = bar and len(text) > 1 and not text.endswith("\n")
            seen = _UNSEEN.sub(lambda sign: f"\\u{ord(sign[0]):04x}", text[bar:])
            self._try("write", begin + seen)
        return len(text)

    def flush(self) -> None:
        self._try("flush")

    def _try(self, method: str, *arguments: str) -> None:
        try:
            getattr(self._stream, method)(*arguments)
        except OSError as error:
            self._give_up()
            if self._needed:
                raise OutputError(error) from None

    def _give_up(self) -> None:
        """Have the rest go nowhere: Python flushes once more at its end, and would fail again."""
        with contextlib.suppress(OSError):  # a stream of another kind
            os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())
