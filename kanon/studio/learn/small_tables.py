"""Small tables on the page Learn: text that grows with the page, rows marked by colour and sign."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import streamlit as st
from pandas.io.formats.style import Styler

from kanon.studio.session.text import plain


def small_table(rows: pd.DataFrame, tints: Mapping[int, str] | None = None) -> None:
    """Draw a table of a few rows, each cell as the text that it is; ``tints`` colours rows."""
    names: list[str] = []
    for name in map(plain, rows.columns):  # two may look the same, and a styler cannot have that
        names.append(name + "\u200b" * sum(other.rstrip("\u200b") == name for other in names))
    cells = [[plain(cell) for cell in row] for row in rows.to_numpy().tolist()]
    shown = pd.DataFrame(cells, columns=names)
    colours = tints or {}

    def tinted(row: pd.Series) -> list[str]:
        colour = colours.get(int(str(row.name)))
        return [f"background-color: {colour}" if colour else ""] * len(row)

    styled: Styler = shown.style.apply(tinted, axis=1)
    st.table(styled, hide_index=True, width="content")
