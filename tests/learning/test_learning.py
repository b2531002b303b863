"""Labels, scores and classifiers: counts per class against the records themselves."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, f1_score, roc_auc_score
from threadpoolctl import threadpool_limits

from kanon.errors import PlanError, TableError
from kanon.hierarchy.build import suppression
from kanon.learning.classifiers import CLASSIFIERS, fit
from kanon.learning.labels import MOST_LABELS, Pairs, split_labels
from kanon.learning.representations import Matrix
from kanon.learning.scores import SCORES, scores
from kanon.recoding import Recoding
from kanon.schema import Role, Schema
from kanon.sensitive import Sensitive
from kanon.sources.memory import MemorySource
from support.random_tables import examples


def histogram(groups, labels, n_classes=None) -> Sensitive:
    """The histogram of some records: their classes, and their labels as texts."""
    values = sorted(set(labels))
    codes = [values.index(label) for label in labels]
    size = n_classes or max(groups) + 1
    return Sensitive.from_records("ill", values, False, groups, codes, size)


def expanded(pairs: Pairs) -> list[tuple[int, int]]:
    """Every record of some pairs as (class, label), in order."""
    every = zip(pairs.group, pairs.label, pairs.records, strict=True)
    return sorted((int(g), int(x)) for g, x, n in every for _ in range(n))


@st.composite
def records(draw, most_labels: int = 4):
    """Some records: their classes and labels, each label at least twice."""
    size = draw(st.integers(2, most_labels))
    labels = [*range(size)] * 2 + draw(st.lists(st.integers(0, size - 1), max_size=20))
    groups = draw(st.lists(st.integers(0, 5), min_size=len(labels), max_size=len(labels)))
    return groups, [f"v{label}" for label in labels]


# --- the split --------------------------------------------------------------------------------
@given(records(), st.sampled_from([0.1, 0.5, 2 / 3, 0.9]), st.integers(0, 3))
@examples(60)
def test_every_record_is_in_one_part_and_each_label_is_shared_out_alike(drawn, share, seed):
    groups, texts = drawn
    split = split_labels(histogram(groups, texts), share, seed)
    both = expanded(split.training) + expanded(split.validation)
    places = {label: place for place, label in enumerate(split.labels)}
    assert sorted(both) == sorted((g, places[x]) for g, x in zip(groups, texts, strict=True))
    for label, place in places.items():
        total = texts.count(label)
        trains = sum(x == place for _, x in expanded(split.training))
        assert trains == min(max(round(share * total), 1), total - 1)


def test_which_records_train_depends_on_the_seed_alone():
    groups, texts = [0, 1, 2, 3, 4, 5] * 5, ["a", "b"] * 15
    first, again, other = (split_labels(histogram(groups, texts), seed=seed) for seed in (1, 1, 2))
    assert expanded(first.training) == expanded(again.training)
    assert expanded(first.training) != expanded(other.training)
    order = np.random.default_rng(0).permutation(len(groups))
    mixed = split_labels(histogram([groups[i] for i in order], [texts[i] for i in order]), seed=1)
    assert expanded(mixed.training) == expanded(first.training)


def source(frame: pd.DataFrame) -> MemorySource:
    roles = {"sex": Role.QUASI_IDENTIFIER, "ill": Role.INSENSITIVE}
    return MemorySource(frame, Schema(roles), {"sex": suppression(["F", "M"])})


def test_records_without_a_label_are_in_neither_part_and_counted():
    frame = pd.DataFrame({"sex": ["F", "M"] * 4, "ill": ["a", "b", "a", "b", None, "a", None, "b"]})
    split = split_labels(source(frame).build_column_histogram("ill"))
    assert split.labels == ("a", "b")
    assert split.unlabelled == 2
    assert split.training.records.sum() + split.validation.records.sum() == 6


def test_a_target_that_the_table_lacks_is_named():
    frame = pd.DataFrame({"sex": ["F", "M"], "ill": ["a", "b"]})
    with pytest.raises(PlanError, match="no column 'party'"):
        source(frame).build_column_histogram("party")


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (["same"] * 4, "has 1 different value, so there is nothing to predict"),
        (["a", "a", "b", "b", "Alice"], r"1 value \(value withheld\) has only one record"),
        ([f"v{i}" for i in range(MOST_LABELS + 1)] * 2, "51 different values"),
    ],
)
def test_a_target_that_cannot_be_learnt_is_refused_in_a_sentence(texts, said):
    with pytest.raises(TableError, match=said):
        split_labels(histogram([0] * len(texts), texts))


def test_a_label_of_one_record_is_named_to_who_holds_the_table():
    with pytest.raises(TableError) as caught:
        split_labels(histogram([0] * 5, ["a", "a", "b", "b", "Alice"]))
    assert "'Alice'" in caught.value.sentence
    assert "Alice" not in str(caught.value)


@pytest.mark.parametrize("share", [0.0, 1.0, -1.0, 2.0, float("nan")])
def test_a_share_for_training_that_leaves_a_part_empty_is_refused(share):
    with pytest.raises(PlanError, match="above 0 and below 1"):
        split_labels(histogram([0, 0, 0, 0], ["a", "b", "a", "b"]), share)


def test_the_rarest_label_is_looked_for_the_last_of_equally_rare_ones():
    assert split_labels(histogram([0] * 5, ["a", "a", "b", "b", "b"])).positive == 0
    assert split_labels(histogram([0] * 4, ["a", "b", "a", "b"])).positive == 1


@given(records(), st.data())
@examples(40)
def test_the_records_of_a_release_are_those_of_its_classes(drawn, data):
    groups, texts = drawn
    tree = suppression([f"q{i}" for i in range(6)])
    frame = pd.DataFrame({"q": [f"q{g}" for g in groups], "ill": texts})
    made = MemorySource(
        frame, Schema({"q": Role.QUASI_IDENTIFIER, "ill": Role.INSENSITIVE}), {"q": tree}
    )
    classes = made.classes
    up = np.array(data.draw(st.lists(st.booleans(), min_size=6, max_size=6)))[: classes.n_classes]
    gone = np.array(data.draw(st.lists(st.booleans(), min_size=6, max_size=6)))[: classes.n_classes]
    targets = np.where(up[:, None], tree.root, classes.nodes)
    recoding = Recoding.from_targets(classes, targets, gone)
    split = split_labels(made.build_column_histogram("ill"))
    for own, moved in zip(
        (split.training, split.validation), split.released(recoding), strict=True
    ):
        wanted = sorted(
            (int(recoding.assigned[g]), x) for g, x in expanded(own) if recoding.assigned[g] >= 0
        )
        assert expanded(moved) == wanted
        assert len({*zip(moved.group.tolist(), moved.label.tolist(), strict=True)}) == len(
            moved.group
        )


# --- scores -----------------------------------------------------------------------------------
@given(records(), st.data())
@examples(80)
def test_scores_are_those_of_scikit_learn_on_the_records(drawn, data):
    groups, texts = drawn
    pairs = split_labels(histogram(groups, texts)).validation
    size = len(set(texts))
    every = expanded(pairs)
    truth = np.array([label for _, label in every])
    chances = np.array(
        data.draw(
            st.lists(
                st.lists(st.integers(0, 4), min_size=size, max_size=size), min_size=6, max_size=6
            )
        ),
        dtype=float,
    )
    positive = 1
    found = scores(chances, pairs, positive)
    rows = chances[[group for group, _ in every]]
    guess = rows.argmax(axis=1)
    assert found["accuracy"] == pytest.approx(accuracy_score(truth, guess))
    labels = [positive] if size == 2 else list(range(size))
    areas = [
        roc_auc_score(truth == label, rows[:, label])
        for label in labels
        if len({*(truth == label)}) > 1
    ]
    if areas:
        assert found["auc"] == pytest.approx(np.mean(areas))
    else:
        assert np.isnan(found["auc"])
    wanted = [label for label in labels if label in truth or label in guess]
    assume(wanted)
    means = f1_score(truth, guess, labels=wanted, average=None, zero_division=0)
    assert found["f1"] == pytest.approx(np.mean(means))


def test_of_nobody_nothing_can_be_said():
    none = np.zeros(0, dtype=np.int64)
    found = scores(np.ones((1, 2)), Pairs(none, none, none), 1)
    assert list(found) == list(SCORES)
    assert all(np.isnan(value) for value in found.values())


# --- classifiers ------------------------------------------------------------------------------
def matrix(rows) -> Matrix:
    dense = np.asarray(rows, dtype=np.float32)
    return Matrix(sparse.csr_array(dense), tuple(f"c{i}" for i in range(dense.shape[1])))


ROWS = [[1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 1, 1], [0, 0, 1], [1, 0, 1]]
TRAINING = Pairs(
    np.array([0, 0, 1, 2, 3, 3, 4, 5]),
    np.array([0, 1, 0, 1, 1, 0, 1, 0]),
    np.array([40, 5, 30, 60, 20, 10, 50, 45]),
)


@pytest.fixture(autouse=True)
def one_thread():
    """Several, on cores that other tests keep busy, wait for each other most of the time."""
    with threadpool_limits(1):
        yield


@pytest.mark.nightly
@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_every_classifier_learns_what_is_plain_and_repeats_itself(name):
    before = TRAINING.records.copy()
    one, again = (fit(name, matrix(ROWS), TRAINING, 2, 3).chances(matrix(ROWS)) for _ in range(2))
    np.testing.assert_array_equal(one, again)
    np.testing.assert_array_equal(before, TRAINING.records)
    np.testing.assert_allclose(one.sum(axis=1), 1, atol=1e-5)
    assert one[0, 0] > 0.5 > one[2, 0]
    few = Pairs(np.array([0, 1, 2]), np.array([0, 0, 1]), np.array([1, 1, 1]))
    found = fit(name, matrix(ROWS), few, 2, 0).chances(matrix(ROWS))
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-5)


@pytest.mark.parametrize("name", [name for name, one in CLASSIFIERS.items() if one.weighted])
def test_weights_teach_what_the_records_themselves_do(name):
    of_record = np.repeat(TRAINING.group, TRAINING.records)
    label = np.repeat(TRAINING.label, TRAINING.records)
    plain = CLASSIFIERS[name].make(3, 260).fit(np.asarray(ROWS, np.float32)[of_record], label)
    found = fit(name, matrix(ROWS), TRAINING, 2, 3).chances(matrix(ROWS))
    np.testing.assert_allclose(found, plain.predict_proba(np.asarray(ROWS, np.float32)), atol=1e-3)


def test_the_published_network_has_the_published_settings():
    network = CLASSIFIERS["mlp"].make(7, 1000)
    wanted = {
        "hidden_layer_sizes": (5, 2), "activation": "relu", "solver": "adam",
        "learning_rate_init": 1e-3, "batch_size": 200, "n_iter_no_change": 10, "max_iter": 500,
        "random_state": 7,
    }  # fmt: skip
    assert {name: getattr(network, name) for name in wanted} == wanted


def test_a_label_that_nobody_trained_on_is_never_likely():
    only = Pairs(np.array([0, 1]), np.array([2, 2]), np.array([3, 4]))
    found = fit("logistic-regression", matrix(ROWS), only, 4, 0).chances(matrix(ROWS))
    assert found.tolist() == [[0, 0, 1, 0]] * len(ROWS)
    some = Pairs(np.array([0, 2]), np.array([0, 2]), np.array([30, 30]))
    found = fit("decision-tree", matrix(ROWS), some, 3, 0).chances(matrix(ROWS))
    assert (found[:, 1] == 0).all()
    assert found[0].tolist() == [1, 0, 0]
    assert found[2].tolist() == [0, 0, 1]


def test_a_classifier_that_no_seed_changes_is_one():
    assert isinstance(CLASSIFIERS["logistic-regression"].make(0, 9), LogisticRegression)
    for name in [name for name, one in CLASSIFIERS.items() if not one.seeded]:
        first, other = (
            fit(name, matrix(ROWS), TRAINING, 2, s).chances(matrix(ROWS)) for s in (0, 1)
        )
        np.testing.assert_allclose(first, other, atol=1e-6)
