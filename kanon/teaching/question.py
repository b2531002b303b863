"""What every question has, and those about the release of least alteration, by values or levels."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, StrictInt, StringConstraints

from kanon.base.checked_json import Strict
from kanon.base.formatting import count_noun, write_percent
from kanon.errors import ExerciseError, join_lines, list_names, quote
from kanon.measures import alteration
from kanon.metrics import metric_named
from kanon.privacy.k_anonymity import too_few_records
from kanon.recoding import Recoding
from kanon.teaching.optimum import BestRelease, find_best_levels, find_best_recoding
from kanon.teaching.small_tables import MOST_RECORDS, SmallTable, format_tuple, raise_to_levels

Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Labels = tuple[str, ...]

Help = Literal["hint", "solution"]
"""The most that a student saw of the answer to a question."""

TOLERANCE = 1e-9
"""Relative difference below which two costs count as equal: thirds are rounded here."""


NOT_ALLOWED = "not allowed"  # describes an invalid answer


@dataclass(frozen=True)
class Mark:
    share: float  # of the points, from 0 to 1
    sentence: str  # why, for the student

    def count_help(self, help_seen: Help | None) -> Mark:
        """Half of the points once the hint was opened, none once the solution was.

        >>> Mark(1.0, "Right.").count_help("hint")
        Mark(share=0.5, sentence='Right. Half of the points, as the hint was opened.')
        """
        if help_seen is None or not self.share:
            return self
        if help_seen == "hint":
            return Mark(
                self.share / 2, f"{self.sentence} Half of the points, as the hint was opened."
            )
        return Mark(0.0, f"{self.sentence} No points, as the solution was opened.")


class Question(Strict):
    id: Annotated[str, StringConstraints(min_length=1, max_length=40)]
    table: str = Field(title="About the table", json_schema_extra={"choices": "tables"})
    title: Annotated[str, StringConstraints(max_length=60)] = Field(
        default="", title="Title, may be empty"
    )
    text: Annotated[str, StringConstraints(max_length=1000)] = Field(
        default="", title="Introduction, may be empty"
    )
    points: Annotated[Number, Field(gt=0, le=1000)] = Field(
        default=1.0, title="Points", json_schema_extra={"step": 0.5}
    )

    @property
    def needed_metric(self) -> str | None:
        """The metric whose costs the answer needs; None if it needs none."""
        return None

    @property
    @abstractmethod
    def usual_title(self) -> str:
        """The title of a question without its own."""

    @abstractmethod
    def describe_task(self, table: SmallTable) -> str:
        """The task, in a sentence or two."""

    @abstractmethod
    def solution(self, table: SmallTable) -> Any:
        """An answer worth all points, in the format of answer files."""

    @abstractmethod
    def describe_solution(self, table: SmallTable) -> str:
        """That answer in a sentence."""

    def get_answer_space(self, table: SmallTable) -> Mapping[str, Any]:
        return {}

    @abstractmethod
    def describe_answer(self, table: SmallTable, answer: object) -> str:
        """An answer in a few words: the same words for equal answers, and for all invalid ones."""

    @abstractmethod
    def mark(self, table: SmallTable, answer: object) -> Mark:
        """The mark of an answer; an invalid one is worth 0."""

    def check(self, table: SmallTable) -> None:
        self.solution(table)


def format_question_heading(number: int, question: Question) -> str:
    return f"{number} {join_lines(question.title) or question.usual_title}"


def get_labels(release: Recoding, nodes: Sequence[int] | np.ndarray) -> Labels:
    return tuple(tree.labels[node] for tree, node in zip(release.hierarchies, nodes, strict=True))


# --- the release of least alteration ----------------------------------------------------------
K = Annotated[StrictInt, Field(ge=2, le=MOST_RECORDS)]


class LeastQuestion(Question):
    k: K = Field(title="k")
    metric: str = Field(default="nllm", title="Metric", json_schema_extra={"choices": "metrics"})

    @property
    def needed_metric(self) -> str:
        return self.metric

    def check(self, table: SmallTable) -> None:
        if self.k > len(table.frame):
            raise ExerciseError(too_few_records(self.k, len(table.frame)))
        super().check(table)

    @abstractmethod
    def best(self, table: SmallTable) -> BestRelease:
        """The best known release."""

    @abstractmethod
    def read(self, table: SmallTable, answer: object) -> Recoding:
        """The release that an answer describes."""

    def describe_answer(self, table: SmallTable, answer: object) -> str:
        try:
            release = self.read(table, answer)
        except ExerciseError:
            return NOT_ALLOWED
        altered = write_percent(alteration.value(release, metric_named(self.metric)))
        return f"{self.describe_choice(release, answer)}: k = {release.min_k}, alteration {altered}"

    @abstractmethod
    def describe_choice(self, release: Recoding, answer: Any) -> str:
        """The choice of a valid answer, in words."""

    def mark(self, table: SmallTable, answer: object) -> Mark:
        """The points by how near the least alteration is: none for everything at the root."""
        try:
            release = self.read(table, answer)
        except ExerciseError as error:
            return Mark(0.0, error.sentence)
        lacking = describe_small_classes(release, self.k)
        if lacking:
            return Mark(0.0, lacking)
        best, altered = self.best(table), alteration.value(release, metric_named(self.metric))
        start = (
            f"The table is {release.min_k}-anonymous with an alteration of {write_percent(altered)}"
        )
        if altered <= best.alteration * (1 + TOLERANCE):
            least = "the least possible" if best.proven else "as good as the best known"
            return Mark(1.0, f"{start}, {least}.")
        share = (100 - altered) / (100 - best.alteration)
        least = "the least possible" if best.proven else "the best known"
        return Mark(share, f"{start}, where {write_percent(best.alteration)} is {least}.")

    def _describe_least(self, best: BestRelease) -> str:
        least = "the least possible" if best.proven else "the best known (too many to try all)"
        return f"alteration {write_percent(best.alteration)}, {least}"

    def _describe_metric(self) -> str:
        return f"as {metric_named(self.metric).card.title} counts it"


class RecodeQuestion(LeastQuestion):
    kind: Literal["recode"] = Field(title="Recode the table by hand")

    @property
    def usual_title(self) -> str:
        return "Recode the table"

    def describe_task(self, table: SmallTable) -> str:
        return (
            f"Make this table {self.k}-anonymous with the least alteration, "
            f"{self._describe_metric()}: raise values in their trees. Records that look the same "
            "stay together, and none is left out."
        )

    def get_answer_space(self, table: SmallTable) -> Mapping[str, Any]:
        columns = list(table.classes.attributes)
        return {"columns": columns, "rows": table.frame[columns].to_numpy().tolist()}

    def best(self, table: SmallTable) -> BestRelease:
        return table.get_or_compute(
            ("recoding", self.metric, self.k),
            lambda: find_best_recoding(table.classes, metric_named(self.metric), self.k),
        )

    def solution(self, table: SmallTable) -> list[dict[str, str]]:
        return build_answer(table, self.best(table).recoding)

    def describe_solution(self, table: SmallTable) -> str:
        best = self.best(table)
        return f"{self.describe_choice(best.recoding, None)}: {self._describe_least(best)}."

    def describe_choice(self, release: Recoding, answer: Any) -> str:
        return "; ".join(
            f"{format_tuple(get_labels(release, nodes))} × {count}"
            for nodes, count in zip(release.nodes, release.counts, strict=True)
        )

    def read(self, table: SmallTable, answer: object) -> Recoding:
        classes, size = table.classes, len(table.frame)
        if not isinstance(answer, Sequence) or isinstance(answer, str) or len(answer) != size:
            raise ExerciseError(
                f"The answer must be a list of {count_noun(size, 'record')}, each with a value for "
                f"{list_names(classes.attributes, most=12)}."
            )
        targets = np.full_like(classes.nodes, -1)
        first: dict[int, int] = {}
        for number, (values, place) in enumerate(
            zip(answer, table.source.row_class.tolist(), strict=True), start=1
        ):
            nodes = self._read_nodes(table, values, number, place)
            if place in first and (targets[place] != nodes).any():
                raise ExerciseError(
                    f"Records {first[place]} and {number} look the same in the table but not in "
                    "the answer; they must stay together."
                )
            first.setdefault(place, number)
            targets[place] = nodes
        return Recoding.from_targets(classes, targets)

    def _read_nodes(self, table: SmallTable, values: object, number: int, place: int) -> list[int]:
        classes, nodes = table.classes, []
        if not isinstance(values, Mapping) or set(values) != set(classes.attributes):
            raise ExerciseError(
                f"Record {number} must have a value for each of "
                f"{list_names(classes.attributes, most=12)}, and nothing else."
            )
        for j, (name, tree) in enumerate(zip(classes.attributes, classes.hierarchies, strict=True)):
            node = tree.node_of.get(values[name]) if isinstance(values[name], str) else None
            if node is None:
                raise ExerciseError(
                    f"Record {number}: {{cells}} is not in the tree of {quote(name)}.",
                    [values[name]],
                )
            if not tree.is_ancestor(node, int(classes.nodes[place, j])):
                raise ExerciseError(
                    f"Record {number}: in the tree of {quote(name)}, {{cells}} is not above the "
                    "value of the record; values can only be raised.",
                    [values[name]],
                )
            nodes.append(node)
        return nodes


class LevelsQuestion(LeastQuestion):
    kind: Literal["levels"] = Field(title="Choose a level for each column")

    @property
    def usual_title(self) -> str:
        return "Choose the levels"

    def describe_task(self, table: SmallTable) -> str:
        listed = ", ".join(
            f"{name} 0 to {tree.height - 1}"
            for name, tree in zip(table.classes.attributes, table.classes.hierarchies, strict=True)
        )
        return (
            f"Choose one level for each column ({listed}), so that the table becomes "
            f"{self.k}-anonymous with the least alteration, {self._describe_metric()}."
        )

    def get_answer_space(self, table: SmallTable) -> Mapping[str, Any]:
        return {"levels": table.classes.attributes}

    def best(self, table: SmallTable) -> BestRelease:
        return table.get_or_compute(
            ("levels", self.metric, self.k),
            lambda: find_best_levels(table.classes, metric_named(self.metric), self.k),
        )

    def solution(self, table: SmallTable) -> dict[str, int]:
        node = self.best(table).recoding.trace.node
        assert node is not None, "every record was raised to the same levels"
        return dict(zip(table.classes.attributes, map(int, node), strict=True))

    def describe_solution(self, table: SmallTable) -> str:
        best = self.best(table)
        levels = self.describe_choice(best.recoding, self.solution(table))
        return f"Levels {levels}: {self._describe_least(best)}."

    def describe_choice(self, release: Recoding, answer: Any) -> str:
        return ", ".join(f"{name} {answer[name]}" for name in release.classes.attributes)

    def read(self, table: SmallTable, answer: object) -> Recoding:
        names = table.classes.attributes
        whole = isinstance(answer, Mapping) and all(
            isinstance(level, int) and not isinstance(level, bool) for level in answer.values()
        )
        if not isinstance(answer, Mapping) or not whole or set(answer) != set(names):
            raise ExerciseError(
                "The answer must give one level (a whole number) for each of "
                f"{list_names(names, most=12)}, and nothing else."
            )
        return raise_to_levels(table.classes, answer)


def build_answer(table: SmallTable, release: Recoding) -> list[dict[str, str]]:
    names, targets = table.classes.attributes, release.targets[table.source.row_class]
    return [dict(zip(names, get_labels(release, nodes), strict=True)) for nodes in targets]


def find_small_classes(release: Recoding, k: int) -> np.ndarray:
    """The positions of the classes with fewer than k records, the smallest first."""
    order = np.argsort(release.counts, kind="stable")
    return order[release.counts[order] < k]


def describe_small_classes(release: Recoding, k: int) -> str:
    small = find_small_classes(release, k)
    if not len(small):
        return ""
    size, labels = int(release.counts[small[0]]), get_labels(release, release.nodes[small[0]])
    more = f", and {count_noun(len(small) - 1, 'other class is', 'other classes are')} too small"
    return (
        f"Not {k}-anonymous: the class {format_tuple(labels)} has {count_noun(size, 'record')}"
        f"{more if len(small) > 1 else ''}."
    )
