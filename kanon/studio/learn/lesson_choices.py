"""The choices of one lesson or of two: algorithm, metric and strategy."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from kanon.algorithms.catalogue import algorithm_named, algorithms, uses
from kanon.strategies import STRATEGIES
from kanon.studio.learn.lesson import metrics_of, strategies_of
from kanon.studio.learn.state import StepsView
from kanon.studio.learn.two_lessons import choose
from kanon.studio.session.state import bound
from kanon.studio.session.text import plain
from kanon.studio.session.work import Work, metric_called
from kanon.studio.widgets.how import tie_rule


def draw_choices(
    work: Work, view: StepsView, places: Iterator[DeltaGenerator], unlike: StepsView | None = None
) -> None:
    second = unlike is not None

    def draw(
        label: str, field: str, titles: Mapping[str, str], value: str, other: str,
        said: Sequence[str],
    ) -> None:  # fmt: skip
        with next(places):
            st.selectbox(
                label,
                sorted(titles, key=lambda name: second and name == other),
                **bound(
                    f"learn-{field}-beside" if second else f"learn-{field}", value, field,
                    into=partial(choose, second),
                ),
                format_func=lambda name: titles[name],
                help=plain(" ".join(said)),
            )  # fmt: skip

    first, module = unlike or view, algorithm_named(view.algorithm)
    draw(
        "Second algorithm" if second else "Algorithm told", "algorithm",
        {name: one.CARD.title for name, one in algorithms().items()},
        view.algorithm, first.algorithm, [module.CARD.summary, module.CARD.guarantees],
    )  # fmt: skip
    names, metric = metrics_of(work, view)
    about = ["What counts as a loss.", metric_called(work, metric).card.summary]
    if not uses(view.algorithm, "metric"):
        about.append("This algorithm is not guided by it.")
    draw(
        "Second costs by" if second else "Costs by", "metric",
        {name: metric_called(work, name).card.title for name in names},
        metric, metrics_of(work, first)[1], about,
    )  # fmt: skip
    if uses(view.algorithm, "strategy"):
        names, strategy = strategies_of(work, view)
        summary = STRATEGIES[strategy].summary
        draw(
            "Second partner by" if second else "Partner by", "strategy",
            {name: STRATEGIES[name].title for name in names},
            strategy, strategies_of(work, first)[1],
            ["Which class a smallest one is merged with.", summary, tie_rule()],
        )  # fmt: skip
