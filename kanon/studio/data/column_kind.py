"""The kind of a column: as it was found, to be changed."""

from __future__ import annotations

from functools import partial

from streamlit.delta_generator import DeltaGenerator

from kanon.base.kinds import ColumnKind, doubts
from kanon.base.language import say, say_of
from kanon.errors import TableError
from kanon.schema import Role
from kanon.studio.session import state
from kanon.studio.session.binding import bound
from kanon.studio.session.column_kinds import kinds_of, with_kind
from kanon.studio.session.text import spoken
from kanon.studio.session.work import Work


def column_kind(work: Work, position: int, name: str, place: DeltaGenerator) -> str:
    """Draw the kind of a column, which can be changed; returns what is to be said of it.

    That is a sentence if the kind is a guess. An identifier, which no release has, is not read.
    """
    if work.table.roles[name] is Role.IDENTIFIER:
        return ""
    version = work.version
    known = (work.table.digest, version)
    try:
        found = state.remembered(f"kinds-{position}", known, partial(kinds_of, work, name))
    except TableError:  # an engine has too many values of it to be read
        return ""
    chosen = work.table.kinds.get(name)
    shown = chosen or found[0]
    place.selectbox(
        say("Kind of {column}", column=spoken(name)),
        list(dict.fromkeys([*map(str, found), str(shown)])),
        **bound(f"kind-{version}-{position}", str(shown), take_kind, version, name),
        format_func=kind_said,
        label_visibility="collapsed",
        help=say("How its values are read. A release writes them as they came."),
    )
    others = doubts(found)
    if chosen is not None or not others:
        return ""
    return say(
        "Read as {kind}, a guess: it may be {others}.",
        kind=kind_said(str(shown)),
        others=", ".join(kind_said(str(one)) for one in others),
    )


def kind_said(kind: str) -> str:
    """The text of a kind, its name in the language of the dashboard."""
    read = ColumnKind.parse(kind)
    return kind.replace(read.name, say_of(read.name), 1)


def take_kind(version: int, name: str, kind: str) -> None:
    """Read the values of a column in another way."""
    if state.work().version == version:
        state.attempt(lambda: with_kind(state.work(), name, ColumnKind.parse(kind)))
