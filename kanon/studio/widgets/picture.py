"""A chart with the numbers behind it, and itself as a picture, to download."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from kanon.charts.dark import dark
from kanon.sources.writing import table_bytes
from kanon.studio.session.picture_settings import PictureSettings
from kanon.studio.widgets.files import file_button, original_given, said_in_name

_FOLDER = Path(__file__).parent

Part = Sequence[tuple[str, ...]]
"""What lies above each other in a picture: keys of the page, and what within them if not all."""

_SVG = escape("The picture as SVG, which stays sharp: for a paper, or to edit.")
_PNG = escape("The picture as PNG: for slides.")

_files = st.components.v2.component(
    "kanon_picture",
    html=f"""<div class="files">
        <button data-form="svg" title="{_SVG}">SVG</button>
        <button data-form="png" title="{_PNG}">PNG</button>
        <span class="settings"></span>
    </div>""",
    css=(_FOLDER / "picture.css").read_text("utf-8"),
    js=(_FOLDER / "picture.js").read_text("utf-8"),
)


def chart(figure: go.Figure, key: str, **also: Any) -> None:
    """Draw a chart alone, on the paper of the page's theme."""
    if on_dark_paper():
        figure = dark(figure)
    st.plotly_chart(figure, theme=None, config={"displayModeBar": False}, key=key, **also)


def on_dark_paper() -> bool:
    """Whether charts stand on dark paper here, as the page does."""
    return st.context.theme.type == "dark"


def picture(
    figure: go.Figure,
    numbers: Callable[[], pd.DataFrame] | None,
    name: str,
    about: str,
    settings: PictureSettings,
    original: bool = False,
) -> None:
    """Draw a chart and, under it, small links: its numbers, and itself as a picture."""
    chart(figure, name)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if numbers is not None:
            data_button("Data", numbers, name, about, kind="tertiary", original=original)
        picture_links(name, settings, original)


def picture_links(
    name: str,
    settings: PictureSettings,
    original: bool = False,
    parts: Sequence[Part] = (),
) -> None:
    """The links that download what is drawn as SVG and as PNG: the browser makes both."""
    if original and not original_given():
        return
    k = "" if settings.k is None else f"-k{settings.k}"
    _files(
        key=f"{name}-picture",
        data={
            "parts": parts or [[(name,)]],
            "settings": settings.line,
            "file": f"kanon-{said_in_name(name, original)}{k}",
        },
        width="content",
    )


def data_button(
    label: str,
    numbers: Callable[[], pd.DataFrame],
    name: str,
    about: str,
    kind: str = "secondary",
    original: bool = False,
) -> None:
    """A button that downloads numbers as CSV; no label in it is run by a spreadsheet."""
    file_button(
        label,
        lambda: table_bytes(numbers(), "csv", neutral=True),
        name,
        "csv",
        about,
        f"{name}-data",
        original,
        type=kind,
        help="The numbers behind the picture, as CSV.",
    )
