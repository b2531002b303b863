"""The parts of the page Utility about learning and what predicts it, driven by AppTest."""

from __future__ import annotations

import json
import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from kanon.learning.experiments import Outcome
from kanon.studio.utility.state import UtilityView
from support.dashboard import (
    DATA,
    WORK,
    button_labels,
    captions,
    chart_titles,
    choose,
    give_role,
    go,
    job_of,
    press,
    problems,
    settled,
    texts,
    warnings,
    with_people,
    work,
)
from support.works import with_fields

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
        press(at, "Keep it as it is")
        view = work(at).view(UtilityView)
        learning = replace(view.learning, classifier=TREE, seeds=2, ks="3, 10, 40")
        seen = replace(
            view,
            part=part,
            learning=replace(learning, **fields),
            predicting=replace(view.predicting, ks="3, 10, 40"),
        )
        at.session_state[WORK] = with_fields(work(at), view=seen)
        return go(at, UTILITY)

    return open_at


# --- learning -----------------------------------------------------------------------------------
def test_the_first_experiment_is_run_shown_kept_and_gone_on_with(opened):
    at = opened("learning")
    assert "Nothing was trained" in at.info[-1].value
    assert any("records train, the other" in text for text in captions(at))
    at = settled(press(at, "Train 2 classifiers"))
    (title,) = chart_titles(at)
    assert title.startswith("Mean AUC is highest in")
    assert any("Published (Viton et al. 2021): proportional is best" in text for text in texts(at))
    table = at.dataframe[0].value
    assert list(table.columns) == ["oneClass", "fillParent", "fillChild", "proportional"]
    assert list(table.index) == ["3", "10", "40"]
    assert not any("Train" in label or "Go on" in label for label in button_labels(at))
    choose(at, "learning-score", "accuracy")
    assert chart_titles(at)[0].startswith("Mean Accuracy is highest in")  # no other run is needed
    choose(at, "learning-classifier", "logistic-regression")
    assert "Train 1 classifier" in button_labels(at)
    choose(at, "learning-classifier", TREE)
    go(at, DATA)
    go(at, UTILITY)
    assert work(at).view(UtilityView).part == "learning"
    assert chart_titles(at)[0].startswith("Mean Accuracy")  # what was found is still there

    (key,) = work(at).findings.learnt
    one, other = work(at).findings.learnt[key]
    dead = Outcome(other.fit, np.full_like(other.scores, 0.5), other.before, True)
    at.session_state[WORK] = with_fields(work(at), learnt={key: (one, dead)})
    go(at)
    assert any(text.startswith("1 of 2 came out dead") for text in texts(at))
    assert len(at.dataframe[0].value.columns) == 8  # of all, and of the live ones
    assert chart_titles(at)[0].endswith(", 1 live network")
    assert "±" not in str(at.dataframe[0].value["proportional, 1 live"].tolist())
    at.toggle(key="learning-live").set_value(False)
    go(at)
    assert not work(at).view(UtilityView).learning.live
    assert "live" not in chart_titles(at)[0]
    at.toggle(key="learning-live").set_value(True)
    both = with_fields(work(at), learnt={key: (replace(one, dead=True), dead)})
    at.session_state[WORK] = both
    go(at)
    assert any("None is left, so all are shown" in text for text in warnings(at))

    at.number_input(key="learning-seeds").set_value(5)
    go(at)
    assert "Go on: 3 of 5 to train" in button_labels(at)
    assert any("So far 2 of 5 are trained" in text for text in captions(at))
    at = settled(press(at, "Go on: 3 of 5 to train"))
    (found,) = work(at).findings.learnt.values()
    assert sorted(one.fit.seed for one in found) == [0, 1, 2, 3, 4]


def test_the_second_experiment_has_four_panels_and_says_which_is_best(opened):
    at = settled(press(opened("learning", trained="release", seeds=1), "Train 4 classifiers"))
    (title,) = chart_titles(at)
    assert title == "AUC on releases, trained on k = 100"
    spec = json.loads(at.get("plotly_chart")[0].proto.spec)
    panels = [note["text"] for note in spec["layout"]["annotations"]]
    assert [text.split(":")[0] for text in panels] == [
        f"trained in {name}" for name in ("oneClass", "fillParent", "fillChild", "proportional")
    ]
    assert any("best to train on is" in text and "Published" in text for text in texts(at))


@pytest.mark.nightly
def test_a_cancelled_experiment_goes_on_where_it_was(opened):
    # A network learns for some seconds of so many records: no ten of them between two looks.
    at = opened("learning", people(4000), classifier="mlp", ks="100, 1000", seeds=10)
    at = press(at, "Train 10 networks")
    job = job_of(at)
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
    assert f"Go on: {10 - done} of 10 to train" in button_labels(at)
    assert len(chart_titles(at)) == 1
    assert work(at).findings.learnt


def test_the_target_that_is_offered_leaves_as_it_is(opened):
    at = opened("learning")
    box = at.selectbox(key=f"learning-target-{work(at).version}")
    assert box.options == ["disease", "note"]
    choose(at, box.key, "note")
    assert (
        "The column 'note' has 1 different value, so there is nothing to predict" in problems(at)[0]
    )
    assert not any(label.startswith("Train") for label in button_labels(at))
    choose(at, box.key, "disease")
    assert not problems(at)
    give_role(go(at, DATA), "disease", "quasi-identifier")
    give_role(at, "note", "identifier")
    go(at, UTILITY)
    assert "none is left to be predicted" in problems(at)[0]
    assert "Which measure predicts" in at.button_group(key="utility-part").options


# --- what predicts --------------------------------------------------------------------------------
def test_which_measure_predicts_is_found_and_shown(opened):
    at = opened("predicting")
    at.multiselect(key="predicting-algorithms").set_value(["gaa", "mdav"])
    go(at)
    at = press(at, "Train 24 classifiers")
    assert problems(at)[0].startswith("MDAV: ") and not work(at).running, "before anything runs"
    at.multiselect(key="predicting-algorithms").set_value(["gaa", "mondrian", "optimal"])
    at.multiselect(key="predicting-classifiers").set_value([TREE])
    go(at)
    at = settled(press(at, "Train 9 classifiers"))
    heat, dots = chart_titles(at)
    assert "agree" in heat.lower()
    assert dots.startswith("Agreement ")
    assert any(text.startswith("Non-uniform entropy, less of which") for text in texts(at))
    choose(at, "predicting-measure", "query_error_percent")
    assert work(at).view(UtilityView).predicting.measure == "query_error_percent"

    at.multiselect(key="predicting-classifiers").set_value([TREE, "logistic-regression"])
    go(at)
    at = settled(press(at, "Go on: 9 of 18 to train"))
    spec = json.loads(at.get("plotly_chart")[0].proto.spec)
    assert spec["data"][0]["x"] == ["Logistic<br>regression", "Decision<br>tree"], "of both"
    at.multiselect(key="predicting-algorithms").set_value(["gaa", "mondrian"])
    go(at)
    assert not any(label.startswith(("Train", "Go on")) for label in button_labels(at))
    at.text_input(key="predicting-ks").set_value("3, 10, 20, 40")
    go(at)
    assert "Go on: 4 of 16 to train" in button_labels(at)
    # Of two algorithms nothing can be said at equal k: no panel, and no number in a title.
    assert not any("nan" in title or "at equal k" in title for title in chart_titles(at))
    spec = json.loads(at.get("plotly_chart")[0].proto.spec)
    assert [note["text"] for note in spec["layout"]["annotations"]] == ["over all releases"]


@pytest.mark.nightly
def test_small_tables_are_learnt_from_by_every_classifier(opened):
    at = opened("predicting", people(30))
    at.text_input(key="predicting-ks").set_value("3, 5")
    go(at)
    at = settled(press(at, "Train 32 classifiers"))
    assert not problems(at)
    assert not any(label.startswith(("Train", "Go on")) for label in button_labels(at))


@pytest.mark.nightly
def test_a_study_with_earlier_settings_is_said(opened):
    at = opened("learning", classifier="random-forest", seeds=3)
    press(at, "Train 3 classifiers")
    choose(at, "learning-classifier", TREE)
    if work(at).running:
        assert any("earlier settings" in one.value for one in at.info)
    at = settled(at)
    assert "Train 3 classifiers" in button_labels(at)
    assert "Nothing was trained" in at.info[-1].value
    choose(at, "learning-classifier", "random-forest")
    assert chart_titles(at)
