"""What the page Metrics shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class MatrixView:
    """How the cost matrices of a column are shown.

    Attributes
    ----------
    mode
        One metric, two side by side, or their difference.
    first, second
        The metrics; without a first, it is the one that guides.
    share
        Whether costs are shown as a share of what losing a value completely costs.
    focus
        The group whose values are shown; the root if there is none of that name.
    cell
        The values whose cell is looked at: from, to.
    """

    mode: Literal["one", "two", "difference"] = "one"
    first: str = ""
    second: str = "total"
    share: bool = False
    focus: str = ""
    cell: tuple[str, str] = ("", "")
