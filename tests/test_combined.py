"""What several releases say together, against the definitions written out over rows."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from random_tables import examples

from kanon.combined import Combined, Release, combine, needs_table
from kanon.errors import KanonError, PlanError, TableError
from kanon.plan import Plan
from kanon.release_check import check_release
from kanon.run import Run, run
from kanon.schema import Role
from kanon.sources.opening import open_address
from kanon.sources.addresses import Address

ROOT = Path(__file__).parent.parent
TREES: dict[str, list[Any]] = {
    "a": [
        {"build": "suppression"},
        {"build": "intervals", "widths": [2]},
        {"build": "intervals", "widths": [3]},
    ],
    "b": [
        {"build": "suppression"},
        {"build": "groups", "levels": [{"xy": ["x", "y"], "z": ["z"]}]},
    ],
    "c": [{"build": "suppression"}],
}


def plan(roles: dict[str, Any], algorithm: dict[str, Any], **more: Any) -> Plan:
    columns = {
        name: {"role": role} if isinstance(role, str) else role for name, role in roles.items()
    }
    privacy = more.pop("privacy", [{"model": "k-anonymity", "k": 2}])
    content = {"version": 1, "columns": columns, "algorithm": algorithm, "privacy": privacy}
    return Plan.from_content({**content, **more})


def quasi(tree: Any = None) -> dict[str, Any]:
    return {"role": "quasi-identifier", "hierarchy": tree or {"build": "suppression"}}


# --- the definitions, row by row ----------------------------------------------------------------
class Rows:
    """Several released tables, looked at row by row; the index of a row says whose it is."""

    def __init__(self, runs: list[Run]) -> None:
        self.plans = [done.prepared.plan for done in runs]
        frames = [done.released() for done in runs]
        self.frames = [
            frame[frame["suppressed"] != 1] if "suppressed" in frame else frame for frame in frames
        ]
        roles = [each.roles for each in self.plans]
        self.quasi = sorted({name for one in roles for name in one.quasi_identifiers})
        self.sensitive = sorted({name for one in roles for name in one.columns(Role.SENSITIVE)})
        self.rows = sorted({row for frame in self.frames for row in frame.index})

    def shows(self, release: int, column: str) -> bool:
        role = self.plans[release].roles.roles[column]
        return role in (Role.SENSITIVE, Role.INSENSITIVE)

    def seen(self, release: int, row: int, columns: list[str]) -> tuple[Any, ...] | None:
        """The cells of a row in a release; None if it is not there."""
        frame = self.frames[release]
        if row not in frame.index:
            return None
        return tuple(str(frame.at[row, name]) for name in columns if name in frame)

    def groups(self, column: str | None = None) -> dict[Any, list[int]]:
        """The rows that look alike in all releases."""
        known = [name for name in self.quasi if name != column]
        found: dict[Any, list[int]] = {}
        for row in self.rows:
            if column is None or self.value(row, column) is not None:
                seen = tuple(self.seen(i, row, known) for i in range(len(self.frames)))
                found.setdefault(seen, []).append(row)
        return found

    def value(self, row: int, column: str | None) -> str | None:
        """The sensitive value of a row, if any release shows it."""
        for release, frame in enumerate(self.frames):
            if column and row in frame.index and self.shows(release, column):
                return str(frame.at[row, column])
        return None

    def classes(self, release: int, row: int, column: str, columns: list[str]) -> Counter[str]:
        """The values in the class of a row in a release."""
        frame = self.frames[release]
        mine = self.seen(release, row, columns)
        return Counter(
            str(frame.at[other, column])
            for other in frame.index
            if self.seen(release, other, columns) == mine
        )

    def possible(self, row: int, column: str) -> tuple[int, int, int]:
        """The values and the most rows that remain, and the fewest values by a single release."""
        known = [name for name in self.quasi if name != column]
        of = [
            i for i, frame in enumerate(self.frames) if row in frame.index and self.shows(i, column)
        ]
        counts = [self.classes(i, row, column, known) for i in of]
        remain = set.intersection(*map(set, counts))
        alone = [
            len(self.classes(i, row, column, list(self.plans[i].roles.quasi_identifiers)))
            for i in of
        ]
        return len(remain), sum(min(one[v] for one in counts) for v in remain), min(alone)

    def check(self, found: Combined) -> None:
        """That what was found is what the definitions say."""
        sizes = sorted(map(len, self.groups().values()))
        assert sorted(found.together.counts.tolist()) == sizes
        for asked in found.asked:
            column = getattr(asked.model, "column", None)
            groups = self.groups(column)
            verdict = self.verdict(asked.model, groups, column)
            levels = [one for one in (verdict.level, asked.alone) if one is not None]
            worst = min if asked.model.card.direction == "higher" else max
            assert asked.level == pytest.approx(worst(levels, default=None))
            assert asked.holds == verdict.holds  # alone each release meets its plan
            everybody = Counter(self.value(row, column) for one in groups.values() for row in one)
            assert asked.records == sum(
                len(members)
                for members in groups.values()
                if self.breaks(asked.model, [self.value(row, column) for row in members], everybody)
            )
        assert [one.column for one in found.learnt] == self.sensitive
        for learnt in found.learnt:
            groups = self.groups(learnt.column)
            rows = [row for members in groups.values() for row in members]
            if not rows:
                assert (learnt.values, learnt.records, learnt.values_alone) == (None, None, None)
                continue
            known = {row: self.possible(row, learnt.column) for row in rows}
            assert learnt.values == min(values for values, _, _ in known.values())
            assert learnt.records == min(records for _, records, _ in known.values())
            assert learnt.values_alone == min(alone for _, _, alone in known.values())
            assert learnt.certain == sum(v == 1 < alone for v, _, alone in known.values())
            homogeneous = [
                row
                for members in groups.values()
                if len({self.value(row, learnt.column) for row in members}) == 1
                for row in members
            ]
            assert learnt.lined_up == sum(known[row][2] > 1 for row in homogeneous)

    def breaks(self, model: Any, values: list[Any], everybody: Counter[Any]) -> bool:
        """Whether a group breaks a model: the definitions."""
        n, counts = len(values), Counter(values)
        match model.card.name:
            case "k-anonymity":
                return n < model.k
            case "distinct-l-diversity":
                return len(counts) < model.l
            case "entropy-l-diversity":
                entropy = -sum(count / n * math.log(count / n) for count in counts.values())
                return math.exp(entropy) < model.l * (1 - 1e-9)
            case "t-closeness":
                apart = (
                    abs(counts[value] / n - count / everybody.total())
                    for value, count in everybody.items()
                )
                return sum(apart) > model.t * (1 + 1e-9)
        raise NotImplementedError

    def verdict(self, model: Any, groups: dict[Any, list[int]], column: str | None) -> Any:
        """What the check of releases finds in a table with a column that names the group."""
        cells = [
            (str(number), self.value(row, column) or "")
            for number, members in enumerate(groups.values())
            for row in members
        ]
        frame = pd.DataFrame(cells, columns=["group", "value"])
        asked = {"model": model.card.name, **vars(model)}
        if column is not None:
            asked["column"] = "value"
        roles = {"group": quasi(), "value": "sensitive"}
        (found,) = check_release(frame, plan(roles, {"name": "gaa"}, privacy=[asked]))
        return found


# --- random tables and plans --------------------------------------------------------------------
@st.composite
def tables(draw: Any) -> pd.DataFrame:
    size = draw(st.integers(4, 14))
    cells = {"a": "123456", "b": "xyz", "c": "pq", "s": "uvw"}
    return pd.DataFrame(
        {
            name: draw(st.lists(st.sampled_from(values), min_size=size, max_size=size))
            for name, values in cells.items()
        },
        index=[10 * i for i in range(size)],
    )


@st.composite
def plans(draw: Any, same_roles: bool = False, suppresses: bool = True) -> Plan:
    roles: dict[str, Any] = {}
    for name in "abc":
        choices = ["quasi-identifier", "sensitive", "insensitive", "identifier"]
        role = "quasi-identifier" if same_roles or name == "a" else draw(st.sampled_from(choices))
        roles[name] = quasi(draw(st.sampled_from(TREES[name]))) if role[0] == "q" else role
    roles["s"] = "sensitive" if same_roles else draw(st.sampled_from(["sensitive", "insensitive"]))
    chosen = (
        ["gaa", "datafly", "mondrian", "flash"] if suppresses else ["gaa", "mondrian", "levels"]
    )
    algorithm: dict[str, Any] = {"name": draw(st.sampled_from(chosen))}
    if algorithm["name"] == "levels":
        algorithm["node"] = {
            name: draw(st.integers(0, 1)) for name, one in roles.items() if isinstance(one, dict)
        }
    if algorithm["name"] == "gaa":
        algorithm["metric"] = draw(st.sampled_from(["ncp", "llm", "distortion"]))
    privacy: list[dict[str, Any]] = [{"model": "k-anonymity", "k": draw(st.integers(2, 4))}]
    known = [name for name, role in roles.items() if role == "sensitive"]
    if known and draw(st.booleans()):
        model = draw(
            st.sampled_from(["distinct-l-diversity", "entropy-l-diversity", "t-closeness"])
        )
        value = {"t": 0.9} if model[0] == "t" else {"l": 2}
        privacy.append({"model": model, "column": draw(st.sampled_from(known)), **value})
    more: dict[str, Any] = {"suppressed": draw(st.sampled_from(["keep", "leave-out"]))}
    if algorithm["name"] in ("datafly", "flash"):
        more["suppression_limit"] = draw(st.sampled_from([0.0, 0.3, 0.5]))
    return plan(roles, algorithm, privacy=privacy, **more)


def released(table: pd.DataFrame, wanted: list[Plan]) -> list[Run]:
    found = []
    for each in wanted:
        try:
            found.append(run(each, table))
        except KanonError:
            continue
    assume(len(found) > 1)
    return found


@examples(300)
@given(st.data())
def test_what_is_found_is_what_the_rows_say(data: Any) -> None:
    table = data.draw(tables())
    runs = released(table, data.draw(st.lists(plans(), min_size=2, max_size=3)))
    Rows(runs).check(combine([Release.of(done) for done in runs], table))
