"""The controls for configurations that are saved under a name."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from kanon.experiments.titles import full_title
from kanon.studio.jobs.configurations import PlannedLine, incomparable, yardsticks
from kanon.studio.session import state
from kanon.studio.session.named_configurations import (
    export,
    imported,
    pin,
    renamed,
    restored,
    unpinned,
    used,
)
from kanon.studio.session.parts import NamedConfiguration
from kanon.studio.session.state import bound
from kanon.studio.session.text import plain
from kanon.studio.session.work import Work
from kanon.studio.widgets.controls import upload_field
from kanon.studio.widgets.files import plan_button
from kanon.studio.widgets.result import name_in_files

_AT_ONCE = 8  # so many things that are new in a table are spelt out; those that stop a plan first


def kept_chips(work: Work) -> None:
    titles = [each.title for each in work.kept.pinned]
    # The key holds the names: one that is given to another configuration is another choice.
    st.pills(
        "Kept",
        titles,
        selection_mode="multi",
        label_visibility="collapsed",
        **bound(
            f"compare-kept-{_short(repr(titles))}",
            [each.title for each in work.kept.pinned if each.shown],
            _show,
        ),
        format_func=lambda title: plain(f"★ {title}"),
    )


def kept_aside(work: Work) -> None:
    """Which of the saved configurations are left out of the comparison, and why."""
    for each in work.kept.pinned:
        if each.shown and (why := incomparable(work, each)):
            said = f"★ {each.title} is left out: {why}. It stays kept."
            st.caption(plain(said))


def _show(chosen: Any) -> None:
    kept = state.work().kept
    shown = tuple(replace(each, shown=each.title in (chosen or ())) for each in kept.pinned)
    state.change(replace(kept, pinned=shown))


def yardstick_choice(work: Work) -> None:
    """Whose hierarchies releases are measured by, where lines have different ones."""
    offered = yardsticks(work)
    if not offered:
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox(
            "Measure everything by the hierarchies",
            range(len(offered)),
            **bound(
                f"compare-yardstick-{_short(repr(offered))}",
                offered.index(work.kept.yardstick) if work.kept.yardstick in offered else 0,
                lambda value: state.change(replace(state.work().kept, yardstick=offered[value])),
            ),
            format_func=lambda place: _named(offered[place]),
            width=300,
        )
        st.caption(
            (
                "Each line's percentages are of all that its own hierarchies could lose: lines "
                "of different hierarchies cannot be compared."
            )
            if work.kept.yardstick is None
            else (
                "Lines have different hierarchies, and one set measures all: a released cell "
                "counts as the lowest group there that holds all it could mean."
            ),
            width=570,
        )


def _named(yardstick: str | None) -> str:
    if yardstick is None:
        return "each its own"
    return plain(f"of ★ {yardstick}") if yardstick else "in use now"


def keeping(work: Work, lines: Sequence[PlannedLine]) -> None:
    label = f"Keep ({len(work.kept.pinned)})" if work.kept.pinned else "Keep"
    with st.popover(label, icon=":material/keep:"):
        state.said_here("keeping")
        _keep([line for line in lines if not line.kept])
        for place, each in enumerate(work.kept.pinned):
            _kept(place, each)
        if work.kept.unpinned is not None:
            st.button(
                f"Bring back {plain(work.kept.unpinned.title)}",
                icon=":material/undo:",
                key="kept-restore",
                on_click=_attempt,
                args=(restored,),
            )
        _import(work)


def _keep(lines: Sequence[PlannedLine]) -> None:
    st.markdown("**Keep a line as it is now**, with its hierarchies, beside what you try next.")
    if not lines:
        st.caption("Choose a metric and a strategy first.")
        return
    names = [line.name for line in lines]
    chosen = st.selectbox(
        "Line",
        range(len(lines)),
        format_func=lambda place: plain(lines[place].title),
        key=f"keep-line-{_short(repr(names))}",
    )
    line = lines[chosen or 0]
    alone = full_title(line.configuration, line.guide.card.title)
    field = f"keep-name-{_short(line.name)}"
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input("Name", key=field, placeholder=alone)
        st.button(
            "Keep",
            key="keep",
            on_click=_attempt,
            args=(
                lambda work: pin(work, line.plan, line.ground.trees, state.typed(field) or alone),
            ),
        )


def _kept(place: int, each: NamedConfiguration) -> None:
    field = f"kept-name-{place}-{_short(each.title)}"
    with st.container(horizontal=True, vertical_alignment="bottom"):
        # Not seeded: a name that cannot be taken stays as typed, to be mended.
        st.text_input(
            f"★ {place + 1}: name",
            value=each.title,
            key=field,
            on_change=_attempt,
            args=(lambda work: renamed(work, each.title, state.typed(field) or ""),),
        )
        plan_button(
            export(each),
            f"plan-{name_in_files(each.plan)}",
            f"kept-plan-{_short(each.title)}",
            help="Everything about this configuration; python -m kanon run repeats it.",
        )
        st.button(
            "Use",
            icon=":material/input:",
            key=f"kept-use-{_short(each.title)}",
            on_click=_attempt,
            args=(lambda work: used(work, each.title),),
            help="Set roles, hierarchies and settings as this plan has them. What a hierarchy "
            "lacks of this table is then shown on the page Hierarchies, to be added there.",
        )
        st.button(
            "Remove",
            icon=":material/close:",
            key=f"kept-remove-{_short(each.title)}",
            on_click=_attempt,
            args=(lambda work: unpinned(work, each.title),),
        )
    if each.findings:
        st.caption("New in this table:")
        weighty = sorted(each.findings, key=lambda found: not found.stops)
        listed = [f"- {plain(found.sentence)}" for found in weighty[:_AT_ONCE]]
        if len(each.findings) > _AT_ONCE:
            listed.append("- " + f"and {len(each.findings) - _AT_ONCE} more")
        st.markdown("\n".join(listed))


def _import(work: Work) -> None:
    key = f"kept-import-{work.version}"
    upload_field(
        "Import a plan", "plan_megabytes", type="json", key=key, on_change=_take_file, args=(key,)
    )


def _take_file(key: str) -> None:
    file = state.typed(key)
    if file is None:
        return
    title = file.name.rsplit(".", 1)[0]
    taken = {each.title.casefold() for each in state.work().kept.pinned}
    number, free = 2, title[:30] or "plan"
    while free.casefold() in taken:
        free, number = f"{title[:30]} {number}", number + 1
    _attempt(lambda work: imported(work, file.getvalue(), free))


def _attempt(change: Callable[[Work], Work]) -> None:
    """Do something to what the session works on, or say why it cannot be done."""
    state.attempt(lambda: change(state.work()), at="keeping")


def _short(text: str) -> str:
    """A few letters that stand for a text in a key."""
    return hashlib.sha256(text.encode()).hexdigest()[:8]
