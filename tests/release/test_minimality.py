"""The remark that a minimal release tells more than its models allow."""

import warnings

import numpy as np
import pandas as pd
import pytest

from kanon.algorithms.catalogue import uses
from kanon.classes import EquivalenceClasses
from kanon.hierarchy import Hierarchy
from kanon.measures import minimality
from kanon.privacy.distinct_l_diversity import DistinctLDiversity
from kanon.recoding import Recoding
from kanon.release.inferences import check_minimality
from kanon.run import run
from kanon.sensitive import Sensitive
from support.plans import make_plan, qi_with

TOWNS = ["q1", "q1", "q2", "q2", "q2", "q3", "q3"]
ILLS = ["hiv", "hiv", "flu", "cold", "gout", "flu", "cold"]
TREE = {
    "nodes": [
        {"name": "*"}, {"name": "A", "parent": "*"}, {"name": "q3", "parent": "*"},
        {"name": "q1", "parent": "A"}, {"name": "q2", "parent": "A"},
    ]
}  # fmt: skip
DIVERSE = {"model": "distinct-l-diversity", "l": 2, "column": "ill"}


def remarks_of(algorithm="gaa", privacy=(DIVERSE,), k=2, towns=TOWNS, ills=ILLS, **more):
    """What a run warns of minimality, and its release."""
    frame = pd.DataFrame({"town": towns, "ill": ills, **more.pop("columns", {})})
    columns = {"town": qi_with(TREE), "ill": {"role": "sensitive"}, **more.pop("roles", {})}
    chosen = {"name": algorithm, **more.pop("options", {})}
    plan = make_plan(columns, k, chosen, models=privacy, **more)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        done = run(plan, frame)
    told = [str(one.message) for one in caught if "minimal" in str(one.message)]
    found = [one for one in done.remarks if one.kind == "minimality"]
    assert all(one.found in sentence for one, sentence in zip(found, told, strict=True))
    return done, found


EIGHT = ("gaa", "datafly", "samarati", "incognito", "ola", "flash", "lattice-sweep", "mondrian")


@pytest.mark.parametrize("algorithm", EIGHT)
def test_every_algorithm_is_remarked_on_that_raises_two_people_for_their_disease(algorithm):
    limit = {"suppression_limit": 0} if uses(algorithm, "suppression") else {}
    done, (remark,) = remarks_of(algorithm, **limit)
    assert sorted(done.released()["town"]) == ["A"] * 5 + ["q3"] * 2
    assert (remark.column, remark.share) == ("ill", 5 / 7)
    assert remark.found == (
        "1 class could be split into parts of at least 2 records, but no split of it meets "
        "Distinct l-diversity with l = 2 for 'ill'. kanon makes minimal releases: it "
        "generalises no more than needed. Anyone who knows this concludes that every split has a "
        "part that does not meet the requirements: at worst a "
        "person's 'ill' is 100.0 % certain instead of 40.0 %."
    )


def test_nothing_is_remarked_without_a_model_beside_k():
    assert remarks_of(privacy=())[1] == []


def test_nothing_is_remarked_where_k_explains_every_class():
    done, found = remarks_of(k=3)
    assert set(done.released()["town"]) == {"*"} and found == []


def test_nothing_is_remarked_where_a_conclusion_changes_no_probability():
    """Of x, x, y, y two and two break l = 2 together: each value stays at one half."""
    towns, ills = ["q1", "q1", "q2", "q2", "q3", "q3"], ["x", "x", "y", "y", "x", "y"]
    done, found = remarks_of(towns=towns, ills=ills)
    assert sorted(done.released()["town"]) == ["A"] * 4 + ["q3"] * 2 and found == []


def test_classes_of_models_for_two_columns_are_counted_alone():
    both = [DIVERSE, {**DIVERSE, "column": "job"}]
    roles = {"job": {"role": "sensitive"}}
    _, (remark,) = remarks_of(privacy=both, columns={"job": list("abcabab")}, roles=roles)
    assert "for 'ill' and Distinct l-diversity with l = 2 for 'job'" in remark.found
    assert "For 1 class, what a minimality attack reveals was not computed." in remark.found
    assert "instead of" not in remark.found


def test_a_class_left_whole_without_reason_is_counted_apart():
    """Levels that the user chose: no model asked for A, so nothing follows from it."""
    node = {"options": {"node": {"town": 1}}}
    assert remarks_of("levels", ills=["flu", "cold", *ILLS[2:]], **node)[1] == []
    assert remarks_of("levels", **node)[1][0].found.endswith("100.0 % certain instead of 40.0 %.")


def test_what_is_not_reckoned_is_said(monkeypatch):
    """Two classes of two towns each: of one no split holds, of the other one does."""
    tree = Hierarchy.from_entries(
        [("*", None, None), ("A", "*", None), ("B", "*", None)]
        + [(town, town[0].upper(), None) for town in ("a1", "a2", "b1", "b2")]
    )
    ill = Sensitive.from_records(
        "ill", ["x", "y", "z"], False, [0, 0, 1, 1, 1, 2, 2, 3, 3], [0, 0, 0, 1, 2, 0, 1, 0, 1], 4
    )
    nodes, counts = np.arange(4)[:, None], np.array([2, 3, 2, 2])
    classes = EquivalenceClasses(("town",), (tree,), nodes, counts, (ill,))
    above = tree.parent[nodes]
    release, models = Recoding.from_targets(classes, above), [DistinctLDiversity(2, "ill")]
    (remark,) = check_minimality(release, models, 2)
    assert remark.share == 5 / 9
    assert remark.found.endswith(
        "In 1 other class such a conclusion is wrong: a split there meets the models."
    )
    monkeypatch.setattr(minimality, "_MOST_PLACES", 1)
    (remark,) = check_minimality(release, models, 2)
    assert remark.found == "For 2 classes, what a minimality attack reveals was not computed."
