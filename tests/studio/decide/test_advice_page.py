"""The advisor on the page Decide, driven by AppTest; its chart."""

from dataclasses import replace

import numpy as np
import pytest

from kanon.base.progress import ignore_progress
from kanon.charts.advice import draw_advice, find_front
from kanon.experiments.advisor.advice import Advice, run_configurations
from kanon.experiments.advisor.proposals import propose
from kanon.experiments.advisor.repetition import RepeatedLoss
from kanon.experiments.advisor.weights import rank_configurations
from kanon.release.context import ChosenThreshold, Context, replace_threshold
from kanon.run import run
from kanon.studio.decide.advice_panel import build_advice_job, describe_advice_limits, store_advice
from kanon.studio.decide.state import AdviceView, DecideView
from kanon.studio.session.run_plan import build_plan
from kanon.studio.session.table_loading import open_sample
from support import dashboard as ui
from support.works import with_fields

DECIDE = "pages/decide.py"
RUN, USE = "Try every configuration", "Use these settings"


@pytest.fixture(scope="module")
def found():
    """Every way on the hospital sample, tried once; no proposal was run again."""
    asked = build_advice_job(with_fields(open_sample("hospital"), k=3))
    given = asked.runs, asked.wanted, asked.tried, asked.ks
    return run_configurations(ignore_progress, *given, workers=2, steady=False)


@pytest.fixture
def opened(start, found):
    """The hospital sample at k = 3, the page opened at the settings, the ways tried or not."""

    def open_with(known=True, **view):
        at = start(ui.DATA)
        now = with_fields(ui.work(at), k=3, context=Context(release="internal"))
        deciding = replace(now.view(DecideView), part="settings")
        now = now.replace_sections(deciding, replace(now.view(AdviceView), **view))
        if known:
            asked = build_advice_job(now)
            now = store_advice(asked.settings, asked.asked, now, found)
        at.session_state[ui.WORK] = now
        return ui.go(at, DECIDE)

    return open_with


def warned(at):
    return [text.replace("\\", "") for text in ui.warnings(at)]


def cards(at):
    return [
        text.split("**")[1] for text in ui.texts(at) if text.startswith(("**1 ·", "**2 ·", "**3 ·"))
    ]


def uses(at):
    return [one for one in at.button if one.label == USE]


def weight(at, name, value):
    return ui.enter(at, at.slider(key=f"advice-weight-{name}"), value)


@pytest.mark.nightly
def test_every_way_is_tried_in_a_worker_and_the_proposals_are_run_again(opened):
    at = opened(known=False)
    assert any(text.startswith("95 configurations of metric") for text in ui.captions(at))
    assert not cards(at) and not ui.problems(at)
    ui.settled(ui.press(at, RUN))
    assert len(cards(at)) == len(uses(at)) >= 2
    assert not [one for one in at.button if "again" in one.label], "that was done already"
    assert any("On " in one.value and "redrawn from" in one.value for one in at.markdown)
    (title,) = ui.chart_titles(at)
    assert title.startswith("k = 3: ")
    assert title.endswith(" has the lowest score, but loses nearly everything")
    assert len(at.dataframe[0].value) == 95
    meant = [one.help for one in at.markdown if one.value.startswith("**1 ·")]
    assert "merge" in meant[0], "what its names stand for"


@pytest.mark.nightly
def test_weights_rank_anew_without_a_run_and_none_lose_nothing(opened):
    at = opened()
    before = cards(at)
    (said,) = warned(at)
    assert said.startswith("The first proposal loses nearly everything: 100.0 % of all")
    assert "the lowest score by your weights, but nearly everything is lost" in ui.page_text(at)
    (title,) = ui.chart_titles(at)
    assert title.endswith(", but loses nearly everything")
    assert ui.button(at, f"Run {len(before)} proposals again"), "as these were not run again yet"
    (table,) = at.dataframe
    assert [*table.value.columns] == [
        "Rank", "Configuration", "Score, % ↓", "Alteration, % ↓", "l ↑", "t, 0 to 1 ↓",
        "Nothing beats it",
    ]  # fmt: skip
    weight(at, "utility", 0)
    assert not ui.work(at).running and cards(at) != before
    for name in ("l", "t"):
        weight(at, name, 0)
    (said,) = warned(at)
    assert said.startswith("All weights are 0, so no concern counts") and not cards(at)
    assert said.endswith(": Little is lost, Mixed classes (l), Classes like the table (t).")
    ui.press(at, RUN)
    assert not ui.work(at).running and ui.problems(at)[0].startswith("All weights are 0")
    weight(at, "utility", 10)
    assert cards(at) and not warned(at), "by utility alone little is lost"
    for name in ("l", "t"):
        weight(at, name, 5)
    assert cards(at) == before


@pytest.mark.nightly
def test_a_proposal_is_taken_as_if_chosen_by_hand_and_given_back(opened, found):
    at = opened()
    first = rank_configurations(found[0], [3]).order[0]
    way = found[0].lines[first].configuration
    old = ui.work(at)
    ui.click(at, uses(at)[0])
    new = ui.work(at)
    assert (new.settings.algorithm, new.settings.strategy, new.settings.k) == (
        "gaa",
        way.strategy,
        3,
    )
    assert way.strategy in ("l", "t") or new.settings.metric == way.metric
    assert ui.button(at, "In use").disabled and new.findings.advice is old.findings.advice
    assert new.message.notice.startswith("The settings are now in use")
    ui.press(at, "Back to the previous settings")
    now = ui.work(at)
    assert (now.settings.metric, now.settings.strategy, now.settings.scope) == (
        old.settings.metric,
        old.settings.strategy,
        old.settings.scope,
    )


@pytest.mark.nightly  # in every run: test_advisor.py
def test_what_part_1_asks_comes_first_or_is_said_to_be_out_of_reach(opened):
    at = opened()
    assert not at.checkbox, "internal use asks for no l and no t"
    context = replace_threshold(ui.work(at).purpose.context, "l", ChosenThreshold(wanted=4.5))
    ui.change(at, context=context)
    assert describe_advice_limits(ui.work(at)) == "l ≥ 4.5"
    said = [text for text in ui.texts(at) if "l of at least 4.5" in text]
    assert len(said) == 1 and "listed first" in said[0]
    require = "In part 1, press Add as requirements to require them for the next release."
    assert require not in ui.captions(at), "the roots have it"
    asked = replace_threshold(context, "t", ChosenThreshold(wanted=0))
    asked = replace_threshold(asked, "l", ChosenThreshold(wanted=50))
    at.session_state[ui.WORK] = with_fields(ui.work(at), context=asked)
    assert require in ui.captions(ui.go(at))
    ui.change(at, context=context)
    at.checkbox(key="advice-limited").uncheck()
    assert not [text for text in ui.texts(ui.go(at)) if "l of at least 4.5" in text]


@pytest.mark.nightly
def test_a_larger_k_that_has_what_part_1_asks_is_proposed_and_taken(opened, found):
    at = opened()
    context = replace_threshold(ui.work(at).purpose.context, "l", ChosenThreshold(wanted=3))
    context = replace_threshold(context, "highest_risk", ChosenThreshold(wanted=5))
    ui.change(at, context=context)
    assert describe_advice_limits(ui.work(at)) == "k ≥ 5, l ≥ 3"
    library = Advice(rank_configurations(found[0], [3], limits={"k": 5, "l": 3}), {})
    assert cards(at) == [
        f"{number} · {library.title(one)}" for number, one in enumerate(library.proposals, 1)
    ], "the command says the same"
    assert all(" · k = " in card for card in cards(at))
    (k,) = library.numbers["proposals"][0]["at_k"]
    uses(at)[0].click()
    now = ui.work(ui.go(at))
    assert now.settings.k == k and ui.button(at, "In use").disabled
    done = run(build_plan(now), now.table.records)
    rows, quasi = done.released(order="table"), [*done.recoding.released.attributes]
    assert rows.groupby(quasi).size().min() >= 5
    for _, ill in rows.groupby(quasi)["disease"]:
        share = ill.value_counts(normalize=True)
        assert np.exp(-(share * np.log(share)).sum()) >= 3 - 1e-9


@pytest.mark.nightly  # in every run: test_advisor.py
def test_another_k_is_looked_up_and_other_settings_ask_for_another_run(opened):
    at = opened()
    at.number_input(key=f"advice-low-{ui.work(at).version}").set_value(2)
    at.number_input(key=f"advice-high-{ui.work(at).version}").set_value(6)
    assert cards(ui.go(at)) and not [said for said in warned(at) if "not been tried yet" in said]
    ui.change(at, tie_seed=4)
    assert warned(at) == [
        "Settings have changed since this was made; press Try every configuration to renew it."
    ]
    assert not cards(at)


@pytest.mark.nightly
def test_tables_that_cannot_meet_the_models_are_counted_apart(found):
    weighed = rank_configurations(found[0], [3])
    first, *others = propose(weighed)

    def about(drawn):
        def again(lost):
            return RepeatedLoss(np.ones((2, 1, 3)), np.full((3, 1, 3), lost) * drawn[:, None, None])

        known = {one.place: again(2.0) for one in others} | {first.place: again(1.0)}
        return Advice(weighed, known).about_records

    whole = np.ones(3)
    assert others and about(whole).startswith("On 3 of 3 tables redrawn from these records")
    apart = about(np.array([1, np.nan, 1]))
    assert apart.startswith("On 2 of 2 tables")
    assert apart.endswith("1 more cannot meet the required models.")
    assert about(np.nan * whole).startswith("None of 3 tables redrawn from these records")


@pytest.mark.parametrize("concern", ["l", "t"])
def test_the_chart_has_every_way_once_and_a_label_per_proposal(found, concern):
    weighed = rank_configurations(found[0], [3])
    proposals = propose(weighed)
    figure = draw_advice(weighed, proposals, concern)
    points = [
        (text, x, y)
        for trace in figure.data
        if trace.meta == "ways"
        for text, x, y in zip(trace.text, trace.x, trace.y, strict=True)
    ]
    assert sorted(points) == sorted(
        (line.title, weighed.figures(place)["mean_alteration"], weighed.figures(place)[concern])
        for place, line in enumerate(weighed.ways)
    )
    labels = [note.text for note in figure.layout.annotations]
    assert labels == [
        f"<b>{number}</b> {weighed.ways[one.place].title}"
        for number, one in enumerate(proposals, 1)
    ]
    low, high = figure.layout.yaxis.range
    assert low >= {"l": 1, "t": 0}[concern] and (concern == "l" or high <= 1)
    left, right = figure.layout.xaxis.range
    for note in figure.layout.annotations:  # towards the middle, off the ticks
        assert (note.ay > 0) == (note.y >= (low + high) / 2) and note.y <= high
        assert (note.ax > 0, note.xanchor) == (
            (True, "left") if note.x <= (left + right) / 2 else (False, "right")
        )
    (front,) = [trace for trace in figure.data if trace.mode == "lines"]
    on = find_front(weighed, concern)
    assert sorted(front.x) == sorted(weighed.losses[on, 0]) and list(front.x) == sorted(front.x)
