"""What all parts of the page Learn draw with: buttons, fields for files, small tables."""

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd
import streamlit as st
from pandas.io.formats.style import Styler

from kanon.studio.session import state
from kanon.studio.session.text import escape_markdown
from kanon.studio.widgets.controls import draw_upload_field
from kanon.teaching.exercises import MEGABYTES


def draw_icon_button(
    label: str, icon: str, key: str, press: Callable[..., None], *args: Any, **options: Any
) -> None:
    st.button(label, icon=f":material/{icon}:", key=key, on_click=press, args=args, **options)


def draw_json_field(label: str, key: str, take: Callable[[Any], object], **options: Any) -> None:
    def take_file() -> None:
        file = state.get_widget_value(key)
        if file:
            take(file)

    draw_upload_field(label, MEGABYTES, type="json", key=key, on_change=take_file, **options)


def draw_small_table(rows: pd.DataFrame, tints: Mapping[int, str] | None = None) -> None:
    """Draw a table of a few rows, each cell as the text that it is; ``tints`` colours rows."""
    names: list[str] = []
    for name in map(
        escape_markdown, rows.columns
    ):  # two may look the same, and a styler cannot have that
        names.append(name + "\u200b" * sum(other.rstrip("\u200b") == name for other in names))
    cells = [[escape_markdown(cell) for cell in row] for row in rows.to_numpy().tolist()]
    texts = pd.DataFrame(cells, columns=names)
    colours = tints or {}

    def tint_row(row: pd.Series) -> list[str]:
        colour = colours.get(int(str(row.name)))
        return [f"background-color: {colour}" if colour else ""] * len(row)

    styler: Styler = texts.style.apply(tint_row, axis=1)
    st.table(styler, hide_index=True, width="content")
