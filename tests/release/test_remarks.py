"""What a release may give away although it meets its models: by hand, by laws, by brute force."""

import datetime
import itertools
import warnings
from collections import Counter
from functools import partial
from typing import get_args

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon.base.values import Frequencies
from kanon.errors import PrivacyWarning, TableError, Unsatisfiable
from kanon.learning.disclosure import count_revealed_cells
from kanon.measures.cells import count_cells_shown
from kanon.plan import Plan
from kanon.release.inferences import measure_agreement
from kanon.release.remark_kinds import KINDS, Kind, sort_by_kind
from kanon.release.remarks import check_table_remarks
from kanon.report.contents import collect_report
from kanon.run import run
from kanon.schema import Role
from kanon.sensitive import Sensitive
from kanon.sources.memory import MemoryTable
from kanon.sources.stored import StoredTable
from support.engine_tables import put_in_engine
from support.plans import plan_content
from support.random_tables import examples

NAMES = {
    "id": Role.IDENTIFIER,
    "pseudonym": Role.IDENTIFIER,
    "qi": Role.QUASI_IDENTIFIER,
    "s": Role.SENSITIVE,
    "other": Role.INSENSITIVE,
}


def on_table(columns, k=5, **roles):
    """The remarks on a table, per column its kind and share; roles in short."""
    frame = pd.DataFrame(columns)
    found = check_table_remarks(MemoryTable(frame), {c: NAMES[r] for c, r in roles.items()}, k)
    return {remark.column: remark for remark in found}


def released(frame, k=2, privacy=(), algorithm="gaa", plan=(), **roles):
    """A release, and the sentences that a run warns of."""
    columns = {
        column: {"role": NAMES[role].value, "pseudonym": role == "pseudonym"}
        | ({"hierarchy": {"build": "suppression"}} if role == "qi" else {})
        for column, role in roles.items()
    }
    plan = Plan.from_content(
        plan_content(columns, k, algorithm, models=privacy, read={"missing": "as-value"})
        | dict(plan)
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        done = run(plan, frame)
    assert {one.category for one in caught} <= {PrivacyWarning}
    return done, [str(one.message) for one in caught]


def births(n=1000):
    """Dates of birth of n people, as somebody who knows one of them knows his."""
    days = np.random.default_rng(3).integers(0, 25_000, n)
    return (np.datetime64("1940-01-01") + days).astype(str)


# --- a quasi-identifier that is almost a name -----------------------------------------------
def test_a_date_of_birth_in_a_table_of_a_thousand_is_almost_unique():
    born = births()
    alone = sum(n == 1 for n in Counter(born).values())
    (remark,) = on_table({"born": born, "sex": ["F", "M"] * 500}, born="qi", sex="qi").values()
    assert (remark.kind, remark.column) == ("almost-unique", "born")
    assert remark.share == alone / 1000 > 0.95
    assert f"{len(set(born))} values in 1\u202f000 records" in remark.found
    assert f"{alone / 10:.1f} % of them" in remark.found


@pytest.mark.parametrize("role", [Role.QUASI_IDENTIFIER, Role.SENSITIVE])
def test_who_has_several_records_is_singled_out_by_a_date_of_birth_of_nobody_else(role):
    who = np.random.default_rng(5).integers(0, 700, 1000)
    born = pd.Series(births(700)[who], dtype=object).where(who % 50 > 0)
    table = pd.DataFrame({"born": born, "who": [f"p{one}" for one in who]})
    persons = table.groupby("born", dropna=False)["who"].transform("nunique")
    alone = table["who"][persons == 1].nunique() / table["who"].nunique()
    roles = {"born": role, "who": Role.IDENTIFIER}
    (remark,) = check_table_remarks(MemoryTable(table), roles, 5, person="who")
    assert remark.share == alone > 2 * (born.map(born.value_counts()) == 1).mean()
    assert f"{100 * alone:.1f} % of {table['who'].nunique()} persons" in remark.found
    table.loc[0, "who"] = None  # of whom this record is nobody knows
    (remark,) = check_table_remarks(MemoryTable(table), roles, 5, person="who")
    assert "% of them" in remark.found


def test_a_release_is_told_what_it_shows_of_an_almost_unique_column():
    """Of thirty dates, two records keep theirs, as they share it; the others are blurred."""
    born = ["1990-01-01", "1990-01-01", *(f"19{n}-05-06" for n in range(50, 78))]
    done, _ = released(pd.DataFrame({"born": born}), born="qi")
    kept = int((done.released()["born"] == "1990-01-01").sum())
    (found,) = [one.found for one in done.remarks if one.kind == "almost-unique"]
    assert kept == 2 and found.endswith(
        "The release shows the column's original values in 2 records, 6.7 %."
    )
    none, _ = released(pd.DataFrame({"born": born[1:]}), born="qi")
    assert all(one.kind != "almost-unique" for one in none.remarks)
    assert set(none.released()["born"]) == {"*"}


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_missing_cell_is_never_shown_as_it_was(seed):
    """Missing cells keep together, so the release holds them: no value of anybody, by pandas."""
    draw = np.random.default_rng(seed)
    days = pd.Series([f"19{n}-05-06" for n in range(10, 99)]).sample(60, random_state=seed)
    born = pd.concat([days, days.head(3), pd.Series([None] * 25)], ignore_index=True)
    frame = pd.DataFrame({"born": born, "town": draw.choice([*"ab", None], len(born))})
    done, _ = released(frame, born="qi", town="qi")
    after = done.released(order="table")
    assert (after["born"][frame["born"].isna()] == "(missing)").any(), "some are in the release"
    for column in ("born", "town"):
        shown = int((after[column] == frame[column])[frame[column].notna()].sum())
        assert count_cells_shown(done.recoding, column) == shown
    found = [one.found for one in done.remarks if one.kind == "almost-unique"]
    told = int((after["born"] == frame["born"]).sum())
    report = collect_report(done.prepared.plan, frame, date=datetime.date(2026, 1, 2))
    assert [one.found for one in report.remarks if one.kind == "almost-unique"] == found
    assert len(found) == (told > 0)
    for one in found:
        assert "60 values in 63 records" in one
        assert f"shows the column's original values in {told} record" in one
    vain = alone = 0  # what the shares tell of blurred cells
    groups = [after[name] for name in ("born", "town")]
    for column in ("born", "town"):
        for _, own in frame[column].groupby(groups, dropna=False):
            same = (after.loc[own.index, column] == own) | own.isna()
            counts = own.value_counts()
            alone += int(own[~same].map(counts).eq(1).sum())
            vain += len(own) if len(set(own.fillna("?"))) == 1 and not same.any() else 0
    assert count_revealed_cells(done.recoding) == (vain, alone)


def test_an_age_is_not_almost_unique_whatever_k_is_asked_for():
    ages = [n % 80 for n in range(1000)]
    assert on_table({"age": ages}, k=500, age="qi") == {}


@pytest.mark.parametrize(("distinct", "remarked"), [(50, False), (51, True), (100, True)])
def test_almost_unique_is_more_than_one_value_per_two_records(distinct, remarked):
    values = [n % distinct for n in range(100)]
    assert ("a" in on_table({"a": values}, a="qi")) is remarked


def test_small_tables_and_identifiers_are_not_remarked_on():
    assert on_table({"a": range(20)}, a="qi") == {}
    assert on_table({"a": range(1000)}, a="id") == {}


def test_an_identifier_that_repeats_is_remarked_on_unless_it_says_who_is_who():
    """Of A A B C, A has two records; by pairs of towns each class is of two persons."""
    (remark,) = on_table({"who": list("AABC")}, who="id").values()
    assert (remark.kind, remark.share) == ("several-records", 0.5)
    assert "1 value has several records, 2 in all" in remark.found
    roles = {"who": NAMES["id"], "name": NAMES["id"]}
    table = MemoryTable(pd.DataFrame({"who": list("AABC"), "name": list("XXYZ")}))
    assert len(check_table_remarks(table, roles, 2)) == 2
    assert check_table_remarks(table, roles, 2, person="who") == ()


def test_spellings_of_a_person_are_told():
    """'Ana' and her name with an invisible sign are two persons to kanon and one to a reader."""
    frame = pd.DataFrame({"who": ["Ana", "Ana\u200b"], "town": ["Ulm", "Ulm"]})
    done, _ = released(frame, plan={"person": "who"}, who="id", town="qi")
    (remark,) = done.remarks
    assert (remark.kind, remark.column) == ("several-spellings", "who")
    assert remark.found.endswith("1 pair in all. k counts each spelling as a person.")


# --- a sensitive column that others know ----------------------------------------------------
@pytest.mark.parametrize("name", ["age", "zip", "Sex", "date_of_birth", "PLZ", "patient name"])
def test_a_sensitive_column_that_is_called_like_something_known(name):
    remark = on_table({name: ["a", "b"] * 20}, **{name: "s"})[name]
    assert remark.kind == "known-outside" and "its name" in remark.found


@pytest.mark.parametrize("name", ["disease", "income", "note", "x1"])
def test_a_sensitive_column_that_looks_private(name):
    assert on_table({name: ["a", "b"] * 20}, **{name: "s"}) == {}


def test_a_sensitive_column_of_dates_or_of_names():
    many = [f"{n}" for n in range(100)]
    days = [f"{n % 28 + 1}.3.2021" for n in range(100)]
    found = on_table({"many": many, "days": days}, many="s", days="s")
    assert "exact dates" in found["days"].found
    assert "100 values in 100 records" in found["many"].found and found["many"].share == 1


def test_a_sensitive_value_that_follows_from_a_quasi_identifier():
    """The district follows from the code; the illness from nothing."""
    rng = np.random.default_rng(1)
    code = rng.integers(0, 20, 600)
    frame = pd.DataFrame(
        {"code": code, "district": code // 4, "ill": rng.integers(0, 3, 600)}, dtype=str
    )
    done, _ = released(frame, code="qi", district="s", ill="s")
    known = sort_by_kind(done.remarks)["known-outside"]
    assert [remark.column for remark in known] == ["district"]
    assert "follows from 'code'" in known[0].found and "100.0 % of the cases" in known[0].found


def test_a_sensitive_value_that_follows_from_two_together():
    """Neither bit tells whether they differ; both do."""
    rng = np.random.default_rng(2)
    one, two = rng.integers(0, 2, (2, 400))
    frame = pd.DataFrame({"one": one, "two": two, "differ": one != two}, dtype=str)
    done, _ = released(frame, k=150, one="qi", two="qi", differ="s")
    (known,) = sort_by_kind(done.remarks)["known-outside"]
    assert "follows from all quasi-identifiers" in known.found


def test_too_few_pairs_are_no_evidence():
    """Ten pairs of people alike share a rare illness or lack it, as chance has it."""
    frame = pd.DataFrame({"a": [n // 2 for n in range(20)], "ill": ["no"] * 18 + ["yes"] * 2})
    done, _ = released(frame.astype(str), a="qi", ill="s")
    assert "known-outside" not in sort_by_kind(done.remarks)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=60))
@examples(100)
def test_shared_values_are_counted_pair_by_pair(records):
    group, value = (list(part) for part in zip(*records, strict=True))
    found = measure_agreement(Sensitive.from_records("s", list("abcd"), False, group, value, 4))
    pairs = list(itertools.combinations(range(len(records)), 2))
    within = [(i, j) for i, j in pairs if group[i] == group[j]]
    overall = sum(value[i] == value[j] for i, j in pairs) / len(pairs)
    if (1 - overall) * len(within) < 20 - 1e-9:
        assert found is None
    elif (1 - overall) * len(within) > 20 + 1e-9:
        share = sum(value[i] == value[j] for i, j in within) / len(within)
        assert found == pytest.approx((share, overall))


# --- pseudonyms that link records -----------------------------------------------------------
VISITS = pd.DataFrame(
    {"patient": list("AABC"), "place": list("XYXY"), "ill": ["HIV", "flu", "cold", "gout"]}
)
TWO = [{"model": "distinct-l-diversity", "l": 2}]
SHORT = {"patient": "pseudonym", "place": "qi", "ill": "s"}


def test_a_pseudonym_tells_who_was_here_and_there():
    """A alone was at X and at Y: who knows that finds P_i with HIV, although k = l = 2."""
    done, said = released(VISITS, privacy=TWO, **SHORT)
    assert done.released(order="table")["place"].tolist() == list("XYXY")
    (remark,) = done.remarks
    assert (remark.kind, remark.column, remark.share) == ("linked", "patient", 0.5)
    assert "1 person has several, and for 1 of them, 100.0 %, fewer than 2" in remark.found
    assert said == [f"{remark.found} {KINDS['linked'].advice}"]
    (hint,) = check_table_remarks(
        MemoryTable(VISITS), done.prepared.plan.roles.roles, 2, ["patient"]
    )
    assert hint.found[:-1] in remark.found


def test_a_dropped_identifier_or_a_record_per_person_links_nothing():
    assert released(VISITS, **{**SHORT, "patient": "id"})[0].remarks == ()
    once = VISITS.assign(patient=["A", None, None, "C"])
    assert released(once, privacy=TWO, **SHORT)[0].remarks == ()


@given(
    st.lists(st.tuples(st.sampled_from(["A", "B", "C", "D", "E", None]), st.sampled_from("XYZ")),
             min_size=4, max_size=24),
    st.sampled_from(["keep", "leave-out"]),
)  # fmt: skip
@examples(60)
def test_linked_persons_are_those_that_a_comparison_of_all_finds(records, suppressed):
    frame = pd.DataFrame(records, columns=["who", "place"])
    plan = {"suppression_limit": 0.5, "suppressed": suppressed}
    done, _ = released(frame, k=3, algorithm="datafly", plan=plan, who="pseudonym", place="qi")
    rows = done.released().assign(where=done.prepared.source.get_released_positions(done.recoding))
    combined = {who: Counter(some["where"]) for who, some in rows.groupby("who")}
    several = {who: of for who, of in combined.items() if of.total() > 1}
    alone = sum(list(combined.values()).count(of) < 3 for of in several.values())
    found = [remark for remark in done.remarks if remark.kind == "linked"]
    assert len(found) == bool(several)
    for remark in found:
        assert f"{len(several)} person" in remark.found and f"for {alone} of them" in remark.found
        assert remark.share == sum(of.total() for of in several.values()) / len(rows)


# --- classes that share one sensitive value -------------------------------------------------
def test_the_records_of_homogeneous_classes_are_counted():
    """Of the classes a (flu, flu, flu), b (flu, cold) and c (cold, cold), a and c tell."""
    frame = pd.DataFrame(
        {"x": list("aaabbcc"), "ill": ["flu", "flu", "flu", "flu", "cold", "cold", "cold"]}
    )
    done, said = released(frame, x="qi", ill="s")
    (remark,) = done.remarks
    assert (remark.kind, remark.share) == ("homogeneous", 5 / 7)
    assert remark.found.startswith("5 records, 71.4 %, are in 2 classes")
    assert said == [f"{remark.found} {KINDS['homogeneous'].advice}"]


def test_one_homogeneous_record_is_said_as_one():
    """The woman stands alone, as nothing is asked but that shares stay near the table's."""
    frame = pd.DataFrame({"x": ["F", "M", "M"], "ill": ["flu", "flu", "cold"]})
    asked = {"model": "t-closeness", "t": 2, "distance": "norm1"}
    done, _ = released(frame, plan={"privacy": [asked]}, x="qi", ill="s")
    (remark,) = sort_by_kind(done.remarks)["homogeneous"]
    assert remark.found.startswith("1 record, 33.3 %, is in 1 class in which all")


def test_l_diversity_leaves_no_homogeneous_class():
    frame = pd.DataFrame({"x": list("aaabbcc"), "ill": list("fffgccc")})
    asked = [{"model": "distinct-l-diversity", "l": 2}]
    assert released(frame, privacy=asked, x="qi", ill="s")[0].remarks == ()


@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("xyz"), st.sampled_from(["f", None])),
             min_size=4, max_size=30),
    st.randoms(),
)  # fmt: skip
@examples(40)
def test_homogeneous_records_are_those_that_pandas_counts(records, random):
    frame = pd.DataFrame(records, columns=["a", "b", "ill"])
    done, _ = released(frame, a="qi", b="qi", ill="s")
    groups = done.released().fillna("?").groupby(["a", "b"])["ill"]
    expected = int((groups.transform("nunique") == 1).sum())
    found = [remark for remark in done.remarks if remark.kind == "homogeneous"]
    assert sum(round(remark.share * len(frame)) for remark in found) == expected
    order = random.sample(range(len(frame)), len(frame))
    again, _ = released(frame.iloc[order], a="qi", b="qi", ill="s")
    assert again.remarks == done.remarks, "the order of the rows says nothing"


# --- values that are written in several ways ------------------------------------------------
@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1.5", "1.50"), ("1", "+1"), ("1e3", "1000"), ("7", "007"), ("3", "\u0663"), (".5", "0.5"),
        ("1000", "1 000"), ("caf\u00e9", "cafe\u0301"), ("HIV", "HIV\u200b"), ("HIV", "\u00adHIV"),
        ("type 1", "type\u00a01"), ("\u200b", None), ("HIV", "hiv"), ("nan", "NaN"), ("n/a", None),
        ("I21.0", "i-210"), ("unknown", "None"),
    ],
)  # fmt: skip
def test_one_value_that_is_written_in_two_ways_is_remarked(one, other):
    frame = pd.DataFrame({"x": list("aaaabbbb"), "ill": pd.Series([one, other] * 4, dtype=object)})
    with pytest.raises(Unsatisfiable, match="l is at most 1"):
        released(frame, privacy=TWO, x="qi", ill="s")
    done, said = released(frame, x="qi", ill="s")
    remark = next(one for one in done.remarks if one.kind == "several-spellings")
    homogeneous = next(one for one in done.remarks if one.kind == "homogeneous")
    assert homogeneous.share == 1, "everybody has the same value"
    assert (remark.kind, remark.column, remark.share) == ("several-spellings", "ill", 1)
    assert "'ill' has 1 value that is written in several ways" in remark.found
    assert "1 pair in all. Diversity counts them as one value; t-closeness" in remark.found
    assert f"{remark.found} {KINDS['several-spellings'].advice}" in said
    assert check_table_remarks(MemoryTable(frame), done.prepared.plan.roles.roles, 2) == (remark,)


@pytest.mark.parametrize(
    "different",
    [
        ["1.5", "1.51"], ["HIV", "H I V!"], ["10", "1_0"], ["\u00b2", "2"], ["A+", "A-"],
        ["9007199254740993", "9007199254740992"], ["x", None], ["1,5", "1.5"],
        ["1e999999999999999999", "1e999999999999999998"], ["1e99999999999999999999", "inf"],
    ],
)  # fmt: skip
def test_different_values_are_no_two_ways_of_one(different):
    assert on_table({"ill": different * 4}, ill="s") == {}


def test_the_records_of_values_in_several_ways_are_counted():
    """1.5 and 1.50, 2 and 2.00, 7 and 07; kanon reads 2.0 as 2."""
    alike = ["2", "2.0", "2.00", "0", "+0", "-0", "x", "x ", "7", "07"]
    remark = on_table({"ill": ["1.5"] * 3 + ["1.50", *alike]}, ill="s")["ill"]
    assert "has 3 values that are" in remark.found and remark.share == 9 / 14
    assert "3 pairs in all" in remark.found


# --- columns that pass through --------------------------------------------------------------
@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("2021-03-{:02d} 10:00:00.5+02", "it holds exact dates"),
        ("2021-03-{:02d} 10:00 UTC", "it holds exact dates"),
        ("{:02d}MAR1981", "it holds exact dates"),
        ("{:02d}-JAN-20 10.11.12 AM", "it holds exact dates"),
        ("Wed, {} Mar 1981", "it holds exact dates"),
        ("{:02d}031981", "it holds exact dates"),
        ("{}. März 1981", "it holds exact dates"),
        ("le {} mars 1981", ""),
        ("19{}/09", "it holds exact dates, to the month"),
        ("décembre 19{}", "it holds exact dates, to the month"),
        ("1234{:02d}99", ""),
    ],
)
def test_dates_that_pass_through_are_remarked_on_however_they_are_written(pattern, said):
    seen = [pattern.format(day) for day in range(10, 28)] * 6
    found = on_table({"x": ["a"] * len(seen), "seen": seen}, x="qi")
    assert ("dates" in found["seen"].found if "seen" in found else False) == bool(said)
    if said:
        assert found["seen"].found.startswith(f"'seen' passes into the release unchanged: {said}.")


def test_a_few_words_among_dates_do_not_hide_them():
    seen = [f"{day}.3.1981" for day in range(1, 20)] * 6 + ["not said"] * 6
    found = on_table({"x": ["a"] * len(seen), "seen": seen}, x="qi")
    assert "it holds exact dates" in found["seen"].found


def test_free_text_dates_and_rare_values_that_pass_through():
    n = 100
    found = on_table(
        {
            "x": ["a"] * n,
            "note": [f"came in on day {i} again" for i in range(n)],
            "seen": [f"2021-03-{i % 4 + 1:02} 10:00" for i in range(n)],
            "town": ["Ulm"] * 95 + ["Aalen"] * 3 + ["Horb", "Lorch"],
            "plain": ["p", "q"] * 50,
        },
        x="qi",
    )
    assert {remark.kind for remark in found.values()} == {"passes-through"}
    assert list(found) == ["note", "town", "seen"], "those of more records first"
    assert "looks like free text. 100.0 % of its records" in found["note"].found
    assert found["seen"].share == 0 and "it holds exact dates" in found["seen"].found
    assert found["town"].share == 0.05
    assert (
        "5.0 % of its records have a value that fewer than 5 share, 2.0 % a value of their own"
        in (found["town"].found)
    )


def test_categories_of_several_words_are_no_free_text():
    found = on_table({"x": ["a"] * 100, "m": ["never married at all", "married once more"] * 50})
    assert found == {}


def test_how_rare_is_rare_goes_by_k():
    columns = {"x": ["a"] * 30, "m": ["p"] * 20 + ["q"] * 10}
    assert on_table(columns, k=10, x="qi") == {}
    assert on_table(columns, k=11, x="qi")["m"].share == pytest.approx(1 / 3)


def test_who_knows_such_a_column_sees_smaller_classes():
    """Two classes of four; with the town known, groups of 3, 1, 2 and 2."""
    frame = pd.DataFrame({"x": list("aaaabbbb"), "town": list("uuuvuuvv"), "p": ["z"] * 8})
    done, said = released(frame, k=3, x="qi", town="other")
    (remark,) = done.remarks
    assert remark.column == "town" and remark.share == 5 / 8
    assert "62.5 % of the released records are in classes with fewer than 3 records" in remark.found
    assert any("does not name 'p'" in sentence for sentence in said)


@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(["u", "v", "w", None])),
             min_size=3, max_size=40),
    st.sampled_from(["gaa", "datafly"]),
)  # fmt: skip
@examples(60)
def test_the_smaller_classes_are_those_that_a_grouping_counts(records, algorithm):
    frame = pd.DataFrame(records, columns=["x", "town"])
    done, _ = released(frame, k=3, algorithm=algorithm, x="qi", town="other")
    sizes = done.prepared.source.count_value_sizes("town", done.recoding)
    expected = done.released().groupby(["x", "town"], dropna=False).size()
    assert sorted(sizes) == sorted(expected)


@given(st.lists(st.one_of(st.none(), st.sampled_from("abcdef")), min_size=1))
@examples(100)
def test_frequencies_say_what_a_count_of_counts_says(cells):
    found = MemoryTable(pd.DataFrame({"a": pd.Series(cells, dtype=object)})).frequencies("a")
    counts = Counter(cell for cell in cells if cell is not None)
    assert dict(zip(found.sizes.tolist(), found.values.tolist(), strict=True)) == (
        Counter(counts.values())
    )
    for k in range(1, 8):
        assert found.count_rarer_than(k) == sum(n for n in counts.values() if n < k)
    assert (found.distinct.values, found.distinct.n_filled) == (len(counts), counts.total())


def test_a_column_without_values_is_not_remarked_on():
    assert on_table({"x": ["a"] * 30, "age": [None] * 30}, x="qi") == {}
    assert on_table({"x": ["a"] * 30, "age": [None] * 30}, x="qi", age="s")["age"].share == 0


# --- no value is told -----------------------------------------------------------------------
@given(st.data())
@examples(30)
def test_no_remark_holds_a_value(data):
    secret = st.sampled_from([f"SECRET{n}" for n in range(40)])
    rows = data.draw(st.lists(st.tuples(secret, secret, secret), min_size=25, max_size=60))
    frame = pd.DataFrame(rows, columns=["x", "age", "town"])
    _, said = released(frame, x="qi", age="s", town="other")
    assert "SECRET" not in " ".join(said)


def test_every_kind_has_its_advice():
    assert all(about.title and about.advice.endswith(".") for about in KINDS.values())
    assert tuple(KINDS) == get_args(Kind)


# --- tables that stay in an engine ----------------------------------------------------------
@pytest.fixture(params=["duckdb", "sqlite"])
def in_engine(request, tmp_path):
    """Put a table where an engine reads it."""

    return partial(put_in_engine, engine=request.param, folder=tmp_path)


@pytest.fixture
def fails(monkeypatch):
    """Has an engine group no more values from now on."""

    def count(*_):
        raise TableError("It needs more memory.")

    return partial(monkeypatch.setattr, StoredTable, "frequencies", count)


@pytest.mark.sampled(2)
def test_an_engine_counts_what_memory_counts(in_engine):
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(
        {
            "born": births(300),
            "sex": rng.choice(["F", "M"], 300),
            "age": rng.integers(20, 60, 300).astype(str),
            "note": [f"some words about {n}" for n in range(299)] + [None],
            "town": rng.choice(["Ulm", "Horb"], 300, p=[0.99, 0.01]),
        }
    )
    short = {"born": "qi", "sex": "qi", "age": "s", "note": "other", "town": "other"}
    table, roles = in_engine(frame), {column: NAMES[role] for column, role in short.items()}
    assert check_table_remarks(table, roles, 5) == check_table_remarks(MemoryTable(frame), roles, 5)
    mine, _ = released(frame, **short)
    theirs, said = released(table, **short)
    assert [(one.kind, one.column) for one in theirs.remarks] != []
    uncounted = "How much smaller it makes the classes was not counted in the engine."
    known = {(each.kind, each.column): each for each in mine.remarks}
    for one in theirs.remarks:
        same = known[one.kind, one.column]
        assert one.found.replace(uncounted, "").strip() in same.found
        assert (uncounted in one.found) is (one.kind == "passes-through")
    assert len(said) == len(sort_by_kind(theirs.remarks))


@pytest.mark.sampled(2)
def test_an_engine_says_what_is_written_in_several_ways(in_engine):
    frame = pd.DataFrame({"x": list("aabb"), "ill": ["1.5", "1.50"] * 2})
    table, roles = in_engine(frame), {"ill": NAMES["s"], "x": NAMES["qi"]}
    (remark,) = check_table_remarks(table, roles, 2)
    assert (remark.kind, remark.share) == ("several-spellings", 1)
    assert remark in released(table, x="qi", ill="s")[0].remarks


def test_an_engine_says_that_an_identifier_repeats(in_engine, fails):
    table = in_engine(VISITS)
    done, _ = released(table, **{**SHORT, "patient": "id"})
    (found,) = [one.found for one in done.remarks if one.kind == "several-records"]
    assert "2 in all" in found and found.endswith("were not counted in the engine.")
    fails()
    again, _ = released(table, **{**SHORT, "patient": "id"})
    assert all(one.column != "patient" for one in again.remarks), "it leaves the release"


def test_an_engine_says_that_pseudonyms_link(in_engine, fails):
    table = in_engine(VISITS)
    done, _ = released(table, privacy=TWO, **SHORT)
    (remark,) = done.remarks
    assert remark.kind == "linked" and remark.found.endswith("was not counted in the engine.")
    fails()
    again, _ = released(table, privacy=TWO, **SHORT)
    (remark,) = [one for one in again.remarks if one.kind == "linked"]
    assert "its engine could not count" in remark.found


def test_what_an_engine_cannot_group_is_said(in_engine, fails):
    frame = pd.DataFrame({"x": list("aabb"), "ill": list("fgfg"), "note": list("pqrs")})
    table = in_engine(frame)
    fails()
    (remark,) = released(table, x="qi", ill="s", note="other")[0].remarks
    assert (remark.column, remark.share) == ("note", 1)
    assert "its engine could not count" in remark.found
    kinds = {
        one.kind for one in check_table_remarks(table, {"x": NAMES["qi"], "ill": NAMES["s"]}, 2)
    }
    assert kinds == {"almost-unique", "known-outside", "passes-through"}


@pytest.mark.adult
def test_remarks_on_adult(adult_path):
    """With eight quasi-identifiers and k = 5, more than a third of the records tell the salary."""
    adult = pd.read_csv(adult_path, sep=";", dtype=str)
    roles = {**dict.fromkeys(adult.columns, "qi"), "salary-class": "s"}
    done, _ = released(adult, k=5, **roles)
    (remark,) = done.remarks
    groups = done.released().groupby(list(roles)[:-1])["salary-class"]
    assert remark.kind == "homogeneous"
    assert remark.share == pytest.approx((groups.transform("nunique") == 1).mean(), abs=1e-12)
    assert remark.share > 1 / 3


def test_frequencies_of_nothing():
    assert (
        Frequencies.count_frequencies([]).count_rarer_than(5)
        == 0
        == Frequencies.count_frequencies([0]).distinct.values
    )


def test_records_that_were_suppressed_before_are_remarked_on():
    table = pd.DataFrame(
        {"a": [*"xxyy", None, None], "b": [*"ppqq", None, None], "ill": ["flu"] * 6}
    )
    done, _ = released(table, a="qi", b="qi", ill="s")
    found = [one.found for one in done.remarks if one.kind == "suppressed-before"]
    assert found == [
        "2 records of the table show nothing in any quasi-identifier (* or blank), like "
        "suppressed records."
    ]
