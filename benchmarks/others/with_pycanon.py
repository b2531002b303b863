"""Run pyCANON; imported by a Python that has it, not by kanon's."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

__all__ = ["levels", "measured"]


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


def levels(jobs: Sequence[Sequence[Any]]) -> list[dict[str, Any]]:
    """Every measure that kanon has too, under kanon's names; a text where it has no number.

    A job is the file of a table, that of its release without the suppressed records, the
    quasi-identifiers, the sensitive column, and whether this has numbers.
    """
    return [_measure(*job) for job in jobs]


def _measure(
    table: str, release: str, q: Sequence[str], sensitive: str, is_number: bool
) -> dict[str, Any]:
    import pandas as pd
    from pycanon import anonymity, metrics

    before, after = (
        pd.read_csv(file, dtype=str, keep_default_na=False) for file in (table, release)
    )
    if is_number:
        after[sensitive] = after[sensitive].astype(int)
    s = [sensitive]
    levels = {
        "min_k": anonymity.k_anonymity(after, q),
        "classes": metrics.sizes_ec(after, q)["n_ec"],
        "distinct_l": anonymity.l_diversity(after, q, s),
        "entropy_l": anonymity.entropy_l_diversity(after, q, s),
        "recursive_c": anonymity.recursive_c_l_diversity(after, q, s)[0],
        "alpha": anonymity.alpha_k_anonymity(after, q, s)[0],
        "t": anonymity.t_closeness(after, q, s),
        "basic_beta": anonymity.basic_beta_likeness(after, q, s),
        "enhanced_beta": anonymity.enhanced_beta_likeness(after, q, s),
        "delta_present": anonymity.delta_disclosure(after, q, s),
        "highest_risk": metrics.max_rir(after, q),
        "mean_risk": metrics.average_rir(after, q),
        "discernibility": metrics.discernability_metric(before, after, q),
        "c_avg": metrics.average_ecsize(before, after, q),
        "classification_metric": metrics.classification_metric(before, after, q, s),
    }
    return {name: float(level) if level == level else "nan" for name, level in levels.items()}
