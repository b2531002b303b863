"""What the part Step by step of the page Learn shows."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Beside:
    """The lesson beside the first one, on the same table and with the same k.

    Attributes
    ----------
    algorithm, metric, strategy
        As those of :class:`StepsView`.
    """

    algorithm: str
    metric: str
    strategy: str


@dataclass(frozen=True)
class StepsView:
    """What is shown.

    Attributes
    ----------
    algorithm
        Its name.
    table
        The name of a table that comes with kanon, ``own`` for that of the session, empty for the
        one on which the algorithm is seen best.
    records, seed
        How many records of the session's table, 6 to 30, and what draws them at random; None for
        the first ones.
    metric, strategy, k
        What guides; an empty metric, and None for k, for what is usual on the table.
    step
        The position of the step that is shown; of two lessons, their place side by side.
    playing
        Whether the steps follow each other by themselves.
    beside
        The lesson that stands beside this one; None for no other.
    """

    algorithm: str = "gaa"
    table: str = ""
    records: int = 12
    seed: int | None = None
    metric: str = ""
    strategy: str = "s1"
    k: int | None = None
    step: int = 0
    playing: bool = False
    beside: Beside | None = None
