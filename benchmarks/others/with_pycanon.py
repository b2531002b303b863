"""Run pyCANON; imported by a Python that has it, not by kanon's."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

__all__ = ["measured"]


def measured(
    path: str, separator: str, columns: Sequence[str], sensitive: str, calls: int
) -> dict[str, Any]:
    """Measure k, distinct l and t of a table.

    Parameters
    ----------
    path, separator
        The table.
    columns, sensitive
        Its quasi-identifiers and its sensitive column.
    calls
        How often to do it.

    Returns
    -------
    dict
        The three; the processor's seconds of every call with the table in memory, and of the
        process so far; and the version.
    """
    import pandas as pd
    from pycanon import anonymity

    table = pd.read_csv(path, sep=separator, dtype=str)
    seconds = []
    for _ in range(calls):
        started = time.process_time()
        with contextlib.redirect_stdout(sys.stderr):
            k = anonymity.k_anonymity(table, [*columns])
            distinct = anonymity.l_diversity(table, [*columns], [sensitive])
            t = anonymity.t_closeness(table, [*columns], [sensitive])
        seconds.append(time.process_time() - started)
    return {
        "k": int(k), "l": int(distinct), "t": float(t),
        "seconds": seconds, "worked": time.process_time(), "version": version("pycanon"),
    }  # fmt: skip
