"""The sentences of a page as questions to its figures: a page with a false one is not written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from benchmarks.case import CaseError

__all__ = ["check_claims"]

Findings = TypeVar("Findings")


def check_claims(claims: Mapping[str, Callable[[Findings], bool]], found: Findings) -> None:
    """Check every sentence of a page.

    Parameters
    ----------
    claims
        Per sentence, in short, whether the figures bear it out.
    found
        What was measured.

    Raises
    ------
    CaseError
        One does not hold; the message names it.
    """
    for claim, holds in claims.items():
        if not holds(found):
            raise CaseError(
                f"The page would say that {claim}, which these figures do not bear out: "
                "change page.md and claims.py."
            )
