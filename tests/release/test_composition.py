"""What several releases say together, against the definitions written out over rows."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, permutations
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import hypothesis.strategies as st
import pandas as pd
import pytest
from hypothesis import assume, given

from kanon.errors import KanonError, PlanError, TableError
from kanon.plan import Plan
from kanon.privacy.k_anonymity import KAnonymity
from kanon.privacy.t_closeness import TCloseness
from kanon.release.check import check_release
from kanon.release.common_classes import Release, list_known_columns
from kanon.release.composition import (
    CombinedModel,
    CombinedReleases,
    LearntValues,
    combine_releases,
)
from kanon.run import Run, run
from kanon.schema import Role
from kanon.sources.addresses import Address
from kanon.sources.memory import MemoryTable
from kanon.sources.opening import open_address
from kanon.sources.read_settings import ReadSettings
from support.plans import qi_with
from support.random_tables import examples

LOST = {"build": "suppression"}
PARENTS = {"*": None, "xy": "*", "z": "*", "x": "xy", "y": "xy"}
TREES: dict[str, list[Any]] = {
    "a": [LOST, *({"build": "intervals", "widths": [width]} for width in (2, 3))],
    "b": [LOST, {"nodes": [{"name": name, "parent": above} for name, above in PARENTS.items()]}],
    "c": [LOST],
}


def plan(roles: dict[str, Any], algorithm: dict[str, Any], **more: Any) -> Plan:
    columns = {
        name: {"role": role} if isinstance(role, str) else role for name, role in roles.items()
    }
    privacy = more.pop("privacy", [{"model": "k-anonymity", "k": 2}])
    content = {"version": 2, "columns": columns, "algorithm": algorithm, "privacy": privacy}
    return Plan.from_content({**content, **more})


def quasi(tree: Any = None) -> dict[str, Any]:
    return qi_with(tree or LOST)


def united(sets: list[set[str]]) -> list[set[str]]:
    """The sets, those that share something as one."""
    found: list[set[str]] = []
    for some in sets:
        touching = [one for one in found if one & some]
        found = [one for one in found if not one & some] + [some.union(*touching)]
    return found


# --- the definitions, row by row ----------------------------------------------------------------
class Rows:
    """Several released tables, looked at row by row; the index of a row says whose it is."""

    def __init__(self, runs: list[Run], table: pd.DataFrame) -> None:
        self.table = table.fillna("(missing)")
        self.plans = [done.prepared.plan for done in runs]
        self.recodings = [done.recoding for done in runs]
        frames = [done.released(index=True) for done in runs]
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

    def classes(
        self, release: int, row: int, cells: dict[int, Any], columns: list[str]
    ) -> Counter[Any]:
        """The cells in the class of a row in a release."""
        frame = self.frames[release]
        mine = self.seen(release, row, columns)
        return Counter(
            cells[other] for other in frame.index if self.seen(release, other, columns) == mine
        )

    def told(self, releases: Sequence[int]) -> dict[int, tuple[Any, ...]]:
        """Per row of the table and column all values that these releases do not tell apart."""
        parts = [(name, self.parts(releases, name)) for name in self.table]
        return {
            row: tuple(
                next(tuple(sorted(part)) for part in of_column if self.table.at[row, name] in part)
                for name, of_column in parts
            )
            for row in self.table.index
        }

    def parts(self, releases: Sequence[int], column: str) -> list[set[str]]:
        """The values that are told apart, whatever the records behind the labels are."""
        values = {*self.table[column]}
        found = [{value} for value in values]
        for release in releases:
            frame, roles = self.frames[release], self.plans[release].roles
            if column in roles.quasi_identifiers:
                place = roles.quasi_identifiers.index(column)
                tree = self.recodings[release].hierarchies[place]
                nodes = map(tree.labels.index, {*frame[column]})
                blocks = united([{*tree.labels[tree.first[v] : tree.last[v]]} for v in nodes])
            else:
                blocks = [{value} for value in values] if column in frame else [values]
            present = {*self.table.loc[frame.index, column]}
            found += [block & present for block in blocks if block & present]
        return united(found)

    def possible(self, row: int, column: str | None) -> tuple[int, int, int]:
        """The values and the most rows that remain, and the fewest values by a single release."""
        known = [name for name in self.quasi if name != column]
        value = {row: self.value(row, column) for row in self.table.index}
        of = [
            i
            for i, frame in enumerate(self.frames)
            if row in frame.index and (column is None or self.shows(i, column))
        ]
        remain = []
        for some in [of, *combinations(of, 2)]:
            told = self.told(some if len(some) == 2 else [])
            cells = {row: (value[row], told[row] if len(some) == 2 else ()) for row in told}
            counts = [self.classes(i, row, cells, known) for i in some]
            least = {cell: min(one[cell] for one in counts) for cell in counts[0]}
            remain.append((len({cell[0] for cell in least if least[cell]}), sum(least.values())))
        alone = [
            len(self.classes(i, row, value, list(self.plans[i].roles.quasi_identifiers)))
            for i in of
        ]
        return min(values for values, _ in remain), min(n for _, n in remain), min(alone)

    def matched(self) -> int:
        """The rows that two releases show the same cells of, which no other row there has."""
        of_pair = [self.lonely(*pair) for pair in combinations(range(len(self.frames)), 2)]
        return len(set().union(*of_pair))

    def lonely(self, one: int, other: int) -> set[int]:
        rows = {*self.frames[one].index} & {*self.frames[other].index}
        if self.plans[one].order == self.plans[other].order == "table":
            return rows
        told = self.told([one, other])
        for frame in (self.frames[one], self.frames[other]):
            times = Counter(told[row] for row in frame.index)
            rows = {row for row in rows if times[told[row]] == 1}
        return rows

    def check(self, found: CombinedReleases) -> None:
        """That what was found is what the definitions say."""
        sizes = sorted(map(len, self.groups().values()))
        assert sorted(found.together.counts.tolist()) == sizes
        assert found.matched_records == self.matched()
        candidates = [self.possible(row, None)[1] for row in self.rows]
        assert found.candidates == min(candidates, default=None)
        for asked in found.asked:
            column = getattr(asked.model, "column", None)
            groups = self.groups(column)
            verdict = self.verdict(asked.model, groups, column)
            levels = [one for one in (verdict.level, asked.level_alone) if one is not None]
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
ALGORITHMS = ("gaa", "datafly", "mondrian", "flash")


NOTHING_OF_A = plan(
    {"a": quasi(), "b": "identifier", "c": "insensitive", "s": "sensitive"},
    {"name": "levels", "node": {"a": 1}},
)


@st.composite
def tables(draw: Any) -> pd.DataFrame:
    size = draw(st.integers(4, 14))
    cells: dict[str, Any] = {"a": "123456", "b": ["x", "y", "z", None], "c": "pq", "s": "uvw"}
    return pd.DataFrame(
        {
            name: draw(st.lists(st.sampled_from(values), min_size=size, max_size=size))
            for name, values in cells.items()
        },
        index=[10 * i for i in range(size)],
    )


@st.composite
def plans(draw: Any, only: Sequence[str] = ()) -> Plan:
    """Any plan; or of some algorithms alone, with a, b, c as quasi-identifiers, 2-anonymous."""
    roles: dict[str, Any] = {}
    for name in "abc":
        choices = ["quasi-identifier", "sensitive", "insensitive", "identifier"]
        role = "quasi-identifier" if only or name == "a" else draw(st.sampled_from(choices))
        roles[name] = quasi(draw(st.sampled_from(TREES[name]))) if role[0] == "q" else role
    roles["s"] = "sensitive" if only else draw(st.sampled_from(["sensitive", "insensitive"]))
    algorithm: dict[str, Any] = {"name": draw(st.sampled_from(only or ALGORITHMS))}
    if algorithm["name"] == "levels":
        algorithm["node"] = {
            name: draw(st.integers(0, 1)) for name, one in roles.items() if isinstance(one, dict)
        }
    if algorithm["name"] == "gaa":
        algorithm["metric"] = draw(st.sampled_from(["ncp", "llm", "distortion"]))
    privacy: list[dict[str, Any]] = [
        {"model": "k-anonymity", "k": 2 if only else draw(st.integers(2, 4))}
    ]
    known = [name for name, role in roles.items() if role == "sensitive"]
    if not only and known and draw(st.booleans()):
        model = draw(
            st.sampled_from(["distinct-l-diversity", "entropy-l-diversity", "t-closeness"])
        )
        value = {"t": 0.9} if model[0] == "t" else {"l": 2}
        privacy.append({"model": model, "column": draw(st.sampled_from(known)), **value})
    missing = draw(st.sampled_from(["as-value", "drop-records"]))
    more: dict[str, Any] = {
        "read": {"missing": missing},
        "suppressed": draw(st.sampled_from(["keep", "leave-out"])),
        "order": draw(st.sampled_from(["released", "table"])),
    }
    if algorithm["name"] in ("datafly", "flash"):
        more["suppression_limit"] = draw(st.sampled_from([0.0, 0.3, 0.5]))
    return plan(roles, algorithm, privacy=privacy, **more)


def released(table: pd.DataFrame, wanted: list[Plan]) -> list[Run]:
    """The releases; where no release can meet a plan, one that is always possible instead."""
    found = []
    for each in wanted:
        try:
            found.append(run(each, table))
        except KanonError:
            found.append(run(NOTHING_OF_A, table))
    return found


@examples(100, in_gate=4)
@given(st.data())
def test_what_is_found_is_what_the_rows_say(data: Any) -> None:
    table = data.draw(tables())
    runs = released(table, data.draw(st.lists(plans(), min_size=2, max_size=3)))
    Rows(runs, table).check(combined(runs, table))


# --- laws ---------------------------------------------------------------------------------------
def combined(runs: list[Run], table: pd.DataFrame) -> CombinedReleases:
    return combine_releases([Release.from_run(done) for done in runs], table)


def numbers(found: CombinedReleases) -> Any:
    """All that was found but for which release is which."""
    asked = {
        one.model: (one.level_alone, one.level, one.records, one.holds, len(one.releases))
        for one in found.asked
    }
    rows = found.matched_records, found.lined_up, found.candidates
    return asked, found.learnt, found.undone, sorted(found.together.counts.tolist()), rows


@examples(80)
@given(st.data())
def test_laws(data: Any) -> None:
    table = data.draw(tables())
    runs = released(table, data.draw(st.lists(plans(), min_size=2, max_size=3)))
    every = combined(runs, table)
    order_does_not_matter(every, combined(runs[::-1], table))
    a_release_and_itself_say_what_it_says(runs[0], combined([runs[0]] * 2, table))
    never_safer_than_some(every, combined(runs[:-1], table), runs)
    without_the_order_nobody_learns_more(every, table, runs)


def order_does_not_matter(there: CombinedReleases, back: CombinedReleases) -> None:
    assert numbers(there) == numbers(back)
    assert there.smallest_classes == back.smallest_classes[::-1]


def a_release_and_itself_say_what_it_says(done: Run, found: CombinedReleases) -> None:
    assert found.together.min_k == done.recoding.min_k
    assert sorted(found.together.counts.tolist()) == sorted(done.recoding.counts.tolist())
    assert found.holds
    assert found.undone == ()
    for asked in found.asked:
        assert asked.level == asked.model.level(done.recoding.released) == asked.level_alone
    for learnt in found.learnt:
        assert (learnt.lined_up, learnt.certain) == (0, 0)
        assert learnt.values == learnt.values_alone


def without_the_order_nobody_learns_more(
    found: CombinedReleases, table: pd.DataFrame, runs: list[Run]
) -> None:
    assert (found.candidates or 0) >= (found.together.min_k or 0)
    for learnt in found.learnt:
        assert learnt.certain <= learnt.lined_up
    assert found.lined_up <= (found.matched_records == shared_by_two(runs))
    kept = combine_releases([in_order(Release.from_run(done)) for done in runs], table)
    assert kept.lined_up and kept.matched_records == shared_by_two(runs)
    assert found.matched_records is not None and found.matched_records <= kept.matched_records
    assert numbers(kept)[:-1] == numbers(found)[:-1], "all else is as if rows were lined up"


def in_order(release: Release) -> Release:
    plan = release.plan.model_copy(update={"order": "table"})
    return replace(release, plan=plan)


def shared_by_two(runs: list[Run]) -> int:
    """The records that are in two of the releases."""
    times = Counter(row for frame in Rows(runs, pd.DataFrame()).frames for row in frame.index)
    return sum(times[row] > 1 for row in times)


def never_safer_than_some(every: CombinedReleases, some: CombinedReleases, runs: list[Run]) -> None:
    least = [one for one in (*every.smallest_classes, some.together.min_k) if one is not None]
    assert not least or (every.together.min_k or 0) <= min(least)
    whole = all(not done.recoding.suppressed_records and not done.prepared.dropped for done in runs)
    now = {one.model: one for one in every.asked}
    for one in some.asked:
        if one.level is None or (getattr(one.model, "of_table", False) and not whole):
            continue  # who is in no release is not in the table that a class is compared with
        worst = min if one.model.card.direction == "higher" else max
        assert now[one.model].level == pytest.approx(worst(now[one.model].level, one.level))
        assert one.holds or not now[one.model].holds
    if whole:
        known = {one.column: one for one in every.learnt}
        for before in some.learnt:
            assert known[before.column].values <= before.values
            assert known[before.column].records <= before.records


@examples(80)
@given(st.data(), st.booleans())
def test_no_matching_of_the_rows_says_anything_else(data: Any, apart: bool) -> None:
    """All ways to match the rows of two small files, of which nobody knows the right one.

    Exact where no column is generalised in both; where labels exclude matchings too, nothing more
    is said than they leave.
    """
    columns = {"a": "123", "b": "xy", "c": "pq", "s": "uvw"}
    size = data.draw(st.integers(4, 6))
    table = pd.DataFrame(
        {
            name: data.draw(st.lists(st.sampled_from(values), min_size=size, max_size=size))
            for name, values in columns.items()
        }
    )
    shown = {"c": data.draw(st.sampled_from(["insensitive", "identifier"])), "s": "sensitive"}
    named = [("a", "b"), ("b", "a")] if apart else [("a", "b")] * 2
    wanted = []
    for name, other in named:
        tree = data.draw(st.sampled_from(TREES[name]))
        algorithm = {"name": data.draw(st.sampled_from(["gaa", "mondrian"]))}
        wanted.append(plan({name: quasi(tree), other: "identifier", **shown}, algorithm))
    pair = [run(each, table) for each in wanted]
    found = combined(pair, table)
    passing = [name for name in "cs" if shown[name] != "identifier"]
    cells = [*table[passing].itertuples(index=False, name=None)]
    classes = [of_row(done) for done in pair]
    below = [
        [leaves(done, of, name) for of in of_each]
        for (name, _), done, of_each in zip(named, pair, classes, strict=True)
    ]
    worlds = [
        world
        for world in permutations(range(size))
        if all(
            cells[row] == cells[partner] and (apart or below[0][row] & below[1][partner])
            for row, partner in enumerate(world)
        )
    ]
    sure = sum(len({world[row] for world in worlds}) == 1 for row in range(size))
    (learnt,) = found.learnt
    values, records = [], []
    for person in range(size):
        may_be = [
            [
                row
                for row in range(size)
                if classes[0][row] == classes[0][person]
                and classes[1][world[row]] == classes[1][person]
            ]
            for world in worlds
        ]
        values.append(len({table["s"][row] for rows in may_be for row in rows}))
        records.append(max(map(len, may_be)))
    assert learnt.records == found.candidates
    said = (found.matched_records, -learnt.values, -learnt.records)
    told = (sure, -min(values), -min(records))
    assert (
        said == told if apart else all(one <= other for one, other in zip(said, told, strict=True))
    )


def of_row(done: Run) -> list[int]:
    """The released class of each row."""
    return done.recoding.assigned[done.prepared.source.row_class].tolist()  # type: ignore[attr-defined]


def leaves(done: Run, released_class: int, column: str) -> set[str]:
    """The original values that a released label may stand for."""
    recoding = done.recoding
    place = recoding.classes.attributes.index(column)
    tree, node = recoding.hierarchies[place], recoding.nodes[released_class, place]
    return set(tree.labels[tree.first[node] : tree.last[node]])


@examples(60)
@given(st.data(), st.booleans())
def test_groups_never_hide_whom_the_values_below_the_labels_tell_apart(
    data: Any, full_domain: bool
) -> None:
    """Who knows all values of a person finds at least the person's group among the rows.

    Row by row the sets of values that all labels allow; where whole columns were raised, exactly
    the group.
    """
    once = data.draw(tables()).dropna()
    assume(len(once))
    table = pd.concat([once, once], ignore_index=True)  # so that any levels are 2-anonymous
    among = ["levels"] if full_domain else ["gaa", "mondrian", "k-member"]
    runs = released(table, data.draw(st.lists(plans(among), min_size=2, max_size=3)))
    groups = combined(runs, table).together.counts
    classes = [of_row(done) for done in runs]
    allowed = [
        {
            name: set.intersection(
                *(leaves(done, of[row], name) for done, of in zip(runs, classes, strict=True))
            )
            for name in "abc"
        }
        for row in range(len(table))
    ]
    fits = [
        sum(all(person[name] in one[name] for name in "abc") for one in allowed)
        for person in table.to_dict("records")
    ]
    together = Counter(zip(*classes, strict=True))
    size = [together[seen] for seen in zip(*classes, strict=True)]
    assert sorted(together.values()) == sorted(groups.tolist())
    assert all(group <= fit for group, fit in zip(size, fits, strict=True))
    if full_domain:
        assert size == fits


def test_entries_of_histograms_may_be_looked_through_in_parts(monkeypatch: Any) -> None:
    table = pd.DataFrame({"a": list("11223344"), "b": list("xyxyxyxy"), "s": list("uvwuvwuv")})
    runs = [run(keeping(a=0, b=1), table), run(keeping(a=1, b=0), table)]
    whole = combined(runs, table).learnt
    monkeypatch.setattr("kanon.release.composition._CHUNK_ENTRIES", 3)
    assert combined(runs, table).learnt == whole


# --- by hand --------------------------------------------------------------------------------------
def keeping(k: int = 1, limit: float = 0.0, **node: int) -> Plan:
    """Levels of our own for the columns, s sensitive."""
    return plan(
        {**{name: quasi() for name in node}, "s": "sensitive"},
        {"name": "levels", "node": node},
        privacy=[{"model": "k-anonymity", "k": max(k, 2)}],
        suppression_limit=limit,
    )


SICK = pd.DataFrame({"age": list("112233"), "sex": list("FMFMFM"), "ill": list("uvuwvw")})
CLEAR = {"ill": "sensitive", "age": quasi()}


def kept(roles: dict[str, Any], k: int = 2, **more: Any) -> Plan:
    """Every quasi-identifier as it is; what is not named is left out."""
    roles = {**dict.fromkeys(SICK.columns, "identifier"), **roles}
    node = {name: 0 for name, role in roles.items() if "hierarchy" in role}
    return plan(
        roles, {"name": "levels", "node": node | more.pop("node", {})},
        privacy=[{"model": "k-anonymity", "k": k}], **more,
    )  # fmt: skip


def test_a_column_that_passes_through_elsewhere_joins_exactly() -> None:
    """Age is kept in one release; sex, a quasi-identifier of the other, passes through it."""
    through = run(kept({"age": quasi(), "sex": "insensitive", "ill": "sensitive"}), SICK)
    other = run(kept({"sex": quasi(), "age": "identifier", "ill": "sensitive"}), SICK)
    assert (through.recoding.min_k, other.recoding.min_k) == (2, 3)
    found = combined([through, other], SICK)
    assert found.together.min_k == 1
    assert found.undone == ("sex",)
    assert found.learnt[0].lined_up == 6
    # The person's row of the first release is known by age and sex together: nobody lines up rows.
    assert (found.learnt[0].certain, found.learnt[0].records) == (6, 1)


def test_what_is_sensitive_in_one_and_generalised_in_the_other() -> None:
    """Who looks for the illness does not know it: it does not help to find the person."""
    one = run(kept({"age": quasi(), "sex": "identifier", "ill": "sensitive"}), SICK)
    other = run(kept({"ill": quasi(), "age": "identifier", "sex": "identifier"}), SICK)
    found = combined([one, other], SICK)
    assert found.undone == ("ill",)
    assert found.together.counts.tolist() == [1] * 6  # who knows age and illness
    assert found.learnt[0].lined_up == 0  # who knows the age: two illnesses each
    assert found.learnt[0].values == 2


def test_who_was_suppressed_in_one_release_alone_is_singled_out() -> None:
    table = pd.DataFrame({"age": list("1112"), "sex": list("FFFF"), "s": list("uuvw")})
    suppressed = run(keeping(age=0, sex=0, limit=0.3), table)
    whole = run(keeping(age=1, sex=0), table)
    assert suppressed.recoding.suppressed_records == 1
    found = combined([suppressed, whole], table)
    assert found.smallest_classes == (3, 4)
    assert found.together.counts.tolist() == [1, 3]
    assert found.learnt[0].lined_up == 1
    assert found.learnt[0].certain == 0  # in the whole one the class has three values


def test_pseudonyms_tell_who_has_the_same_value() -> None:
    roles = {"age": {"role": "identifier", "pseudonym": True}, "sex": quasi(), "ill": "sensitive"}
    found = combined(
        [run(kept(roles), SICK), run(kept({"age": quasi(), "ill": "sensitive"}), SICK)], SICK
    )
    assert found.together.min_k == 1


def test_one_who_holds_all_holds_each() -> None:
    """A release whose k is small makes all together as bad, and says so."""
    runs = [
        run(kept({"age": quasi(), "ill": "sensitive"}), SICK),
        run(kept(CLEAR, k=3, node={"age": 1}), SICK),
    ]
    found = combined(runs, SICK)
    two, three = found.asked
    assert (two.level_alone, two.level, two.holds, two.releases) == (2, 2, True, (1,))
    assert (three.level_alone, three.level, three.records, three.holds) == (6, 2, 6, False)
    said = found.describe_releases(["one", "other"])[3]
    assert "k = 3 (↑ better), required by other: 6 in the worst class of any single release" in said
    assert "2 in the worst group of all together; 6 records in groups that do not meet it" in said


def in_both_orders(*wanted: Plan) -> list[CombinedReleases]:
    one, other = (Release.from_run(run(each, SICK)) for each in wanted)
    pairs = ((one, other), (in_order(one), other), (in_order(one), in_order(other)))
    return [combine_releases(pair, SICK) for pair in pairs]


def test_only_releases_in_the_order_of_the_table_are_lined_up() -> None:
    """By age and by sex, the illnesses u v u w v w stay: each twice, so none matches its row."""
    found = in_both_orders(kept(CLEAR), kept({"sex": quasi(), "ill": "sensitive"}))
    assert [one.lined_up for one in found] == [False, False, True]
    assert [one.matched_records for one in found] == [0, 0, 6]
    assert [one.together.min_k for one in found] == [1, 1, 1]
    # Age 1 has u and v, and F has u, u and v: two records in common at most.
    assert [one.candidates for one in found] == [1, 1, 1]
    assert found[0].order_sentence == (
        "Anyone can match the rows of at least 0 of 6 records (↓ better). Groups are counted as if "
        "all rows were matched, which is the most that anyone can learn. Without matched "
        "rows, a person is one of at most 1 record in the worst case (↑ better)"
    )
    assert found[2].order_sentence == "Anyone can line up the rows of all releases"


def test_rows_that_no_other_row_looks_like_are_matched_without_the_order() -> None:
    """A column that no plan speaks of passes through all releases, and numbers the rows."""
    table = SICK.assign(day=list("123455"))
    runs = [run(one, table) for one in (kept(CLEAR), kept({"sex": quasi(), "ill": "sensitive"}))]
    found = combined(runs, table)
    assert (found.matched_records, found.lined_up) == (
        6,
        True,
    )  # the two of day 5 differ in illness
    assert combined(runs[:1], table).matched_records == 0
    same = combined([run(one, table[["age", "sex", "ill"]]) for one in (kept(CLEAR),) * 2], SICK)
    assert (same.matched_records, same.lined_up) == (6, True), "age stays as it is in both"


@pytest.mark.parametrize(
    ("model", "level", "records", "said"),
    [
        (KAnonymity(3), 2, 1, "2 in the worst group of all together; 1 record in groups "
         "that do not meet it"),
        (KAnonymity(3), 4, 0, "4 in the worst group of all together"),
        (KAnonymity(3), None, 0, "no class in the worst group of all together"),
        (TCloseness(0.2, "ill"), 0.5, 2, "0.5 in the worst group of all together; 2 records in "
         "groups that do not meet it"),
    ],
)  # fmt: skip
def test_a_model_says_its_better_side_and_whether_it_is_met(
    model: Any, level: float | None, records: int, said: str
) -> None:
    assert (
        CombinedModel(model, (1, 2), 4, level, records, not records)
        .describe_model("ab")
        .endswith(said)
    )


def test_numbers_that_json_lacks_are_null() -> None:
    for level, number in ((2.5, 2.5), (math.inf, None), (None, None)):
        found = CombinedModel(KAnonymity(3), (1,), 4, level, 0, True)
        assert found.numbers["together"] == number


def test_releases_of_nobody_and_columns_undone_are_said() -> None:
    assert LearntValues("ill", 0, 0, None, None, None).sentence == "'ill': no release shows it"
    said = LearntValues("ill", 0, 0, 2, 1, 2).sentence
    assert "the worst case leaves 1 value and at most 2 rows;" in said
    for k, undone, size in ((None, (), "no"), (3, ("age",), "3")):
        together = SimpleNamespace(min_k=k, unique_records=0, n_records=0)
        said = CombinedReleases((k, 5), together, (), (), undone, 0, True, 3).describe_releases(
            ["one", "two"]
        )
        assert said[0].startswith(
            f"The smallest class has {size} and 5 records in one and two; the smallest group that "
            f"looks alike in all of them has {size} (↑ better)"
        )
        assert said[2:] == ("'age': generalised or left out in one release, shown unchanged in "
                            "another",) * len(undone)  # fmt: skip


# --- what cannot be combined ----------------------------------------------------------------------
def sentence_of(releases: list[Release], table: pd.DataFrame = SICK) -> str:
    with pytest.raises(PlanError) as raised:
        combine_releases(releases, table)
    return raised.value.sentence


def test_releases_of_different_tables_are_refused() -> None:
    release = Release.from_run(run(kept(CLEAR), SICK))
    longer = Release.from_run(run(kept(CLEAR), pd.concat([SICK, SICK])))
    assert sentence_of([release, longer]) == (
        "Release 1 is of a table with 6 records, but release 2 is of a table with 12: only "
        "releases of the same table can be combined."
    )
    for other in (
        SICK.assign(age=list("112222")),
        SICK.assign(ill=list("uvuwwv")).assign(age=list("113322")),
        SICK.assign(ill=list("vvuwuw")),
        SICK.assign(age=list("445566")),
    ):
        assert "not of the same table" in sentence_of(
            [release, Release.from_run(run(kept(CLEAR), other))]
        )


def test_another_table_than_that_of_the_releases_is_refused() -> None:
    by_age = Release.from_run(run(kept(CLEAR), SICK))
    by_sex = Release.from_run(run(kept({"sex": quasi(), "ill": "sensitive"}), SICK))
    assert "the table has 4" in sentence_of([by_age, by_sex], SICK.head(4))
    assert "not of the same table" in sentence_of([by_age, by_sex], SICK.assign(age=list("445566")))
    assert "No release was named" in sentence_of([])


@examples(40)
@given(st.data())
def test_too_many_cells_leave_the_matching_alone_uncounted(data: Any) -> None:
    table = data.draw(tables())
    wanted = data.draw(st.lists(plans(), min_size=2, max_size=2))
    releases = [Release.from_run(done) for done in released(table, wanted)]
    known, count = list_known_columns(releases), MemoryTable.build_classes

    def count_known(self: Any, columns: Any, sensitive: Any) -> Any:
        if tuple(columns) != known:
            raise TableError("Too many.")
        return count(self, columns, sensitive)

    whole = combine_releases(releases, table)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MemoryTable, "build_classes", count_known)
        less = combine_releases(releases, table)
    assert (numbers(less)[0], numbers(less)[2:4]) == (numbers(whole)[0], numbers(whole)[2:4])
    assert less.matched_records in (None, whole.matched_records)
    assert (
        less.matched_records is not None
        or "an unknown number of" in less.order_sentence
        or less.lined_up
    )
    assert (less.candidates or 0) >= (whole.candidates or 0)
    assert less.lined_up <= whole.lined_up


def test_a_table_in_an_engine_says_the_same(tmp_path: Path) -> None:
    table = pd.DataFrame(
        {"age": list("1122331122"), "sex": list("FMFMFMFFMM"), "ill": list("uvuwvwuvwu")}
    )
    path = tmp_path / "people.parquet"
    table.to_parquet(path)
    stored = open_address(Address.parse(str(path)), "duckdb", ReadSettings())
    by_age, by_sex = kept(CLEAR), kept({"sex": quasi(), "ill": "sensitive"})
    here = combined([run(by_age, table), run(by_sex, table)], table)
    there = combine_releases(
        [Release.from_run(run(each, stored)) for each in (by_age, by_sex)], stored
    )
    assert numbers(there) == numbers(here)
