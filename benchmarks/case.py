"""What a case is, and how the cases are found."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass

__all__ = ["Case", "CaseError", "all_cases"]


class CaseError(Exception):
    """A case cannot run here; the message says what it lacks."""


@dataclass(frozen=True)
class Case:
    """A benchmark.

    Attributes
    ----------
    name
        What the command line calls it.
    about
        One line: what is timed against what.
    classes
        The number of classes of its largest table, about: cases run from small to large.
    run
        Does the work and returns its part of the report, as Markdown.
    needs_adult
        Whether it needs the Adult table.
    needs
        An environment variable without which it is left out, unless it is asked for by its name.
    """

    name: str
    about: str
    classes: int
    run: Callable[[], str]
    needs_adult: bool = False
    needs: str = ""


def all_cases() -> Mapping[str, Case]:
    """Every ``CASE`` of the modules in ``benchmarks/cases``, from small to large."""
    package = importlib.import_module("benchmarks.cases")
    results = [
        importlib.import_module(f"{package.__name__}.{info.name}").CASE
        for info in pkgutil.iter_modules(package.__path__)
    ]
    return {case.name: case for case in sorted(results, key=lambda case: (case.classes, case.name))}
