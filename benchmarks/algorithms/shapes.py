"""Adult's hierarchies in the heights that Babu, Reddy, Kumar, Elliot and Jena name.

They publish the height of each of their eight hierarchies, not the groups. These here have those
heights and are made from ours by the meaning of the groups, before any figure was looked at:

- Age: the groups of five years are taken out; those of ten and of twenty years stay.
- Profession is ``occupation`` and Position is ``workclass``; both have the height already, as have
  marital status, race and sex.
- Education: the group of all schools is taken out; primary and secondary school, college and
  graduate school stay.
- Country: Asia and Europe are put together as Eurasia, above the continents. The Americas stand
  beside it.
"""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.fresh import ROOT
from kanon.hierarchy import Hierarchy
from kanon.hierarchy.edit import group, ungroup
from kanon.hierarchy.files import read_hierarchy

__all__ = ["HEIGHTS", "shaped"]

HEIGHTS: Mapping[str, int] = {
    "age": 3,
    "occupation": 2,
    "education": 2,
    "marital-status": 2,
    "workclass": 2,
    "race": 1,
    "sex": 1,
    "native-country": 3,
}
"""Per quasi-identifier the published level of the root, in the published order."""


def shaped() -> dict[str, Hierarchy]:
    """The eight hierarchies, in the published order."""
    folder = ROOT / "hierarchies" / "adult"
    results = {name: read_hierarchy(folder / f"{name}.csv").hierarchy for name in HEIGHTS}
    ages = results["age"]
    five_years = [label for label, level in zip(ages.labels, ages.level, strict=True) if level == 1]
    results["age"] = ungroup(ages, five_years)
    results["education"] = ungroup(results["education"], ["School"])
    results["native-country"] = group(results["native-country"], ["Asia", "Europe"], "Eurasia")
    return results
