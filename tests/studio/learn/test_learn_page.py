"""The page Learn, step by step, driven by AppTest: what is drawn, where one goes, what is told."""

import html
import io
import json
import re

import pandas as pd
import pytest

from kanon.algorithms.catalogue import algorithms
from kanon.base.formatting import write_percent
from kanon.metrics import METRICS
from kanon.strategies import STRATEGIES
from kanon.studio.learn.lesson import build_table_lesson
from kanon.studio.learn.player import PACE
from kanon.studio.learn.state import LessonsView
from kanon.teaching.glossary import load_glossary
from kanon.teaching.presets import choose_preset
from support import dashboard as ui

LEARN = "pages/learn.py"
HOSTILE = ["<script>window.harmed=1</script>", "![x](http://a.invalid/b.png)", "$x$ **b**"]


def steps(at):
    return ui.work(at).view(LessonsView).steps


def heading(at):
    (found,) = [one.value for one in at.subheader if one.value.startswith("Step ")]
    return found.replace("\\", "")


def sheets(at):
    """The tables of the step: of the choices, and last the one of the records."""
    return [one.proto.body for one in at.get("html") if 'class="lesson' in one.proto.body]


def figure(at, key="lesson-picture"):
    (found,) = [one for one in at.get("plotly_chart") if one.key == key]
    return json.loads(found.proto.spec)


def lesson_on(at):
    """The lesson that the page shows, built anew."""
    return build_table_lesson(ui.work(at), steps(at), lambda name, key, make: make()).lesson


def checked(at):
    """The numbers on the page are those of the step that is shown."""
    lesson = lesson_on(at)
    now, shown = lesson.steps[steps(at).step].numbers, ui.numbers(at)
    least = "none" if now.min_k is None else str(now.min_k)
    assert (shown["Minimum k"], shown["Classes"]) == (least, str(now.classes))
    assert shown["Alteration"] == write_percent(now.alteration)
    assert shown["Suppressed"] == f"{now.suppressed} of {lesson.task.classes.n_records}"
    if lesson.sensitive is not None:
        assert ui.number(shown["Entropy l"]) == pytest.approx(now.l, abs=1e-3)
        t, most = shown["t"].split(" of ")
        assert float(t) == pytest.approx(now.t, abs=1e-3) and most == "1"
    return lesson


def test_a_newcomer_sees_gaa_on_the_animals_at_once(start):
    at = start(LEARN, "census")
    assert ui.title(at) == "How does it work, step by step?"
    assert heading(at) == "Step 0 of 3: The table"
    assert at.selectbox(key="learn-table").value == "animals-m23"
    assert at.number_input(key="learn-k-animals-m23-8").value == 4
    assert figure(at)["layout"]["title"]["text"] == "Where are the table's values in the trees?"
    (records,) = sheets(at)
    assert records.count("<tr") == 9 and "Bronchitis" in records and "Ana" not in records
    ui.press(at, "Next")
    assert heading(at).startswith("Step 1 of 3: Merge class 2 (F, Dog) with class 1 (F, Lion)")
    picked, partner, records = sheets(at)
    assert "Which class is picked?" in picked and "With which class is" in partner
    assert "race, Lion → Mammal: 4 × 2 = 8" in partner and "sum = 16" in partner
    chosen = re.search(r"<tr class=chosen>.*?</tr>", partner)[0]
    assert "chosen</span>" in chosen and "F, Lion (2 records)" in chosen
    # Two lions and two dogs are one class, in a frame; the cats are as they were.
    assert records.count("class=now") == 4 and "Lion → Mammal" in records
    assert checked(at).steps[1].numbers.min_k == 2
    assert any("Home End" in caption for caption in ui.captions(at))
    # The product that a strategy compares stands beside the cost and what it is multiplied by.
    ui.choose(at, "learn-strategy", "s7")
    ui.press(at, "Next")
    partner = sheets(at)[-2]
    assert "Cost × t ↓" in partner and "ties go to the first in tree order" in partner
    assert [re.findall(r'class="number">([\d.]+)', row) for row in partner.split("<tr")[2:]] == [
        ["16", "0.75", "12"], ["36", "0.75", "27"], ["36", "0.75", "27"],
    ]  # fmt: skip


def test_words_of_the_glossary_open_their_meaning_where_they_stand(start):
    """Of the table: quasi-identifiers, the metric, all strategies; of a sentence: its terms."""
    at = start(LEARN, "census")
    ui.choose(at, "learn-metric", "nllm")
    ui.press(at, "Next")
    about, sentence = [
        html.unescape(one.proto.body)
        for one in at.get("html")
        if 'class="sentence"' in one.proto.body
    ]
    assert ": gender, race ·" in about and METRICS["nllm"].card.summary in about
    for name in ("s1", "s2", "s3", "s4", "s5", "s6", "s7"):
        assert f"{STRATEGIES[name].title}. {STRATEGIES[name].summary}" in about
    assert load_glossary()["Quasi-identifier"].told in about
    for word, term in (("k", "k"), ("cost", "Cost"), ("tie", "Tie"), ("merged", "Merge")):
        meaning = f"{term}: {load_glossary()[term].told}"
        assert f'tabindex="0">{word}<span class="meaning">{meaning}</span>' in sentence
    plain = re.sub(
        r'<span class="meaning">.*?</span>|<[^>]+>', "", sentence.partition("</style>")[2]
    )
    assert plain == lesson_on(at).steps[1].sentence


def test_the_next_step_is_predicted_and_the_score_counted(start):
    """GAA on the animals: all four classes tie, then [F, Lion] is cheapest for [F, Dog]."""

    def texts(elements):
        return [one.value.replace("\\", "") for one in elements]

    def guess(place, answer):
        names = [name.replace("\\", "") for name in at.radio[place].options]
        at.radio[place].set_value(names.index(answer))
        ui.go(at)

    at = start(LEARN, "census")
    at.toggle(key="learn-predict").set_value(True)
    ui.go(at)
    assert at.button(key="learn-play").disabled, "playing would run past the questions"
    (pick,) = at.radio
    assert pick.label.startswith("Which class is picked") and pick.value is None
    assert not at.success and not at.error, "nothing is said before an answer"
    guess(0, "M, Cat (2 records)")
    assert texts(at.success)[0].startswith("Right, “M, Cat (2 records)” is as good as")
    pick, partner = at.radio
    assert pick.disabled
    assert partner.label.replace("\\", "") == "With which class is “F, Dog” merged?"
    guess(1, "M, Lion (2 records)")
    assert "Wrong, the answer is “F, Lion (2 records)”: least cost, 16" in texts(at.error)[0]
    score = next(text for text in texts(at.markdown) if "Score" in text)
    assert score == "**What comes next, in step 1 of 3?** Score: 1 of 2 right."
    ui.press(at, "Show the step")
    assert heading(at).startswith("Step 1 of 3")
    assert any("step 2 of 3?** Score: 1 of 2" in text for text in texts(at.markdown))
    ui.press(at, "Start the score again")
    assert any("Score: nothing answered yet." in text for text in texts(at.markdown))
    ui.press(at, "Last")
    assert not at.radio and any("**The end**" in text for text in texts(at.markdown))


@pytest.mark.nightly
def test_every_algorithm_is_drawn_on_the_table_that_shows_it_best(start):
    at = start(LEARN, "hospital")
    for name, module in algorithms().items():
        ui.choose(at, "learn-algorithm", name)
        assert at.selectbox(key="learn-table").value == choose_preset(module), name
        assert heading(at).startswith("Step 0 of "), name
        assert not ui.warnings(at), name
        ui.press(at, "Last")
        lesson = checked(at)
        assert lesson.algorithm == name
        # Without steps a lesson is the table and the release.
        has_steps = name not in ("optimal-local", "local-suppression")
        assert lesson.complete == has_steps, name
        assert steps(at).step == len(lesson.steps) - 1 > has_steps, name
        assert {"lesson-picture", "lesson-running"} <= {x.key for x in at.get("plotly_chart")}


@pytest.mark.nightly
def test_back_and_forth(start):
    at = start(LEARN, "hospital")
    ui.choose(at, "learn-algorithm", "datafly")
    headings = [step.heading for step in lesson_on(at).steps]
    last = len(headings) - 1
    assert at.button(key="learn-first").disabled and at.button(key="learn-back").disabled
    for place, press in ((1, "Next"), (2, "Next"), (last, "Last")):
        ui.press(at, press)
        assert heading(at) == f"Step {place} of {last}: {headings[place]}"
        checked(at)
    assert at.button(key="learn-next").disabled and at.button(key="learn-last").disabled
    ui.press(at, "Back")
    assert heading(at).startswith(f"Step {last - 1} of")
    ui.press(at, "First")
    assert heading(at).startswith("Step 0 of")
    at.slider(key=f"learn-step-{last}-0").set_value(3)
    assert heading(ui.go(at)) == f"Step 3 of {last}: {headings[3]}"
    assert at.slider(key=f"learn-step-{last}-3").value == 3
    # A lattice with its walk, and the running numbers up to here.
    assert "walk" in [trace.get("name") for trace in figure(at)["data"]]
    assert figure(at, "lesson-running")["layout"]["title"]["text"].startswith("After step 3:")
    ui.choose(at, "learn-metric", "ncp")
    assert heading(at) == f"Step 0 of {last}: {headings[0]}", "another lesson begins anew"


@pytest.mark.nightly
def test_steps_that_follow_by_themselves_end_with_the_page_or_the_lesson(start, monkeypatch):
    at = start(LEARN, "hospital")
    ui.press(at, "Play")
    assert steps(at).playing and steps(at).step == 0 and ui.waits(at) == [PACE]
    assert "Play" not in ui.button_labels(at)
    ui.press(at, "Pause")
    assert not steps(at).playing and ui.waits(at) == []
    ui.press(at, "Play")
    ui.press(at, "Next")
    assert not steps(at).playing and steps(at).step == 1, "who goes by hand is not taken further"
    ui.press(at, "Play")
    ui.go(at, ui.DATA)
    ui.go(at, LEARN)
    assert not steps(at).playing and steps(at).step == 1, "nothing goes on behind one's back"
    ui.press(at, "Last")
    ui.press(at, "Play")
    assert steps(at).playing and steps(at).step == 0, "from the end it begins again"
    assert 2 <= PACE <= 3


@pytest.mark.nightly
def test_the_table_that_one_works_on(start):
    at = start(LEARN, "census")
    ui.choose(at, "learn-table", "own")
    assert heading(at).startswith("Step 0 of")
    assert [one.value for one in at.number_input if one.label == "k"] == [5]
    first = checked(at)
    assert first.task.classes.n_records == 12 and first.task.k == 5
    assert first.metric.name == "nllm" and first.sensitive == "health"
    ui.enter(at, at.number_input(key="learn-records"), 20)
    assert checked(at).task.classes.n_records == 20
    ui.enter(at, at.number_input(key="learn-seed"), 0)
    drawn = checked(at)
    assert drawn.task.classes.n_records == 20 and sheets(at)[-1].count("<tr") == 21
    ui.press(at, "Last")
    checked(at)
    ui.enter(at, at.number_input(key="learn-seed"), 1)
    assert steps(at).step == 0
    other = checked(at).task.classes
    assert not (other.nodes.shape == drawn.task.classes.nodes.shape
                and (other.nodes == drawn.task.classes.nodes).all())  # fmt: skip
    ui.choose(at, "learn-strategy", "s6")
    assert checked(at).task.strategy == "s6"
    ui.press(at, "Next")
    assert "t left ↓" in sheets(at)[-2]
    ui.choose(at, "learn-algorithm", "mdav")
    assert "MDAV takes means" in ui.warnings(at)[0] and not sheets(at)


@pytest.mark.nightly
def test_text_that_would_like_to_be_more_stays_text(start):
    table = pd.DataFrame({
        HOSTILE[0]: [f"{HOSTILE[place % 3]}{place // 3}" for place in range(9)],
        HOSTILE[1]: [f"{HOSTILE[place % 2]}." for place in range(9)],
        "ill": [HOSTILE[place % 3] for place in range(9)],
    })  # fmt: skip
    at = ui.with_people(start(ui.DATA, "hospital"), table)
    for name in HOSTILE[:2]:
        ui.give_role(at, name, "quasi-identifier")
    ui.give_role(at, "ill", "sensitive")
    ui.go(at, LEARN)
    ui.choose(at, "learn-table", "own")
    ui.press(at, "Next")
    markdown = [*(one.value for one in at.markdown), at.subheader[0].value, *ui.captions(at)]
    sentences = [one.proto.body for one in at.get("html") if 'class="sentence"' in one.proto.body]
    assert any("a.invalid" in text for text in sentences)
    assert not [text for text in sentences if "<script" in text or "<img" in text]
    assert not [text for text in markdown if "<script>" in text or "![x](" in text]
    assert not [text for text in markdown if re.search(r"(?<!\\)\$x", text)]
    assert sheets(at) and not [text for text in sheets(at) if "<script" in text]
    assert any("&lt;script&gt;" in text for text in sheets(at))
    for key in ("lesson-picture", "lesson-running"):
        assert "<script>" not in json.dumps(figure(at, key))
    for name in ("mondrian", "datafly"):
        ui.choose(at, "learn-algorithm", name)
        ui.press(at, "Last")
        assert "<script>" not in json.dumps(figure(at)), name


def test_the_numbers_behind_each_picture_can_be_had(start, downloads):
    at = start(LEARN, "hospital")
    ui.press(at, "Next")
    files = {key: make().decode() for key, (_, make) in downloads.items() if "lesson" in key}
    assert set(files) == {
        "lesson-picture-data", "lesson-candidates-data", "lesson-records-data",
        "lesson-running-data",
    }  # fmt: skip
    (record, *_) = pd.read_csv(io.StringIO(files["lesson-records-data"]), dtype=str).to_numpy()
    assert record.tolist() == ["1", "1", "F", "Mammal", "Cold"]
    assert "Mammal" in files["lesson-picture-data"] and "8.0" in files["lesson-candidates-data"]
    assert len(files["lesson-running-data"].splitlines()) == 5
    names = {key: name for key, (name, _) in downloads.items()}
    ui.press(at, "Next")
    later = {key: name for key, (name, _) in downloads.items()}
    assert names["lesson-picture-data"] != later["lesson-picture-data"]
