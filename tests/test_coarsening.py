"""Sensitive columns at a level of a hierarchy: by pandas alone, by laws, checked, and refused."""

import datetime
import json
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kanon.errors import CoverageError, PlanError, PrivacyWarning, TableError, Unsatisfiable
from kanon.hierarchy import Hierarchy
from kanon.hierarchy.build import intervals
from kanon.measures.privacy import sensitive_measures
from kanon.plan import Plan
from kanon.release.check import check_release
from kanon.release.common_classes import Release
from kanon.release.composition import combine_releases
from kanon.release.drift import check_next_table
from kanon.report.contents import collect_report
from kanon.report.origin import write_canonical_plan
from kanon.run import prepare, run
from kanon.sources.addresses import Address
from kanon.sources.coarsening import Coarsening
from kanon.sources.stored import open_stored
from support.command_line import check_failure, write_plan
from support.plans import plan_content, qi
from support.random_tables import examples

GROUPS = {"lungs": ["asthma", "cold", "flu"], "bones": ["gout", "rickets"]}
GROUP_OF = {value: group for group, values in GROUPS.items() for value in values}
ILL = {"role": "sensitive", "hierarchy": {"build": "groups", "levels": [GROUPS]}, "level": 1}


def plan(ill=ILL, k=2, **changes):
    """A plan for persons of towns and ages, whose disease is told by its group."""
    return Plan.from_content(
        plan_content(
            {"who": {"role": "identifier"}, "town": qi(), "age": qi(), "ill": ill},
            k,
            read={"missing": "drop-records"},
        )
        | changes
    )


def quiet(wanted, table):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        return run(wanted, table)


@st.composite
def tables(draw):
    """Persons with several records, ties, and missing cells anywhere."""
    row = st.tuples(
        st.sampled_from([f"p{n}" for n in range(9)]),
        st.sampled_from(["Ulm", "Horb", None]),
        st.sampled_from([31, 32, None]),
        st.sampled_from([*GROUP_OF, None]),
    )
    rows = draw(st.lists(row, min_size=6, max_size=30))
    table = pd.DataFrame(rows, columns=["who", "town", "age", "ill"])
    assume(table.dropna(subset=["town", "age"])["who"].nunique() >= 2)
    return table


def plainly(released):
    """The l, the entropy l and the t of the worst class, by pandas; missing is a value."""
    ill = released["ill"].fillna("nothing")
    usual = ill.value_counts(normalize=True)
    found = []
    for _, some in ill.groupby([released["town"], released["age"]]):
        share = some.value_counts(normalize=True)
        apart = share.reindex(usual.index, fill_value=0) - usual
        entropy = -(share * np.log(share)).sum()
        found.append((some.nunique(), np.exp(entropy), apart.abs().sum() / 2, share.max()))
    distinct, entropy_l, t, alpha = zip(*found, strict=True)
    return min(distinct), min(entropy_l), max(t), max(alpha)


# --- by pandas alone ------------------------------------------------------------------------
@given(tables())
@examples(60)
def test_everything_is_counted_on_the_mapped_column(table):
    done = quiet(plan(person="who"), table)
    kept = table.dropna(subset=["town", "age"])
    mapped = kept["ill"].map(GROUP_OF)
    released = done.released(index=True, order="table")
    assert released["ill"].where(released["ill"].notna(), None).tolist() == (
        mapped.where(mapped.notna(), None).tolist()
    )
    expected = plainly(released.assign(ill=mapped))
    measured = [done.measures[name] for name in ("distinct_l", "entropy_l", "t_variational")]
    assert measured == pytest.approx(expected[:3])
    assert table["ill"].isin(GROUP_OF).sum() == table["ill"].notna().sum(), "it was not changed"

    excerpt = done.prepared.source.get_excerpt(done.recoding, 30)
    assert excerpt.before["ill"].equals(kept["ill"]), "as they were, not as they were counted"
    assert excerpt.after["ill"].equals(released["ill"])


@given(tables(), st.integers(2, 3))
@examples(30)
def test_a_model_is_met_by_the_groups(table, wanted):
    model = {"model": "distinct-l-diversity", "l": wanted}
    asked = plan(privacy=[{"model": "k-anonymity", "k": 2}, model])
    whole = table.dropna(subset=["town", "age"])["ill"].map(GROUP_OF).fillna("nothing").nunique()
    if whole < wanted:
        with pytest.raises(Unsatisfiable):
            quiet(asked, table)
        return
    try:
        done = quiet(asked, table)
    except Unsatisfiable:
        assert len(table.dropna(subset=["town", "age"])) < 2
        return
    assert plainly(done.released())[0] == done.verdicts[1].level >= wanted


# --- laws -----------------------------------------------------------------------------------
@given(tables())
@examples(60)
def test_coarser_values_are_never_better_mixed_and_never_farther_from_the_table(table):
    """Of the same classes: values that become one are easier to guess, and tell less apart."""
    fine = prepare(plan({"role": "sensitive"}), table).classes.sensitive[0]
    coarse = prepare(plan(), table).classes.sensitive[0]
    before, after = sensitive_measures(fine), sensitive_measures(coarse)
    for name in ("distinct_l", "entropy_l", "t_variational", "basic_beta"):
        assert after[name] <= before[name] + 1e-12, name
    assert after["alpha"] >= before["alpha"]
    assert coarse.sizes.tolist() == fine.sizes.tolist()


UNEVEN = Hierarchy.from_entries(
    [
        ("*", None, None), ("A", "*", None), ("A1", "A", None), ("a", "A1", None),
        ("b", "A1", None), ("c", "A", None), ("d", "*", None),
    ]
)  # fmt: skip
"""Values that hang at different heights: A1 is at level 1, A at level 2."""


@pytest.mark.parametrize(
    ("level", "labels", "allowed"),
    [
        (1, ["A1", "A1", "c", "d", "A"], {"A1", "c", "d", "A", "*"}),
        (2, ["A", "A", "A", "d", "A"], {"A", "d", "*"}),
        (3, ["*"] * 5, {"*"}),
    ],
)
def test_a_value_becomes_its_highest_group_of_at_most_the_level(level, labels, allowed):
    one = Coarsening("ill", UNEVEN, level)
    assert one.cells(pd.Series(list("abcdA"))).tolist() == labels, "A stood in the table so"
    assert one.group_labels == allowed
    assert one.n_groups == len(set(labels[:4]))


# --- checked --------------------------------------------------------------------------------
TABLE = pd.DataFrame(
    {
        "who": [f"p{n}" for n in range(8)],
        "town": ["Ulm"] * 4 + ["Horb"] * 4,
        "age": [31] * 8,
        "ill": ["flu", "gout", "cold", None, "asthma", "rickets", "gout", "flu"],
    }
)


def test_the_check_refuses_a_finer_value():
    done = quiet(plan(), TABLE)
    released, roots = done.released(), {"town": "*", "age": "*"}
    allowed = {"ill": {"lungs", "bones", "*"}}
    assert [one.holds for one in check_release(released, plan(), roots, None, allowed)] == [True]
    spoiled = released.assign(ill=released["ill"].where(released.index != 2, "cold"))
    (found,) = check_release(spoiled, plan(), roots, None, allowed)
    assert (found.model, found.holds) == ("coarsened", False)
    assert found.sentence == "'ill' shows values finer than level 1 of its hierarchy"


@pytest.mark.parametrize("kind", ["csv", "xlsx", "parquet"])
def test_a_file_is_checked_whatever_its_labels_look_like(kind):
    odd = {"=lungs": GROUPS["lungs"], "7.0": GROUPS["bones"]}
    hierarchy = {"build": "groups", "levels": [odd]}
    done = quiet(plan({**ILL, "hierarchy": hierarchy}), TABLE)
    assert done.content(kind, neutral=True)


# --- told -----------------------------------------------------------------------------------
def test_report_plan_and_remarks_say_it():
    report = collect_report(plan(), TABLE, date=datetime.date(2026, 1, 31))
    (profile,) = [one for one in report.profile if one.name == "ill"]
    assert profile.fate == "coarsened to level 1 of its hierarchy"
    assert "Coarsened before anything was counted: 'ill'." in report.leaves
    assert "Left as they are" not in report.leaves
    assert dict(report.plan_terms)["Coarsened"].startswith("ill to level 1 of 2")
    assert [one.column for one in report.hierarchies] == ["town", "age", "ill"]
    assert [one.column for one in report.remarks if one.kind == "coarsened"] == ["ill"]
    assert json.loads(report.plan)["columns"]["ill"]["level"] == 1
    assert any(
        "'ill' was coarsened before anything was counted" in one for one in report.plain_sentences
    )
    known = {one.level.title: (one.before, one.after) for one in report.risks if one.column}
    # Before, too, it is counted in groups: each class of the table has both.
    assert known["Distinct l-diversity"] == (2, 2)


def test_the_plan_keeps_it_and_an_earlier_plan_its_meaning():
    kept = Plan.from_json(write_canonical_plan(plan()))
    assert kept.coarsened == plan().coarsened
    old = plan({key: value for key, value in ILL.items() if key != "level"})
    assert "groups" not in write_canonical_plan(old), "a hierarchy without a level decides nothing"
    assert (
        quiet(old, TABLE).released(order="table")["ill"].dropna().tolist()
        == TABLE["ill"].dropna().tolist()
    )


def test_the_next_table_is_checked_by_groups():
    other = TABLE.assign(ill=["flu", "gout", "asthma", None, "cold", "cold", "gout", "flu"])
    assert check_next_table(plan(), other, before=TABLE) == ()
    strange = other.assign(ill=other["ill"].replace("gout", "plague"))
    (found,) = check_next_table(plan(), strange, before=TABLE)
    assert (found.kind, found.column, found.stops) == ("new-values", "ill", True)


# --- refused --------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("ill", "said"),
    [
        ({**ILL, "level": 0}, "columns.ill.level"),
        ({**ILL, "role": "insensitive"}, "has the role insensitive"),
        ({"role": "sensitive", "level": 1}, "has no hierarchy"),
    ],
)
def test_a_level_is_for_a_sensitive_column_with_a_hierarchy(ill, said):
    with pytest.raises(PlanError, match=said):
        plan(ill)


def test_a_level_that_a_hierarchy_lacks_and_a_value_that_it_lacks():
    with pytest.raises(PlanError, match=r"level 3 is not allowed; .* has levels 0 to 2"):
        prepare(plan({**ILL, "level": 3}), TABLE)
    with pytest.raises(CoverageError, match="'ill'"):
        prepare(plan(), TABLE.assign(ill="plague"))


def test_an_engine_refuses(tmp_path):
    path = tmp_path / "people.csv"
    TABLE.to_csv(path, index=False)
    with pytest.raises(TableError, match="'ill' cannot be coarsened by an engine"):
        prepare(plan(), open_stored(Address(str(path))))


def test_releases_that_show_other_groups_are_not_combined():
    releases = [
        Release.from_run(quiet(one, TABLE))
        for one in (plan(), plan({**ILL, "level": 2}), plan(k=3))
    ]
    with pytest.raises(PlanError, match="'ill' is coarsened differently"):
        combine_releases(releases[:2], TABLE)
    (learnt,) = combine_releases([releases[0], releases[2]], TABLE).learnt
    assert learnt.values == 2, "the groups, and no value below them"


def test_a_coarsened_column_is_compared_as_it_is_shown():
    """A record without a town is dropped, and with it a disease that no group has."""
    table = pd.concat([TABLE, TABLE[:1].assign(town=None, ill="plague")], ignore_index=True)
    wanted = plan(read={"missing": "drop-records"})
    both = combine_releases([Release.from_run(quiet(wanted, table)) for _ in range(2)], table)
    assert both.together.n_records == len(TABLE)
    (learnt,) = both.learnt
    assert learnt.values == 2, "the groups, and no value below them"


# --- the command line -----------------------------------------------------------------------
PAID = {"build": "intervals", "widths": [10000, 20000]}


def test_the_command_coarsens_as_pandas_does(kanon, folder):
    rng = np.random.default_rng(5)
    people = pd.DataFrame({"age": rng.integers(20, 40, 60), "pay": rng.integers(0, 60000, 60)})
    people.to_csv(folder / "pay.csv", index=False)
    columns = {
        "age": qi("intervals", widths=[5, 10]),
        "pay": {"role": "sensitive", "hierarchy": PAID, "level": 1},
    }
    models = [
        {"model": "k-anonymity", "k": 4},
        {"model": "t-closeness", "t": 0.6, "distance": "variational"},
    ]
    write_plan(folder, columns=columns, privacy=models)
    said = kanon(
        "run", "plan.json", "--table", "pay.csv", "--out", "out.csv", "--measures", "m.json"
    )
    assert said.status == 0
    released = pd.read_csv(folder / "out.csv")
    lowest = people["pay"] // 10000 * 10000
    labels = lowest.astype(str) + "-" + (lowest + 9999).astype(str)
    assert sorted(released["pay"]) == sorted(labels)
    found = plainly(released.assign(town="", ill=released["pay"]))
    measures = json.loads((folder / "m.json").read_text("utf-8"))
    assert measures["distinct_l"] == found[0]
    assert measures["t_variational"] == pytest.approx(found[2])

    write_plan(folder, columns={**columns, "pay": {**columns["pay"], "level": 4}}, privacy=models)
    said = kanon("run", "plan.json", "--table", "pay.csv", "--out", "other.csv")
    check_failure(said, 2, ["columns.pay.level", "level 4", "levels 0 to 3"])
    assert not (folder / "other.csv").exists()


def test_a_deep_tree_is_raised_at_once():
    tree = intervals([str(n) for n in range(2000)], [2**n for n in range(1, 11)])
    one = Coarsening("pay", tree, 10)
    assert set(one.cells(pd.Series(range(2000)))) == {"0-1023", "1024-2047"}
