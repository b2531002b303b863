"""Whether a release has what is asked of it in a context: what it reached, and one verdict.

What is reached of k, l and t is counted again from the released rows alone, as
:mod:`kanon.release.check` does; the risk of being found follows from who looks alike. A verdict
says what was checked, what was reached and what was not considered. It never says more.

>>> from kanon.plan import VERSION, Plan
>>> from kanon.run import run
>>> plan = Plan.from_content({"version": 2, "algorithm": {"name": "gaa"}, "columns":
...     {"sex": {"role": "quasi-identifier", "hierarchy": {"build": "suppression"}}},
...     "privacy": [{"model": "k-anonymity", "k": 3}]})
>>> found = levels_reached(run(plan, pd.DataFrame({"sex": ["F"] * 3 + ["M"] * 4})))
>>> decision = decide(Context(release="internal"), found)
>>> [(part.threshold.card.name, part.reached, part.met) for part in decision.parts]
[('k', 3, True), ('highest_risk', 3.0, True), ('mean_risk', 3.5, False)]
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import pandas as pd

from kanon.base.formatting import Counted, counted, joined, thin
from kanon.base.progress import Progress, no_progress
from kanon.classes import EquivalenceClasses
from kanon.errors import PlanError, TableError, quoted
from kanon.measures.linkage import people_below, projected
from kanon.plan import VERSION, Plan
from kanon.privacy import entropy_l_diversity, t_closeness
from kanon.privacy.model import rounded
from kanon.privacy.reidentification import journalist, prosecutor
from kanon.release.check import NOT_CONSIDERED, TABLE_ORDER, check_release, require
from kanon.release.context import Context, Release, Threshold, thresholds
from kanon.run import Run
from kanon.sources.memory import MemorySource, without_suppressed
from kanon.sources.population import population_of

MOST_CHOICES = 1000
"""So many choices of known quasi-identifiers are looked through at most."""

OF_COLUMNS = ("l", "t")
"""What is asked of each sensitive column."""

_Key = tuple[str, str]


@dataclass(frozen=True, eq=False)
class ReachedNumbers:
    """What a release reaches, whatever is asked of it.

    Attributes
    ----------
    records
        The released records, suppressed ones left out.
    known, n_quasi_identifiers
        How many quasi-identifiers of a person somebody knows, and how many there are. Of all
        choices of so many the one counts that tells most.
    population
        Whether a population was counted, for who does not know who is in the table.
    sensitive
        The sensitive columns.
    levels
        By the name of a threshold and the column it is about, or "": the level of the worst class,
        in the unit of the card. Empty if no class is left.
    of
        What k and the risks count: records, or persons where the plan tells them apart.
    order
        In which order the rows leave, as a plan says it.
    required_of
        The columns that some model of the plan is about.
    """

    records: int
    known: int
    n_quasi_identifiers: int
    population: bool
    sensitive: tuple[str, ...]
    levels: Mapping[_Key, float]
    of: Counted = "records"
    order: str = "released"
    required_of: tuple[str, ...] = ()


def levels_reached(
    done: Run,
    known: int | None = None,
    people: pd.DataFrame | None = None,
    progress: Progress = no_progress,
) -> ReachedNumbers:
    """Measure a release for somebody who knows some quasi-identifiers of a person.

    Parameters
    ----------
    done
        The release, of a table in memory.
    known
        How many quasi-identifiers of a person somebody knows at most; None, or more than there
        are, for all.
    people
        The population behind the table, one row per person with the original values; then the
        risk of being found is that of a person who may or may not be in the table.

    Returns
    -------
    ReachedNumbers
        k, l and t as counted from the released rows; the risks as 1 / risk.

    Raises
    ------
    TableError
        The rows are in an engine, or the population lacks a quasi-identifier or somebody of the
        table.
    PlanError
        There are more than :data:`MOST_CHOICES` choices of so many quasi-identifiers.

    Examples
    --------
    See :mod:`kanon.release.decision`.
    """
    if not isinstance(done.prepared.source, MemorySource):
        raise TableError(
            "A verdict counts the released rows again, for which the table has to be in memory; "
            "add --engine memory, or load it as a file."
        )
    released = done.recoding.released
    m = len(released.attributes)
    known = m if known is None else min(known, m)
    n_choices = math.comb(m, known)
    if n_choices > MOST_CHOICES:
        raise PlanError(
            f"There are {thin(n_choices)} choices of {known} of {m} quasi-identifiers, and at most "
            f"{thin(MOST_CHOICES)} are looked through; let somebody know fewer of them, or all."
        )
    behind = None
    if people is not None:
        behind = population_of(done.prepared.classes, people).classes
    columns = tuple(each.name for each in released.sensitive)
    about = (released.n_records, known, m, behind is not None, columns)
    plan = done.prepared.plan
    models = [getattr(model, "column", "") for model in plan.models]
    of_plan = (released.of, plan.order, tuple(name for name in columns if name in models))
    if not released.n_classes:
        return ReachedNumbers(*about, {}, *of_plan)
    worst: dict[_Key, float] = {}
    telling: dict[_Key, tuple[int, ...]] = {}
    for place, chosen in enumerate(combinations(range(m), known)):
        progress(place / n_choices, f"choice {place + 1} of {n_choices}")
        for key, level in _levels(released, chosen, behind):
            if key not in worst or _worse(key, level, worst[key]):
                worst[key], telling[key] = level, chosen
    counted_again = [telling[key] for key in worst if key[0] in ("k", *OF_COLUMNS)]
    for chosen in dict.fromkeys(counted_again):
        for key, level in _from_rows(done, chosen):
            if telling[key] == chosen:
                worst[key] = level
    return ReachedNumbers(*about, worst, *of_plan)


def _worse(key: _Key, level: float, than: float) -> bool:
    return level > than if key[0] == "t" else level < than


def _levels(
    released: EquivalenceClasses, chosen: Sequence[int], behind: EquivalenceClasses | None
) -> Iterator[tuple[_Key, float]]:
    alike = projected(released, chosen)
    yield ("k", ""), int(alike.hiding.min())
    risk = prosecutor(alike)
    if behind is not None:
        risk = journalist(alike, people_below(alike, projected(behind, chosen)))
    assert risk is not None
    yield ("highest_risk", ""), 1 / risk.highest
    yield ("mean_risk", ""), 1 / risk.mean
    for each in alike.sensitive:
        yield ("l", each.name), float(entropy_l_diversity.each(each).min())
        yield ("t", each.name), float(t_closeness.each(each, "variational").max())


def _from_rows(done: Run, chosen: Sequence[int]) -> Iterator[tuple[_Key, float]]:
    released = done.recoding.released
    quasi = [released.attributes[place] for place in chosen]
    sensitive = [each.name for each in released.sensitive]
    person, whom = done.prepared.plan.person, done.persons_released()
    plan = Plan.from_content(
        {
            "version": VERSION,
            "columns": {
                **{name: {"role": "quasi-identifier"} for name in quasi},
                **{name: {"role": "sensitive"} for name in sensitive},
                **({} if person is None else {person: {"role": "identifier", "pseudonym": True}}),
            },
            "person": person,
            "algorithm": {"name": done.prepared.plan.algorithm.name},
            "privacy": [
                {"model": "k-anonymity", "k": 2},
                *({"model": "entropy-l-diversity", "l": 1, "column": each} for each in sensitive),
                *(
                    {"model": "t-closeness", "t": 1, "distance": "variational", "column": each}
                    for each in sensitive
                ),
            ],
        }
    )
    rows = done.released(index=True)
    if done.prepared.plan.suppressed == "keep":
        rows = rows.reset_index(drop=True)
        rows, _ = without_suppressed(rows)
        whom = None if whom is None else whom.iloc[rows.index]
    verdicts = check_release(rows, plan, None, whom)
    k = "k-anonymity" if person is None else "k-in-persons"
    names = {k: "k", "entropy-l-diversity": "l", "t-closeness": "t"}
    require([one for one in verdicts if one.model not in (*names, "k-anonymity")])
    for one in verdicts:
        if one.model in names:
            assert one.level is not None  # there are classes
            column = one.column if names[one.model] in OF_COLUMNS else ""
            yield (names[one.model], column), one.level


_FOR: Mapping[Release, str] = {
    "public": "for a release that anybody may get",
    "research": "for a release to researchers under a contract",
    "internal": "for a release only inside the organisation",
}


# --- the verdict ----------------------------------------------------------------------------
@dataclass(frozen=True)
class Part:
    """One thing that is asked of a release, and what it reached.

    Attributes
    ----------
    threshold
        What is asked, and who says so.
    column
        The sensitive column that it is about, or "".
    reached
        The level of the worst class.
    of
        What k counts.
    """

    threshold: Threshold
    column: str
    reached: float
    of: Counted = "records"

    @property
    def unit(self) -> str:
        """What the numbers count, or are of."""
        return self.of if self.threshold.card.name == "k" else self.threshold.card.unit

    @property
    def met(self) -> bool:
        """Whether that is enough."""
        return self.threshold.met(self.reached)

    @property
    def sentence(self) -> str:
        """What was reached and what is asked, for who knows no metric by name.

        >>> from kanon.release.context import thresholds
        >>> print(Part(thresholds(Context(release="public"))["k"], "", 5).sentence)
        at least 5 records look alike (asked for: 11)
        """
        reached, wanted = self.shown
        said = {
            "k": f"at least {{reached}} {self.of} look alike (asked for: {{wanted}})",
            "highest_risk": "the person who is easiest to find is found once in {reached} tries "
            "(asked for: at most once in {wanted})",
            "mean_risk": "persons are found once in {reached} tries on average (asked for: at most "
            "once in {wanted})",
            "l": "in {column} values are as hard to guess as {reached} equally frequent "
            f"{'one' if reached == '1' else 'ones'}, 1 being certainty (asked for: {{wanted}})",
            "t": "in {column} those who look alike differ from the whole table by up to {reached} "
            "(asked for: at most {wanted})",
        }[self.threshold.card.name]
        return said.format(reached=reached, wanted=wanted, column=quoted(self.column))

    @property
    def shown(self) -> tuple[str, str]:
        """What was reached, never rounded to the better side, and what is asked."""
        assert self.threshold.wanted is not None
        wanted = f"{self.threshold.wanted:.12g}"
        up = self.threshold.card.direction == "lower"
        return rounded(float(self.reached), up=up), wanted


@dataclass(frozen=True, eq=False)
class Decision:
    """What is asked of a release in a context, and what it reached.

    Attributes
    ----------
    context
        What the release is for.
    reached
        What it reached.
    parts
        What is asked, one by one; what is not asked is left out.
    """

    context: Context
    reached: ReachedNumbers
    parts: tuple[Part, ...]

    @property
    def holds(self) -> bool:
        """Whether everything that is asked is met; so too where nothing is asked, or released."""
        return all(part.met for part in self.parts)

    @property
    def sentence(self) -> str:
        """The verdict: what was checked, what is met and what is not, what was not considered."""
        first, *last = self.apart
        said = {
            heading: [part.sentence for part in self.parts if part.met is met]
            for heading, met in (("Not met", False), ("Met", True))
        }
        listed = [f"{heading}: {'; '.join(parts)}." for heading, parts in said.items() if parts]
        return " ".join([first, *listed, *last])

    @property
    def apart(self) -> tuple[str, ...]:
        """The same without what was asked and reached, where that is listed: how it was checked
        and how much is met, what was not asked, what was not considered."""
        if not self.reached.levels:
            return ("Nothing is released: every record is suppressed, so nothing was checked.",)
        if not self.parts:
            return ("Nothing is asked for that can be counted here, so nothing was checked.",)
        records = counted(self.reached.records, "released record")
        met, asked = sum(part.met for part in self.parts), len(self.parts)
        first = (
            f"Checked on {records}, {_FOR[self.context.release]}, against somebody who looks for a "
            f"person and {self._knows}: {met} of {counted(asked, 'threshold')} "
            f"{'is' if met == 1 else 'are'} met."
        )
        unasked = [f"Nothing was asked of {self._unasked}."] if self._unasked else []
        return (first, *unasked, f"Not considered: {self._not_considered}.")

    @property
    def _knows(self) -> str:
        m, known = self.reached.n_quasi_identifiers, self.reached.known
        columns = "all their quasi-identifiers"
        if known < m:
            columns = f"any {known} of their {m} quasi-identifiers"
        if self.context.attacker == "prosecutor":
            return f"knows {columns} and that they are in the table"
        return f"knows {columns}, but not whether they are in the table"

    @property
    def _unasked(self) -> str:
        if any(part.column for part in self.parts):
            return ""
        if not self.reached.sensitive:
            return "sensitive values, as no column is called sensitive"
        required = self.reached.required_of
        unasked = [quoted(name) for name in self.reached.sensitive if name not in required]
        if not unasked:
            return ""
        return f"{joined(unasked)}, so all who look alike may share one value there"

    @property
    def _not_considered(self) -> str:
        said = NOT_CONSIDERED + (TABLE_ORDER if self.reached.order == "table" else "")
        if self.reached.known < self.reached.n_quasi_identifiers:
            known = counted(self.reached.known, "quasi-identifier")
            said = f"that somebody knows more than {known}, {said}"
        if self.context.attacker == "journalist" and not self.reached.population:
            said += (
                "; nor was a population, so everybody counts as known to be in the table, which "
                "never makes the risk look smaller"
            )
        return said

    @property
    def numbers(self) -> dict[str, Any]:
        """The same as an object of JSON."""
        return {
            "context": self.context.content,
            "records": self.reached.records,
            "known": self.reached.known,
            "population": self.reached.population,
            "holds": self.holds,
            "verdict": self.sentence,
            "thresholds": [
                {
                    "threshold": part.threshold.card.name,
                    "column": part.column or None,
                    "unit": part.unit,
                    "direction": part.threshold.card.direction,
                    "wanted": part.threshold.wanted,
                    "reached": part.reached,
                    "met": part.met,
                    "source": part.threshold.source,
                }
                for part in self.parts
            ],
        }


def decide(context: Context, reached: ReachedNumbers) -> Decision:
    """What is asked in a context, beside what a release reached. Nothing is measured here.

    Parameters
    ----------
    reached
        What it reached, measured for as many known quasi-identifiers as the context says.

    Examples
    --------
    See :mod:`kanon.release.decision`.
    """
    asked = thresholds(context)
    parts = [
        Part(asked[name], column, level, reached.of)
        for (name, column), level in reached.levels.items()
        if asked[name].wanted is not None
    ]
    order = list(asked)
    parts.sort(key=lambda part: order.index(part.threshold.card.name))
    return Decision(context, reached, tuple(parts))


def decision_table(decision: Decision) -> pd.DataFrame:
    """A row per thing that is asked: what, of which column, how much, reached, met, who says so."""
    return pd.DataFrame(
        [
            (
                part.threshold.card.title,
                part.column,
                part.unit,
                *reversed(part.shown),
                "met" if part.met else "not met",
                part.threshold.source,
            )
            for part in decision.parts
        ],
        columns=["Threshold", "Column", "Unit", "Wanted", "Reached", "Verdict", "Source"],
    )
