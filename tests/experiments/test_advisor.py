"""The advisor: every way tried, weighed by what matters, and held against other data."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon.base.progress import ignore_progress
from kanon.errors import PlanError, Unsatisfiable
from kanon.experiments.advisor.advice import advise
from kanon.experiments.advisor.proposals import (
    count_best_k,
    describe_first_warning,
    describe_limits,
    propose,
)
from kanon.experiments.advisor.repetition import (
    RepeatedLoss,
    measure_stability,
    run_again,
    sample_classes,
)
from kanon.experiments.advisor.ways import (
    ADVISOR_METRICS,
    build_advisor_comparison,
    choose_averaged_k,
    choose_solved_k,
    create_advisor_runs,
    list_advisor_configurations,
    plan_to_advise,
)
from kanon.experiments.advisor.weights import CONCERNS, compute_losses, rank_configurations
from kanon.experiments.comparison import Comparison, Line
from kanon.experiments.sweep import Configuration, run_sweep
from kanon.experiments.titles import name_configuration
from kanon.measures import alteration
from kanon.measures.along import Points
from kanon.plan import Plan
from kanon.privacy import entropy_l_diversity, t_closeness
from kanon.run import prepare, run
from kanon.schema import Role
from kanon.sources.opening import open_table
from kanon.strategies import STRATEGIES
from kanon.studio.session.samples import SAMPLES, find_bundled_file
from support.plans import make_plan, plan_content, qi, qi_with
from support.random_tables import examples, problems

BEST_L = 4.0
"""The l of the invented tables of :func:`board`, as one class."""


def board(losses, ks=(5,), sensitive="ill"):
    """Ways with given losses, one row per way and in it, if there are several, one per k."""
    lost = np.asarray(losses, dtype=float).reshape(len(losses), len(ks), -1)
    lines = []
    for place, each in enumerate(lost):
        numbers = {"k": np.array(ks), "mean_alteration": each[:, 0]}
        if sensitive:
            numbers["entropy_l"] = BEST_L * (100 - each[:, 1]) / 100
            numbers["t_norm1"] = each[:, 2] / 50
        best = {sensitive: BEST_L} if sensitive else {}
        name = f"way {place}"
        own = Configuration("ncp", "s1", place)
        lines.append(
            Line(own, ADVISOR_METRICS[0], {None: Points(numbers)}, name, title=name, best_l=best)
        )
    return Comparison(tuple(lines), ADVISOR_METRICS, 1000, tuple(ks), sensitive)


def first(losses, weights, **how):
    return int(rank_configurations(board(losses), [5], weights, **how).order[0])


def sample(table, records, **algorithm):
    """Some records of a table that comes with kanon, and a plan for it."""
    columns = {}
    for column, role in SAMPLES[table].roles.items():
        columns[column] = {"role": role.value}
        if role is Role.QUASI_IDENTIFIER:
            columns[column]["hierarchy"] = str(find_bundled_file(table, column))
    plan = plan_content(columns, 5, {"name": "gaa"} | algorithm)
    return Plan.from_content(plan), open_table(SAMPLES[table].path).table.head(records)


@pytest.fixture(scope="module")
def hospital():
    return sample("hospital", 100)


# --- the ways ---------------------------------------------------------------------------------
def test_there_are_95_ways_and_seven_without_a_sensitive_column():
    found = list_advisor_configurations(True)
    assert len(found) == len({name_configuration(one) for one in found}) == 95
    counted = {name: sum(one.strategy == name for one in found) for name in STRATEGIES}
    assert counted == dict.fromkeys(STRATEGIES, 0) | {
        "s1": 7, **{f"s{number}": 14 for number in range(2, 8)}, "l": 2, "t": 2,
    }  # fmt: skip
    assert [one.strategy for one in list_advisor_configurations(False)] == ["s1"] * 7


@pytest.mark.parametrize(
    ("given_k", "found"),
    [((5,), (5,)), ((5, 5), (5,)), ((2, 6), (2, 3, 4, 5, 6)), ((10, 60), (10, 20, 50, 60))],
)
def test_a_range_is_its_ends_and_the_papers_k_between(given_k, found):
    assert choose_averaged_k(*given_k) == found


@pytest.mark.parametrize(
    ("given_k", "said"),
    [((1,), "k = 1 is not allowed"), ((9, 4), "from 9 to 4 is empty"), ((1, 4), "k = 1 is not")],
)
def test_a_range_that_is_none_is_refused(given_k, said):
    with pytest.raises(PlanError, match=said):
        choose_averaged_k(*given_k)


def test_another_algorithm_gives_way_and_what_guides_stays():
    plan, _ = sample("hospital", 5, name="mondrian", attribute_weights={"age": 3}, tie_seed=4)
    own = plan_to_advise(plan).algorithm
    assert (own.name, own.tie_seed, own.attribute_weights) == ("gaa", 4, {"age": 3})


def test_of_several_sensitive_columns_one_has_to_be_named():
    plan, table = sample("hospital", 100)
    two = plan.model_dump(mode="json", exclude_none=True)
    two["columns"]["name"] = {"role": "sensitive"}
    with pytest.raises(PlanError, match="sensitive"):
        advise(Plan.from_content(two), table)
    two["algorithm"]["sensitive"] = "disease"
    assert plan_to_advise(Plan.from_content(two)).led_by == "disease"


# --- scores -----------------------------------------------------------------------------------
def test_a_score_by_hand():
    """(2 · 10 + 1 · 60 + 1 · 40) / 4 = 30, and (2 · 50 + 20 + 0) / 4 = 30: a tie of scores."""
    found = rank_configurations(board([[10, 60, 40], [50, 20, 0]]), [5])
    assert found.scores.tolist() == [30, 30]
    assert found.order.tolist() == [1, 0], "the mean of the three is 23.3 instead of 36.7"
    assert found.figures(0) == pytest.approx({"mean_alteration": 10, "l": 1.6, "t": 0.4})


def test_over_several_k_a_concern_is_its_mean_and_a_limit_holds_at_each():
    found = rank_configurations(
        board([[[10, 50, 20], [30, 0, 40]]], ks=(5, 9)), [5, 9], limits={"l": 2.0, "t": 0.3}
    )
    assert found.losses.tolist() == [[20, 25, 30]]
    assert found.worst(0) == {"k": 5, "l": 2.0, "t": 0.4} and not found.meets[0]
    assert found.short_of.tolist() == pytest.approx([10])


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        ({}, "All weights are 0"),
        ({"utility": 0, "l": 0, "t": 0}, "All weights are 0"),
        (
            {"utility": -1},
            "The weight of utility is '-1'; it has to be a number from 0 to",
        ),
        ({"l": float("nan")}, "The weight of l is 'nan'"),
        ({"t": float("inf")}, "The weight of t is 'inf'"),
        ({"t": "1"}, "The weight of t is '1'"),
        ({"k": 1}, "The weight 'k' is unknown; choose from utility, l and t."),
    ],
)
def test_weights_that_are_none_are_refused_before_anything_runs(hospital, weights, said):
    def never(fraction, text):
        raise AssertionError("nothing should run")

    with pytest.raises(PlanError, match=said):
        advise(*hospital, 2, weights, progress=never)


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({"l": 0.5}, "The limit for l is 0.5, but no class has less than l = 1."),
        ({"t": 1.5}, "The limit for t is 1.5, but no class has more than t = 1."),
        ({"utility": 1}, "The limit 'utility' is unknown; choose from k, l and t."),
        ({"k": 2.5}, "The limit for k is 2.5; it has to be a whole number."),
    ],
)
def test_limits_that_are_none_are_refused(limits, said):
    with pytest.raises(PlanError, match=said):
        rank_configurations(board([[1, 2, 3]]), [5], limits=limits)


percents = st.integers(0, 20).map(lambda part: 5.0 * part)
tables = st.lists(st.tuples(percents, percents, percents), min_size=1, max_size=12)
some_weights = st.fixed_dictionaries(dict.fromkeys(CONCERNS, st.integers(0, 4))).filter(
    lambda drawn: any(drawn.values())
)


@examples(100)
@given(tables, some_weights, st.integers(1, 1000))
def test_weights_that_are_scaled_give_the_same_order(losses, weights, by):
    scaled = {name: value / by for name, value in weights.items()}
    one, other = (rank_configurations(board(losses), [5], each) for each in (weights, scaled))
    assert one.order.tolist() == other.order.tolist()


@examples(100)
@given(tables, some_weights, st.sampled_from(CONCERNS), st.integers(1, 9))
def test_what_matters_more_is_never_lost_more(losses, weights, concern, more):
    column = CONCERNS.index(concern)
    before = first(losses, weights)
    after = first(losses, weights | {concern: weights[concern] + more})
    assert losses[after][column] <= losses[before][column]


@examples(100)
@given(tables, some_weights)
def test_every_proposal_is_on_the_front_and_the_first_has_the_least_score(losses, weights):
    found = rank_configurations(board(losses), [5], weights)
    values = np.array(losses)
    for one in propose(found):
        beaten = (values <= values[one.place]).all(axis=1) & (values < values[one.place]).any(
            axis=1
        )
        assert not beaten.any() and found.front[one.place]
    by_hand = [sum(weights[n] * x for n, x in zip(CONCERNS, row, strict=True)) for row in losses]
    assert by_hand[found.order[0]] == min(by_hand)
    assert sorted(found.order.tolist()) == list(range(len(losses)))


@examples(100)
@given(tables, some_weights)
def test_alternatives_are_different_and_better_in_what_they_are_proposed_for(losses, weights):
    best, *others = propose(rank_configurations(board(losses), [5], weights))
    assert best.sake == "all" and len(others) <= 2
    for one in others:
        column = CONCERNS.index(one.sake)
        assert losses[best.place][column] - losses[one.place][column] >= 1
    assert len({one.place for one in (best, *others)}) == 1 + len(others)


# --- proposals --------------------------------------------------------------------------------
THREE = [[10, 80, 60], [14, 40, 50], [60, 10, 5]]
"""The cheapest, one that is more mixed for four points, and one that merges nearly everything."""


def test_reasons_by_hand():
    found = propose(rank_configurations(board(THREE), [5], {"utility": 4, "l": 1, "t": 0}))
    assert [(one.place, one.sake) for one in found] == [(1, "all"), (2, "t"), (0, "utility")]
    for part in ("4.0 points more", "l = 2.40 instead of 0.80", "t = 0.50 instead of 0.60"):
        assert part in found[0].reason
    assert found[1].reason.startswith("It loses 46.0 points more than the first proposal; the ")


def test_the_cheapest_says_what_it_loses_and_who_raises_everything_says_so():
    (cheapest,) = propose(rank_configurations(board([[10, 80, 60]]), [5]))
    assert cheapest.reason.startswith("No configuration loses less: 10.0 % of all that could be lo")
    root, other = propose(rank_configurations(board([[100, 0, 0], [10, 80, 60]]), [5], {"l": 1}))
    assert (root.place, other.place, other.sake) == (0, 1, "utility")
    assert root.reason.endswith("root: the release says nothing about them.")


def test_an_alternative_that_misses_the_limits_says_so():
    lost = [[100, 0, 0], [10, 80, 60]]
    root, other = propose(
        rank_configurations(board(lost), [5], {"utility": 1}, {"l": 2.0, "t": 0.3})
    )
    assert (root.place, other.place) == (0, 1) and "It does not meet" not in root.reason
    assert other.reason.endswith(" It does not meet the limits on l and t.")
    for limits in ({}, {"l": 4000.0}):  # nothing is asked, or no way has it
        found = propose(rank_configurations(board(lost), [5], {"utility": 1}, limits))
        assert not [one for one in found if "It does not meet" in one.reason]


@pytest.mark.parametrize(
    ("limits", "order", "said"),
    [
        ({}, [0, 1, 2], ""),
        ({"l": 2.4}, [1, 2, 0],
         "2 of 3 configurations reach l of at least 2.4; these are listed first."),
        ({"l": 2.4, "t": 0.05}, [2, 0, 1],
         "1 of 3 configurations reaches l of at least 2.4 and t of at most 0.05; it is "
         "listed first."),
        ({"t": 0.04}, [0, 1, 2],
         "No configuration reaches t of at most 0.04. The nearest is way 2, with t = 0.05."),
    ],
)  # fmt: skip
def test_what_meets_the_limits_comes_first_and_if_nothing_does_the_nearest_is_said(
    limits, order, said
):
    found = rank_configurations(board(THREE), [5], {"utility": 1}, limits)
    assert found.order.tolist() == order
    assert describe_limits(found) == said


def test_without_a_sensitive_column_the_utility_alone_counts():
    found = rank_configurations(
        board([[20], [10]], sensitive=""), [5], {"utility": 1, "l": 5}, {"l": 2}
    )
    assert found.order.tolist() == [1, 0] and found.concerns == ("utility",)
    assert describe_limits(found).startswith("Without a sensitive column")
    with pytest.raises(PlanError, match="give utility a weight above 0"):
        rank_configurations(board([[20]], sensitive=""), [5], {"l": 1})


def test_at_how_many_k_a_way_is_the_best_by_hand():
    """Way 0 is the best at k = 3, both at k = 4 as far as is shown, way 1 at k = 5."""
    losses = [[[10.0], [20.04], [30.0]], [[11.0], [20.0], [29.0]]]
    found = rank_configurations(board(losses, ks=(3, 4, 5), sensitive=""), [3], {"utility": 1})
    assert count_best_k(found).tolist() == [2, 2]


# --- along k ----------------------------------------------------------------------------------
def visits(seed):
    """Some come again and again, many rows are alike, and illnesses are missing."""
    draw = np.random.default_rng(seed)
    who = np.repeat(np.arange(16), np.minimum(draw.zipf(1.8, 16), 4))
    table = pd.DataFrame({c: draw.choice([*"abc"], len(who), p=[0.6, 0.2, 0.2]) for c in "xyz"})
    ills = draw.choice(["flu", "cold", "gout", None], len(who), p=[0.6, 0.2, 0.1, 0.1])
    return table.assign(ill=ills, who=[f"p{one}" for one in who])


def plan_of_visits(k, persons, **algorithm):
    """With trees of one level over as many values each, every metric counts the starred cells."""
    nodes = [{"name": "*", "parent": None}, *({"name": c, "parent": "*"} for c in "abc")]
    quasi = qi_with({"nodes": nodes})
    plan = plan_content(
        {**dict.fromkeys("xyz", quasi), "ill": {"role": "sensitive"}},
        k,
        {"name": "gaa", **algorithm},
    )
    plan["columns"]["who"] = {"role": "identifier"}
    return Plan.from_content(plan | ({"person": "who"} if persons else {}))


def by_pandas(table, persons, k, proposal):
    """What a proposal's settings lose for k, and its l and t, counted from the released rows."""
    chosen = {name: proposal[name] for name in ("metric", "strategy", "scope")}
    rows = run(plan_of_visits(k, persons, **chosen), table).released(order="table")
    shares = table["ill"].value_counts(normalize=True, dropna=False)
    levels, distances = [], []
    for _, one in rows.groupby([*"xyz"])["ill"]:
        own = one.fillna("(none)").value_counts(normalize=True)
        levels.append(np.exp(-(own * np.log(own)).sum()))
        whole = shares.rename({np.nan: "(none)", None: "(none)"})
        distances.append((own.reindex(whole.index, fill_value=0) - whole).abs().sum() / 2)
    return 100 * (rows[[*"xyz"]] == "*").mean().mean(), min(levels), max(distances)


@pytest.mark.nightly
@pytest.mark.parametrize("persons", [False, pytest.param(True, marks=pytest.mark.nightly)])
@pytest.mark.parametrize(
    "seed", [1, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in (2, 3))]
)
@pytest.mark.filterwarnings("ignore::kanon.errors.PrivacyWarning")
def test_a_proposal_loses_least_of_all_k_from_the_one_asked_that_have_what_is_asked(seed, persons):
    table, limits = visits(seed), {"l": 2.2, "t": 0.4}
    everybody = table["who"].nunique() if persons else len(table)
    found = advise(plan_of_visits(2, persons), table, 2, {"utility": 1}, limits, steady=False)
    assert found.weighed.meets.all(), "the table as one class has it"
    for one in found.numbers["proposals"]:
        allowed = {}
        for k in range(2, everybody + 1) if not persons else choose_solved_k([2], everybody):
            lost, mixed, far = by_pandas(table, persons, k, one)
            if mixed >= limits["l"] and far <= limits["t"]:
                allowed[k] = lost
            if k == one["at_k"][0]:
                shown = [one[name] for name in ("mean_alteration", "l", "t")]
                assert shown == pytest.approx([lost, mixed, far])
        assert allowed[one["at_k"][0]] == pytest.approx(min(allowed.values()))


def test_a_larger_k_that_loses_less_or_has_what_is_asked_is_taken():
    lost = [[[99, 10, 20], [75, 30, 40], [80, 10, 5]]]
    one = board(lost, ks=(5, 9, 20))
    for limits, k in (({}, 9), ({"t": 0.3}, 20), ({"k": 10}, 20), ({"t": 0.01}, 9)):
        found = rank_configurations(one, [5], limits=limits)
        assert found.at_k.tolist() == [[k]] and found.title(0) == f"way 0 · k = {k}"
        assert found.meets[0] == (limits != {"t": 0.01})
    (only,) = propose(rank_configurations(one, [5], limits={"t": 0.3}))
    assert "its release for a larger k" in only.reason and "meet the limits" in only.reason
    both = rank_configurations(one, [5, 9])
    assert both.at_k.tolist() == [[9, 9]] and both.title(0) == "way 0"
    assert [both.k_for(0, k) for k in (6, 9, 10, 20)] == [9, 9, 20, 20], "k = 6 was not computed"


@pytest.mark.parametrize(
    ("lost", "limits", "said"),
    [
        ([[89.9, 0, 0]], {}, ""),
        (
            [[99.1, 0, 0]],
            {},
            "99.1 % of all that could be lost. No configuration loses at least a point less.",
        ),
        ([[99.1, 0, 0], [75, 80, 60]], {}, "way 1 loses least, 75.0 %; giving utility more weight"),
        ([[99.1, 0, 0], [75, 80, 60]], {"l": 2.0}, "No configuration that meets the limits loses"),
    ],
)
def test_a_first_proposal_that_loses_nearly_everything_is_called_that(lost, limits, said):
    found = rank_configurations(board(lost), [5], {"utility": 1, "l": 4}, limits)
    assert found.order[0] == 0
    warning = describe_first_warning(found)
    assert said in warning and bool(warning) == bool(said)
    first = propose(found)[0].reason
    assert first.endswith(" It loses nearly everything.") == bool(said)


# --- run again --------------------------------------------------------------------------------
def again(ties, drawn):
    return RepeatedLoss(*(np.array(each, dtype=float).reshape(-1, 1, 1) for each in (ties, drawn)))


@pytest.mark.parametrize(
    ("mine", "its", "undecided", "held", "impossible"),
    [
        (again([10, 11], [10, 12]), again([12, 13], [11, 11]), False, 1, 0),
        (again([10, 12.5], [10, 12]), again([12, 13], [10.02, 14]), True, 2, 0),
        (again([10, 10], [np.nan, 12]), again([10, 10], [np.nan, 14]), False, 1, 1),
    ],
)
def test_bands_that_overlap_are_undecided(mine, its, undecided, held, impossible):
    found = measure_stability([mine, its], np.array([1.0]))
    assert (found.undecided, found.held, found.n_samples) == (undecided, held, 2)
    assert found.n_impossible == impossible
    assert (found.low[0], found.high[0]) == (10, mine.ties.max())


@examples(40)
@given(problems(), st.integers(0, 2**32), st.data())
def test_a_table_that_is_drawn_again_has_as_many_records_of_the_same_classes(problem, seed, data):
    frame = problem.frame().assign(
        ill=data.draw(st.lists(st.sampled_from("abc"), min_size=len(problem.rows),
                               max_size=len(problem.rows)))
    )  # fmt: skip
    plan = problem.plan()
    plan["columns"]["ill"] = {"role": "sensitive"}
    whole = prepare(Plan.from_content(plan), frame).classes
    drawn = sample_classes(whole, seed)
    known = {tuple(row): place for place, row in enumerate(whole.nodes.tolist())}
    places = [known[tuple(row)] for row in drawn.nodes.tolist()]
    assert places == sorted(set(places)) and drawn.counts.min() >= 1
    assert drawn.n_records == whole.n_records
    (values,), (before,) = drawn.sensitive, whole.sensitive
    assert values.sizes.tolist() == drawn.counts.tolist()
    assert ((values.dense() > 0) <= (before.dense()[places] > 0)).all()
    assert values.total.tolist() == values.dense().sum(axis=0).tolist()
    assert sample_classes(whole, seed).counts.tolist() == drawn.counts.tolist()


def test_records_are_drawn_with_equal_chances():
    """A class of 30 of 40 records keeps about 30: within four standard errors of 200 tables."""
    plan = make_plan({"x": qi()})
    whole = prepare(plan, pd.DataFrame({"x": ["a"] * 30 + ["b"] * 10})).classes
    mean = np.mean([sample_classes(whole, seed).counts[0] for seed in range(200)])
    assert abs(mean - 30) < 4 * np.sqrt(40 * 0.75 * 0.25 / 200)


def test_persons_are_drawn_with_all_their_records():
    """Each of as many persons as before has the records, class by class, of one of the table."""
    whole = prepare(plan_of_visits(2, True), visits(1)).classes

    def profiles(classes):
        keys = np.array(["".join(map(str, row)) for row in classes.nodes.tolist()])
        counted = pd.DataFrame(classes.persons.dense(), index=keys)
        seen = counted.loc[:, counted.sum() > 0]
        return [frozenset(seen[one][seen[one] > 0].items()) for one in seen]

    for seed in range(5):
        drawn = sample_classes(whole, seed)
        assert drawn.highest_k == whole.highest_k
        assert len(profiles(drawn)) == 16 and set(profiles(drawn)) < set(profiles(whole))
        assert drawn.n_records == sum(sum(n for _, n in one) for one in profiles(drawn))
        assert drawn.sensitive[0].sizes.tolist() == drawn.counts.tolist()


@pytest.mark.nightly
def test_proposals_are_run_again_where_somebody_has_several_records():
    found = advise(plan_of_visits(2, True), visits(2), 2, {"utility": 1, "t": 5}, {"t": 0.4})
    assert (
        found.steady is not None and found.steady.n_samples == 10 and not found.steady.n_impossible
    )


def test_run_again_is_the_ways_run_separately(hospital):
    plan, table = hospital
    prepared = prepare(plan_to_advise(plan), table)
    runs = create_advisor_runs(prepared, list_advisor_configurations(True)[:30:29])
    told = []
    found = run_again(lambda _, text: told.append(text), runs, [2], {}, tie_seeds=[3], resamples=1)
    assert all(text.startswith("the proposals again, ") for text in told if text) and any(told)
    for run_, one in zip(runs, found, strict=True):
        assert one.ties.shape == (2, 1, 3) and one.over_samples.shape == (1, 1, 3)
        (alone,) = run_again(ignore_progress, [run_], [2], {}, tie_seeds=[3], resamples=1)
        assert np.array_equal(alone.ties, one.ties) and np.array_equal(
            alone.over_samples, one.over_samples
        )
        other = replace(run_, task=replace(run_.task, tie_seed=3))
        (turned,) = run_again(ignore_progress, [other], [2], {}, tie_seeds=[], resamples=0)
        assert np.array_equal(turned.ties[0], one.ties[1])


# --- the whole --------------------------------------------------------------------------------
WEIGHTS = ({"utility": 1}, {"utility": 2, "l": 1, "t": 1}, {"utility": 1, "l": 3}, {"t": 1})


@pytest.fixture(scope="module")
def advised(hospital):
    """The advice for the hospital, whose rows come the other way round."""
    plan, table = hospital
    return advise(plan, table.iloc[::-1], (2, 3), limits={"l": 2})


@pytest.mark.nightly
def test_every_way_is_a_run_of_its_own_and_the_best_of_them_is_proposed(hospital, advised):
    plan, table = hospital
    found = advised.weighed
    best_l = found.ways[0].best_l["disease"]
    content = plan.model_dump(mode="json", exclude_none=True)
    content["privacy"][0]["k"] = 3
    lost = []
    for line in found.ways:
        own = line.configuration
        content["algorithm"] = {
            "name": "gaa", "metric": own.metric, "strategy": own.strategy, "scope": own.scope,
        }  # fmt: skip
        alone = run(Plan.from_content(content), table).recoding
        (ill,) = alone.released.sensitive
        lost.append((
            np.mean([alteration.value(alone, metric) for metric in ADVISOR_METRICS]),
            100 - 100 * entropy_l_diversity.each(ill).min() / best_l,
            50 * t_closeness.each(ill).max(),
        ))  # fmt: skip
    assert compute_losses(found.comparison, [3])[:, 0, 0] == pytest.approx(np.array(lost), abs=1e-6)
    for weights in WEIGHTS:
        again = rank_configurations(found.comparison, [3], weights)
        by_hand = np.array(lost) @ [weights.get(name, 0) for name in CONCERNS]
        assert by_hand[again.order[0]] == pytest.approx(by_hand.min(), abs=1e-6)
        assert again.front[again.order[0]]


@pytest.mark.nightly
def test_row_order_does_not_matter_and_nothing_is_changed(hospital, advised):
    plan, table = hospital
    before, told = table.copy(), plan.to_json()
    found = advise(plan, table, (2, 3), limits={"l": 2})
    pd.testing.assert_frame_equal(table, before)
    assert plan.to_json() == told
    assert found.describe_advice() == advised.describe_advice()
    pd.testing.assert_frame_equal(found.table(), advised.table())
    assert found.numbers == advised.numbers


def test_what_a_table_cannot_do_is_refused(hospital):
    plan, table = hospital
    with pytest.raises(Unsatisfiable, match="k = 99 cannot be reached"):
        advise(plan, table, 99)
    with pytest.raises(Unsatisfiable, match="k = 99 cannot be reached"):
        advise(plan, table, (2, 99))


def test_without_a_sensitive_column_there_are_seven_ways_and_it_is_said(hospital):
    plan, table = hospital
    content = plan.model_dump(mode="json", exclude_none=True)
    content["columns"]["disease"] = {"role": "insensitive"}
    found = advise(Plan.from_content(content), table, 2)
    assert found.describe_advice()[0].startswith(
        "Without a sensitive column only strategy S1 applies: 7"
    )
    assert found.table().columns.tolist() == [
        "rank", "way", "metric", "strategy", "scope", "score", "mean_alteration", "front",
        "at_k",
    ]  # fmt: skip
    assert len(found.proposals) == 1 and found.about_ties == ""


@pytest.mark.nightly
def test_the_table_of_all_has_every_way_once_the_best_first(advised):
    table = advised.table()
    assert len(table) == 95 and table["way"].is_unique and table["rank"].tolist()[-1] == 95
    own = table[table["meets_limits"]]
    assert own["rank"].tolist() == list(range(1, len(own) + 1))
    assert own["score"].is_monotonic_increasing
    assert own["way"].iloc[0] == advised.title(advised.proposals[0])
    assert table.loc[table["strategy"].isin(["l", "t"]), "metric"].isna().all()


def test_other_models_than_k_are_met_by_every_way(hospital):
    plan, table = hospital
    content = plan.model_dump(mode="json", exclude_none=True)
    content["privacy"].append({"model": "distinct-l-diversity", "l": 2})
    prepared = prepare(plan_to_advise(Plan.from_content(content)), table)
    some = list_advisor_configurations(True)[::12]
    runs = create_advisor_runs(prepared, some)
    found = run_sweep(ignore_progress, runs, [2], ADVISOR_METRICS)
    weighed = rank_configurations(build_advisor_comparison(runs[0].task, some, found, [2]), [2])
    assert all(weighed.worst(place)["l"] > 1 for place in range(len(some)))


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["census", "voters"])
def test_a_whole_sample_the_best_of_all_ways(name):
    plan, table = sample(name, 30_000)
    found = advise(plan, table, (3, 100))
    best = found.weighed.scores.min()
    assert found.weighed.scores[found.proposals[0].place] == best
    assert all(found.weighed.front[one.place] for one in found.proposals)
    assert found.steady.n_samples == 10
