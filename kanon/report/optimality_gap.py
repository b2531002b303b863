"""How far a release is at most from the least loss that is possible, in one sentence."""

from __future__ import annotations

import math
from dataclasses import dataclass

from kanon.algorithms.catalogue import needs_hierarchies
from kanon.algorithms.lattice_size import MOST_NODES, n_nodes
from kanon.algorithms.lower_bound import LowerBound, lower_bound
from kanon.base.formatting import thin
from kanon.base.progress import Progress
from kanon.classes import EquivalenceClasses
from kanon.errors import PlanError
from kanon.plan import Plan, parameters_of
from kanon.run import PreparedRun, Run

QUICKLY, CLOSELY = 50_000_000, 200_000
"""Up to so many nodes times classes a bound takes about a second at most: quickly, and closely."""


@dataclass(frozen=True)
class OptimalityGap:
    """A lower bound, and how far a release is from it.

    Attributes
    ----------
    lost
        The alteration of the release in percent; None if it shows ranges, for which no bound holds.
    least
        The alteration that no release by the hierarchies can go below, in percent.
    k
        The records that every class holds at least.
    metric
        The title of the metric that counts both.
    suppresses
        Whether the release suppresses records; else the bound is that of releases that keep all.
    weighted, persons
        Whether weights of columns guide the algorithm, which neither number counts; and whether k
        counts persons.

    Examples
    --------
    The bound is rounded down and the gap up, so that both stay true.

    >>> print(OptimalityGap(4.684, 4.128, 5, "NLLM").sentence)
    No release by these hierarchies, of any tool, that keeps every record can lose less than \
4.12 % at k = 5, as NLLM counts; this one loses 4.68 %, at most 14 % more than the least possible.
    >>> print(OptimalityGap(9.0, 4.128, 5, "NLLM").sentence.partition("; ")[2])
    this one loses 9.00 %, at most 2.2 times the least possible.
    """

    lost: float | None  # the alteration of the release in percent
    least: float  # the alteration that no release by the hierarchies can go below, in percent
    k: int  # the records that every class holds at least
    metric: str  # the title of the metric that counts both
    suppresses: bool = False  # whether the release suppresses records
    # whether weights of columns guide the algorithm, which neither number counts
    weighted: bool = False
    persons: bool = False

    @classmethod
    def of(cls, done: Run, bound: LowerBound) -> OptimalityGap:
        lost = None if done.recoding.ranged else done.alteration
        return cls.at(done.prepared, lost, done.recoding.suppressed_records > 0, bound)

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
    def at_most(self) -> str:
        """How far it is from the least possible at most, rounded up; nothing if that is not known.

        >>> [OptimalityGap(lost, 4.0, 5, "NLLM").at_most for lost in (4.0, 4.001, 4.5, 8.001)]
        ['the least possible', '0.1 % more', '13 % more', '2.1 times']
        >>> OptimalityGap(4.0, 0.0, 5, "NLLM").at_most, OptimalityGap(None, 4.0, 5, "NLLM").at_most
        ('', '')
        """
        if self.reached:
            return "the least possible"
        if self.lost is None or not self.least:
            return ""
        times = self.lost / self.least
        if times > 2:
            return f"{_up_said(times)} times"
        return f"{_up_said(100 * (times - 1))} % more"

    @property
    def least_said(self) -> str:
        """The bound, rounded down.

        >>> [OptimalityGap(None, least, 5, "NLLM").least_said for least in (4.0, 4.128, 0.0567)]
        ['4.00 %', '4.12 %', '0.056 %']
        """
        digits = _digits(self.least)
        least = math.floor(_exact(self.least * 10**digits)) / 10**digits
        return f"{least:.{digits}f} %"

    @property
    def sentence(self) -> str:
        """What no release can go below, and how far this one is from it at most."""
        told = {"k": thin(self.k), "metric": self.metric, "least": self.least_said}
        told["releases"] = (
            "No release by these hierarchies, of any tool,"
            if self.suppresses
            else "No release by these hierarchies, of any tool, that keeps every record"
        )
        if self.lost is None:
            return (
                "{releases} can lose less than {least} at k = {k}, as {metric} counts. This one "
                "shows ranges that are no groups of these hierarchies, so that does not hold for "
                "it."
            ).format(**told)
        told["lost"] = f"{self.lost:.{_digits(self.lost)}f} %"
        if self.reached:
            return (
                "{releases} can lose less than this one at k = {k}: it loses {lost}, as {metric} "
                "counts, the least possible."
            ).format(**told)
        if not self.least:
            return (
                "How little a release by these hierarchies can lose at k = {k} is not known: the "
                "bound that was found is {least}. This one loses {lost}, as {metric} counts."
            ).format(**told)
        told["far"] = self.at_most + ("" if self.lost / self.least > 2 else " than")
        return (
            "{releases} can lose less than {least} at k = {k}, as {metric} counts; this one loses "
            "{lost}, at most {far} the least possible."
        ).format(**told)

    @property
    def explanation(self) -> str:
        """What the sentence holds for."""
        said = [
            (
                "This holds for every release in which each value stays as it is or becomes a "
                "group above it in these hierarchies, and every class has at least "
                f"{thin(self.k)} records. No record can lose less than in the cheapest group of "
                f"{thin(self.k)} records that it fits in, and the bound is the sum of that over "
                "all records; a close search also counts that a record is in one group alone. "
                "Other models than k leave fewer releases, so they can only raise the least loss."
            ),
            "Records may be suppressed, and each of them counts as losing everything."
            if self.suppresses
            else (
                "This release suppresses no record. One that does may lose less: for it there is "
                "a bound of its own."
            ),
        ]
        if not self.reached:
            said.append("Whether any release comes as low as the bound is not known.")
        if self.persons:
            said.append("It holds where k counts persons too: k persons have at least k records.")
        if self.weighted:
            said.append(
                "The weights of columns guide the algorithm; what was lost and the bound are "
                "counted without them."
            )
        return " ".join(said)


def _digits(number: float) -> int:
    """How many decimals of a percentage are shown: two, or two digits of a small one."""
    return 2 if number >= 0.1 or number <= 0 else 1 - math.floor(math.log10(number))


def _exact(number: float) -> float:
    return float(f"{number:.12g}")


def _up_said(number: float) -> str:
    """A number rounded up: to one decimal below ten, else to a whole one."""
    tenths = math.ceil(_exact(10 * number))
    return thin(math.ceil(_exact(number))) if tenths > 99 else f"{tenths / 10:.1f}"


def effort(classes: EquivalenceClasses) -> int:
    """How much there is to be looked at for a bound: nodes of the lattice times classes."""
    return n_nodes(classes.hierarchies) * classes.n_classes


def why_no_bound(classes: EquivalenceClasses) -> str:
    """Why no bound can be found for a table; nothing if one can."""
    size = n_nodes(classes.hierarchies)
    if size <= MOST_NODES:
        return ""
    return (
        "How close a release is to the least possible is not known here: the lattice of these "
        f"hierarchies has {thin(size)} nodes, and a lower bound is found for up to "
        f"{thin(MOST_NODES)}."
    )


def bound_of(prepared: PreparedRun, progress: Progress) -> LowerBound:
    """The lower bound of all releases for a plan's k, by a close search."""
    if said := why_no_bound(prepared.classes):
        raise PlanError(said)
    return lower_bound(prepared.task_of_bound(), progress)


def bound_found_soon(prepared: PreparedRun, progress: Progress) -> LowerBound | None:
    """The same as closely as takes about a second; None if that is not possible at all."""
    size = effort(prepared.classes)
    if size > QUICKLY or why_no_bound(prepared.classes):
        return None
    return lower_bound(prepared.task_of_bound(), progress, closely=size <= CLOSELY)


def may_show_ranges(plan: Plan) -> bool:
    """Whether releases of a plan may show ranges that are no groups of the hierarchies."""
    chosen = plan.algorithm
    if needs_hierarchies(chosen.name):
        return False
    own = {one.name: one.default for one in parameters_of(chosen.name)}
    return {"release": "ranges", **own, **chosen.options}["release"] == "ranges"
