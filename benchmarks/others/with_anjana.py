"""Run ANJANA; imported by a Python that has it, not by kanon's."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

__all__ = ["anonymised"]


def anonymised(
    path: str, separator: str, trees: Mapping[str, str], k: int, percent: float, out: str,
    calls: int,
) -> dict[str, Any]:  # fmt: skip
    """Make a table k-anonymous.

    Parameters
    ----------
    path, separator
        The table.
    trees
        Per quasi-identifier its hierarchy: a file with a line per value and a cell per level.
    k, percent
        The k, and how many records may be suppressed.
    out
        Where the release goes; its column ``record`` is the place of a row in the table.
    calls
        How often to do it.

    Returns
    -------
    dict
        The processor's seconds of every call, from the table and the hierarchies in memory to the
        release in memory, and of the process so far; and the version.
    """
    import pandas as pd
    from anjana.anonymity import k_anonymity

    table = pd.read_csv(path, sep=separator, dtype=str)
    read = {
        column: dict(pd.read_csv(file, sep=separator, header=None, dtype=str))
        for column, file in trees.items()
    }
    seconds = []
    for _ in range(calls):
        # It changes what it is given.
        given = table.copy()
        known = {column: {**levels} for column, levels in read.items()}
        started = time.process_time()
        with contextlib.redirect_stdout(sys.stderr):
            released = k_anonymity(given, [], [*trees], k, percent, known)
        seconds.append(time.process_time() - started)
    if "index" in released.columns:  # it suppressed some
        released = released.rename(columns={"index": "record"})
    else:
        released = released.assign(record=range(len(released)))
    released.to_csv(out, index=False)
    return {
        "seconds": seconds, "worked": time.process_time(), "version": version("anjana"),
    }  # fmt: skip
