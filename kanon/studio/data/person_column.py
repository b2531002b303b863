"""Which column says who a record is about: asked where roles are chosen, with figures."""

from dataclasses import replace

import streamlit as st

from kanon.base.formatting import counted, one_or_many, thin
from kanon.base.sentences import records_said
from kanon.schema import Role, tells_persons
from kanon.sources.memory import MemoryTable
from kanon.studio.session import state
from kanon.studio.session.state import bound
from kanon.studio.session.text import plain
from kanon.studio.session.work import Work


def person_choice(work: Work) -> None:
    """The choice among the identifiers, and what speaks for it; nothing where none can be one."""
    identifiers = [name for name, role in work.table.roles.items() if role is Role.IDENTIFIER]
    chosen = work.table.person
    if chosen is None and (not identifiers or not isinstance(work.table.records, MemoryTable)):
        return
    lost = [chosen] if chosen is not None and chosen not in identifiers else []
    none = "none: k counts records"
    key = f"person-{work.version}-{'|'.join(identifiers)}-{chosen}"
    st.selectbox(
        "Which column says who a record is about?",
        ["", *identifiers, *lost],
        **bound(
            key,
            chosen or "",
            lambda value: state.change(replace(state.work().table, person=value or None)),
        ),
        format_func=lambda name: name or none,
        help="If somebody has several records, five of them are no group of five people. With the "
        "column named, k counts people.",
        width=420,
    )
    if lost:
        st.error(
            f"{plain(lost[0])} is no identifier any more: make it one again, or choose "
            "another column.",
            icon=":material/error:",
        )
    elif chosen is not None:
        _told(work, chosen)
    else:
        _warned(work, repeating(work, identifiers))


def repeating(work: Work, identifiers: list[str]) -> str | None:
    """The identifier of most records that share their value with others; None if none does."""
    found = {}
    for name in identifiers:
        often = work.table.records.frequencies(name)
        several = often.distinct.filled - often.rarer_than(2)
        if several and tells_persons(often.distinct):
            found[name] = several
    return max(found, key=lambda name: found[name], default=None)


def _warned(work: Work, column: str | None) -> None:
    """That k counts records of which some may be of one person."""
    if column is None:
        return
    often = work.table.records.frequencies(column)
    st.warning(
        one_or_many(
            often.distinct.values,
            "{count} value of {column} covers {rows} rows: with records counted, each row would be "
            "another person. If the value is one person, name the column here.",
            "{count} values of {column} cover {rows} rows: with records counted, each row would be "
            "another person. If each value is one person, name the column here.",
            column=plain(column),
            rows=thin(often.distinct.filled),
        ),
        icon=":material/group:",
    )


def _told(work: Work, column: str) -> None:
    lacking = work.table.complete_records.incomplete([column])
    if lacking:
        st.error(
            one_or_many(
                lacking,
                "{count} record has no value in {column}, so nobody knows whom it is about: fill "
                "it in, or leave the record out of the table.",
                "{count} records have no value in {column}, so nobody knows whom they are about: "
                "fill them in, or leave these records out of the table.",
                column=plain(column),
            ),
            icon=":material/error:",
        )
        return
    people = work.table.complete_records.distinct_of(column).values
    have = counted(people, "person has", "persons have")
    st.caption(f"k counts people: {have} {records_said(work.table.complete_records.n_records)}.")
