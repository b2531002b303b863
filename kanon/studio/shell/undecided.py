"""Asks for the decisions that a release needs, with the choices beside them."""

import streamlit as st

from kanon.base.formatting import one_or_many
from kanon.errors import listing
from kanon.schema import Role
from kanon.studio.session import state
from kanon.studio.session.hierarchy_choices import with_missing, with_roles
from kanon.studio.session.table_state import Missing
from kanon.studio.session.text import plain
from kanon.studio.session.work import Work, missing_undecided, undecided_columns


def undecided(work: Work) -> None:
    undecided_roles(work)
    incomplete = missing_undecided(work)
    if incomplete:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.warning(
                one_or_many(
                    incomplete,
                    "{count} record lacks a quasi-identifier: what happens to it?",
                    "{count} records lack a quasi-identifier: what happens to them?",
                ),
                icon=":material/help:",
            )
            st.button(
                one_or_many(incomplete, "Drop {count} record", "Drop {count} records"),
                key="undecided-drop-records",
                on_click=_set_missing,
                args=("drop-records",),
            )
            st.button(
                "Keep them: count missing as a value of its own",
                key="undecided-as-value",
                on_click=_set_missing,
                args=("as-value",),
            )


def undecided_roles(work: Work) -> None:
    columns = undecided_columns(work)
    if not columns:
        return
    with st.container(horizontal=True, vertical_alignment="center", key="undecided-roles"):
        st.warning(
            one_or_many(
                len(columns),
                "No role yet: {columns}. Choose its role first; until then nothing can be "
                "released.",
                "No roles yet: {columns}. Choose their roles first; until then nothing can be "
                "released.",
                columns=plain(listing(columns, most=12)),
            ),
            icon=":material/help:",
        )
        st.button(
            one_or_many(len(columns), "Keep it as it is", "Keep them as they are"),
            key="undecided-keep",
            on_click=_set_roles,
            args=(Role.INSENSITIVE,),
            help="Insensitive: every value is released unchanged.",
        )
        st.button(
            one_or_many(len(columns), "Leave it out", "Leave them out"),
            key="undecided-leave",
            on_click=_set_roles,
            args=(Role.IDENTIFIER,),
            help="As an identifier: no release has the column.",
        )
        st.page_link("pages/data.py", label="Choose roles", icon=":material/table:")


def _set_roles(role: Role) -> None:
    state.attempt(lambda: with_roles(state.work(), undecided_columns(state.work()), role))


def _set_missing(missing: Missing) -> None:
    state.attempt(lambda: with_missing(state.work(), missing))
