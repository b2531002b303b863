"""The stops of the guided tour; the tour itself is taken in tests/browser/test_look.py."""

import pytest

from kanon.studio.shell.tour import STEPS
from support.dashboard import APP, DATA, with_people, work
from support.works import with_fields


def test_every_stop_is_a_page_of_its_own():
    assert len({step.page for step in STEPS}) == len(STEPS) == 5
    for step in STEPS:
        assert (APP.parent / step.page).is_file()


@pytest.mark.nightly
def test_the_tour_goes_on_with_another_table(start):
    at = start(DATA)
    at.session_state["kanon-work"] = with_fields(work(at), tour=2)
    with_people(at)
    assert work(at).table.title == "people.csv" and work(at).shared.tour == 2
