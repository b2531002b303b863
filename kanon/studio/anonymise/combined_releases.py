"""What someone learns from the release on screen and those handed out before."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from kanon.base.formatting import counted, one_or_many, thin
from kanon.base.how_texts import Sections
from kanon.base.progress import Progress
from kanon.base.sentences import records_said
from kanon.errors import KanonError, listing
from kanon.plan import Plan
from kanon.release.common_classes import Release
from kanon.release.composition import CombinedReleases, combine
from kanon.run import Run
from kanon.sources.tables import Table
from kanon.studio.jobs import runner
from kanon.studio.session import state
from kanon.studio.session.parts import EarlierRelease
from kanon.studio.session.state import bound
from kanon.studio.session.text import plain
from kanon.studio.session.work import Request, Work
from kanon.studio.widgets.numbers import Number
from kanon.studio.widgets.result import in_columns, name_in_files

_how = Sections(__file__)


def _collected() -> Work:
    made = state.work().kept.made
    while made:
        work = state.work()
        state.put(
            work.with_parts(replace(work.kept, handed=with_handed(work.kept.handed, made.pop(0))))
        )
    return state.work()


def together(settings: str, done: Run) -> None:
    """What the release on screen and earlier ones reveal together; nothing if it is the first."""
    work = _collected()
    now = EarlierRelease.of(settings, name_in_files(done.prepared.plan), done)
    before = [each for each in work.kept.handed if each.key != now.key]
    if not before:
        return
    names = {each.key: f"{each.title} ({place})" for place, each in enumerate(before, 1)}
    others = [each for each in before if each.counts]
    out = len(before) < len(work.kept.handed)
    with st.container(border=True, key="together"):
        st.markdown(_how_often(len(work.kept.handed), len(others) + out, out, len(others)))
        if others:
            called = [*(names[each.key] for each in others), "this release"]
            _findings(work, [*others, now], called)
        counting = f"Releases that count: {len(others)} of {len(before)} others"
        with st.expander(counting):
            _boxes(work, before, names)
        with st.expander("How releases are combined"):
            st.markdown(_how("combined"))


def _how_often(released: int, counting: int, this: bool, others: int) -> str:
    """How often the table was released (``this``: with the one on screen), and how many count."""
    times = one_or_many(released, "once", "{count} times")
    often = f"You have released this table **{times}** in this session"
    if this:
        often = f"{often}, as it is here among them"
    if counting != released:
        often = f"{often}; {counted(counting, 'of these counts', 'of these count')}"
    if not others:
        who = "Nobody holds another release."
    elif this:
        who = "One who holds all of them can put them together:"
    else:
        which = "that release" if others == 1 else "those releases"
        who = f"One who holds {which} and this one can put them together:"
    return f"{often}. {who}"


def _findings(work: Work, handed: Sequence[EarlierRelease], names: Sequence[str]) -> None:
    releases, key = [each.release for each in handed], key_of_all(handed)
    if work.findings.together is not None and work.findings.together[0] == key:
        _said(work, work.findings.together[1], names)
        return
    if not at_once(releases, work.table.records):
        st.button(
            "Work out what they say together",
            icon=":material/join_inner:",
            disabled="combining" in work.running,
            on_click=runner.run,
            args=(combination_request, releases, key),
            key="combine",
            help="The table has to be counted once more, and is large: it may take a while.",
        )
        return
    found = state.remembered("together", key, lambda: _combined(work, releases))
    if isinstance(found, str):
        st.error(plain(found), icon=":material/error:")
    else:
        _said(work, found, names)


def combination_request(work: Work, releases: Sequence[Release], key: str) -> Request:
    given = [{**vars(each), "plan": each.plan.model_dump(mode="json")} for each in releases]
    arguments, then = (given, work.table.records), partial(_with_together, key)
    return Request("combining", worked_out, arguments, then, limit="engine_minutes")


def _with_together(key: str, work: Work, found: CombinedReleases) -> Work:
    return work.with_parts(replace(work.findings, together=(key, found)))


def _combined(work: Work, releases: Sequence[Release]) -> CombinedReleases | str:
    try:
        return combine(releases, work.table.records)
    except KanonError as error:
        return error.sentence


def _said(work: Work, found: CombinedReleases, names: Sequence[str]) -> None:
    in_columns(_numbers(work, found))
    st.caption(plain(f"{found.about_order}."))
    broken = [one.said(names) for one in found.asked if not one.holds]
    if broken:
        unmet = "With all rows lined up they would not meet what was required of each."
        if found.lined_up:
            unmet = "Together they do not meet what was required of each."
        st.warning(
            " ".join([unmet, *(f"{plain(sentence)}." for sentence in broken)]),
            icon=":material/warning:",
        )
    else:
        st.caption("Together they still meet what was required of each.")
    least = min((k for k in found.alone if k is not None), default=None)
    if least is not None and found.together.min_k == least:
        st.caption("No group is smaller than the smallest class of a single release.")
    if found.undone:
        st.warning(
            f"{plain(listing(found.undone))}: generalised or left out in one release, shown "
            "as it is in another.",
            icon=":material/visibility:",
        )


def _numbers(work: Work, found: CombinedReleases) -> list[Number]:
    whole, alone = found.together, [k for k in found.alone if k is not None]
    numbers = [
        Number(
            "Smallest group ↑ better",
            "no group" if whole.min_k is None else records_said(whole.min_k),
            "The fewest records that look alike in all releases with all rows lined up. The "
            f"smallest class of a single one: {thin(min(alone, default=0))}.",
        ),
        Number(
            "Like no other ↓ better",
            f"{thin(whole.unique_records)} of {thin(whole.n_records)}",
            "Records that look like no other one with all rows lined up.",
        ),
    ]
    columns = {one.column: one for one in found.learnt}
    one = columns.get(work.focus or "", next(iter(columns.values()), None))
    if one is None or one.values is None:
        return numbers
    return [
        *numbers,
        Number(
            "Certain, lined up ↓ better",
            records_said(one.lined_up),
            f"Records whose {plain(one.column)} is certain with all rows lined up, although "
            "no single release tells it.",
        ),
        Number(
            "Certain, by classes ↓ better",
            records_said(one.certain),
            f"Records whose {plain(one.column)} is certain without the order of the rows, by "
            "the person's class in each release and the cells that two releases show. In the "
            f"worst case {counted(one.values, 'value')} and at "
            f"most {counted(one.records or 0, 'row')} remain "
            "possible.",
        ),
    ]


def _boxes(work: Work, before: Sequence[EarlierRelease], names: Mapping[str, str]) -> None:
    """A box per release, to leave out one that was given to nobody."""
    st.caption("Leave out a release that was never given to anybody.")
    for each in before:
        box = f"handed-{work.version}-{each.key[:12]}"
        blurred = ", ".join(each.release.plan.roles.quasi_identifiers)
        st.checkbox(
            plain(f"{names[each.key]}, of {blurred}"), **bound(box, each.counts, _count, each.key)
        )


def _count(key: str, value: Any) -> None:
    counts = bool(value)
    changed = tuple(
        replace(each, counts=counts) if each.key == key else each
        for each in state.work().kept.handed
    )
    state.change(replace(state.work().kept, handed=changed))


_CLASSES_AT_ONCE, _RECORDS_AT_ONCE = 200_000, 300_000
"""What is worked out while a page waits, about two seconds; the rest is the worker's."""


def with_handed(
    handed: Sequence[EarlierRelease], one: EarlierRelease
) -> tuple[EarlierRelease, ...]:
    """The releases handed out, with one more; one that was handed out before counts again."""
    return (*(each for each in handed if each.key != one.key), one)


def key_of_all(releases: Sequence[EarlierRelease]) -> str:
    return "|".join(each.key for each in releases)


def at_once(releases: Sequence[Release], table: Table) -> bool:
    """Whether releases are combined while a page waits: few classes, and no engine to be asked."""
    few = sum(each.recoding.classes.n_classes for each in releases) <= _CLASSES_AT_ONCE
    records = table.n_records * math.comb(len(releases), 2)  # which are compared pair by pair
    return few and not table.in_engine and records <= _RECORDS_AT_ONCE


def worked_out(
    progress: Progress, given: Sequence[dict[str, Any]], table: Table
) -> CombinedReleases:
    """What releases say together, in a worker, to which a plan is sent as its content."""
    progress(0, "Laying the releases side by side")
    plans = [{"plan": Plan.from_content(each["plan"])} for each in given]
    return combine([Release(**each | plan) for each, plan in zip(given, plans, strict=True)], table)
