"""The configurations that a session compares: which they are, and what is known of them already.

Every run is found by a fingerprint of all that it depends on, so none is made twice: not when
something is chosen once more, not when an edit is undone, not for two comparisons that share it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from kanon.algorithms.catalogue import algorithms, check_task, serves_every_k, uses
from kanon.base.language import say, say_counted
from kanon.errors import KanonError, PlanError, listing, quoted
from kanon.experiments.comparison import PAPER_K, TIE_SEEDS, Comparison, Line
from kanon.experiments.sweep import Configuration, Planned
from kanon.experiments.titles import combined, guided, name_of, titles_of_configurations
from kanon.hierarchy import Hierarchy
from kanon.measures.along import Curves, Points
from kanon.measures.extended_measures import at_some_k
from kanon.metrics import BESIDE, METRICS, PUBLISHED, Metric
from kanon.plan import ColumnPlan, Plan, composed_metrics
from kanon.privacy import entropy_l_diversity
from kanon.run import Prepared, prepare
from kanon.schema import Role
from kanon.strategies import LOOKS_AT, needs_sensitive
from kanon.studio.session.work import (
    Known,
    Pinned,
    Work,
    chosen_for,
    compared_metrics,
    fingerprint_of,
    incomplete_records,
    plan_of,
    shown_k,
    suppression_used,
    usable_metrics,
    usable_strategies,
    without_lost,
)

__all__ = [
    "MOST_LINES",
    "Job",
    "LineRun",
    "Outlook",
    "Wanted",
    "algorithms_offered",
    "as_compared",
    "asks_for_some_k",
    "compared_algorithms",
    "compared_strategies",
    "fingerprint",
    "incomparable",
    "lacking",
    "made_of",
    "needed_metrics",
    "outlook",
    "planned",
    "strategies_offered",
    "ties_matter",
    "wanted_lines",
    "yardsticks",
]

MOST_LINES = 48
"""The most lines of one comparison: more would be a picture that nobody can read."""

_MOST_RUNS = 600
"""The most runs that a session remembers; the oldest give way."""


@dataclass(frozen=True, eq=False)
class _Ground:
    """What a run stands on, whatever leads it: the plan, its hierarchies, and a fingerprint."""

    plan: Plan
    trees: Mapping[str, Hierarchy]
    digest: str


@dataclass(frozen=True, eq=False)
class Wanted:
    """A line that is to be compared.

    Attributes
    ----------
    configuration
        What leads it, with its own tie seed.
    plan
        The whole plan.
    name, title, kept
        See :class:`kanon.experiments.comparison.Line`.
    seeds
        The tie seeds that it is run under: its own first, then those of a band if one is wanted.
    ground
        The plan that all such lines share, and the hierarchies.
    yardstick
        What its releases are measured by; None for its own hierarchies.
    """

    configuration: Configuration
    plan: Plan
    name: str
    title: str
    kept: bool
    seeds: tuple[int | None, ...]
    ground: _Ground
    yardstick: _Ground | None

    @property
    def guide(self) -> Metric:
        """The metric that guides it."""
        return self.plan.metric

    @property
    def measured_by(self) -> Mapping[str, Hierarchy]:
        """The hierarchies that its releases are measured by."""
        return (self.yardstick or self.ground).trees


class LineRun(NamedTuple):
    """One run of a line: which line, under which tie seed, and its fingerprint."""

    line: Wanted
    seed: int | None
    key: str


# --- which -----------------------------------------------------------------------------------
def strategies_offered(work: Work) -> list[str]:
    """The strategies that can be compared: S1 alone without GAA."""
    led = next((name for name in compared_algorithms(work) if uses(name, "strategy")), None)
    return usable_strategies(replace(work, algorithm=led)) if led is not None else ["s1"]


def algorithms_offered() -> list[str]:
    """The algorithms that can be compared over k; levels chosen by hand are for one k."""
    return [name for name in algorithms() if name != "levels"]


def compared_algorithms(work: Work) -> list[str]:
    """The algorithms to compare; of an empty choice, the one that is chosen on Anonymise."""
    chosen = work.algorithms or (work.algorithm,)
    return [name for name in algorithms_offered() if name in chosen] or ["gaa"]


def compared_strategies(work: Work) -> list[str]:
    """The strategies to compare: those chosen, as far as the table allows them.

    Where all that were chosen are gone, S1: an empty choice is one that the user made.
    """
    offered = strategies_offered(work)
    found = [name for name in offered if name in work.strategies]
    return found if found or not work.strategies else ["s1"]


def wanted_lines(work: Work, also: Iterable[str] = ()) -> tuple[Wanted, ...]:
    """The lines that are chosen: the product of metrics, strategies and scopes, and what is kept.

    Parameters
    ----------
    work
        The session.
    also
        Metrics beside those chosen.

    Raises
    ------
    PlanError
        There are too many; or see :func:`kanon.studio.session.work.plan_of`.
    """
    whole = plan_of(without_lost(work))
    ours = _ground(work, whole, work.trees)
    names = dict.fromkeys([*compared_metrics(work), *also])
    chosen = combined(
        list(names),
        compared_strategies(work),
        work.scopes,
        compared_algorithms(work),
        work.tie_seed,
    )
    called = {**METRICS, **composed_metrics(work.composed)}
    titles = titles_of_configurations(chosen, {name: called[name].card.title for name in names})
    found = [
        Wanted(
            one,
            _led_by(whole, one, work),
            name_of(one),
            title,
            False,
            _seeds(work, one),
            ours,
            None,
        )
        for one, title in zip(chosen, titles, strict=True)
    ]
    taken = {text for line in found for text in (line.name, line.title)}
    for each in work.pinned:
        if each.shown and not incomparable(work, each):
            # A metric of one's own can have any name, this one too.
            name, title = (
                text + "′" * (text in taken) for text in (f"kept: {each.title}", f"★ {each.title}")
            )
            ground = _ground(work, _with_sensitive(each.plan, work.sensitive_columns), each.trees)
            own = _own(each.plan)
            seeds = _seeds(work, own)
            found.append(Wanted(own, ground.plan, name, title, True, seeds, ground, None))
    if len(found) > MOST_LINES:
        raise PlanError(
            say_counted(
                len(found),
                "{count} line is too many to compare; {most} can be. Choose fewer metrics or "
                "strategies.",
                "{count} lines are too many to compare; {most} can be. Choose fewer metrics or "
                "strategies.",
                most=MOST_LINES,
            )
        )
    measure = _yardstick(work, ours)
    return tuple(replace(line, yardstick=_other(measure, line.ground)) for line in found)


def incomparable(work: Work, each: Pinned) -> str:
    """Why a kept configuration cannot stand beside what is chosen now; nothing if it can.

    Losses are shares of all that the quasi-identifiers of all records could lose: of other columns
    or other records, they are shares of something else.
    """
    if not each.fits:
        return say("its plan does not fit this table")
    if each.plan.algorithm.name not in algorithms_offered():
        return say("its levels were chosen for one k, and a comparison runs over many")
    own, now = each.plan.roles.quasi_identifiers, work.quasi_identifiers
    if set(own) != set(now):
        more, less = ([c for c in one if c not in other] for one, other in ((own, now), (now, own)))
        if not less:
            return say("its quasi-identifiers are others: with {more}", more=listing(more))
        if not more:
            return say("its quasi-identifiers are others: without {less}", less=listing(less))
        return say(
            "its quasi-identifiers are others: with {more} and without {less}",
            more=listing(more),
            less=listing(less),
        )
    if each.plan.person != work.person:
        return (
            say("its k counts records")
            if each.plan.person is None
            else say("its k counts persons by {column}", column=quoted(each.plan.person))
        )
    if each.plan.read.missing != work.missing and incomplete_records(work):
        return say("it treats records with missing values differently, so its records are others")
    return ""


def _seeds(work: Work, one: Configuration) -> tuple[int | None, ...]:
    """Its own tie seed, and those of a band if one is wanted."""
    return tuple(dict.fromkeys([one.tie_seed, *(TIE_SEEDS if work.bands else ())]))


def yardsticks(work: Work) -> list[str | None]:
    """The hierarchies that one can choose to measure by, if shown lines have different ones.

    Empty for those in use, the titles of kept configurations, None for each by its own. An empty
    list where it makes no difference.
    """
    able = [each for each in work.pinned if not incomparable(work, each)]
    trees = work.trees
    if all(dict(each.trees) == trees for each in able if each.shown):
        return []
    other = [each.title for each in able if dict(each.trees) != trees]
    return ["", *other, None]


def _yardstick(work: Work, ours: _Ground) -> _Ground | None:
    """Whose hierarchies all are measured by; None for each by its own."""
    chosen = work.yardstick if work.yardstick in yardsticks(work) else ""  # never an unseen one
    if chosen is None:
        return None
    for each in work.pinned:
        if each.title == chosen:
            return _ground(work, each.plan, each.trees)
    return ours


def _other(measure: _Ground | None, own: _Ground) -> _Ground | None:
    """What to measure by, where that differs from a line's own hierarchies."""
    return None if measure is None or dict(measure.trees) == dict(own.trees) else measure


def _led_by(
    plan: Plan, one: Configuration, work: Work | None = None, seed: int | None = None
) -> Plan:
    """The plan with something else to lead it.

    Parameters
    ----------
    plan
        What stays.
    one
        What leads.
    work
        Where another algorithm than the plan's finds its own choices; None if it is the plan's.
    seed
        What an algorithm that draws at random begins with; None for what the plan says.
    """
    led = plan.algorithm
    wanted: dict[str, Any] = {
        "metric": one.metric,
        "strategy": one.strategy,
        "scope": one.scope,
        "tie_seed": one.tie_seed,
        "seed": led.seed if seed is None else seed,
    }
    limit: dict[str, Any] = {}
    if work is not None and one.algorithm != led.name:
        kept = {key: getattr(led, key) for key in type(led).model_fields if key != "node"}
        chosen = chosen_for(work, one.algorithm)
        made = type(led).model_validate({**kept, "name": one.algorithm, **chosen})
        limit = {"suppression_limit": suppression_used(work, one.algorithm)}
        return plan.model_copy(update={"algorithm": made.model_copy(update=wanted), **limit})
    return plan.model_copy(update={"algorithm": led.model_copy(update=wanted)})


def _own(plan: Plan) -> Configuration:
    """The configuration of a plan."""
    led = plan.algorithm
    scope = led.scope if LOOKS_AT[led.strategy] else "table"
    return Configuration(led.metric, led.strategy, led.tie_seed, scope, led.name)


def _with_sensitive(plan: Plan, columns: Iterable[str]) -> Plan:
    """The plan with what is sensitive now, so that all lines are measured by the same columns."""
    changed = dict(plan.columns)
    for column in columns:
        if column not in changed or changed[column].role is not Role.QUASI_IDENTIFIER:
            changed[column] = ColumnPlan(role=Role.SENSITIVE)
    return plan.model_copy(update={"columns": changed})


# --- what is known ----------------------------------------------------------------------------
def needed_metrics(lines: Sequence[Wanted]) -> list[Metric]:
    """The metrics that a comparison measures in: the seven, and those that guide.

    Drawn weights only where everything that releases are measured by has some.

    Raises
    ------
    PlanError
        Two lines are guided by different metrics of one name.
    """
    found = {name: METRICS[name] for name in PUBLISHED}
    for line in lines:
        guide = line.guide
        if not guided(line.configuration):
            continue
        if guide.name == "custom" and not _all_drawn(lines):
            continue
        if _phases(found.setdefault(guide.name, guide)) != _phases(guide):
            raise PlanError(
                say(
                    "Two configurations are guided by different metrics called {metric}; hide one "
                    "of them.",
                    metric=quoted(guide.name),
                )
            )
    return list(found.values())


def asks_for_some_k(work: Work) -> bool:
    """Whether the board asks for a measure that is known at some k alone, and takes longer."""
    panels = work.layout.panels if work.layout is not None else ()
    asked = {panel.measure for panel in panels if panel.kind == "curve"}
    return bool(asked & at_some_k())


def lacking(
    work: Work, lines: Sequence[Wanted], also: int | None = None, at_some: bool = False
) -> list[LineRun]:
    """The runs of these lines that nobody has made yet, each once.

    Parameters
    ----------
    work
        The session.
    lines
        The lines.
    also
        A k that has to be among those known, where each k is a run of its own.
    at_some
        Whether they have to be measured by what is known at some k alone.
    """
    metrics, found = needed_metrics(lines), {}
    for run in _runs(lines):
        known = work.runs.get(run.key)
        if known is None or not _serves(known, run, metrics, also, at_some):
            found[run.key] = run
    return list(found.values())


def made_of(work: Work, lines: Sequence[Wanted]) -> Comparison:
    """The comparison of these lines, of which none is lacking."""
    metrics = needed_metrics(lines)
    runs: dict[str, dict[int | None, Known]] = {line.name: {} for line in lines}
    for run in _runs(lines):
        runs[run.line.name][run.seed] = work.runs[run.key]
    every = [known for each in runs.values() for known in each.values()]
    n_records = min(known.n_records for known in every)
    alone = [
        {int(k) for k in known.numbers.numbers["k"]}
        for known in every
        if isinstance(known.numbers, Points)
    ]
    ks = set.intersection(*alone) if alone else set(_ks(lines, n_records, work.k))
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
    )
    shared = found.sensitive_columns
    return replace(found, sensitive=work.focus if work.focus in shared else next(iter(shared), ""))


class Outlook(NamedTuple):
    """What is chosen, and how much of it is known.

    Attributes
    ----------
    lines
        The lines.
    runs, lacking
        How many runs they are, and how many of those are still to be made.
    comparison
        The comparison, if none is.
    key
        A fingerprint of the comparison.
    problem
        Why it cannot be made at all.
    """

    lines: tuple[Wanted, ...] = ()
    runs: int = 0
    lacking: int = 0
    comparison: Comparison | None = None
    key: str = ""
    problem: str = ""


def outlook(work: Work) -> Outlook:
    """What is chosen now, and how much of it is known."""
    try:
        lines = wanted_lines(work)
        todo = lacking(work, lines)
    except KanonError as error:
        return Outlook(problem=error.sentence)
    number = len({run.key for run in _runs(lines)})
    if todo or not lines:
        return Outlook(lines, number, len(todo))
    found = made_of(work, lines)
    return Outlook(lines, number, 0, found, fingerprint(lines, found))


def fingerprint(lines: Sequence[Wanted], found: Comparison) -> str:
    """A fingerprint of a comparison of these lines: of all that decides what it shows."""
    said = [(line.name, line.title) for line in lines]
    metrics = [_identity(metric, lines[0].measured_by) for metric in found.measured]
    at = [
        run.measured_at if isinstance(run, Curves) else ()
        for line in found.lines
        for run in line.runs.values()
    ]
    keys = [run.key for run in _runs(lines)]
    return fingerprint_of(said, keys, metrics, found.sensitive, found.ks, at)


class Job(NamedTuple):
    """What a worker is given, and what is written down beside each of its answers."""

    runs: list[Planned]
    ks: list[int]
    metrics: list[Metric]
    keys: list[str]
    known: list[Known]
    also_at: list[int]
    """Where what is no running sum is measured too; empty if the board does not ask for it."""


def planned(work: Work, lines: Sequence[Wanted], todo: Sequence[LineRun]) -> Job:
    """The runs that are lacking, ready for :func:`kanon.experiments.sweep.solve_sweep`.

    Releases are measured in all metrics that could be chosen too, so that choosing one of them
    as a guide needs no other run.

    Raises
    ------
    KanonError
        A plan does not fit the table, or nothing can satisfy it.
    """
    if not todo:
        return Job([], [], [], [], [], [])
    metrics = {metric.name: metric for metric in needed_metrics(lines)}
    for name, metric in composed_metrics(work.composed).items():
        metrics.setdefault(name, metric)
    for name in BESIDE:
        metrics.setdefault(name, METRICS[name])
    if "custom" in usable_metrics(work) and _all_drawn(lines):
        metrics.setdefault("custom", METRICS["custom"])
    ready: dict[int, Prepared] = {}

    def prepared_for(ground: _Ground) -> Prepared:
        if id(ground) not in ready:
            ready[id(ground)] = prepare(ground.plan, work.table)
        return ready[id(ground)]

    highest = min(prepared_for(run.line.ground).classes.highest_k for run in todo)
    ks = _ks(lines, highest, work.k)
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
        plan = _led_by(ground.plan.model_copy(update=own), led, seed=band)
        task = replace(ground, plan=plan).task()
        task.for_k(max(ks)).check()
        check_task(plan.algorithm.name, task)
        measure = None
        if line.yardstick is not None:
            other = prepared_for(line.yardstick).classes
            by_name = dict(zip(other.attributes, other.hierarchies, strict=True))
            measure = tuple(by_name[name] for name in ground.classes.attributes)
        runs.append(Planned(plan.algorithm.name, task, measure))
        best = {each.name: entropy_l_diversity.of_whole(each) for each in ground.classes.sensitive}
        identities = frozenset(_identity(metric, line.measured_by) for metric in metrics.values())
        # The numbers come later.
        empty = Points({})
        written.append(Known(empty, identities, ground.classes.highest_k, best))
    keys = [run.key for run in todo]
    also_at: list[int] = []
    if asks_for_some_k(work):  # the papers' k, the one that is looked at, and the last
        also_at = sorted({*(k for k in PAPER_K if k < ks[-1]), min(work.k, ks[-1]), ks[-1]})
    return Job(runs, ks, list(metrics.values()), keys, written, also_at)


def as_compared(
    work: Work, lines: Sequence[Wanted], job: Job, found: Sequence[Curves | Points]
) -> Mapping[str, Known]:
    """What the session knows with the answers of a job.

    Of too many runs, those that were not used for the longest time are forgotten.
    """
    new = {
        key: replace(known, numbers=numbers)
        for key, known, numbers in zip(job.keys, job.known, found, strict=True)
    }
    used = [run.key for run in _runs(lines)]
    every = {**work.runs, **new}
    ordered = {key: known for key, known in every.items() if key not in set(used)}
    ordered |= {key: every[key] for key in used}
    return dict(list(ordered.items())[-max(_MOST_RUNS, len(set(used))) :])


def _runs(lines: Sequence[Wanted]) -> list[LineRun]:
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


def _base_key(line: Wanted) -> str:
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
        parts.append(_identity(line.guide, line.ground.trees))
    if line.yardstick is not None:
        parts.append(line.yardstick.digest)
    if all(tree.weight is not None for tree in line.measured_by.values()):
        parts.append(_identity(METRICS["custom"], line.measured_by))  # they measure too
    return repr(parts)


def _ground(work: Work, plan: Plan, trees: Mapping[str, Hierarchy]) -> _Ground:
    """What runs stand on. Models beyond k are not part of it: curves run over k."""
    bare = plan.model_copy(update={"privacy": []}).with_k(2)
    columns = plan.roles.quasi_identifiers
    weights = plan.algorithm.attribute_weights
    found = hashlib.sha256(
        repr(
            (
                work.digest,
                work.version,
                columns,
                plan.roles.columns(Role.SENSITIVE),
                plan.read.missing,
                plan.person,
                plan.algorithm.cost,
                [weights.get(column, 1.0) for column in columns],
            )
        ).encode()
    )
    for column in columns:
        tree = trees[column]
        found.update(repr((column, tree.labels)).encode())
        found.update(tree.parent.tobytes())
    return _Ground(bare, trees, found.hexdigest())


def _identity(metric: Metric, trees: Mapping[str, Hierarchy]) -> str:
    """What a metric is, beside its name: its phases, or the weights that are drawn."""
    if metric.intermediate:
        return "|".join((metric.name, *_phases(metric)))
    found = hashlib.sha256()
    for column in sorted(trees):
        weight = trees[column].weight
        found.update(b"none" if weight is None else np.asarray(weight).tobytes())
    return f"{metric.name}|{found.hexdigest()}"


def _phases(metric: Metric) -> tuple[str, str]:
    return metric.intermediate, metric.multiplier


def _all_drawn(lines: Sequence[Wanted]) -> bool:
    """Whether all hierarchies that releases are measured by have drawn weights."""
    return all(tree.weight is not None for line in lines for tree in line.measured_by.values())


def _serves(
    known: Known, run: LineRun, metrics: Sequence[Metric], also: int | None, at_some: bool
) -> bool:
    """Whether a run that was made says all that is asked of it."""
    wanted = {_identity(metric, run.line.measured_by) for metric in metrics}
    if not wanted <= known.measured:
        return False
    if isinstance(known.numbers, Curves):
        if at_some and not known.numbers.measured_at:
            return False
        return int(known.numbers.min_k[-1]) >= known.n_records
    there = {int(k) for k in known.numbers.numbers["k"]}
    asked = {k for k in PAPER_K if k <= known.n_records}
    return there >= asked | ({min(also, known.n_records)} if also is not None else set())


def _ks(lines: Sequence[Wanted], n_records: int, also: int) -> list[int]:
    """The k of a comparison, and n, so that a run to all of them is one to the end."""
    names = dict.fromkeys(line.configuration.algorithm for line in lines)
    once = [name for name in names if not serves_every_k(name)]
    ks = shown_k((once or list(names))[0], n_records, also)
    mixed = len(once) not in (0, len(names))
    return sorted({*ks, n_records}) if mixed else ks
