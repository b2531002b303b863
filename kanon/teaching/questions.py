"""The kinds of questions on a small table, a class each; solutions are computed from the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal, TypeGuard, get_args

from pydantic import Discriminator, Field, StrictInt

from kanon.algorithms.gaa import merge_path
from kanon.algorithms.task import Task
from kanon.base.formatting import count_noun
from kanon.errors import ExerciseError, list_names, quote
from kanon.measures import alteration
from kanon.measures.cells import scale_metric_potentials
from kanon.measures.privacy import sensitive_measures
from kanon.metrics import metric_named
from kanon.teaching.question import (
    NOT_ALLOWED,
    Labels,
    LevelsQuestion,
    Mark,
    Number,
    Question,
    RecodeQuestion,
    get_labels,
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
        return (
            f"{write_decimal(solution)}."
            if isinstance(solution, int)
            else f"About {write_decimal(solution)}."
        )

    def describe_answer(self, table: SmallTable, answer: object) -> str:
        return f"{answer:.6g}" if _is_number(answer) else NOT_ALLOWED

    def mark(self, table: SmallTable, answer: object) -> Mark:
        if isinstance(answer, bool) or not isinstance(answer, int | float):
            return Mark(0.0, "The answer must be a number.")
        if not _is_number(answer):
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
        step = self.step(table)
        return (
            f"{after}, GAA takes the class {format_tuple(step.smallest)}. Which class does GAA "
            f"merge it with, if {metric_named(self.metric).card.title} counts the costs?"
        )

    def get_answer_space(self, table: SmallTable) -> Mapping[str, Any]:
        return {"options": [", ".join(labels) for labels in self.options(table)]}

    def options(self, table: SmallTable) -> tuple[Labels, ...]:
        step = self.step(table)
        if self.choose == "smallest":
            return step.options
        return tuple(labels for labels in step.options if labels != step.smallest)

    def solution(self, table: SmallTable) -> list[str]:
        step = self.step(table)
        return list(step.smallest if self.choose == "smallest" else step.partner)

    def describe_solution(self, table: SmallTable) -> str:
        solution = tuple(self.solution(table))
        others = [
            format_tuple(labels) for labels in self._list_right_choices(table) if labels != solution
        ]
        equal = f"; equally good: {', '.join(others)}" if others else ""
        return f"{format_tuple(solution)}{equal}."

    def describe_answer(self, table: SmallTable, answer: object) -> str:
        chosen = self._read_choice(table, answer)
        return format_tuple(chosen) if chosen else NOT_ALLOWED

    def mark(self, table: SmallTable, answer: object) -> Mark:
        options, chosen = self.options(table), self._read_choice(table, answer)
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

    def _read_choice(self, table: SmallTable, answer: object) -> Labels:
        is_list = isinstance(answer, Sequence) and not isinstance(answer, str)
        labels = tuple(answer) if isinstance(answer, Sequence) and is_list else ()
        return labels if labels in self.options(table) else ()

    def _list_right_choices(self, table: SmallTable) -> tuple[Labels, ...]:
        step = self.step(table)
        return step.smallest_ones if self.choose == "smallest" else step.cheapest

    def step(self, table: SmallTable) -> MergeStep:
        about = ("step", self.metric, self.merges)
        return table.get_or_compute(
            about, lambda: _build_merge_step(table, self.metric, self.merges)
        )


AnyQuestion = Annotated[
    RecodeQuestion | LevelsQuestion | NumberQuestion | ChoiceQuestion, Discriminator("kind")
]
"""A question of any kind."""

KINDS: Mapping[str, type[Question]] = {
    get_args(model.model_fields["kind"].annotation)[0]: model
    for model in get_args(get_args(AnyQuestion)[0])
}
"""The class of each kind, by its name in files."""


@dataclass(frozen=True)
class MergeStep:
    options: tuple[Labels, ...]
    nodes: tuple[tuple[int, ...], ...]
    sizes: tuple[int, ...]
    # per class the cost of merging it with the one that is taken, as a fraction
    costs: tuple[Fraction | None, ...]
    smallest: Labels
    partner: Labels
    smallest_ones: tuple[Labels, ...]
    cheapest: tuple[Labels, ...]


def _build_merge_step(table: SmallTable, metric: str, merges: int) -> MergeStep:
    classes = table.classes
    depths = scale_metric_potentials(classes, metric_named(metric))
    path = merge_path(Task(classes, depths, k=classes.n_records))
    if not len(path.parts):
        raise ExerciseError("The table has one class, so there is nothing to merge.")
    if merges >= len(path.parts):
        raise ExerciseError(
            f"After {count_noun(merges, 'merge')} nothing is left to merge; merges must be "
            f"below {len(path.parts)}."
        )
    release = path.after(merges)
    taken, partner = (tuple(path.nodes[place].tolist()) for place in path.parts[merges][:2])
    sizes = {
        tuple(row): n
        for row, n in zip(release.nodes.tolist(), release.counts.tolist(), strict=True)
    }

    def cost(other: tuple[int, ...]) -> Fraction:
        loss = Fraction(0)
        for j, tree in enumerate(classes.hierarchies):
            root_cost = depths.get_exact(j, tree.lca(taken[j], other[j]))
            loss += (depths.get_exact(j, taken[j]) - root_cost) * sizes[taken]
            loss += (depths.get_exact(j, other[j]) - root_cost) * sizes[other]
        return loss

    costs = {nodes: cost(nodes) for nodes in sizes if nodes != taken}
    irrational = depths.slack > 0 and not depths.digits
    least = min(costs.values()) + (depths.slack / depths.scale if irrational else 0)
    return MergeStep(
        options=tuple(get_labels(release, nodes) for nodes in sizes),
        nodes=tuple(sizes),
        sizes=tuple(sizes.values()),
        costs=tuple(costs.get(nodes) for nodes in sizes),
        smallest=get_labels(release, taken),
        partner=get_labels(release, partner),
        smallest_ones=tuple(
            get_labels(release, nodes)
            for nodes, size in sizes.items()
            if size == min(sizes.values())
        ),
        cheapest=tuple(
            get_labels(release, nodes) for nodes, paid in costs.items() if paid <= least
        ),
    )


def _is_number(answer: object) -> TypeGuard[int | float]:
    if isinstance(answer, bool) or not isinstance(answer, int | float):
        return False
    return abs(answer) <= _LARGEST


def write_decimal(number: float) -> str:
    """A number with up to three decimals.

    >>> write_decimal(3), write_decimal(18.4375), write_decimal(2.0)
    ('3', '18.438', '2')
    """
    return f"{number:.3f}".rstrip("0").rstrip(".") if isinstance(number, float) else str(number)
