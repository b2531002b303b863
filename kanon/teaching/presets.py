"""The small tables that come with kanon: the papers' examples, and two for the blackboard."""

import io
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import ModuleType

import pandas as pd

from kanon.base.own_files import find_own_file
from kanon.hierarchy.files import read_hierarchy
from kanon.hierarchy.ranges import build_flat_hierarchy
from kanon.schema import Role, Schema
from kanon.sources.coverage import count_values
from kanon.sources.limits import lift_size_limits
from kanon.sources.memory import MemorySource
from kanon.sources.reading import read_table
from kanon.teaching.small_tables import SmallTable

_IDENTIFIER, _QUASI, _SENSITIVE = Role.IDENTIFIER, Role.QUASI_IDENTIFIER, Role.SENSITIVE


@dataclass(frozen=True)
class Preset:
    name: str  # of its file in sample_data/ and its folder in hierarchies/
    title: str  # what pages call it
    about: str  # one sentence
    roles: Mapping[str, Role]  # the role of each column
    k: int
    metric: str
    levels: Mapping[str, int]  # levels of its quasi-identifiers at which that k is met
    content: str = ""  # the table itself, as CSV


_POINTS = """age;ward
20;1
22;5
24;2
26;4
28;1
30;1
34;1
40;5
"""

PRESETS: Mapping[str, Preset] = {
    preset.name: preset
    for preset in (
        Preset(
            "animals-m23", "Animals (Mauger et al. 2023)", "The paper's worked table.",
            {"name": _IDENTIFIER, "gender": _QUASI, "race": _QUASI, "disease": _SENSITIVE},
            k=4, metric="custom", levels={"gender": 0, "race": 2},
        ),
        Preset(
            "animals-v21", "Animals (Viton et al. 2021)", "The paper's worked table.",
            {"gender": _QUASI, "race": _QUASI},
            k=3, metric="total", levels={"gender": 0, "race": 2},
        ),
        Preset(
            "hospital", "Hospital, ten records", "Ten invented patients, for the blackboard.",
            {
                "name": _IDENTIFIER, "age": _QUASI, "zip": _QUASI, "sex": _QUASI,
                "disease": _SENSITIVE,
            },
            k=2, metric="total", levels={"age": 2, "zip": 2, "sex": 0},
        ),
        Preset(
            "points", "Eight points in a plane", "Eight invented patients, by age and ward.",
            {"age": _QUASI, "ward": _QUASI},
            k=2, metric="ncp", levels={"age": 2, "ward": 2}, content=_POINTS,
        ),
    )
}  # fmt: skip
"""Every small table; the first lesson's comes first."""


def load_preset_table(name: str) -> SmallTable:
    # Results are cached in the table, so every caller gets its own.
    return SmallTable(*_read_preset(name))


@cache
def _read_preset(name: str) -> tuple[pd.DataFrame, Schema, MemorySource]:
    preset = PRESETS[name]
    schema = Schema(preset.roles)
    if preset.content:
        frame = pd.read_csv(io.StringIO(preset.content), sep=";", dtype="str")
        trees = {
            column: build_flat_hierarchy(list(count_values(frame[column])))
            for column in schema.quasi_identifiers
        }
    else:
        with lift_size_limits():
            frame = read_table(find_own_file("sample_data", f"{name}.csv")).table
        folder = find_own_file("hierarchies", name)
        trees = {
            column: read_hierarchy(next(folder.glob(f"{column}.*"))).hierarchy
            for column in schema.quasi_identifiers
        }
    return frame, schema, MemorySource(frame, schema, trees)


def choose_preset(module: ModuleType) -> str:
    """The table that shows an algorithm best.

    >>> from kanon.algorithms import datafly, gaa, mondrian
    >>> [choose_preset(module) for module in (gaa, datafly, mondrian)]
    ['animals-m23', 'hospital', 'points']
    """
    if not module.CARD.needs_hierarchies:
        return "points"
    return "hospital" if module.CARD.family == "levels" else "animals-m23"
