"""Random small tables with roles and hierarchies, and random plans for them.

Everything is drawn from a :class:`random.Random`, so one number repeats a table; handed hypothesis'
own, the same code gives examples that shrink. What may be drawn is asked of kanon: algorithms with
their parameters, models with their ranges, metrics, strategies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from random import Random
from typing import Any

import numpy as np
import pandas as pd

from kanon.algorithms.catalogue import algorithms, needs_hierarchies
from kanon.metrics import METRICS
from kanon.privacy.model import Range, ranges
from kanon.privacy.plans import MODELS
from kanon.privacy.release_model import PopulationModel
from kanon.privacy.t_closeness import HIGHEST as DISTANCES
from kanon.strategies import LOOKS_AT, SCOPES, STRATEGIES, needs_sensitive

__all__ = ["Drawn", "draw_plan", "draw_table"]

ORDERED = {"name": "pay", "distance": "emd-ordered"}
"""The column of numbers, and the distance that asks for one."""


@dataclass
class Drawn:
    """A table, and what a plan says of its columns.

    Attributes
    ----------
    table
        The records. A column ``row`` numbers them, so that a release can be matched with them.
    columns, read, suppressed
        Those parts of a plan.
    texts
        Per quasi-identifier its cells as text, row by row; None where one is missing.
    weighted
        Whether every hierarchy has drawn weights.
    bare
        Whether a quasi-identifier has no hierarchy.
    """

    table: pd.DataFrame = field(default_factory=pd.DataFrame)
    columns: dict[str, dict[str, Any]] = field(default_factory=dict)
    read: dict[str, Any] = field(default_factory=dict)
    suppressed: str = "leave-out"
    texts: dict[str, list[str | None]] = field(default_factory=dict)
    weighted: bool = True
    bare: bool = False

    def of(self, role: str) -> list[str]:
        """The columns of a role."""
        return [name for name, column in self.columns.items() if column["role"] == role]

    @property
    def algorithms(self) -> list[str]:
        """The algorithms that take such columns."""
        return [name for name in algorithms() if not (self.bare and needs_hierarchies(name))]


def draw_table(draw: Random) -> Drawn:
    """A table of at most 24 records with one to three quasi-identifiers."""
    made, n = Drawn(), draw.randint(2, 24)
    numbers = draw.random() < 0.2  # all that MDAV takes
    lacks = not numbers and draw.random() < 0.3
    made.bare = draw.random() < 0.1
    cells: dict[str, Any] = {"row": list(range(n))}
    for j in range(draw.randint(1, 3)):
        kind = _intervals if numbers else draw.choice(_KINDS)
        chosen, values = kind(draw, "abc"[j])
        made.weighted &= kind is _tree and any("weight" in node for node in chosen["nodes"])
        column = [draw.choice(values) for _ in range(n)]
        if lacks:
            column = [None if draw.random() < 0.1 else value for value in column]
        made.texts[f"q{j}"] = [None if value is None else str(value) for value in column]
        made.columns[f"q{j}"] = {"role": "quasi-identifier"}
        if not made.bare or draw.random() < 0.3:
            made.columns[f"q{j}"]["hierarchy"] = chosen
        cells[f"q{j}"] = _stored(draw, column)
    if draw.random() < 0.8:
        few = ["flu", "cold", "angina", None][: draw.randint(2, 4)]
        cells["ill"] = [draw.choice(few) for _ in range(n)]
        made.columns["ill"] = {"role": "sensitive"}
        if draw.random() < 0.5:
            cells["pay"] = [draw.choice([10, 20, 20, 35]) for _ in range(n)]
            made.columns["pay"] = {"role": "sensitive"}
    if draw.random() < 0.5:
        cells["name"] = [draw.choice(["Ana", "Ben", "Cem", "Dag", None]) for _ in range(n)]
        made.columns["name"] = {"role": "identifier", "pseudonym": draw.random() < 0.5}
    if draw.random() < 0.5:
        cells["note"] = [draw.choice([0.5, None, "=1+1", "x"]) for _ in range(n)]
        made.columns["note"] = {"role": "insensitive"}
    order = draw.sample(sorted(cells), len(cells))
    index = draw.sample(range(100, 100 + n), n) if draw.random() < 0.3 else None
    made.table = pd.DataFrame({name: cells[name] for name in order}, index=index)
    made.read = {"missing": draw.choice(["drop-records", "as-value"])} if lacks else {}
    made.suppressed = draw.choice(["leave-out", "leave-out", "keep"])
    return made


def _stored(draw: Random, column: list) -> Any:
    """The cells of a column as pandas may hold them."""
    if None in column or draw.random() < 0.6:
        return column
    return pd.Categorical(column) if draw.random() < 0.5 else np.array(column, dtype=object)


# --- hierarchies, with the values that they know ----------------------------------------------
def _tree(draw: Random, prefix: str) -> tuple[dict[str, Any], list]:
    """Any tree: unbalanced, a chain, a star; inner nodes occur as values too."""
    size, weighted = draw.randint(2, 9), draw.random() < 0.6
    reach = draw.choice([1, 3, size])
    nodes: list[dict[str, Any]] = [{"name": f"{prefix}0"}]
    for node in range(1, size):
        above = draw.randint(max(0, node - reach), node - 1)
        nodes.append({"name": f"{prefix}{node}", "parent": f"{prefix}{above}"})
        if weighted:
            nodes[-1]["weight"] = draw.randint(0, 12) / 4
    names = [node["name"] for node in nodes]
    leaves = sorted({*names} - {node.get("parent") for node in nodes})
    return {"nodes": nodes}, leaves * 3 + names


def _intervals(draw: Random, _: str) -> tuple[dict[str, Any], list]:
    narrow = draw.randint(1, 5)
    widths = [narrow * times for times in (1, 2, 6)[: draw.randint(1, 3)]]
    return {"build": "intervals", "widths": widths}, list(range(draw.randint(-9, 60), 70, 3))


def _mask(draw: Random, _: str) -> tuple[dict[str, Any], list]:
    side = draw.choice(["left", "right"])
    return {"build": "mask", "keep": [2, 1], "side": side}, [f"{i:03}" for i in range(95, 125, 4)]


def _suppression(draw: Random, prefix: str) -> tuple[dict[str, Any], list]:
    return {"build": "suppression"}, [f"{prefix}{i}" for i in range(draw.randint(1, 5))]


def _dates(draw: Random, _: str) -> tuple[dict[str, Any], list]:
    step = draw.choice([5, 40, 400])
    days = [date(1999, 12, 1) + timedelta(step * i) for i in range(8)]
    return {"build": "dates", "levels": ["month", "year"]}, [day.isoformat() for day in days]


_KINDS = (_tree, _tree, _tree, _intervals, _mask, _suppression, _dates)


# --- plans --------------------------------------------------------------------------------------
def draw_plan(draw: Random, made: Drawn, name: str, heights: Mapping[str, int]) -> dict[str, Any]:
    """A plan for a table and an algorithm, as its JSON holds it.

    Parameters
    ----------
    draw
        Where it is drawn from.
    made
        The table.
    name
        The algorithm.
    heights
        Per quasi-identifier the height of its hierarchy.
    """
    n, sensitive = len(made.table), made.of("sensitive")
    privacy = [{"model": "k-anonymity", "k": draw.randint(2, max(2, n // 2))}]
    if sensitive and draw.random() < 0.6:
        # The models of a population need a second table.
        offered = [name for name, model in MODELS.items() if not issubclass(model, PopulationModel)]
        chosen = draw.sample(sorted(offered), draw.choice([1, 1, 2]))
        privacy = [*privacy, *(_part(draw, model, sensitive) for model in chosen)]
        if draw.random() < 0.1:
            del privacy[0]
    plan: dict[str, Any] = {
        "version": 2,
        "columns": made.columns,
        "algorithm": {"name": name, **_guided(draw, made, name, heights)},
        "privacy": privacy,
        "read": made.read,
        "suppressed": made.suppressed,
    }
    limit = draw.choice([None, None, 0, {"records": draw.randint(0, 5)}, draw.random() / 2])
    return plan if limit is None else {**plan, "suppression_limit": limit}


def _part(draw: Random, name: str, sensitive: Sequence[str]) -> dict[str, Any]:
    """A model with parameters from its own ranges, nearer to what can be met."""
    part: dict[str, Any] = {"model": name}
    for parameter, allowed in ranges(MODELS[name]).items():
        part[parameter] = _number(draw, allowed)
    fields = MODELS[name].__dataclass_fields__
    if "column" in fields:
        part["column"] = draw.choice(sensitive)
    if "distance" in fields:
        part["distance"] = draw.choice(sorted(DISTANCES))
        part["t"] *= DISTANCES[part["distance"]] / max(DISTANCES.values())
        if part["distance"] == ORDERED["distance"]:
            part["column"] = ORDERED["name"] if ORDERED["name"] in sensitive else sensitive[0]
    return part


def _number(draw: Random, allowed: Range) -> float:
    if allowed.whole:
        return int(allowed.lowest) + draw.choice([0, 0, 1])
    span = min(allowed.highest - allowed.lowest, 4)
    return allowed.lowest + span * draw.randint(1, 100) / 100


def _guided(draw: Random, made: Drawn, name: str, heights: Mapping[str, int]) -> dict[str, Any]:
    """What guides an algorithm, of the settings that it takes."""
    module = algorithms()[name]
    chosen: dict[str, Any] = {
        parameter.name: draw.choice(sorted(parameter.choices))
        for parameter in module.CARD.parameters
        if draw.random() < 0.7
    }
    metrics = [metric for metric in METRICS if made.weighted or metric != "custom"]
    offered: dict[str, Any] = {
        "metric": draw.choice(metrics),
        "cost": draw.choice(["weighted", "representatives"]),
        "tie_seed": draw.randint(0, 2**63 - 1),
        "seed": draw.randint(0, 2**63 - 1),
        "attribute_weights": {column: draw.randint(0, 6) / 2 for column in made.texts},
        "strategy": draw.choice([*STRATEGIES]),
        "node": {
            column: draw.randint(height // 2, height - 1) for column, height in heights.items()
        },
    }
    optional = 0.5
    for setting, value in offered.items():
        if setting in module.CARD.uses and (setting == "node" or draw.random() < optional):
            chosen[setting] = value
    if needs_sensitive(chosen.get("strategy", "s1")):
        if not (sensitive := made.of("sensitive")):
            del chosen["strategy"]
        else:
            chosen["sensitive"] = draw.choice(sensitive)
    if LOOKS_AT[chosen.get("strategy", "s1")]:
        chosen["scope"] = draw.choice([*SCOPES])
    return chosen
