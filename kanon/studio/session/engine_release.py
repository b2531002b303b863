"""A release that an engine made and wrote, of a table whose classes stay there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

import kanon.measures
from kanon.cards import parts_of
from kanon.metrics import METRICS
from kanon.plan import Plan
from kanon.recoding import Trace
from kanon.release.remark_kinds import Remark


@dataclass(frozen=True, eq=False)
class EngineFindings:
    """What a worker tells of a release that an engine made and wrote: all but the release."""

    measures: Mapping[str, Any]  # What the command line writes into ``M.json``
    alteration: float  # What it lost, as the plan's metric counts, in percent
    original_classes: int  # The number of classes of the table
    heights: Mapping[str, int]  # Per quasi-identifier the number of levels of its hierarchy
    trace: Trace  # What the algorithm did
    # Into how many parts the classes were cut, what is proved of the least loss, what every class
    # meets, and what leaves: sentences, or nothing.
    parts: str
    proof: str
    met: str
    leaves: str
    remarks: tuple[Remark, ...]  # What the release may give away although it meets its models


@dataclass(frozen=True, eq=False)
class EngineRelease:
    """A release that an engine made and wrote."""

    plan: Plan  # What it was made by, and a fingerprint of that
    settings: str
    found: EngineFindings  # What is known of it
    place: str  # Where it is
    seconds: float  # How long all of it took


def measures_table(measures: Mapping[str, Any]) -> pd.DataFrame:
    """The measures of a release as a table: what each is called, its name in ``M.json``, its value.

    A value is missing where it is not defined, or not counted.

    >>> found = measures_table({"min_k": 5, "alteration": {"nllm": 2.5}, "not_counted": []})
    >>> found[["measure", "name", "value"]].to_numpy().tolist()
    [['Minimum k', 'min_k', 5.0], ['Alteration, NLLM', 'alteration.nllm', 2.5]]
    """
    cards = {name: module.CARD for name, module in parts_of(kanon.measures).items()}
    rows = []
    for name, value in _numbers(measures):
        first, _, rest = name.partition(".")
        if first in cards:
            of_metric = METRICS[rest].card.title if rest in METRICS else rest
            title = ", ".join(filter(None, [cards[first].title, of_metric]))
            rows.append((title, name, value, cards[first].arrow))
        else:
            words = name.replace("_", " ").replace(".", ", ")
            rows.append((words[:1].upper() + words[1:], name, value, ""))
    found = pd.DataFrame(rows, columns=["measure", "name", "value", "better"])
    return found.astype({"value": float})


def _numbers(measures: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, float | None]]:
    for name, value in measures.items():
        if isinstance(value, Mapping):
            yield from _numbers(value, f"{before}{name}.")
        elif value is None or isinstance(value, (int, float)):
            yield f"{before}{name}", value


def not_counted(measures: Mapping[str, Any]) -> list[str]:
    """What the measures are called that would need every class here."""
    cards = {name: module.CARD for name, module in parts_of(kanon.measures).items()}
    return [cards[name].title for name in measures.get("not_counted", [])]
