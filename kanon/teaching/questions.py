"""The kinds of questions on a small table, a class each; solutions are computed from the table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isclose
from typing import Annotated, Any, ClassVar, Literal, TypeGuard, get_args

from pydantic import Discriminator, Field, StrictInt

from kanon.algorithms.task import Task
from kanon.base.formatting import count_noun
from kanon.errors import ExerciseError, list_names, quote
from kanon.measures import alteration
from kanon.measures.cells import scale_metric_potentials
from kanon.measures.privacy import sensitive_measures
from kanon.metrics import Metric, metric_named
from kanon.reference.merging import PlainMerge, gaa
from kanon.reference.table import Group
from kanon.teaching.blackboard import Blackboard
from kanon.teaching.question import (
    NOT_ALLOWED,
    Labels,
    LevelsQuestion,
    Mark,
    Number,
    Question,
    RecodeQuestion,
)
from kanon.teaching.small_tables import MOST_RECORDS, SmallTable, format_tuple, raise_to_levels

Level = Annotated[StrictInt, Field(ge=0)]

_LARGEST = 1e300  # far above any solution


class NumberQuestion(Question):
    NAMES: ClassVar[Mapping[str, str]] = {
        "k": "What is k: how many records does the smallest class have?",
        "classes": "How many classes does the table have?",
        "unique": "How many records have quasi-identifiers that no other record has?",
        "alteration": "What is the alteration, in percent,",
        "entropy-l": "What is the entropy l-diversity (exp of the entropy, in the class where it "
        "is lowest)",
        "distinct-l": "What is the distinct l-diversity (the number of values in the class with "
        "the fewest)",
        "t": "What is t, the total variation (half the sum of the differences between a class’s "
        "shares and the table’s, in the class where it is highest)",
    }
    TITLES: ClassVar[dict[str, str]] = {
        "k": "The k of the table",
        "classes": "Number of classes",
        "unique": "Unique records",
        "alteration": "Alteration",
        "entropy-l": "Entropy l-diversity",
        "distinct-l": "Distinct l-diversity",
        "t": "t, the total variation",
    }
    _WHOLE: ClassVar[tuple[str, ...]] = ("k", "classes", "unique", "distinct-l")
    SENSITIVE: ClassVar[Mapping[str, str]] = {
        "entropy-l": "entropy_l",
        "distinct-l": "distinct_l",
        "t": "t_variational",
    }

    kind: Literal["number"] = Field(title="Work out a number")
    number: Literal["k", "classes", "unique", "alteration", "entropy-l", "distinct-l", "t"] = Field(
        title="Number", json_schema_extra={"titles": {**TITLES}}
    )
    levels: dict[str, Level] = Field(
        default_factory=dict,
        title="Raise {} to level",
        json_schema_extra={"choices": "quasi-identifiers"},
    )
    metric: str = Field(
        default="nllm",
        title="Metric",
        json_schema_extra={"choices": "metrics", "only": {"number": ["alteration"]}},
    )
    sensitive: str | None = Field(
        default=None,
        title="Sensitive column",
        json_schema_extra={
            "choices": "sensitive columns", "empty": "The only one",
            "only": {"number": list(SENSITIVE)},
        },
    )  # fmt: skip
    tolerance: Annotated[Number, Field(ge=0)] | None = Field(
        default=None, title="Tolerance, may be empty", json_schema_extra={"empty": "usual"}
    )

    @property
    def usual_title(self) -> str:
        return self.TITLES[self.number]

    @property
    def allowed_error(self) -> float:
        """How far off an answer may be: as in the file, else 0 for counts and 0.05 for others."""
        if self.tolerance is not None:
            return self.tolerance
        return 0.0 if self.whole else 0.05

    @property
    def whole(self) -> bool:
        return self.number in self._WHOLE

    @property
    def needed_metric(self) -> str | None:
        return self.metric if self.number == "alteration" else None

    def describe_task(self, table: SmallTable) -> str:
        start = end = ""
        if self.levels:
            listed = ", ".join(f"{name} {level}" for name, level in self.levels.items())
            start = f"Raise these columns to these levels and leave the others: {listed}. "
        if self.number == "alteration":
            end = f" as {metric_named(self.metric).card.title} counts it?"
        elif self.number in self.SENSITIVE:
            end = f" of {quote(self.column(table))}?"
        tolerance = (
            f" An answer within {self.allowed_error:g} is right." if self.allowed_error else ""
        )
        return f"{start}{self.NAMES[self.number]}{end}{tolerance}"

    def solution(self, table: SmallTable) -> float | int:
        release = raise_to_levels(table.classes, self.levels)
        match self.number:
            case "k":
                return int(release.counts.min())
            case "classes":
                return release.n_classes
            case "unique":
                return release.released.unique_records
            case "alteration":
                return alteration.value(release, metric_named(self.metric))
        measured = sensitive_measures(release.released.sensitive_named(self.column(table)))
        solution = measured[self.SENSITIVE[self.number]]
        assert solution is not None, "only infinite levels are None"
        return solution

    def describe_solution(self, table: SmallTable) -> str:
        solution = self.solution(table)
        text = write_decimal(solution)
        is_exact = isclose(float(text), solution, rel_tol=1e-9)
        return f"{text}." if is_exact else f"About {text}."

    def describe_answer(self, table: SmallTable, answer: object) -> str:
        return f"{answer:.6g}" if is_number(answer) else NOT_ALLOWED

    def mark(self, table: SmallTable, answer: object) -> Mark:
        if isinstance(answer, bool) or not isinstance(answer, int | float):
            return Mark(0.0, "The answer must be a number.")
        if not is_number(answer):
            return Mark(0.0, "The answer must be a finite number.")
        right = self.solution(table)
        # A number whose last decimal was rounded the other way counts as within.
        if abs(answer - right) <= self.allowed_error * (1 + 1e-9) + 1e-9:
            return Mark(1.0, f"Right: it is {write_decimal(right)}.")
        return Mark(0.0, f"It is {write_decimal(right)}, not {write_decimal(answer)}.")

    def check(self, table: SmallTable) -> None:
        metric_named(self.metric)
        super().check(table)

    def column(self, table: SmallTable) -> str:
        known = [sensitive.name for sensitive in table.classes.sensitive]
        if self.sensitive is None and len(known) == 1:
            return known[0]
        if self.sensitive not in known:
            raise ExerciseError(
                f"The key 'sensitive' must name one of the sensitive columns ({list_names(known)})."
                if known
                else "The table has no sensitive column."
            )
        return self.sensitive


class ChoiceQuestion(Question):
    CHOICES: ClassVar[dict[str, str]] = {
        "smallest": "The class that GAA takes",
        "partner": "The class with which it is merged",
    }

    kind: Literal["choice"] = Field(title="Choose a class")
    choose: Literal["smallest", "partner"] = Field(
        title="Which class", json_schema_extra={"titles": {**CHOICES}}
    )
    merges: Annotated[StrictInt, Field(ge=0, lt=MOST_RECORDS)] = Field(
        default=0, title="After how many merges"
    )
    metric: str = Field(default="nllm", title="Metric", json_schema_extra={"choices": "metrics"})

    @property
    def usual_title(self) -> str:
        return "The class that GAA takes" if self.choose == "smallest" else "The cheapest partner"

    @property
    def needed_metric(self) -> str | None:
        return self.metric if self.merges or self.choose == "partner" else None

    def describe_task(self, table: SmallTable) -> str:
        after = f"After {count_noun(self.merges, 'merge')}" if self.merges else "At first"
        if self.choose == "smallest":
            return f"{after}, which class does GAA take to merge with another one?"
        taken = table.write_class(self.step(table).picked.nodes)
        return (
            f"{after}, GAA takes the class {taken}. Which class does GAA merge it with, if "
            f"{metric_named(self.metric).card.title} counts the costs?"
        )

    def get_answer_space(self, table: SmallTable) -> Mapping[str, Any]:
        return {"options": [", ".join(labels) for labels in self.options(table)]}

    def options(self, table: SmallTable) -> tuple[Labels, ...]:
        step = self.step(table)
        groups = list(step.before)
        if self.choose == "partner":
            groups.remove(step.picked)
        return _list_labels(table, groups)

    def solution(self, table: SmallTable) -> list[str]:
        step = self.step(table)
        group = step.picked if self.choose == "smallest" else step.partner
        return list(table.get_labels(group.nodes))

    def describe_solution(self, table: SmallTable) -> str:
        solution = tuple(self.solution(table))
        others = [
            format_tuple(labels) for labels in self._list_right_choices(table) if labels != solution
        ]
        equal = f"; equally good: {', '.join(others)}" if others else ""
        return f"{format_tuple(solution)}{equal}."

    def describe_answer(self, table: SmallTable, answer: object) -> str:
        chosen = self.read_choice(table, answer)
        return format_tuple(chosen) if chosen else NOT_ALLOWED

    def mark(self, table: SmallTable, answer: object) -> Mark:
        options, chosen = self.options(table), self.read_choice(table, answer)
        if not chosen:
            return Mark(
                0.0,
                "The answer must be one of the classes, as a list of its values: "
                f"{', '.join(map(format_tuple, options))}.",
            )
        solution = tuple(self.solution(table))
        right = self._list_right_choices(table)
        reason = "the smallest" if self.choose == "smallest" else "the cheapest"
        reason = reason if len(right) == 1 else f"one of {reason}"
        if chosen == solution:
            return Mark(1.0, f"Right: {format_tuple(solution)} is {reason}.")
        if chosen in right:
            return Mark(
                1.0,
                f"Right: {format_tuple(chosen)} is as good as {format_tuple(solution)}, which GAA "
                "takes because it comes first in tree order.",
            )
        return Mark(0.0, f"It is {format_tuple(solution)}, {reason}, not {format_tuple(chosen)}.")

    def read_choice(self, table: SmallTable, answer: object) -> Labels:
        is_list = isinstance(answer, Sequence) and not isinstance(answer, str)
        labels = tuple(answer) if isinstance(answer, Sequence) and is_list else ()
        return labels if labels in self.options(table) else ()

    def _list_right_choices(self, table: SmallTable) -> tuple[Labels, ...]:
        step = self.step(table)
        if self.choose == "smallest":
            size = step.picked.records
            return _list_labels(table, [one for one in step.before if one.records == size])
        least = min(partner.cost for partner in step.partners)
        return _list_labels(table, [one.group for one in step.partners if one.cost == least])

    def count_wrong_choices(self, table: SmallTable) -> int:
        return len(self.options(table)) - len(self._list_right_choices(table))

    def list_merges(self, table: SmallTable) -> list[PlainMerge]:
        """All merges of GAA, down to one class."""
        return table.get_or_compute(
            ("merges", self.metric), lambda: _list_merges(table, metric_named(self.metric))
        )

    def step(self, table: SmallTable) -> PlainMerge:
        merges = self.list_merges(table)
        if not merges:
            raise ExerciseError("The table has one class, so there is nothing to merge.")
        if self.merges >= len(merges):
            raise ExerciseError(
                f"After {count_noun(self.merges, 'merge')} nothing is left to merge; merges must "
                f"be below {len(merges)}."
            )
        return merges[self.merges]


AnyQuestion = Annotated[
    RecodeQuestion | LevelsQuestion | NumberQuestion | ChoiceQuestion, Discriminator("kind")
]
"""A question of any kind."""

KINDS: Mapping[str, type[Question]] = {
    get_args(model.model_fields["kind"].annotation)[0]: model
    for model in get_args(get_args(AnyQuestion)[0])
}
"""The class of each kind, by its name in files."""


def _list_merges(table: SmallTable, metric: Metric) -> list[PlainMerge]:
    classes = table.classes
    task = Task(classes, scale_metric_potentials(classes, metric), k=classes.n_records)
    return list(gaa(Blackboard(task, metric).table))


def _list_labels(table: SmallTable, groups: Iterable[Group]) -> tuple[Labels, ...]:
    """The values of classes, in tree order."""
    return tuple(table.get_labels(nodes) for nodes in sorted(group.nodes for group in groups))


def is_number(answer: object) -> TypeGuard[int | float]:
    if isinstance(answer, bool) or not isinstance(answer, int | float):
        return False
    return abs(answer) <= _LARGEST


def write_decimal(number: float) -> str:
    """A number with up to three decimals.

    >>> write_decimal(3), write_decimal(18.4375), write_decimal(2.0)
    ('3', '18.438', '2')
    """
    return f"{number:.3f}".rstrip("0").rstrip(".") if isinstance(number, float) else str(number)
