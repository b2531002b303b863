"""What all kinds of questions share: what is asked, the answer, how one given is marked."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from pydantic import Field, StringConstraints

from kanon.base.checked_json import Strict
from kanon.errors import on_one_line
from kanon.recoding import Recoding
from kanon.teaching.small_tables import SmallTable

Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Labels = tuple[str, ...]

TOLERANCE = 1e-9
"""Costs this much apart, relatively, are equal to who works them out in fractions: thirds of a
cost are rounded here."""


NOT_ALLOWED = "not allowed"  # how an answer is told that is none


@dataclass(frozen=True)
class Mark:
    share: float  # the share of the points, from 0, wrong or not there, to 1, nothing is better
    sentence: str  # why, for who gave the answer


class Question(Strict):
    # its name in files of answers
    id: Annotated[str, StringConstraints(min_length=1, max_length=40)]
    # the table that it is about
    table: str = Field(title="About the table", json_schema_extra={"choices": "tables"})
    # what it is called where it is listed
    title: Annotated[str, StringConstraints(max_length=60)] = Field(
        default="", title="Title, may be empty"
    )
    # what the teacher says before what is asked
    text: Annotated[str, StringConstraints(max_length=1000)] = Field(
        default="", title="What you say before it, may be empty"
    )
    # what a full answer is worth
    points: Annotated[Number, Field(gt=0, le=1000)] = Field(
        default=1.0, title="Points", json_schema_extra={"step": 0.5}
    )

    @property
    def goes_by(self) -> str | None:
        """The metric whose costs one has to know to answer; None if no costs count."""
        return None

    @property
    @abstractmethod
    def usual_title(self) -> str:
        """The title of a question that is given none."""

    @abstractmethod
    def asked(self, table: SmallTable) -> str:
        """What is asked, in a sentence or two."""

    @abstractmethod
    def solution(self, table: SmallTable) -> Any:
        """An answer that gets all points, as files of answers hold it."""

    @abstractmethod
    def solved(self, table: SmallTable) -> str:
        """That answer in a sentence."""

    def space(self, table: SmallTable) -> Mapping[str, Any]:
        return {}

    @abstractmethod
    def told(self, table: SmallTable, answer: object) -> str:
        """An answer in a few words, equal ones in the same; one that is none as one that is not."""

    @abstractmethod
    def mark(self, table: SmallTable, answer: object) -> Mark:
        """What an answer is worth, whatever it is: one that is no answer at all is worth 0."""

    def check(self, table: SmallTable) -> None:
        self.solution(table)


def heading(number: int, question: Question) -> str:
    """What a question is called on the screen, in marks and on paper."""
    return f"{number} {on_one_line(question.title) or question.usual_title}"


def labels_of(release: Recoding, nodes: Sequence[int] | np.ndarray) -> Labels:
    return tuple(tree.labels[node] for tree, node in zip(release.hierarchies, nodes, strict=True))
