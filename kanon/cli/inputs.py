"""What commands read: the plan, the table, the population, lists of names."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import pandas as pd

from kanon.errors import PlanError, quoted
from kanon.plan import Plan, ReadPlan
from kanon.release.context import Context
from kanon.report.words import FIGURES
from kanon.sources.addresses import Address
from kanon.sources.opening import open_address, open_table
from kanon.sources.reading import ReadSettings
from kanon.sources.tables import Table


def read_plan(given: argparse.Namespace) -> Plan:
    """The plan, with the seed that was asked for."""
    plan = Plan.load(given.plan)
    if given.seed is None:
        return plan
    content = plan.model_dump(mode="json", exclude_none=True)
    content["algorithm"]["seed"] = given.seed
    return Plan.from_content(content)


def read_records(
    given: argparse.Namespace, plan: Plan | None, address: Address | None = None
) -> Table:
    """The table, or another one, read as the plan says if there is one."""
    read = ReadPlan() if plan is None else plan.read
    markers = read.missing_markers
    settings = ReadSettings(
        separator=given.sep or read.separator,
        encoding=read.encoding,
        missing_markers=None if markers is None else tuple(markers),
        sheet=given.sheet or read.sheet,
    )
    return open_address(address or given.table, given.engine, settings)


def read_people(given: argparse.Namespace, context: Context | None) -> pd.DataFrame | None:
    """The population, where it counts: for who does not know who is in the table."""
    if given.population is None:
        return None
    if context is None or context.attacker != "journalist":
        raise PlanError(
            '--population counts in a context with "attacker": "journalist" alone, who does not '
            "know who is in the table."
        )
    settings = ReadSettings(separator=given.sep)
    return open_table(given.population, given.population.name, settings).table


def read_publish(given: argparse.Namespace, option: str) -> list[str]:
    """The figures of the table that are published where another option publishes anything."""
    names = parts_of_list(given.publish)
    if names and not getattr(given, option.strip("-")):
        raise PlanError(f"--publish goes with {option}; add it, or leave --publish out.")
    for name in {*names} - {*FIGURES}:
        raise PlanError(f"--publish: {quoted(name)} is unknown; known are {', '.join(FIGURES)}.")
    return names


def parts_of_list(text: str) -> list[str]:
    """The parts of a list with commas between."""
    return [part.strip() for part in text.split(",") if part.strip()]


def check_once(option: str, columns: Sequence[str], what: str) -> None:
    """Check that an option names no column twice."""
    if len(set(columns)) < len(columns):
        raise PlanError(f"{option} names a column twice; name each {what} once.")
