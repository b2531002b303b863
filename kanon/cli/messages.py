"""What commands show on standard error beside errors: a bar, and warnings."""

import argparse
import sys
from collections.abc import Callable

from kanon.base.progress import Progress, no_progress
from kanon.errors import PlanWarning


def progress_shown(given: argparse.Namespace) -> Progress:
    """The bar if one is asked for, or nothing."""
    return _bar if given.progress else no_progress


def _bar(fraction: float, text: str) -> None:
    filled = round(30 * fraction)
    end = "\n" if fraction >= 1 else ""
    print(f"\r{'█' * filled:<30} {fraction:4.0%} {text:<50}", end=end, file=sys.stderr, flush=True)


def preparation_shown() -> Progress:
    told: set[str] = set()

    def show(fraction: float, text: str) -> None:
        if sys.stderr.isatty():
            _bar(min(fraction, 0.99), text)
            if fraction >= 1:
                print("\r" + 90 * " ", end="", file=sys.stderr)
                print("\r", end="", file=sys.stderr, flush=True)
        elif text not in told:
            told.add(text)
            print(f"kanon: {text}", file=sys.stderr, flush=True)

    return show


def show_warning(message: Warning | str, *_: object) -> None:
    print(f"kanon: warning: {message}", file=sys.stderr)


def notify(given: argparse.Namespace) -> Callable[[str], None]:
    """What shows notices of how a table was read, each once; nothing with ``--quiet``."""
    shown: set[str] = set()

    def show(notice: str) -> None:
        if notice not in shown and not given.quiet:
            shown.add(notice)
            print(f"kanon: note: {notice}", file=sys.stderr)

    return show


def warnings_shown() -> Callable[..., None]:
    """What shows warnings; that of old plans once, of however many plans."""
    about_plans: set[str] = set()  # the filter "once" begins anew where somebody sets filters

    def show(message: Warning | str, *_: object) -> None:
        if isinstance(message, PlanWarning) and str(message) in about_plans:
            return
        if isinstance(message, PlanWarning):
            about_plans.add(str(message))
        show_warning(message)

    return show
