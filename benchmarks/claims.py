"""What the sentences of a page say, asked of the figures that stand beside them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from benchmarks.case import CaseError

__all__ = ["check"]

Found = TypeVar("Found")


def check(claims: Mapping[str, Callable[[Found], bool]], found: Found) -> None:
    """Check every sentence of a page.

    Parameters
    ----------
    claims
        Per sentence, in short, whether figures bear it out.
    found
        The figures.

    Raises
    ------
    CaseError
        One does not hold; the message names it.

    >>> check({"all is even": lambda found: found % 2 == 0}, 2)
    >>> check({"all is even": lambda found: found % 2 == 0}, 3)
    Traceback (most recent call last):
    benchmarks.case.CaseError: The page would say that all is even, which these figures do not ...
    """
    for claim, holds in claims.items():
        if not holds(found):
            raise CaseError(
                f"The page would say that {claim}, which these figures do not bear out: "
                "change the sentence and its claim."
            )
