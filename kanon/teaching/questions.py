"""The kinds of questions on a small table: what each asks, its answer, how one given is marked.

A kind is a class here; its name stands in files. Nothing that has to be known to mark an answer
stands in a file: it follows from the table.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, get_args

import numpy as np
from pydantic import Discriminator, Field, StrictInt, StringConstraints

from kanon.algorithms.gaa import merge_path
from kanon.algorithms.task import Task
from kanon.base.checked_json import Strict
from kanon.base.formatting import counted, percent
from kanon.errors import ExerciseError, listing, quoted
from kanon.measures import alteration
from kanon.measures.cells import whole_potentials
from kanon.measures.privacy import sensitive_measures
from kanon.metrics import metric_named
from kanon.privacy.k_anonymity import too_few_records
from kanon.recoding import Recoding
from kanon.teaching.optimum import Best, best_levels, best_recoding
from kanon.teaching.small_tables import MOST_RECORDS, SmallTable, raised, tuple_text

Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Level = Annotated[StrictInt, Field(ge=0)]
K = Annotated[StrictInt, Field(ge=2, le=MOST_RECORDS)]
Labels = tuple[str, ...]

_HALF = 0.5
"""What is left of the points for a table that is k-anonymous, however much it alters."""

_TOLERANCE = 1e-9
"""Costs this much apart, relatively, are equal to who works them out in fractions: thirds of a
cost are rounded here."""


_LARGEST = 1e300
"""No number that is asked for is nearly as large."""


@dataclass(frozen=True)
class Mark:
    """What an answer is worth.

    Attributes
    ----------
    share
        The share of the points, from 0, wrong or not there, to 1, nothing is better.
    sentence
        Why, for who gave the answer.
    """

    share: float
    sentence: str


class Question(Strict):
    """What all kinds share.

    Attributes
    ----------
    id
        Its name in files of answers.
    table
        The table that it is about.
    text
        What the teacher says before what is asked; may be empty.
    points
        What a full answer is worth.
    """

    id: Annotated[str, StringConstraints(min_length=1, max_length=40)]
    table: str
    text: Annotated[str, StringConstraints(max_length=1000)] = ""
    points: Annotated[Number, Field(gt=0, le=1000)] = 1.0

    @property
    def goes_by(self) -> str | None:
        """The metric whose costs one has to know to answer; None if no costs count."""
        return None

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
        """What a printed sheet has to answer on, beside a line.

        ``columns`` and ``rows`` of values with a blank cell after each, or ``levels`` of columns,
        or ``options`` to tick.
        """
        return {}

    @abstractmethod
    def mark(self, table: SmallTable, answer: object) -> Mark:
        """What an answer is worth, whatever it is: one that is no answer at all is worth 0."""

    def check(self, table: SmallTable) -> None:
        """Check that the question can be answered.

        Raises
        ------
        KanonError
            It cannot; the sentence says why.
        """
        self.solution(table)


class _LeastQuestion(Question):
    """Make the table k-anonymous with the least alteration."""

    k: K
    metric: str = "nllm"

    @property
    def goes_by(self) -> str:
        """The metric."""
        return self.metric

    def check(self, table: SmallTable) -> None:
        """Check that the table has k records, and that the metric goes with it."""
        if self.k > len(table.frame):
            raise ExerciseError(too_few_records(self.k, len(table.frame)))
        super().check(table)

    @abstractmethod
    def best(self, table: SmallTable) -> Best:
        """What nothing is known to beat."""

    @abstractmethod
    def read(self, table: SmallTable, answer: object) -> Recoding:
        """The release that an answer means.

        Raises
        ------
        ExerciseError
            It is no answer, or not allowed; the sentence says why.
        """

    def mark(self, table: SmallTable, answer: object) -> Mark:
        """Half of the points for k-anonymity, the rest by how near the least alteration is.

        The share is (1 + (100 - a) / (100 - b)) / 2 with a the alteration and b the least one: 1
        for the least, 1/2 where everything is at the root; 0 where a class is smaller than k.
        """
        try:
            release = self.read(table, answer)
        except ExerciseError as error:
            return Mark(0.0, error.sentence)
        lacking = _too_small(release, self.k)
        if lacking:
            return Mark(0.0, lacking)
        best, found = self.best(table), alteration.value(release, metric_named(self.metric))
        start = f"The table is {release.min_k}-anonymous with an alteration of {percent(found)}"
        if found <= best.alteration * (1 + _TOLERANCE):
            least = "the least possible" if best.proven else "as good as the best known"
            return Mark(1.0, f"{start}, {least}.")
        share = _HALF + (1 - _HALF) * (100 - found) / (100 - best.alteration)
        least = "the least possible" if best.proven else "the best known"
        return Mark(share, f"{start}, where {percent(best.alteration)} is {least}.")

    def _least(self, best: Best) -> str:
        least = "the least possible" if best.proven else "the best known of too many to try all"
        return f"alteration {percent(best.alteration)}, {least}"

    def _counts(self) -> str:
        return f"as {metric_named(self.metric).card.title} counts"


class RecodeQuestion(_LeastQuestion):
    """Raise values by hand; the answer is what every record becomes.

    An answer is a list with an object per record, in the table's order: per quasi-identifier the
    label that it gets.
    """

    kind: Literal["recode"]

    def asked(self, table: SmallTable) -> str:
        """What is asked."""
        return (
            f"Make this table {self.k}-anonymous with the least alteration, {self._counts()}: "
            "raise values in their trees. Records that look alike stay together, and none is left "
            "out."
        )

    def space(self, table: SmallTable) -> Mapping[str, Any]:
        """A blank cell for every value."""
        columns = list(table.classes.attributes)
        return {"columns": columns, "rows": table.frame[columns].to_numpy().tolist()}

    def best(self, table: SmallTable) -> Best:
        """The least of all recodings; see :func:`kanon.teaching.optimum.best_recoding`."""
        return table.once(
            ("recoding", self.metric, self.k),
            lambda: best_recoding(table.classes, metric_named(self.metric), self.k),
        )

    def solution(self, table: SmallTable) -> list[dict[str, str]]:
        """The recoding of least alteration."""
        release, classes = self.best(table).recoding, table.classes
        return [
            dict(zip(classes.attributes, _labels(release, release.targets[place]), strict=True))
            for place in table.source.row_class
        ]

    def solved(self, table: SmallTable) -> str:
        """That recoding in a sentence."""
        best = self.best(table)
        release = best.recoding
        listed = "; ".join(
            f"{tuple_text(_labels(release, nodes))} × {count}"
            for nodes, count in zip(release.nodes, release.counts, strict=True)
        )
        return f"{listed}: {self._least(best)}."

    def read(self, table: SmallTable, answer: object) -> Recoding:
        """The release that the labels of all records mean."""
        classes, size = table.classes, len(table.frame)
        if not isinstance(answer, Sequence) or isinstance(answer, str) or len(answer) != size:
            raise ExerciseError(
                f"The answer has to be a list of {counted(size, 'record')}, each with a value for "
                f"{listing(classes.attributes, most=12)}."
            )
        targets = np.full_like(classes.nodes, -1)
        first: dict[int, int] = {}
        for number, (given, place) in enumerate(
            zip(answer, table.source.row_class.tolist(), strict=True), start=1
        ):
            nodes = self._nodes(table, given, number, place)
            if place in first and (targets[place] != nodes).any():
                raise ExerciseError(
                    f"Records {first[place]} and {number} look alike in the table and not in the "
                    "answer; records that look alike stay together."
                )
            first.setdefault(place, number)
            targets[place] = nodes
        return Recoding.from_targets(classes, targets)

    def _nodes(self, table: SmallTable, given: object, number: int, place: int) -> list[int]:
        """The nodes that one record gets."""
        classes, found = table.classes, []
        if not isinstance(given, Mapping) or set(given) != set(classes.attributes):
            raise ExerciseError(
                f"Record {number} has to have a value for each of "
                f"{listing(classes.attributes, most=12)}, and nothing else."
            )
        for j, (name, tree) in enumerate(zip(classes.attributes, classes.hierarchies, strict=True)):
            node = tree.node_of.get(given[name]) if isinstance(given[name], str) else None
            if node is None:
                raise ExerciseError(
                    f"Record {number}: {{cells}} is not in the tree of {quoted(name)}.",
                    [given[name]],
                )
            if not tree.is_ancestor(node, int(classes.nodes[place, j])):
                raise ExerciseError(
                    f"Record {number}: in the tree of {quoted(name)}, {{cells}} is not above the "
                    "value of the record; values may only be raised.",
                    [given[name]],
                )
            found.append(node)
        return found


class LevelsQuestion(_LeastQuestion):
    """Choose one level per column; the answer is an object of levels by column."""

    kind: Literal["levels"]

    def asked(self, table: SmallTable) -> str:
        """What is asked."""
        listed = ", ".join(
            f"{name} 0 to {tree.height - 1}"
            for name, tree in zip(table.classes.attributes, table.classes.hierarchies, strict=True)
        )
        return (
            f"Choose one level for each column ({listed}), so that the table becomes "
            f"{self.k}-anonymous with the least alteration, {self._counts()}."
        )

    def space(self, table: SmallTable) -> Mapping[str, Any]:
        """A line for every column."""
        return {"levels": table.classes.attributes}

    def best(self, table: SmallTable) -> Best:
        """The least over the lattice; see :func:`kanon.teaching.optimum.best_levels`."""
        return table.once(
            ("levels", self.metric, self.k),
            lambda: best_levels(table.classes, metric_named(self.metric), self.k),
        )

    def solution(self, table: SmallTable) -> dict[str, int]:
        """The levels of least alteration."""
        node = self.best(table).recoding.trace.node
        assert node is not None, "every record was raised to the same levels"
        return dict(zip(table.classes.attributes, map(int, node), strict=True))

    def solved(self, table: SmallTable) -> str:
        """Those levels in a sentence."""
        listed = ", ".join(f"{name} {level}" for name, level in self.solution(table).items())
        return f"Levels {listed}: {self._least(self.best(table))}."

    def read(self, table: SmallTable, answer: object) -> Recoding:
        """The release at the levels that were chosen."""
        names = table.classes.attributes
        whole = isinstance(answer, Mapping) and all(
            isinstance(level, int) and not isinstance(level, bool) for level in answer.values()
        )
        if not isinstance(answer, Mapping) or not whole or set(answer) != set(names):
            raise ExerciseError(
                "The answer has to be a level, a whole number, for each of "
                f"{listing(names, most=12)}, and for nothing else."
            )
        return raised(table.classes, answer)


class NumberQuestion(Question):
    """Work out a number of the table, or of what it becomes at some levels."""

    NAMES: ClassVar[Mapping[str, str]] = {
        "k": "What is k: how many records does the smallest class have?",
        "classes": "How many classes does the table have?",
        "unique": "How many records are unique by their quasi-identifiers?",
        "alteration": "What is the alteration, in percent,",
        "entropy-l": "What is the entropy l-diversity: of the class where it is lowest, exp of the "
        "entropy",
        "distinct-l": "What is the distinct l-diversity: in the class with the fewest, how many "
        "values are there",
        "t": "What is the t-closeness by norm 1: of the class where it is highest, the sum of the "
        "differences between its shares and the table's",
    }
    _WHOLE: ClassVar[tuple[str, ...]] = ("k", "classes", "unique", "distinct-l")
    _SENSITIVE: ClassVar[Mapping[str, str]] = {
        "entropy-l": "entropy_l",
        "distinct-l": "distinct_l",
        "t": "t_norm1",
    }

    kind: Literal["number"]
    number: Literal["k", "classes", "unique", "alteration", "entropy-l", "distinct-l", "t"]
    levels: dict[str, Level] = Field(default_factory=dict)
    metric: str = "nllm"
    sensitive: str | None = None
    tolerance: Annotated[Number, Field(ge=0)] | None = None

    @property
    def allowed(self) -> float:
        """How far off an answer may be: what the file says, else 0 for counts and 0.05."""
        if self.tolerance is not None:
            return self.tolerance
        return 0.0 if self.whole else 0.05

    @property
    def whole(self) -> bool:
        """Whether the number is a count."""
        return self.number in self._WHOLE

    @property
    def goes_by(self) -> str | None:
        """The metric that counts an alteration."""
        return self.metric if self.number == "alteration" else None

    def asked(self, table: SmallTable) -> str:
        """What is asked, with the tolerance."""
        start = ""
        if self.levels:
            listed = ", ".join(f"{name} {level}" for name, level in self.levels.items())
            start = (
                f"Raise the table to these levels, other columns staying as they are: {listed}. "
            )
        end = ""
        if self.number == "alteration":
            end = f" as {metric_named(self.metric).card.title} counts?"
        elif self.number in self._SENSITIVE:
            end = f" of {quoted(self._column(table))}?"
        near = f" Up to {self.allowed:g} off counts as right." if self.allowed else ""
        return f"{start}{self.NAMES[self.number]}{end}{near}"

    def solution(self, table: SmallTable) -> float | int:
        """The number."""
        release = raised(table.classes, self.levels)
        match self.number:
            case "k":
                return int(release.counts.min())
            case "classes":
                return release.n_classes
            case "unique":
                return release.released.unique_records
            case "alteration":
                return alteration.value(release, metric_named(self.metric))
        measured = sensitive_measures(release.released.sensitive_named(self._column(table)))
        found = measured[self._SENSITIVE[self.number]]
        assert found is not None, "only infinite levels are None"
        return found

    def solved(self, table: SmallTable) -> str:
        """The number in a sentence."""
        found = self.solution(table)
        return f"{_shown(found)}." if isinstance(found, int) else f"About {_shown(found)}."

    def mark(self, table: SmallTable, answer: object) -> Mark:
        """All points within the tolerance, else none."""
        if isinstance(answer, bool) or not isinstance(answer, int | float):
            return Mark(0.0, "The answer has to be a number.")
        if not abs(answer) <= _LARGEST:  # NaN is not, and no count is too long to be compared
            return Mark(0.0, "The answer has to be a finite number.")
        right = self.solution(table)
        # A number with the last decimal rounded to the other side is not further off.
        if abs(answer - right) <= self.allowed * (1 + 1e-9) + 1e-9:
            return Mark(1.0, f"Right: it is {_shown(right)}.")
        return Mark(0.0, f"It is {_shown(right)}, not {_shown(answer)}.")

    def check(self, table: SmallTable) -> None:
        """Check that the number is defined, and that a metric of that name exists."""
        metric_named(self.metric)
        super().check(table)

    def _column(self, table: SmallTable) -> str:
        """The sensitive column: the one that is named, or the only one."""
        known = [each.name for each in table.classes.sensitive]
        if self.sensitive is None and len(known) == 1:
            return known[0]
        if self.sensitive not in known:
            raise ExerciseError(
                f"The key sensitive has to be one of the sensitive columns ({listing(known)})."
                if known
                else "The table has no sensitive column."
            )
        return self.sensitive


class ChoiceQuestion(Question):
    """Which class GAA merges next, or with which one; the answer is the labels of a class."""

    kind: Literal["choice"]
    choose: Literal["smallest", "partner"]
    merges: Annotated[StrictInt, Field(ge=0, lt=MOST_RECORDS)] = 0
    metric: str = "nllm"

    @property
    def goes_by(self) -> str | None:
        """The metric; what is the smallest class at first does not depend on it."""
        return self.metric if self.merges or self.choose == "partner" else None

    def asked(self, table: SmallTable) -> str:
        """What is asked, and after how many merges."""
        after = f"After {counted(self.merges, 'merge')}" if self.merges else "At first"
        if self.choose == "smallest":
            return f"{after}, which class does GAA take to merge it with another one?"
        step = self._step(table)
        return (
            f"{after}, GAA takes the class {tuple_text(step.smallest)}. With which class does it "
            f"merge that one, where {metric_named(self.metric).card.title} counts?"
        )

    def space(self, table: SmallTable) -> Mapping[str, Any]:
        """The classes, to tick one."""
        return {"options": [", ".join(labels) for labels in self.options(table)]}

    def options(self, table: SmallTable) -> tuple[Labels, ...]:
        """The classes that there are to choose from, in canonical order."""
        step = self._step(table)
        if self.choose == "smallest":
            return step.options
        return tuple(labels for labels in step.options if labels != step.smallest)

    def solution(self, table: SmallTable) -> list[str]:
        """The class that GAA takes."""
        step = self._step(table)
        return list(step.smallest if self.choose == "smallest" else step.partner)

    def solved(self, table: SmallTable) -> str:
        """That class, and those that are as good."""
        taken = tuple(self.solution(table))
        others = [tuple_text(labels) for labels in self._right(table) if labels != taken]
        equal = f"; as good: {', '.join(others)}" if others else ""
        return f"{tuple_text(taken)}{equal}."

    def mark(self, table: SmallTable, answer: object) -> Mark:
        """All points for the class that GAA takes and for those as good, else none."""
        options = self.options(table)
        listed = isinstance(answer, Sequence) and not isinstance(answer, str)
        given = tuple(answer) if isinstance(answer, Sequence) and listed else ()
        if given not in options:
            return Mark(
                0.0,
                "The answer has to be one of the classes, as a list of its values: "
                f"{', '.join(map(tuple_text, options))}.",
            )
        taken = tuple(self.solution(table))
        right = self._right(table)
        why = "the smallest" if self.choose == "smallest" else "the cheapest"
        why = why if len(right) == 1 else f"one of {why}"
        if given == taken:
            return Mark(1.0, f"Right: {tuple_text(taken)} is {why}.")
        if given in right:
            return Mark(
                1.0,
                f"Right: {tuple_text(given)} is as good as {tuple_text(taken)}, which GAA takes "
                "because it stands first in the order of the trees.",
            )
        return Mark(0.0, f"It is {tuple_text(taken)}, {why}, not {tuple_text(given)}.")

    def _right(self, table: SmallTable) -> tuple[Labels, ...]:
        step = self._step(table)
        return step.smallest_ones if self.choose == "smallest" else step.cheapest

    def _step(self, table: SmallTable) -> _Step:
        return table.once(
            ("step", self.metric, self.merges),
            lambda: _step(table, self.metric, self.merges),
        )


AnyQuestion = Annotated[
    RecodeQuestion | LevelsQuestion | NumberQuestion | ChoiceQuestion, Discriminator("kind")
]
"""A question of any kind."""

KINDS: tuple[str, ...] = tuple(
    get_args(one.model_fields["kind"].annotation)[0] for one in get_args(get_args(AnyQuestion)[0])
)
"""What the kinds are called in files."""


@dataclass(frozen=True)
class _Step:
    """A step of GAA: the classes, the one that it takes, its partner, and those as good."""

    options: tuple[Labels, ...]
    smallest: Labels
    partner: Labels
    smallest_ones: tuple[Labels, ...]
    cheapest: tuple[Labels, ...]


def _step(table: SmallTable, metric: str, merges: int) -> _Step:
    """The step of GAA after some merges; the run is the library's, up to one class."""
    classes = table.classes
    depths = whole_potentials(classes, metric_named(metric))
    path = merge_path(Task(classes, depths, k=classes.n_records))
    if not len(path.parts):
        raise ExerciseError("The table has one class, so there is nothing to be merged.")
    if merges >= len(path.parts):
        raise ExerciseError(
            f"After {counted(merges, 'merge')} nothing is left to be merged; merges has to be "
            f"below {len(path.parts)}."
        )
    now = path.after(merges)
    taken, partner = (tuple(path.nodes[place].tolist()) for place in path.parts[merges][:2])
    sizes = {tuple(row): n for row, n in zip(now.nodes.tolist(), now.counts.tolist(), strict=True)}

    def cost(other: tuple[int, ...]) -> int:
        """MC: what all records of both classes lose."""
        found = 0
        for tree, depth, one, two in zip(classes.hierarchies, depths, taken, other, strict=True):
            left = int(depth[tree.lca(one, two)])
            found += (int(depth[one]) - left) * sizes[taken]
            found += (int(depth[two]) - left) * sizes[other]
        return found

    costs = {nodes: cost(nodes) for nodes in sizes if nodes != taken}
    least = min(costs.values()) * (1 + _TOLERANCE)
    return _Step(
        options=tuple(_labels(now, nodes) for nodes in sizes),
        smallest=_labels(now, taken),
        partner=_labels(now, partner),
        smallest_ones=tuple(
            _labels(now, nodes) for nodes, size in sizes.items() if size == min(sizes.values())
        ),
        cheapest=tuple(_labels(now, nodes) for nodes, paid in costs.items() if paid <= least),
    )


def _labels(release: Recoding, nodes: Sequence[int] | np.ndarray) -> Labels:
    return tuple(tree.labels[node] for tree, node in zip(release.hierarchies, nodes, strict=True))


def _too_small(release: Recoding, k: int) -> str:
    """Which class breaks k, in a sentence; empty if none does."""
    order = np.argsort(release.counts, kind="stable")
    small = order[release.counts[order] < k]
    if not len(small):
        return ""
    size, labels = int(release.counts[small[0]]), _labels(release, release.nodes[small[0]])
    more = f", and {counted(len(small) - 1, 'other class is', 'other classes are')} too small"
    return (
        f"Not {k}-anonymous: the class {tuple_text(labels)} has {counted(size, 'record')}"
        f"{more if len(small) > 1 else ''}."
    )


def _shown(number: float) -> str:
    """A number with up to three decimals.

    >>> _shown(3), _shown(18.4375), _shown(2.0)
    ('3', '18.438', '2')
    """
    return f"{number:.3f}".rstrip("0").rstrip(".") if isinstance(number, float) else str(number)
