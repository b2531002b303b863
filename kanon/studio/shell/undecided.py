"""Asks for the decisions that a release needs, with the choices beside them."""

import streamlit as st

from kanon.base.formatting import choose_plural
from kanon.errors import list_names
from kanon.schema import Role
from kanon.studio.session import state
from kanon.studio.session.hierarchy_choices import set_missing_rule, set_roles
from kanon.studio.session.text import escape_markdown
from kanon.studio.session.work import SessionState, count_undecided_records, list_undecided_columns


def show_undecided(work: SessionState) -> None:
    show_undecided_roles(work)
    incomplete = count_undecided_records(work)
    if incomplete:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.warning(
                choose_plural(
                    incomplete,
                    "{count} record lacks a quasi-identifier: what happens to it?",
                    "{count} records lack a quasi-identifier: what happens to them?",
                ),
                icon=":material/help:",
            )
            st.button(
                choose_plural(incomplete, "Drop {count} record", "Drop {count} records"),
                key="undecided-drop-records",
                on_click=state.try_step,
                args=(set_missing_rule, "drop-records"),
            )
            st.button(
                "Keep them: count missing as a value of its own",
                key="undecided-as-value",
                on_click=state.try_step,
                args=(set_missing_rule, "as-value"),
            )


def show_undecided_roles(work: SessionState) -> None:
    columns = list_undecided_columns(work)
    if not columns:
        return
    with st.container(horizontal=True, vertical_alignment="center", key="undecided-roles"):
        st.warning(
            choose_plural(
                len(columns),
                "No role yet: {columns}. Choose its role first; until then nothing can be "
                "released.",
                "No roles yet: {columns}. Choose their roles first; until then nothing can be "
                "released.",
                columns=escape_markdown(list_names(columns, most=12)),
            ),
            icon=":material/help:",
        )
        st.button(
            choose_plural(len(columns), "Keep it as it is", "Keep them as they are"),
            key="undecided-keep",
            on_click=state.try_step,
            args=(set_roles, columns, Role.INSENSITIVE),
            help="Insensitive: every value is released unchanged.",
        )
        st.button(
            choose_plural(len(columns), "Leave it out", "Leave them out"),
            key="undecided-leave",
            on_click=state.try_step,
            args=(set_roles, columns, Role.IDENTIFIER),
            help="The column becomes an identifier: no release includes it.",
        )
        st.page_link("pages/data.py", label="Choose roles", icon=":material/table:")
