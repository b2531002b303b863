"""Exercises on the page Learn: a student's way, and a teacher's, driven by AppTest."""

import json
import re
from dataclasses import replace

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from kanon.cli.main import main
from kanon.studio.learn.state import ExercisesView, LessonsView
from kanon.studio.session.table_loading import open_sample
from kanon.teaching.diagnosis import find_mistake
from kanon.teaching.exercises import BUILT_IN, Answers, read_answers, read_exercises
from kanon.teaching.handout import write_handout
from kanon.teaching.marks import mark_answers
from kanon.teaching.worked import explain_solution, get_hint
from support import dashboard
from support.dashboard import APP, DATA, WORK, go, press, problems, settled, texts, work
from support.exercise_sets import CODE, EXAM_KEYS, GIVEN, handed_in
from support.works import with_fields

LEARN = "pages/learn.py"
SET = read_exercises(BUILT_IN)
SOLUTIONS = {each.id: each.solution(SET.get_table(each)) for each in SET.questions}
RIGHT = Answers(set=SET.fingerprint, student="Ada", answers=SOLUTIONS)
WRONG = Answers(
    set=SET.fingerprint, student="Bo", answers={"count": 5, "levels": {"gender": 1, "race": 2}}
)


@pytest.fixture(scope="module")
def session(workers):
    """The page, opened once; each test begins with nothing answered."""
    at = AppTest.from_file(str(APP), default_timeout=30)
    at.session_state[WORK] = open_sample("hospital", version=1)
    return go(go(at), LEARN)


@pytest.fixture
def page(session):
    """The exercises as a student finds them."""
    return opened(session)


def opened(at, **fields):
    lessons = replace(
        work(at).view(LessonsView), part="exercises", exercises=ExercisesView(**fields)
    )
    return dashboard.change(at, view=lessons, problem=None, notice=None)


def view(at):
    return work(at).view(LessonsView).exercises


def attempt(at, exercises=SET):
    return view(at).attempts[exercises.fingerprint]


def place(at, name, exercises=SET):
    """The place of a question."""
    return [each.id for each in exercises.questions].index(name)


def to(at, name):
    """Go to a question, or to handing in."""
    where = len(SET.questions) if name == "hand in" else place(at, name)
    return dashboard.enter(at, at.button_group(key=f"exercise-place-{SET.fingerprint}"), where)


def go_on(at, content):
    """Hand over a file of saved answers."""
    uploader = at.file_uploader(key=f"exercise-go-on-{view(at).uploads}")
    return dashboard.enter(at, uploader, ("a.json", content, "application/json"))


def key(at, what, name, *more):
    return "-".join(map(str, (f"exercise-{what}-{SET.fingerprint}", place(at, name), *more)))


def said(at):
    """What was said of an answer."""
    return [one.value.replace("\\", "") for one in [*at.success, *at.warning, *at.error]]


def marked(name, answer):
    """What the library says of an answer, in the words of the page; of a wrong one the mistake."""
    (question,) = [each for each in SET.questions if each.id == name]
    table = SET.get_table(question)
    mark = question.mark(table, answer)
    sentence = mark.sentence if mark.share == 1 else find_mistake(question, table, answer)
    return f"{mark.share * question.points:.4g} of {question.points:g}: {sentence}"


def labels(at):
    return {one.label for one in at.button}


# --- a student ------------------------------------------------------------------------------
def test_a_number_is_typed_and_checked(page):
    at = to(page, "count")
    at.number_input(key=key(at, "number", "count")).set_value(3.0)
    at = press(go(at), "Check")
    assert said(at) == [marked("count", 3)] and at.error
    field = at.number_input(key=key(at, "number", "count"))
    at = dashboard.enter(at, field, float(SOLUTIONS["count"]))
    assert said(at) == []  # the mark was of another answer
    at = press(at, "Check")
    assert said(at) == [marked("count", SOLUTIONS["count"])] and at.success
    assert attempt(at).answers == {"count": SOLUTIONS["count"]}


HINT, SOLUTION = "Hint: half of the points", "Show the solution: no points"


def test_a_wrong_class_gets_a_diagnosis_then_a_hint_then_the_solution(page, downloads):
    (question,) = [each for each in SET.questions if each.id == "partner"]
    table = SET.get_table(question)
    options, found = question.options(table), explain_solution(question, table)
    right = options.index(tuple(SOLUTIONS["partner"]))
    wrong = [number for number in range(len(options)) if number != right]

    def check(at, place):
        at.radio(key=key(at, "choice", "partner")).set_value(place)
        return press(go(at), "Check")

    at = check(to(page, "partner"), wrong[0])
    assert said(at) == [marked("partner", list(options[wrong[0]]))]
    at = press(at, "Check")  # the same answer is one miss
    assert not {HINT, SOLUTION} & labels(at)
    at = check(at, wrong[1])
    assert HINT not in labels(at), "no third class is wrong, so the hint is open"
    assert not [one for one in found.sentences if one in " ".join(texts(at))]
    assert any(
        get_hint(question, table, None) == one.value.replace("\\", "") for one in at.info
    ) and SOLUTION in labels(at)
    at = check(at, right)
    assert said(at)[0].startswith("1 of 2: Right:") and "Half of the points" in said(at)[0]
    assert {*found.sentences} < {text.replace("\\", "") for text in texts(at)}, "it was found"
    at = press(check(at, wrong[0]), SOLUTION)
    assert set(found.sentences) < {text.replace("\\", "") for text in texts(at)}
    candidates = at.table[-1].value.map(lambda cell: str(cell).replace("\\", ""))
    assert candidates.to_numpy().tolist() == found.arithmetic.to_numpy().tolist()
    at = check(at, right)
    assert said(at)[0].startswith("0 of 2: Right:") and "No points, as the solution" in said(at)[0]
    at = press(press(at, "Start again"), "Undo")
    assert attempt(at).help_seen == {"partner": "solution"}
    at = to(at, "hand in")
    assert "0 of 22 points" in [one.value for one in at.subheader]
    at = dashboard.enter(at, at.text_input(key="exercise-student"), "Chi")
    answers = read_answers(downloads["exercise-answers"][1]())
    assert answers.version == 3 and answers.help_seen == {"partner": "solution"}
    assert mark_answers(SET, answers)[place(at, "partner")].share == 0
    at = go_on(opened(at), answers.to_json().encode())
    assert attempt(at).help_seen == {"partner": "solution"}


def test_neither_guessing_nor_handing_in_avoids_the_hint(page):
    (question,) = [each for each in SET.questions if each.id == "partner"]
    options = question.options(SET.get_table(question))
    at = to(page, "partner")
    for _ in range(2):
        at = press(at, "Check")  # without an answer
    assert not attempt(at).misses and HINT not in labels(at)
    for number, option in enumerate(options):
        if list(option) != SOLUTIONS["partner"]:
            assert not attempt(at).help_seen
            at = to(at, "partner")
            at = dashboard.enter(at, at.radio(key=key(at, "choice", "partner")), number)
            at = to(at, "hand in")
    assert attempt(at).help_seen == {"partner": "hint"}
    for number in (17.0, 18.0):
        at = to(at, "count")
        at = dashboard.enter(at, at.number_input(key=key(at, "number", "count")), number)
        at = press(at, "Check")
    assert "count" not in attempt(at).help_seen and HINT in labels(at)


def test_handing_in_practice_gives_no_answer_away(page):
    wrong = {"count": 17, "levels": {"gender": 1, "race": 2}, "partner": ["no", "class"]}
    given = Answers(set=SET.fingerprint, student="Bo", answers=wrong)
    at = to(go_on(page, given.to_json().encode()), "hand in")
    reasons = [str(cell).replace("\\", "") for cell in at.table[0].value["why"]]
    for question, reason in zip(SET.questions, reasons, strict=True):
        if question.id in wrong:
            table = SET.get_table(question)
            assert reason == find_mistake(question, table, wrong[question.id])
            assert question.describe_solution(table) not in reason
        else:
            assert reason == "Not answered."


@pytest.mark.nightly
def test_a_table_is_recoded_by_hand_and_scored_against_the_optimum(page):
    at = to(page, "animals")
    boxes = {name: key(at, "value", "animals", 0, j) for j, name in enumerate(("gender", "race"))}
    assert at.selectbox(key=boxes["race"]).options == ["cat", "felidae", "mammals"]
    at = press(at, "Check")
    assert said(at) == [marked("animals", SET.made["animals-v21"].frame.to_dict("records"))]
    at = dashboard.click(at, at.button(key="exercise-raise-1"))
    assert at.selectbox(key=boxes["race"]).value == "felidae"
    best = SOLUTIONS["animals"]
    for number, record in enumerate(best):
        for j, value in enumerate(record.values()):
            at = dashboard.choose(at, key(at, "value", "animals", number, j), value)
    assert attempt(at).answers["animals"] == best
    assert said(press(at, "Check")) == [marked("animals", best)] and at.success
    at.button(key="exercise-raise-0").click()
    at = press(go(at), "Check")
    assert at.error and said(at) == [marked("animals", attempt(at).answers["animals"])]
    assert "but less is possible" in said(at)[0]


@pytest.mark.nightly
def test_answers_survive_other_pages_questions_tables_and_errors(page):
    at = to(page, "count")
    at.number_input(key=key(at, "number", "count")).set_value(2.0)
    at = press(go(at), "Check")
    at = to(at, "animals")
    at = dashboard.click(at, at.button(key="exercise-raise-1"))
    kept = attempt(at)
    at = go(go(at, DATA), LEARN)
    at = to(at, "count")
    assert attempt(at).answers == kept.answers and said(at) == [marked("count", 2)]
    at = go_on(at, b"{")
    assert problems(at) == ["The answer file is not valid JSON: see line 1, character 2."]
    at = go_on(at, Answers(set="0" * 16, student="Eve", answers={}).to_json().encode())
    assert problems(at) == [
        "These answers belong to another exercise set, '0000000000000000'; this one, "
        f"'First steps in k-anonymity', is '{SET.fingerprint}'."
    ]
    assert attempt(at).answers == kept.answers and view(at).student == ""
    at = dashboard.with_people(go(at, DATA))
    assert work(at).table.title == "people.csv"
    assert attempt(at).answers == kept.answers
    at.session_state[WORK] = with_fields(
        open_sample("hospital", version=work(at).version + 1), view=work(at).view(LessonsView)
    )
    assert said(go(at, LEARN)) == [marked("count", 2)]


def test_all_is_handed_in_as_a_file_and_gone_on_with(page, downloads, tmp_path):
    at = to(page, "hand in")
    assert "0 of 22 points" in [one.value for one in at.subheader]
    (download,) = [one.proto for one in at.get("download_button") if "answers" in one.proto.label]
    assert download.disabled
    at = go_on(at, RIGHT.to_json().encode())
    assert [one.value for one in at.info] == ["Your saved answers are loaded\\."]
    assert "22 of 22 points" in [one.value for one in at.subheader]
    assert at.text_input(key="exercise-student").value == "Ada"
    marks = mark_answers(SET, RIGHT)
    shown = at.table[0].value
    assert [str(cell).replace("\\", "") for cell in shown["why"]] == [one.sentence for one in marks]
    at = dashboard.enter(at, at.text_input(key="exercise-student"), "  Chi ")
    name, made = downloads["exercise-answers"]
    assert name == "answers-Chi.json"
    assert read_answers(made()) == RIGHT.model_copy(update={"student": "Chi"})


# --- an exam --------------------------------------------------------------------------------
EXAM = read_exercises(json.dumps(json.loads(BUILT_IN.read_bytes()) | EXAM_KEYS).encode())


@pytest.fixture
def clock(monkeypatch):
    """The clock of the server, which stands still but for what a test adds."""
    now = [100.0]
    monkeypatch.setattr("kanon.studio.learn.state.monotonic", lambda: now[0])
    return now


def at_place(at, number):
    lessons = work(at).view(LessonsView)
    shown = replace(lessons, exercises=replace(view(at), place=number))
    return dashboard.change(at, view=shown)


def test_an_exam_tells_nothing_of_what_answers_are_worth(page, downloads):
    at = opened(page, opened=EXAM)
    kinds = [place(at, name, EXAM) for name in ("animals", "levels", "count", "partner")]
    for number in (*kinds, len(EXAM.questions)):
        at = at_place(at, number)
        labels = {one.label for one in at.button}
        assert not labels & {"Check", "Download the handout to print"}
        assert not [one for one in labels if "Hint" in one or "solution" in one]
        assert not at.file_uploader(key=f"exercise-go-on-{view(at).uploads}").disabled
        assert f"exercise-class-{view(at).uploads}" not in {one.key for one in at.file_uploader}
        assert "exercise-handout" not in downloads
        shown = [*texts(at), *(str(cell) for one in at.table for cell in one.value.to_numpy().flat)]
        assert not [text for text in shown if re.search("too small|smallest class \\*|✓|✗", text)]
        assert not at.success and not at.error


@pytest.mark.nightly
def test_an_exam_is_handed_in_with_its_log_and_a_fingerprint(page, downloads, clock):
    at = load_set(opened(page), EXAM.to_json().encode())
    at = at_place(at, place(at, "count", EXAM))
    field = f"exercise-number-{EXAM.fingerprint}-{place(at, 'count', EXAM)}"
    for seconds, number in ((7.04, 3.0), (60, 2.0)):
        clock[0] += seconds
        at = dashboard.enter(at, at.number_input(key=field), number)
    clock[0] += 1
    at = press(at, "Start again")
    clock[0] += 1
    at = press(at, "Undo")
    at = at_place(at, len(EXAM.questions))
    at = dashboard.enter(at, at.text_input(key="exercise-student"), "Zoë / Ada")
    name, made = downloads["exercise-answers"]
    found = read_answers(made())
    assert name == "answers-Zoë-Ada.json" and found.is_as_handed_in and found.version == 2
    assert found.answers == {"count": 2}
    assert [(one.at, one.question) for one in found.log] == [
        (7.0, "count"), (67.0, "count"), (68.0, "count"), (69.0, "count"),
    ]  # fmt: skip
    assert any(found.fingerprint in text for text in texts(at))
    assert [str(cell) for cell in at.table[0].value["answer"]].count("answered") == 1
    # It is gone on with in another session, where time goes on from its last change.
    clock[0] += 1000
    at = opened(at, opened=EXAM, place=place(at, "sort", EXAM))
    at = go_on(at, made())
    clock[0] += 5
    field = f"exercise-number-{EXAM.fingerprint}-{view(at).place}"
    at = dashboard.enter(at, at.number_input(key=field), 2.0)
    assert [one.at for one in attempt(at, EXAM).log] == [7.0, 67.0, 68.0, 69.0, 74.0]


def test_an_exam_does_not_go_on_from_a_file_that_was_changed(page):
    given = handed_in(EXAM, "Ada", {"count": 2})
    for content in (
        given.to_json().replace("Ada", "Bo"),
        Answers(set=EXAM.fingerprint, student="Ada", answers={"count": 2}).to_json(),
    ):
        at = go_on(opened(page, opened=EXAM), content.encode())
        assert "not changed since" in problems(at)[0] and EXAM.fingerprint not in view(at).attempts


def close_exam(at, code):
    at.text_input(key="exercise-code").set_value(code)
    return press(at, "Close the exam on this page")


def test_an_exam_is_marked_where_it_is_closed_and_its_answers_stay(page, downloads):
    at = load_set(opened(page), EXAM.to_json().encode())
    at = at_place(at, place(at, "count", EXAM))
    at = close_exam(at, CODE)
    assert not [one for one in at.number_input if one.key.startswith("exercise")]
    before = attempt(at, EXAM)
    given = handed_in(EXAM, "Ada", {"count": 2})
    at = go_on(at, given.to_json().encode())
    assert "closed" in problems(at)[0] and attempt(at, EXAM) is before
    files = [("ada.json", given), ("bo.json", given.model_copy(update={"student": "Bo"}))]
    box = at.file_uploader(key=f"exercise-class-{view(at).uploads}")
    box.set_value([(name, one.to_json().encode(), "application/json") for name, one in files])
    at = settled(go(at))
    (odd,) = [one.value.replace("\\", "") for one in at.warning]
    assert "1 file to look at" in odd and "bo.json Bo: Changed since it was handed in" in odd
    assert "exercise-handout" in downloads
    at = load_set(at, EXAM.to_json().encode())
    assert attempt(at, EXAM).is_closed, "opened once more it is still closed"
    assert view(at).opened.is_locked, "and its marks need the code once more"
    assert not [one for one in at.file_uploader if one.key.startswith("exercise-class")]
    assert "3 files" not in " ".join(texts(at)) and not at.dataframe


def collect_solutions(exercises):
    """What a page or a file must not say: solutions, their arithmetic, and what marks say."""
    found = set()
    for question in exercises.questions:
        table = exercises.get_table(question)
        solution = question.solution(table)
        found |= {question.mark(table, solution).sentence}
        found |= {*explain_solution(question, table).sentences}
        if question.kind in ("recode", "levels"):
            found |= {question.describe_solution(table), f"{question.best(table).alteration:.1f} %"}
    return found


def list_page_texts(at):
    """Everything of a page, whatever its element: each as its message says it."""
    return str(at.main) + "".join(str(node.proto) for node in walk(at.main))


def walk(block):
    for child in block.children.values():
        yield from walk(child) if hasattr(child, "children") else [child]


def test_no_page_and_no_download_has_solutions_without_the_code(page, downloads):
    secrets = collect_solutions(EXAM)
    assert not [one for one in secrets if one in EXAM.to_json()]
    at = load_set(opened(page), EXAM.to_json().encode())
    lessons = replace(work(at).view(LessonsView), exercises=replace(view(at), solutions=True))
    downloads.clear()  # those of the practice set before
    at = dashboard.change(at, view=lessons)
    for code in ("", "wrong code of mine", CODE[:-1]):
        at = close_exam(at, code)
        assert problems(at) == ["This is not the code of the exam. Ask whoever made it."]
        assert EXAM.fingerprint not in view(at).attempts or not attempt(at, EXAM).is_closed
    given = {
        question.id: question.solution(EXAM.get_table(question)) for question in EXAM.questions
    }
    at = go_on(at, handed_in(EXAM, "Ada", given).to_json().encode())
    for number in range(len(EXAM.questions) + 1):
        at = at_place(at, number)
        said = list_page_texts(at).replace("\\", "")
        assert len(said) > 2000
        assert not [one for one in secrets if one in said]
    assert not {"exercise-handout", "exercise-set", "exercise-scores-csv"} & set(downloads)
    files = {name: made() for name, (_, made) in downloads.items()}
    assert "exercise-answers" in files
    for content in files.values():
        assert not [one for one in secrets if one.encode() in content]
    downloads.clear()
    # A second tab knows nothing of the answers, and asks for the code too.
    second = opened(at, opened=EXAM, place=len(EXAM.questions), solutions=True)
    assert "exercise-handout" not in downloads
    second = close_exam(second, CODE)
    assert "exercise-handout" in downloads
    handout = downloads["exercise-handout"][1]().decode()
    assert EXAM.questions[0].describe_solution(EXAM.get_table(EXAM.questions[0])) in handout


def test_no_lesson_or_attack_is_shown_while_an_exam_is_open(page):
    at = load_set(opened(page), EXAM.to_json().encode())
    shown = replace(work(at).view(LessonsView), part="steps")
    projected = replace(work(at).shared, on_projector=True)
    at = dashboard.change(at, view=shown, shared=projected)
    assert any("An exam is open" in one.value for one in at.info)
    assert not [one for one in at.button if one.key == "learn-next"]
    at = dashboard.change(at, view=replace(shown, part="attacks"))
    assert any("An exam is open" in one.value for one in at.info)
    assert not [one for one in at.button if one.key == "attack-next"]
    back = replace(shown, part="exercises")
    page_again = replace(projected, on_projector=False)
    at = close_exam(dashboard.change(at, view=back, shared=page_again), CODE)
    at = dashboard.change(at, view=replace(work(at).view(LessonsView), part="steps"))
    assert [one for one in at.button if one.key == "learn-next"]


# --- another set ----------------------------------------------------------------------------
STRANGE = "**b** $x$ <script>alert(1)</script> ![i](http://a.b/c) `c` :red[d]"


def strange_set():
    """A set whose every text tries to be more than text."""
    race, ill = f"{STRANGE} race", f"{STRANGE} ill"
    nodes = [{"name": f"{STRANGE} *"}] + [
        {"name": f"{STRANGE} {name}", "parent": f"{STRANGE} *"} for name in ("cat", "dog")
    ]
    records = [[f"{STRANGE} {name}", STRANGE] for name in ("cat", "cat", "dog")]
    columns = {race: {"role": "quasi-identifier", "nodes": nodes}, ill: {"role": "sensitive"}}
    asked = {"table": STRANGE, "text": STRANGE, "title": STRANGE[:60]}
    tables = {STRANGE: {"columns": columns, "records": records}}
    questions = [
        asked | {"id": "<b>a</b>", "kind": "recode", "k": 2},
        asked | {"id": "$b$", "kind": "levels", "k": 2},
        asked | {"id": "`c`", "kind": "number", "number": "k"},
        asked | {"id": "[d](e)", "kind": "choice", "choose": "smallest"},
    ]
    made = {"title": STRANGE, "author": STRANGE, "tables": tables, "questions": questions}
    return json.dumps(GIVEN | made).encode()


def load_set(at, content):
    box = at.file_uploader(key=f"exercise-set-{view(at).uploads}")
    box.set_value(("set.json", content, "application/json"))
    return settled(go(at))


def test_the_texts_of_a_set_are_text_and_nothing_else(page):
    at = load_set(page, strange_set())
    assert problems(at) == [] and view(at).opened is not None
    theirs = []
    for number in range(5):
        at = at_place(at, number)
        if number < 4:
            lessons, name = work(at).view(LessonsView), view(at).opened.questions[number].id
            shown = replace(attempt(at, view(at).opened), help_seen={name: "solution"})
            shown = replace(view(at), attempts={view(at).opened.fingerprint: shown})
            at = dashboard.change(at, view=replace(lessons, exercises=shown))
            at = press(at, "Check")
        else:
            answers = Answers(set=view(at).opened.fingerprint, student=STRANGE, answers={"$b$": 1})
            box = at.file_uploader(key=f"exercise-class-{view(at).uploads}")
            files = [(f"{STRANGE}{n}.json", answers.to_json().encode(), "") for n in range(2)]
            box.set_value([*files, (f"{STRANGE}.json", b"[]", "")])
            at = settled(go(at))
            assert len(at.warning) == 1
        kinds = (at.markdown, at.info, at.error, at.success, at.caption, at.warning, at.subheader)
        found = [one.value for kind in kinds for one in kind]
        found += [str(cell) for one in at.table for cell in one.value.to_numpy().ravel()]
        found += [str(name) for one in at.table for name in one.value.columns]
        found += [option for one in at.radio for option in one.options]
        found += [one.label for one in [*at.number_input, *at.selectbox]]
        theirs += [text for text in found if "alert" in text]
    assert len(theirs) > 30
    ours = (":red[**", ":green[**")  # the classes of the table, drawn by the page
    assert not [
        text
        for text in theirs
        if not text.startswith(ours) and re.search(r"(?<!\\)[<>$`!_\[\]]", text)
    ]


# --- a teacher ------------------------------------------------------------------------------
FILES = [
    ("ada.json", RIGHT.to_json().encode()),
    ("bo.json", WRONG.to_json().encode()),
    ("picture.json", b"\x89PNG\xff"),
    ("other.json", Answers(set="0" * 16, student="Eve", answers={}).to_json().encode()),
    ("set.json", BUILT_IN.read_bytes()),
]


def test_the_marks_of_a_class_are_those_of_the_command_line(page, downloads, tmp_path, monkeypatch):
    box = page.file_uploader(key=f"exercise-class-{view(page).uploads}")
    box.set_value([(name, content, "application/json") for name, content in FILES])
    at = settled(go(page))
    assert any(text == "2 files marked, 3 not." for text in texts(at))
    monkeypatch.chdir(tmp_path)
    for name, content in FILES:
        (tmp_path / name).write_bytes(content)
    names = [name for name, _ in FILES]
    assert main(["exercises", "score", str(BUILT_IN), *names, "--out", "scores.csv"]) == 0
    name, made = downloads["exercise-scores-csv"]
    assert re.fullmatch(r"scores-[0-9a-f]{12}\.csv", name)
    assert made() == (tmp_path / "scores.csv").read_bytes()
    (shown,) = at.dataframe
    pd.testing.assert_frame_equal(shown.value.reset_index(drop=True), view(at).scores.files)
    assert [bool(text) for text in shown.value["problem"]] == [False, False, True, True, True]
    at = go(go(at, DATA), LEARN)
    assert len(at.dataframe) == 1


def test_the_set_and_the_handout_are_downloaded(page, downloads):
    go(page)
    assert read_exercises(downloads["exercise-set"][1]()).fingerprint == SET.fingerprint
    assert downloads["exercise-handout"][1]() == write_handout(SET).encode()
    page.selectbox(key="exercise-metric").set_value("ncp")
    at = go(page)
    at = dashboard.enter(at, at.checkbox(key="exercise-solutions"), True)
    wanted = write_handout(SET, "ncp", solutions=True)
    assert downloads["exercise-handout"][1]() == wanted.encode()
    at = dashboard.enter(at, at.selectbox(key="exercise-metric"), "custom")
    assert problems(at) and "custom" in problems(at)[0]
