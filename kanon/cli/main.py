"""The command line's beginning and end: which command is called, and with which status it ends."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import sys
import traceback
import warnings
from collections.abc import Sequence

from kanon.base.preparation import preparation_told
from kanon.cli.commands import COMMANDS
from kanon.cli.messages import preparation_shown, show_warning, warnings_shown
from kanon.cli.signals import ignore_signals, status_when_stopped, was_stopped
from kanon.cli.streams import OutputError, Stream
from kanon.cli.written import Written
from kanon.errors import (
    TRACEBACK,
    KanonError,
    PlanWarning,
    PrivacyWarning,
    ReleaseError,
    Unsatisfiable,
    withheld,
)

_MISTAKE, _BAD_INPUT, _UNSATISFIABLE, _READ_NO_FURTHER = 1, 2, 3, 141


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit status."""
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
    """Run a command; returns the exit status if nothing was written, and what is to be said."""
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
