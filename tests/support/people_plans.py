"""A small table, and plans for it that are good but for one thing."""

import copy
from typing import Any

import pandas as pd

from kanon.errors import KanonError
from kanon.plan import Plan

PEOPLE = pd.DataFrame(
    {
        "name": ["Ana", "Bea", "Cyd", "Dan", "Eve", "Ana"],
        "age": [31, 34, 38, 52, 57, 31],
        "sex": ["F", "F", "F", "M", "F", "F"],
        "disease": ["flu", "flu", "cold", "cold", "flu", "cold"],
        "note": [1.5, None, 3.0, 4.0, 5.25, 6.0],
    }
)


HIERARCHY = ("columns", "sex", "hierarchy")
"""Where the hierarchy of sex stands in a plan."""


def plan_with(**changes: Any) -> dict[str, Any]:
    """A good plan for PEOPLE with some top-level keys replaced."""
    plan = {
        "version": 2,
        "columns": {
            "name": {"role": "identifier"},
            "age": {
                "role": "quasi-identifier",
                "hierarchy": {"build": "intervals", "widths": [10, 20]},
            },
            "sex": {"role": "quasi-identifier", "hierarchy": {"build": "suppression"}},
            "disease": {"role": "sensitive"},
        },
        "algorithm": {"name": "gaa"},
        "privacy": [{"model": "k-anonymity", "k": 2}],
    }
    return copy.deepcopy({**plan, **changes})


def changed(*path: Any, to: Any) -> dict[str, Any]:
    """The good plan with one key set, or removed where ``to`` is ``...``."""
    plan = plan_with()
    place: Any = plan
    for key in path[:-1]:
        place = place[key] if isinstance(place, list) else place.setdefault(key, {})
    if to is ...:
        del place[path[-1]]
    else:
        place[path[-1]] = to
    return plan


def one_column(values: Any, hierarchy: Any, k: int = 2, **read: Any) -> tuple[Plan, pd.DataFrame]:
    """A plan and a table of one quasi-identifier ``q``."""
    plan = plan_with(
        columns={"q": {"role": "quasi-identifier", "hierarchy": hierarchy}},
        privacy=[{"model": "k-anonymity", "k": k}],
        read=read,
    )
    return Plan.from_content(plan), pd.DataFrame({"q": values})


def check_sentence(error: KanonError, said: list[str]) -> None:
    """One line, readable, with all that has to be said."""
    for part in said:
        assert part in error.sentence
    assert "\n" not in error.sentence
    assert error.sentence.endswith(".")
    for internal in ("_kind_of", "Traceback", "pydantic", "constrained-float"):
        assert internal not in error.sentence
