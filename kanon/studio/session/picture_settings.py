"""What a picture says of itself once it has left the page: how it was made, and no cell.

In English, as the titles and axes of charts are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from kanon import __version__
from kanon.algorithms.catalogue import short_title, uses
from kanon.base.formatting import Counted, counted, thin
from kanon.errors import listing, on_one_line
from kanon.experiments.comparison import Comparison
from kanon.experiments.sweep import Configuration
from kanon.experiments.titles import guided
from kanon.metrics import Metric
from kanon.run import PreparedRun
from kanon.studio.session.configurations import configuration_of
from kanon.studio.session.requirements import others_of
from kanon.studio.session.work import Work

Guided = tuple[Configuration, Metric]  # a configuration, and the metric that it names


@dataclass(frozen=True)
class PictureSettings:
    """How a picture was made."""

    line: str  # The line below it
    k: int | None = None  # The k that it is of; None where it is of none, or of many

    @classmethod
    def of(
        cls,
        table: str,
        records: str,
        quasi_identifiers: Sequence[str],
        *more: str,
        k: int | None = None,
        counting: Counted = "records",
    ) -> PictureSettings:
        """By what the picture is of.

        >>> made = PictureSettings.of("t.csv", "6 records", ["age", "sex"], k=2)
        >>> made.line.split(" · ")[:-1]
        ['t.csv: 6 records', "quasi-identifiers: 'age', 'sex'", 'k = 2, counting records']
        """
        parts = [
            f"{on_one_line(table)}: {records}",
            f"quasi-identifiers: {listing(quasi_identifiers, 12)}" if quasi_identifiers else "",
            *more,
            "" if k is None else f"k = {thin(k)}, counting {counting}",
            f"kanon {__version__}, {date.today().isoformat()}",
        ]
        return cls(" · ".join(filter(None, parts)), k)

    @classmethod
    def of_table(cls, work: Work, *more: str, k: int | None = None) -> PictureSettings:
        """Of the session's table, as it is chosen in this work."""
        table = work.table
        counting: Counted = "records" if k is None or not table.person_counted else "persons"
        return cls.of(
            table.title,
            _records(table.records.n_records, table.dropped),
            table.quasi_identifiers,
            *more,
            k=k,
            counting=counting,
        )

    @classmethod
    def of_run(cls, work: Work, prepared: PreparedRun, k: int | None = None) -> PictureSettings:
        """Of a run, whatever was changed since."""
        plan = prepared.plan
        led = configurations_said([(configuration_of(plan), plan.metric)])
        return cls._of_classes(work, prepared, led, k=k)

    @classmethod
    def of_lattice(cls, work: Work, prepared: PreparedRun) -> PictureSettings:
        """Of the lattice, which no algorithm decides; a metric says what is lost at each node."""
        metric = f"metric: {on_one_line(prepared.plan.metric.card.title)}"
        return cls._of_classes(work, prepared, metric, k=prepared.plan.k)

    @classmethod
    def of_comparison(
        cls, work: Work, comparison: Comparison, k: int | None = None
    ) -> PictureSettings:
        """Of several configurations."""
        lines = [(line.configuration, line.guide) for line in comparison.lines]
        return cls.of_table(work, configurations_said(lines), k=k)

    @classmethod
    def _of_classes(
        cls, work: Work, prepared: PreparedRun, *more: str, k: int | None
    ) -> PictureSettings:
        classes = prepared.classes
        records = _records(classes.n_records + prepared.dropped, prepared.dropped)
        if classes.persons is not None:
            records += f", {counted(classes.highest_k, 'person')}"
        models = [model.sentence for model in others_of(prepared.plan)]
        return cls.of(
            work.table.title, records, classes.attributes, *more, *models,
            k=k, counting=classes.of,
        )  # fmt: skip


def begun_with(work: Work, doing: str) -> Work:
    """What was chosen when the last of a calculation began; the work of now, if none did."""
    then = work.made_with.get(doing)
    return work if then is None or then.version != work.version else then


def configurations_said(lines: Iterable[Guided]) -> str:
    """What some configurations are, each thing once.

    >>> from kanon.metrics import METRICS
    >>> some = [(Configuration(name), METRICS[name]) for name in ("ncp", "llm")]
    >>> configurations_said(some)
    'algorithm: GAA; metrics: NCP, LLM; strategy: S1'
    """
    kinds = ("algorithm", "metric", "strategy", "tie seed")
    found: dict[str, dict[str, None]] = {kind: {} for kind in kinds}
    for one, metric in lines:
        found["algorithm"][short_title(one.algorithm)] = None
        if guided(one):
            found["metric"][on_one_line(metric.card.title)] = None
        if uses(one.algorithm, "strategy"):
            scope = " (merged class)" if one.scope == "class" else ""
            found["strategy"][one.strategy.upper() + scope] = None
        if one.tie_seed is not None and uses(one.algorithm, "tie_seed"):
            found["tie seed"][str(one.tie_seed)] = None
    return "; ".join(
        f"{_several(name, len(names))}: {', '.join(names)}"
        for name, names in found.items()
        if names
    )


def _several(name: str, number: int) -> str:
    """
    >>> _several("metric", 2), _several("strategy", 2), _several("strategy", 1)
    ('metrics', 'strategies', 'strategy')
    """
    if number == 1:
        return name
    return f"{name[:-1]}ies" if name.endswith("y") else f"{name}s"


def _records(whole: int, dropped: int) -> str:
    """
    >>> _records(6, 0), _records(6, 1)
    ('6 records', '5 of 6 records')
    """
    kept = f"{thin(whole - dropped)} of " if dropped else ""
    return f"{kept}{counted(whole, 'record')}"
