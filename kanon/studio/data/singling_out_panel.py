"""Which columns single people out together: the panel of the page Data."""

from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st

from kanon.base.formatting import Counted, counted, one_or_many, percent
from kanon.base.sentences import number_said
from kanon.charts.exposure import contributions_chart, contributions_table, sets_table
from kanon.schema import Role
from kanon.sources.singling_out import SinglingOut, SmallestSet
from kanon.studio.data.singling_out import (
    KS,
    SHARES,
    SIZES,
    SinglingView,
    about_search,
    can_be_searched,
    can_be_undone,
    k_used,
    singling_out_request,
    to_change,
    with_sets_of,
    without_last,
)
from kanon.studio.jobs import runner
from kanon.studio.session import state
from kanon.studio.session.changed_settings import changed_since
from kanon.studio.session.state import bound
from kanon.studio.session.text import plain
from kanon.studio.session.work import Work
from kanon.studio.widgets.picture import PictureSettings, begun_with, data_button, picture
from kanon.studio.widgets.result import fade

_AT_ONCE = 8  # so many sets have a line of their own; the file has all of them


def show_singling(work: Work) -> None:
    title = "Which columns single people out together?"
    open_now = "singling" in work.running or work.view(SinglingView).found is not None
    with st.expander(title, icon=":material/person_search:", expanded=open_now):
        st.markdown(
            "No column has to be rare by itself: there may be one person only of this age "
            "with this job in this town. Here all columns but identifiers are tried "
            "together, whatever their roles, and the smallest sets are listed that are "
            "enough."
        )
        if not can_be_searched(work):
            st.info(
                f"It takes two {_counted(work)}, and a column that is not an identifier, to look "
                "for it."
            )
            return
        _asked(work)
        if work.table.dropped:
            st.caption(
                one_or_many(
                    work.table.dropped,
                    "Not counted is {count} record that lacks a quasi-identifier, as no run "
                    "releases it.",
                    "Not counted are {count} records that lack a quasi-identifier, as no run "
                    "releases them.",
                )
            )
        found = work.view(SinglingView).found
        if found is not None:
            _found(work, found)


def _asked(work: Work) -> None:
    version, view, of = work.version, work.view(SinglingView), _counted(work)
    share, k, size, button = st.columns(4, vertical_alignment="bottom")
    with share:
        _choice(
            "share",
            f"Share of {of}, at least",
            SHARES,
            view.share,
            lambda one: f"{100 * one:g} %",
            "A set is listed if it singles out so many. 5 % is to begin with, and no norm.",
        )
    with k:
        _choice(
            "k",
            "Fewer alike than",
            [one for one in KS if one <= max(work.table.highest_k, min(KS))],
            k_used(work),
            lambda number: number_said(number, of),
            "A record is singled out if fewer share its values; 2: if no other one does."
            if of == "records"
            else (
                "A person is singled out if fewer share the values of one of the person's "
                "records; 2: if nobody else does."
            ),
        )
    with size:
        _choice(
            "size",
            "Columns in a set, at most",
            SIZES,
            view.size,
            str,
            "How much somebody may know of a person. More columns take longer.",
        )
    button.button(
        "Look for them",
        type="secondary" if view.found is not None else "primary",
        icon=":material/person_search:",
        disabled="singling" in work.running,
        on_click=runner.run,
        args=(singling_out_request,),
        key=f"singling-start-{version}",
        width="stretch",
    )


def _counted(work: Work) -> Counted:
    return "records" if work.table.person_counted is None else "persons"


def _choice(
    name: str, label: str, options: Any, value: object, shown: Callable[[Any], str], about: str
) -> None:
    field = bound(f"singling-{name}-{state.work().version}", value, name, into=SinglingView)
    st.selectbox(label, options, **field, format_func=shown, help=about)


def _found(work: Work, found: SinglingOut) -> None:
    outdated = work.view(SinglingView).about != about_search(work)
    since = partial(changed_since, work, "singling", about_search)
    fade("singling-found", "Look for them", outdated, "singling" in work.running, since)
    with st.container(key="singling-found"):
        st.markdown(_headline(found))
        if not found.sets:
            st.markdown(_and_more(found))
        if can_be_undone(work):
            st.button(
                "Undo: the roles as they were",
                icon=":material/undo:",
                on_click=_undo,
                key=f"singling-undo-{work.version}",
            )
        if found.sets:
            _lines(work, found)
            _contributions(work, found)
        st.caption(_limits(found))


def _headline(found: SinglingOut) -> str:
    share, n = percent(100 * found.share), number_said(found.number, found.of)
    columns = counted(found.size, "column")
    if not found.sets:
        return f"**No set of up to {columns} singles out {share} of the {n}.**"
    return one_or_many(
        len(found.sets),
        "**{count} smallest set of up to {columns} singles out {share} of the {all} or more.** "
        "↓ better",
        "**{count} smallest sets of up to {columns} each single out {share} of the {all} or "
        "more.** ↓ better",
        columns=columns,
        share=share,
        all=n,
    )


def _and_more(found: SinglingOut) -> str:
    """Where nothing was found: whether more columns would find something."""
    together = percent(100 * found.together / found.number)
    if found.found_with_more:
        return f"More columns do: all together single out {together}. Ask for larger sets."
    return (
        f"More columns do not either: all together single out {together}. A smaller share may be "
        "asked for."
    )


def _lines(work: Work, found: SinglingOut) -> None:
    contradicted = found.contradicted(work.table.roles)
    wrong = [name for name in contradicted if name not in work.table.undecided]
    undecided = [name for name in contradicted if name in work.table.undecided]
    if undecided:
        st.warning(
            f"Not decided, and in one of these sets: {plain(', '.join(undecided))}. Make it a "
            "quasi-identifier, or leave it out.",
            icon=":material/help:",
        )
    if wrong:
        st.warning(
            f"Called insensitive, and in one of these sets: {plain(', '.join(wrong))}. What "
            "is insensitive is released as it is.",
            icon=":material/warning:",
        )
    for place, one in enumerate(found.sets[:_AT_ONCE]):
        names, number, button = st.columns([5, 2, 4], vertical_alignment="center")
        names.markdown(f"**{plain(' + '.join(one.columns))}**")
        number.markdown(
            f"{number_said(one.singled_out, found.of)}, "
            f"{percent(100 * one.singled_out / found.number)}"
        )
        with button:
            _deed(work, found, one, f"singling-make-{work.version}-{place}")
    more = len(found.sets) - _AT_ONCE
    if more > 0:
        st.caption(counted(more, "more set is in the file.", "more sets are in the file."))
    data_button(
        "Data of all sets",
        lambda: sets_table(found),
        "singling-out-sets",
        work.view(SinglingView).about,
        kind="tertiary",
    )


def _deed(work: Work, found: SinglingOut, one: SmallestSet, key: str) -> None:
    if one.columns[0] in found.identifier_like:
        if work.table.roles[one.columns[0]] is Role.IDENTIFIER:
            st.caption("It is an identifier now.")
            return
        _button("Make it an identifier", one.columns, Role.IDENTIFIER, key)
        return
    columns = to_change(work, one)
    if columns:
        label = (
            f"Make {plain(columns[0])} a quasi-identifier"
            if len(columns) == 1
            else "Make them quasi-identifiers"
        )
        _button(label, columns, Role.QUASI_IDENTIFIER, key)
        return
    private = [name for name in one.columns if work.table.roles[name] is Role.SENSITIVE]
    if private:
        st.caption(
            f"{plain(', '.join(private))}: sensitive. A quasi-identifier instead, if others "
            "can know it."
        )
    else:
        st.caption("All are quasi-identifiers.")


def _button(label: str, columns: Any, role: Role, key: str) -> None:
    st.button(
        label,
        icon=":material/fingerprint:",
        on_click=_give,
        args=(tuple(columns), role),
        key=key,
        help="As if you had chosen the role below; it can be undone.",
    )


def _give(columns: tuple[str, ...], role: Role) -> None:
    state.attempt(lambda: with_sets_of(state.work(), columns, role))


def _undo() -> None:
    state.attempt(lambda: without_last(state.work()))


def _contributions(work: Work, found: SinglingOut) -> None:
    drawn = contributions_chart(found, work.table.roles)
    about = work.view(SinglingView).about
    picture(
        drawn, lambda: contributions_table(found), "singling-out-columns", about,
        PictureSettings.of_table(begun_with(work, "singling")),
    )  # fmt: skip


def _limits(found: SinglingOut) -> str:
    lines = [
        (
            "A set is smallest if it singles out enough, and would not without any one of its "
            "columns. Missing counts as a value."
        ),
        (
            "No finding is no proof: more columns, or what stands in other tables, may still "
            "single people out. Only you know what others can know."
        ),
    ]
    if not found.complete:
        lines.insert(
            0,
            f"Sets of more than {counted(found.size, 'column')} were left out, as they are too "
            "many: make columns identifiers that leave anyway.",
        )
    return " ".join(lines)
