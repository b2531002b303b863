"""The missing runs of a comparison, which several pages request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

from kanon.algorithms.catalogue import check_task, serves_every_k, uses
from kanon.base.fingerprint import compute_fingerprint
from kanon.errors import KanonError, PlanError, quote
from kanon.experiments.comparison import PAPER_K, Comparison, Line
from kanon.experiments.sweep import PlannedRun, run_sweep
from kanon.experiments.titles import is_guided
from kanon.measures.along import Curves, Points
from kanon.measures.extended_measures import find_measures_at_some_k
from kanon.metrics import BESIDE, METRICS, PUBLISHED, Metric
from kanon.plan import build_composed_metrics
from kanon.privacy import entropy_l_diversity
from kanon.run import PreparedRun, prepare
from kanon.strategies import LOOKS_AT, needs_sensitive
from kanon.studio.jobs.configurations import (
    PlannedLine,
    RunInputs,
    apply_configuration_to_plan,
    get_metric_identity,
    get_metric_phases,
    list_planned_lines,
)
from kanon.studio.session.changed_settings import record_start_state
from kanon.studio.session.findings import ComparisonResult, MeasuredRun
from kanon.studio.session.run_plan import build_plan, drop_unmeetable_models, hash_comparison_inputs
from kanon.studio.session.work import (
    JobRequest,
    SessionState,
    add_run_cancelled_notice,
    list_comparison_k,
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
    plan = build_plan(drop_unmeetable_models(work))
    settings = hash_comparison_inputs(work, plan, [line.guide.name for line in lines])
    job = plan_comparison_job(work, lines, todo)
    before = work.findings.comparison if what_if else None
    then = partial(_store_comparison, lines, job, settings, before)
    if not todo:
        return record_start_state(then(work, []), "comparison", work)
    arguments = (job.runs, job.ks, job.metrics, None, job.also_at)
    return JobRequest("comparison", run_sweep, arguments, then, cancelled=_handle_cancel)


def _list_what_if_lines(work: SessionState) -> tuple[PlannedLine, ...]:
    """The lines before and after an edit, also by drawn weights, which were just edited."""
    work = work.replace_sections(replace(work.kept, measuring_hierarchies=None))
    return list_planned_lines(work, ["custom"] if "custom" in list_usable_metrics(work) else [])


def _store_comparison(
    lines: Sequence[PlannedLine],
    job: ComparisonJob,
    settings: str,
    before: ComparisonResult | None,
    work: SessionState,
    curves: Sequence[Curves | Points],
) -> SessionState:
    work = work.replace_sections(
        replace(work.findings, runs=merge_compared_runs(work, lines, job, curves))
    )
    seconds = work.running["comparison"].job.seconds if curves else 0.0
    comparison = build_comparison(work, lines)
    compared = ComparisonResult(comparison, settings, seconds, hash_comparison(lines, comparison))
    both = None if before is None else (before, compared)
    return work.replace_sections(replace(work.findings, comparison=compared, what_if=both))


def _handle_cancel(work: SessionState) -> SessionState:
    """Ask for bands no longer if there are none."""
    compared = work.findings.comparison
    bands = work.compare.bands and compared is not None and compared.comparison.has_bands
    return add_run_cancelled_notice(work.replace_sections(replace(work.compare, bands=bands)))


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


def build_comparison(work: SessionState, lines: Sequence[PlannedLine]) -> Comparison:
    metrics = list_needed_metrics(lines)
    runs: dict[str, dict[int | None, MeasuredRun]] = {line.name: {} for line in lines}
    for run in _list_runs(lines):
        runs[run.line.name][run.seed] = work.findings.runs[run.key]
    measured = [past_run for by_seed in runs.values() for past_run in by_seed.values()]
    n_records = min(past_run.n_records for past_run in measured)
    alone = [
        {int(k) for k in past_run.numbers.numbers["k"]}
        for past_run in measured
        if isinstance(past_run.numbers, Points)
    ]
    ks = set.intersection(*alone) if alone else set(_list_ks(lines, n_records, work.settings.k))
    comparison = Comparison(
        tuple(
            Line(
                line.configuration,
                line.guide,
                {seed: past_run.numbers for seed, past_run in runs[line.name].items()},
                line.name,
                line.title,
                line.kept,
                next(iter(runs[line.name].values())).best_l,
            )
            for line in lines
        ),
        tuple(metrics),
        n_records,
        tuple(sorted(ks)),
        of="records" if lines[0].ground.plan.person is None else "persons",
    )
    shared = comparison.sensitive_columns
    return replace(
        comparison, sensitive=work.focus if work.focus in shared else next(iter(shared), "")
    )


class ComparisonOutlook(NamedTuple):
    lines: tuple[PlannedLine, ...] = ()  # The lines
    runs: int = 0  # How many runs they are, and how many of those are still to be made
    lacking: int = 0
    comparison: Comparison | None = None  # The comparison, if none is
    key: str = ""  # A fingerprint of the comparison
    problem: str = ""  # Why it cannot be made at all


def describe_comparison(work: SessionState) -> ComparisonOutlook:
    try:
        lines = list_planned_lines(work)
        todo = list_missing_runs(work, lines)
    except KanonError as error:
        return ComparisonOutlook(problem=error.sentence)
    number = len({run.key for run in _list_runs(lines)})
    if todo or not lines:
        return ComparisonOutlook(lines, number, len(todo))
    comparison = build_comparison(work, lines)
    return ComparisonOutlook(lines, number, 0, comparison, hash_comparison(lines, comparison))


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
    return compute_fingerprint(titles, keys, metrics, comparison.sensitive, comparison.ks, at)


class ComparisonJob(NamedTuple):
    """What a worker gets, and what is noted beside each of its answers."""

    runs: list[PlannedRun]
    ks: list[int]
    metrics: list[Metric]
    keys: list[str]
    known: list[MeasuredRun]
    also_at: list[int]
    """The k of slower measures; empty if the board does not show them."""


def plan_comparison_job(
    work: SessionState, lines: Sequence[PlannedLine], todo: Sequence[LineRun]
) -> ComparisonJob:
    """Prepare the missing runs for :func:`kanon.experiments.sweep.run_sweep`."""
    if not todo:
        return ComparisonJob([], [], [], [], [], [])
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

    highest = min(prepared_for(run.line.ground).classes.highest_k for run in todo)
    ks = _list_ks(lines, highest, work.settings.k)
    runs, written = [], []
    for run in todo:
        line = run.line
        ground = prepared_for(line.ground)
        led = replace(line.configuration, tie_seed=run.seed)
        own = {
            key: getattr(line.plan, key) for key in ("algorithm", "suppression_limit", "outliers")
        }
        band = None if run.seed == line.configuration.tie_seed else run.seed
        plan = apply_configuration_to_plan(ground.plan.model_copy(update=own), led, seed=band)
        task = replace(ground, plan=plan).task()
        task.for_k(max(ks)).check()
        check_task(plan.algorithm.name, task)
        measure = None
        if line.measuring_inputs is not None:
            other = prepared_for(line.measuring_inputs).classes
            by_name = dict(zip(other.attributes, other.hierarchies, strict=True))
            measure = tuple(by_name[name] for name in ground.classes.attributes)
        runs.append(PlannedRun(plan.algorithm.name, task, measure))
        best = {
            column.name: entropy_l_diversity.of_whole(column) for column in ground.classes.sensitive
        }
        identities = frozenset(
            get_metric_identity(metric, line.measured_by) for metric in metrics.values()
        )
        later = Points({})  # the numbers
        written.append(MeasuredRun(later, identities, ground.classes.highest_k, best))
    keys = [run.key for run in todo]
    also_at: list[int] = []
    if needs_single_k_measures(work):  # the papers' k, the one that is looked at, and the last
        looked_at = {*PAPER_K, work.settings.k, ks[-1]}
        also_at = sorted({min(k, ks[-1]) for k in looked_at})
    return ComparisonJob(runs, ks, list(metrics.values()), keys, written, also_at)


def merge_compared_runs(
    work: SessionState,
    lines: Sequence[PlannedLine],
    job: ComparisonJob,
    curves: Sequence[Curves | Points],
) -> Mapping[str, MeasuredRun]:
    new = {
        key: replace(past_run, numbers=numbers)
        for key, past_run, numbers in zip(job.keys, job.known, curves, strict=True)
    }
    used = [run.key for run in _list_runs(lines)]
    all_runs = {**work.findings.runs, **new}
    ordered = {key: past_run for key, past_run in all_runs.items() if key not in set(used)}
    ordered |= {key: all_runs[key] for key in used}
    return dict(list(ordered.items())[-max(_MOST_RUNS, len(set(used))) :])


def _list_runs(lines: Sequence[PlannedLine]) -> list[LineRun]:
    runs = []
    for line in lines:
        inputs, luck = LineInputs.from_line(line), has_random_ties(line.configuration.algorithm)
        for seed in line.seeds:
            runs.append(LineRun(line, seed, compute_fingerprint(inputs, seed if luck else None)))
    return runs


def has_random_ties(algorithm: str) -> bool:
    """Whether an algorithm breaks ties by a seed or draws at random."""
    return uses(algorithm, "tie_seed") or uses(algorithm, "seed")


@dataclass(frozen=True, eq=False)
class LineInputs:
    """All that the runs of a line depend on except the tie seed."""

    ground: str  # The fingerprint of what it stands on
    algorithm: str
    strategy: str
    scope: str | None  # None here and below for what is not looked at
    sensitive: str | None
    suppression: object
    outliers: object
    seed: int | None
    node: Mapping[str, int] | None
    options: Mapping[str, Any]
    guide: str | None
    yardstick: str | None
    drawn: str | None  # The drawn weights, which measure too

    @classmethod
    def from_line(cls, line: PlannedLine) -> LineInputs:
        led, plan = line.configuration, line.plan
        algorithm, trees = plan.algorithm, line.measured_by
        all_drawn = all(tree.weight is not None for tree in trees.values())
        return cls(
            line.ground.digest,
            led.algorithm,
            led.strategy,
            led.scope if LOOKS_AT[led.strategy] else None,
            plan.led_by if needs_sensitive(led.strategy) else None,
            plan.suppression_limit if uses(led.algorithm, "suppression") else None,
            plan.outliers if uses(led.algorithm, "outliers") else None,
            algorithm.seed if uses(led.algorithm, "seed") else None,
            algorithm.node if uses(led.algorithm, "node") else None,
            algorithm.options,
            get_metric_identity(line.guide, line.ground.trees) if is_guided(led) else None,
            None if line.measuring_inputs is None else line.measuring_inputs.digest,
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
    there = {int(k) for k in past_run.numbers.numbers["k"]}
    required_k = {k for k in PAPER_K if k <= past_run.n_records}
    return there >= required_k | ({min(also, past_run.n_records)} if also is not None else set())


def _list_ks(lines: Sequence[PlannedLine], n_records: int, also: int) -> list[int]:
    """The k of a comparison, with n where only some of the algorithms run to the end."""
    kinds = {(line.configuration.algorithm, bool(line.plan.outliers)): None for line in lines}
    once = [kind for kind in kinds if not serves_every_k(*kind)]
    ks = list_comparison_k(*(once or list(kinds))[0], n_records, also)
    mixed = len(once) not in (0, len(kinds))
    return sorted({*ks, n_records}) if mixed else ks


def has_outdated_comparison(work: SessionState) -> bool:
    compared = work.findings.comparison
    if compared is None:
        return False
    guides = [line.guide.name for line in compared.comparison.lines]
    able = drop_unmeetable_models(work)
    try:
        if hash_comparison_inputs(able, build_plan(able), guides) != compared.settings:
            return True
    except KanonError:
        return True
    state = describe_comparison(work)
    return bool(state.lacking or state.problem)
