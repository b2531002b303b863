"""What all sessions of a server share."""

import threading

import pytest

from kanon.studio.session import server


@pytest.fixture
def one_place(monkeypatch):
    monkeypatch.setattr(server, "_TURNS", threading.Semaphore(1))


def test_a_page_waits_until_another_is_drawn_also_when_that_fails(one_place):
    ended = []

    def draw_next():
        with server.take_turn():
            ended.append("second")

    other = threading.Thread(target=draw_next)
    with pytest.raises(ValueError, match="first"), server.take_turn():
        other.start()
        other.join(0.1)
        ended.append("first")
        raise ValueError("first")
    other.join(60)
    assert ended == ["first", "second"]


def test_who_has_waited_long_is_drawn_nevertheless(one_place, monkeypatch):
    monkeypatch.setattr(server, "_PATIENCE", 0.01)
    with server.take_turn():
        with server.take_turn():
            pass
        assert not server._TURNS.acquire(blocking=False), "a turn not taken is not given back"
    assert server._TURNS.acquire(blocking=False)


def test_another_page_is_drawn_while_this_one_waits(one_place):
    with server.take_turn():
        server.give_turn_away()
        assert server._TURNS.acquire(blocking=False)
        server._TURNS.release()
        server.give_turn_away()
    assert server._TURNS.acquire(blocking=False)
    assert not server._TURNS.acquire(blocking=False), "a turn is given back once"
