"""A chart with the numbers behind it, to download."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from kanon.base.language import say
from kanon.charts.dark import dark
from kanon.sources.writing import table_bytes
from kanon.studio.widgets.files import file_button


def chart(figure: go.Figure, key: str, **also: Any) -> Any:
    """Draw a chart, on the paper of the page's theme.

    Parameters
    ----------
    also
        What else ``st.plotly_chart`` takes.
    """
    if on_dark_paper():
        figure = dark(figure)
    return st.plotly_chart(figure, theme=None, config={"displayModeBar": False}, key=key, **also)


def on_dark_paper() -> bool:
    """Whether charts stand on dark paper here, as the page does."""
    return st.context.theme.type == "dark"


def picture(
    figure: go.Figure,
    numbers: Callable[[], pd.DataFrame],
    name: str,
    about: str,
    original: bool = False,
) -> None:
    """Draw a chart and, under it, a small link to its numbers.

    Parameters
    ----------
    numbers
        Makes the table behind it, when it is asked for.
    name
        What the chart shows, in one word; also its key on the page.
    about
        All that decides the numbers; it goes into the fingerprint of the file's name.
    original
        See :func:`kanon.studio.widgets.files.file_button`.
    """
    chart(figure, name)
    data_button(say("Data"), numbers, name, about, kind="tertiary", original=original)


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
        help=say("The numbers behind the picture, as CSV."),
    )
