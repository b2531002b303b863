"""The command line: which command is called, how it ends, and what it prints on its way."""

from __future__ import annotations

import argparse
import contextlib
import errno
import importlib
import os
import re
import sys
import traceback
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kanon.base.formatting import joined
from kanon.base.progress import preparation_told
from kanon.cli.messages import preparation_shown, show_warning, warnings_shown
from kanon.cli.signals import ignore_signals, status_when_stopped, was_stopped
from kanon.errors import (
    TRACEBACK,
    KanonError,
    PlanWarning,
    PrivacyWarning,
    ReleaseError,
    Unsatisfiable,
    quoted,
    withheld,
)

COMMANDS: Mapping[str, str] = {
    "app": "serve the dashboard on this machine",
    "run": "anonymise a table as a plan says",
    "sweep": "what every k costs under several metrics",
    "advise": "which metric and strategy suit a table",
    "reverse": "the greatest k that goes with the other models of a plan",
    "simulate": "rank the strategies on simulated sensitive columns",
    "report": "write the report of a release, for the file",
    "decide": "whether a release has what is asked of it by what it is for",
    "measure": "measure a table as it is",
    "quasi-identifiers": "the smallest sets of columns that single records out",
    "check": "see what is new in a table for a plan",
    "combine": "what somebody learns who holds the releases of several plans",
    "exercises": "mark answers to an exercise set",
    "hierarchy": "look at hierarchy files",
}
"""What each command does, in half a sentence: all that ``--help`` reads. The file of
``quasi-identifiers`` is ``quasi_identifiers.py``; it is imported when the command is called."""

_MISTAKE, _BAD_INPUT, _UNSATISFIABLE, _READ_NO_FURTHER = 1, 2, 3, 141


def main(arguments: Sequence[str] | None = None) -> int:
    output, messages = Stream(sys.stdout, needed=True), Stream(sys.stderr, needed=False)
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(messages):
        written, hints = Written(), list[str]()
        try:
            status, problem = _attempt(arguments, written)
            ignore_signals()
            stopped = problem != "" and was_stopped()
        except KeyboardInterrupt as stop:
            ignore_signals()
            stopped, hints = True, getattr(stop, "__notes__", [])
        said = written.said()
        if stopped:
            done = f"Interrupted; {said or 'nothing was written'}."
            print(" ".join([done, *hints]), file=sys.stderr)
            status = status_when_stopped()
        elif problem and written.first:
            show_warning(f"{problem} {said}.")
            status = 0
        elif problem and status != _READ_NO_FURTHER:
            print(f"kanon: {problem} {said}." if said else f"kanon: {problem}", file=sys.stderr)
        with contextlib.suppress(OutputError):  # else Python does it, and fails
            sys.stdout.flush()
        return status


def _attempt(arguments: Sequence[str] | None, written: Written) -> tuple[int, str]:
    try:
        _execute(arguments, written)
        sys.stdout.flush()
    except (ReleaseError, Unsatisfiable) as error:
        return _UNSATISFIABLE, error.sentence
    except OutputError as error:
        return (_READ_NO_FURTHER if error.unread else _BAD_INPUT), error.sentence
    except KanonError as error:
        return _BAD_INPUT, error.sentence
    except Exception as error:  # noqa: BLE001  told of without its text
        if os.environ.get(TRACEBACK):
            traceback.print_exc()
        return _MISTAKE, (  # the text could hold cells
            f"failed by a mistake of its own: {withheld(error)}. Please report this line; "
            f"with {TRACEBACK}=1 there are more, which may hold values of the table."
        )
    return 0, ""


def _execute(arguments: Sequence[str] | None, written: Written) -> None:
    given = sys.argv[1:] if arguments is None else arguments
    try:
        parsed = _parser(given[0] if given else None).parse_args(given)
    except SystemExit:  # it was said what is wrong, or how it is meant
        sys.stdout.flush()
        ignore_signals()
        raise
    parsed.written = written
    with warnings.catch_warnings(), preparation_told(preparation_shown()):
        warnings.simplefilter("always", PrivacyWarning)
        warnings.simplefilter("always", PlanWarning)
        warnings.showwarning = warnings_shown()
        parsed.execute(parsed)


def _parser(called: str | None) -> argparse.ArgumentParser:
    """The parser, with the arguments of the command that is called: no other one is imported."""
    parser = argparse.ArgumentParser(
        prog="kanon", description="See what k-anonymity costs and what it buys."
    )
    subparsers = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, does in COMMANDS.items():
        command = subparsers.add_parser(name, help=does)
        if name == called:
            module = importlib.import_module(f"kanon.cli.{name.replace('-', '_')}")
            module.add_arguments(command)
            command.set_defaults(execute=module.execute)
    return parser


# --- what was written of the files that a command writes ---------------------------------------
class Written:
    """The files that a command is to write, and which of them it has written."""

    def __init__(self) -> None:
        self._places: dict[Path, _Place] = {}

    def watch(self, path: Path, look: Callable[[], Any], name: str = "") -> None:
        self._places[path] = _Place(quoted(name or path, 200), look, look())

    @property
    def first(self) -> bool:
        return any(place.written for place in [*self._places.values()][:1])

    def said(self) -> str:
        """What was written and what was not, to end a sentence; empty if nothing was.

        >>> Written().said()
        ''
        """
        names: dict[bool, list[str]] = {True: [], False: []}
        for place in self._places.values():
            names[place.written].append(place.name)
        if not names[True]:
            return ""
        return ", ".join(
            f"{joined(some)} {'was' if len(some) == 1 else 'were'} {done}"
            for some, done in ((names[True], "written"), (names[False], "not"))
            if some
        )


@dataclass(frozen=True)
class _Place:
    name: str
    look: Callable[[], Any]
    before: Any

    @property
    def written(self) -> bool:
        try:
            return self.look() not in (None, self.before)
        except (KanonError, OSError):  # somebody else has it now, or its disk is gone
            return False


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
