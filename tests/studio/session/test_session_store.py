"""What outlives a page lies under an unguessable token, for a while, in memory alone."""

import gc
import threading
import weakref
from dataclasses import replace

import pytest

from kanon.studio.session import session_store as desks_module
from kanon.studio.session.session_store import SessionStore, StoredSession, create_token
from kanon.studio.session.table_loading import open_sample, open_uploaded_table
from kanon.studio.session.work import JobRequest, RunningJob, has_user_changes
from support.works import with_fields


def run(doing="run"):
    request = JobRequest(doing, len, (), lambda work, found: work)
    return {doing: RunningJob(Run(), request, open_sample("hospital"))}


class Clock:
    """Timers that go off when a test says so."""

    def __init__(self):
        self.waiting = []

    def __call__(self, seconds, function, arguments):
        clock = self

        class Timer(threading.Thread):
            def __init__(self):
                super().__init__(target=function, args=arguments)
                self.seconds = seconds

            def start(self):
                clock.waiting.append(self)

            def cancel(self):
                if self in clock.waiting:
                    clock.waiting.remove(self)

            def go_off(self):
                super().start()
                self.join()

        return Timer()

    def strike(self):
        waiting, self.waiting = self.waiting, []
        for timer in waiting:
            timer.go_off()


@pytest.fixture
def clock(monkeypatch):
    found = Clock()
    monkeypatch.setattr(desks_module.threading, "Timer", found)
    return found


class Run:
    """A calculation that notes whether it was cancelled."""

    cancelled = False

    def cancel(self):
        self.cancelled = True


def at_work(**fields):
    return StoredSession(with_fields(open_sample("hospital", version=1), **fields))


def test_a_session_that_comes_back_finds_its_desk(clock):
    desks, desk = SessionStore(1800, 20), at_work(running=run())
    desks.store_session("word", "first", desk)
    assert not desks.has_abandoned_sessions
    desks.mark_abandoned("first")
    assert desks.has_abandoned_sessions and [timer.seconds for timer in clock.waiting] == [1800]
    assert desks.take("word", "second") == ("word", desk)
    assert not desks.has_abandoned_sessions and not clock.waiting
    assert not desk.work.running["run"].job.cancelled, "its run goes on"
    desks.mark_abandoned("first")  # Streamlit drops the old session later
    assert desks.take("word", "second") == ("word", desk), "the desk is the second one's now"
    desks.mark_abandoned("second")
    desks.store_session("word", "second", desk)
    assert not desks.has_abandoned_sessions and not clock.waiting, "a dropped connection is back"


def test_a_desk_nobody_comes_back_to_is_wiped(clock):
    desks, desk = SessionStore(60, 20), at_work(running=run())
    desk.memory["drawn"] = object()
    desks.store_session("word", "first", desk)
    desks.mark_abandoned("first")
    clock.strike()
    assert desks.take("word", "second") is None and len(desks) == 0
    assert desk.work.running["run"].job.cancelled and not desk.memory


def test_nothing_holds_what_was_wiped(clock):
    desks, desk = SessionStore(60, 20), StoredSession(open_uploaded_table(b"a\n1\n", "t.csv", 1))
    table = weakref.ref(desk.work.table.records)
    desks.store_session("word", "first", desk)
    desks.mark_abandoned("first")
    del desk
    gc.collect()
    assert table() is not None
    clock.strike()
    gc.collect()
    assert table() is None


def test_a_timer_that_went_off_too_late_wipes_nothing(clock):
    desks, desk = SessionStore(60, 20), at_work()
    desks.store_session("word", "first", desk)
    desks.mark_abandoned("first")
    (late,) = clock.waiting
    desks.take("word", "second")
    desks.mark_abandoned("second")
    late.go_off()
    assert desks.take("word", "third") == ("word", desk)


def test_a_duplicated_tab_gets_a_copy_and_no_run(clock):
    desks, desk = SessionStore(60, 20), at_work(running=run(), k=7)
    desk.memory["drawn"] = object()
    desks.store_session("word", "first", desk)
    word, copy = desks.take("word", "second")
    assert word != "word" and copy.salt != desk.salt
    assert copy.work.settings.k == 7 and copy.work.table.records is desk.work.table.records
    assert (copy.work.running, copy.memory) == ({}, {})
    assert desks.take("word", "first") == ("word", desk), "the first one keeps its own"


@pytest.mark.parametrize(("first", "second"), [("issuer ann", "issuer bob"), ("issuer ann", "")])
def test_nobody_gets_the_desk_of_who_was_logged_in_before(clock, first, second):
    """The tab still holds the token, and somebody else, or nobody, is logged in now."""
    desks, desk = SessionStore(60, 20), at_work()
    desks.store_session("word", "first", desk, first)
    assert desks.take("word", "second", second) is None, "nor a copy"
    desks.mark_abandoned("first")
    assert desks.take("word", "second", second) is None
    assert desks.take("word", "third", first) == ("word", desk)


def test_forgetting_reaches_what_the_copies_of_a_tab_left(clock):
    """A copied tab forgets; the first one was closed, and a browser could bring it back."""
    desks = SessionStore(60, 20)
    desks.store_session("word", "first", at_work())
    copied, desk = desks.take("word", "second")
    desks.store_session(copied, "second", desk)
    desks.store_session("stranger", "third", at_work())
    desks.mark_abandoned("first")
    desks.mark_abandoned("third")
    desks.delete_all_of_owner(copied)
    assert desks.take("word", "fourth") is None and desks.take(copied, "fourth") is None
    assert desks.take("stranger", "fourth"), "nobody else's"


def test_forgetting_leaves_a_copy_that_somebody_looks_at(clock):
    desks = SessionStore(60, 20)
    desks.store_session("word", "first", at_work())
    copied, copy = desks.take("word", "second")
    desks.delete_all_of_owner("word")
    assert desks.take("word", "third") is None
    assert desks.take(copied, "second") == (copied, copy)


def test_who_logs_out_leaves_nothing_in_closed_tabs(clock):
    desks = SessionStore(60, 20)
    for token, owner in (("one", "ann"), ("two", "ann"), ("other", "bob"), ("none", "")):
        desks.store_session(token, f"session {token}", at_work(), owner)
        if token != "one":
            desks.mark_abandoned(f"session {token}")
    desks.delete_all_of_owner("one")
    assert desks.take("two", "new", "ann") is None
    assert desks.take("other", "new", "bob") and desks.take("none", "new")


def test_zero_keeps_nothing(clock):
    desks, desk = SessionStore(0, 20), at_work(running=run())
    desks.store_session("word", "first", desk)
    desks.mark_abandoned("first")
    assert len(desks) == 0 and desk.work.running["run"].job.cancelled
    assert not clock.waiting


def test_the_desk_that_was_left_first_goes_first(clock):
    desks = SessionStore(60, 2)
    for name in "abcd":
        desks.store_session(name, f"session {name}", at_work())
    for name in "bac":
        desks.mark_abandoned(f"session {name}")
    assert desks.take("b", "new") is None, "left first"
    assert all(desks.take(name, "new") for name in "acd")


def test_visits_push_out_no_work(clock):
    """A probe that looks every minute whether the app is up leaves a desk each time."""
    desks, work = SessionStore(60, 3), at_work()
    desks.store_session("work", "somebody", work)
    desks.mark_abandoned("somebody")
    visited = replace(work, has_user_changes=False)
    for visit in range(30):
        desks.store_session(f"visit {visit}", f"session {visit}", visited)
        desks.mark_abandoned(f"session {visit}")
    assert len(desks) == 3 and desks.take("work", "new") == ("work", work)


def test_of_a_visit_that_is_gone_nothing_is_missed(clock):
    desks = SessionStore(60, 1)
    for token, changes in (("work", True), ("visit", False)):
        desks.store_session(token, token, replace(at_work(), has_user_changes=changes))
        desks.mark_abandoned(token)
    assert desks.take("visit", "new") is None and desks.was_mere_visit("visit")
    desks.clear("work")
    assert desks.take("work", "new") is None and not desks.was_mere_visit("work")


def test_a_visit_begins_nothing_and_a_choice_does():
    first = open_sample("hospital", version=1)
    assert not has_user_changes(first, first)
    by_itself = {
        "running": run(),
        "made_with": {"run": first},
        "tour": 1,
    }
    assert not has_user_changes(first, with_fields(first, notice="Done.", **by_itself))
    assert has_user_changes(first, with_fields(first, running=run("advising")))
    assert has_user_changes(first, with_fields(first, k=first.settings.k + 1))
    assert has_user_changes(first, with_fields(first, roles=dict(first.table.roles)))


def test_one_desk_is_cleared_and_no_other(clock):
    desks, mine, other = SessionStore(60, 20), at_work(running=run()), at_work(running=run())
    desks.store_session("mine", "first", mine)
    desks.store_session("other", "second", other)
    desks.clear("mine")
    desks.clear("nobody's")
    assert desks.take("mine", "first") is None and desks.take("other", "second") == ("other", other)
    assert mine.work.running["run"].job.cancelled and not other.work.running["run"].job.cancelled


def test_no_other_word_opens_a_desk(clock):
    desks = SessionStore(60, 20)
    desks.store_session("word", "first", at_work())
    desks.mark_abandoned("first")
    for guess in ("", "wor", "word ", "WORD", "../word", "x" * 10_000):
        assert desks.take(guess, "second") is None


def test_words_cannot_be_guessed_and_no_secret_is_in_what_a_log_could_hold():
    words = {create_token() for _ in range(1000)}
    assert len(words) == 1000 and min(map(len, words)) >= 43, "256 bits"
    desk = StoredSession()
    assert desk.salt not in repr(desk)
