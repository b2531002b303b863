"""Run AnonyPyx; imported by a Python that has it, not by kanon's."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

__all__ = ["group", "levels"]


def levels(jobs: Sequence[Sequence[Any]]) -> list[dict[str, float]]:
    """The discernibility of releases; a job is as pyCANON's."""
    import pandas as pd
    from anonypyx import metrics

    found = []
    for _, release, columns, *_ in jobs:
        table = pd.read_csv(release, dtype=str, keep_default_na=False)[columns].astype("category")
        table["ID"] = range(len(table))
        prepared = metrics.PreparedUtilityDataFrame.from_raw_data(table, columns)
        found.append({"discernibility": float(metrics.discernibility_penalty(prepared))})
    return found


def group(
    path: str, numbers: Sequence[str], categories: Sequence[str], algorithm: str, ks: Sequence[int]
) -> list[dict[str, Any]]:
    """Group the records of a file by its Mondrian or MDAV: groups and seconds for each k."""
    import pandas as pd
    from anonypyx import microaggregation, models, mondrian

    table = pd.read_csv(path, dtype=str)
    table = table.astype({**dict.fromkeys(numbers, float), **dict.fromkeys(categories, "category")})
    columns, found = [*numbers, *categories], []
    for k in ks:
        started = time.process_time()
        if algorithm == "mondrian":
            parts = mondrian.Mondrian(table, columns).partition([models.kAnonymity(k)])
        else:
            parts = microaggregation.MDAVGeneric(table, columns).partition(k)
        spent = time.process_time() - started
        groups = {int(place): number for number, part in enumerate(parts) for place in part}
        found.append({"groups": [groups[place] for place in range(len(table))], "seconds": spent})
    return found
