"""The published experiments, and what measures say about what can be learnt."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata, spearmanr

from kanon.algorithms.solution import run_for_every_k
from kanon.base.progress import ignore_progress
from kanon.cards import Card
from kanon.errors import PlanError, Unsatisfiable
from kanon.experiments.studies import (
    LearntScores,
    Prediction,
    ReleaseMeasures,
    StudiedAlgorithm,
    Training,
    build_points_table,
    check_candidate,
    create_experiment,
    get_target_labels,
    list_point_measures,
    run_experiment,
    run_prediction,
)
from kanon.learning.experiments import (
    Fit,
    Outcome,
    bands,
    fits_of,
    outcomes_table,
    run_fits,
)
from kanon.learning.predicting import LEAST_K, measure_agreements, spearman
from kanon.learning.representations import REPRESENTATIONS
from kanon.learning.scores import SCORES
from kanon.measures.overview import build_all_at_root, build_identity
from kanon.metrics import metric_named
from kanon.recoding import Recoding
from kanon.run import prepare
from support.plans import make_plan, qi
from support.random_tables import examples

TREE = "decision-tree"


def people(size: int = 240) -> pd.DataFrame:
    """Persons whose illness follows from age and sex, more or less."""
    random = np.random.default_rng(5)
    age = random.integers(20, 60, size)
    sex = random.choice(["F", "M"], size)
    ill = np.where((age > 40) ^ (random.random(size) < 0.15), "gout", "cold")
    return pd.DataFrame({"name": range(size), "age": age, "sex": sex, "ill": ill, "note": "x"})


def prepared(algorithm: str = "gaa", table: pd.DataFrame | None = None, k: int = 5):
    plan = make_plan(
        {
            "name": {"role": "identifier"},
            "age": qi("intervals", widths=[5, 10, 20]),
            "sex": qi(),
            "ill": {"role": "sensitive"},
        },
        k,
        {"name": algorithm, "metric": "nllm"},
    )
    return prepare(plan, people() if table is None else table)


def outcomes_of(ready, recodings, trained="original", trained_on=None) -> list[Outcome]:
    labels, found = get_target_labels(ready, "ill"), []
    training, releases = trained_on or ready.classes, [*recodings.values()]
    fits = fits_of(trained, TREE, 1)
    run_fits(ignore_progress, labels, TREE, training, releases, fits, found.append)
    return found


def learnt(experiment, fits):
    found = []
    run_experiment(ignore_progress, experiment, fits, found.append)
    return found


# --- what is refused ----------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("age", "'age' is a quasi-identifier, which a release generalises"),
        ("name", "'name' is an identifier, which a release leaves out"),
        ("height", "no column 'height'"),
        ("note", "nothing to predict"),
    ],
)
def test_a_target_that_cannot_be_one_is_refused(target, said):
    with pytest.raises(Exception, match=said) as caught:
        get_target_labels(prepared(), target)
    assert hasattr(caught.value, "sentence")


def test_k_above_the_number_of_records_are_left_out_and_some_must_stay():
    ready = prepared()
    labels = get_target_labels(ready, "ill")
    assert create_experiment(ready, (3, 1000, 10), labels).ks == (3, 10)
    with pytest.raises(PlanError, match="at least one from 2 to 240"):
        create_experiment(ready, (1000,), labels)


def test_what_an_algorithm_cannot_do_is_said_before_it_runs():
    ready = prepared()
    mdav = StudiedAlgorithm("mdav", ready.guided_by(name="mdav").task())
    with pytest.raises(PlanError, match="sex"):
        check_candidate(mdav, (3, 5))


# --- the experiments ----------------------------------------------------------------------------
def test_the_fits_of_both_experiments():
    assert fits_of("original", "mlp", 3) == [Fit("proportional", seed) for seed in range(3)]
    four = [Fit(name, 0) for name in REPRESENTATIONS]
    assert fits_of("release", "logistic-regression", 3) == four
    assert len(fits_of("release", "mlp", 3)) == 12


def test_validating_on_the_table_itself_and_on_nothing():
    ready = prepared()
    recodings = {2: build_identity(ready.classes), 240: build_all_at_root(ready.classes)}
    (one,) = outcomes_of(ready, recodings)
    names = list(REPRESENTATIONS)
    for name in ("fillParent", "proportional"):  # the same numbers as those trained on
        np.testing.assert_array_equal(one.scores[0, names.index(name)], one.before)
    assert one.before[0] > 0.7  # illness follows age: it can be learnt
    assert not one.dead
    area = list(SCORES).index("auc")
    assert (one.scores[1, :, area] == 0.5).all()  # one class is left: a coin


def test_training_on_one_class_comes_out_dead():
    ready = prepared()
    whole = build_all_at_root(ready.classes)
    found = outcomes_of(ready, {240: whole}, "release", whole)
    assert [one.dead for one in found] == [True] * 4


def test_of_a_release_without_training_records_nothing_is_learnt():
    ready = prepared()
    nobody = Recoding.from_targets(
        ready.classes, ready.classes.nodes, np.ones(ready.classes.n_classes, dtype=bool)
    )
    found = outcomes_of(ready, {3: build_identity(ready.classes)}, "release", nobody)
    assert all(
        one.dead and np.isnan(one.scores).all() and np.isnan(one.before).all() for one in found
    )


@pytest.mark.sampled(2)
@pytest.mark.parametrize("trained", ["original", "release"])
def test_going_on_after_a_cancel_finds_what_one_run_finds(trained):
    ready = prepared()
    experiment = create_experiment(ready, (3, 10), get_target_labels(ready, "ill"), TREE, trained)
    fits = fits_of(trained, TREE, 2 if trained == "original" else 1)
    whole = learnt(experiment, fits)
    parts = learnt(experiment, fits[:1]) + learnt(experiment, fits[1:])
    assert [one.fit for one in whole] == fits
    for one, other in zip(whole, parts, strict=True):
        assert (one.fit, one.dead) == (other.fit, other.dead)
        np.testing.assert_array_equal(one.scores, other.scores)
        np.testing.assert_array_equal(one.before, other.before)


def test_the_order_of_the_rows_does_not_matter():
    table = people()
    found = []
    for frame in (table, table.sample(frac=1, random_state=3)):
        ready = prepared(table=frame)
        experiment = create_experiment(
            ready, (5, 20), get_target_labels(ready, "ill"), "random-forest"
        )
        found.append(learnt(experiment, fits_of("original", "random-forest", 1))[0].scores)
    np.testing.assert_array_equal(*found)


def test_each_fit_is_told_and_kept_at_once():
    ready = prepared()
    experiment = create_experiment(ready, (3,), get_target_labels(ready, "ill"), TREE)
    told: list[tuple[float, str]] = []
    kept: list[int] = []
    run_experiment(
        lambda part, text: told.append((part, text)), experiment,
        fits_of("original", TREE, 2), lambda one: kept.append(len(told)),
    )  # fmt: skip
    parts = [part for part, _ in told]
    assert parts == sorted(parts)
    assert parts[-1] == 1
    assert any("fit 2 of 2" in text for _, text in told)
    assert kept[0] < kept[1] < len(told)


def outcome(representation, seed, mean, dead=False):
    return Outcome(Fit(representation, seed), np.full((2, 4, 3), mean), np.full(3, mean), dead)


def test_bands_are_means_and_deviations_with_the_dead_ones_and_without():
    found = [
        outcome("oneClass", 0, 0.8), outcome("oneClass", 1, 0.6),
        outcome("oneClass", 2, 0.5, dead=True), outcome("fillChild", 0, 0.1),
    ]  # fmt: skip
    every = bands(found, "auc", "oneClass")["proportional"]
    assert every.fits == 3
    np.testing.assert_allclose(every.mean, np.mean([0.8, 0.6, 0.5]))
    np.testing.assert_allclose(every.deviation, np.std([0.8, 0.6, 0.5], ddof=1))
    live = bands(found, "auc", "oneClass", live=True)["fillParent"]
    np.testing.assert_allclose(live.mean, 0.7)
    assert live.fits == 2
    assert np.isnan(bands(found, "f1", "fillChild")["oneClass"].deviation).all()
    assert bands(found[2:3], "auc", "oneClass", live=True) == {}


def test_the_numbers_of_an_experiment_stand_one_per_row():
    table = outcomes_table((3, 10), [outcome("oneClass", 1, 0.8)])
    assert len(table) == 1 + 2 * 4
    assert table["k"].isna().sum() == 1
    assert set(table["auc"]) == {0.8}
    assert outcomes_table((3,), []).empty


# --- which measure predicts ---------------------------------------------------------------------
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=3, max_size=12))
@examples(60)
def test_rank_correlation_is_that_of_scipy(pairs):
    one, other = (np.array(side, dtype=float) for side in zip(*pairs, strict=True))
    found = spearman(one, other)
    if len({*one}) == 1 or len({*other}) == 1:
        assert np.isnan(found)
    else:
        assert found == pytest.approx(spearmanr(one, other).statistic)


LOWER = Card("loss", "Loss", "", "", "", "lower", "", "")
HIGHER = Card("kept", "Kept", "", "", "", "higher", "", "")


def releases(seed: int = 0, algorithms: int = 4, ks: int = 9) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    k = np.repeat(np.arange(ks), algorithms)
    loss = k + random.normal(size=len(k))
    return pd.DataFrame(
        {"k": k, "loss": loss, "kept": -loss, "score": -loss + random.normal(size=len(k))}
    )


def test_agreement_is_one_where_the_measure_orders_as_the_score_does():
    points = releases().assign(score=lambda table: -table["loss"])
    found = measure_agreements(points, {"loss": LOWER, "kept": HIGHER}, ["score"])
    columns = ["agreement", "low", "high", "at_equal_k", "low_at_equal_k", "high_at_equal_k"]
    np.testing.assert_allclose(found[columns].to_numpy(), 1.0)
    turned = measure_agreements(points.assign(score=points["loss"]), {"loss": LOWER}, ["score"])
    np.testing.assert_allclose(turned[columns].to_numpy(), -1.0)


def test_agreements_are_those_of_plain_resampling():
    points = releases(3)
    found = measure_agreements(points, {"loss": LOWER}, ["score"]).iloc[0]
    assert found["agreement"] == pytest.approx(
        spearmanr(-points["loss"], points["score"]).statistic
    )
    own = [spearmanr(-part["loss"], part["score"]).statistic for _, part in points.groupby("k")]
    assert found["at_equal_k"] == pytest.approx(np.mean(own))
    # The same draws, made one by one, with scipy's ranks.
    drawn = np.random.default_rng(0).multinomial(9, np.full(9, 1 / 9), size=2000)
    plain, means = [], []
    for times in drawn[:100]:
        picked = pd.concat(
            [points[points["k"] == k] for k, n in enumerate(times) for _ in range(n)]
        )
        ranks = [rankdata(-picked["loss"]), rankdata(picked["score"])]
        plain.append(np.corrcoef(*ranks)[0, 1])
        means.append(np.average(own, weights=times))
    fewer = agreements_of_draws(points, 100)
    np.testing.assert_allclose([fewer["low"], fewer["high"]], np.quantile(plain, [0.025, 0.975]))
    np.testing.assert_allclose(
        [fewer["low_at_equal_k"], fewer["high_at_equal_k"]], np.quantile(means, [0.025, 0.975])
    )
    assert found["low"] < found["agreement"] < found["high"]


def agreements_of_draws(points, draws):
    """The same with fewer draws: the first of them are those of any number."""
    patch = pytest.MonkeyPatch()
    patch.setattr("kanon.learning.predicting._DRAWS", draws)
    try:
        return measure_agreements(points, {"loss": LOWER}, ["score"]).iloc[0]
    finally:
        patch.undo()


def test_what_cannot_be_ordered_is_no_number():
    points = releases().assign(loss=1.0)
    found = measure_agreements(points, {"loss": LOWER}, ["score"]).iloc[0]
    assert np.isnan(found[["agreement", "low", "high", "at_equal_k"]].to_numpy(float)).all()
    two = measure_agreements(releases(algorithms=2), {"loss": LOWER}, ["score"]).iloc[0]
    assert not np.isnan(two["agreement"])
    assert np.isnan(two["at_equal_k"])
    few = measure_agreements(releases(ks=LEAST_K - 1), {"loss": LOWER}, ["score"]).iloc[0]
    assert not np.isnan(few["agreement"]) and not np.isnan(few["at_equal_k"])
    assert np.isnan(few[["low", "high", "low_at_equal_k", "high_at_equal_k"]].to_numpy(float)).all()
    none = measure_agreements(releases().assign(score=np.nan), {"loss": LOWER}, ["score"])
    assert none.empty and "agreement" in none.columns
    blank = releases()
    blank.loc[0, "score"] = np.nan
    assert (
        measure_agreements(blank, {"loss": LOWER}, ["score"]).iloc[0]["releases"] == len(blank) - 1
    )


def study(algorithms=("gaa", "mondrian", "optimal")):
    ready = prepared()
    return Prediction(
        tuple(StudiedAlgorithm(name, ready.guided_by(name=name).task()) for name in algorithms),
        get_target_labels(ready, "ill"),
        ready.source.build_column_histogram("ill"),
        (metric_named("nllm"),),
    )


@pytest.mark.nightly
def test_releases_are_measured_and_learnt_from():
    prediction = study()
    names = (TREE, "logistic-regression")
    wanted = [
        Training(one.algorithm, k, name, 0)
        for one in prediction.candidates
        for k in (3, 10, 40)
        for name in names
    ]
    found: list[ReleaseMeasures | LearntScores] = []
    run_prediction(ignore_progress, prediction, wanted, found.append)
    assert [one.wanted for one in found if isinstance(one, LearntScores)] == wanted
    table = build_points_table(found, "auc")
    assert len(table) == 9
    assert set(names) < set(table.columns)
    assert table[list(names)].to_numpy().min() > 0.5
    cards = list_point_measures(prediction.metrics)
    shown = [name for name in cards if name in table.columns]
    assert {"alteration_nllm", "classification_metric", "conditional_entropy_bits"} < set(shown)
    made = run_for_every_k(ignore_progress, "gaa", prediction.candidates[0].task, [10])[10]
    row = table[(table["algorithm"] == "gaa") & (table["k"] == 10)].iloc[0]
    from kanon.measures import alteration, classification_metric

    assert row["alteration_nllm"] == alteration.value(made, prediction.metrics[0])
    assert row["classification_metric"] == classification_metric.value(made, "ill")
    agreed = measure_agreements(table, {name: cards[name] for name in shown}, names)
    assert len(agreed) == len(shown) * 2


def test_a_release_counts_once_every_classifier_has_scored_it():
    values = {"loss": 1.0}
    some = [
        ReleaseMeasures("gaa", 3, values), ReleaseMeasures("gaa", 5, values),
        LearntScores(Training("gaa", 3, TREE, 0), (0.5, 0.6, 0.7)),
        LearntScores(Training("gaa", 3, TREE, 1), (0.7, 0.6, 0.7)),
        LearntScores(Training("gaa", 3, "mlp", 0), (0.9, 0.6, 0.7)),
        LearntScores(Training("gaa", 5, TREE, 0), (0.5, 0.6, 0.7)),
    ]  # fmt: skip
    table = build_points_table(some, "auc")
    assert table.to_dict("records") == [
        {"algorithm": "gaa", "k": 3, "loss": 1.0, TREE: 0.6, "mlp": 0.9}
    ]
    assert build_points_table([], "auc").empty


def test_a_classifier_that_has_just_begun_hides_no_release():
    done = [LearntScores(Training("gaa", k, TREE, 0), (0.5, 0.6, 0.7)) for k in range(3, 13)]
    begun = [LearntScores(Training("gaa", 3, "mlp", 0), (0.9, 0.6, 0.7))]
    some = [*(ReleaseMeasures("gaa", k, {"loss": 1.0}) for k in range(3, 13)), *done, *begun]
    table = build_points_table(some, "auc")
    assert (len(table), "mlp" in table.columns) == (10, False)


def test_an_algorithm_without_a_release_for_some_k_is_left_out_there():
    ready = prepared()
    levels = ready.guided_by(name="levels", node={"age": 2, "sex": 0})
    candidate = StudiedAlgorithm("levels", levels.task())
    with pytest.raises(Unsatisfiable):
        run_for_every_k(ignore_progress, "levels", candidate.task, [200])
    prediction = replace(study(()), candidates=(candidate,))
    wanted = [Training("levels", k, TREE, 0) for k in (2, 200)]
    found: list[ReleaseMeasures | LearntScores] = []
    run_prediction(ignore_progress, prediction, wanted, found.append)
    assert {one.k for one in found if isinstance(one, ReleaseMeasures)} == {2}
    # What is impossible is known to be: nobody asks for it again.
    assert sorted(one.wanted for one in found if isinstance(one, LearntScores)) == wanted
    assert list(build_points_table(found, "auc")["k"]) == [2]
