"""What a table or its release may reveal, as one line that expands."""

from collections.abc import Sequence

import streamlit as st

from kanon.base.formatting import count_noun
from kanon.release.remark_kinds import KINDS, Remark, sort_by_kind
from kanon.release.remarks import check_table_remarks
from kanon.run import Run
from kanon.studio.session import state
from kanon.studio.session.findings import AnonymisationResult
from kanon.studio.session.text import escape_markdown
from kanon.studio.session.work import SessionState

_AT_ONCE = 8  # remarks of a kind that are written out, the most important first


def show_table_remarks(work: SessionState) -> None:
    key = (
        work.table.digest,
        work.version,
        tuple(work.table.roles.items()),
        work.settings.k,
        work.table.person,
        work.table.undecided,
    )
    remarks = state.get_or_compute(
        "table-remarks",
        key,
        lambda: [
            remark
            for remark in check_table_remarks(
                work.table.records, work.table.roles, work.settings.k, person=work.table.person
            )
            # Undecided columns are not released, so they do not pass through either.
            if remark.kind != "passes-through" or remark.column not in work.table.undecided
        ],
    )
    show_remarks(remarks, released=False)


def show_release_remarks(result: AnonymisationResult, run: Run, k: int) -> None:
    key = (result.prepared, k, run.prepared.plan.order)
    remarks = state.get_or_compute("remarks", key, lambda: run.remarks)
    show_remarks(remarks, released=True)


def show_remarks(remarks: Sequence[Remark], released: bool) -> None:
    if not remarks:
        return
    alike = sort_by_kind(remarks)
    titles = "; ".join(KINDS[kind].title.lower() for kind in alike)
    subject = "this release" if released else "these roles"
    title = f"{count_noun(len(remarks), 'remark')} on {subject}: {titles}"
    with st.expander(title, icon=":material/lightbulb:"):
        for kind, remarks_of_kind in alike.items():
            listed = [f"- {escape_markdown(remark.found)}" for remark in remarks_of_kind[:_AT_ONCE]]
            if len(remarks_of_kind) > _AT_ONCE:
                rest = ", ".join(remark.column for remark in remarks_of_kind[_AT_ONCE:])
                listed.append(
                    f"- {escape_markdown(f'This also applies, for fewer records, to: {rest}.')}"
                )
            title, advice = KINDS[kind]
            st.markdown(f"**{title}.** {escape_markdown(advice)}")
            st.markdown("\n".join(listed))
        if released:
            st.page_link("pages/data.py", label="Choose roles", icon=":material/table:")
