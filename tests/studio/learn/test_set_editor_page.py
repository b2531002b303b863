"""An exercise set is made on the page Learn, driven by AppTest."""

import json
import re
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from kanon.studio.learn.state import EditorView, LessonsView
from kanon.studio.session.table_loading import open_sample
from kanon.teaching.exercise_draft import build_exercise_set, draft_set, list_records
from kanon.teaching.exercises import BUILT_IN, read_exercises
from kanon.teaching.handout import write_handout
from support.dashboard import APP, DATA, WORK, button, go, press, problems, settled, texts, work
from support.exercise_sets import CODE
from support.works import with_fields

LEARN = "pages/learn.py"
SET = read_exercises(BUILT_IN)
RECORDS = (("cat", "flu"), ("lion", "cold"), ("cat", "cold"), ("dog", "flu"))
TABLE = r"table-\d+-\d+-name"
TREE = "*\n  Felid = 3\n    cat = 1\n    lion = 1\n  dog = 4"


@pytest.fixture(scope="module")
def session(workers):
    at = AppTest.from_file(str(APP), default_timeout=30)
    at.session_state[WORK] = open_sample("hospital", version=1)
    return go(go(at), LEARN)


@pytest.fixture
def page(session):
    """The exercises, with no set in the making."""
    lessons = LessonsView(part="exercises", editor=EditorView(began=view(session).began + 1))
    now = with_fields(work(session), view=lessons, problem=None, notice=None)
    session.session_state[WORK] = now
    return go(session)


def view(at):
    return work(at).view(LessonsView).editor


def typed(at, kind, key, value):
    """Type or choose something in a field of the editor."""
    (field,) = [
        one for one in getattr(at, kind) if re.fullmatch(rf"set-(.*-)?{key}", one.key or "")
    ]
    field.set_value(value)
    return go(at)


def records(at, rows):
    """Type records below those that are there."""
    memory = at.session_state["kanon-memory"]
    editor = memory["draft-set-records"][1].key
    added = [{str(at): cell for at, cell in enumerate(row)} for row in rows]
    at.session_state[editor] = {"edited_rows": {}, "added_rows": added, "deleted_rows": []}
    at = go(at)
    del at.session_state[editor]  # a browser's is gone with its page, a test's would stay
    return at


def warned(at):
    return [one.value.replace("\\", "") for one in at.warning]


def with_table(at):
    """A new set with a table that was typed."""
    at = press(at, "Make a new set")
    at = typed(at, "text_input", "title", "Zoo")
    at = press(at, "An empty table")
    at = typed(at, "text_input", TABLE, "animals")
    at = typed(at, "text_input", "0-name", "race")
    at = typed(at, "text_input", "1-name", "ill")
    at = records(at, RECORDS)
    return typed(at, "text_area", "0-tree", TREE)


@pytest.mark.nightly
def test_a_set_with_each_kind_of_question_is_made_from_nothing(page, downloads):
    at = with_table(page)
    assert list_records(view(at).draft["tables"][0]) == [*RECORDS]
    at = press(at, "Add a question")
    at = typed(at, "selectbox", "metric", "custom")
    at = typed(at, "number_input", "points", 4.0)
    at = press(at, "Add a question")
    at = typed(at, "selectbox", "kind", "levels")
    at = press(at, "Add a question")
    at = typed(at, "selectbox", "kind", "number")
    at = typed(at, "selectbox", "number", "entropy-l")
    at = typed(at, "number_input", "levels-0", 1)
    at = typed(at, "text_input", "question-2-title", "How mixed")
    at = press(at, "Add a question")
    at = typed(at, "selectbox", "kind", "choice")
    at = typed(at, "selectbox", "choose", "partner")
    at = press(at, "Earlier")
    assert button(at, "Use it here").disabled and "set-download" not in downloads
    at = settled(press(at, "Check the set"))
    assert problems(at) == [] and warned(at) == []
    name, made = downloads["set-download"]
    found = read_exercises(made())
    assert name.endswith(".json") and "original" not in name
    assert [one.kind for one in found.questions] == ["recode", "levels", "choice", "number"]
    assert found.questions[0].metric == "custom" and found.points == 7
    assert found.questions[3].levels == {"race": 1} and found.questions[3].title == "How mixed"
    tree = found.made["animals"].classes.hierarchies[0]
    assert tree.labels == ("cat", "lion", "dog", "Felid", "*")
    assert tree.weight.tolist() == [1, 1, 4, 3, 0]
    at = press(at, "Use it here")
    opened = work(at).view(LessonsView).exercises.opened
    assert opened.fingerprint == found.fingerprint and not view(at).open
    assert downloads["exercise-handout"][1]().decode() == write_handout(found)
    again = press(at, "Continue editing the set")
    assert build_exercise_set(view(again).draft).fingerprint == found.fingerprint


@pytest.mark.nightly  # in every run: test_bad_inputs.py
def test_what_is_wrong_is_said_and_what_was_typed_stays(page):
    at = press(with_table(page), "Add a question")
    broken = "*\n  Felid\n    cat\n    lion\n  cat"
    at = typed(at, "text_area", "0-tree", broken)
    sentence = (
        "Line 5: 'cat' is listed a second time (first: line 3). List every value and every "
        "group once."
    )
    assert [one.value.replace("\\", "") for one in at.error] == [sentence]
    assert warned(at) == [f"Table 'animals': Tree of 'race': {sentence}"]
    at = go(go(at, DATA), LEARN)
    assert view(at).draft["tables"][0]["columns"][0]["tree"] == broken
    assert list_records(view(at).draft["tables"][0]) == [*RECORDS]
    assert at.text_area(key=f"set-table-0-{view(at).began}-0-tree").value == broken
    at = typed(at, "text_area", "0-tree", TREE.replace("\n  dog = 4", ""))
    assert len(warned(at)) == 1 and "'dog'" in warned(at)[0]
    at = typed(at, "text_area", "0-tree", "")
    assert warned(at) == []
    at = press(at, "Start with its values")
    assert view(at).draft["tables"][0]["columns"][0]["tree"] == "*\n    cat\n    lion\n    dog"
    at = typed(at, "text_area", "0-tree", TREE)
    assert warned(at) == []
    at = settled(press(typed(at, "number_input", "k", 5), "Check the set"))
    assert problems(at) == [
        "Question 1 Recode the table: k = 5 cannot be reached: the table has 4 records to "
        "anonymise. Choose a k of at most that number."
    ]
    assert view(at).draft["questions"][0]["k"] == 5 and button(at, "Use it here").disabled
    at = records(at, [("cat", "")])
    assert warned(at) == [
        "Table 'animals': the cell of 'ill' in record 5 has 0 characters; a cell has 1 to 100."
    ]


def test_an_exam_is_made_with_a_code_that_only_its_hash_is_kept_of(page, downloads):
    at = typed(press(page, "Edit a copy of this set"), "toggle", "exam", True)
    at = settled(press(at, "Check the set"))
    assert "without a teacher's code" in problems(at)[0] and button(at, "Use it here").disabled
    at = typed(at, "text_input", "code-", "short")
    assert "5 characters; it must have 8 to 100" in problems(at)[0] and not view(at).draft["code"]
    at = typed(at, "text_input", "code-", CODE)
    at = settled(press(at, "Check the set"))
    assert problems(at) == [] and CODE not in str(work(at))
    made = read_exercises(downloads["set-download"][1]())
    assert made.is_locked and not made.unlock(CODE).is_locked and CODE not in made.to_json()
    downloads.clear()
    at = press(at, "Use it here")
    assert work(at).view(LessonsView).exercises.opened.is_locked
    assert not {"exercise-handout", "exercise-set"} & set(downloads)


@pytest.mark.nightly
def test_a_copy_of_the_open_set_is_previewed_as_it_is_and_changed(page):
    at = press(page, "Edit a copy of this set")
    assert build_exercise_set(view(at).draft).fingerprint == SET.fingerprint
    first = SET.questions[0]
    assert any(
        first.describe_task(SET.get_table(first)) in text.replace("\\", "") for text in texts(at)
    )
    at = typed(at, "button_group", r"shown-\d+", 7)
    box = next(
        one
        for one in at.selectbox
        if one.key.startswith("exercise-value-") and "cat" in one.options
    )
    box.set_value("felidae")
    at = go(at)
    assert view(at).tried.answers["animals"][0]["race"] == "felidae"
    assert work(at).view(LessonsView).exercises.attempts == {}, "it is nobody's answer"
    at = press(press(at, "Later"), "Remove this question")
    assert [one["id"] for one in view(at).draft["questions"]] == [
        *[one.id for one in SET.questions[:7]], "hospital",
    ]  # fmt: skip
    for _ in range(2):
        at = press(press(at, "Back to the exercises"), "Make a new set")
        assert view(at).draft["questions"] == []
    at = press(press(at, "Back to the set made before"), "Back to the set made before")
    assert len(view(at).draft["questions"]) == 8, "no set that was begun is lost"


@pytest.mark.nightly
def test_records_of_my_own_table_are_marked_as_such(page, downloads, monkeypatch):
    at = press(page, "Make a new set")
    at = typed(at, "text_input", "title", "Mine")
    at = typed(at, "number_input", "own-records", 5)
    at = press(at, "Of the table I work on")
    (table,) = view(at).draft["tables"]
    given = work(at).table
    assert [column["name"] for column in table["columns"]] == ["age", "zip", "sex", "disease"]
    assert list_records(table)[0] == tuple(
        str(given.records.frame[column["name"]].iloc[0]) for column in table["columns"]
    )
    at = settled(press(press(at, "Add a question"), "Check the set"))
    assert problems(at) == [] and "set-download" not in downloads
    at = press(at, "Download the set, original values")
    assert "original-values" in downloads["set-download"][0]
    at = press(at, "Use it here")
    assert "original-values" in downloads["exercise-handout"][0]
    at = press(at, "Edit a copy of this set")
    assert view(at).draft["tables"][0]["own"]


def test_texts_of_a_draft_are_text_and_nothing_else(page):
    strange = "**b** $x$ ![i](http://a.b/c) :red[d]"
    content = draft_set(SET)
    table = {**content["tables"][0], "name": strange}
    questions = [
        {**one, "table": strange, "title": strange}
        for one in content["questions"]
        if one["table"] == content["tables"][0]["name"]
    ]
    draft = {**content, "title": strange, "tables": [table], "questions": questions}
    lessons = replace(work(page).view(LessonsView), editor=EditorView(open=True, draft=draft))
    page.session_state[WORK] = with_fields(work(page), view=lessons)
    at = go(page)
    shown = [one.value for one in [*at.markdown, *at.caption, *at.warning]]
    shown += [one.label for one in [*at.text_area, *at.number_input]]
    shown += [option for one in at.button_group for option in one.options]
    theirs = [text for text in shown if "http" in text]
    assert len(theirs) > 2
    assert not [text for text in theirs if re.search(r"(?<!\\)[$`!_\[\]]", text.strip("*"))]
    assert json.loads(build_exercise_set(draft).to_json())["title"] == strange
