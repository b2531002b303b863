"""The choices of one lesson or of two: algorithm, metric and strategy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from kanon.algorithms.catalogue import algorithm_named, algorithms, uses
from kanon.strategies import STRATEGIES
from kanon.studio.learn.lesson import metrics_of, strategies_of
from kanon.studio.learn.steps_state import StepsView
from kanon.studio.learn.two_lessons import choose
from kanon.studio.session.binding import bound
from kanon.studio.session.run_choices import metric_called
from kanon.studio.session.text import plain
from kanon.studio.session.work import Work
from kanon.studio.widgets.tie_rule import tie_rule


def algorithm_choice(view: StepsView, unlike: StepsView | None = None) -> None:
    """Choose the lesson's algorithm; for a second lesson, other than ``unlike`` comes first."""
    module = algorithm_named(view.algorithm)
    _choice(
        ("Algorithm told", "Second algorithm"), "algorithm",
        {name: one.CARD.title for name, one in algorithms().items()}, view.algorithm,
        [module.CARD.summary, module.CARD.guarantees],
        None if unlike is None else unlike.algorithm,
    )  # fmt: skip


def metric_choice(work: Work, view: StepsView, unlike: StepsView | None = None) -> None:
    """What counts costs; see :func:`algorithm_choice`."""
    names, metric = metrics_of(work, view)
    about = ["What counts as a loss.", metric_called(work, metric).card.summary]
    if not uses(view.algorithm, "metric"):
        about.append("This algorithm is not guided by it.")
    _choice(
        ("Costs by", "Second costs by"), "metric",
        {name: metric_called(work, name).card.title for name in names}, metric, about,
        None if unlike is None else metrics_of(work, unlike)[1],
    )  # fmt: skip


def strategy_choice(work: Work, view: StepsView, unlike: StepsView | None = None) -> None:
    """By what partners are chosen; see :func:`algorithm_choice`."""
    names, strategy = strategies_of(work, view)
    _choice(
        ("Partner by", "Second partner by"), "strategy",
        {name: STRATEGIES[name].title for name in names}, strategy,
        [
            "Which class a smallest one is merged with.",
            STRATEGIES[strategy].summary,
            tie_rule(),
        ],
        None if unlike is None else strategies_of(work, unlike)[1],
    )  # fmt: skip


def _choice(
    labels: tuple[str, str],
    field: str,
    titles: Mapping[str, str],
    value: str,
    said: Sequence[str],
    unlike: str | None,
) -> None:
    """A select box for one field of a lesson, or of the one beside it."""
    second = unlike is not None
    st.selectbox(
        labels[second],
        sorted(titles, key=lambda name: name == unlike),
        **bound(
            f"learn-{field}-beside" if second else f"learn-{field}",
            value,
            lambda value: choose(second, **{field: value}),
        ),
        format_func=lambda name: titles[name],
        help=plain(" ".join(said)),
    )
