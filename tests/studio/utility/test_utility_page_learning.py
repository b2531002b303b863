"""The parts of the page Utility about learning and what predicts it, driven by AppTest."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from kanon.charts.learning import scores_finding
from kanon.errors import PlanError
from kanon.learning.experiments import Band, Fit, Outcome
from kanon.learning.scores import SCORES
from kanon.studio.session.work import with_fields
from kanon.studio.utility.learning import best_said, chance_said, highest_said, ks_typed
from kanon.studio.utility.prediction import agreement_said, agreement_title, best_measures
from kanon.studio.utility.state import UtilityView
from support.dashboard import (
    DATA,
    WORK,
    button,
    captions,
    choose,
    give_role,
    go,
    press,
    problems,
    settled,
    warnings,
    with_people,
    work,
)

UTILITY = "pages/utility.py"
TREE = "decision-tree"


def people(size=160):
    random = np.random.default_rng(2)
    age = random.integers(20, 60, size)
    ill = np.where((age > 40) ^ (random.random(size) < 0.1), "gout", "cold")
    sex = random.choice(["F", "M"], size)
    return pd.DataFrame({"age": age, "sex": sex, "disease": ill, "note": ["x"] * size})


@pytest.fixture
def opened(start):
    """A small table, and the page opened at a part, with a quick classifier."""

    def open_at(part, table=None, **fields):
        at = with_people(start(DATA), people() if table is None else table)
        for column in ("age", "sex"):
            give_role(at, column, "quasi-identifier")
        view = work(at).view(UtilityView)
        learning = replace(view.learning, classifier=TREE, seeds=2, ks="3, 10, 40")
        seen = with_fields(
            view,
            part=part,
            learning=replace(learning, **fields),
            predicting=replace(view.predicting, ks="3, 10, 40"),
        )
        at.session_state[WORK] = with_fields(work(at), utility=seen)
        return go(at, UTILITY)

    return open_at


def texts(at):
    return [one.value.replace("\\", "") for one in at.markdown]


def titles(at):
    """The titles of the pictures."""
    specs = [json.loads(chart.proto.spec) for chart in at.get("plotly_chart")]
    return [spec["layout"]["title"]["text"] for spec in specs]


def buttons(at):
    return [one.label for one in at.button]


# --- learning -----------------------------------------------------------------------------------
def test_the_first_experiment_is_run_shown_and_kept(opened):
    at = opened("learning")
    assert "Nothing was trained" in at.info[-1].value
    assert any("records train, the other" in text for text in captions(at))
    at = settled(press(at, "Train 2 classifiers"))
    (title,) = titles(at)
    assert title.startswith("Mean AUC is highest in")
    assert any("Published (Viton et al. 2021): proportional is best" in text for text in texts(at))
    table = at.dataframe[0].value
    assert list(table.columns) == ["oneClass", "fillParent", "fillChild", "proportional"]
    assert list(table.index) == ["3", "10", "40"]
    assert not any("Train" in label or "Go on" in label for label in buttons(at))
    choose(at, "learning-score", "accuracy")
    assert titles(at)[0].startswith("Mean Accuracy is highest in")  # no other run is needed
    choose(at, "learning-classifier", "logistic-regression")
    assert "Train 1 classifier" in buttons(at)
    choose(at, "learning-classifier", TREE)
    assert titles(at)[0].startswith("Mean Accuracy")  # what was found is still there


def test_more_seeds_need_only_the_others(opened):
    at = settled(press(opened("learning"), "Train 2 classifiers"))
    at.number_input(key="learning-seeds").set_value(5)
    go(at)
    assert "Go on: 3 of 5 to train" in buttons(at)
    assert any("So far 2 of 5 are trained" in text for text in captions(at))
    at = settled(press(at, "Go on: 3 of 5 to train"))
    assert len(work(at).findings.learnt) == 1
    assert sorted(one.fit.seed for one in next(iter(work(at).findings.learnt.values()))) == [
        0,
        1,
        2,
        3,
        4,
    ]


def test_the_second_experiment_has_four_panels_and_says_which_is_best(opened):
    at = settled(press(opened("learning", trained="release", seeds=1), "Train 4 classifiers"))
    (title,) = titles(at)
    assert title == "AUC on releases, trained on k = 100"
    spec = json.loads(at.get("plotly_chart")[0].proto.spec)
    panels = [note["text"] for note in spec["layout"]["annotations"]]
    assert [text.split(":")[0] for text in panels] == [
        f"trained in {name}" for name in ("oneClass", "fillParent", "fillChild", "proportional")
    ]
    assert any("best to train on is" in text and "Published" in text for text in texts(at))


def test_a_cancelled_experiment_goes_on_where_it_was(opened):
    # A network learns for some seconds of so many records: no ten of them between two looks.
    at = opened("learning", people(4000), classifier="mlp", ks="100, 1000", seeds=10)
    at = press(at, "Train 10 networks")
    job = work(at).running.job
    end = time.monotonic() + 90
    while not job.parts and not job.finished:
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)
    job.cancel()
    at = settled(at)
    assert at.info[0].value.replace("\\", "") == (
        "The study was cancelled. What was found so far is kept."
    )
    done = len(job.parts)
    assert 1 <= done < 10
    assert f"Go on: {10 - done} of 10 to train" in buttons(at)
    assert len(titles(at)) == 1
    assert work(at).findings.learnt


def test_the_target_that_is_offered_leaves_as_it_is(opened):
    at = opened("learning")
    box = at.selectbox(key=f"learning-target-{work(at).version}")
    assert box.options == ["disease", "note"]
    choose(at, box.key, "note")
    assert (
        "The column 'note' has 1 different value, so there is nothing to predict" in problems(at)[0]
    )
    assert not any(label.startswith("Train") for label in buttons(at))
    choose(at, box.key, "disease")
    assert not problems(at)
    give_role(go(at, DATA), "disease", "quasi-identifier")
    give_role(at, "note", "identifier")
    go(at, UTILITY)
    assert "none is left to be predicted" in problems(at)[0]
    assert "Which measure predicts" in at.button_group(key="utility-part").options


def test_missing_labels_and_a_label_of_one_record(opened):
    table = people()
    table.loc[:9, "disease"] = None
    assert any(
        "10 records without a value of the target" in text
        for text in captions(opened("learning", table))
    )
    table.loc[10, "disease"] = "rare"
    at = opened("learning", table)
    assert "('rare') has one record only" in problems(at)[0]


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("3, many", "'many' is no k"),
        ("3, 3", "k = 3 is given twice"),
        ("1", "k = 1 is not allowed"),
        ("999", "No k is left"),
        (" ", "Give at least one k"),
        ("99999999999999999999", "are above 160, the largest that this table allows"),
        ("²", "'²' is no k"),
    ],
)
def test_a_wrong_k_is_said_and_stays_as_it_was_typed(opened, typed, said):
    at = opened("learning", ks=typed)
    assert said in problems(at)[0]
    assert at.text_input(key=f"learning-ks-{typed}").value == typed
    with pytest.raises(PlanError, match=said):
        ks_typed(typed, 160)


def test_dead_networks_are_counted_and_can_be_left_out(opened):
    at = settled(press(opened("learning"), "Train 2 classifiers"))
    (key,) = work(at).findings.learnt
    one, other = work(at).findings.learnt[key]
    dead = Outcome(other.fit, np.full_like(other.scores, 0.5), other.before, True)
    at.session_state[WORK] = with_fields(work(at), learnt={key: (one, dead)})
    go(at)
    assert any(text.startswith("1 of 2 came out dead") for text in texts(at))
    assert len(at.dataframe[0].value.columns) == 8  # of all, and of the live ones
    assert titles(at)[0].endswith(", 1 live network")
    assert "±" not in str(at.dataframe[0].value["proportional, 1 live"].tolist())
    at.toggle(key="learning-live").set_value(False)
    go(at)
    assert not work(at).view(UtilityView).learning.live
    assert "live" not in titles(at)[0]
    at.toggle(key="learning-live").set_value(True)
    both = with_fields(work(at), learnt={key: (with_fields(one, dead=True), dead)})
    at.session_state[WORK] = both
    go(at)
    assert any("None is left, so all are shown" in text for text in warnings(at))


def band(*means):
    return Band(np.array(means), np.zeros(len(means)), 2)


def test_the_sentences_on_experiments_name_ties_and_claim_nothing_of_nothing():
    four = ("oneClass", "fillParent", "fillChild", "proportional")
    nan = float("nan")
    best = dict(
        zip(four, (band(0.7, 0.5), band(0.8, 0.5), band(0.6, 0.5), band(0.8, 0.5)), strict=True)
    )
    assert highest_said(best, (3, 10), 0.5) == (
        "No representation has a higher mean than proportional wherever anything is learnt. "
        "At k = 10 nothing is learnt."
    )
    behind = {**best, "proportional": band(0.75, 0.5)}
    assert highest_said(behind, (3, 10), 0.5).startswith("At k = 3 another one has a higher mean")
    nothing = dict.fromkeys(four, band(nan, nan))
    assert highest_said(nothing, (3, 10), 0.5) == "At no k anything is learnt."
    card = SCORES["auc"]
    assert scores_finding(nothing, (3, 10), card) == "Nothing is learnt at any k"
    assert scores_finding(best, (3, 10), card, 0.5) == (
        "Mean AUC is highest in fillParent at 1 of 1 k where anything is learnt, and in "
        "proportional at as many"
    )
    alike = dict.fromkeys(four, dict.fromkeys(four, band(0.5, 0.5)))
    said = best_said(alike, (3, 10), "auc")
    assert (
        "train on is oneClass and fillParent and fillChild and proportional alike (0.500)" in said
    )
    assert best_said(dict.fromkeys(four, nothing), (3, 10), "auc") == "No score could be taken."
    assert "trained in fillChild and validated in proportional (0.800)" in best_said(
        {**alike, "fillChild": {**alike["fillChild"], "proportional": band(0.9, 0.7)}},
        (3, 10),
        "auc",
    )


def test_what_cannot_be_learnt_is_said(opened):
    table = people().assign(disease=np.random.default_rng(1).choice(["a", "b"], 160))
    at = settled(press(opened("learning", table, score="accuracy"), "Train 2 classifiers"))
    labels = SimpleNamespace(target="disease")
    assert "can hardly be predicted" in chance_said({"x": 0.5}, 0.5, "auc", labels)
    assert chance_said({"x": 0.7}, 0.5, "auc", labels) == ""
    assert titles(at)


def test_leaving_the_page_keeps_what_was_chosen_and_found(opened):
    at = settled(press(opened("learning"), "Train 2 classifiers"))
    go(at, DATA)
    go(at, UTILITY)
    assert work(at).view(UtilityView).part == "learning"
    assert titles(at)


# --- what predicts --------------------------------------------------------------------------------
def test_which_measure_predicts_is_found_and_shown(opened):
    at = opened("predicting")
    at.multiselect(key="predicting-classifiers").set_value([TREE, "logistic-regression"])
    go(at)
    at = settled(press(at, "Train 24 classifiers"))
    heat, dots = titles(at)
    assert "agree" in heat.lower()
    assert dots.startswith("Agreement ")
    assert any(text.startswith("Non-uniform entropy, less of which") for text in texts(at))
    choose(at, "predicting-measure", "query_error_percent")
    assert work(at).view(UtilityView).predicting.measure == "query_error_percent"
    at.multiselect(key="predicting-algorithms").set_value(["gaa", "mondrian"])
    go(at)
    assert not any(label.startswith(("Train", "Go on")) for label in buttons(at))
    at.text_input(key="predicting-ks").set_value("3, 10, 20, 40")
    go(at)
    assert "Go on: 4 of 16 to train" in buttons(at)
    # Of two algorithms nothing can be said at equal k: no panel, and no number in a title.
    assert not any("nan" in title or "at equal k" in title for title in titles(at))
    spec = json.loads(at.get("plotly_chart")[0].proto.spec)
    assert [note["text"] for note in spec["layout"]["annotations"]] == ["over all releases"]


def test_nothing_to_run_is_said(opened):
    at = opened("predicting")
    at.multiselect(key="predicting-algorithms").set_value([])
    go(at)
    assert "Choose at least one algorithm and one classifier." in problems(at)


def test_an_algorithm_that_cannot_be_run_is_named_before_anything_runs(opened):
    at = opened("predicting")
    at.multiselect(key="predicting-algorithms").set_value(["gaa", "mdav"])
    go(at)
    at = press(at, button(at, "Train 24 classifiers").label)
    assert problems(at)[0].startswith("MDAV: ")
    assert work(at).running.job is None


def agreed(**rows):
    return pd.DataFrame(
        [
            {
                "measure": name, "score": "s", "agreement": a, "low": a - 0.1, "high": a + 0.1,
                "at_equal_k": w, "low_at_equal_k": w - 0.1, "high_at_equal_k": w + 0.1,
            }
            for name, (a, w) in rows.items()
        ]
    )  # fmt: skip


def test_the_sentences_say_what_holds_and_what_does_not():
    from kanon.measures.overview import utility_cards

    cards = utility_cards()
    found = agreed(precision=(0.9, 0.0), conditional_entropy_bits=(0.8, 0.5))
    assert best_measures(found, "agreement") == ["precision"]
    said = agreement_said(found, cards)
    assert said[0].startswith("Over all releases, Precision (Prec) orders them most")
    assert "agreement 0.90 (95 % intervals within 0.80 to 1.00, above 0 for 1 of 1" in said[0]
    assert "Conditional entropy orders them most as the classifiers do: agreement 0.50" in said[1]
    assert "over all releases agreement 0.80" in said[2] and "place 2 of 2" in said[2]
    assert said[2].endswith("place 1 of 2.")
    assert agreement_title(found, cards, "auc") == "Precision (Prec) agrees most with AUC"
    tied = agreed(precision=(0.9, 0.5), conditional_entropy_bits=(0.9, 0.5))
    assert agreement_title(tied, cards, "auc") == "2 measures alike agree most with AUC"
    assert "and 1 other as well, order them most" in agreement_said(tied, cards)[0]
    assert "place 1 of 2, shared by 2" in agreement_said(tied, cards)[2]
    # One classifier for it and one against it is no agreement.
    split = pd.concat([agreed(precision=(0.9, 0.9)), agreed(precision=(-0.7, -0.7))])
    split["score"] = ["s", "t"]
    assert agreement_title(split, cards, "auc") == "No measure agrees with AUC for every classifier"
    assert "no measure orders them as every classifier" in agreement_said(split, cards)[0]
    few = found.assign(low=np.nan, high=np.nan)
    assert "no interval: that needs at least 8 k" in agreement_said(few, cards)[0]
    two = found.assign(at_equal_k=np.nan, low_at_equal_k=np.nan)
    assert "needs three algorithms" in agreement_said(two, cards)[1]


def test_another_classifier_renews_what_is_said(opened):
    """A picture of what was known before the other one was trained would be of other releases."""
    at = opened("predicting")
    at.multiselect(key="predicting-classifiers").set_value([TREE])
    at.multiselect(key="predicting-algorithms").set_value(["gaa", "mondrian", "optimal"])
    go(at)
    at = settled(press(at, "Train 9 classifiers"))
    assert len(titles(at)) == 2
    at.multiselect(key="predicting-classifiers").set_value([TREE, "logistic-regression"])
    go(at)
    at = settled(press(at, "Go on: 9 of 18 to train"))
    spec = json.loads(at.get("plotly_chart")[0].proto.spec)
    assert spec["data"][0]["x"] == ["Logistic<br>regression", "Decision<br>tree"]


def test_small_tables_are_learnt_from_by_every_classifier(opened):
    at = opened("predicting", people(30))
    at.text_input(key="predicting-ks").set_value("3, 5")
    go(at)
    at = settled(press(at, "Train 32 classifiers"))
    assert not problems(at)
    assert not any(label.startswith(("Train", "Go on")) for label in buttons(at))


def test_a_study_with_earlier_settings_is_said(opened):
    at = opened("learning", classifier="random-forest", seeds=3)
    press(at, "Train 3 classifiers")
    choose(at, "learning-classifier", TREE)
    if work(at).busy:
        assert any("earlier settings" in one.value for one in at.info)
    at = settled(at)
    assert "Train 3 classifiers" in buttons(at)
    assert "Nothing was trained" in at.info[-1].value
    choose(at, "learning-classifier", "random-forest")
    assert titles(at)


def test_a_fit_is_known_by_its_representation_and_seed():
    assert Fit("oneClass", 1) == Fit("oneClass", 1) != Fit("oneClass", 2)
