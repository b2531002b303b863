"""Random tables released by every algorithm, and what must be true of each release."""

from __future__ import annotations

import math
import re
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

import pandas as pd

from benchmarks.reliability.random_plans import Drawn, draw_plan, draw_table
from benchmarks.reliability.reckoning import MISSING, NARROW, missed_by
from kanon.algorithms.catalogue import algorithm_named, algorithms
from kanon.base.values import MISSING_LABEL
from kanon.errors import KanonError
from kanon.hierarchy import Hierarchy
from kanon.plan import Plan
from kanon.release.check import check_release
from kanon.run import PreparedRun, finished, prepare

__all__ = ["Broken", "Counts", "release_many", "release_one_table"]


class Broken(AssertionError):
    """A release that is not what was asked for, or an input that was changed."""


@dataclass
class Counts:
    """How often what happened.

    Attributes
    ----------
    released
        Per algorithm the tables that it released and that were looked at.
    refused
        Per algorithm the plans that it refused, with a sentence.
    models, metrics, strategies
        How many of the releases were asked for with each.
    suppressed
        How many of the releases lack a record.
    checked
        How many verdicts of kanon's own check of a release were compared.
    tables
        How many tables there were.
    seconds
        How long it took.
    """

    released: Counter = field(default_factory=Counter)
    refused: Counter = field(default_factory=Counter)
    models: Counter = field(default_factory=Counter)
    metrics: Counter = field(default_factory=Counter)
    strategies: Counter = field(default_factory=Counter)
    suppressed: int = 0
    checked: int = 0
    tables: int = 0
    seconds: float = 0.0


def release_many(wanted: int, seed: int, every: int = 20) -> Counts:
    """Release tables until so many were released.

    Parameters
    ----------
    wanted
        How many releases; refused plans do not count.
    seed
        Table number i is drawn from ``Random(f"{seed}/{i}")``, so that one can be repeated.
    every
        kanon's own check of a release is asked about one release in so many.

    Raises
    ------
    Broken
        Something is not as it should be; the message names the table.
    """
    counts, began = Counts(), time.perf_counter()
    while counts.released.total() < wanted:
        name = f"{seed}/{counts.tables}"
        try:
            release_one_table(Random(name), counts, every)
        except Exception as error:
            raise Broken(f"table {name}: {error!r}") from error
        counts.tables += 1
    counts.seconds = time.perf_counter() - began
    return counts


def release_one_table(draw: Random, counts: Counts, every: int = 20) -> None:
    """Draw a table, release it by every algorithm that takes it, and look at all releases."""
    made = draw_table(draw)
    before = made.table.copy(deep=True)
    prepared, heights = _prepared(made)
    if prepared is None:
        return
    kept = _snapshot(prepared)
    above = {
        column: _ancestors(tree)
        for column, tree in zip(
            prepared.classes.attributes, prepared.classes.hierarchies, strict=True
        )
    }
    for name in made.algorithms:
        content = draw_plan(draw, made, name, heights)
        given = deepcopy(content)
        plan = Plan.from_content(content)
        dumped = plan.model_dump_json()
        mine = replace(prepared, plan=plan)
        try:
            task = mine.check()
            recoding = algorithm_named(name).anonymise(task)
        except KanonError as error:
            _refused(error)
            counts.refused[name] += 1
            continue
        done = finished(mine, recoding, 0.0)
        released = done.released(index=True, order="table")
        try:
            _same(_snapshot(prepared) == kept, "the hierarchies or classes were changed")
            _same(content == given and plan.model_dump_json() == dumped, "the plan was changed")
            _look_at(released, made, content, above)
            _check_order(done.released(), released, prepared.source.pseudonyms)
            if counts.released.total() % every == 0:
                counts.checked += _compare_checks(draw, released, plan, content)
        except Broken as error:
            raise Broken(
                f"{name}, {content['algorithm']}, {content['privacy']}: {error}"
            ) from error
        _count(counts, content, name, recoding.suppressed_records)
    _same(before.equals(made.table) and before.index.equals(made.table.index), "the table changed")
    _same((before.dtypes == made.table.dtypes).all(), "a column has another type")


def _count(counts: Counts, content: Mapping[str, Any], name: str, suppressed: int) -> None:
    chosen = content["algorithm"]
    counts.released[name] += 1
    counts.models.update({part["model"] for part in content["privacy"]})
    if "metric" in chosen:
        counts.metrics[chosen["metric"]] += 1
    if "strategy" in chosen:
        counts.strategies[chosen["strategy"]] += 1
    counts.suppressed += suppressed > 0


def _prepared(made: Drawn) -> tuple[PreparedRun | None, dict[str, int]]:
    """The table, matched with its roles and hierarchies once for all plans; None if refused."""
    name = made.algorithms[0]
    content = {
        "version": 2,
        "columns": made.columns,
        "algorithm": {"name": name},
        "privacy": [{"model": "k-anonymity", "k": 2}],
        "read": made.read,
        "suppressed": made.suppressed,
    }
    try:
        prepared = prepare(Plan.from_content(content), made.table)
    except KanonError as error:  # every record lacks a value, say
        _refused(error)
        return None, {}
    classes = prepared.classes
    trees = zip(classes.attributes, classes.hierarchies, strict=True)
    return prepared, {column: tree.height for column, tree in trees}


def _refused(error: KanonError) -> None:
    """A refusal is one sentence."""
    said = error.sentence
    _same("\n" not in said and said.endswith(".") and "Traceback" not in said, f"it says {said!r}")


def _snapshot(prepared: PreparedRun) -> list:
    """Everything that is handed to an algorithm, in a form that nothing can change."""
    classes = prepared.classes
    arrays = [classes.nodes, classes.counts]
    for tree in classes.hierarchies:
        arrays += [tree.parent, tree.level, tree.first, tree.last]
        arrays += [] if tree.weight is None else [tree.weight]
    for sensitive in classes.sensitive:
        arrays += [part for part in vars(sensitive).values() if hasattr(part, "tobytes")]
    return [tuple(tree.labels for tree in classes.hierarchies), *(a.tobytes() for a in arrays)]


def _ancestors(tree: Hierarchy) -> dict[str, list[str]]:
    """Per label the labels from it up to the root, walked edge by edge."""
    above = {label: parent for label, parent, _ in tree.entries()}
    results = {}
    for label in above:
        path = [label]
        while (parent := above[path[-1]]) is not None:
            path.append(parent)
        results[label] = path
    return results


def _same(true: object, otherwise: str) -> None:
    if not true:
        raise Broken(otherwise)


# --- what must be true --------------------------------------------------------------------------
def _look_at(
    released: pd.DataFrame,
    made: Drawn,
    content: Mapping[str, Any],
    above: Mapping[str, Mapping[str, Sequence[str]]],
) -> None:
    """Rows aligned with the table, all else unchanged, only upward, few enough suppressed, Φ."""
    quasi, keeps = list(made.texts), made.suppressed == "keep"
    drops = made.read.get("missing") == "drop-records"
    rows = [
        row
        for row in range(len(made.table))
        if not (drops and any(made.texts[column][row] is None for column in quasi))
    ]
    hidden = {c for c in made.of("identifier") if not made.columns[c]["pseudonym"]}
    named = [column for column in made.table.columns if column not in hidden]
    _same(list(released.columns) == named + ["suppressed"] * keeps, "other columns")
    cells = {column: _cells(released[column]) for column in released.columns}
    if keeps:
        _same(len(released) == len(rows), "a row is lacking")
        lost = [place for place, mark in enumerate(cells["suppressed"]) if mark == 1]
        _same(set(cells["suppressed"]) <= {0, 1}, "another mark")
        for column in set(named) - set(quasi) - set(made.of("identifier")):
            _same(all(cells[column][place] is None for place in lost), f"{column} is not blank")
        for column in quasi:
            root = next(iter(above[column].values()))[-1]
            _same(all(cells[column][place] == root for place in lost), f"{column} is not the root")
    else:
        there = {row: place for place, row in enumerate(cells["row"])}
        _same(len(there) == len(released), "a row stands twice")
        lost = [place for place, row in enumerate(rows) if row not in there]
    left = [row for place, row in enumerate(rows) if place not in set(lost)]
    at = (
        [place for place in range(len(rows)) if place not in set(lost)]
        if keeps
        else range(len(left))
    )
    _same(len(at) == len(left) and (keeps or len(released) == len(left)), "other rows")
    index = made.table.index[rows if keeps else left]
    _same(list(released.index) == list(index), "another index")
    for column in set(named) - set(quasi) - set(made.of("identifier")):
        original = _cells(made.table[column])
        _same(
            [cells[column][place] for place in at] == [original[row] for row in left],
            f"the cells of {column} are not as they were",
        )
    for column in set(made.of("identifier")) - hidden:
        _check_pseudonyms(_cells(made.table[column].iloc[left]), [cells[column][p] for p in at])
    tuples = list(zip(*([cells[column][place] for place in at] for column in quasi), strict=True))
    chosen = content["algorithm"]
    means = chosen["name"] == "mdav" and chosen.get("ranges", "centroid") == "centroid"
    for column in quasi:
        if means:
            values = [made.texts[column][row] for row in left]
            _check_means(values, tuples, quasi.index(column), above[column])
        for row, place in zip(left, at, strict=True) if not means else ():
            value, label = made.texts[column][row], cells[column][place]
            _same(
                _is_above(MISSING_LABEL if value is None else value, label, above[column]),
                f"{column}: {value!r} became {label!r}",
            )
    _same(len(lost) <= _may_lose(content, len(rows)), f"{len(lost)} records were suppressed")
    sensitive = {name: [cells[name][place] for place in at] for name in made.of("sensitive")}
    for part in content["privacy"]:
        missed = missed_by(part, tuples, sensitive)
        _same(missed <= NARROW, f"{part} is missed by {missed}")


def _check_order(leaving: pd.DataFrame, aligned: pd.DataFrame, pseudonyms: Sequence[str]) -> None:
    """The rows that leave are the same rows, sorted by what they show."""
    lists = [
        list(zip(*(_cells(one[column]) for column in one.columns), strict=True))
        for one in (leaving, aligned)
    ]
    _same(Counter(map(repr, lists[0])) == Counter(map(repr, lists[1])), "other rows leave")
    shown = [place for place, name in enumerate(leaving.columns) if name not in pseudonyms]
    keys = [tuple(_sort_key(row[place]) for place in shown) for row in lists[0]]
    _same(keys == sorted(keys), "rows do not leave in the order of their cells")


def _sort_key(cell: Any) -> tuple:
    """Missing cells first, then numbers by size, then texts."""
    if cell is MISSING:
        return (0, 0.0, "")
    text = str(cell)
    number = re.fullmatch(r"[+-]?\d+(\.\d+)?", text, re.ASCII) or isinstance(cell, (int, float))
    return (1, float(cell), text) if number else (2, 0.0, text)


def _cells(column: pd.Series) -> list:
    return [MISSING if pd.isna(cell) else cell for cell in column.tolist()]


def _classes(
    released: pd.DataFrame, content: Mapping[str, Any]
) -> tuple[list[tuple], dict[str, list]]:
    """The rows that are in classes: their quasi-identifiers, and their sensitive cells."""
    if "suppressed" in released:
        released = released[released["suppressed"] == 0]
    roles = {name: column["role"] for name, column in content["columns"].items()}
    cells = {
        name: _cells(released[name])
        for name, role in roles.items()
        if role in ("quasi-identifier", "sensitive")
    }
    quasi = [cells[name] for name, role in roles.items() if role == "quasi-identifier"]
    return list(zip(*quasi, strict=True)), cells


def _check_pseudonyms(persons: Sequence, labels: Sequence) -> None:
    pairs = set(zip(persons, labels, strict=True))
    _same(len(pairs) == len(set(persons)) == len(set(labels)), "a pseudonym is not one person's")
    _same(not set(persons) & set(labels) - {None}, "a name stands in the release")


_BOUNDS = re.compile(r"\[(.+), (.+)\]")
_OPEN = re.compile(r"(.+) or (less|more|earlier|later)")


def _check_means(
    values: Sequence[str],
    tuples: Sequence[tuple],
    place: int,
    above: Mapping[str, Sequence[str]],
) -> None:
    """Every class shows the mean of its values, as exactly as the values are written."""
    numbers = [_middle(value, above) for value in values]
    digits = max((len(value.partition(".")[2]) for value in values if _is_leaf(value, above)),
                 default=0)  # fmt: skip
    for row in set(tuples):
        members = [number for number, own in zip(numbers, tuples, strict=True) if own == row]
        off = abs(sum(members) / len(members) - float(row[place]))
        _same(off <= 0.5 / 10**digits + NARROW, f"{members} became {row[place]!r}")


def _leaves(above: Mapping[str, Sequence[str]]) -> set[str]:
    return {path[0] for path in above.values()} - {node for p in above.values() for node in p[1:]}


def _is_leaf(value: str, above: Mapping[str, Sequence[str]]) -> bool:
    return value in _leaves(above)


def _middle(value: str, above: Mapping[str, Sequence[str]]) -> float:
    below = [float(leaf) for leaf in _leaves(above) if value in above[leaf]]
    return (min(below) + max(below)) / 2


def _is_above(value: str, label: str, above: Mapping[str, Sequence[str]]) -> bool:
    """Whether a label stands at or above a value: a node of its path, or a range around it."""
    if label in above[value] or label.partition(", mean ")[0] in above[value]:
        return True
    return all(_covers(label, leaf) for leaf in _leaves(above) if value in above[leaf])


def _covers(label: str, leaf: str) -> bool:
    """Whether a range holds a leaf: ``[1, 3]``, ``3 or less``, ``{a, b}``, or missing cells."""
    missing = f" or {MISSING_LABEL}"
    if leaf == MISSING_LABEL and missing in label:
        return True
    label = re.sub(r" \(\d+\)$", "", label).partition(", mean ")[0].removesuffix(missing)
    if label.startswith("{"):
        return leaf in label.strip("{}").split(", ")
    bounds, bound = _BOUNDS.fullmatch(label), _OPEN.fullmatch(label)
    if bound is not None and leaf != MISSING_LABEL:
        order = float if bound[2] in ("less", "more") else str  # dates are YYYY-MM-DD
        at, end = order(leaf), order(bound[1])
        return at <= end if bound[2] in ("less", "earlier") else at >= end
    if bounds is None:
        return label == leaf
    return leaf != MISSING_LABEL and float(bounds[1]) <= float(leaf) <= float(bounds[2])


def _may_lose(content: Mapping[str, Any], n: int) -> int:
    """The most records that may be suppressed: of docs/reference/plan.md."""
    limit = content.get("suppression_limit")
    if limit is None:  # Datafly alone suppresses unasked, fewer than k
        k = max([1, *(part["k"] for part in content["privacy"] if "k" in part)])
        return k if content["algorithm"]["name"] == "datafly" else 0
    return limit["records"] if isinstance(limit, dict) else math.floor(limit * n + 1e-9)


def _compare_checks(
    draw: Random, released: pd.DataFrame, plan: Plan, content: Mapping[str, Any]
) -> int:
    """Whether kanon's own check agrees with the reckoning, of the release and of a spoiled one."""
    spoiled, left = released.reset_index(drop=True), range(len(released))
    if "suppressed" in spoiled:  # those rows stay blank
        left = spoiled.index[spoiled["suppressed"] == 0]
    column = draw.choice([*plan.roles.quasi_identifiers])
    spoiled.loc[left, column] = draw.sample(spoiled.loc[left, column].tolist(), len(left))
    return sum(_agree(table, plan, content) for table in (released, spoiled))


def _agree(table: pd.DataFrame, plan: Plan, content: Mapping[str, Any]) -> int:
    tuples, cells = _classes(table, content)
    for part, verdict in zip(content["privacy"], check_release(table, plan), strict=True):
        missed = missed_by(part, tuples, cells)
        _same(
            (abs(missed) <= NARROW and part["model"] != "k-anonymity")
            or verdict.holds == (missed <= 0),
            f"the check says {verdict.holds} of {part}, which is missed by {missed}",
        )
    return len(content["privacy"])


def covered(counts: Counts) -> Iterable[str]:
    """The algorithms that released nothing; none if every one was covered."""
    return [name for name in algorithms() if not counts.released[name]]
