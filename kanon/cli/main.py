"""The command line: runs a command, and says how it ended."""

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

from kanon.base.data_files import read_data
from kanon.base.formatting import join_words
from kanon.base.progress import report_preparation
from kanon.cli.messages import build_preparation_progress, build_warning_handler, show_warning
from kanon.cli.signals import get_stop_status, has_received_signal, stop_signals
from kanon.errors import (
    TRACEBACK,
    KanonError,
    PlanWarning,
    PrivacyWarning,
    ReleaseError,
    Unsatisfiable,
    UtilityWarning,
    describe_safely,
    quote,
)

COMMANDS: Mapping[str, str] = read_data(__file__, "commands.toml")
"""What each command does, for ``--help``; the file of a command is imported when it is called."""

_MISTAKE, _BAD_INPUT, _UNSATISFIABLE, _READ_NO_FURTHER = 1, 2, 3, 141


def main(arguments: Sequence[str] | None = None) -> int:
    output, messages = Stream(sys.stdout, needed=True), Stream(sys.stderr, needed=False)
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(messages):
        written, hints = WrittenFiles(), list[str]()
        try:
            status, problem = _run_command(arguments, written)
            stop_signals()
            stopped = problem != "" and has_received_signal()
        except KeyboardInterrupt as stop:
            stop_signals()
            stopped, hints = True, getattr(stop, "__notes__", [])
        written_sentence = written.describe()
        if stopped:
            outcome = f"Interrupted; {written_sentence or 'nothing was written'}."
            print(" ".join([outcome, *hints]), file=sys.stderr)
            status = get_stop_status()
        elif problem and written.first:
            show_warning(f"{problem} {written_sentence}.")
            status = 0
        elif problem and status != _READ_NO_FURTHER:
            print(
                f"kanon: {problem} {written_sentence}."
                if written_sentence
                else f"kanon: {problem}",
                file=sys.stderr,
            )
        with contextlib.suppress(OutputError):  # else Python does it, and fails
            sys.stdout.flush()
        return status


def _run_command(arguments: Sequence[str] | None, written: WrittenFiles) -> tuple[int, str]:
    try:
        _parse_and_execute(arguments, written)
        sys.stdout.flush()
    except (ReleaseError, Unsatisfiable) as error:
        return _UNSATISFIABLE, error.sentence
    except OutputError as error:
        return (_READ_NO_FURTHER if error.unread else _BAD_INPUT), error.sentence
    except KanonError as error:
        return _BAD_INPUT, error.sentence
    except Exception as error:  # noqa: BLE001  reported without its text
        if os.environ.get(TRACEBACK):
            traceback.print_exc()
        return _MISTAKE, (  # the text could hold cells
            f"failed because of an error in kanon: {describe_safely(error)}. Please report this "
            f"line; {TRACEBACK}=1 prints more, which may contain values from the table."
        )
    return 0, ""


def _parse_and_execute(arguments: Sequence[str] | None, written: WrittenFiles) -> None:
    argv = sys.argv[1:] if arguments is None else arguments
    try:
        args = _build_parser(argv[0] if argv else None).parse_args(argv)
    except SystemExit:  # it was said what is wrong, or how it is meant
        sys.stdout.flush()
        stop_signals()
        raise
    args.outputs = written
    with warnings.catch_warnings(), report_preparation(build_preparation_progress()):
        warnings.simplefilter("always", PrivacyWarning)
        warnings.simplefilter("always", UtilityWarning)
        warnings.simplefilter("always", PlanWarning)
        warnings.showwarning = build_warning_handler()
        args.execute(args)


def _build_parser(called: str | None) -> argparse.ArgumentParser:
    """Build the parser, with the arguments of the called command alone: no other is imported."""
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
class WrittenFiles:
    """The files that a command is to write, and whether it has written them."""

    def __init__(self) -> None:
        self._places: dict[Path, _WrittenFile] = {}

    def watch(self, path: Path, look: Callable[[], Any], name: str = "") -> None:
        self._places[path] = _WrittenFile(quote(name or path, 200), look, look())

    @property
    def first(self) -> bool:
        return any(place.is_written for place in [*self._places.values()][:1])

    def describe(self) -> str:
        """What was written and what was not, to end a sentence; "" if nothing was."""
        names: dict[bool, list[str]] = {True: [], False: []}
        for place in self._places.values():
            names[place.is_written].append(place.name)
        if not names[True]:
            return ""
        return ", ".join(
            f"{join_words(names_of_state)} {'was' if len(names_of_state) == 1 else 'were'} {state}"
            for names_of_state, state in ((names[True], "written"), (names[False], "not"))
            if names_of_state
        )


@dataclass(frozen=True)
class _WrittenFile:
    name: str
    look: Callable[[], Any]
    before: Any

    @property
    def is_written(self) -> bool:
        try:
            return self.look() not in (None, self.before)
        except (KanonError, OSError):  # another program has it now, or its disk is gone
            return False


_UNSEEN_CHARACTERS = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls, except the end of a line and the tab
    r"\u202a-\u202e\u2066-\u2069"  # characters that turn the direction of the text
    r"\ud800-\udfff]"  # bytes of a file's name that are not text
)


class OutputError(KanonError):
    def __init__(self, error: OSError) -> None:
        reason = (error.strerror or "no reason given").lower()
        super().__init__(f"Standard output cannot be written to: {reason}.")
        self.unread = error.errno == errno.EPIPE  # the reader, such as ``head``, has ended


class Stream:
    """A text stream that shows control characters instead of obeying them.

    They are written as in JSON, so that printed JSON means the same. A carriage return that begins
    a text stays: it belongs to the progress bar.

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
        """Write a text; after a progress bar it begins a new line."""
        bar = text.startswith("\r")
        if text:
            begin = "\r" if bar else "\n" if self._in_bar and text != "\n" else ""
            self._in_bar = bar and len(text) > 1 and not text.endswith("\n")
            seen = _UNSEEN_CHARACTERS.sub(lambda sign: f"\\u{ord(sign[0]):04x}", text[bar:])
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
        """Discard the rest: Python flushes once more at its end, and would fail again."""
        with contextlib.suppress(OSError):  # a stream of another kind
            os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())
