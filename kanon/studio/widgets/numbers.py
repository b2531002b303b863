"""The numbers under the picture, each with unit and direction, and how close to the least loss."""

import re
from collections.abc import Hashable, Sequence
from typing import NamedTuple

import streamlit as st

from kanon.base.formatting import counted, percent, thin
from kanon.base.sentences import (
    classes_told_apart,
    hard_to_guess,
    left_out,
    lost,
    nobody_alike,
    number_said,
    of_quasi_identifiers,
    smallest_class,
    unlike_the_table,
)
from kanon.cards import Card
from kanon.measures import alteration, at_root, generalised, minimum_k
from kanon.privacy import entropy_l_diversity, t_closeness
from kanon.privacy.model import rounded
from kanon.report.optimality_gap import QUICKLY, OptimalityGap, why_no_bound
from kanon.run import Run
from kanon.studio.jobs import runner
from kanon.studio.jobs.lower_bounds import BoundWanted, bounds_request
from kanon.studio.jobs.stored_table import ExposureNumbers
from kanon.studio.session import state
from kanon.studio.session.text import plain, shortened


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


def of_release(run: Run) -> list[Number]:
    recoding, metric = run.recoding, run.prepared.plan.metric
    released = recoding.released
    raised, roots = generalised.value(recoding), at_root.value(recoding)
    least = int(released.hiding.min()) if released.n_classes else None
    suppressed_records, records = recoding.suppressed_records, recoding.classes.n_records
    suppressed = Number(
        "Suppressed ↓ better",
        percent(100 * suppressed_records / records),
        left_out(suppressed_records, records),
    )
    return [
        _build_number(
            alteration.CARD,
            percent(run.alteration),
            lost(run.alteration, plain(metric.card.title)),
        ),
        _build_number(
            generalised.CARD, percent(raised), of_quasi_identifiers(raised, "were changed")
        ),
        _build_number(
            at_root.CARD,
            percent(roots),
            of_quasi_identifiers(roots, "are at the root, so they say nothing"),
        ),
        _build_number(
            minimum_k.CARD,
            "no class" if least is None else number_said(least, released.of),
            smallest_class(least),
        ),
        Number(
            "Classes ↑ better",
            thin(recoding.n_classes),
            classes_told_apart(recoding.n_classes, run.prepared.classes.n_classes),
        ),
        *([suppressed] if suppressed_records else []),
    ]


def worst(run: Run, column: str | None) -> list[Number]:
    """How mixed the values of a sensitive column are in the worst class; empty for None.

    The numbers are never rounded to the better side.
    """
    released = run.recoding.released
    if column is None or not released.n_classes:
        return []
    sensitive, name = released.sensitive_named(column), plain(shortened(column, 16))
    most = rounded(entropy_l_diversity.of_whole(sensitive), up=False)
    worst_l = rounded(float(entropy_l_diversity.each(sensitive).min()), up=False)
    worst_t = rounded(float(t_closeness.each(sensitive, "variational").max()), up=True)
    guessed, unlike = f"Worst l, {name}", f"Worst t, {name}"
    return [
        Number(
            f"{guessed} {entropy_l_diversity.CARD.arrow}",
            f"{worst_l} of {most}",
            hard_to_guess(worst_l, most, plain(column)),
        ),
        Number(
            f"{unlike} {t_closeness.CARD.arrow}",
            f"{worst_t} of {1}",
            unlike_the_table(worst_t, plain(column)),
        ),
    ]


def of_table(seen: ExposureNumbers) -> list[Number]:
    exposure = seen.exposure
    return [
        Number(
            "k ↑ better" if exposure.of == "records" else "k in persons ↑ better",
            thin(exposure.min_k),
            smallest_class(exposure.min_k),
        ),
        Number(
            "Unique ↓ better",
            percent(100 * exposure.unique / exposure.number),
            nobody_alike(exposure.unique, exposure.number, exposure.of),
        ),
        Number(
            "Classes",
            thin(exposure.n_classes),
            f"The {thin(exposure.n_records)} records form this many groups with identical "
            "quasi-identifiers.",
        ),
    ]


def said_dropped(records: int) -> str:
    missing = "dropped for missing values."
    return counted(records, f"record was {missing}", f"records were {missing}")


def _build_number(card: Card, value: str, help_text: str) -> Number:
    return Number(f"{card.title} {card.arrow}", value, help_text)


_BAR_WAIT = 0.5  # seconds within which a quick bound is mostly there: then no bar is drawn

_SECONDS, _A_MINUTE = 1_000_000, 20_000_000
"""The effort up to which a close search takes seconds, or about a minute."""


def how_close(run: Run, depends_on: Hashable, place: str) -> OptimalityGap | None:
    """Show how close a release is to the least loss, or offer to compute it. Call it last.

    It may wait for a moment. ``depends_on`` is all that decides the release.
    """
    if reason := why_no_bound(run.prepared.classes):
        st.caption(plain(reason))
        return None
    wanted = state.remembered(f"bound-{place}", depends_on, lambda: BoundWanted.of(run.prepared))
    found_soon([wanted])
    found_bound = state.work().findings.bounds.get(wanted.key)
    gap = None
    if found_bound is not None:
        gap = OptimalityGap.of(run, found_bound.bound)
        st.markdown(plain(gap.sentence), help=plain(gap.explanation))
    closer_button([wanted], place)
    return gap


def found_soon(wanted: Sequence[BoundWanted], most: int = QUICKLY) -> None:
    """Have bounds computed, unasked, that take an effort of at most ``most``."""
    work, keys = state.work(), tuple(bound.key for bound in wanted)
    distinct = {bound.key: bound for bound in wanted}.values()
    lacking = [bound for bound in distinct if bound.key not in work.findings.bounds]
    if not lacking or "bound" in work.running or sum(bound.effort for bound in lacking) > most:
        return
    if state.first_time("bounds-begun", keys):  # once: one that failed would fail again
        runner.run(bounds_request, lacking, False, wait=_BAR_WAIT)
        runner.collect()
        if "bound" in state.work().running:
            st.rerun()  # so that it stands among what is under way


def closer_button(wanted: Sequence[BoundWanted], place: str) -> None:
    work = state.work()
    known_bounds = work.findings.bounds
    distinct = {bound.key: bound for bound in wanted}.values()
    lacking = [
        bound
        for bound in distinct
        if bound.key not in known_bounds or not known_bounds[bound.key].closely
    ]
    if not lacking:
        return
    label = "How close to the least possible?"
    if all(bound.key in known_bounds for bound in lacking):
        label = "Search more closely"
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            label,
            icon=":material/vertical_align_bottom:",
            disabled="closer" in work.running or "bound" in work.running,
            on_click=runner.run,
            args=(bounds_request, lacking, True),
            help="Searches for a loss that no release with these hierarchies can stay below, "
            "whatever tool makes it. It changes no release.",
            key=f"closer-{place}",
        )
        work_to_do = sum(bound.effort for bound in lacking)
        st.caption(
            "The search takes some seconds."
            if work_to_do <= _SECONDS
            else "The search takes about a minute."
            if work_to_do <= _A_MINUTE
            else "The search takes minutes, ten or more for a large table.",
            width="content",
        )
