"""How far a release is at most from the least possible: the figure, and what is said of it."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon.algorithms.catalogue import algorithms
from kanon.algorithms.lower_bound import lower_bound
from kanon.base.progress import ignore_progress
from kanon.errors import KanonError, PlanError
from kanon.hierarchy.build import suppression
from kanon.plan import Plan
from kanon.report.optimality_gap import (
    OptimalityGap,
    compute_close_bound,
    compute_quick_bound,
    explain_no_bound,
)
from kanon.run import finished, prepare, run
from support.people_plans import PEOPLE, plan_with
from support.plans import qi
from support.random_tables import examples, plans, problems

PATHS = {
    "age": {
        31: [31, "30-39", "20-39", "*"], 34: [34, "30-39", "20-39", "*"],
        38: [38, "30-39", "20-39", "*"], 52: [52, "50-59", "40-59", "*"],
        57: [57, "50-59", "40-59", "*"],
    },
    "sex": {"F": ["F", "*"], "M": ["M", "*"]},
}  # fmt: skip
"""What each value of PEOPLE becomes at each level."""
LOST = {"30-39": 3 / 5, "20-39": 3 / 5, "50-59": 2 / 5, "40-59": 2 / 5, "*": 1.0}
"""NCP: the leaves below of those of the column; a value has lost nothing."""


def loss(cells: pd.DataFrame) -> pd.Series:
    """What each record loses, in percent of all that the whole table could lose."""
    return 100 * cells.map(lambda cell: LOST.get(cell, 0.0)).sum(axis=1) / PEOPLE[QI].size


QI = list(PATHS)


def people_gap(**changes):
    """A release of PEOPLE by NCP, and how far it is from the least possible."""
    plan = plan_with(**{"algorithm": {"name": "gaa", "metric": "ncp"}, **changes})
    done = run(Plan.from_content(plan), PEOPLE.drop(columns="note"))
    return done, OptimalityGap.from_run(done, compute_close_bound(done.prepared, ignore_progress))


def by_definition(k: int) -> float:
    """The sum over the records of the cheapest group of k that each is in, at any levels."""
    least = pd.Series(np.inf, PEOPLE.index)
    for levels in product(*(range(len(next(iter(paths.values())))) for paths in PATHS.values())):
        raised = pd.DataFrame(
            {
                column: PEOPLE[column].map({value: path[level] for value, path in paths.items()})
                for (column, paths), level in zip(PATHS.items(), levels, strict=True)
            }
        )
        size = raised.groupby(QI)[QI[0]].transform("size")
        least = np.minimum(least, loss(raised).where(size >= k, np.inf))
    return least.sum()


def partitions(rows: list[int]):
    """Every way to put rows into groups."""
    if not rows:
        yield []
        return
    first, *rest = rows
    for others in partitions(rest):
        yield [[first], *others]
        for place, group in enumerate(others):
            yield [*others[:place], [first, *group], *others[place + 1 :]]


def of_group(rows: list[int]) -> float:
    """What the records of a group lose once they all look the same."""
    alike = {}
    for column, paths in PATHS.items():
        shared = set.intersection(*(set(paths[value]) for value in PEOPLE[column].iloc[rows]))
        alike[column] = min(shared, key=lambda node: LOST.get(node, 0.0))
    return len(rows) * float(loss(pd.DataFrame([alike])).sum())


@pytest.mark.sampled(2)
@pytest.mark.parametrize("k", [2, 3])
def test_the_bound_lies_between_its_definition_and_the_best_of_all_releases(k):
    prepared = people_gap(privacy=[{"model": "k-anonymity", "k": k}])[0].prepared
    quick = lower_bound(prepared.task_of_bound(), closely=False).percent()
    assert quick == pytest.approx(by_definition(k))
    best = min(
        sum(map(of_group, groups))
        for groups in partitions(list(range(len(PEOPLE))))
        if min(map(len, groups)) >= k
    )
    close = compute_close_bound(prepared, ignore_progress).percent()
    assert 0 < quick <= close <= best + 1e-9
    assert close <= compute_quick_bound(prepared, ignore_progress).percent() + 1e-9, (
        "it is as small"
    )


@pytest.mark.nightly
@examples(25)
@given(st.data())
def test_no_algorithm_goes_below_the_bound(data):
    """With suppression and other models or not; weights guide and do not count."""
    problem = data.draw(problems(max_records=10))
    content = data.draw(plans(problem))
    tried, bounds = 0, set()
    for name in algorithms():
        if name == "mdav":  # ranges
            continue
        algorithm = {**content["algorithm"], "name": name}
        plan = Plan.from_content({**content, "algorithm": algorithm, "suppression_limit": 0.3})
        prepared = prepare(plan, problem.frame())
        try:
            task = prepared.check()
            done = finished(prepared, algorithms()[name].anonymise(task), 0.0)
        except KanonError:
            continue
        bound = compute_close_bound(prepared, ignore_progress)
        gap = OptimalityGap.from_run(done, bound)
        bounds.add(bound)
        suppresses = done.recoding.suppressed_records > 0
        assert gap.least == bound.percent(suppresses) <= done.alteration + 1e-9
        assert gap.reached or gap.least < done.alteration
        assert ("keeps all records" in gap.sentence) <= (not suppresses)
        assert gap.sentence.lower().count("this one") == 1
        tried += 1
    assert tried or problem.classes().n_records < plan.k
    assert len(bounds) <= 1, "the algorithm does not matter"


def shown(text: str) -> float:
    return float(text.partition(" ")[0].replace("\u202f", ""))


@given(st.floats(1e-4, 100), st.floats(1e-4, 100))
def test_what_is_shown_errs_to_the_safe_side(one, other):
    least, lost = sorted([one, other])
    gap = OptimalityGap(lost, least, 5, "NCP")
    assert least * 0.8 < shown(gap.bound_text) <= least * (1 + 1e-9)
    if gap.reached:
        assert "can lose less than this one" in gap.sentence
    elif gap.gap_text.endswith("times"):
        assert 2 < lost / least <= shown(gap.gap_text) * (1 + 1e-9)
    else:
        more = 100 * (lost / least - 1)
        assert more <= shown(gap.gap_text) * (1 + 1e-9) and shown(gap.gap_text) <= more + 1
        assert f"at most {gap.gap_text} than the least possible." in gap.sentence


@pytest.mark.parametrize(
    ("lost", "least", "said"),
    [
        (30.0, 30.0, "can lose less than this one at k = 5: it loses 30.00 % (NCP), the "),
        (0.0, 0.0, "can lose less than this one at k = 5: it loses 0.00 % (NCP), the "),
        (3.0, 0.0, "the bound found is 0.00 %. This one loses 3.00 % (NCP)"),
        (None, 3.0, "less than 3.00 % at k = 5 (NCP). This one shows ranges that are not"),
        (4.6559, 4.6511, "4.65 % at k = 5 (NCP). This one loses 4.66 %, at most 0.2 % "),
    ],
)
def test_special_cases_have_sentences_of_their_own(lost, least, said):
    assert said in OptimalityGap(lost, least, 5, "NCP").sentence


def test_an_original_table_that_is_k_anonymous_loses_the_least():
    _, gap = people_gap(
        privacy=[{"model": "k-anonymity", "k": 2}], columns={"sex": qi(), "disease": qi()}
    )
    assert gap.lost and gap.gap_text
    _, gap = people_gap(columns={"disease": qi()})
    assert "not known" not in gap.explanation
    assert gap.reached and gap.sentence.endswith("it loses 0.00 % (NCP), the least possible.")


def test_weights_guide_and_do_not_count():
    plain, gap = people_gap()
    led, weighted = people_gap(
        algorithm={"name": "gaa", "metric": "ncp", "attribute_weights": {"age": 3.0}}
    )
    assert weighted.least == gap.least
    assert "counted without them" in weighted.explanation
    assert "counted without them" not in gap.explanation
    assert plain.alteration <= led.alteration + 1e-9


def test_of_ranges_no_gap_is_said():
    ranges = {"name": "mondrian", "metric": "ncp", "release": "ranges"}
    done, gap = people_gap(algorithm=ranges)
    assert done.recoding.ranged and gap.lost is None and gap.gap_text == ""
    _, groups = people_gap(algorithm={"name": "mondrian", "metric": "ncp"})
    assert groups.lost is not None and groups.least == gap.least


def test_k_in_persons_has_the_bound_of_k_records():
    _, gap = people_gap(person="name")
    _, of_records = people_gap()
    assert gap.least == of_records.least
    assert "k persons have at least k records" in gap.explanation
    assert "persons" not in of_records.explanation


def test_a_lattice_that_is_too_large_is_refused_without_advice_about_algorithms():
    """Twenty-four columns of two levels: 2 to the 24th nodes."""
    columns = [f"c{place}" for place in range(24)]
    table = pd.DataFrame([["a"] * 24, ["b"] * 24] * 3, columns=columns)
    tree = qi()
    plan = Plan.from_content(plan_with(columns=dict.fromkeys(columns, tree)))
    prepared = prepare(plan, table)
    with pytest.raises(
        PlanError, match="has 16\u202f777\u202f216 nodes, and a lower bound"
    ) as said:
        compute_close_bound(prepared, ignore_progress)
    assert "Use" not in said.value.sentence
    assert compute_quick_bound(prepared, ignore_progress) is None
    assert explain_no_bound(prepare(Plan.from_content(plan_with()), PEOPLE).classes) == ""
    assert suppression(["a", "b"]).height == 2
