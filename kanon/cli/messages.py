"""What commands show on standard error besides errors: a progress bar, notices and warnings."""

import argparse
import sys
from collections.abc import Callable

from kanon.base.progress import Progress, ignore_progress
from kanon.errors import PlanWarning


def choose_progress(args: argparse.Namespace) -> Progress:
    """The progress bar with ``--progress``, else nothing."""
    return _draw_bar if args.progress else ignore_progress


def _draw_bar(fraction: float, text: str) -> None:
    filled = round(30 * fraction)
    end = "\n" if fraction >= 1 else ""
    print(f"\r{'█' * filled:<30} {fraction:4.0%} {text:<50}", end=end, file=sys.stderr, flush=True)


def build_preparation_progress() -> Progress:
    shown_texts: set[str] = set()

    def show_stage(fraction: float, text: str) -> None:
        if sys.stderr.isatty():
            _draw_bar(min(fraction, 0.99), text)
            if fraction >= 1:
                print("\r" + 90 * " ", end="", file=sys.stderr)
                print("\r", end="", file=sys.stderr, flush=True)
        elif text not in shown_texts:
            shown_texts.add(text)
            print(f"kanon: {text}", file=sys.stderr, flush=True)

    return show_stage


def show_warning(message: Warning | str, *_: object) -> None:
    print(f"kanon: warning: {message}", file=sys.stderr)


def build_notifier(args: argparse.Namespace) -> Callable[[str], None]:
    """A function that shows each notice of how a table was read once; none with ``--quiet``."""
    shown_notices: set[str] = set()

    def show_note(notice: str) -> None:
        if notice not in shown_notices and not args.quiet:
            shown_notices.add(notice)
            print(f"kanon: note: {notice}", file=sys.stderr)

    return show_note


def build_warning_handler() -> Callable[..., None]:
    """A function that shows warnings; the one about old plans only once."""
    about_plans: set[str] = set()  # the filter "once" starts again whenever filters are set

    def show_once(message: Warning | str, *_: object) -> None:
        if isinstance(message, PlanWarning) and str(message) in about_plans:
            return
        if isinstance(message, PlanWarning):
            about_plans.add(str(message))
        show_warning(message)

    return show_once
