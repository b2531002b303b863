"""All algorithms, and which settings each one takes."""

from collections.abc import Mapping
from functools import cache
from types import ModuleType

import kanon.algorithms
from kanon.algorithms.task import Task
from kanon.algorithms.written import check_class_form, write_values
from kanon.base.formatting import write_count
from kanon.base.progress import Progress
from kanon.cards import parts_of
from kanon.errors import PlanError
from kanon.recoding import Recoding

FAMILIES: Mapping[str, str] = {
    "merging": "merging",
    "levels": "full-domain",
    "regions": "regions",
    "clusters": "clustering",
}
"""The families of algorithms, in the order of the pick lists."""


@cache
def algorithms() -> Mapping[str, ModuleType]:
    """The modules of all algorithms by name, by family."""
    order = list(FAMILIES)
    modules = parts_of(kanon.algorithms)
    return dict(sorted(modules.items(), key=lambda item: order.index(item[1].CARD.family)))


def algorithm_named(name: str) -> ModuleType:
    """The module of an algorithm; no other algorithm is imported."""
    return parts_of(kanon.algorithms)[name]


def anonymise_task(name: str, task: Task, progress: Progress) -> Recoding:
    """The release of an algorithm, with numbers written as the task says.

    Raises
    ------
    PlanError
        The algorithm cannot do what the task asks for: see its ``check``.
    Unsatisfiable
        No release of the table can meet k or a model.
    """
    recoding: Recoding = algorithm_named(name).anonymise(task, progress)
    return write_values(recoding, task.written)


def short_title(name: str) -> str:
    """The title of an algorithm without its explanation in brackets.

    >>> short_title("gaa")
    'GAA'
    """
    return str(algorithm_named(name).CARD.title).split(" (")[0]


def uses(name: str, setting: str) -> bool:
    """Whether an algorithm takes a setting that several algorithms share.

    >>> uses("gaa", "metric"), uses("datafly", "metric")
    (True, False)
    """
    return setting in algorithm_named(name).CARD.uses


def unused_settings(name: str) -> set[str]:
    """The settings that other algorithms take and this one ignores.

    >>> sorted(unused_settings("datafly") & {"cost", "suppression", "strategy"})
    ['cost', 'strategy']
    """
    settings = {setting for module in algorithms().values() for setting in module.CARD.uses}
    return {setting for setting in settings if not uses(name, setting)}


def needs_hierarchies(name: str) -> bool:
    """Whether an algorithm needs a hierarchy for every quasi-identifier."""
    return bool(algorithm_named(name).CARD.needs_hierarchies)


def check_task(name: str, task: Task) -> None:
    """Check that an algorithm can run a task; a PlanError says why it cannot."""
    module = algorithm_named(name)
    if task.classes.in_engine and not runs_stored(name):
        raise PlanError(needs_memory(name, task.classes.n_classes))
    if task.classes.in_engine and (task.outliers or task.level_bounds):
        what = "Outliers can only be suppressed" if task.outliers else "Levels can only be bounded"
        raise PlanError(
            f"{what} where all classes fit in memory, but "
            f"{write_count(task.classes.n_classes)} are more than the limit 'classes' allows "
            "(docs/operate/limits.md). Leave out the key "
            f"{'outliers' if task.outliers else 'levels'!r}."
        )
    check_class_form(task.classes, task.written)
    check = getattr(module, "check", None)
    if check is not None:
        check(task)


def needs_memory(name: str, n_classes: int) -> str:
    """Why an algorithm cannot run on so many classes, in a sentence."""
    return (
        f"{algorithm_named(name).CARD.title} needs all classes in memory, but "
        f"{write_count(n_classes)} are more than the limit 'classes' allows "
        "(docs/operate/limits.md). Use 'gaa' or a full-domain algorithm such as 'optimal': they "
        "run in the engine that holds the rows."
    )


def runs_stored(name: str) -> bool:
    """Whether an algorithm can run on classes that stay in an engine.

    >>> runs_stored("gaa"), runs_stored("optimal"), runs_stored("mondrian")
    (True, True, False)
    """
    module = algorithm_named(name)
    return module.CARD.family == "levels" or module.CARD.runs_in_engine


def serves_every_k(name: str, run_per_k: object = None) -> bool:
    """Whether one run of an algorithm yields the release for every k.

    ``run_per_k``: whether outliers may be suppressed or levels are bounded. Then none does, because
    outliers are chosen for each k, and a path begins with the values as they came.

    >>> serves_every_k("gaa"), serves_every_k("gaa", run_per_k=True), serves_every_k("optimal")
    (True, False, False)
    """
    return hasattr(algorithm_named(name), "merge_path") and not run_per_k
