"""The runs that a comparison lacks, which more than one page asks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from kanon.errors import PlanError
from kanon.experiments.sweep import solve_sweep
from kanon.measures.along import Curves, Points
from kanon.studio.session.changed_settings import made_with
from kanon.studio.session.comparison_runs import (
    ComparisonJob,
    as_compared,
    asks_for_some_k,
    fingerprint,
    lacking,
    made_of,
    planned,
)
from kanon.studio.session.configurations import PlannedLine, wanted_lines
from kanon.studio.session.findings import ComparisonResult
from kanon.studio.session.run_choices import usable_metrics
from kanon.studio.session.run_plan import comparison_settings, plan_of, without_lost
from kanon.studio.session.work import Request, Work, cancelled_run


def comparison_request(work: Work, what_if: bool = False) -> Request | Work:
    """The missing runs of the chosen comparison, or the work if earlier runs made them all."""
    lines = _lines_of_what_if(work) if what_if else wanted_lines(work)
    if not lines:
        raise PlanError("Choose at least one metric and one strategy to compare.")
    todo = lacking(work, lines, also=work.settings.k, at_some=asks_for_some_k(work))
    plan = plan_of(without_lost(work))
    settings = comparison_settings(work, plan, [line.guide.name for line in lines])
    job = planned(work, lines, todo)
    before = work.findings.comparison if what_if else None
    then = partial(_with_comparison, lines, job, settings, before)
    if not todo:
        return made_with(then(work, []), "comparison", work)
    given = (job.runs, job.ks, job.metrics, None, job.also_at)
    return Request("comparison", solve_sweep, given, then, cancelled=_cancelled)


def _lines_of_what_if(work: Work) -> tuple[PlannedLine, ...]:
    """What is compared before and after an edit: by drawn weights too, which were just edited."""
    work = work.with_parts(replace(work.kept, yardstick=None))
    return wanted_lines(work, ["custom"] if "custom" in usable_metrics(work) else [])


def _with_comparison(
    lines: Sequence[PlannedLine],
    job: ComparisonJob,
    settings: str,
    before: ComparisonResult | None,
    work: Work,
    found: Sequence[Curves | Points],
) -> Work:
    work = work.with_parts(replace(work.findings, runs=as_compared(work, lines, job, found)))
    seconds = work.running["comparison"].job.seconds if found else 0.0
    comparison = made_of(work, lines)
    compared = ComparisonResult(comparison, settings, seconds, fingerprint(lines, comparison))
    both = None if before is None else (before, compared)
    return work.with_parts(replace(work.findings, comparison=compared, what_if=both))


def _cancelled(work: Work) -> Work:
    """The work without the wish for bands, where none are there."""
    compared = work.findings.comparison
    bands = work.compare.bands and compared is not None and compared.comparison.has_bands
    return cancelled_run(work.with_parts(replace(work.compare, bands=bands)))
