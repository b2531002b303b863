"""The numbers under the picture, each with unit and direction, and how close to the least loss."""

import re
from collections.abc import Hashable, Sequence
from typing import NamedTuple

import streamlit as st

from kanon.base.formatting import count_noun, write_count, write_percent
from kanon.base.sentences import (
    describe_alteration,
    describe_cell_share,
    describe_class_numbers,
    describe_entropy_l,
    describe_smallest_class,
    describe_suppression,
    describe_total_variation,
    describe_unique,
    write_records_or_persons,
)
from kanon.cards import Card
from kanon.measures import alteration, at_root, generalised, minimum_k
from kanon.privacy import entropy_l_diversity, t_closeness
from kanon.privacy.model import rounded
from kanon.report.optimality_gap import QUICKLY, OptimalityGap, explain_no_bound
from kanon.run import Run
from kanon.studio.jobs import runner
from kanon.studio.jobs.lower_bounds import (
    BoundTask,
    list_missing_bounds,
    request_bounds,
    take_sample_bounds,
)
from kanon.studio.jobs.stored_table import ExposureNumbers
from kanon.studio.session import state
from kanon.studio.session.text import escape_markdown, trim_title


class Number(NamedTuple):
    """What ``st.metric`` shows, with its help text."""

    label: str
    value: str
    help: str

    @property
    def short(self) -> str:
        """The label up to its arrow, where there is no room for the rest.

        >>> Number("Classes ↑ better", "5", "").short
        'Classes ↑'
        """
        return re.sub(r"(.*[↑↓]).*", r"\1", self.label)


def list_release_numbers(run: Run) -> list[Number]:
    recoding, metric = run.recoding, run.prepared.plan.metric
    released = recoding.released
    raised, roots = generalised.value(recoding), at_root.value(recoding)
    least = int(released.hiding.min()) if released.n_classes else None
    suppressed_records, records = recoding.suppressed_records, recoding.classes.n_records
    suppressed = Number(
        "Suppressed ↓ better",
        write_percent(100 * suppressed_records / records),
        describe_suppression(suppressed_records, records),
    )
    return [
        _build_number(
            alteration.CARD,
            write_percent(run.alteration),
            describe_alteration(run.alteration, escape_markdown(metric.card.title)),
        ),
        _build_number(
            generalised.CARD, write_percent(raised), describe_cell_share(raised, "were changed")
        ),
        _build_number(
            at_root.CARD,
            write_percent(roots),
            describe_cell_share(roots, "are at the root, so they say nothing"),
        ),
        _build_number(
            minimum_k.CARD,
            "no class" if least is None else write_records_or_persons(least, released.of),
            describe_smallest_class(least),
        ),
        Number(
            "Classes ↑ better",
            write_count(recoding.n_classes),
            describe_class_numbers(recoding.n_classes, run.prepared.classes.n_classes),
        ),
        *([suppressed] if suppressed_records or run.prepared.plan.outliers else []),
    ]


def list_worst_numbers(run: Run, column: str | None) -> list[Number]:
    """How mixed the values of a sensitive column are in the worst class; empty for None.

    The numbers are never rounded to the better side.
    """
    released = run.recoding.released
    if column is None or not released.n_classes:
        return []
    sensitive, name = released.sensitive_named(column), escape_markdown(trim_title(column, 16))
    most = rounded(entropy_l_diversity.of_whole(sensitive), up=False)
    worst_l = rounded(float(entropy_l_diversity.each(sensitive).min()), up=False)
    worst_t = rounded(float(t_closeness.each(sensitive, "variational").max()), up=True)
    guessed, unlike = f"Worst l, {name}", f"Worst t, {name}"
    return [
        Number(
            f"{guessed} {entropy_l_diversity.CARD.arrow}",
            f"{worst_l} of {most}",
            describe_entropy_l(worst_l, most, escape_markdown(column)),
        ),
        Number(
            f"{unlike} {t_closeness.CARD.arrow}",
            f"{worst_t} of {1}",
            describe_total_variation(worst_t, escape_markdown(column)),
        ),
    ]


def list_table_numbers(seen: ExposureNumbers) -> list[Number]:
    exposure = seen.exposure
    return [
        Number(
            "k ↑ better" if exposure.of == "records" else "k in persons ↑ better",
            write_count(exposure.min_k),
            describe_smallest_class(exposure.min_k),
        ),
        Number(
            "Unique ↓ better",
            write_percent(100 * exposure.unique / exposure.number),
            describe_unique(exposure.unique, exposure.number, exposure.of),
        ),
        Number(
            "Classes",
            write_count(exposure.n_classes),
            f"The {write_count(exposure.n_records)} records form this many groups with identical "
            "quasi-identifiers.",
        ),
    ]


def describe_dropped(records: int) -> str:
    missing = "dropped for missing values."
    return count_noun(records, f"record was {missing}", f"records were {missing}")


def _build_number(card: Card, value: str, help_text: str) -> Number:
    return Number(f"{card.title} {card.arrow}", value, help_text)


_BAR_WAIT = 0.5  # seconds within which a quick bound is mostly there: then no bar is drawn

_SECONDS, _A_MINUTE = 1_000_000, 20_000_000
"""The effort up to which a close search takes seconds, or about a minute."""


def show_gap(run: Run, depends_on: Hashable, place: str) -> OptimalityGap | None:
    """Show how close a release is to the least loss, or offer to compute it. Call it last.

    It may wait for a moment. ``depends_on`` is all that decides the release.
    """
    if reason := explain_no_bound(run.prepared.classes):
        st.caption(escape_markdown(reason))
        return None
    wanted = state.get_or_compute(
        f"bound-{place}", depends_on, lambda: BoundTask.from_prepared(run.prepared)
    )
    find_quick_bounds([wanted])
    found_bound = state.get_session().findings.bounds.get(wanted.key)
    gap = None
    if found_bound is not None:
        gap = OptimalityGap.from_run(run, found_bound.bound)
        st.markdown(escape_markdown(gap.sentence), help=escape_markdown(gap.explanation))
    draw_bound_button([wanted], place)
    return gap


def find_quick_bounds(wanted: Sequence[BoundTask], most: int = QUICKLY) -> None:
    """Have bounds computed, unasked, that take an effort of at most ``most``."""
    work, keys = state.get_session(), tuple(bound.key for bound in wanted)
    known = take_sample_bounds(work, wanted)
    if known is not work:
        state.set_session(known)
        work = known
    lacking = list_missing_bounds(work, wanted, closely=False)
    if not lacking or "bound" in work.running or sum(bound.effort for bound in lacking) > most:
        return
    if state.is_first_time("bounds-begun", keys):  # once: one that failed would fail again
        runner.run_request(request_bounds, lacking, False, wait=_BAR_WAIT)
        runner.collect_jobs()
        if "bound" in state.get_session().running:
            st.rerun()  # so that it stands among what is under way


def draw_bound_button(wanted: Sequence[BoundTask], place: str) -> None:
    work = state.get_session()
    lacking = list_missing_bounds(work, wanted, closely=True)
    if not lacking:
        return
    label = "How close to the least possible?"
    if not list_missing_bounds(work, lacking, closely=False):
        label = "Search more closely"
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            label,
            icon=":material/vertical_align_bottom:",
            disabled="closer" in work.running or "bound" in work.running,
            on_click=runner.run_request,
            args=(request_bounds, lacking, True),
            help="Searches for a loss that no release with these hierarchies can go below, "
            "whatever tool makes it. The search does not change any release.",
            key=f"closer-{place}",
        )
        work_to_do = sum(bound.effort for bound in lacking)
        st.caption(
            "The search takes a few seconds."
            if work_to_do <= _SECONDS
            else "The search takes about a minute."
            if work_to_do <= _A_MINUTE
            else "The search takes several minutes; for a large table, ten or more.",
            width="content",
        )
