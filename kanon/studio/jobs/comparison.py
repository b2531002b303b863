"""The missing runs of a comparison, which several pages request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from kanon.algorithms.catalogue import check_task, serves_every_k, uses
from kanon.base.fingerprint import compute_fingerprint
from kanon.errors import KanonError, PlanError, quote
from kanon.experiments.advisor.ways import compute_best_l
from kanon.experiments.comparison import PAPER_K, Comparison, Line
from kanon.experiments.sweep import PlannedRun
from kanon.experiments.titles import is_guided
from kanon.measures.along import Curves, Points
from kanon.measures.extended_measures import find_measures_at_some_k
from kanon.metrics import BESIDE, METRICS, PUBLISHED, Metric
from kanon.plan_parts import build_composed_metrics
from kanon.run import PreparedRun, prepare
from kanon.strategies import LOOKS_AT, needs_sensitive
from kanon.studio.jobs.configurations import (
    PlannedLine,
    RunInputs,
    build_run_plan,
    describe_requirement,
    get_metric_identity,
    get_metric_phases,
    list_planned_lines,
)
from kanon.studio.jobs.durations import Effort, measure_runs
from kanon.studio.jobs.partial_results import run_lines
from kanon.studio.session.changed_settings import record_start_state
from kanon.studio.session.findings import ComparisonResult, MeasuredRun
from kanon.studio.session.run_plan import (
    list_models,
)
from kanon.studio.session.work import (
    JobRequest,
    SessionState,
    add_cancel_notice,
    add_problem,
    list_run_k,
    list_slider_k,
    list_usable_metrics,
)


def request_comparison(work: SessionState, what_if: bool = False) -> JobRequest | SessionState:
    """Request the missing runs of a comparison, or get the new state if none is missing."""
    lines = _list_what_if_lines(work) if what_if else list_planned_lines(work)
    if not lines:
        raise PlanError("Choose at least one metric and one strategy to compare.")
    todo = list_missing_runs(
        work, lines, also=work.settings.k, at_some=needs_single_k_measures(work)
    )
    job = plan_comparison_job(work, lines, todo)
    before = work.findings.comparison if what_if else None
    then = partial(_store_comparison, lines, job, before)
    if not todo:
        return record_start_state(then(work, []), "comparison", work)
    arguments = (job.runs, job.ks, job.metrics, job.also_at)
    return JobRequest(
        "comparison", run_lines, arguments, then, handle_cancel=_handle_cancel, noun="comparison"
    )


def _list_what_if_lines(work: SessionState) -> tuple[PlannedLine, ...]:
    """The lines before and after an edit, also by drawn weights, which were just edited."""
    work = work.replace_sections(replace(work.kept, measuring_hierarchies=None))
    return list_planned_lines(work, ["custom"] if "custom" in list_usable_metrics(work) else [])


def is_what_if_outdated(work: SessionState) -> bool:
    """Whether comparing once more would run something."""
    try:
        return bool(list_missing_runs(work, _list_what_if_lines(work)))
    except KanonError:
        return True


def _store_comparison(
    lines: Sequence[PlannedLine],
    job: ComparisonJob,
    before: ComparisonResult | None,
    work: SessionState,
    _: object,
) -> SessionState:
    """Store the finished runs; if some are missing, compare the lines that have all of theirs."""
    numbers, began = {}, work
    if job.known:
        running = work.running["comparison"]
        parts: Any = running.job.parts
        numbers, began = dict(parts), running.began
    by_run = [numbers.get(place) for place in range(len(job.known))]
    runs = merge_compared_runs(work, lines, job, by_run)
    work = work.replace_sections(replace(work.findings, runs=runs))
    wanted = ""
    if None in by_run:
        work = _drop_missing_bands(work)
        seeds = None if work.compare.bands else 1
        lines = [replace(line, seeds=line.seeds[:seeds]) for line in lines]
        wanted = _hash_run_keys(lines)
        lines = [line for line in lines if all(run.key in runs for run in _list_runs([line]))]
        if not lines:
            return work
    comparison = build_comparison(work, lines, began)
    if not comparison.lines:
        return add_problem(work, next(iter(comparison.left_out.values()), ""))
    compared = ComparisonResult(comparison, hash_comparison(lines, comparison), wanted)
    both = None if before is None or wanted else (before, compared)
    return work.replace_sections(replace(work.findings, comparison=compared, what_if=both))


def _drop_missing_bands(work: SessionState) -> SessionState:
    """Ask for bands no longer if there are none."""
    compared = work.findings.comparison
    bands = work.compare.bands and compared is not None and compared.comparison.has_bands
    return work.replace_sections(replace(work.compare, bands=bands))


def _handle_cancel(work: SessionState) -> SessionState:
    return add_cancel_notice(_drop_missing_bands(work))


def _hash_run_keys(lines: Sequence[PlannedLine]) -> str:
    return compute_fingerprint([run.key for run in _list_runs(lines)])


_MOST_RUNS = 600  # the most runs that a session remembers; the oldest give way


class LineRun(NamedTuple):
    line: PlannedLine
    seed: int | None
    key: str


def list_needed_metrics(lines: Sequence[PlannedLine]) -> list[Metric]:
    """The metrics that a comparison measures in: the seven published ones and all that guide."""
    metrics = {name: METRICS[name] for name in PUBLISHED}
    for line in lines:
        guide = line.guide
        if not is_guided(line.configuration):
            continue
        if guide.name == "custom" and not _has_drawn_weights(lines):
            continue
        if get_metric_phases(metrics.setdefault(guide.name, guide)) != get_metric_phases(guide):
            raise PlanError(
                "Two configurations are guided by different metrics called "
                f"{quote(guide.name)}; hide one of them."
            )
    return list(metrics.values())


def needs_single_k_measures(work: SessionState) -> bool:
    """Whether the board shows a measure that is computed at some k only, as it takes longer."""
    panels = work.compare.layout.panels if work.compare.layout is not None else ()
    measures = {panel.measure for panel in panels if panel.kind == "curve"}
    return bool(measures & find_measures_at_some_k())


def list_missing_runs(
    work: SessionState, lines: Sequence[PlannedLine], also: int | None = None, at_some: bool = False
) -> list[LineRun]:
    metrics, missing = list_needed_metrics(lines), {}
    for run in _list_runs(lines):
        earlier = work.findings.runs.get(run.key)
        if earlier is None or not _is_usable(earlier, run, metrics, also, at_some):
            missing[run.key] = run
    return list(missing.values())


def build_comparison(
    work: SessionState, lines: Sequence[PlannedLine], began: SessionState | None = None
) -> Comparison:
    """Compare lines whose runs are known; what they meet was required when they began."""
    metrics = list_needed_metrics(lines)
    runs: dict[str, dict[int | None, MeasuredRun]] = {line.name: {} for line in lines}
    for run in _list_runs(lines):
        runs[run.line.name][run.seed] = work.findings.runs[run.key]
    measured = [past_run for by_seed in runs.values() for past_run in by_seed.values()]
    n_records = min(past_run.n_records for past_run in measured)
    measured_lines, left_out, ks = [], {}, set()
    for line in lines:
        own = Line(
            line.configuration,
            line.guide,
            {seed: past_run.numbers for seed, past_run in runs[line.name].items()},
            line.name,
            line.title,
            line.kept,
            next(iter(runs[line.name].values())).best_l,
        )
        own_ks = _list_known_ks(own, n_records, work.settings.k)
        if own_ks:
            measured_lines.append(own)
            ks |= own_ks
        else:
            points = (run for run in own.runs.values() if isinstance(run, Points))
            left_out[line.title] = next(why for run in points for why in run.refused.values())
    comparison = Comparison(
        tuple(measured_lines),
        tuple(metrics),
        n_records,
        tuple(sorted(ks)),
        of="records" if lines[0].ground.plan.person is None else "persons",
        requirement=describe_requirement(began or work),
        left_out=left_out,
    )
    shared = comparison.sensitive_columns
    return replace(
        comparison, sensitive=work.focus if work.focus in shared else next(iter(shared), "")
    )


def _list_known_ks(line: Line, n_records: int, also: int) -> set[int]:
    """All k of a slider that a line has a release for; those of its runs where each is alone."""
    alone = [run.numbers["k"].tolist() for run in line.runs.values() if isinstance(run, Points)]
    tried = sorted({k for ks in alone for k in ks}) or list_slider_k(n_records, also)
    return set(np.asarray(tried)[line.knows(tried)].tolist())


class ComparisonOutlook(NamedTuple):
    lines: tuple[PlannedLine, ...] = ()  # The lines
    runs: int = 0  # How many runs they are, and how many of those are still to be made
    lacking: int = 0
    comparison: Comparison | None = None  # The comparison, if none is
    key: str = ""  # A fingerprint of the comparison
    problem: str = ""  # Why it cannot be made at all
    effort: Mapping[str, float] = MappingProxyType({})  # How much work the missing runs are
    unfinished: bool = False  # Whether it was begun, and its finished lines can be shown


def describe_comparison(work: SessionState) -> ComparisonOutlook:
    try:
        lines = list_planned_lines(work)
        todo = list_missing_runs(work, lines)
    except KanonError as error:
        return ComparisonOutlook(problem=error.sentence)
    number = len({run.key for run in _list_runs(lines)})
    if todo or not lines:
        last = work.findings.comparison
        unfinished = last is not None and last.wanted == _hash_run_keys(lines)
        effort = _measure_missing_runs(work, todo)
        return ComparisonOutlook(lines, number, len(todo), effort=effort, unfinished=unfinished)
    comparison = build_comparison(work, lines)
    if not comparison.lines:
        return ComparisonOutlook(
            lines, number, 0, problem=next(iter(comparison.left_out.values()), "")
        )
    return ComparisonOutlook(lines, number, 0, comparison, hash_comparison(lines, comparison))


def _measure_missing_runs(work: SessionState, todo: Sequence[LineRun]) -> Effort:
    highest, n_records = work.table.highest_k, work.table.complete_records.n_records
    runs = (
        (run.line.plan.algorithm.name, len(_list_ks(work, run.line, highest, n_records)))
        for run in todo
    )
    return measure_runs(work, Counter(runs))


def list_run_keys(work: SessionState) -> list[str]:
    return [run.key for run in _list_runs(list_planned_lines(work))]


def hash_comparison(lines: Sequence[PlannedLine], comparison: Comparison) -> str:
    titles = [(line.name, line.title) for line in lines]
    metrics = [get_metric_identity(metric, lines[0].measured_by) for metric in comparison.metrics]
    at = [
        run.measured_at if isinstance(run, Curves) else ()
        for line in comparison.lines
        for run in line.runs.values()
    ]
    keys = [run.key for run in _list_runs(lines)]
    shown = comparison.sensitive, comparison.ks, comparison.requirement
    return compute_fingerprint(titles, keys, metrics, *shown, at)


class ComparisonJob(NamedTuple):
    """What a worker gets, and what is noted beside each of its answers."""

    runs: list[PlannedRun]
    ks: list[int]
    metrics: list[Metric]
    known: dict[str, MeasuredRun]  # of each run what is known before, by its key
    also_at: list[int]
    """The k of slower measures; empty if the board does not show them."""


def plan_comparison_job(
    work: SessionState, lines: Sequence[PlannedLine], todo: Sequence[LineRun]
) -> ComparisonJob:
    """Prepare the missing runs for :func:`kanon.experiments.sweep.run_sweep`."""
    if not todo:
        return ComparisonJob([], [], [], {}, [])
    # All others too, so that a new guide needs no new run.
    metrics = {metric.name: metric for metric in list_needed_metrics(lines)}
    for name, metric in build_composed_metrics(work.settings.composed).items():
        metrics.setdefault(name, metric)
    for name in BESIDE:
        metrics.setdefault(name, METRICS[name])
    if "custom" in list_usable_metrics(work) and _has_drawn_weights(lines):
        metrics.setdefault("custom", METRICS["custom"])

    ready: dict[int, PreparedRun] = {}

    def prepared_for(ground: RunInputs) -> PreparedRun:
        if id(ground) not in ready:
            ready[id(ground)] = prepare(ground.plan, work.table.records)
        return ready[id(ground)]

    classes = [prepared_for(run.line.ground).classes for run in todo]
    highest = min(own.highest_k for own in classes)
    n_records = min(own.n_records for own in classes)
    runs, known, refusals = [], {}, {}
    for run in todo:
        line = run.line
        ground = prepared_for(line.ground)
        plan = build_run_plan(line, run.seed)
        task = replace(ground, plan=plan).task()
        ks = _list_ks(work, line, highest, n_records)
        task.for_k(max(ks)).check()
        try:
            check_task(plan.algorithm.name, task)
        except PlanError as error:
            refusals[run.key] = error
        measure = None
        if line.measuring_inputs is not None:
            other = prepared_for(line.measuring_inputs).classes
            by_name = dict(zip(other.attributes, other.hierarchies, strict=True))
            measure = tuple(by_name[name] for name in ground.classes.attributes)
        runs.append(PlannedRun(plan.algorithm.name, task, measure, tuple(ks), may_fail=True))
        best = compute_best_l(ground.classes)
        identities = frozenset(
            get_metric_identity(metric, line.measured_by) for metric in metrics.values()
        )
        later = Points({})  # the numbers
        known[run.key] = MeasuredRun(later, identities, ground.classes.highest_k, best)
    if refusals.keys() >= {run.key for run in _list_runs(lines)}:  # no line is left to compare
        raise next(iter(refusals.values()))
    all_ks = sorted({k for run in runs for k in run.ks or ()})
    also_at: list[int] = []
    if needs_single_k_measures(work):  # the papers' k, the one that is looked at, and the last
        looked_at = {*PAPER_K, work.settings.k, all_ks[-1]}
        also_at = sorted({min(k, all_ks[-1]) for k in looked_at})
    return ComparisonJob(runs, all_ks, list(metrics.values()), known, also_at)


def merge_compared_runs(
    work: SessionState,
    lines: Sequence[PlannedLine],
    job: ComparisonJob,
    curves: Sequence[Curves | Points | None],
) -> Mapping[str, MeasuredRun]:
    new = {
        key: replace(past_run, numbers=numbers)
        for (key, past_run), numbers in zip(job.known.items(), curves, strict=True)
        if numbers is not None
    }
    used = [run.key for run in _list_runs(lines)]
    all_runs = {**work.findings.runs, **new}
    ordered = {key: past_run for key, past_run in all_runs.items() if key not in set(used)}
    ordered |= {key: all_runs[key] for key in used if key in all_runs}
    return dict(list(ordered.items())[-max(_MOST_RUNS, len(set(used))) :])


def _list_runs(lines: Sequence[PlannedLine]) -> list[LineRun]:
    runs = []
    for line in lines:
        inputs, luck = hash_line_inputs(line), has_random_ties(line.configuration.algorithm)
        for seed in line.seeds:
            runs.append(LineRun(line, seed, compute_fingerprint(inputs, seed if luck else None)))
    return runs


def has_random_ties(algorithm: str) -> bool:
    """Whether an algorithm breaks ties by a seed or draws at random."""
    return uses(algorithm, "tie_seed") or uses(algorithm, "seed")


def hash_line_inputs(line: PlannedLine) -> str:
    """The fingerprint of all that the runs of a line depend on except the tie seed."""
    led, plan, trees = line.configuration, line.plan, line.measured_by
    all_drawn = all(tree.weight is not None for tree in trees.values())
    values = {
        "suppression": plan.suppression_limit,
        "outliers": plan.outliers,
        "seed": plan.algorithm.seed,
        "node": plan.algorithm.node,
    }
    return compute_fingerprint(
        line.ground.digest,
        led.algorithm,
        led.strategy,
        led.scope if LOOKS_AT[led.strategy] else None,
        plan.led_by if needs_sensitive(led.strategy) else None,
        {name: value for name, value in values.items() if uses(led.algorithm, name)},
        plan.algorithm.options,
        list_models(line.ground.plan),
        get_metric_identity(line.guide, line.ground.trees) if is_guided(led) else None,
        line.measuring_inputs and line.measuring_inputs.digest,
        # The drawn weights measure too.
        get_metric_identity(METRICS["custom"], trees) if all_drawn else None,
    )


def _has_drawn_weights(lines: Sequence[PlannedLine]) -> bool:
    return all(tree.weight is not None for line in lines for tree in line.measured_by.values())


def _is_usable(
    past_run: MeasuredRun,
    run: LineRun,
    metrics: Sequence[Metric],
    also: int | None,
    at_some: bool,
) -> bool:
    wanted = {get_metric_identity(metric, run.line.measured_by) for metric in metrics}
    if not wanted <= past_run.metric_ids:
        return False
    if isinstance(past_run.numbers, Curves):
        if at_some and not past_run.numbers.measured_at:
            return False
        return int(past_run.numbers.min_k[-1]) >= past_run.n_records
    there = {int(k) for k in past_run.numbers.numbers["k"]} | set(past_run.numbers.refused)
    required_k = {k for k in PAPER_K if k <= past_run.n_records}
    return there >= required_k | ({min(also, past_run.n_records)} if also is not None else set())


def _list_ks(work: SessionState, line: PlannedLine, highest: int, n_records: int) -> list[int]:
    """The k that a line is run for, and the highest where one run goes on to the end."""
    outliers = line.plan.suppression(n_records, outliers=True)  # a small share may be no record
    if not serves_every_k(line.configuration.algorithm, outliers or line.plan.level_bounds):
        return list_run_k(highest, work.settings.k)
    plan = line.ground.plan
    if list_models(plan) or plan.person is not None:  # each release is finished for them
        return sorted({*list_run_k(highest, work.settings.k), highest})
    return list_slider_k(highest, work.settings.k)
