"""A result: its curve over k, its numbers, the tables before and after."""

from dataclasses import replace
from typing import NamedTuple

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from kanon.base.formatting import one_or_many, percent, thin
from kanon.charts.curves import alteration_curve
from kanon.measures.along import Curves, Points
from kanon.report.explanations import what_leaves
from kanon.run import Run
from kanon.studio.anonymise.downloads import downloads
from kanon.studio.jobs.stored_table import preview_rows
from kanon.studio.session import state
from kanon.studio.session.findings import Result
from kanon.studio.session.text import plain
from kanon.studio.session.work import Work
from kanon.studio.widgets.how import (
    how_algorithm,
    how_alteration,
    how_bound,
    what_is_proved,
    what_was_checked,
    which_levels,
    which_parts,
)
from kanon.studio.widgets.numbers import how_close, of_release, said_dropped, worst
from kanon.studio.widgets.picture import PictureSettings, picture
from kanon.studio.widgets.remarks import remarked_release
from kanon.studio.widgets.requirements import others_of, summary
from kanon.studio.widgets.result import choose_k, release_shown
from kanon.studio.widgets.tables import before_and_after, preview_height

NOTICEABLE = 0.1  # percentage points of alteration; by less, a release is not called cheaper


def show_release(work: Work, result: Result, stale: bool) -> None:
    k, done = release_shown(work, result)
    _curve(work, result, k)
    close = _numbers(work, result, done, k)
    remarked_release(result, done, k)
    _tables(result, done, k)
    downloads(work, result, done, k, stale)
    with st.expander("How it is computed"):
        st.markdown(how_alteration(done))
        st.markdown(how_algorithm(done.prepared.plan))
        least = st.container()
    with close:
        gap = how_close(done, (result, k), "anonymise")
    if gap is not None:
        least.markdown(how_bound(gap))


def _curve(work: Work, result: Result, k: int) -> None:
    plan, curves = result.prepared.plan, result.solution.curves
    if curves is not None:
        also, of = summary(others_of(plan)), result.prepared.classes.of
        picture(
            alteration_curve(curves, plan.metric, k, also, of), None, "alteration-curve", "",
            PictureSettings.of_run(work, result.prepared, k),
        )  # fmt: skip
    choose_k(work, result, k, "run-k")
    better = cheaper(curves, plan.metric.name, k)
    if better is not None:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.info(better.sentence(k), icon=":material/savings:")
            st.button(
                f"Show k = {thin(better.k)}",
                on_click=lambda: state.change(replace(state.work().settings, k=better.k)),
                key="cheaper",
            )


def _numbers(work: Work, result: Result, done: Run, k: int) -> DeltaGenerator:
    columns = [each.name for each in done.prepared.classes.sensitive]
    focus = work.focus if work.focus in columns else next(iter(columns), None)
    lost = of_release(done)
    for place, number in zip(st.columns(len(lost)), lost, strict=True):
        # Six beside each other have no room for the word; the arrow stays.
        label = number.label if len(lost) < 6 else number.short
        place.metric(label, number.value, help=number.help)
    *places, text = st.columns([*([1] * len(worst(done, focus))), 3])
    for place, number in zip(places, worst(done, focus), strict=True):
        # A column with a long name leaves no room for the word; the arrow stays.
        label = number.label if len(number.label) <= 24 else number.short
        place.metric(label, number.value, help=number.help)
    text.markdown(what_was_checked(done))
    text.markdown(state.remembered("leaves", (result, k), lambda: plain(what_leaves(done))))
    more = [which_levels(done), which_parts(done.about_parts), what_is_proved(done.about_gap)]
    for said in filter(None, more):
        text.markdown(said)
    close = text.container()
    text.page_link(
        "pages/privacy.py",
        label="What can still be found out about someone?",
        icon=":material/visibility:",
    )
    return close


def _tables(result: Result, done: Run, k: int) -> None:
    before, after = state.remembered("preview", (result, k), lambda: before_and_after(done))
    left, right = st.columns(2)
    left.subheader("Before")
    left.dataframe(before, height=preview_height(done), hide_index=True, key="before")
    least, persons = done.recoding.min_k, done.recoding.released.min_persons
    right.subheader(
        "After"
        if least is None
        else one_or_many(least, "After, at least {count} record", "After, at least {count} alike")
        if persons is None
        else one_or_many(
            persons, "After, at least {count} person", "After, at least {count} people alike"
        )
    )
    right.dataframe(after, height=preview_height(done), hide_index=True, key="after")
    records = done.prepared.classes.n_records
    shown = preview_rows(records, len(done.prepared.plan.columns))
    dropped = done.prepared.dropped
    told = [
        f"The first {thin(shown)} of {thin(records)} records; the release holds all.",
        "Stronger blue: the cell rose further, so it says less.",
    ]
    if dropped:
        told.append(said_dropped(dropped))
    st.caption(" ".join(told))


class CheaperRelease(NamedTuple):
    k: int
    cost: float  # its alteration in percent
    here: float  # the alteration of the release that is shown

    def sentence(self, k: int) -> str:
        """The sentence about it where the release for ``k`` is shown.

        >>> print(CheaperRelease(100, 62.1, 100.0).sentence(5))
        k = 100 costs less here, 62.1 % instead of 100.0 %: its classes are larger than k = 5 asks \
for and meet the same other models, so its release is a valid answer for k = 5 too.
        """
        return (
            f"k = {thin(self.k)} costs less here, {percent(self.cost)} instead of "
            f"{percent(self.here)}: its classes are larger than k = {thin(k)} asks for and meet "
            f"the same other models, so its release is a valid answer for k = {thin(k)} too."
        )


def cheaper(curves: Curves | Points | None, metric: str, k: int) -> CheaperRelease | None:
    """The cheapest release for a larger k, if it costs noticeably less than the one for k.

    >>> import numpy as np
    >>> numbers = {"k": np.array([2, 5, 9]), "alteration_nllm": np.array([50.0, 100.0, 62.0])}
    >>> cheaper(Points(numbers), "nllm", 5)
    CheaperRelease(k=9, cost=62.0, here=100.0)
    >>> cheaper(Points(numbers), "nllm", 2) is None
    True
    """
    if not isinstance(curves, Points):
        return None
    ks, altered = curves.numbers["k"], curves.numbers[f"alteration_{metric}"]
    suppressed = curves.suppressed_at(ks.tolist())
    here = float(altered[ks == k][0])
    larger = (ks > k) & (suppressed <= suppressed[ks == k][0])
    if not larger.any():
        return None
    least = float(altered[larger].min())
    if here - least < NOTICEABLE:
        return None
    return CheaperRelease(int(ks[larger & (altered <= least + 1e-9)].max()), least, here)
