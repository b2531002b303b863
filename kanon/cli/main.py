"""The command line's beginning and end: which command is called, and with which status it ends."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import warnings
from collections.abc import Sequence

from kanon.base.preparation import preparation_told
from kanon.cli.commands import COMMANDS
from kanon.cli.messages import preparation_shown, warnings_shown
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
    """Run a command; returns the exit status.

    0 when it worked, 2 for a bad plan, table or hierarchy, 3 when the plan cannot be satisfied,
    the check of the release fails, or releases together do not meet their plans, 1 for a
    mistake of kanon's own, 130 when it was interrupted, and 141 when nobody reads its output.
    """
    try:
        given = sys.argv[1:] if arguments is None else arguments
        parsed = _parser(given[0] if given else None).parse_args(given)
        with warnings.catch_warnings(), preparation_told(preparation_shown()):
            warnings.simplefilter("always", PrivacyWarning)
            warnings.simplefilter("always", PlanWarning)
            warnings.showwarning = warnings_shown()
            parsed.execute(parsed)
            sys.stdout.flush()
    except (ReleaseError, Unsatisfiable) as error:
        return _fail(error, _UNSATISFIABLE)
    except KanonError as error:
        return _fail(error, _BAD_INPUT)
    except KeyboardInterrupt as stop:
        print(str(stop) or "Interrupted; nothing was written.", file=sys.stderr)
        return 130
    except BrokenPipeError:  # who read the output, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python flushes once more
        return _READ_NO_FURTHER
    except Exception as error:
        if os.environ.get(TRACEBACK):
            raise
        print(  # the text could hold cells
            f"kanon: failed by a mistake of its own: {withheld(error)}. Please report this line; "
            f"with {TRACEBACK}=1 there are more, which may hold values of the table.",
            file=sys.stderr,
        )
        return _MISTAKE
    return 0


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


def _fail(error: KanonError, status: int) -> int:
    print(f"kanon: {error.sentence}", file=sys.stderr)
    return status
