"""How long work takes, said before it starts: from its size and what was measured on this server.

An effort has units per kind of work: a kind is an algorithm or a job, a unit a simple measure of
size, such as a thousand distinct tuples. Nothing is written to disk.
"""

from collections import deque
from collections.abc import Mapping
from math import comb
from statistics import median_low

import streamlit as st

from kanon.algorithms.catalogue import algorithm_named, serves_every_k, uses
from kanon.algorithms.lattice_size import can_search_lattice, count_lattice_nodes
from kanon.algorithms.solution import FINISHED_K
from kanon.base.data_files import read_data
from kanon.base.formatting import write_count
from kanon.base.parallel import count_cores
from kanon.studio.session.table_state import TableState
from kanon.studio.session.work import SessionState

Effort = Mapping[str, float]

SECONDS: Mapping[str, float] = read_data(__file__)
"""Seconds per unit, before anything was measured here."""

# Seconds: a job that is shorter, or was expected to be much shorter, says more about the start of
# its worker than about its size.
_LEAST, _LEAST_EXPECTED = 1.0, 0.3
_NODES = 400  # so many nodes of a lattice take as long as a thousand tuples


class Durations:
    def __init__(self) -> None:
        self._measured: dict[str, deque[float]] = {}  # per kind the last seconds per unit

    def estimate(self, effort: Effort) -> float | None:
        """About how many seconds an effort takes; None where nothing is known of a part of it."""
        rates = {kind: self._get_rate(kind) for kind in effort}
        if not effort or None in rates.values():
            return None
        return sum((rates[kind] or 0.0) * size for kind, size in effort.items())

    def learn(self, effort: Effort, seconds: float) -> None:
        """Learn from finished work; all its kinds were faster or slower by the same factor."""
        expected = self.estimate(effort)
        if seconds < _LEAST or not all(effort.values()) or (expected is None and len(effort) > 1):
            return
        if expected is not None and expected < _LEAST_EXPECTED:
            return
        for kind, size in effort.items():
            rate = self._get_rate(kind) or 0.0
            rate = seconds / size if expected is None else rate * seconds / expected
            self._measured.setdefault(kind, deque(maxlen=5)).append(rate)

    def _get_rate(self, kind: str) -> float | None:
        measured = self._measured.get(kind)
        return median_low(measured) if measured else SECONDS.get(kind)


@st.cache_resource(show_spinner=False)
def get_durations() -> Durations:
    """What was measured on this server, by the work of all visitors."""
    return Durations()


def describe_duration(seconds: float | None) -> str:
    """A duration in words; empty for one that is short or not known.

    >>> [describe_duration(seconds) for seconds in (None, 2.9, 4.2, 23, 170, 700)]
    ['', '', 'about 4 s', 'about 25 s', 'about 3 min', 'more than 10 min']
    """
    if seconds is None or seconds < 3:
        return ""
    if seconds >= 600:
        return "more than 10 min"
    if seconds >= 90:
        return f"about {round(seconds / 60)} min"
    about = round(seconds) if seconds < 10 else 5 * round(seconds / 5)
    return f"about {write_count(about)} s"


# --- how much work there is -----------------------------------------------------------------
def measure_run(work: SessionState, algorithm: str, n_ks: int) -> dict[str, float]:
    """The effort of one run of an algorithm, for so many k where each is a run of its own."""
    table, family = work.table, algorithm_named(algorithm).CARD.family
    if (tuples := _count_thousands(table)) is None:
        return {}
    if work.settings.outliers and uses(algorithm, "outliers"):  # a dozen runs for each k
        return {f"{algorithm}, outliers": tuples * n_ks}
    if serves_every_k(algorithm, work.settings.level_bounds):
        if others := _name_others(work):  # each release is finished for them
            return {f"{algorithm}, {others}": tuples * n_ks}
        return {algorithm: tuples}
    if family == "clusters":
        return {algorithm: n_ks * tuples**2}
    trees = [*table.trees.values()]
    if not can_search_lattice(trees) and f"{algorithm}, wide" in SECONDS:
        return {f"{algorithm}, wide": n_ks * tuples}
    return {
        algorithm: n_ks
        * (tuples + (count_lattice_nodes(trees) / _NODES if family == "levels" else 0))
    }


def measure_anonymisation(work: SessionState) -> Effort:
    n_ks = 1
    run_per_k = work.settings.outliers or work.settings.level_bounds
    if serves_every_k(work.settings.algorithm, run_per_k):
        n_ks += sum(k <= work.table.highest_k for k in FINISHED_K)
    return measure_run(work, work.settings.algorithm, n_ks)


def measure_runs(work: SessionState, runs: Mapping[tuple[str, int], int]) -> Effort:
    """The effort of a comparison: how many runs there are by algorithm and number of k."""
    effort: dict[str, float] = {}
    at_once = min(count_cores(), sum(runs.values()) or 1)
    for (algorithm, n_ks), number in runs.items():
        for kind, size in measure_run(work, algorithm, n_ks).items():
            effort[kind] = effort.get(kind, 0.0) + number * size / at_once
    return effort


def measure_job(work: SessionState, kind: str, units: float = 1.0) -> Effort:
    """The effort of a job that takes as many units for each thousand distinct tuples."""
    tuples = _count_thousands(work.table)
    return {} if tuples is None else {kind: units * tuples}


def measure_column_sets(n_records: int, n_columns: int, largest: int) -> Effort:
    """The effort of counting all sets of columns up to a size."""
    sets = sum(comb(n_columns, size) for size in range(1, largest + 1))
    return {"singling": sets * n_records / 1000}


def _count_thousands(table: TableState) -> float | None:
    return None if table.n_tuples is None else max(table.n_tuples, 1) / 1000


def _name_others(work: SessionState) -> str:
    table = work.table
    if table.person_for_k is not None and table.highest_k < table.complete_records.n_records:
        return "persons"
    return "models" if work.settings.models else ""
