"""What the Metrics page shows."""

from dataclasses import dataclass
from typing import Literal

from kanon.studio.session.parts import StateSection


@dataclass(frozen=True)
class MatrixView(StateSection):
    mode: Literal["one", "two", "difference"] = "one"
    first: str = ""  # empty for the metric that guides
    second: str = "total"
    share: bool = False  # whether costs are shares of the cost of losing a value completely
    focus: str = ""  # the group whose values are shown; else the root
    cell: tuple[str, str] = ("", "")  # the values of the chosen cell: from, to
