"""The same measures of the same tables, by kanon and by other tools."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

import benchmarks.reference  # noqa: F401  makes the oracles of the tests importable
from benchmarks.fresh import ROOT
from benchmarks.peers.environments import PEERS, ask
from benchmarks.plans import adult_path, content
from kanon.evidence.figures import compute_wilson_interval
from kanon.measures.summary import measure_release
from kanon.metrics import metric_named
from kanon.plan import Plan
from kanon.recoding import Recoding
from kanon.run import prepare, run
from kanon.sources.opening import open_table
from oracles.peer_tables import TABLES, PeerTable

__all__ = ["FROZEN", "Comparison", "compare_measures", "measure_small"]

FROZEN = ROOT / "tests" / "oracles" / "peers.json"


class Comparison(NamedTuple):
    """One measure of one table by another tool; a text where it cannot measure."""

    peer: str
    measure: str
    table: str
    theirs: float | str
    ours: float | None

    @property
    def is_equal(self) -> bool:
        if isinstance(self.theirs, str) or self.ours is None:
            return False
        return math.isclose(self.theirs, self.ours, rel_tol=1e-9, abs_tol=1e-12)


class _Job(NamedTuple):
    """A table that the peers measure, and what kanon says of it."""

    name: str
    before: str  # the file of the table
    after: str  # that of its release, without suppressed records
    columns: list[str]
    sensitive: str
    is_number: bool
    ours: Mapping[str, Any]


def measure_small(table: PeerTable) -> dict[str, Any]:
    """What kanon says of a small table as it is, its quasi-identifiers unchanged."""
    trees = {column: {"build": "suppression"} for column in table.quasi_identifiers}
    plan = content(trees, "ncp", 2, table.sensitive) | {"read": {"missing": "as-value"}}
    classes = prepare(Plan.from_content(plan), pd.DataFrame(table.columns)).classes
    return _name_as_peers(Recoding.from_targets(classes, classes.nodes), table.is_number)


def _name_as_peers(recoding: Recoding, is_number: bool) -> dict[str, Any]:
    """The measures of kanon under the names that the runners of the peers use."""
    found = measure_release(recoding, [metric_named("ncp")], recoding.min_k or 1)
    return found | {
        "t": found["t_emd_ordered" if is_number else "t_emd_equal"],
        "highest_risk": found["prosecutor"]["highest"],
        "mean_risk": found["prosecutor"]["mean"],
    }


def compare_measures(folder: Path) -> list[Comparison]:
    """The small tables, a release of Adult and one of the sample census, by every peer.

    What they say of the small ones goes to tests/oracles/peers.json, for the tests.
    """
    small, large = [*_write_small(folder)], [*_write_large(folder)]
    found: list[Comparison] = []
    frozen: dict[str, Any] = {job.name: {} for job in small}
    for peer, jobs in {"pycanon": small + large, "lighthouse": small + large,
                       "anonypyx": small}.items():  # fmt: skip
        answers = ask(peer, "levels", [job[1:6] for job in jobs])
        for job, answer in zip(jobs, answers, strict=True):
            for measure, theirs in answer.items():
                found.append(Comparison(peer, measure, job.name, theirs, job.ours[measure]))
            if job.name in frozen:
                frozen[job.name][peer] = answer
    drawn = random.Random(1)
    pairs = [(total, drawn.randint(0, total)) for total in (1, 5, 50, 500, 5000) for _ in range(4)]
    rates = ask("anonymeter", "estimate_rates", pairs)
    for (total, successes), ends in zip(pairs, rates, strict=True):
        interval = compute_wilson_interval(successes / total, total)
        for theirs, ours in zip(ends, interval, strict=True):
            bounded, name = min(max(theirs, 0.0), 1.0), f"{successes} of {total}"
            found.append(Comparison("anonymeter", "interval", name, bounded, ours))
    kept = {"packages": PEERS, "tables": frozen, "pairs": pairs, "rates": rates}
    FROZEN.write_text(json.dumps(kept, indent=1) + "\n", "utf-8")
    return found


def _write_small(folder: Path) -> Iterator[_Job]:
    for place, (name, table) in enumerate(TABLES.items()):
        file = folder / f"small-{place}.csv"
        pd.DataFrame(table.columns).to_csv(file, index=False)
        columns, ours = [*table.quasi_identifiers], measure_small(table)
        yield _Job(name, str(file), str(file), columns, table.sensitive, table.is_number, ours)


def _write_large(folder: Path) -> Iterator[_Job]:
    """Releases of a real table and of a sample."""
    adult = ["age", "sex", "race", "marital-status", "education", "native-country", "workclass",
             "occupation"]  # fmt: skip
    datafly = {"algorithm": {"name": "datafly"}, "suppression_limit": 0.05}
    census = ["age", "sex", "region", "education"]
    for name, path, columns, sensitive, k, more in (
        ("Adult, Datafly, k = 5", adult_path(), adult, "salary-class", 5, datafly),
        ("census, GAA, k = 100", ROOT / "sample_data" / "census.csv", census, "household-size",
         100, {}),
    ):  # fmt: skip
        table = open_table(path).table
        files = ROOT / "hierarchies" / path.stem
        trees = {column: str(files / f"{column}.csv") for column in columns}
        outcome = run(Plan.from_content(content(trees, "ncp", k, sensitive) | more), table)
        before, after = folder / f"{path.stem}-before.csv", folder / f"{path.stem}-after.csv"
        table.to_csv(before, index=False)
        outcome.prepared.source.release(outcome.recoding).to_csv(after, index=False)
        is_number = sensitive == "household-size"
        ours = _name_as_peers(outcome.recoding, is_number)
        yield _Job(name, str(before), str(after), columns, sensitive, is_number, ours)
