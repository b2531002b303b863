"""All measures of what a release lost, beside those of the table and of total loss."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import kanon.measures
from kanon.cards import Card, parts_of
from kanon.classes import EquivalenceClasses
from kanon.measures import alteration, classification_metric, minimum_k
from kanon.metrics import Metric
from kanon.recoding import Recoding, Trace

_APART = (minimum_k, alteration, classification_metric)
"""Measures of protection, and those with several numbers: per metric or sensitive column."""


def get_utility_cards() -> Mapping[str, Card]:
    """The cards of the measures with one number per release, by name."""
    return {
        name: module.CARD
        for name, module in parts_of(kanon.measures).items()
        if module not in _APART
    }


def build_identity(classes: EquivalenceClasses) -> Recoding:
    """The release that changes nothing: every record at the lowest levels."""
    lowest = Trace(node=(0,) * len(classes.attributes))
    return Recoding.from_targets(classes, classes.nodes, trace=lowest)


def build_all_at_root(classes: EquivalenceClasses) -> Recoding:
    """The release that reveals nothing: every quasi-identifier of every record at its root."""
    roots = np.array([tree.root for tree in classes.hierarchies], dtype=np.int32)
    top = tuple(int(tree.level[tree.root]) for tree in classes.hierarchies)
    targets = np.broadcast_to(roots, classes.nodes.shape)
    return Recoding.from_targets(classes, targets, trace=Trace(node=top))


@dataclass(frozen=True)
class MeasureValue:
    card: Card
    # for the original table, for the release, and with every quasi-identifier at its root
    before: float | None
    after: float | None
    at_root: float | None
    column: str = ""  # its sensitive column

    @property
    def way(self) -> float | None:
        if self.before is None or self.after is None or self.at_root is None:
            return None
        whole = self.at_root - self.before
        return 100.0 * ((self.after - self.before) / whole) if whole else None

    @property
    def in_percent(self) -> MeasureValue:
        """A share in percent, as pages and reports show it; any other measure unchanged.

        >>> share = Card("x", "X", "", "", unit="share", lowest="0: all", highest="almost 1: none")
        >>> percent = MeasureValue(share, 0.25, None, 1).in_percent
        >>> percent.before, percent.after, percent.at_root, percent.card.unit, percent.card.highest
        (25.0, None, 100.0, '%', 'almost 100 %: none')
        """
        if self.card.unit != "share":
            return self
        ends = (
            re.sub(r"\b[01](?=:)", lambda share: f"{100 * int(share[0])} %", end)
            for end in (self.card.lowest, self.card.highest)
        )
        lowest, highest = ends
        shares = (self.before, self.after, self.at_root)
        before, after, at_root = (None if part is None else 100.0 * part for part in shares)
        card = replace(self.card, unit="%", lowest=lowest, highest=highest)
        return MeasureValue(card, before, after, at_root, self.column)


def build_overview(
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    at_root: Mapping[str, Any],
    metrics: Sequence[Metric],
    columns: Sequence[str] = (),
) -> tuple[MeasureValue, ...]:
    """All measures of what a release lost, by title, without measures of privacy."""
    three = (before, after, at_root)
    single = [alteration.MEAN_CARD, *get_utility_cards().values()]
    values = [MeasureValue(card, *(side[card.name] for side in three)) for card in single]
    for metric in metrics:
        card = replace(alteration.CARD, title=f"Alteration, {metric.card.title}")
        values.append(MeasureValue(card, *(side["alteration"][metric.name] for side in three)))
    card = classification_metric.CARD
    for column in columns:
        then, release, most = (
            get_column_measures(side, column, columns)[card.name] for side in three
        )
        values.append(MeasureValue(card, then, release, most, column))
    return tuple(sorted(values, key=lambda side: (side.card.title.lower(), side.column)))


def get_column_measures(
    numbers: Mapping[str, Any], column: str, columns: Sequence[str]
) -> Mapping[str, Any]:
    """The measures of a sensitive column, which are among the others if it is the only one."""
    return numbers if len(columns) == 1 else numbers["sensitive"][column]
