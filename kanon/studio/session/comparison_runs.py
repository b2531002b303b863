"""The runs that a session's comparisons made: what is known of them, and which are lacking.

Every run is found by a fingerprint of all that it depends on, so none is made twice: not when
something is chosen once more, not when an edit is undone, not for two comparisons that share it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from kanon.algorithms.catalogue import check_task, serves_every_k, uses
from kanon.errors import KanonError, PlanError, quoted
from kanon.experiments.comparison import PAPER_K, Comparison, Line
from kanon.experiments.sweep import PlannedRun
from kanon.experiments.titles import guided
from kanon.measures.along import Curves, Points
from kanon.measures.extended_measures import at_some_k
from kanon.metrics import BESIDE, METRICS, PUBLISHED, Metric
from kanon.plan import composed_metrics
from kanon.privacy import entropy_l_diversity
from kanon.run import PreparedRun, prepare
from kanon.strategies import LOOKS_AT, needs_sensitive
from kanon.studio.session.configurations import (
    PlannedLine,
    RunInputs,
    identity,
    led_by,
    phases,
    wanted_lines,
)
from kanon.studio.session.findings import MeasuredRun
from kanon.studio.session.run_choices import shown_k, usable_metrics
from kanon.studio.session.run_plan import fingerprint_of
from kanon.studio.session.work import Work

_MOST_RUNS = 600  # the most runs that a session remembers; the oldest give way


class LineRun(NamedTuple):
    """One run of a line: which line, under which tie seed, and its fingerprint."""

    line: PlannedLine
    seed: int | None
    key: str


def needed_metrics(lines: Sequence[PlannedLine]) -> list[Metric]:
    """The metrics that a comparison measures in: the seven, and those that guide."""
    found = {name: METRICS[name] for name in PUBLISHED}
    for line in lines:
        guide = line.guide
        if not guided(line.configuration):
            continue
        if guide.name == "custom" and not _all_drawn(lines):
            continue
        if phases(found.setdefault(guide.name, guide)) != phases(guide):
            raise PlanError(
                "Two configurations are guided by different metrics called "
                f"{quoted(guide.name)}; hide one of them."
            )
    return list(found.values())


def asks_for_some_k(work: Work) -> bool:
    """Whether the board asks for a measure that is known at some k alone, and takes longer."""
    panels = work.compare.layout.panels if work.compare.layout is not None else ()
    asked = {panel.measure for panel in panels if panel.kind == "curve"}
    return bool(asked & at_some_k())


def lacking(
    work: Work, lines: Sequence[PlannedLine], also: int | None = None, at_some: bool = False
) -> list[LineRun]:
    """The runs of these lines that nobody has made yet, each once."""
    metrics, found = needed_metrics(lines), {}
    for run in _runs(lines):
        known = work.findings.runs.get(run.key)
        if known is None or not _serves(known, run, metrics, also, at_some):
            found[run.key] = run
    return list(found.values())


def made_of(work: Work, lines: Sequence[PlannedLine]) -> Comparison:
    """The comparison of these lines, of which none is lacking."""
    metrics = needed_metrics(lines)
    runs: dict[str, dict[int | None, MeasuredRun]] = {line.name: {} for line in lines}
    for run in _runs(lines):
        runs[run.line.name][run.seed] = work.findings.runs[run.key]
    every = [known for each in runs.values() for known in each.values()]
    n_records = min(known.n_records for known in every)
    alone = [
        {int(k) for k in known.numbers.numbers["k"]}
        for known in every
        if isinstance(known.numbers, Points)
    ]
    ks = set.intersection(*alone) if alone else set(_ks(lines, n_records, work.settings.k))
    found = Comparison(
        tuple(
            Line(
                line.configuration,
                line.guide,
                {seed: known.numbers for seed, known in runs[line.name].items()},
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
    shared = found.sensitive_columns
    return replace(found, sensitive=work.focus if work.focus in shared else next(iter(shared), ""))


class ComparisonState(NamedTuple):
    """What is chosen, and how much of it is known."""

    lines: tuple[PlannedLine, ...] = ()  # The lines
    runs: int = 0  # How many runs they are, and how many of those are still to be made
    lacking: int = 0
    comparison: Comparison | None = None  # The comparison, if none is
    key: str = ""  # A fingerprint of the comparison
    problem: str = ""  # Why it cannot be made at all


def outlook(work: Work) -> ComparisonState:
    """What is chosen now, and how much of it is known."""
    try:
        lines = wanted_lines(work)
        todo = lacking(work, lines)
    except KanonError as error:
        return ComparisonState(problem=error.sentence)
    number = len({run.key for run in _runs(lines)})
    if todo or not lines:
        return ComparisonState(lines, number, len(todo))
    found = made_of(work, lines)
    return ComparisonState(lines, number, 0, found, fingerprint(lines, found))


def runs_wanted(work: Work) -> list[str]:
    """What tells the runs apart that are chosen now."""
    return [run.key for run in _runs(wanted_lines(work))]


def fingerprint(lines: Sequence[PlannedLine], found: Comparison) -> str:
    """A fingerprint of a comparison of these lines: of all that decides what it shows."""
    said = [(line.name, line.title) for line in lines]
    metrics = [identity(metric, lines[0].measured_by) for metric in found.measured]
    at = [
        run.measured_at if isinstance(run, Curves) else ()
        for line in found.lines
        for run in line.runs.values()
    ]
    keys = [run.key for run in _runs(lines)]
    return fingerprint_of(said, keys, metrics, found.sensitive, found.ks, at)


class ComparisonJob(NamedTuple):
    """What a worker is given, and what is written down beside each of its answers."""

    runs: list[PlannedRun]
    ks: list[int]
    metrics: list[Metric]
    keys: list[str]
    known: list[MeasuredRun]
    also_at: list[int]
    """Where what is no running sum is measured too; empty if the board does not ask for it."""


def planned(work: Work, lines: Sequence[PlannedLine], todo: Sequence[LineRun]) -> ComparisonJob:
    """The runs that are lacking, ready for :func:`kanon.experiments.sweep.solve_sweep`.

    Releases are measured in all metrics that could be chosen too, so that choosing one of them
    as a guide needs no other run.
    """
    if not todo:
        return ComparisonJob([], [], [], [], [], [])
    metrics = {metric.name: metric for metric in needed_metrics(lines)}
    for name, metric in composed_metrics(work.settings.composed).items():
        metrics.setdefault(name, metric)
    for name in BESIDE:
        metrics.setdefault(name, METRICS[name])
    if "custom" in usable_metrics(work) and _all_drawn(lines):
        metrics.setdefault("custom", METRICS["custom"])
    ready: dict[int, PreparedRun] = {}

    def prepared_for(ground: RunInputs) -> PreparedRun:
        if id(ground) not in ready:
            ready[id(ground)] = prepare(ground.plan, work.table.records)
        return ready[id(ground)]

    highest = min(prepared_for(run.line.ground).classes.highest_k for run in todo)
    ks = _ks(lines, highest, work.settings.k)
    runs, written = [], []
    for run in todo:
        line = run.line
        ground = prepared_for(line.ground)
        led = replace(line.configuration, tie_seed=run.seed)
        own = {
            "algorithm": line.plan.algorithm,
            "suppression_limit": line.plan.suppression_limit,
        }
        band = None if run.seed == line.configuration.tie_seed else run.seed
        plan = led_by(ground.plan.model_copy(update=own), led, seed=band)
        task = replace(ground, plan=plan).task()
        task.for_k(max(ks)).check()
        check_task(plan.algorithm.name, task)
        measure = None
        if line.yardstick is not None:
            other = prepared_for(line.yardstick).classes
            by_name = dict(zip(other.attributes, other.hierarchies, strict=True))
            measure = tuple(by_name[name] for name in ground.classes.attributes)
        runs.append(PlannedRun(plan.algorithm.name, task, measure))
        best = {each.name: entropy_l_diversity.of_whole(each) for each in ground.classes.sensitive}
        identities = frozenset(identity(metric, line.measured_by) for metric in metrics.values())
        # The numbers come later.
        empty = Points({})
        written.append(MeasuredRun(empty, identities, ground.classes.highest_k, best))
    keys = [run.key for run in todo]
    also_at: list[int] = []
    if asks_for_some_k(work):  # the papers' k, the one that is looked at, and the last
        also_at = sorted(
            {*(k for k in PAPER_K if k < ks[-1]), min(work.settings.k, ks[-1]), ks[-1]}
        )
    return ComparisonJob(runs, ks, list(metrics.values()), keys, written, also_at)


def as_compared(
    work: Work, lines: Sequence[PlannedLine], job: ComparisonJob, found: Sequence[Curves | Points]
) -> Mapping[str, MeasuredRun]:
    """What the session knows with the answers of a job."""
    new = {
        key: replace(known, numbers=numbers)
        for key, known, numbers in zip(job.keys, job.known, found, strict=True)
    }
    used = [run.key for run in _runs(lines)]
    every = {**work.findings.runs, **new}
    ordered = {key: known for key, known in every.items() if key not in set(used)}
    ordered |= {key: every[key] for key in used}
    return dict(list(ordered.items())[-max(_MOST_RUNS, len(set(used))) :])


def _runs(lines: Sequence[PlannedLine]) -> list[LineRun]:
    """Every run of these lines."""
    found = []
    for line in lines:
        base, luck = _base_key(line), ties_matter(line.configuration.algorithm)
        for given in line.seeds:
            seed = given if luck else None
            key = fingerprint_of(base, seed)
            found.append(LineRun(line, given, key))
    return found


def ties_matter(algorithm: str) -> bool:
    """Whether luck has a say in what an algorithm finds: ties broken by a seed, or drawing."""
    return uses(algorithm, "tie_seed") or uses(algorithm, "seed")


def _base_key(line: PlannedLine) -> str:
    """A fingerprint of all that a run depends on, but for the seed."""
    led = line.configuration
    parts: list[object] = [line.ground.digest, led.algorithm, led.strategy]
    if LOOKS_AT[led.strategy]:
        parts += [led.scope, line.plan.led_by if needs_sensitive(led.strategy) else None]
    plan = line.plan
    if uses(led.algorithm, "suppression"):
        parts.append(("suppression", plan.suppression_limit))
    if uses(led.algorithm, "seed"):
        parts.append(("seed", plan.algorithm.seed))
    if uses(led.algorithm, "node"):
        parts.append(("node", sorted((plan.algorithm.node or {}).items())))
    parts.append(sorted(plan.algorithm.options.items()))
    if guided(led):
        parts.append(identity(line.guide, line.ground.trees))
    if line.yardstick is not None:
        parts.append(line.yardstick.digest)
    if all(tree.weight is not None for tree in line.measured_by.values()):
        parts.append(identity(METRICS["custom"], line.measured_by))  # they measure too
    return repr(parts)


def _all_drawn(lines: Sequence[PlannedLine]) -> bool:
    """Whether all hierarchies that releases are measured by have drawn weights."""
    return all(tree.weight is not None for line in lines for tree in line.measured_by.values())


def _serves(
    known: MeasuredRun, run: LineRun, metrics: Sequence[Metric], also: int | None, at_some: bool
) -> bool:
    """Whether a run that was made says all that is asked of it."""
    wanted = {identity(metric, run.line.measured_by) for metric in metrics}
    if not wanted <= known.measured:
        return False
    if isinstance(known.numbers, Curves):
        if at_some and not known.numbers.measured_at:
            return False
        return int(known.numbers.min_k[-1]) >= known.n_records
    there = {int(k) for k in known.numbers.numbers["k"]}
    asked = {k for k in PAPER_K if k <= known.n_records}
    return there >= asked | ({min(also, known.n_records)} if also is not None else set())


def _ks(lines: Sequence[PlannedLine], n_records: int, also: int) -> list[int]:
    """The k of a comparison, and n, so that a run to all of them is one to the end."""
    names = dict.fromkeys(line.configuration.algorithm for line in lines)
    once = [name for name in names if not serves_every_k(name)]
    ks = shown_k((once or list(names))[0], n_records, also)
    mixed = len(once) not in (0, len(names))
    return sorted({*ks, n_records}) if mixed else ks
