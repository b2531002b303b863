"""The panel on Data about columns that single people out together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import streamlit as st

from kanon.base.fingerprint import compute_fingerprint
from kanon.base.formatting import CountedUnit, count_noun, write_percent
from kanon.base.progress import Progress
from kanon.base.sentences import write_records_or_persons
from kanon.charts.exposure import build_contributions_table, build_sets_table, draw_contributions
from kanon.schema import Role
from kanon.sources.singling_out import SinglingOut, SmallestSet, singling_out
from kanon.sources.tables import Table
from kanon.studio.jobs.durations import measure_column_sets
from kanon.studio.session import state
from kanon.studio.session.changed_settings import (
    SettingsChange,
    describe_change,
    is_still_current,
    list_changed_labels,
)
from kanon.studio.session.hierarchy_choices import set_roles
from kanon.studio.session.parts import Message, StateSection
from kanon.studio.session.state import attach_widget
from kanon.studio.session.text import escape_markdown
from kanon.studio.session.work import JobRequest, SessionState
from kanon.studio.widgets.picture import (
    PictureSettings,
    draw_data_button,
    get_start_state,
    show_picture,
)
from kanon.studio.widgets.progress import draw_start_button
from kanon.studio.widgets.result import fade_old_result

_AT_ONCE = 8  # so many sets are on screen; the file has all of them

SHARES = (0.001, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
"""The offered shares of records or persons that a set of columns must single out."""

KS = (2, 3, 5, 10)
SIZES = (1, 2, 3, 4, 5)


def list_searched_columns(work: SessionState) -> list[str]:
    return [name for name, role in work.table.roles.items() if role is not Role.IDENTIFIER]


def can_search(work: SessionState) -> bool:
    return bool(list_searched_columns(work)) and work.table.highest_k >= min(KS)


def get_search_k(work: SessionState) -> int:
    """The chosen k, or the largest that the table has the records or persons for."""
    most = max(work.table.highest_k, min(KS))
    return max(k for k in KS if k <= min(work.view(SinglingView).k, most))


def get_search_key(work: SessionState) -> str:
    view = work.view(SinglingView)
    settings = (
        tuple(list_searched_columns(work)),
        view.share,
        get_search_k(work),
        view.size,
        work.table.person_for_k,
        work.table.quasi_identifiers if work.table.dropped else [],
    )
    return compute_fingerprint(work.table.digest, work.version, *settings)


def search_in_worker(
    progress: Progress,
    table: Table,
    columns: Sequence[str],
    share: float,
    k: int,
    size: int,
    person: str | None,
) -> SinglingOut:
    def show_search_progress(fraction: float, _: str) -> None:
        progress(fraction, "Counting sets of columns")

    return singling_out(
        table, columns, share, k, size, progress=show_search_progress, person=person
    )


def build_singling_request(work: SessionState) -> JobRequest | None:
    """None if the table has no columns to search or too few records."""
    if not can_search(work):
        return None
    view = work.view(SinglingView)
    table = work.table
    arguments = (
        table.complete_records, list_searched_columns(work), view.share, get_search_k(work),
        view.size, table.person_for_k,
    )  # fmt: skip
    about, stays = get_search_key(work), table.records.in_engine

    def store_sets(work: SessionState, result: SinglingOut) -> SessionState:
        return work.replace_sections(replace(work.view(SinglingView), found=result, about=about))

    return JobRequest(
        "singling", search_in_worker, arguments, store_sets,
        limit="engine_minutes" if stays else "job_minutes",
    )  # fmt: skip


def set_role_of_columns(work: SessionState, columns: Sequence[str], role: Role) -> SessionState:
    new = set_roles(work, columns, role)
    view = replace(work.view(SinglingView), taken=describe_change(work, None, new.table))
    return new.replace_sections(view, Message(notice=f"{', '.join(columns)}: now {role.value}."))


def undo_roles(work: SessionState) -> SessionState:
    view = work.view(SinglingView)
    if view.taken is None or not is_still_current(work, view.taken):
        return work
    return view.taken.undo(work).replace_sections(replace(view, taken=None), Message())


@dataclass(frozen=True, eq=False)
class SinglingView(StateSection):
    share: float = 0.05  # See :func:`kanon.sources.singling_out.singling_out`
    k: int = 2
    size: int = 3
    # The last result, and a fingerprint of the table and settings that it is of.
    found: SinglingOut | None = None
    about: str = ""
    taken: SettingsChange | None = None  # the last change of roles, while it can be undone

    LABELS: ClassVar[Mapping[str, str]] = {
        "share": "Share singled out, at least",
        "k": "Fewer alike than",
        "size": "Columns in a set, at most",
    }

    def reset_after_reread(self) -> SinglingView:
        """Drop the result when the table is read again: its columns may be gone."""
        return replace(self, found=None, about="", taken=None)


# --- on the page ------------------------------------------------------------------------------
def show_singling(work: SessionState) -> None:
    title = "Which columns together single people out?"
    open_now = "singling" in work.running or work.view(SinglingView).found is not None
    with st.expander(title, icon=":material/person_search:", expanded=open_now):
        st.markdown(
            "No column has to be rare by itself: perhaps only one person of this age has this "
            "job in this town. This search tries all columns except identifiers in combination, "
            "whatever their roles. It lists the smallest sets that single people out."
        )
        if not can_search(work):
            st.info(
                f"The search needs at least two {_get_unit(work)} and a column that is not an "
                "identifier."
            )
            return
        _show_settings(work)
        if work.table.dropped:
            lacking = count_noun(work.table.dropped, "record lacks", "records lack")
            st.caption(
                f"{lacking} the value of a quasi-identifier. Such records are never released, so "
                "they are not counted."
            )
        result = work.view(SinglingView).found
        if result is not None:
            _show_sets(work, result)


def _show_settings(work: SessionState) -> None:
    version, view, unit = work.version, work.view(SinglingView), _get_unit(work)
    share, k, size, button = st.columns(4, vertical_alignment="bottom")
    with share:
        _choose_setting(
            "share",
            f"Share of {unit}, at least",
            SHARES,
            view.share,
            lambda option: f"{100 * option:g} %",
            f"A set is listed if it singles out at least this share of the {unit}. 5 % is a "
            "starting point, not a standard.",
        )
    with k:
        _choose_setting(
            "k",
            "Fewer alike than",
            [option for option in KS if option <= max(work.table.highest_k, min(KS))],
            get_search_k(work),
            lambda number: write_records_or_persons(number, unit),
            "A record is singled out if fewer records than this share its values. With 2, it is "
            "unique."
            if unit == "records"
            else (
                "A person is singled out if fewer people than this share the values of one of "
                "the person's records. With 2, the person is unique."
            ),
        )
    with size:
        _choose_setting(
            "size",
            "Columns in a set, at most",
            SIZES,
            view.size,
            str,
            "How many facts an attacker may know about a person. More columns take longer.",
        )
    n_columns = len(list_searched_columns(work))
    effort = measure_column_sets(work.table.records.n_records, n_columns, view.size)
    with button:
        draw_start_button(
            "singling",
            "Find them",
            build_singling_request,
            first=view.found is None,
            key=f"singling-{version}",
            effort=effort,
        )


def _get_unit(work: SessionState) -> CountedUnit:
    return "records" if work.table.person_for_k is None else "persons"


def _choose_setting(
    name: str, label: str, options: Any, value: object, write: Callable[[Any], str], about: str
) -> None:
    field = attach_widget(
        f"singling-{name}-{state.get_session().version}", value, name, into=SinglingView
    )
    st.selectbox(label, options, **field, format_func=write, help=about)


def _show_sets(work: SessionState, result: SinglingOut) -> None:
    outdated = work.view(SinglingView).about != get_search_key(work)
    since = partial(list_changed_labels, work, "singling", get_search_key)
    fade_old_result("singling-found", "Find them", outdated, "singling" in work.running, since)
    with st.container(key="singling-found"):
        st.markdown(_describe_sets(result))
        if not result.sets:
            st.markdown(_describe_larger_sets(result))
        if is_still_current(work, work.view(SinglingView).taken):
            st.button(
                "Undo this change of roles",
                icon=":material/undo:",
                on_click=lambda: state.set_session(undo_roles(state.get_session())),
                key=f"singling-undo-{work.version}",
            )
        if result.sets:
            _list_sets(work, result)
            show_picture(
                draw_contributions(result, work.table.roles),
                lambda: build_contributions_table(result), "singling-out-columns",
                work.view(SinglingView).about,
                PictureSettings.from_table(get_start_state(work, "singling")),
            )  # fmt: skip
        st.caption(_describe_limits(result))


def _describe_sets(result: SinglingOut) -> str:
    share, n = write_percent(100 * result.share), write_records_or_persons(result.number, result.of)
    columns = count_noun(result.size, "column")
    if not result.sets:
        return f"**No set of up to {columns} singles out {share} of the {n}.**"
    sets = count_noun(
        len(result.sets),
        f"smallest set of up to {columns} singles",
        f"smallest sets of up to {columns} each single",
    )
    return f"**{sets} out at least {share} of the {n}.** ↓ better"


def _describe_larger_sets(result: SinglingOut) -> str:
    together = write_percent(100 * result.together / result.number)
    if result.found_with_more:
        return f"Larger sets would: all columns together single out {together}. Allow larger sets."
    return f"Even all columns together single out only {together}. You can choose a smaller share."


def _list_sets(work: SessionState, result: SinglingOut) -> None:
    contradicted_columns = result.contradicted(work.table.roles)
    wrong = [name for name in contradicted_columns if name not in work.table.undecided]
    undecided_columns = [name for name in contradicted_columns if name in work.table.undecided]
    if undecided_columns:
        st.warning(
            "No role yet, but in one of these sets: "
            f"{escape_markdown(', '.join(undecided_columns))}. "
            "Make such a column a quasi-identifier, or leave it out of the release.",
            icon=":material/help:",
        )
    if wrong:
        st.warning(
            f"Insensitive, but in one of these sets: {escape_markdown(', '.join(wrong))}. "
            "Insensitive columns are released unchanged.",
            icon=":material/warning:",
        )
    for place, smallest_set in enumerate(result.sets[:_AT_ONCE]):
        names, number, button = st.columns([5, 2, 4], vertical_alignment="center")
        names.markdown(f"**{escape_markdown(' + '.join(smallest_set.columns))}**")
        number.markdown(
            f"{write_records_or_persons(smallest_set.singled_out, result.of)}, "
            f"{write_percent(100 * smallest_set.singled_out / result.number)}"
        )
        with button:
            _propose_role(work, result, smallest_set, f"singling-make-{work.version}-{place}")
    more = len(result.sets) - _AT_ONCE
    if more > 0:
        st.caption(count_noun(more, "more set is in the file.", "more sets are in the file."))
    draw_data_button(
        "Data of all sets",
        lambda: build_sets_table(result),
        "singling-out-sets",
        work.view(SinglingView).about,
        kind="tertiary",
    )


def _propose_role(
    work: SessionState, result: SinglingOut, smallest_set: SmallestSet, key: str
) -> None:
    names, roles = smallest_set.columns, work.table.roles
    insensitive = [name for name in names if roles.get(name) is Role.INSENSITIVE]
    if names[0] in result.identifier_like and roles[names[0]] is Role.IDENTIFIER:
        st.caption("It is an identifier now.")
    elif names[0] in result.identifier_like:
        _show_role_button("Make it an identifier", names, Role.IDENTIFIER, key)
    elif insensitive:  # which the finding contradicts
        label = (
            f"Make {escape_markdown(insensitive[0])} a quasi-identifier"
            if len(insensitive) == 1
            else "Make them quasi-identifiers"
        )
        _show_role_button(label, insensitive, Role.QUASI_IDENTIFIER, key)
    elif private := [name for name in names if roles[name] is Role.SENSITIVE]:
        st.caption(
            f"{escape_markdown(', '.join(private))}: sensitive. "
            "Make such a column a quasi-identifier if others might know it."
        )
    else:
        st.caption("All are quasi-identifiers.")


def _show_role_button(label: str, columns: Sequence[str], role: Role, key: str) -> None:
    def give_role() -> None:
        state.try_update(lambda: set_role_of_columns(state.get_session(), columns, role))

    st.button(
        label,
        icon=":material/fingerprint:",
        on_click=give_role,
        key=key,
        help="This is the same as choosing the role below. You can undo it.",
    )


def _describe_limits(result: SinglingOut) -> str:
    lines = [
        (
            "A set is smallest if it singles out enough, but no longer does once any one of its "
            "columns is left out. Missing counts as a value."
        ),
        (
            "Finding nothing proves nothing: more columns or other tables may still single "
            "people out. Only you can judge what others may know."
        ),
    ]
    if not result.complete:
        lines.insert(
            0,
            f"There are too many sets of more than {count_noun(result.size, 'column')}, "
            "so they were left out. Make columns identifiers if you do not release them.",
        )
    return " ".join(lines)
