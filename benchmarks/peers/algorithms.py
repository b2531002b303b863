"""Algorithms that kanon and other tools both have, on the same records."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchmarks.cases.tools import recoding_of
from benchmarks.fresh import ROOT
from benchmarks.peers.environments import ask
from benchmarks.plans import adult_path, content
from kanon.classes import EquivalenceClasses
from kanon.measures import general_loss
from kanon.plan import Plan
from kanon.recoding import Recoding
from kanon.run import run
from kanon.sources.memory import MemorySource
from kanon.sources.opening import open_table

__all__ = ["Grouping", "compare_datafly", "compare_mdav", "compare_mondrian"]

SAMPLED = 5
"""Mondrian runs on one record of Adult in so many, as other tools are slow."""


class Grouping(NamedTuple):
    """How a tool groups records, and what both ways of writing the groups lose."""

    name: str
    sizes: list[int]
    by_hierarchy: float
    by_values: float
    seconds: float  # of the processor


def compare_mondrian(folder: Path, ks: Sequence[int]) -> dict[int, list[Grouping]]:
    """Mondrian of AnonyPyx, of lighthouse and of kanon on a part of Adult."""
    columns = ["age", "sex", "race", "marital-status", "education", "native-country",
               "workclass", "occupation"]  # fmt: skip
    table = open_table(adult_path()).table[columns].iloc[::SAMPLED].reset_index(drop=True)
    file, trees = _write(table, folder, "adult")
    below = {name: trees[name] for name in columns[1:]}
    return _compare(table, ["age"], trees, ks, {
        "AnonyPyx, Mondrian": ask("anonypyx", "group", file, ["age"], [*below], "mondrian", ks),
        "lighthouse, Core Mondrian": ask("lighthouse", "group", file, ["age"], below, ks),
    }, {
        "kanon, Mondrian": {"name": "mondrian"},
        "kanon, Mondrian, relaxed": {"name": "mondrian", "variant": "relaxed"},
        "kanon, Mondrian, least loss": {"name": "mondrian", "dimension": "least-loss"},
        "kanon, lattice sweep": {
            "name": "lattice-sweep", "metric": "general-loss", "effort": "fast",
        },
    })  # fmt: skip


def compare_mdav(folder: Path, k: int, records: int) -> list[Grouping]:
    """MDAV of AnonyPyx and of kanon on the numbers of the first voters."""
    columns = ["zip", "birth-year"]
    table = open_table(ROOT / "sample_data" / "voters.csv").table[columns].head(records)
    file, trees = _write(table, folder, "voters")
    theirs = {"AnonyPyx, MDAV": ask("anonypyx", "group", file, columns, [], "mdav", [k])}
    ours = {"kanon, MDAV": {"name": "mdav"}, "kanon, Mondrian": {"name": "mondrian"}}
    return _compare(table, columns, trees, [k], theirs, ours)[k]


def compare_datafly(folder: Path) -> dict[str, Any]:
    """ANJANA's k-anonymity and kanon's Datafly on Adult: whether they release the same."""
    table = open_table(adult_path()).table
    _, trees = _write(table, folder, "adult")
    out = str(folder / "anjana.csv")
    theirs = ask("anjana", "anonymised", str(adult_path()), ";", trees, 5, 5.0, out, 1)
    plan = content(trees, "ncp", 5) | {
        "algorithm": {"name": "datafly"}, "suppression_limit": 0.05,
    }  # fmt: skip
    recoding, source, seconds = _run_kanon(table, plan)
    released = pd.read_csv(out, dtype=str)
    read = recoding_of(source, released, released["record"].astype(int).tolist())
    same = np.array_equal(read.assigned, recoding.assigned)
    return {
        "same": same and np.array_equal(read.nodes, recoding.nodes), "classes": read.n_classes,
        "suppressed": read.suppressed_records, "theirs": theirs["seconds"][0], "ours": seconds,
    }  # fmt: skip


def _write(table: pd.DataFrame, folder: Path, name: str) -> tuple[str, dict[str, str]]:
    """The file of a table, and those of its hierarchies."""
    file = folder / f"{name}.csv"
    table.to_csv(file, index=False)
    trees = {column: str(ROOT / "hierarchies" / name / f"{column}.csv") for column in table}
    return str(file), trees


def _compare(
    table: pd.DataFrame, numbers: Sequence[str], trees: Mapping[str, str], ks: Sequence[int],
    theirs: Mapping[str, Any], ours: Mapping[str, Any],
) -> dict[int, list[Grouping]]:  # fmt: skip
    found: dict[int, list[Grouping]] = {k: [] for k in ks}
    for place, k in enumerate(ks):
        for name, settings in ours.items():
            plan = content(trees, "general-loss", k) | {"algorithm": settings}
            recoding, source, seconds = _run_kanon(table, plan)
            groups = recoding.assigned[source.row_class]
            found[k].append(_measure(name, groups, seconds, source, numbers))
        found[k] = [
            _measure(name, np.array(its[place]["groups"]), its[place]["seconds"], source, numbers)
            for name, its in theirs.items()
        ] + found[k]
    return found


def _run_kanon(
    table: pd.DataFrame, plan: Mapping[str, Any]
) -> tuple[Recoding, MemorySource, float]:
    """The release, and the best seconds of three runs after the first."""
    parsed, spent = Plan.from_content(dict(plan)), []
    for _ in range(4):
        started = time.process_time()
        outcome = run(parsed, table)
        spent.append(time.process_time() - started)
    assert isinstance(outcome.prepared.source, MemorySource)
    return outcome.recoding, outcome.prepared.source, min(spent[1:])


def _measure(
    name: str, groups: np.ndarray, seconds: float, source: MemorySource, numbers: Sequence[str]
) -> Grouping:
    """What groups lose, whoever made them: by the hierarchies, and as ranges and sets of values."""
    classes = source.classes
    nodes = classes.nodes[source.row_class]
    targets, losses = nodes.copy(), np.ones(nodes.shape)
    _, sizes = np.unique(groups[groups >= 0], return_counts=True)
    for j, (column, tree) in enumerate(zip(classes.attributes, classes.hierarchies, strict=True)):
        every = np.unique(nodes[:, j])
        if column in numbers:
            every = every[np.argsort([float(tree.labels[node]) for node in every])]
        position = {node: place for place, node in enumerate(every.tolist())}
        for group in range(len(sizes)):
            inside = groups == group
            shown = np.unique(nodes[inside, j]).tolist()
            targets[inside, j] = reduce(tree.lca, shown)
            places = [position[node] for node in shown]
            covered = max(places) - min(places) + 1 if column in numbers else len(shown)
            losses[inside, j] = (covered - 1) / (len(every) - 1)
    once = np.ones(len(nodes), dtype=np.int64)
    records = EquivalenceClasses(classes.attributes, classes.hierarchies, nodes, once)
    loss = general_loss.value(Recoding.from_targets(records, targets, groups < 0))
    return Grouping(name, sizes.tolist(), loss, float(losses.mean()), seconds)
