"""A guess before anything is run: what was the best on the known table that is most like this one.

Eight numbers say what a table is like: ln of its records; its classes and its unique records as
shares of the records; its quasi-identifiers; the mean height of their hierarchies, and the mean of
ln of their leaves; ln of the sensitive values, and the evenness of these (their entropy as a share
of the largest possible). Each is divided by its standard deviation over the known tables, and the
least distance counts. What was the best there, for the nearest of two k and for the concerns that
matter, is the guess.

known.json holds the known tables, and how often such a guess was right when tables of the same
origin were left out: ``make guess`` writes it, docs/figures/advisor-guess.md tells the figures.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kanon.classes import EquivalenceClasses
from kanon.experiments.advisor.weighing import CONCERNS, USUAL, checked_weights
from kanon.experiments.sweep import Configuration
from kanon.experiments.titles import full_title
from kanon.metrics import METRICS
from kanon.strategies import Scope

__all__ = [
    "KNOWN",
    "QUESTIONS",
    "RIGHT",
    "SHAPE",
    "Guess",
    "asked_like",
    "guess",
    "most_alike",
    "question_of",
    "shape_of",
    "weights_asked",
]

KNOWN = Path(__file__).with_name("known.json")
"""The known tables."""

RIGHT = 1.0
"""A guess is right if its score is within so many points of the best."""

SHAPE = (
    "ln records",
    "classes / records",
    "unique / records",
    "quasi-identifiers",
    "mean height",
    "mean ln leaves",
    "ln sensitive values",
    "evenness",
)
"""What a table is like, in the order of the numbers."""

_K = (5, 50)

QUESTIONS = ("alone", "utility", "l", "t", "utility+l", "utility+t", "l+t", "utility+l+t")
"""What can be asked: which concerns matter; ``alone`` without a sensitive column."""


@dataclass(frozen=True)
class Guess:
    """A guess.

    Attributes
    ----------
    configuration
        The way that is guessed.
    alike
        The known table that is most like this one.
    question
        The question that was asked of it.
    right, tried
        For how many of so many known tables a guess on this question was right.
    """

    configuration: Configuration
    alike: str
    question: str
    right: int
    tried: int

    @property
    def title(self) -> str:
        """What the way is called."""
        metric = METRICS[self.configuration.metric].card.title
        return full_title(self.configuration, metric)

    @property
    def sentence(self) -> str:
        """The guess, what it goes by, and how often such a guess was right."""
        poor = "" if 2 * self.right > self.tried else ", so do not rely on it"
        return (
            f"Guessed without any run: {self.title}, the best on the known table most like this "
            f"one ({self.alike}). Such a guess was within {RIGHT:g} point of the best on "
            f"{self.right} of {self.tried} known tables{poor}."
        )

    @property
    def numbers(self) -> dict[str, Any]:
        """The same as JSON can hold it."""
        own = self.configuration
        return {
            "metric": own.metric, "strategy": own.strategy, "scope": own.scope,
            "alike": self.alike, "right": self.right, "tried": self.tried,
        }  # fmt: skip


def shape_of(classes: EquivalenceClasses, sensitive: str | None) -> list[float]:
    """What a table is like: see the module.

    Parameters
    ----------
    classes
        Its classes.
    sensitive
        The sensitive column; without one, it counts as if all had one value.
    """
    trees, n = classes.hierarchies, classes.n_records
    values, even = 0.0, 0.0
    if sensitive is not None:
        total = classes.sensitive_named(sensitive).total
        shares = total[total > 0] / total.sum()
        values = math.log(len(shares))
        even = float(-(shares @ np.log(shares))) / values if values else 0.0
    return [
        math.log(n),
        classes.n_classes / n,
        classes.unique_records / n,
        float(len(trees)),
        float(np.mean([tree.height for tree in trees])),
        float(np.mean([math.log(tree.n_leaves) for tree in trees])),
        values,
        even,
    ]


def most_alike(shape: Sequence[float], others: Sequence[Sequence[float]]) -> int:
    """Which of some tables is most like one; of equal distances the first.

    Parameters
    ----------
    shape
        What the table is like.
    others
        The same of the tables to choose from.

    Examples
    --------
    >>> most_alike([5.0, 1.0], [[1.0, 1.0], [6.0, 1.1], [9.0, 2.0]])
    1
    """
    known = np.asarray(others, dtype=float)
    spread = known.std(axis=0)
    spread[spread == 0] = 1.0
    return int((((known - shape) / spread) ** 2).sum(axis=1).argmin())


def asked_like(weights: Mapping[str, float], sensitive: bool) -> str:
    """Which concerns matter: those with at least half the weight of the one that matters most.

    >>> asked_like({"utility": 2, "l": 1, "t": 0.5}, True), asked_like({"utility": 2}, False)
    ('utility+l', 'alone')
    """
    if not sensitive:
        return "alone"
    checked = checked_weights(weights)
    least = max(checked.values()) / 2
    return "+".join(name for name in CONCERNS if checked[name] >= least)


def weights_asked(concerns: str) -> dict[str, float]:
    """The weights that a question was answered with: all alike, of all three the usual ones.

    >>> weights_asked("utility+l")
    {'utility': 1.0, 'l': 1.0}
    """
    names = ["utility"] if concerns == "alone" else concerns.split("+")
    return dict(USUAL) if len(names) == len(CONCERNS) else dict.fromkeys(names, 1.0)


def question_of(k: int, concerns: str) -> str:
    """The question that a k is nearest to, by ratio.

    >>> question_of(10, "l"), question_of(20, "l")
    ('k=5 l', 'k=50 l')
    """
    near = min(_K, key=lambda one: abs(math.log(one / k)))
    return f"k={near} {concerns}"


def guess(
    classes: EquivalenceClasses,
    sensitive: str | None,
    k: int,
    weights: Mapping[str, float] = USUAL,
) -> Guess:
    """What might be the best way, from the shape of the table alone.

    Parameters
    ----------
    classes
        The classes of the table.
    sensitive
        The sensitive column that l and t are of; None without.
    k
        The k; of a range the larger end.
    weights
        How much each concern matters.

    Raises
    ------
    PlanError
        The weights are not allowed.
    """
    question = question_of(k, asked_like(weights, sensitive is not None))
    known: dict[str, Any] = json.loads(KNOWN.read_text("utf-8"))
    tables = [table for table in known["tables"] if question in table["best"]]
    place = most_alike(shape_of(classes, sensitive), [table["shape"] for table in tables])
    right, tried = known["right"][question]
    return Guess(
        _configuration(tables[place]["best"][question]),
        tables[place]["name"],
        question,
        right,
        tried,
    )


def _configuration(way: Sequence[str]) -> Configuration:
    metric, strategy, chosen = way
    scope: Scope = "class" if chosen == "class" else "table"
    return Configuration(metric, strategy, scope=scope)
