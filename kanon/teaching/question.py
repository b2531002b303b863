"""The base class of questions: the task, the solution, and the mark of an answer."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from pydantic import Field, StringConstraints

from kanon.base.checked_json import Strict
from kanon.errors import join_lines
from kanon.recoding import Recoding
from kanon.teaching.small_tables import SmallTable

Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Labels = tuple[str, ...]

TOLERANCE = 1e-9
"""Relative difference below which two costs count as equal: thirds are rounded here."""


NOT_ALLOWED = "not allowed"  # describes an invalid answer


@dataclass(frozen=True)
class Mark:
    share: float  # of the points, from 0 to 1
    sentence: str  # why, for the student


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
