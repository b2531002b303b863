"""What the advisor tries: every published metric, strategy and scope, each once."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from kanon.algorithms.solution import FINISHED_K
from kanon.algorithms.task import Task
from kanon.base.formatting import write_count
from kanon.classes import EquivalenceClasses
from kanon.errors import PlanError
from kanon.experiments.comparison import PAPER_K, Comparison, build_lines
from kanon.experiments.sweep import Configuration, PlannedRun, check_k, create_tasks
from kanon.experiments.titles import combine_settings, get_full_title
from kanon.measures.along import Curves, Points
from kanon.metrics import PUBLISHED, metric_named
from kanon.plan import Plan
from kanon.plan_parts import AlgorithmPlan
from kanon.privacy import entropy_l_diversity
from kanon.run import PreparedRun
from kanon.schema import Role
from kanon.strategies import SCOPES

ADVISOR_STRATEGIES = ("s1", "s2", "s3", "s4", "s5", "s6", "s7", "l", "t")
"""The strategies of Mauger, Le Mahec, Dequen 2023, Definition 17."""

ADVISOR_METRICS = tuple(
    metric_named(name) for name in PUBLISHED
)  # what every release is measured in


def list_advisor_configurations(
    sensitive: bool, tie_seed: int | None = None
) -> tuple[Configuration, ...]:
    strategies = ADVISOR_STRATEGIES if sensitive else ADVISOR_STRATEGIES[:1]
    return combine_settings(PUBLISHED, strategies, tuple(SCOPES), tie_seed=tie_seed)


def choose_averaged_k(low: int, high: int | None = None) -> tuple[int, ...]:
    """The k over which criteria are averaged.

    >>> choose_averaged_k(5), choose_averaged_k(3, 30)
    ((5,), (3, 4, 5, 10, 20, 30))
    """
    if high is None:
        check_k([low])
        return (low,)
    check_k([low, *([high] if high != low else [])])
    if high < low:
        raise PlanError(f"The range of k from {write_count(low)} to {write_count(high)} is empty.")
    return tuple(sorted({low, high, *(k for k in PAPER_K if low < k < high)}))


def choose_tried_k(ks: Sequence[int], highest: int) -> tuple[int, ...]:
    """The chosen k, and the papers' k up to the highest."""
    return tuple(sorted({*ks, *(k for k in PAPER_K if k <= highest)}))


def choose_solved_k(ks: Sequence[int], highest: int) -> list[int]:
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
            ),
            "outliers": None,  # they would need a run for each k
        }
    )
    _ = advised.led_by
    return advised


def create_advisor_runs(
    prepared: PreparedRun, configurations: Sequence[Configuration]
) -> list[PlannedRun]:
    return [PlannedRun("gaa", task) for task in create_tasks(prepared, configurations)]


def build_advisor_comparison(
    task: Task,
    configurations: Sequence[Configuration],
    measured: Sequence[Curves | Points],
    ks: Sequence[int],
) -> Comparison:
    lines = tuple(
        replace(line, title=get_full_title(line.configuration, line.guide.card.title))
        for line in build_lines(
            configurations, measured, ADVISOR_METRICS, compute_best_l(task.classes)
        )
    )
    return Comparison(
        lines, ADVISOR_METRICS, task.classes.highest_k, tuple(ks), task.sensitive or ""
    )


def compute_best_l(classes: EquivalenceClasses) -> Mapping[str, float]:
    return {column.name: entropy_l_diversity.of_whole(column) for column in classes.sensitive}
