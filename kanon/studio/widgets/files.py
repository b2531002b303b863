"""Names of downloads, and what is asked before one.

Streamlit tells large downloads apart by length, samples of the content, type and name, across all
sessions: with equal names one session could be handed another's file. So every name carries a
fingerprint of this session and of all that decides the content.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import streamlit as st

from kanon.base.language import say
from kanon.studio.session import state


def file_name(what: str, ending: str, about: str) -> str:
    """The name of a download: what it is, and a fingerprint.

    The table's own file name is left out: it can name a person.

    Parameters
    ----------
    what
        What the file is, in plain letters.
    """
    work = state.work()
    content = "|".join((state.salt(), work.table.digest, str(work.version), about, what, ending))
    return f"{what}-{hashlib.sha256(content.encode()).hexdigest()[:12]}.{ending}"


def content(make: Callable[[], bytes]) -> Callable[[], bytes]:
    """What makes a download, so that a failure logs no cell: its text stays here."""

    def made() -> bytes:
        try:
            return make()
        except Exception as error:  # noqa: BLE001  it is raised again, without its text
            raise RuntimeError(f"a download failed ({type(error).__name__})") from None

    return made


def neutral_choice(name: str, kind: str = "csv") -> bool:
    """A box for whether formulas are neutralised, where a file could have some.

    Parameters
    ----------
    name
        What is downloaded, for the key.
    """
    if kind not in ("csv", "tsv"):
        return False
    return st.checkbox(
        say("Neutralise formulas"),
        key=f"{name}-neutral",
        help=say(
            "A spreadsheet that opens a CSV runs cells that begin like a formula (= + - @ or a "
            "tab). This puts an apostrophe in front of them, so it alters those cells; numbers "
            "stay. In XLSX such cells are marked as text, always, and none is altered."
        ),
    )
