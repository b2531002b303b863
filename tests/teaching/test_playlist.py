"""Playlists: those of kanon are sound, what is written is read again, a bad file is refused."""

import json
from collections import Counter

import pytest

from kanon.errors import PlanError
from kanon.teaching.playlist import (
    MOST_SLIDES,
    Link,
    create_playlist,
    load_built_in_playlists,
    read_lesson_address,
    read_playlist,
)


def test_three_playlists_come_with_kanon_and_are_written_as_they_were_read():
    playlists = load_built_in_playlists()
    assert [one.title for one in playlists] == [
        "Lecture of 90 minutes", "Lecture of 45 minutes", "Lab: from the table to the report"
    ]  # fmt: skip
    for playlist in playlists:
        assert read_playlist(playlist.to_json().encode()) == playlist
        assert all(link.title for link in playlist.links)


def test_a_link_is_opened_at_each_of_its_steps():
    for playlist in load_built_in_playlists():
        expected = Counter(
            {link.title: (link.last_step or link.step or 0) - (link.step or 0) + 1
             for link in playlist.links}
        )  # fmt: skip
        assert Counter(slide.title for slide in playlist.slides) == expected
        for before, after in zip(playlist.slides, playlist.slides[1:], strict=False):
            if before.title == after.title:
                assert after.step == (before.step or 0) + 1


def test_an_address_names_the_same_lesson_as_the_link():
    link = Link(page="learn", table="hospital", algorithm="gaa", k=3, step=4, second_strategy="s3")
    assert read_lesson_address(link.address_parts) == link
    exercises = Link(page="learn", exercises=True)
    assert read_lesson_address(exercises.address_parts) == exercises


LESSON = {"page": "learn", "table": "hospital"}


@pytest.mark.parametrize(
    ("link", "sentence"),
    [
        ({"page": "start"}, "links.0.page"),
        ({"page": "learn", "sample": "census"}, "Link 1: The page learn has no sample"),
        ({"page": "compare", "step": 2}, "Link 1: The page compare has no step"),
        ({**LESSON, "speed": 3}, "the key 'speed' is unknown; choose from title, page"),
        ({**LESSON, "table": "own"}, "Link 1: 'own' is no table; choose from animals-m23"),
        ({**LESSON, "second_algorithm": "x"}, "Link 1: 'x' is no second algorithm"),
        ({**LESSON, "attack": "x"}, "Link 1: 'x' is no attack; choose from linkage"),
        ({**LESSON, "k": 11}, "Link 1: k = 11 is too large; the table has 10 records"),
        ({**LESSON, "k": 1}, "links.0.k.*at least 2"),
        ({**LESSON, "k": "3"}, "links.0.k.*without quotes"),
        ({**LESSON, "step": -1}, "links.0.step.*at least 0"),
        ({**LESSON, "last_step": 10**9}, "links.0.last_step.*at most 500"),
        ({**LESSON, "step": 3, "last_step": 2}, "last_step 2 is before step 3"),
    ],
)
def test_a_wrong_link_is_named_with_what_is_allowed(link, sentence):
    content = {"format": "kanon-playlist", "title": "One", "links": [link]}
    with pytest.raises(PlanError, match=sentence):
        read_playlist(json.dumps(content).encode())


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"{", "is not valid JSON"),
        (b"\xff", "The playlist is not UTF-8 text."),
        (b"[]", "This is not a playlist"),
        (b'{"format": "kanon-exercises"}', "This is not a playlist"),
        (b'{"format": "kanon-playlist", "title": "a", "links": []}', "links is empty"),
        (b'{"format": "kanon-playlist", "title": "", "links": []}', "title"),
    ],
)
def test_a_file_that_is_no_playlist_is_refused(content, sentence):
    with pytest.raises(PlanError, match=sentence):
        read_playlist(content)


def test_a_playlist_with_too_many_steps_is_refused():
    links = [Link(page="learn", last_step=MOST_SLIDES - 1), Link(page="learn")]
    with pytest.raises(PlanError, match="at most 500 steps"):
        read_playlist(create_playlist("Long", links).to_json().encode())
