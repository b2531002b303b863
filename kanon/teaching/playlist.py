"""Playlists: a lesson plan as a list of links, described in docs/how-to/learn.md."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from kanon.algorithms.catalogue import algorithms
from kanon.base.checked_json import Strict, load_json, read_json, validate, write_json
from kanon.base.own_files import find_own_file
from kanon.errors import PlanError, quote
from kanon.metrics import METRICS
from kanon.strategies import STRATEGIES
from kanon.teaching.attacks import ATTACKS
from kanon.teaching.presets import PRESETS, load_preset_table

BUILT_IN = tuple(
    find_own_file("sample_data", "playlists", f"{name}.json")
    for name in ("lecture-90", "lecture-45", "lab")
)
"""The playlists that come with kanon."""

MOST_SLIDES = 500  # the most of a playlist: its links, each at all of its steps

_Name = Annotated[str, StringConstraints(strict=True, max_length=100)]
_Whole = Annotated[int, Field(strict=True, le=MOST_SLIDES)]
_NAMES: dict[str, Collection[str]] = {
    "table": PRESETS, "algorithm": algorithms(), "metric": METRICS, "strategy": STRATEGIES,
    "attack": ATTACKS,
}  # fmt: skip
_ELSEWHERE = {"sample", "algorithms", "metrics", "strategies"}  # not on Learn
_ANYWHERE = {"title", "page", "projector", "algorithm", "metric", "strategy", "k"}


class Link(Strict):
    """A page and its state, named as in its address; what is left out is as usual."""

    title: _Name = ""
    page: Literal[
        "data", "hierarchies", "metrics", "anonymise", "lattice", "compare", "privacy", "utility",
        "decide", "report", "learn",
    ]  # fmt: skip
    projector: Annotated[bool, Field(strict=True)] = False  # on Learn and Compare
    algorithm: _Name = ""
    metric: _Name = ""
    strategy: _Name = ""
    k: Annotated[int, Field(strict=True, ge=2)] | None = None
    # on every page but Learn: the sample, and what Compare compares, with commas between names
    sample: _Name = ""
    algorithms: _Name = ""
    metrics: _Name = ""
    strategies: _Name = ""
    # on Learn: a small table, the step of one lesson or of two, an attack, or the exercises
    table: _Name = ""
    step: Annotated[_Whole, Field(ge=0)] | None = None
    last_step: Annotated[_Whole, Field(ge=0)] | None = None  # a remote goes on to it, step by step
    second_algorithm: _Name = ""
    second_metric: _Name = ""
    second_strategy: _Name = ""
    attack: _Name = ""
    exercises: Annotated[bool, Field(strict=True)] = False

    @property
    def address_parts(self) -> dict[str, str]:
        """The parts of its address.

        >>> Link(page="learn", table="hospital", k=3, step=2, last_step=5).address_parts
        {'k': '3', 'table': 'hospital', 'step': '2'}
        """
        content = self.model_dump(
            exclude_defaults=True, exclude={"title", "page", "projector", "last_step"}
        )
        return {name: str(value) for name, value in content.items()}

    def check(self) -> None:
        """Check what no single key shows; a ``PlanError`` says what is wrong, what is allowed."""
        given = self.model_dump(exclude_defaults=True)
        allowed = _ANYWHERE | _ELSEWHERE
        if self.page == "learn":
            allowed = {*type(self).model_fields} - _ELSEWHERE
        if wrong := [name for name in given if name not in allowed]:
            raise PlanError(f"The page {self.page} has no {wrong[0]}; leave it out.")
        for name, value in given.items():
            known = _NAMES.get(name.removeprefix("second_"))
            if known is not None and value not in known:
                key, names = name.replace("_", " "), ", ".join(known)
                raise PlanError(f"{quote(value)} is no {key}; choose from {names}.")
        if self.table and self.k is not None:
            n_records = len(load_preset_table(self.table).frame)
            if self.k > n_records:
                raise PlanError(f"k = {self.k} is too large; the table has {n_records} records.")
        if (self.last_step or self.step or 0) < (self.step or 0):
            raise PlanError(f"last_step {self.last_step} is before step {self.step}.")


class Playlist(Strict):
    format: Literal["kanon-playlist"]
    version: Literal[1] = 1
    title: Annotated[_Name, StringConstraints(min_length=1)]
    links: Annotated[tuple[Link, ...], Field(min_length=1, max_length=MOST_SLIDES)]

    @property
    def slides(self) -> tuple[Link, ...]:
        """The links in order, each once for every step from ``step`` to ``last_step``.

        >>> link = Link(page="learn", step=1, last_step=3)
        >>> [slide.step for slide in create_playlist("Steps", [link]).slides]
        [1, 2, 3]
        """
        return tuple(
            link if link.last_step is None else link.model_copy(update={"step": step})
            for link in self.links
            for step in range(link.step or 0, max(link.last_step or 0, link.step or 0) + 1)
        )

    def to_json(self) -> str:
        """The playlist as the text of a JSON file; what is as usual is left out."""
        content = self.model_dump(mode="json", exclude_defaults=True)
        return write_json({"format": self.format, "version": self.version, **content})


def read_lesson_address(parts: Mapping[str, str]) -> Link:
    """The link to the page *Learn* with the parts of an address.

    >>> read_lesson_address({"algorithm": "samarati", "step": "3"}).step
    3
    """
    read = {name: int(text) if text.isdecimal() else text for name, text in parts.items()}
    link = validate(Link, {**read, "exercises": "exercises" in parts, "page": "learn"}, "link")
    link.check()
    return link


def create_playlist(title: str, links: Collection[Link]) -> Playlist:
    return Playlist(format="kanon-playlist", title=title, links=tuple(links))


def read_playlist(source: Path | bytes) -> Playlist:
    """Read and check a playlist; a ``PlanError`` names what is wrong and where.

    >>> read_playlist(b'{"format": "kanon-playlist", "title": "One", "links": [{"page": "start"}]}')
    Traceback (most recent call last):
    kanon.errors.PlanError: ...
    """
    content = _load(source)
    if not isinstance(content, dict) or content.get("format") != "kanon-playlist":
        raise PlanError(
            "This is not a playlist: it must be an object with format 'kanon-playlist'."
        )
    playlist = validate(Playlist, content, "playlist")
    for place, link in enumerate(playlist.links, 1):
        try:
            link.check()
        except PlanError as error:
            raise error.add_place(f"Link {place}") from None
    if len(playlist.slides) > MOST_SLIDES:
        raise PlanError(f"A playlist has at most {MOST_SLIDES} steps; this one has more.")
    return playlist


@cache
def load_built_in_playlists() -> tuple[Playlist, ...]:
    return tuple(map(read_playlist, BUILT_IN))


def _load(source: Path | bytes) -> Any:
    if isinstance(source, Path):
        return load_json(source, "The playlist")
    return read_json(source, "The playlist")
