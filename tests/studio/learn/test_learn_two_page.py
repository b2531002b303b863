"""The page Learn, two lessons side by side, driven by AppTest."""

import json

import pytest

from kanon.base.formatting import write_percent
from kanon.strategies import STRATEGIES
from kanon.studio.learn.state import LessonsView
from kanon.studio.learn.two_panel import build_two_lessons
from kanon.teaching.presets import PRESETS
from support.dashboard import captions, choose, go, infos, press, texts, warnings, work

LEARN = "pages/learn.py"


def view_of(at):
    return work(at).view(LessonsView).steps


def pair_of(at, monkeypatch):
    """The two lessons that the page shows, built anew."""
    with monkeypatch.context() as patch:
        patch.setattr(
            "kanon.studio.learn.two_panel.state.get_or_compute", lambda name, key, make: make()
        )
        return build_two_lessons(work(at))


def figures(at):
    found = {one.key: json.loads(one.proto.spec) for one in at.get("plotly_chart")}
    return [found.get(f"lesson-picture-{side}") for side in ("one", "other")]


def compare(at, on=True):
    at.toggle(key="learn-beside").set_value(on)
    return go(at)


def positions(at, monkeypatch):
    """Where both stand; what the page shows of them is what their lessons have there."""
    two, said = pair_of(at, monkeypatch), texts(at)
    found = tuple(min(view_of(at).step, len(one.lesson.steps) - 1) for one in two)
    sheets = [one.proto.body for one in at.get("html") if 'class="lesson' in one.proto.body]
    assert len(sheets) == 2 and all(figures(at))
    for one, position in zip(two, found, strict=True):
        lesson = one.lesson
        step, last = lesson.steps[position], len(lesson.steps) - 1
        assert f"**Step {position} of {last}: {step.heading}**  \n{step.sentence}" in said
        numbers = (
            f"Minimum k ↑ **{step.numbers.min_k}** · Alteration ↓ "
            f"**{write_percent(step.numbers.alteration)}** ({lesson.metric.card.title})"
        )
        assert numbers in said
    return found


@pytest.mark.nightly
def test_two_strategies_are_moved_together_until_they_part(start, monkeypatch):
    at = start(LEARN, "census")
    choose(at, "learn-table", "hospital")
    at.number_input(key="learn-k-hospital-10").set_value(3)
    go(at)
    press(at, "Next")
    compare(at)
    assert view_of(at).beside.algorithm == "datafly"
    choose(at, "learn-algorithm-beside", "gaa")
    choose(at, "learn-strategy-beside", "s3")
    options = at.selectbox(key="learn-strategy-beside").options
    assert options[0] == STRATEGIES["s2"].title and options[-1] == STRATEGIES["s1"].title
    assert "learn-table-beside" not in [one.key for one in at.selectbox], "the table is shared"
    assert positions(at, monkeypatch) == (1, 1)
    assert [f"#### {name.upper()}" in texts(at) for name in ("s1", "s3")] == [True] * 2
    (said,) = [text for text in texts(at) if text.startswith("They have the same classes")]
    parted = [one.lesson.steps[7].detail for one in pair_of(at, monkeypatch)]
    assert said == (
        "They have the same classes up to step 6; "
        + "; ".join(
            f"{'then ' if name == 'S1' else ''}{name} merges “{one.picked.label}” with "
            f"“{one.partner.label}”"
            for name, one in zip(("S1", "S3"), parted, strict=True)
        )
        + ". Their releases differ."
    )
    assert any("at the same step" in caption for caption in captions(at))
    for place in range(2, 8):
        press(at, "Next")
        assert positions(at, monkeypatch) == (place, place)
    assert figures(at)[0] != figures(at)[1]
    press(at, "Last")
    assert positions(at, monkeypatch) == (8, 8)
    told = [json.loads(one.proto.json) for one in at.get("bidi_component")]
    below = [one["settings"] for one in told if one.get("file", "").startswith("kanon-lesson")]
    for name, settings in zip(("S1", "S3"), below, strict=True):
        assert f"strategy: {name} · k = 3, counting records" in settings
        assert settings.startswith(f"{PRESETS['hospital'].title}: 10 records"), "not the census"


@pytest.mark.nightly
def test_a_lesson_that_cannot_be_told_says_why_and_the_other_one_goes_on(start, monkeypatch):
    at = start(LEARN, "hospital")
    choose(at, "learn-table", "animals-m23")
    compare(at)
    press(at, "Next")
    choose(at, "learn-algorithm-beside", "mdav")
    (said,) = warnings(at)
    assert "MDAV takes means" in said
    left, right = figures(at)
    assert left is not None and right is None
    step = view_of(at).step
    press(at, "Next")
    assert view_of(at).step == step + 1 and figures(at)[0] != left and warnings(at) == [said]
    choose(at, "learn-algorithm", "mdav")
    assert len(warnings(at)) == 2 and figures(at) == [None, None]
    assert not [one for one in at.button if one.label == "Next"], "there is nothing to go through"
    choose(at, "learn-algorithm", "gaa")
    choose(at, "learn-algorithm-beside", "gaa")
    choose(at, "learn-strategy-beside", "s1")
    assert not warnings(at) and positions(at, monkeypatch) == (step + 1, step + 1)
    assert infos(at) == ["Both sides are the same; choose other settings for one of them."]


@pytest.mark.nightly
def test_two_lessons_on_the_table_that_one_works_on(start, monkeypatch):
    at = start(LEARN, "census")
    choose(at, "learn-table", "own")
    compare(at)
    press(at, "Next")
    for name in ("kaca", "mondrian", "datafly"):
        choose(at, "learn-algorithm-beside", name)
        assert positions(at, monkeypatch)[0] == 1, name
    assert pair_of(at, monkeypatch)[0].lesson.task.classes.n_records == 12
    asked = [one.label for one in at.button if (one.key or "").endswith("-ask")]
    assert len(asked) == 4 and all("original values" in label for label in asked)
