"""How far a release is at most from the least possible loss."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from kanon.algorithms.catalogue import needs_hierarchies
from kanon.algorithms.lattice_size import MOST_NODES, can_search_lattice, count_lattice_nodes
from kanon.algorithms.lower_bound import LowerBound, lower_bound
from kanon.algorithms.task import Task
from kanon.base.formatting import write_count
from kanon.base.progress import KeepingProgress, Progress, scale_progress
from kanon.classes import EquivalenceClasses
from kanon.errors import PlanError
from kanon.plan import Plan
from kanon.plan_parts import get_own_parameters
from kanon.run import PreparedRun, Run

QUICKLY, CLOSELY = 50_000_000, 200_000
"""The most nodes times classes for which a quick, and a close, bound takes about a second."""

_QUICK_SHARE = 0.1  # the share of the time of a close search after the quick one, about


@dataclass(frozen=True)
class OptimalityGap:
    """A lower bound, and how far a release is from it.

    The bound is rounded down and the gap up, so that both stay true.

    >>> print(OptimalityGap(4.684, 4.128, 5, "NLLM").sentence)
    No release with these hierarchies that keeps all records can lose less than 4.12 % at k = 5 \
(NLLM). This one loses 4.68 %, at most 14 % more than the least possible.
    >>> print(OptimalityGap(9.0, 4.128, 5, "NLLM").sentence.partition("). ")[2])
    This one loses 9.00 %, at most 2.2 times the least possible.
    """

    # the alteration of the release in percent; None if it shows ranges, for which no bound holds
    lost: float | None
    least: float  # the alteration in percent that no release with the hierarchies can go below
    k: int  # the fewest records of a class
    metric: str  # the title of the metric of both
    # whether the release suppresses records; if not, the bound is for releases that keep them all
    suppresses: bool = False
    weighted: bool = False  # whether column weights guide the algorithm; neither number counts them
    persons: bool = False  # whether k counts persons

    @classmethod
    def from_run(cls, run: Run, bound: LowerBound) -> OptimalityGap:
        lost = None if run.recoding.ranged else run.alteration
        return cls.at(run.prepared, lost, run.recoding.suppressed_records > 0, bound)

    @classmethod
    def at(
        cls, prepared: PreparedRun, lost: float | None, suppresses: bool, bound: LowerBound
    ) -> OptimalityGap:
        plan = prepared.plan
        weighted = any(weight != 1 for weight in prepared.attribute_weights)
        return cls(
            lost, bound.percent(suppresses), plan.k, plan.metric.card.title, suppresses, weighted,
            plan.person is not None,
        )  # fmt: skip

    @property
    def reached(self) -> bool:
        """Whether the release loses the least that is possible."""
        return self.lost is not None and self.lost <= self.least * (1 + 1e-12)

    @property
    def gap_text(self) -> str:
        """How far it is from the least possible at most, rounded up; "" if that is not known.

        >>> [OptimalityGap(lost, 4.0, 5, "NLLM").gap_text for lost in (4.0, 4.001, 4.5, 8.001)]
        ['the least possible', '0.1 % more', '13 % more', '2.1 times']
        >>> [OptimalityGap(lost, least, 5, "NLLM").gap_text for lost, least in ((4, 0), (None, 4))]
        ['', '']
        """
        if self.reached:
            return "the least possible"
        if self.lost is None or not self.least:
            return ""
        times = self.lost / self.least
        if times > 2:
            return f"{_format_up(times)} times"
        return f"{_format_up(100 * (times - 1))} % more"

    @property
    def bound_text(self) -> str:
        """The bound, rounded down.

        >>> [OptimalityGap(None, least, 5, "NLLM").bound_text for least in (4.0, 4.128, 0.0567)]
        ['4.00 %', '4.12 %', '0.056 %']
        """
        digits = _count_decimals(self.least)
        least = math.floor(_drop_rounding_noise(self.least * 10**digits)) / 10**digits
        return f"{least:.{digits}f} %"

    @property
    def sentence(self) -> str:
        """What no release can go below, and how far this one is from it at most."""
        holes = {"k": write_count(self.k), "metric": self.metric, "least": self.bound_text}
        holes["releases"] = (
            "No release with these hierarchies"
            if self.suppresses
            else "No release with these hierarchies that keeps all records"
        )
        if self.lost is None:
            return (
                "{releases} can lose less than {least} at k = {k} ({metric}). This one shows "
                "ranges that are not groups of these hierarchies, so the bound does not apply to "
                "it."
            ).format(**holes)
        holes["lost"] = f"{self.lost:.{_count_decimals(self.lost)}f} %"
        if self.reached:
            return (
                "{releases} can lose less than this one at k = {k}: it loses {lost} ({metric}), "
                "the least possible."
            ).format(**holes)
        if not self.least:
            return (
                "It is not known how little a release with these hierarchies can lose at k = {k}: "
                "the bound found is {least}. This one loses {lost} ({metric})."
            ).format(**holes)
        holes["far"] = self.gap_text + ("" if self.lost / self.least > 2 else " than")
        return (
            "{releases} can lose less than {least} at k = {k} ({metric}). This one loses {lost}, "
            "at most {far} the least possible."
        ).format(**holes)

    @property
    def explanation(self) -> str:
        """What the sentence holds for."""
        sentences = [
            (
                "This holds for any tool's releases in which each value stays as it is or becomes "
                "a group above it in these hierarchies, and every class has at least "
                f"{write_count(self.k)} records. No record can lose less than in the "
                f"cheapest group of {write_count(self.k)} records that it fits into; the bound is "
                "the sum of these losses over all records. A close search also allows for each "
                "record being in only one group. Models other than k allow fewer releases, so they "
                "can only raise the least loss."
            ),
            "Records may be suppressed; each suppressed record counts as a total loss."
            if self.suppresses
            else "This release suppresses no record. One that does might lose less; another bound "
            "holds for such releases.",
        ]
        if not self.reached:
            sentences.append("It is not known whether any release loses as little as the bound.")
        if self.persons:
            sentences.append(
                "It also holds where k counts persons: k persons have at least k records."
            )
        if self.weighted:
            sentences.append(
                "Column weights guide the algorithm; the loss and the bound are counted without "
                "them."
            )
        return " ".join(sentences)


def _count_decimals(number: float) -> int:
    """The decimals to show: two, or two digits of a small number."""
    return 2 if number >= 0.1 or number <= 0 else 1 - math.floor(math.log10(number))


def _drop_rounding_noise(number: float) -> float:
    return float(f"{number:.12g}")


def _format_up(number: float) -> str:
    """A number rounded up: to one decimal below ten, else to a whole one."""
    tenths = math.ceil(_drop_rounding_noise(10 * number))
    return (
        write_count(math.ceil(_drop_rounding_noise(number)))
        if tenths > 99
        else f"{tenths / 10:.1f}"
    )


def estimate_bound_effort(classes: EquivalenceClasses) -> int:
    """The work that a bound takes: nodes of the lattice times classes."""
    return count_lattice_nodes(classes.hierarchies) * classes.n_classes


def explain_no_bound(classes: EquivalenceClasses) -> str:
    """Why no bound can be found for a table; "" if one can."""
    if can_search_lattice(classes.hierarchies):
        return ""
    size = count_lattice_nodes(classes.hierarchies)
    return (
        "It is not known how close a release is to the least possible loss: the lattice of these "
        f"hierarchies has {write_count(size)} nodes, and a lower bound is computed for at most "
        f"{write_count(MOST_NODES)}."
    )


def compute_close_bound(prepared: PreparedRun, progress: Progress) -> LowerBound:
    """The lower bound of all releases for a plan's k, by a close search."""
    if reason := explain_no_bound(prepared.classes):
        raise PlanError(reason)
    return lower_bound(prepared.task_of_bound(), progress)


def compute_quick_bound(prepared: PreparedRun, progress: Progress) -> LowerBound | None:
    """The bound as closely as about a second allows; None if it allows none."""
    size = estimate_bound_effort(prepared.classes)
    if size > QUICKLY or explain_no_bound(prepared.classes):
        return None
    return lower_bound(prepared.task_of_bound(), progress, closely=size <= CLOSELY)


def find_bounds(
    progress: KeepingProgress, wanted: Sequence[tuple[str, Task]], closely: bool
) -> None:
    """Find the lower bounds of tasks; hand over each with its task's name and whether it is close.

    Where ``closely`` asks for all as close as can be, a quick one comes before each.
    """
    for place, (name, task) in enumerate(wanted):
        own = scale_progress(progress, place / len(wanted), (place + 1) / len(wanted))
        if closely:
            quick = lower_bound(task, scale_progress(own, 0, _QUICK_SHARE), closely=False)
            progress.keep((name, quick, False))
            own = scale_progress(own, _QUICK_SHARE, 1)
        close = closely or estimate_bound_effort(task.classes) <= CLOSELY
        progress.keep((name, lower_bound(task, own, closely=close), close))


def can_show_ranges(plan: Plan) -> bool:
    """Whether releases of a plan may show ranges that are not groups of the hierarchies."""
    settings = plan.algorithm
    if plan.written:
        return True
    if needs_hierarchies(settings.name):
        return False
    defaults = {
        parameter.name: parameter.default for parameter in get_own_parameters(settings.name)
    }
    return {"release": "ranges", **defaults, **settings.options}["release"] == "ranges"
