"""The smallest sets of columns that single records or persons out: by hand, laws, brute force."""

import json
from collections import defaultdict
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon.cli.main import main
from kanon.errors import PlanError, TableError
from kanon.schema import Role
from kanon.sources.addresses import Address
from kanon.sources.memory import MemoryTable
from kanon.sources.reading import read_table
from kanon.sources.singling_out import Contribution, SmallestSet, round_share_up, singling_out
from kanon.sources.stored import open_stored
from support.paths import ROOT
from support.plans import plan_content, qi
from support.random_tables import examples


def found_in(frame, **asked):
    return singling_out(MemoryTable(pd.DataFrame(frame)), **asked)


def sets(found):
    return {one.columns: one.singled_out for one in found.sets}


# --- by hand --------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def animals():
    path = ROOT / "sample_data" / "animals-m23.csv"
    return read_table(path, path.name).table


def test_the_animals(animals):
    """Ana and Carole are alike but for their names, and so are Eric and Fred: 4 of 8 are not."""
    found = found_in(animals, share=0.5)
    assert found.sets == (
        SmallestSet(("name",), 8),
        SmallestSet(("gender", "disease"), 4),
        SmallestSet(("race", "disease"), 4),
    )
    # One disease alone, the angina and the conjunctivitis, is enough for 2 of 8.
    assert found.contributions == (
        Contribution("name", 1, 8),
        Contribution("disease", 2, 4),  # without it, gender or race: nobody
        Contribution("gender", 1, 2),
        Contribution("race", 1, 2),
    )
    assert found.identifier_like == ("name",)
    assert found.proposed == ("gender", "race", "disease")
    assert (found.together, found.complete) == (4, True)


def test_a_table_of_one_record_is_refused_without_naming_a_k_that_nobody_chose():
    with pytest.raises(PlanError) as refused:
        singling_out(MemoryTable(pd.DataFrame({"age": [1]})))
    assert str(refused.value) == ("A table of 1 record singles nobody out; it needs at least 2.")


def test_groups_of_fewer_than_k_count_too(animals):
    """With k = 3 couples are singled out: by race both cats and both dogs, and nobody by gender."""
    found = found_in(animals, columns=["gender", "race"], share=0.5, k=3)
    assert sets(found) == {("race",): 4}
    assert found.together == 0, "gender alone leaves five and three"


def test_a_missing_cell_is_a_value_of_its_own():
    one = found_in({"a": ["x", "x", None]}, share=0.1)
    assert sets(one) == {("a",): 1}
    two = found_in({"a": ["x", "x", None, None]}, share=0.1)
    assert sets(two) == {}, "two that lack it are alike in it"


def test_one_value_written_in_two_ways_is_one():
    assert sets(found_in({"a": ["39", "39.0", " 39"], "b": [1, 1, 1]}, share=0.1)) == {}


def test_columns_that_say_the_same_are_in_sets_of_their_own():
    frame = {"sex": list("FFMM"), "gender": list("wwmm"), "age": [1, 2, 1, 2]}
    assert sets(found_in(frame, share=1)) == {("sex", "age"): 4, ("gender", "age"): 4}


def test_who_has_several_records_alike_is_found():
    """Nobody else is a woman of town a but Ann, who is in the table twice."""
    frame = pd.DataFrame(
        {
            "who": ["Ann", "Ann", "Bea", "Bea", "Cem", "Cem", "Dan"],
            "sex": list("FFFFMMM"),
            "town": list("aabbaab"),
        }
    )
    asked = {"columns": ["sex", "town"], "share": 0.5}
    assert sets(found_in(frame, **asked)) == {}, "one record of seven is unique"
    found = found_in(frame, **asked, person="who")
    assert sets(found) == {("sex", "town"): 4}
    assert (found.of, found.number, found.together) == ("persons", 4, 4)
    assert found.said[0] == (
        "A person is singled out if no other one of the 4 persons shares the values of one of the "
        "person's records."
    )
    with pytest.raises(PlanError, match="from 2 to the number of persons, 4"):
        found_in(frame, **asked, k=5, person="who")
    with pytest.raises(PlanError, match="table of 1 person"):
        found_in(frame.head(2), **asked, person="who")
    with pytest.raises(PlanError, match="'who'"):
        found_in(frame.assign(who=None), **asked, person="who")


def test_the_roles_that_are_contradicted():
    frame = {"id": [1, 2, 3, 4], "sex": list("FFMM"), "age": [1, 2, 1, 2], "note": list("aaaa")}
    found = found_in(frame, share=1)
    assert found.proposed == ("sex", "age")
    assert found.contradicted({"sex": Role.QUASI_IDENTIFIER}) == ("id", "age")
    known = dict.fromkeys(("id", "sex", "age"), Role.QUASI_IDENTIFIER)
    assert found.contradicted(known) == ()


def test_what_is_too_much_is_left_out_by_whole_sizes():
    frame = pd.DataFrame(list(product("ab", repeat=4)), columns=list("wxyz"))
    found = found_in(frame, share=1, size=4, most=9)
    assert (found.size, found.asked, found.complete, found.sets) == (1, 4, False, ())
    assert found.together == 16
    assert "Larger sets, up to 4 columns, were not examined" in " ".join(found.said)
    assert found_in(frame, share=1, size=4, most=0).size == 1, "single columns are always counted"
    assert found_in(frame, share=1, size=4, most=10).size == 2
    whole = found_in(frame, share=1, size=4, most=15)
    assert whole.complete and sets(whole) == {("w", "x", "y", "z"): 16}


def test_nothing_is_looked_for_that_cannot_be():
    """Where all columns together do not reach the share, no set of some of them is counted."""
    told = []
    frame = pd.DataFrame({name: ["a"] * 9 + ["b"] for name in "vwxyz"})
    found = found_in(frame, share=0.2, size=5, progress=lambda share, text: told.append(text))
    assert (found.sets, found.together, found.complete) == ((), 1, True)
    assert set(told) == {"5 sets of 1 column", ""}


def test_progress_rises_to_the_end(animals):
    told = []
    found_in(animals, share=1, progress=lambda share, text: told.append(share))
    assert told == sorted(told) and told[0] == 0 and told[-1] == 1


# --- against brute force --------------------------------------------------------------------
def singled_by(names, frame, k, person=None, **_):
    """How many have a row of cells that fewer than k have, by the definition.

    Where nobody tells persons apart, every record is one.
    """
    who = range(len(frame)) if person is None else frame[person]
    cells = frame.astype(object).where(frame.notna(), None)[list(names)]
    rows = list(cells.itertuples(index=False, name=None))
    having = defaultdict(set)
    for row, one in zip(rows, who, strict=True):
        having[row].add(one)
    return len({one for row, one in zip(rows, who, strict=True) if len(having[row]) < k})


def smallest(frame, columns, share, k, size, person=None):
    """Every set that reaches the share of which no part does, of all subsets."""
    everybody = len(frame) if person is None else frame[person].nunique()
    counted = {
        one: singled_by(one, frame, k, person=person)
        for number in range(1, size + 1)
        for one in combinations(columns, number)
    }
    reached = {one for one, number in counted.items() if number / everybody >= share}
    return {one: counted[one] for one in reached if not any({*other} < {*one} for other in reached)}


@st.composite
def tables(draw):
    """A table of few values, some of them missing, with what is asked of it."""
    rows, columns = draw(st.integers(2, 14)), draw(st.integers(1, 5))
    values = st.sampled_from([None, "a", "b", "c", "d"][: draw(st.integers(2, 5))])
    cells = draw(
        st.lists(st.lists(values, min_size=columns, max_size=columns), min_size=rows, max_size=rows)
    )
    frame = pd.DataFrame(cells, columns=[f"c{j}" for j in range(columns)], dtype=object)
    everybody, person = rows, {}
    if draw(st.booleans()):
        names = st.sampled_from(["p0", "p1", "p2", "p3"])
        who = ["p0", "p1", *draw(st.lists(names, min_size=rows - 2, max_size=rows - 2))]
        frame["who"], everybody, person = who, len({*who}), {"person": "who"}
    asked = {
        "columns": [name for name in frame if name != "who"],
        "share": draw(st.integers(1, everybody)) / everybody,
        "k": draw(st.integers(2, min(4, everybody))),
        "size": draw(st.integers(1, columns + 1)),
    }
    return frame, asked | person


@given(tables())
@examples(100)
def test_the_sets_are_those_of_all_subsets(problem):
    frame, asked = problem
    found = found_in(frame, **asked)
    assert found.complete
    assert sets(found) == smallest(frame, **asked)
    low = [
        c
        for c in asked["columns"]
        if singled_by([c], frame, **asked) / found.number < asked["share"]
    ]
    assert found.together == (singled_by(low, frame, **asked) if low else 0)
    for one in found.contributions:
        within = [each for each in found.sets if one.column in each.columns]
        gains = [
            each.singled_out - (singled_by(rest, frame, **asked) if rest else 0)
            for each in within
            for rest in [[c for c in each.columns if c != one.column]]
        ]
        assert (one.sets, one.singled_out) == (len(within), max(gains))


@st.composite
def planted(draw):
    """Sets of which none is part of another, and a table that they alone single out records of.

    Each set of s columns gets 2 ** s rows of its own: in its columns all tuples of two values that
    nobody else has, in all others the same. To lack one of its columns leaves couples.
    """
    columns = [f"c{j}" for j in range(draw(st.integers(2, 7)))]
    chosen: list[tuple[str, ...]] = []
    for one in draw(st.lists(st.sets(st.sampled_from(columns), min_size=1, max_size=4))):
        if not any({*other} <= one or one <= {*other} for other in chosen):
            chosen.append(tuple(sorted(one)))
    times = draw(st.integers(1, 3))  # k - 1
    rows = [dict.fromkeys(columns, "-")] * draw(st.integers(times + 1, 9))
    for number, one in enumerate(chosen):
        for cells in product((f"{number} a", f"{number} b"), repeat=len(one)):
            rows += [dict.fromkeys(columns, "-") | dict(zip(one, cells, strict=True))] * times
    return pd.DataFrame(rows, columns=columns), chosen, times + 1


@given(planted(), st.randoms(use_true_random=False))
@examples(100)
def test_planted_sets_are_found_exactly(problem, random):
    frame, chosen, k = problem
    order = random.sample(range(len(frame)), len(frame))
    least = min((2 ** len(one) * (k - 1) for one in chosen), default=1)
    found = found_in(frame.iloc[order], share=least / len(frame), k=k, size=4)
    assert sets(found) == {one: 2 ** len(one) * (k - 1) for one in chosen}
    assert {*found.proposed} == {column for one in chosen for column in one}


# --- laws -----------------------------------------------------------------------------------
@given(tables(), st.randoms(use_true_random=False))
@examples(100)
def test_laws(problem, random):
    frame, asked = problem
    before = frame.copy(deep=True)
    table = MemoryTable(frame)
    found = singling_out(table, **asked)
    pd.testing.assert_frame_equal(frame, before)
    # Neither the order of the rows nor their index matters.
    order = random.sample(range(len(frame)), len(frame))
    shuffled = frame.iloc[order].set_index(np.zeros(len(frame), dtype=int))
    assert found_in(shuffled, **asked) == found
    # Nor does the order of the columns, but for the order in which they are named.
    turned = found_in(frame, **asked | {"columns": asked["columns"][::-1]})
    assert {frozenset(one): n for one, n in sets(turned).items()} == {
        frozenset(one): n for one, n in sets(found).items()
    }
    # A column more never singles out fewer records, and no smallest set has another one within.
    for one in found.sets:
        for rest in combinations(one.columns, len(one.columns) - 1):
            if rest:
                assert singled_by(rest, frame, **asked) <= one.singled_out
        assert not any({*other.columns} < {*one.columns} for other in found.sets)
        assert one.singled_out / found.number >= asked["share"]
    # To ask for more columns adds sets and takes none away.
    fewer = found_in(frame, **{**asked, "size": 1})
    assert sets(fewer).items() <= sets(found).items()


# --- tables that stay where they are ----------------------------------------------------------
MIXED = pd.DataFrame(
    {
        "id": [f"p{n}" for n in range(12)],
        "age": ["34", " 34", "34.0", "47", "47", "?", "51", "51", "52", "90", "34", "47"],
        "zip": ["007", "007", "008", "008", "7", "7", "", "007", "008", "009", "007", "NA"],
        "ill": ["flu", "flu", "cold", "?", "10", "9", "flu", "cold", "", "flu", "flu", "9"],
    }
)


@pytest.fixture
def stored(tmp_path):
    MIXED.to_csv(tmp_path / "people.csv", index=False)
    return open_stored(Address(str(tmp_path / "people.csv")))


def test_an_engine_finds_what_is_found_in_memory(stored, tmp_path):
    table = read_table(tmp_path / "people.csv", "people.csv").records
    for asked in ({}, {"share": 0.5, "k": 3}, {"columns": ["zip", "age"], "person": "id"}):
        assert singling_out(stored, **asked) == singling_out(table, **asked)
    left, mine = stored.complete(["age", "ill"]), table.complete(["age", "ill"])
    for columns in (["age"], ["zip", "ill"]):
        found, expected = left.count_class_sizes(columns), mine.count_class_sizes(columns)
        assert found.sizes.tolist() == expected.sizes.tolist()
        assert found.values.tolist() == expected.values.tolist()


def test_a_column_of_very_many_values_is_counted_alone(stored, limits):
    limits(distinct_values=8)
    found = singling_out(stored, share=0.4)
    assert found.identifier_like == ("id",)
    limits(distinct_values=4)
    with pytest.raises(TableError, match="Column 'age' has more distinct values"):
        singling_out(open_stored(stored.address), columns=["age", "zip"], share=0.9)


def test_what_an_engine_cannot_group_by_is_said(stored):
    with pytest.raises(PlanError, match="Name at least one column"):
        stored.count_class_sizes([])
    with pytest.raises(PlanError, match="The table has no column 'town'"):
        stored.count_class_sizes(["town"])


# --- the command ----------------------------------------------------------------------------
PLAN = plan_content(
    {"name": {"role": "identifier"}, "race": qi(), "disease": {"role": "sensitive"}}
)
ANIMALS = str(ROOT / "sample_data" / "animals-m23.csv")
FIND = ("quasi-identifiers", "--table")


def test_the_command_says_what_was_found(capsys):
    assert main([*FIND, ANIMALS, "--share", "50%"]) == 0
    lines = capsys.readouterr().out.replace("\u202f", " ").splitlines()
    for line in (
        "  'gender', 'disease': 4 records, 50.0 %",
        "  'disease': 4 records, 50.0 %, in 2 sets",
        "Suggested quasi-identifiers: 'gender', 'race', 'disease'.",
        "Each of these alone singles out every record, as a name would: 'name'.",
    ):
        assert line in lines


def test_the_command_holds_a_plan_against_it(tmp_path, capsys):
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(PLAN), "utf-8")
    asked = [*FIND, ANIMALS, "--plan", str(path), "--share", "0.5", "--k", "2"]
    assert main(asked) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == "Insensitive in the plan, although they are in such sets: 'gender'."
    assert main([*asked, "--json"]) == 0
    numbers = json.loads(capsys.readouterr().out)
    assert numbers["contradicted"] == ["gender"]
    assert numbers["sets"] == [
        {"columns": ["gender", "disease"], "records": 4, "share": 0.5},
        {"columns": ["race", "disease"], "records": 4, "share": 0.5},
    ]
    assert (numbers["records"], numbers["k"], numbers["size"], numbers["complete"]) == (8, 2, 3, 1)


def test_the_command_counts_persons(tmp_path, capsys):
    rows = "who,sex,town\nAnn,F,a\nAnn,F,a\nBea,F,b\nBea,F,b\nCem,M,a\nCem,M,a\nDan,M,b\n"
    (tmp_path / "visits.csv").write_text(rows, "utf-8")
    plan = {
        **PLAN,
        "columns": {"who": {"role": "identifier"}, "sex": qi(), "town": {"role": "insensitive"}},
        "person": "who",
    }
    (tmp_path / "plan.json").write_text(json.dumps(plan), "utf-8")
    asked = [*FIND, str(tmp_path / "visits.csv"), "--share", "50%", "--json"]
    for more in (["--person", "who"], ["--plan", str(tmp_path / "plan.json")]):
        assert main([*asked, *more]) == 0
        numbers = json.loads(capsys.readouterr().out)
        assert numbers["persons"] == 4
        assert numbers["sets"] == [{"columns": ["sex", "town"], "persons": 4, "share": 1.0}]
    assert main([*asked, "--person", "name"]) == 2
    assert "'name'" in capsys.readouterr().err


def test_blanked_rows_of_a_release_are_no_records(tmp_path, capsys):
    rows = "sex,age,suppressed\nF,1,0\nF,1,0\nM,2,0\n*,*,1\n"
    (tmp_path / "released.csv").write_text(rows, "utf-8")
    assert main([*FIND, str(tmp_path / "released.csv"), "--json"]) == 0
    numbers = json.loads(capsys.readouterr().out)
    assert numbers["records"] == 3
    assert [one["columns"] for one in numbers["sets"]] == [["sex"], ["age"]]


# --- the census -----------------------------------------------------------------------------
def test_the_figures_of_adult_are_those_of_the_page(adult_path):
    text = (ROOT / "docs" / "explanation" / "singling-out.md").read_text("utf-8")
    table = read_table(adult_path, adult_path.name).records
    for size in (3, 4):
        found = singling_out(table, size=size)
        for one in found.sets[:6]:
            share = 100 * one.singled_out / found.number
            line = f"| {', '.join(one.columns)} | {one.singled_out:,} | {share:.1f} % |"
            assert line in text, line
    assert f"{len(found.sets)} smallest sets of up to 4 columns" in text
    for one in found.contributions:
        assert f"| {one.column} | {one.singled_out:,} | {one.sets} |" in text, one.column
    assert f"{found.together:,} of {found.number:,}" in text


@pytest.mark.parametrize("share", ["1.1%", "0.011"])
def test_a_percentage_is_the_share_that_it_says(capsys, share):
    assert main([*FIND, ANIMALS, "--share", share, "--size", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["share"] == 11 / 1000


@pytest.mark.parametrize("n", [5, 7, 30, 49, 93, 1000, 30162])
def test_a_share_of_some_of_n_is_some_of_n(n):
    for times in range(1, n):
        share, percentage = times / n, 100 * times / n
        for told in (share, float(f"{share:.15f}"), percentage / 100):
            assert round_share_up(told, n) == times


def test_a_share_of_some_of_n_is_reached_by_some_of_n(capsys, tmp_path):
    n, times, table = 93, 2, tmp_path / "t.csv"
    values = [*(f"only {place}" for place in range(times)), *["same"] * (n - times)]
    table.write_text("\n".join(["a;b", *(f"{value};x" for value in values)]), "utf-8")
    call = [*FIND, str(table), "--json", "--columns", "a,b", "--share"]
    for share in (f"{times}/{n}", f"{times / n!r}", f"{100 * times / n!r}%", f"{times / n:.15f}"):
        main([*call, share])
        found = json.loads(capsys.readouterr().out)
        assert [(one["columns"], one["records"]) for one in found["sets"]] == [(["a"], times)]
    main([*call, f"{times + 1}/{n}"])
    assert json.loads(capsys.readouterr().out)["sets"] == []


@pytest.mark.parametrize("text", ["1/0", "half", "/2", "1/2/3", "1e999999999", "nan", "3/2"])
def test_what_is_no_share_is_refused(capsys, text):
    assert main([*FIND, ANIMALS, "--share", text]) != 0
    assert "hare" in capsys.readouterr().err
