"""Run Project Lighthouse's anonymize; imported by a Python that has it, not by kanon's."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["group", "levels"]


def levels(jobs: Sequence[Sequence[Any]]) -> list[dict[str, float]]:
    """Every measure that kanon has too, under kanon's names; a job is as pyCANON's."""
    import pandas as pd
    from project_lighthouse_anonymize import disclosure_risk_metrics as metrics

    found = []
    for _, release, columns, sensitive, _ in jobs:
        table = pd.read_csv(release, dtype=str, keep_default_na=False)
        p, k = metrics.calculate_p_k(table[[*columns, sensitive]], columns, sensitive)
        _, least, _ = metrics.compute_entropy_log_l_diversity(table, columns, sensitive)
        found.append({"min_k": float(k), "distinct_l": float(p), "entropy_l": math.exp(least)})
    return found


def group(
    path: str, numbers: Sequence[str], trees: Mapping[str, str], ks: Sequence[int]
) -> list[dict[str, Any]]:
    """Group the records of a file by Core Mondrian: groups and seconds for each k.

    ``trees`` are the hierarchies of the categories: files with a line per value.
    """
    import pandas as pd
    from project_lighthouse_anonymize.gtrees import GTree
    from project_lighthouse_anonymize.utils import AnonymizeCallbacks
    from project_lighthouse_anonymize.wrappers.k_anonymize import k_anonymize

    class Clock(AnonymizeCallbacks):
        """Times the search alone, not the quality that is measured after it."""

        def anonymize_bm(self) -> None:
            self.seconds = -time.process_time()

        def anonymize_am(self) -> None:
            self.seconds += time.process_time()

    table = pd.read_csv(path, dtype=str).astype(dict.fromkeys(numbers, float))
    table["record"] = range(len(table))
    columns, found, logger = [*numbers, *trees], [], logging.getLogger("peer")
    logger.setLevel(logging.CRITICAL)
    for k in ks:
        grown = {column: _read_tree(file, GTree()) for column, file in trees.items()}
        clock = Clock()
        released, _, _ = k_anonymize(
            logger, table[["record", *columns]], columns, k, grown, "record", parallelism=None,
            anonymize_callbacks=clock,
        )  # fmt: skip
        numbered = released.groupby(columns, dropna=False).ngroup()
        groups = dict(zip(released["record"].astype(int), numbered.tolist(), strict=True))
        shown = [groups.get(place, -1) for place in range(len(table))]
        found.append({"groups": shown, "seconds": clock.seconds})
    return found


def _read_tree(file: str, tree: Any) -> Any:
    """The generalisation tree of a hierarchy file."""
    import pandas as pd

    nodes: dict[tuple[str, ...], Any] = {}
    for line in pd.read_csv(file, sep=";", header=None, dtype=str).itertuples(index=False):
        path = [*dict.fromkeys(reversed(line))]  # a value that is its own group stands once
        for depth in range(1, len(path) + 1):
            at = tuple(path[:depth])
            if at not in nodes:
                nodes[at] = tree.create_node(at[-1], parent=nodes.get(at[:-1]))
    tree.add_default_geometric_sizes()
    return tree
