"""What anyone learns from the release on screen together with earlier ones."""

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


def _collect_releases() -> Work:
    new = state.work().kept.made
    while new:
        work = state.work()
        state.put(
            work.with_parts(replace(work.kept, handed=with_handed(work.kept.handed, new.pop(0))))
        )
    return state.work()


def together(settings: str, run: Run) -> None:
    """What the release on screen and earlier ones reveal together; nothing for the first one."""
    work = _collect_releases()
    now = EarlierRelease.of(settings, name_in_files(run.prepared.plan), run)
    before = [release for release in work.kept.handed if release.key != now.key]
    if not before:
        return
    names = {release.key: f"{release.title} ({place})" for place, release in enumerate(before, 1)}
    others = [release for release in before if release.counts]
    out = len(before) < len(work.kept.handed)
    with st.container(border=True, key="together"):
        st.markdown(_describe_times(len(work.kept.handed), len(others) + out, out, len(others)))
        if others:
            called_names = [*(names[release.key] for release in others), "this release"]
            _show_or_offer(work, [*others, now], called_names)
        with st.expander(f"Other releases that count: {len(others)} of {len(before)}"):
            _show_release_boxes(work, before, names)
        with st.expander("How releases are combined"):
            st.markdown(_how("combined"))


def _describe_times(times_released: int, counting: int, this: bool, others: int) -> str:
    times = one_or_many(times_released, "once", "{count} times")
    often = f"ou have released this table **{times}** in this session"
    often = f"Including this one, y{often}" if this else f"Y{often}"
    if counting != times_released:
        often = f"{often}; {counted(counting, 'of these counts', 'of these count')}"
    if not others:
        return f"{often}. No other release was given out."
    which = "that release" if others == 1 else "those releases"
    holds = "all of them" if this else f"{which} and this one"
    return f"{often}. Anyone who holds {holds} can combine them:"


def _show_or_offer(
    work: Work, releases_out: Sequence[EarlierRelease], names: Sequence[str]
) -> None:
    releases, key = [release.release for release in releases_out], key_of_all(releases_out)
    if work.findings.together is not None and work.findings.together[0] == key:
        _show_combination(work, work.findings.together[1], names)
        return
    if not at_once(releases, work.table.records):
        st.button(
            "Combine the releases",
            icon=":material/join_inner:",
            disabled="combining" in work.running,
            on_click=runner.run,
            args=(combination_request, releases, key),
            key="combine",
            help="The table must be counted once more. It is large, so this may take a while.",
        )
        return
    combination = state.remembered("together", key, lambda: _try_to_combine(work, releases))
    if isinstance(combination, str):
        st.error(plain(combination), icon=":material/error:")
    else:
        _show_combination(work, combination, names)


def combination_request(work: Work, releases: Sequence[Release], key: str) -> Request:
    items = [{**vars(item), "plan": item.plan.model_dump(mode="json")} for item in releases]
    arguments, then = (items, work.table.records), partial(_store_combination, key)
    return Request("combining", worked_out, arguments, then, limit="engine_minutes")


def _store_combination(key: str, work: Work, combination: CombinedReleases) -> Work:
    return work.with_parts(replace(work.findings, together=(key, combination)))


def _try_to_combine(work: Work, releases: Sequence[Release]) -> CombinedReleases | str:
    try:
        return combine(releases, work.table.records)
    except KanonError as error:
        return error.sentence


def _show_combination(work: Work, combination: CombinedReleases, names: Sequence[str]) -> None:
    in_columns(_build_group_numbers(work, combination))
    st.caption(plain(f"{combination.about_order}."))
    broken = [requirement.said(names) for requirement in combination.asked if not requirement.holds]
    if broken:
        unmet = "With all rows lined up, they would not meet the requirements of each release."
        if combination.lined_up:
            unmet = "Together they do not meet the requirements of each release."
        st.warning(
            " ".join([unmet, *(f"{plain(sentence)}." for sentence in broken)]),
            icon=":material/warning:",
        )
    else:
        st.caption("Together they still meet the requirements of each release.")
    least = min((k for k in combination.alone if k is not None), default=None)
    if least is not None and combination.together.min_k == least:
        st.caption("No group is smaller than the smallest class of a single release.")
    if combination.undone:
        st.warning(
            f"{plain(listing(combination.undone))}: generalised or left out in one "
            "release, shown unchanged in another.",
            icon=":material/visibility:",
        )


def _build_group_numbers(work: Work, combination: CombinedReleases) -> list[Number]:
    whole, alone = combination.together, [k for k in combination.alone if k is not None]
    numbers = [
        Number(
            "Smallest group ↑ better",
            "no group" if whole.min_k is None else records_said(whole.min_k),
            "The fewest records that look alike in all releases, with all rows lined up. The "
            f"smallest class of a single release has {records_said(min(alone, default=0))}.",
        ),
        Number(
            "Like no other ↓ better",
            f"{thin(whole.unique_records)} of {thin(whole.n_records)}",
            "Records that look like no other record, with all rows lined up.",
        ),
    ]
    columns = {learnt.column: learnt for learnt in combination.learnt}
    learnt = columns.get(work.focus or "", next(iter(columns.values()), None))
    if learnt is None or learnt.values is None:
        return numbers
    return [
        *numbers,
        Number(
            "Certain, lined up ↓ better",
            records_said(learnt.lined_up),
            f"Records whose {plain(learnt.column)} is certain with all rows lined up, although "
            "no single release shows it.",
        ),
        Number(
            "Certain, by classes ↓ better",
            records_said(learnt.certain),
            f"Records whose {plain(learnt.column)} is certain without the order of the rows, from "
            "the person's class in each release and the cells that two releases show. In the "
            f"worst case {counted(learnt.values, 'value')} and at "
            f"most {counted(learnt.records or 0, 'row')} remain possible.",
        ),
    ]


def _show_release_boxes(
    work: Work, before: Sequence[EarlierRelease], names: Mapping[str, str]
) -> None:
    st.caption("Untick a release that was never given to anyone.")
    for release in before:
        box = f"handed-{work.version}-{release.key[:12]}"
        blurred = ", ".join(release.release.plan.roles.quasi_identifiers)
        st.checkbox(
            plain(f"{names[release.key]}: quasi-identifiers {blurred}"),
            **bound(box, release.counts, _set_counting, release.key),
        )


def _set_counting(key: str, value: Any) -> None:
    counts = bool(value)
    changed = tuple(
        replace(release, counts=counts) if release.key == key else release
        for release in state.work().kept.handed
    )
    state.change(replace(state.work().kept, handed=changed))


_CLASSES_AT_ONCE, _RECORDS_AT_ONCE = 200_000, 300_000
"""What is combined while a page waits, about two seconds; a worker combines the rest."""


def with_handed(
    handed: Sequence[EarlierRelease], latest: EarlierRelease
) -> tuple[EarlierRelease, ...]:
    return (*(release for release in handed if release.key != latest.key), latest)


def key_of_all(releases: Sequence[EarlierRelease]) -> str:
    return "|".join(release.key for release in releases)


def at_once(releases: Sequence[Release], table: Table) -> bool:
    """Whether the page waits for it: few classes, and no engine to ask."""
    few = sum(release.recoding.classes.n_classes for release in releases) <= _CLASSES_AT_ONCE
    records = table.n_records * math.comb(len(releases), 2)  # which are compared pair by pair
    return few and not table.in_engine and records <= _RECORDS_AT_ONCE


def worked_out(
    progress: Progress, items: Sequence[dict[str, Any]], table: Table
) -> CombinedReleases:
    progress(0, "Laying the releases side by side")
    plans = [{"plan": Plan.from_content(item["plan"])} for item in items]
    return combine([Release(**item | plan) for item, plan in zip(items, plans, strict=True)], table)
