"""The presets of the page Compare: one press each, and the way back."""

from __future__ import annotations

import streamlit as st

from kanon.studio.compare.presets import PRESETS, as_before, can_go_back, with_preset
from kanon.studio.jobs import runner
from kanon.studio.jobs.comparison import comparison_request
from kanon.studio.session import state
from kanon.studio.session.work import Work


def presets_row(work: Work) -> None:
    """A button per preset, and what they leave out here."""
    with st.container(horizontal=True, vertical_alignment="center", key="compare-presets"):
        st.caption("Presets", width=100, help="Each sets the lines and the panels of the board.")
        for name, preset in PRESETS.items():
            st.button(
                preset.title,
                icon=":material/bolt:",
                disabled="comparison" in work.running,
                on_click=_take,
                args=(name,),
                key=f"preset-{name}",
                help=preset.about,
            )
        if can_go_back(work):
            st.button(
                "Undo the preset",
                type="tertiary",
                icon=":material/undo:",
                disabled="comparison" in work.running,
                on_click=_give_back,
                key="preset-undo",
                help="Lines and panels as they were before it.",
            )
    if not work.table.sensitive_columns:
        st.caption(
            "There is no sensitive column: presets leave out l, t, privacy against "
            "alteration and the strategies that look at one."
        )


def _take(name: str) -> None:
    """Set lines and panels, and have a worker make the runs that are lacking."""
    state.put(with_preset(state.work(), name))
    runner.run(comparison_request)


def _give_back() -> None:
    state.put(as_before(state.work()))
