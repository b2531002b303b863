"""What anyone learns from the release on screen together with earlier ones."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from kanon.base.formatting import choose_plural, count_noun, write_count
from kanon.base.how_texts import Sections
from kanon.base.progress import Progress
from kanon.base.sentences import write_records
from kanon.errors import KanonError, list_names
from kanon.plan import Plan
from kanon.release.common_classes import Release
from kanon.release.composition import CombinedReleases, combine_releases
from kanon.run import Run
from kanon.sources.tables import Table
from kanon.studio.jobs import runner
from kanon.studio.session import state
from kanon.studio.session.parts import EarlierRelease
from kanon.studio.session.state import attach_widget
from kanon.studio.session.text import escape_markdown
from kanon.studio.session.work import JobRequest, SessionState
from kanon.studio.widgets.numbers import Number
from kanon.studio.widgets.result import draw_in_columns, format_plan_for_file

_how = Sections(__file__)


def _collect_releases() -> SessionState:
    new = state.get_session().kept.made
    while new:
        kept = state.get_session().kept
        releases = add_earlier_release(kept.earlier_releases, new.pop(0))
        work = state.get_session().replace_sections(replace(kept, earlier_releases=releases))
        state.set_session(work)
    return state.get_session()


def show_combination(settings: str, run: Run) -> None:
    """What the release on screen and earlier ones reveal together; nothing for the first one."""
    work = _collect_releases()
    now = EarlierRelease.from_run(settings, format_plan_for_file(run.prepared.plan), run)
    before = [release for release in work.kept.earlier_releases if release.key != now.key]
    if not before:
        return
    names = {release.key: f"{release.title} ({place})" for place, release in enumerate(before, 1)}
    others = [release for release in before if release.counts]
    out = len(before) < len(work.kept.earlier_releases)
    with st.container(border=True, key="together"):
        st.markdown(
            _describe_times(len(work.kept.earlier_releases), len(others) + out, out, len(others))
        )
        if others:
            called_names = [*(names[release.key] for release in others), "this release"]
            _show_or_offer(work, [*others, now], called_names)
        with st.expander(f"Other releases that count: {len(others)} of {len(before)}"):
            _show_release_boxes(work, before, names)
        with st.expander("How releases are combined"):
            st.markdown(_how("combined"))


def _describe_times(times_released: int, counting: int, this: bool, others: int) -> str:
    times = choose_plural(times_released, "once", "{count} times")
    often = f"{'Including this one, you' if this else 'You'} have released this table **{times}**"
    often = f"{often} in this session"
    if counting != times_released:
        often = f"{often}; {count_noun(counting, 'of them counts', 'of them count')}"
    if not others:
        return f"{often}. No other release was given out."
    which = "that release" if others == 1 else "those releases"
    holds = "all of them" if this else f"{which} and this one"
    return f"{often}. Anyone who holds {holds} can combine them:"


def _show_or_offer(
    work: SessionState, releases_out: Sequence[EarlierRelease], names: Sequence[str]
) -> None:
    releases, key = (
        [release.release for release in releases_out],
        "|".join(release.key for release in releases_out),
    )
    if work.findings.together is not None and work.findings.together[0] == key:
        _show_combination(work, work.findings.together[1], names)
        return
    if not can_combine_at_once(releases, work.table.records):
        st.button(
            "Combine the releases",
            icon=":material/join_inner:",
            disabled="combining" in work.running,
            on_click=runner.run_request,
            args=(build_combination_request, releases, key),
            key="combine",
            help="The records of the table have to be counted again. The table is large, so this "
            "may take a while.",
        )
        return
    combination = state.get_or_compute("together", key, lambda: _try_to_combine(work, releases))
    if isinstance(combination, str):
        st.error(escape_markdown(combination), icon=":material/error:")
    else:
        _show_combination(work, combination, names)


def build_combination_request(
    work: SessionState, releases: Sequence[Release], key: str
) -> JobRequest:
    items = [{**vars(item), "plan": item.plan.model_dump(mode="json")} for item in releases]

    def store_combination(work: SessionState, combination: CombinedReleases) -> SessionState:
        return work.replace_sections(replace(work.findings, together=(key, combination)))

    arguments = (items, work.table.records)
    return JobRequest(
        "combining", combine_in_worker, arguments, store_combination, limit="engine_minutes"
    )


def _try_to_combine(work: SessionState, releases: Sequence[Release]) -> CombinedReleases | str:
    try:
        return combine_releases(releases, work.table.records)
    except KanonError as error:
        return error.sentence


def _show_combination(
    work: SessionState, combination: CombinedReleases, names: Sequence[str]
) -> None:
    draw_in_columns(_build_group_numbers(work, combination))
    st.caption(escape_markdown(f"{combination.order_sentence}."))
    broken = [
        requirement.describe_model(names)
        for requirement in combination.asked
        if not requirement.holds
    ]
    if broken:
        unmet = "With all rows lined up, the releases would not meet all their requirements."
        if combination.lined_up:
            unmet = "Together, the releases do not meet all their requirements."
        st.warning(
            " ".join([unmet, *(f"{escape_markdown(sentence)}." for sentence in broken)]),
            icon=":material/warning:",
        )
    else:
        st.caption("Together, the releases still meet all their requirements.")
    least = min((k for k in combination.smallest_classes if k is not None), default=None)
    if least is not None and combination.together.min_k == least:
        st.caption("No group is smaller than the smallest class of a single release.")
    if combination.undone:
        st.warning(
            f"{escape_markdown(list_names(combination.undone))}: generalised or left out in one "
            "release, but shown unchanged in another.",
            icon=":material/visibility:",
        )


def _build_group_numbers(work: SessionState, combination: CombinedReleases) -> list[Number]:
    whole, alone = combination.together, [k for k in combination.smallest_classes if k is not None]
    numbers = [
        Number(
            "Smallest group ↑ better",
            "no group" if whole.min_k is None else write_records(whole.min_k),
            "The fewest records that look alike in all releases, with all rows lined up. The "
            f"smallest class of a single release has {write_records(min(alone, default=0))}.",
        ),
        Number(
            "Like no other ↓ better",
            f"{write_count(whole.unique_records)} of {write_count(whole.n_records)}",
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
            write_records(learnt.lined_up),
            f"Records whose {escape_markdown(learnt.column)} is certain "
            "with all rows lined up, although no single release shows it.",
        ),
        Number(
            "Certain, by classes ↓ better",
            write_records(learnt.certain),
            f"Records whose {escape_markdown(learnt.column)} is certain even without the order of "
            "the rows, because of the person's class in each release and the cells that two "
            f"releases both show. In the worst case {count_noun(learnt.values, 'value')} and at "
            f"most {count_noun(learnt.records or 0, 'row')} remain possible.",
        ),
    ]


def _show_release_boxes(
    work: SessionState, before: Sequence[EarlierRelease], names: Mapping[str, str]
) -> None:
    st.caption("Untick a release that was never given to anyone.")
    for release in before:
        box = f"handed-{work.version}-{release.key[:12]}"
        blurred = ", ".join(release.release.plan.roles.quasi_identifiers)
        st.checkbox(
            escape_markdown(f"{names[release.key]}: quasi-identifiers {blurred}"),
            **attach_widget(box, release.counts, _set_counting, release.key),
        )


def _set_counting(key: str, value: Any) -> None:
    counts = bool(value)
    changed = tuple(
        replace(release, counts=counts) if release.key == key else release
        for release in state.get_session().kept.earlier_releases
    )
    state.update_sections(replace(state.get_session().kept, earlier_releases=changed))


_CLASSES_AT_ONCE, _RECORDS_AT_ONCE = 200_000, 300_000
"""What is combined while a page waits, about two seconds; a worker combines the rest."""


def add_earlier_release(
    handed: Sequence[EarlierRelease], latest: EarlierRelease
) -> tuple[EarlierRelease, ...]:
    return (*(release for release in handed if release.key != latest.key), latest)


def can_combine_at_once(releases: Sequence[Release], table: Table) -> bool:
    """Whether the page waits for it: few classes, and no engine to ask."""
    few = sum(release.recoding.classes.n_classes for release in releases) <= _CLASSES_AT_ONCE
    records = table.n_records * math.comb(len(releases), 2)  # which are compared pair by pair
    return few and not table.in_engine and records <= _RECORDS_AT_ONCE


def combine_in_worker(
    progress: Progress, items: Sequence[dict[str, Any]], table: Table
) -> CombinedReleases:
    progress(0, "Laying the releases side by side")
    plans = [{"plan": Plan.from_content(item["plan"])} for item in items]
    return combine_releases(
        [Release(**item | plan) for item, plan in zip(items, plans, strict=True)], table
    )
