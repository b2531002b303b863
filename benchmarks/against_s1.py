"""Every strategy that looks at l or t against S1, timed in the same process in turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from benchmarks.markdown import aim, seconds, table, thousands
from benchmarks.timing import Timed, alternately
from kanon.algorithms.merging import merge_greedily
from kanon.algorithms.task import Task
from kanon.strategies import SCOPES, STRATEGIES, Scope, needs_sensitive

__all__ = ["FEW", "Against", "against_s1", "aims", "report"]

FEW = 16
"""With fewer sensitive values, a run at class scope may take longer."""

LONGEST = 3.0
"""The seconds that no run should take longer than."""


@dataclass(frozen=True)
class Against:
    """How long the strategies took on one table with one metric.

    Attributes
    ----------
    about
        What was run on what, in a few words.
    values
        The number of sensitive values.
    s1
        The seconds of S1.
    runs
        The seconds of each other strategy, per scope.
    """

    about: str
    values: int
    s1: Timed
    runs: Mapping[tuple[str, Scope], Timed]

    def ratio(self, strategy: str, scope: Scope) -> float:
        """How many times as long as S1 it took, best against best."""
        return self.runs[strategy, scope].best / self.s1.best

    @property
    def allowed(self) -> float:
        """How many times as long as S1 a run at class scope may take."""
        return 25.0 if self.values < FEW else 15.0


def against_s1(about: str, task: Task, k: int = 15_000, repetitions: int = 5) -> Against:
    """Time S1 and every strategy that looks at l or t at both scopes, in turn.

    Parameters
    ----------
    about
        What to call it.
    task
        What to run, with the sensitive column that the strategies look at.
    k
        How far to merge.
    repetitions
        How often each is timed.
    """
    own = replace(task, k=k, strategy="s1", scope="table")
    wanted: list[tuple[str, Scope]] = [
        (name, scope) for name in STRATEGIES if needs_sensitive(name) for scope in SCOPES
    ]
    tasks = [own, *(replace(own, strategy=name, scope=scope) for name, scope in wanted)]
    works = [partial(merge_greedily, task) for task in tasks]
    (s1, *others), _ = alternately(*works, repetitions=repetitions)
    values = len(task.classes.sensitive_named(str(task.sensitive)).values)
    return Against(about, values, s1, dict(zip(wanted, others, strict=True)))


def report(tables: Mapping[str, tuple[int, Sequence[Against]]]) -> str:
    """A table per sensitive column, by its name, with its number of classes; then the aims."""
    parts = []
    for name, (classes, found) in tables.items():
        parts += [f"**{name}**: {found[0].values} values occur, {thousands(classes)} classes"]
        parts += [_table(found)]
    return "\n\n".join([*parts, *aims([each for _, found in tables.values() for each in found])])


def _table(found: Sequence[Against]) -> str:
    """Best seconds and ratio to S1: a row per strategy and scope, two columns per table."""
    head = ["strategy, scope"]
    first = ["S1"]
    for each in found:
        head += [f"{each.about}, s", "× S1"]
        first += [seconds(each.s1.best), "1"]
    body = [
        [f"{name.upper()}, {scope}"]
        + [
            cell
            for each in found
            for cell in (seconds(each.runs[name, scope].best), f"{each.ratio(name, scope):.1f}")
        ]
        for name, scope in found[0].runs
    ]
    return table(head, [first, *body])


def aims(found: Sequence[Against]) -> list[str]:
    """What was aimed at and what was found, with every run that missed an aim."""
    parts = [_ratios(found, "table", 2.0, "at table scope at most 2 × S1")]
    for few, more in ((True, f"with fewer than {FEW}"), (False, f"with {FEW} or more")):
        results = [each for each in found if (each.values < FEW) == few]
        if results:
            limit = results[0].allowed
            text = f"at class scope at most {limit:.0f} × S1 {more} sensitive values"
            parts.append(_ratios(results, "class", limit, text))
    slowest = _sorted({_name(each, *run): t.best for each in found for run, t in each.runs.items()})
    over = [f"{name} {seconds(value)} s" for name, value in slowest if value > LONGEST]
    name, value = slowest[0]
    parts.append(
        aim(
            f"never above {LONGEST:.0f} s",
            ", ".join(over) or f"at most {seconds(value)} s ({name})",
            not over,
        )
    )
    return parts


def _ratios(found: Sequence[Against], scope: Scope, limit: float, text: str) -> str:
    ratios = _sorted(
        {
            _name(each, name, scope): each.ratio(name, scope)
            for each in found
            for name, its in each.runs
            if its == scope
        }
    )
    over = [f"{name} {value:.1f}" for name, value in ratios if round(value, 1) > limit]
    name, value = ratios[0]
    return aim(text, ", ".join(over) or f"at most {value:.1f} ({name})", not over)


def _name(each: Against, strategy: str, scope: Scope) -> str:
    return f"{strategy.upper()} at {scope} scope, {each.about}"


def _sorted(values: Mapping[str, float]) -> list[tuple[str, float]]:
    """The largest first."""
    return sorted(values.items(), key=lambda each: -each[1])
