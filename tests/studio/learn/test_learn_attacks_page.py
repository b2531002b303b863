"""The part of the page Learn that plays out attacks, driven by AppTest."""

import re
from dataclasses import replace
from html import escape

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from kanon.studio.learn.attacks_panel import create_own_case
from kanon.studio.learn.state import AttackView, LessonsView
from kanon.studio.session.table_loading import open_sample
from kanon.teaching.attack_tables import build_attack_case
from kanon.teaching.attacks import ATTACKS, list_targets, run_attack
from kanon.teaching.case import list_texts
from support import dashboard as ui
from support.works import with_fields

LEARN = "pages/learn.py"
FIRST, *OTHERS = ATTACKS
KINDS = [FIRST, *(pytest.param(kind, marks=pytest.mark.nightly) for kind in OTHERS)]


@pytest.fixture(scope="module")
def page(workers):
    """The page, opened once."""
    at = AppTest.from_file(str(ui.APP), default_timeout=30)
    at.session_state[ui.WORK] = open_sample("hospital", version=1)
    return ui.go(ui.go(at), LEARN)


def at_attack(at, **fields):
    """The page at an attack."""
    lessons = replace(ui.work(at).view(LessonsView), part="attacks", attack=AttackView(**fields))
    return ui.change(at, view=lessons)


def forth(at):
    """One step on."""
    return ui.click(at, at.button(key="attack-next"))


def texts(at):
    return [one.value.replace("\\", "").replace("**", "") for one in at.main.markdown]


def findings(at):
    return [one.value.replace("\\", "") for one in [*at.error, *at.success]]


def rows(table):
    """What a table shows, as text."""
    frame = table.value
    return [[str(cell).replace("\\", "") for cell in row] for row in frame.to_numpy().tolist()]


def marked(at, place=0):
    """The positions of the records with each sign in a table of the page."""
    signs = [row[0] for row in rows(at.table[place])]
    return (
        tuple(number for number, sign in enumerate(signs) if sign == "● fits"),
        tuple(number for number, sign in enumerate(signs) if sign == "✗ ruled out"),
    )


@pytest.mark.parametrize("kind", KINDS)
def test_an_attack_is_told_in_four_steps_as_the_library_finds_it(page, kind):
    case = build_attack_case(kind)
    scene = run_attack(kind, case)
    at = at_attack(page, kind=kind)
    released = [list_texts(case.released[name]) for name in case.released]
    shown = rows(at.table[0])
    assert [row[1:] for row in shown] == [list(row) for row in zip(*released, strict=True)]
    assert marked(at) == ((), ()) and findings(at) == []
    assert f"{case.k}-anonymous" in texts(at)[-1]
    person = next(one for one in list_targets(kind, case) if one.known == scene.known)
    at = forth(at)
    (known,) = [text for text in texts(at) if text.startswith("2. What the attacker knows.")]
    assert person.name in known
    assert all(f"{name} {value}" in known for name, value in scene.known.items())
    assert all(value in known for value in scene.ruled_out)
    assert marked(at) == ((), ())
    at = forth(at)
    out = tuple(place for place in scene.fits if place not in scene.left)
    assert marked(at) == (scene.left, out) and findings(at) == []
    at = forth(at)
    assert findings(at) == [scene.finding] and scene.told and at.error
    before, after = (dict(shares) for shares in (scene.before, scene.after))
    assert rows(at.table[1]) == [
        [value, f"{100 * before[value]:.1f} %", f"{100 * after.get(value, 0):.1f} %"]
        for value in before
    ]
    # What would have prevented it is attacked in the same way.
    at = forth(at)
    assert at.button(key="attack-next").disabled
    assert scene.prevention.sentence in texts(at)
    again = run_attack(kind, scene.prevention.case, scene.known, scene.ruled_out)
    assert findings(at) == [scene.finding, again.finding] and not again.told
    assert marked(at, 0)[0] == scene.left and marked(at, 1)[0] == again.left
    at.button(key="attack-back").click()
    assert ui.work(ui.go(at)).view(LessonsView).attack.step == 4


def test_projected_one_step_is_told_at_a_time(page):
    at = at_attack(page, kind="homogeneity", step=4)
    assert len([text for text in texts(at) if text[:2] in ("1.", "2.", "3.", "4.")]) == 4
    at = ui.change(at, shared=replace(ui.work(at).shared, on_projector=True))
    (shown,) = [one.proto.body for one in at.get("html") if 'class="stage"' in one.proto.body]
    scene = run_attack("homogeneity", build_attack_case("homogeneity"))
    assert "4. What follows" in shown and escape(scene.finding) in shown
    assert "1. What was published" not in shown
    assert not texts(at), "nothing else is told"
    at = ui.click(at, at.button(key="attack-back"))
    (shown,) = [one.proto.body for one in at.get("html") if 'class="stage"' in one.proto.body]
    assert "3. Who fits" in shown and shown.count("● fits") == len(scene.left)
    at.session_state[ui.WORK] = with_fields(
        ui.work(at), shared=replace(ui.work(at).shared, on_projector=False)
    )


def test_another_person_and_other_knowledge_are_attacked(page):
    case = build_attack_case("background")
    at = at_attack(page, kind="background", step=4)
    at = ui.choose(at, "attack-person-background-False-1", 3)
    person = list_targets("background", case)[3]
    assert findings(at) == [run_attack("background", case, person.known).finding]
    at = ui.enter(at, at.multiselect(key="attack-out-background-False-1"), ["asthma", "diabetes"])
    scene = run_attack("background", case, person.known, ["asthma", "diabetes"])
    assert findings(at) == [scene.finding] and scene.told
    at.multiselect(key="attack-out-background-False-1").set_value([])
    assert findings(ui.go(at)) == [run_attack("background", case, person.known, ()).finding]


def test_the_release_that_is_worked_on_is_attacked(page):
    at = at_attack(page, kind="homogeneity", own=True, step=4)
    assert ui.infos(at) == [
        "There is no release with the current settings; press Anonymise on the Anonymise page."
    ]
    at = ui.go(ui.anonymised(at), LEARN)
    case = create_own_case(ui.work(at))
    assert case.k >= ui.work(at).settings.k == 2 and len(case.released) == 10
    assert findings(at) == [run_attack("homogeneity", case).finding]
    at = ui.enter(at, at.number_input(key=ui.frame_k(at)), 3)
    assert ui.work(at).settings.k == 3
    assert findings(at) == [run_attack("homogeneity", create_own_case(ui.work(at))).finding]


def small(table, **roles):
    """A table of the user's own, on the page."""
    at = AppTest.from_file(str(ui.APP), default_timeout=30)
    at.session_state[ui.WORK] = open_sample("hospital", version=1)
    at = ui.upload(ui.go(ui.go(at), ui.DATA), "own.csv", ui.as_bytes(table, "csv"))
    for name, role in roles.items():
        ui.give_role(at, name, role)
    return at_attack(ui.go(at, LEARN), own=True, kind="homogeneity", step=4)


@pytest.mark.nightly
def test_cells_and_names_are_text_and_nothing_else(workers):
    strange = "**b** $x$ <script>alert(1)</script> ![i](http://a.b/c)"
    table = pd.DataFrame({"[a](b)": ["1", "1", "2", "2"], "ill": [strange, strange, "flu", "`"]})
    at = small(table, **{"[a](b)": "quasi-identifier", "ill": "sensitive"})
    at = ui.go(ui.anonymised(at), LEARN)
    said = [one.value for one in [*at.markdown, *at.error, *at.success, *at.caption]]
    said += [str(cell) for one in at.table for cell in one.value.to_numpy().ravel()]
    said += [str(name) for one in at.table for name in one.value.columns]
    theirs = [text for text in said if "script" in text or "(b" in text]
    assert len(theirs) > 4
    assert not [text for text in theirs if re.search(r"(?<!\\)[<>$`!_\[\]]", text)]
