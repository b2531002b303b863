"""What the independent check of a release found, before it is offered for download."""

from __future__ import annotations

from typing import NamedTuple

from kanon.base.language import say
from kanon.errors import ReleaseError
from kanon.release.check import require
from kanon.run import Run
from kanon.studio.session import state
from kanon.studio.session.findings import Result


class CheckedRelease(NamedTuple):
    """What is said of a release that may be had, or why it may not.

    Attributes
    ----------
    said
        What was found, or "".
    problem
        Why the release is not offered, or None.
    """

    said: str
    problem: str | None


def checked(result: Result, done: Run, k: int) -> CheckedRelease:
    """Check the release that is shown, once."""
    return state.remembered("checked", (result, k), lambda: _checked(done))


def _checked(done: Run) -> CheckedRelease:
    try:
        require(done.verdicts)
    except ReleaseError as error:
        return CheckedRelease("", error.sentence)
    found = say(
        "Checked again from the released rows alone, by a few lines that share nothing with the "
        "algorithms: {found}.",
        found="; ".join(verdict.sentence for verdict in done.verdicts),
    )
    return CheckedRelease(found, None)
