"""The parts of the page Utility about learning and what predicts it, driven by AppTest."""

import json
import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from kanon.learning.experiments import Outcome
from kanon.studio.utility.state import LearningView, PredictingView, UtilityView
from support import dashboard as ui
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
    def open_at(part, table=None, **fields):
        at = ui.with_people(start(ui.DATA), people() if table is None else table)
        for column in ("age", "sex"):
            ui.give_role(at, column, "quasi-identifier")
        ui.press(at, "Keep it as it is")
        learning = LearningView(classifier=TREE, seeds=2, ks="3, 10, 40")
        at.session_state[ui.WORK] = ui.work(at).replace_sections(
            UtilityView(part=part),
            replace(learning, **fields),
            PredictingView(ks="3, 10, 40"),
        )
        return ui.go(at, UTILITY)

    return open_at


@pytest.mark.nightly
def test_the_first_experiment_is_run_shown_kept_and_gone_on_with(opened):
    at = opened("learning")
    assert "Nothing has been trained" in at.info[-1].value
    assert any("records for training, the other" in text for text in ui.captions(at))
    at = ui.settled(ui.press(at, "Train 2 classifiers"))
    (title,) = ui.chart_titles(at)
    assert title.startswith("Mean AUC is highest in")
    assert any(
        "Published (Viton et al. 2021): proportional is the best" in text for text in ui.texts(at)
    )
    table = at.dataframe[0].value
    assert list(table.columns) == ["oneClass", "fillParent", "fillChild", "proportional"]
    assert list(table.index) == ["3", "10", "40"]
    assert not any("Train" in label or "Continue" in label for label in ui.button_labels(at))
    ui.choose(at, "learning-score", "accuracy")
    assert ui.chart_titles(at)[0].startswith(
        "Mean Accuracy is highest in"
    )  # no other run is needed
    ui.choose(at, "learning-classifier", "logistic-regression")
    assert "Train 1 classifier" in ui.button_labels(at)
    ui.choose(at, "learning-classifier", TREE)
    ui.go(at, ui.DATA)
    ui.go(at, UTILITY)
    assert ui.work(at).view(UtilityView).part == "learning"
    assert ui.chart_titles(at)[0].startswith("Mean Accuracy")  # what was found is still there

    (key,) = ui.work(at).findings.learnt
    one, other = ui.work(at).findings.learnt[key]
    dead = Outcome(other.fit, np.full_like(other.scores, 0.5), other.before, True)
    ui.change(at, learnt={key: (one, dead)})
    assert any(text.startswith("1 of 2 are dead") for text in ui.texts(at))
    assert ui.chart_titles(at)[0].endswith(", 1 live network")
    assert "±" not in str(at.dataframe[0].value["proportional"].tolist())
    ui.enter(at, at.toggle(key="learning-live"), False)
    assert not ui.work(at).view(LearningView).live
    assert "live" not in ui.chart_titles(at)[0]
    at.toggle(key="learning-live").set_value(True)
    both = with_fields(ui.work(at), learnt={key: (replace(one, dead=True), dead)})
    at.session_state[ui.WORK] = both
    ui.go(at)
    assert any("No live network is left, so all are shown" in text for text in ui.warnings(at))

    ui.enter(at, at.number_input(key="learning-seeds"), 5)
    assert "Continue: 3 of 5 to train" in ui.button_labels(at)
    assert any("So far 2 of 5 are trained" in text for text in ui.captions(at))
    at = ui.settled(ui.press(at, "Continue: 3 of 5 to train"))
    (found,) = ui.work(at).findings.learnt.values()
    assert sorted(one.fit.seed for one in found) == [0, 1, 2, 3, 4]


@pytest.mark.nightly
def test_the_second_experiment_has_four_panels_and_says_which_is_best(opened):
    at = ui.settled(ui.press(opened("learning", trained="release", seeds=1), "Train 4 classifiers"))
    (title,) = ui.chart_titles(at)
    assert title == "AUC on releases, trained on k = 100"
    spec = json.loads(at.get("plotly_chart")[0].proto.spec)
    panels = [note["text"] for note in spec["layout"]["annotations"]]
    assert [text.split(":")[0] for text in panels] == [
        f"trained in {name}" for name in ("oneClass", "fillParent", "fillChild", "proportional")
    ]
    assert any(
        "the best training representation is" in text and "Published" in text
        for text in ui.texts(at)
    )


@pytest.mark.nightly
def test_a_cancelled_experiment_goes_on_where_it_was(opened):
    # A network learns for some seconds of so many records: no ten of them between two looks.
    at = opened("learning", people(4000), classifier="mlp", ks="100, 1000", seeds=10)
    at = ui.press(at, "Train 10 networks")
    job = ui.job_of(at)
    end = time.monotonic() + 90
    while not job.parts and not job.finished:
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)
    job.cancel()
    at = ui.settled(at)
    assert at.info[0].value.replace("\\", "") == (
        "The study was cancelled. What was found so far is kept."
    )
    done = len(job.parts)
    assert 1 <= done < 10
    assert f"Continue: {10 - done} of 10 to train" in ui.button_labels(at)
    assert len(ui.chart_titles(at)) == 1
    assert ui.work(at).findings.learnt


@pytest.mark.nightly
def test_the_target_that_is_offered_leaves_as_it_is(opened):
    at = opened("learning")
    box = at.selectbox(key=f"learning-target-{ui.work(at).version}")
    assert box.options == ["disease", "note"]
    ui.choose(at, box.key, "note")
    assert (
        "The column 'note' has 1 different value, so there is nothing to predict"
        in ui.problems(at)[0]
    )
    assert not any(label.startswith("Train") for label in ui.button_labels(at))
    ui.choose(at, box.key, "disease")
    assert not ui.problems(at)
    ui.give_role(ui.go(at, ui.DATA), "disease", "quasi-identifier")
    ui.give_role(at, "note", "identifier")
    ui.go(at, UTILITY)
    assert "there is no column to predict" in ui.problems(at)[0]
    assert "Which measure predicts" in at.button_group(key="utility-part").options


@pytest.mark.nightly
def test_which_measure_predicts_is_found_and_shown(opened):
    at = opened("predicting")
    ui.enter(at, at.multiselect(key="predicting-algorithms"), ["gaa", "mdav"])
    at = ui.press(at, "Train 24 classifiers")
    assert ui.problems(at)[0].startswith("MDAV: ")
    assert not ui.work(at).running, "before anything runs"
    at.multiselect(key="predicting-algorithms").set_value(["gaa", "mondrian", "optimal"])
    ui.enter(at, at.multiselect(key="predicting-classifiers"), [TREE])
    at = ui.settled(ui.press(at, "Train 9 classifiers"))
    heat, dots = ui.chart_titles(at)
    assert "agree" in heat.lower()
    assert dots.startswith("Agreement ")
    assert any(text.startswith("Non-uniform entropy (lower should mean") for text in ui.texts(at))
    ui.choose(at, "predicting-measure", "query_error_percent")
    assert ui.work(at).view(PredictingView).measure == "query_error_percent"

    ui.enter(at, at.multiselect(key="predicting-classifiers"), [TREE, "logistic-regression"])
    at = ui.settled(ui.press(at, "Continue: 9 of 18 to train"))
    spec = json.loads(at.get("plotly_chart")[0].proto.spec)
    assert spec["data"][0]["x"] == ["Logistic<br>regression", "Decision<br>tree"], "of both"
    ui.enter(at, at.multiselect(key="predicting-algorithms"), ["gaa", "mondrian"])
    assert not any(label.startswith(("Train", "Continue")) for label in ui.button_labels(at))
    ui.enter(at, at.text_input(key="predicting-ks"), "3, 10, 20, 40")
    assert "Continue: 4 of 16 to train" in ui.button_labels(at)
    # Of two algorithms nothing can be said at equal k: no panel, and no number in a title.
    assert not any("nan" in title or "at equal k" in title for title in ui.chart_titles(at))
    spec = json.loads(at.get("plotly_chart")[0].proto.spec)
    assert [note["text"] for note in spec["layout"]["annotations"]] == ["over all releases"]
