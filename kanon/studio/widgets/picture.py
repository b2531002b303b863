"""A chart with the numbers behind it, and itself as a picture, to download."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from kanon import __version__
from kanon.algorithms.catalogue import short_title, uses
from kanon.base.formatting import CountedUnit, count_noun, write_count
from kanon.charts.dark import convert_to_dark
from kanon.errors import join_lines, list_names
from kanon.experiments.comparison import Comparison
from kanon.experiments.sweep import Configuration
from kanon.experiments.titles import get_configuration, is_guided
from kanon.metrics import Metric
from kanon.run import PreparedRun
from kanon.sources.writing import table_bytes
from kanon.studio.session.run_plan import list_further_models
from kanon.studio.session.work import SessionState
from kanon.studio.widgets.files import (
    draw_file_button,
    has_original_downloads,
    mark_original_in_name,
)

Guided = tuple[Configuration, Metric]  # a configuration, and the metric that it names


@dataclass(frozen=True)
class PictureSettings:
    line: str  # The line below it
    k: int | None = None  # The k that it is of; None where it is of none, or of many

    @classmethod
    def from_texts(
        cls,
        table: str,
        records: str,
        quasi_identifiers: Sequence[str],
        *more: str,
        k: int | None = None,
        counting: CountedUnit = "records",
    ) -> PictureSettings:
        """By what the picture is of.

        >>> made = PictureSettings.from_texts("t.csv", "6 records", ["age", "sex"], k=2)
        >>> made.line.split(" · ")[:-1]
        ['t.csv: 6 records', "quasi-identifiers: 'age', 'sex'", 'k = 2, counting records']
        """
        parts = [
            f"{join_lines(table)}: {records}",
            f"quasi-identifiers: {list_names(quasi_identifiers, 12)}" if quasi_identifiers else "",
            *more,
            "" if k is None else f"k = {write_count(k)}, counting {counting}",
            f"kanon {__version__}, {date.today().isoformat()}",
        ]
        return cls(" · ".join(filter(None, parts)), k)

    @classmethod
    def from_table(cls, work: SessionState, *more: str, k: int | None = None) -> PictureSettings:
        table = work.table
        counting: CountedUnit = "records" if k is None or not table.person_for_k else "persons"
        return cls.from_texts(
            table.title,
            _count_records(table.records.n_records, table.dropped),
            table.quasi_identifiers,
            *more,
            k=k,
            counting=counting,
        )

    @classmethod
    def from_run(
        cls, work: SessionState, prepared: PreparedRun, k: int | None = None
    ) -> PictureSettings:
        plan = prepared.plan
        led = describe_configurations([(get_configuration(plan), plan.metric)])
        return cls._build_from_classes(work, prepared, led, k=k)

    @classmethod
    def from_lattice(cls, work: SessionState, prepared: PreparedRun) -> PictureSettings:
        """Of the lattice, which no algorithm decides; a metric gives the loss at each node."""
        metric = f"metric: {join_lines(prepared.plan.metric.card.title)}"
        return cls._build_from_classes(work, prepared, metric, k=prepared.plan.k)

    @classmethod
    def from_comparison(
        cls, work: SessionState, comparison: Comparison, k: int | None = None
    ) -> PictureSettings:
        lines = [(line.configuration, line.guide) for line in comparison.lines]
        requirement = join_lines(comparison.requirement.rstrip("."))
        return cls.from_table(work, describe_configurations(lines), requirement, k=k)

    @classmethod
    def _build_from_classes(
        cls, work: SessionState, prepared: PreparedRun, *more: str, k: int | None
    ) -> PictureSettings:
        classes = prepared.classes
        records = _count_records(classes.n_records + prepared.dropped, prepared.dropped)
        if classes.persons is not None:
            records += f", {count_noun(classes.highest_k, 'person')}"
        models = [model.sentence for model in list_further_models(prepared.plan)]
        return cls.from_texts(
            work.table.title, records, classes.attributes, *more, *models,
            k=k, counting=classes.of,
        )  # fmt: skip


def get_start_state(work: SessionState, doing: str) -> SessionState:
    """The state when the last calculation of that name began; the current one without any."""
    then = work.made_with.get(doing)
    return work if then is None or then.version != work.version else then


def describe_configurations(lines: Iterable[Guided]) -> str:
    """Describe configurations, each value once.

    >>> from kanon.metrics import METRICS
    >>> some = [(Configuration(name), METRICS[name]) for name in ("ncp", "llm")]
    >>> describe_configurations(some)
    'algorithm: GAA; metrics: NCP, LLM; strategy: S1'
    """
    kinds = {"algorithm": "algorithms", "metric": "metrics", "strategy": "strategies"}
    kinds["tie seed"] = "tie seeds"
    names_by_kind: dict[str, dict[str, None]] = {kind: {} for kind in kinds}
    for configuration, metric in lines:
        names_by_kind["algorithm"][short_title(configuration.algorithm)] = None
        if is_guided(configuration):
            names_by_kind["metric"][join_lines(metric.card.title)] = None
        if uses(configuration.algorithm, "strategy"):
            scope = " (merged class)" if configuration.scope == "class" else ""
            names_by_kind["strategy"][configuration.strategy.upper() + scope] = None
        if configuration.tie_seed is not None and uses(configuration.algorithm, "tie_seed"):
            names_by_kind["tie seed"][str(configuration.tie_seed)] = None
    return "; ".join(
        f"{kind if len(names) == 1 else kinds[kind]}: {', '.join(names)}"
        for kind, names in names_by_kind.items()
        if names
    )


def _count_records(whole: int, dropped: int) -> str:
    share = f"{write_count(whole - dropped)} of " if dropped else ""
    return f"{share}{count_noun(whole, 'record')}"


_FOLDER = Path(__file__).parent

Part = Sequence[tuple[str, ...]]
"""What a picture stacks: keys of the page, with selectors within them if not all is wanted."""

_SVG = "The picture as SVG, which stays sharp: for a paper, or to edit."
_PNG = "The picture as PNG: for slides."
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


def draw_chart(figure: go.Figure, key: str, **also: Any) -> None:
    if is_dark_theme():
        figure = convert_to_dark(figure)
    st.plotly_chart(figure, theme=None, config={"displayModeBar": False}, key=key, **also)


def is_dark_theme() -> bool:
    return st.context.theme.type == "dark"


def show_picture(
    figure: go.Figure,
    numbers: Callable[[], pd.DataFrame] | None,
    name: str,
    depends_on: str,
    settings: PictureSettings,
    original: bool = False,
) -> None:
    draw_chart(figure, name)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if numbers is not None:
            draw_data_button("Data", numbers, name, depends_on, kind="tertiary", original=original)
        draw_picture_links(name, settings, original)


def draw_picture_links(
    name: str, settings: PictureSettings, original: bool = False, parts: Sequence[Part] = ()
) -> None:
    """Links that download the drawn picture as SVG and PNG; the browser makes both."""
    if original and not has_original_downloads():
        return
    k = "" if settings.k is None else f"-k{settings.k}"
    _files(
        key=f"{name}-picture",
        data={
            "parts": parts or [[(name,)]],
            "settings": settings.line,
            "file": f"kanon-{mark_original_in_name(name, original)}{k}",
        },
        width="content",
    )


def draw_data_button(
    label: str,
    numbers: Callable[[], pd.DataFrame],
    name: str,
    depends_on: str,
    kind: str = "secondary",
    original: bool = False,
) -> None:
    """A button that downloads numbers as CSV; a spreadsheet runs no label in it."""
    draw_file_button(
        label,
        lambda: table_bytes(numbers(), "csv", neutral=True),
        name,
        "csv",
        depends_on,
        f"{name}-data",
        original,
        type=kind,
        help="The numbers behind the picture, as CSV.",
    )
