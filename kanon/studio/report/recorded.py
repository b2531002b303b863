"""What the operator's record says of earlier releases of this table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from kanon.base.formatting import write_number
from kanon.errors import SettingsError
from kanon.release.record import record_file, recorded
from kanon.studio.jobs.reporting import fingerprint_of_table
from kanon.studio.session import state
from kanon.studio.session.text import plain
from kanon.studio.session.work import Work


def earlier_releases(work: Work) -> None:
    """The lines about this table, the newest first; nothing where no record is kept."""
    if record_file() is None or work.table.records.in_engine:
        return
    table = state.remembered(
        "table-fingerprint", work.table.digest, lambda: fingerprint_of_table(work)
    )
    st.subheader("Releases of this table")
    try:
        lines = recorded(table)
    except SettingsError as error:
        st.error(plain(error.sentence), icon=":material/error:")
        return
    st.caption(
        "Whoever runs this server keeps a record of releases: who had one, when, and what "
        "was found; no cells and no names of columns. Shown are those of a table with the "
        "same bytes. A line is written when a download is made, whether or not the browser "
        "kept it."
    )
    if not lines:
        st.info("None is recorded yet.")
        return
    st.table([_row(line) for line in reversed(lines)])


def _row(line: Mapping[str, Any]) -> dict[str, str]:
    """A line as a row of the table."""
    return {
        "When (UTC)": plain(line["when"][:19].replace("T", " ")),
        "Who": plain(line["who"]),
        "By": plain(line["by"]),
        "k": str(line["k"]),
        "Required and reached": plain("; ".join(map(_said, line["models"]))),
        "Release (SHA-256)": (line["release"] or "–")[:12],
        "Plan (SHA-256)": line["plan"][:12],
    }


def _said(one: Mapping[str, Any]) -> str:
    level = "–" if one["found"] is None else write_number(one["found"], 6)
    return f"{one['model']} ({one['asked']}): {level}"
