"""What the part Step by step of the page Learn shows."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Beside:
    """The lesson beside the first one, on the same table and with the same k."""

    algorithm: str
    metric: str
    strategy: str


@dataclass(frozen=True)
class StepsView:
    """What is shown."""

    algorithm: str = "gaa"
    table: str = ""  # of kanon, `own`, or empty: where the algorithm is seen best
    records: int = 12  # of the session's table, 6 to 30
    seed: int | None = None  # draws these; None for the first ones
    metric: str = ""
    strategy: str = "s1"
    k: int | None = None  # None for what is usual on the table
    step: int = 0  # of two lessons, their place side by side
    playing: bool = False
    beside: Beside | None = None  # the other lesson on this table
