"""What a page that is being left still asks for is drawn on the page that was chosen."""

from types import SimpleNamespace

import pytest
from streamlit.runtime.scriptrunner import RerunData, ScriptRunner
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequests

from kanon.studio.shell import serving

CHOSEN = RerunData(page_script_hash="privacy", query_string="k=5", is_history_navigation=True)
FRAGMENT = RerunData(page_script_hash="anonymise", query_string="k=2", fragment_id="a line")


@pytest.fixture
def drawn(monkeypatch):
    """What runners have drawn."""
    found = []
    monkeypatch.setattr(ScriptRunner, "_run_script", ScriptRunner._run_script)
    monkeypatch.setattr(
        ScriptRequests, "_request_rerun_locked", ScriptRequests._request_rerun_locked
    )
    monkeypatch.setattr(serving, "_run_script", lambda runner, rerun: found.append(rerun))
    serving.keep_chosen_page()
    return found


def draw(page, rerun):
    pages = SimpleNamespace(current_page_script_hash=page)
    ScriptRunner._run_script(SimpleNamespace(_pages_manager=pages), rerun)


def request(*reruns):
    """What a runner draws next that was asked for all of this."""
    requests = ScriptRequests()
    assert all(requests.request_rerun(rerun) for rerun in reruns)
    return requests.on_scriptrunner_ready().rerun_data


def test_a_fragment_is_drawn_on_the_page_that_is_there(drawn):
    draw("privacy", request(FRAGMENT))
    assert [rerun.page_script_hash for rerun in drawn] == ["privacy"]
    assert drawn[0].fragment_id_queue == ["a line"]


def test_a_page_is_drawn_as_it_was_asked_for(drawn):
    draw("anonymise", CHOSEN)
    assert drawn == [CHOSEN]


def test_before_any_page_is_there_nothing_is_changed(drawn):
    asked = request(FRAGMENT)
    draw("", asked)
    assert drawn == [asked]


def test_a_page_that_was_chosen_and_not_begun_is_drawn(drawn):
    found = request(CHOSEN, FRAGMENT)
    assert found.page_script_hash == "privacy" and not found.fragment_id_queue
    assert found.query_string == "k=5" and found.is_history_navigation


def test_the_page_that_was_chosen_last_is_drawn(drawn):
    assert request(FRAGMENT, CHOSEN).page_script_hash == "privacy"
    other = RerunData(page_script_hash="compare")
    assert request(CHOSEN, other).page_script_hash == "compare"


def test_two_fragments_are_both_drawn(drawn):
    other = RerunData(page_script_hash="anonymise", fragment_id="another")
    assert request(FRAGMENT, other).fragment_id_queue == ["a line", "another"]


def test_without_it_streamlit_draws_the_page_that_was_left(monkeypatch):
    """Once this fails, the page is kept by Streamlit itself."""
    monkeypatch.setattr(ScriptRequests, "_request_rerun_locked", serving._request_rerun)
    assert request(CHOSEN, FRAGMENT).page_script_hash == "anonymise"
