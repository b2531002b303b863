"""Playlists on the page Learn, driven by AppTest: what a link opens, and what is refused."""

from dataclasses import replace

import pytest

from kanon.errors import PlanError
from kanon.studio.learn.lesson_link import apply_lesson_link, build_lesson_link
from kanon.studio.learn.state import LessonsView
from kanon.studio.session.table_loading import open_sample
from kanon.studio.shell.link import read_link
from kanon.teaching.playlist import Link, create_playlist, load_built_in_playlists
from support import dashboard as ui

LEARN = "pages/learn.py"


@pytest.fixture(scope="module")
def sample():
    return open_sample("hospital", version=1)


def view_of(work):
    return work.view(LessonsView)


def test_every_link_of_kanon_s_own_playlists_opens_what_it_names(sample):
    for playlist in load_built_in_playlists():
        for link in playlist.links:
            if link.page != "learn":
                if link.address_parts:
                    opened = read_link(sample, link.address_parts)
                    assert (opened.table.origin, opened.settings.k) == (link.sample, link.k)
                continue
            work = apply_lesson_link(sample, link)
            built = build_lesson_link(work)
            named = {**link.address_parts}
            assert named.items() <= built.address_parts.items(), link.title
            again = view_of(apply_lesson_link(sample, built))
            assert again.part == view_of(work).part and again.attack == view_of(work).attack


@pytest.mark.parametrize(
    ("link", "sentence"),
    [
        (Link(page="learn", table="hospital", k=3, last_step=9), "Step 9 .* the last step is 8"),
        (Link(page="learn", attack="linkage", step=6), "Step 6 .* the last step is 5"),
        (Link(page="learn", table="animals-v21", strategy="s3"), "no strategy s3; choose from s1"),
        (Link(page="learn", table="hospital", metric="custom"), "no metric custom; choose from"),
    ],
)
def test_what_a_lesson_does_not_have_is_not_opened(sample, link, sentence):
    with pytest.raises(PlanError, match=sentence):
        apply_lesson_link(sample, link)


def test_no_link_names_the_table_of_the_session(sample):
    view = view_of(sample)
    own = sample.replace_sections(replace(view, steps=replace(view.steps, table="own")))
    assert build_lesson_link(own) is None


def test_an_address_opens_a_step_and_a_wrong_one_changes_nothing(start):
    at = start(LEARN)
    for name, value in {"table": "hospital", "algorithm": "gaa", "k": "3", "step": "5"}.items():
        at.query_params[name] = value
    steps = view_of(ui.work(ui.go(at))).steps
    assert (steps.table, steps.k, steps.step) == ("hospital", 3, 5)
    assert dict(at.query_params) == {} and not ui.problems(at)
    at.query_params["step"] = "99"
    ui.go(at)
    assert view_of(ui.work(at)).steps == steps
    assert ["Step 99 is not there" in problem for problem in ui.problems(at)] == [True]


def test_what_the_page_shows_is_added_saved_and_removed(start, downloads):
    at = start(LEARN)
    ui.press(at, "Add what the page shows")
    playlist = ui.work(at).shared.playlist
    assert playlist == create_playlist("My playlist", [build_lesson_link(ui.work(at))])
    assert downloads["playlist-save"][1]() == playlist.to_json()
    ui.press(at, "Add what the page shows")
    ui.press(at, "Remove the last link")
    assert ui.work(at).shared.playlist == playlist
    ui.press(at, "Remove the last link")
    assert ui.work(at).shared.playlist is None
    ui.press(at, "Lecture of 45 minutes")
    assert ui.work(at).shared.playlist == load_built_in_playlists()[1]


def test_a_bad_file_is_refused_in_a_sentence(start):
    at = start(LEARN)
    playlist = create_playlist("Long", [Link(page="learn", table="hospital", k=3, step=40)])
    for content, said in (
        (playlist.to_json().encode(), "Link 1: Step 40 is not there; the last step is 8."),
        (b"{}", "This is not a playlist"),
        (create_playlist("x", [Link(page="data", sample="x")]).to_json().encode(), "sample 'x'"),
    ):
        field = next(one for one in at.get("file_uploader") if "playlist" in one.key)
        field.set_value(("plan.json", content, "application/json"))
        ui.go(at)
        assert any(said in problem for problem in ui.problems(at)), ui.problems(at)
        assert ui.work(at).shared.playlist is None
