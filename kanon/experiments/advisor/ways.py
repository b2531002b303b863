"""What the advisor tries: every published metric, strategy and scope, each once."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from kanon.algorithms.solution import FINISHED_K
from kanon.algorithms.task import Task
from kanon.base.formatting import thin
from kanon.classes import EquivalenceClasses
from kanon.errors import PlanError
from kanon.experiments.comparison import PAPER_K, Comparison, lines_of
from kanon.experiments.sweep import Configuration, PlannedRun, check_k, tasks_of
from kanon.experiments.titles import combined, full_title
from kanon.measures.along import Curves, Points
from kanon.metrics import PUBLISHED, metric_named
from kanon.plan import AlgorithmPlan, Plan
from kanon.privacy import entropy_l_diversity
from kanon.run import PreparedRun
from kanon.schema import Role
from kanon.strategies import SCOPES

ADVISED = ("s1", "s2", "s3", "s4", "s5", "s6", "s7", "l", "t")
"""The strategies of Mauger, Le Mahec, Dequen 2023, Definition 17."""

MEASURED = tuple(metric_named(name) for name in PUBLISHED)  # what every release is measured in


def ways(sensitive: bool, tie_seed: int | None = None) -> tuple[Configuration, ...]:
    strategies = ADVISED if sensitive else ADVISED[:1]
    return combined(PUBLISHED, strategies, tuple(SCOPES), tie_seed=tie_seed)


def averaged_k(low: int, high: int | None = None) -> tuple[int, ...]:
    """The k over which criteria are averaged.

    >>> averaged_k(5), averaged_k(3, 30)
    ((5,), (3, 4, 5, 10, 20, 30))
    """
    if high is None:
        check_k([low])
        return (low,)
    check_k([low, *([high] if high != low else [])])
    if high < low:
        raise PlanError(f"The range of k from {thin(low)} to {thin(high)} is empty.")
    return tuple(sorted({low, high, *(k for k in PAPER_K if low < k < high)}))


def tried_k(ks: Sequence[int], highest: int) -> tuple[int, ...]:
    """The chosen k, and the papers' k up to the highest."""
    return tuple(sorted({*ks, *(k for k in PAPER_K if k <= highest)}))


def looked_at(ks: Sequence[int], highest: int) -> list[int]:
    return sorted({*ks, *(k for k in FINISHED_K if k < highest), highest})


def plan_to_advise(plan: Plan) -> Plan:
    algorithm = plan.algorithm
    advised = plan.model_copy(
        update={
            "algorithm": AlgorithmPlan(
                name="gaa",
                # So that the plan itself asks for the column, where there are several.
                strategy="s2" if plan.roles.columns(Role.SENSITIVE) else "s1",
                sensitive=algorithm.sensitive,
                cost=algorithm.cost,
                attribute_weights=algorithm.attribute_weights,
                tie_seed=algorithm.tie_seed,
            )
        }
    )
    _ = advised.led_by
    return advised


def runs_of(prepared: PreparedRun, configurations: Sequence[Configuration]) -> list[PlannedRun]:
    return [PlannedRun("gaa", task) for task in tasks_of(prepared, configurations)]


def compared(
    task: Task,
    configurations: Sequence[Configuration],
    measured: Sequence[Curves | Points],
    ks: Sequence[int],
) -> Comparison:
    lines = tuple(
        replace(line, title=full_title(line.configuration, line.guide.card.title))
        for line in lines_of(configurations, measured, MEASURED, best_l(task.classes))
    )
    return Comparison(lines, MEASURED, task.classes.highest_k, tuple(ks), task.sensitive or "")


def best_l(classes: EquivalenceClasses) -> Mapping[str, float]:
    return {column.name: entropy_l_diversity.of_whole(column) for column in classes.sensitive}
