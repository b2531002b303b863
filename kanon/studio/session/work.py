"""What one session works on: the table, its roles and hierarchies, the settings, the result.

Pure functions from one state to the next; nothing here knows Streamlit.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

import numpy as np

from kanon.algorithms.catalogue import serves_every_k, uses
from kanon.algorithms.solution import Solution
from kanon.base.language import say, say_counted
from kanon.base.values import Counted
from kanon.charts.layout import Layout
from kanon.errors import PlanError, listing, quoted
from kanon.experiments.comparison import PAPER_K, Comparison
from kanon.experiments.greatest_k import Reverse
from kanon.experiments.searches import Searches
from kanon.experiments.simulated.study import RunResult
from kanon.experiments.studies import Learned, ReleaseMeasures
from kanon.hierarchy import Hierarchy
from kanon.learning.experiments import Outcome
from kanon.measures.along import Curves, Points
from kanon.metrics import BESIDE, PUBLISHED, Metric, metric_named
from kanon.plan import VERSION, MetricPlan, Plan, composed_metrics
from kanon.privacy.model import SensitiveModel
from kanon.release.composition import Combined
from kanon.release.drift import Finding
from kanon.report.gathering import Report
from kanon.report.origin import Origin
from kanon.run import Prepared, Run, release_at
from kanon.schema import Role, singles_out
from kanon.sources.opening import OpenedTable
from kanon.sources.reading import ReadSettings, TableFile
from kanon.sources.tables import Table
from kanon.strategies import LOOKS_AT, STRATEGIES, Scope, needs_sensitive
from kanon.studio.data.singling_out_state import SinglingView
from kanon.studio.decide.advice_state import Advised
from kanon.studio.decide.simulated_state import SimulatedView
from kanon.studio.decide.state import DecideView
from kanon.studio.jobs.pool import Job
from kanon.studio.lattice.state import FoundLattice, LatticeView
from kanon.studio.learn.state import LessonsView
from kanon.studio.privacy.attacker import Looking
from kanon.studio.report.state import ReportView
from kanon.studio.session.choices import (
    Choice,
    Waiting,
    choose,
    drawn,
    remade,
    start_with,
    starting_text,
    with_tree,
)
from kanon.studio.session.earlier_releases import Handed
from kanon.studio.session.history import History
from kanon.studio.session.places import Destination, Place
from kanon.studio.session.samples import ADULT_FOLDER, bundled_file
from kanon.studio.utility.state import UtilityView

__all__ = [
    "Compared",
    "Doing",
    "Greatest",
    "Known",
    "MatrixView",
    "Pinned",
    "Result",
    "Searched",
    "Work",
    "begun_since",
    "built",
    "chosen_for",
    "compared_metrics",
    "comparison_settings",
    "counted_records",
    "fingerprint_of",
    "incomplete_records",
    "k_grid",
    "metric_called",
    "node_used",
    "plan_content",
    "plan_of",
    "redone",
    "settings_of",
    "shown_k",
    "suppression_used",
    "undone",
    "usable_metrics",
    "usable_strategies",
    "with_builder",
    "with_choice",
    "with_choices",
    "with_missing",
    "with_option",
    "with_role",
    "without_lost",
]

Missing = Literal["drop-records", "as-value"]
Doing = Literal[
    "",
    "run",
    "comparison",
    "lattice",
    "searches",
    "reverse",
    "learning",
    "predicting",
    "simulating",
    "advising",
    "opening",
    "reading",
    "writing",
    "combining",
    "reporting",
    "exercises",
    "marking",
    "singling",
]


@dataclass(frozen=True, eq=False)
class Result:
    """A finished run, and the settings that it was made with."""

    prepared: Prepared
    solution: Solution
    settings: str

    @property
    def known(self) -> tuple[int, ...] | None:
        """The k that were computed, rising; None if every k up to n can be looked up."""
        if self.solution.path is None:
            return self.solution.known or (self.prepared.plan.k,)
        return self.solution.known

    def k_for(self, k: int) -> int:
        """The k that can be shown: any up to n, or the nearest of those that were computed."""
        most = min(k, self.prepared.classes.n_records)
        if self.known is None:
            return most
        return min(self.known, key=lambda one: abs(math.log(one / most)))

    def release(self, k: int) -> Run:
        """The release for k: looked up, checked against its plan, not computed again."""
        return release_at(self.prepared, self.solution, k)


@dataclass(frozen=True, eq=False)
class Compared:
    """A finished comparison, the settings that it was made with, and a fingerprint of it."""

    comparison: Comparison
    settings: str
    seconds: float
    key: str = ""


@dataclass(frozen=True, eq=False)
class Searched:
    """The three searches of the lattice, measured, and the settings that they were run with."""

    searches: Searches
    settings: str


@dataclass(frozen=True, eq=False)
class Greatest:
    """The greatest k that goes with a model, and the settings that it was looked for with."""

    found: Reverse
    model: SensitiveModel
    metric: Metric
    settings: str


@dataclass(frozen=True, eq=False)
class Known:
    """A run that a comparison made, so that no other one makes it again.

    Attributes
    ----------
    numbers
        The criteria over k.
    measured
        What each metric was that its releases were measured in.
    n_records
        n; the number of persons, where k counts them.
    best_l
        See :class:`kanon.experiments.comparison.Line`.
    """

    numbers: Curves | Points
    measured: frozenset[str]
    n_records: int
    best_l: Mapping[str, float]


@dataclass(frozen=True, eq=False)
class Pinned:
    """A configuration kept under a name, whatever is chosen afterwards.

    Attributes
    ----------
    title
        Its name.
    plan, trees
        All that it is, and its hierarchies as they were then.
    shown
        Whether it stands among the lines that are compared.
    findings
        What is new for it in the table, if that is another one than it was made for.
    """

    title: str
    plan: Plan
    trees: Mapping[str, Hierarchy]
    shown: bool = True
    findings: tuple[Finding, ...] = ()

    @property
    def fits(self) -> bool:
        """Whether it could be run on the table, for some k."""
        return all(found.kind == "models" for found in self.findings if found.stops)


@dataclass(frozen=True)
class MatrixView:
    """How the cost matrices of a column are shown.

    Attributes
    ----------
    mode
        One metric, two side by side, or their difference.
    first, second
        The metrics; without a first, it is the one that guides.
    share
        Whether costs are shown as a share of what losing a value completely costs.
    focus
        The group whose values are shown; the root if there is none of that name.
    cell
        The values whose cell is looked at: from, to.
    """

    mode: Literal["one", "two", "difference"] = "one"
    first: str = ""
    second: str = "total"
    share: bool = False
    focus: str = ""
    cell: tuple[str, str] = ("", "")


@dataclass(frozen=True, eq=False)
class Work:
    """The state of a session. Every change makes a new one.

    Attributes
    ----------
    version
        Rises with every new table, so that no widget keeps an answer about another one.
    title
        What the table is called on the pages.
    origin
        Where it came from: the key of a sample, ``upload``, ``adult`` or ``place``.
    file, content, digest
        The table as it was read, the bytes it was read from (None for a download, and for a table
        that stays where it is), and a fingerprint of both.
    place, destination
        Where a table is that stays there, as it was typed, and where its release goes.
    roles, reasons
        The role of each column, and why it was suggested.
    choices
        The hierarchy chosen for each column that is or was a quasi-identifier.
    missing
        What happens to records that lack a quasi-identifier.
    asked
        The settings that the user asked for when the file was read; None where they are found.
    algorithm, metric, strategy, scope, cost, tie_seed, k
        The settings of a run; see :attr:`strategy_used`.
    options, suppression, keep_suppressed, seed, node
        What was chosen for the own parameters of each algorithm; the share of the records that may
        be suppressed, None for what the algorithm does by itself; whether their rows stay, blanked;
        what algorithms that draw at random begin with; the level of each quasi-identifier that the
        user picked, None without.
    sensitive
        The sensitive column that strategies and numbers look at; see :attr:`focus`.
    models
        What every class has to meet beside k.
    person
        The identifier that says which records are of one person, so that k counts persons; None
        where k counts records.
    compared, algorithms, strategies, scopes, bands
        The metrics to compare, the algorithms (none: the one that is chosen), the strategies and
        whose l and t they look at; and whether under several tie seeds each.
    pinned, unpinned
        The configurations that were kept, and the one that was removed last.
    yardstick
        Whose hierarchies all releases are measured by: empty for those in use, the name of a
        kept configuration, None for each by its own.
    runs
        What comparisons of this table have found so far, by a fingerprint of all it depends on.
    rounded, interval, counted_k
        Whether percentages are ranked rounded; the k from and to which areas are taken, None for
        one that fits; and which k count, a name in ``K_PRESETS``.
    table_shown, pair
        Which table of a comparison is shown, and the names of the two lines whose difference is.
    job, doing, then, studying
        The calculation under way, what it is for, and the work that comes of it and its result; of
        a study also the fingerprint that its findings are kept under.
    result, comparison, searched, greatest
        The last finished run, comparison, measurement of the searches, and greatest k with a model.
    advised
        Every metric, strategy and scope, as the advisor tried them last.
    problem, notice
        The last thing that went wrong or happened, in a sentence, until something else is tried.
    problem_at
        Beside which control it went wrong, where that one hides what is said above it.
    started
        Whether the first run was started by itself.
    column
        The column that the pages on hierarchies and metrics look at; see :attr:`looked_at`.
    view, shown
        How its hierarchy is shown, and whose weights stand on the edges: a metric's name, the
        drawn ones, or none.
    matrix
        How its cost matrices are shown.
    histories
        Undo and redo of each column's choice.
    previews
        Hierarchies that are shown and not in use yet, by column.
    imports, uploads
        Hierarchy files that wait to be looked through, and how often some were uploaded.
    composed
        The metrics composed by the user, by name.
    attribute_weights
        How much more it hurts to lose a column; 1 where nothing is said.
    what_if
        The comparison before an edit and the one after it.
    layout, larger
        What stands on the board of Compare; None for what fits the comparison. What is seen larger
        below it: the measures of the small multiples and of the scatter.
    handed, made, together
        The releases of this table that were downloaded or written; those that were made into files
        of late and are not among them yet, the one list that is changed; and what some say
        together, with a fingerprint of which, where a worker had to find out.
    looking
        Whom and what the page Privacy looks at.
    lattice, found_lattice
        What the page Lattice shows, and the last lattice that a worker looked at.
    utility
        What the page Utility shows.
    deciding
        What the page Decide shows, with what the release is for.
    lessons
        What the page Learn shows.
    report, reported, reported_people
        What the page Report shows, with the texts typed for it; the report made last; and the
        fingerprint of the population that it counted, None if it counted none.
    learnt, predicted
        What trained classifiers scored, and what releases were measured and learnt from, by a
        fingerprint of all that it depends on; a cancelled study leaves what it found.
    singling
        Which columns single people out together, and what was asked.
    simulated, simulations
        What the page Decide shows of the simulated study, and what came of its runs, by a
        fingerprint too.
    tour
        The step of the guided tour that is shown; 0 without one.
    """

    version: int
    title: str
    origin: str
    file: TableFile | OpenedTable
    content: bytes | None
    digest: str
    roles: Mapping[str, Role]
    reasons: Mapping[str, str]
    choices: Mapping[str, Choice]
    missing: Missing = "drop-records"
    asked: ReadSettings = field(default_factory=ReadSettings)
    algorithm: str = "gaa"
    metric: str = "nllm"
    strategy: str = "s1"
    scope: Scope = "table"
    cost: Literal["weighted", "representatives"] = "weighted"
    tie_seed: int | None = None
    k: int = 5
    options: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    suppression: float | None = None
    keep_suppressed: bool = False
    seed: int = 0
    node: Mapping[str, int] | None = None
    sensitive: str | None = None
    models: tuple[SensitiveModel, ...] = ()
    person: str | None = None
    compared: tuple[str, ...] = PUBLISHED
    algorithms: tuple[str, ...] = ()
    strategies: tuple[str, ...] = ("s1",)
    scopes: tuple[Scope, ...] = ("table",)
    bands: bool = False
    pinned: tuple[Pinned, ...] = ()
    unpinned: Pinned | None = None
    yardstick: str | None = ""
    runs: Mapping[str, Known] = field(default_factory=dict)
    rounded: bool = False
    interval: tuple[int, int] | None = None
    counted_k: str = "fourteen"
    table_shown: Literal["areas", "places", "alterations", "difference", "searches"] = "areas"
    pair: tuple[str, str] = ("", "")
    job: Job | None = None
    doing: Doing = ""
    then: Callable[[Work, Any], Work] | None = None
    studying: str = ""
    result: Result | None = None
    comparison: Compared | None = None
    searched: Searched | None = None
    advised: Advised | None = None
    greatest: Greatest | None = None
    problem: str | None = None
    notice: str | None = None
    problem_at: str = ""
    started: bool = False
    column: str | None = None
    view: Literal["tree", "levels", "edges"] = "tree"
    shown: str = ""
    matrix: MatrixView = MatrixView()
    histories: Mapping[str, History] = field(default_factory=dict)
    previews: Mapping[str, Choice] = field(default_factory=dict)
    imports: tuple[Waiting, ...] = ()
    uploads: int = 0
    composed: Mapping[str, MetricPlan] = field(default_factory=dict)
    attribute_weights: Mapping[str, float] = field(default_factory=dict)
    what_if: tuple[Compared, Compared] | None = None
    layout: Layout | None = None
    larger: tuple[str, str] = ("mean_alteration", "l_percent")
    handed: tuple[Handed, ...] = ()
    made: list[Handed] = field(default_factory=list)
    together: tuple[str, Combined] | None = None
    looking: Looking = field(default_factory=Looking)
    lattice: LatticeView = field(default_factory=LatticeView)
    found_lattice: FoundLattice | None = None
    utility: UtilityView = field(default_factory=UtilityView)
    deciding: DecideView = field(default_factory=DecideView)
    lessons: LessonsView = field(default_factory=LessonsView)
    report: ReportView = field(default_factory=ReportView)
    reported: Report | None = None
    reported_people: Origin | None = None
    place: Place = field(default_factory=Place)
    destination: Destination = field(default_factory=Destination)
    learnt: Mapping[str, tuple[Outcome, ...]] = field(default_factory=dict)
    predicted: Mapping[str, tuple[ReleaseMeasures | Learned, ...]] = field(default_factory=dict)
    singling: SinglingView = field(default_factory=SinglingView)
    simulated: SimulatedView = field(default_factory=SimulatedView)
    simulations: Mapping[str, tuple[RunResult, ...]] = field(default_factory=dict)
    tour: int = 0

    @property
    def table(self) -> Table:
        """The table as it was read."""
        return self.file.records

    @property
    def can_be_reread(self) -> bool:
        """Whether the table can be read again in another way."""
        return self.content is not None or isinstance(self.file, OpenedTable)

    @property
    def quasi_identifiers(self) -> list[str]:
        """The columns with that role, in the table's order."""
        return [name for name, role in self.roles.items() if role is Role.QUASI_IDENTIFIER]

    @property
    def sensitive_columns(self) -> list[str]:
        """The columns with that role, in the table's order."""
        return [name for name, role in self.roles.items() if role is Role.SENSITIVE]

    @property
    def focus(self) -> str | None:
        """The sensitive column that was chosen, or the first; None without one."""
        columns = self.sensitive_columns
        if self.sensitive in columns:
            return self.sensitive
        return columns[0] if columns else None

    @property
    def person_known(self) -> str | None:
        """The column that was chosen for the person, while it is an identifier of the table."""
        return self.person if self.roles.get(self.person or "") is Role.IDENTIFIER else None

    @property
    def strategy_used(self) -> str:
        """The chosen strategy; S1 while that one cannot be used, see :func:`usable_strategies`."""
        return self.strategy if self.strategy in usable_strategies(self) else "s1"

    @property
    def models_lost(self) -> list[SensitiveModel]:
        """The models about columns that are not sensitive any more: no run meets them."""
        return [model for model in self.models if model.column not in self.sensitive_columns]

    @property
    def looked_at(self) -> str | None:
        """The quasi-identifier that was chosen to be looked at, or the first."""
        columns = self.quasi_identifiers
        if self.column in columns:
            return self.column
        return columns[0] if columns else None

    @property
    def trees(self) -> dict[str, Hierarchy]:
        """The hierarchies of the quasi-identifiers that have one, complete or not."""
        found = {name: self.choices[name].tree for name in self.quasi_identifiers}
        return {name: tree for name, tree in found.items() if tree is not None}

    def history(self, column: str) -> History:
        """Undo and redo of a column's choice; an empty one before the first change."""
        return self.histories.get(column, History())

    @property
    def kept(self) -> Table:
        """The records that a run works on: those that drop out for missing values left out."""
        columns = self.quasi_identifiers
        if self.missing == "as-value" or not columns:
            return self.table
        incomplete = self.table.incomplete(columns)
        if incomplete in (0, self.table.n_records):
            return self.table
        return self.table.complete(columns)

    @property
    def busy(self) -> bool:
        """Whether a run is under way."""
        return self.job is not None and not self.job.finished


def with_role(work: Work, column: str, role: Role) -> Work:
    """The work with another role for a column; a new quasi-identifier gets a first hierarchy."""
    roles = {**work.roles, column: role}
    told = [say("Set by you."), singles_out(work.table.distinct_of(column))]
    reasons = {**work.reasons, column: " ".join(filter(None, told))}
    return with_choices(replace(work, roles=roles, reasons=reasons, problem=None))


def with_missing(work: Work, missing: Missing) -> Work:
    """The work with another rule for records that lack a quasi-identifier."""
    return with_choices(replace(work, missing=missing, problem=None))


def with_choice(work: Work, column: str, choice: Choice) -> Work:
    """The work with another hierarchy for a column; the old one can be had back."""
    old, history = work.choices.get(column), work.history(column)
    return _chosen(work, column, choice, history if old is None else history.after(old))


def _chosen(work: Work, column: str, choice: Choice, history: History) -> Work:
    return replace(
        work,
        choices={**work.choices, column: choice},
        histories={**work.histories, column: history},
        problem=None,
        notice=None,
    )


def with_builder(work: Work, column: str, builder: str, typed: Mapping[str, object]) -> Work:
    """The work with another hierarchy for a column, from what was typed for it."""
    return with_choice(work, column, built(work, column, work.choices[column], builder, typed))


def built(
    work: Work, column: str, old: Choice, builder: str, typed: Mapping[str, object]
) -> Choice:
    """What a builder makes of a column.

    Nothing typed earlier is lost, and a new builder starts from what fits the values.
    """
    values = work.kept.counted(column)
    entered = {**old.typed, **{key: value for key, value in typed.items() if value is not None}}
    if "content" in typed:
        entered.pop("imported", None)  # another file takes its place
    if builder == "drawn":
        tree = old.typed.get("drawn", old.tree)  # what was drawn before is not lost
        return old if tree is None else drawn(old, tree)
    if builder != old.builder:
        given = {key: value for key, value in entered.items() if value != ""}
        entered = {**starting_text(builder, values), **given}
    return choose(builder, entered, column, values)


def undone(work: Work, column: str) -> Work:
    """The work before the last change of a column's hierarchy."""
    return _stepped(work, column, History.back)


def redone(work: Work, column: str) -> Work:
    """The work with the change that was undone last."""
    return _stepped(work, column, History.forward)


def _stepped(
    work: Work, column: str, step: Callable[[History, Choice], tuple[Choice, History]]
) -> Work:
    found, history = step(work.history(column), work.choices[column])
    # The records may have changed meanwhile: what the tree lacks is counted again.
    return _chosen(work, column, remade(found, column, work.kept.counted(column)), history)


def metric_called(work: Work, name: str) -> Metric:
    """The metric of a name, composed ones too."""
    return metric_named(name, composed_metrics(work.composed))


def counted_records(
    work: Work, metric: Metric, trees: Mapping[str, Hierarchy]
) -> tuple[np.ndarray, ...] | None:
    """The records at each node or below it, per column, for a metric that counts records.

    None for any other, since hierarchies can be large.
    """
    if not metric.counts_records:
        return None
    counts = ((tree, work.choices[column].counts) for column, tree in trees.items())
    return tuple(
        tree.sum_below(np.array([known.get(label, 0) for label in tree.labels]))
        for tree, known in counts
    )


def incomplete_records(work: Work) -> int:
    """The number of records that lack a quasi-identifier."""
    columns = work.quasi_identifiers
    return work.table.incomplete(columns) if columns else 0


def plan_of(work: Work) -> Plan:
    """Everything that was chosen, as a plan that the command line repeats.

    Raises
    ------
    PlanError
        No quasi-identifier is chosen, or one of them has no usable hierarchy; or a model is about
        a column that is not sensitive, or k about persons whom no identifier tells apart.
    """
    unfit = [
        column
        for column in work.quasi_identifiers
        if (choice := work.choices.get(column)) is None or choice.plan is None
    ]
    if unfit:
        raise PlanError(
            say_counted(
                len(unfit),
                "{columns} has no usable hierarchy yet; see the page Hierarchies.",
                "{columns} have no usable hierarchy yet; see the page Hierarchies.",
                columns=listing(unfit),
            )
        )
    if not work.quasi_identifiers:
        raise PlanError(say("No column is a quasi-identifier yet; choose roles on the page Data."))
    for model in work.models_lost:  # never dropped in silence: somebody asked for it
        raise PlanError(
            say(
                "{model} is required, and that column is not sensitive any more; make it sensitive "
                "on the page Data, or no longer require it on the page Anonymise.",
                model=model.sentence,
            )
        )
    if work.person is not None and work.person_known is None:
        raise PlanError(
            say(
                "{column} says which records are of one person, and it is no identifier any more; "
                "make it one on the page Data, or choose there that k counts records.",
                column=quoted(work.person),
            )
        )
    return Plan.from_content(plan_content(work))


def plan_content(work: Work, trees: bool = True) -> dict[str, Any]:
    """Everything that was chosen, in the form of a plan, whether or not it can be run.

    Parameters
    ----------
    work
        What was chosen.
    trees
        Whether hierarchies are in it: to write out large ones takes a while.
    """
    columns: dict[str, object] = {}
    for column, role in work.roles.items():
        entry: dict[str, object] = {"role": role.value}
        choice = work.choices.get(column)
        plan = choice.plan if trees and choice is not None else None
        if role is Role.QUASI_IDENTIFIER and plan is not None:
            # Nodes and builders are models already; a path would be text.
            entry["hierarchy"] = plan if isinstance(plan, str) else plan.model_dump(mode="json")
        columns[column] = entry
    settings = work.file.settings
    markers = settings.missing_markers
    read = {
        "separator": settings.separator,
        "encoding": settings.encoding,
        "missing_markers": None if markers is None else list(markers),
        "missing": work.missing,
    }
    return {
        "version": VERSION,
        "columns": columns,
        "read": {key: value for key, value in read.items() if value is not None},
        "algorithm": {
            "name": work.algorithm,
            "metric": work.metric,
            "strategy": work.strategy_used,
            "scope": work.scope,
            # The only one need not be named.
            "sensitive": work.focus if len(work.sensitive_columns) > 1 else None,
            "cost": work.cost,
            "tie_seed": work.tie_seed,
            "seed": work.seed,
            **chosen_for(work, work.algorithm),
            "attribute_weights": {
                column: weight
                for column, weight in work.attribute_weights.items()
                if column in work.quasi_identifiers and weight != 1
            },
        },
        "metrics": {name: part.model_dump(mode="json") for name, part in work.composed.items()},
        "privacy": [
            {"model": "k-anonymity", "k": work.k},
            *({"model": model.card.name, **vars(model)} for model in work.models),
        ],
        "suppression_limit": suppression_used(work, work.algorithm),
        "suppressed": (
            "keep" if work.keep_suppressed and uses(work.algorithm, "suppression") else "leave-out"
        ),
        "person": work.person,
    }


def suppression_used(work: Work, algorithm: str) -> float | None:
    """The share of the records that an algorithm may suppress; None for what it does by itself."""
    return work.suppression if uses(algorithm, "suppression") else None


def node_used(work: Work) -> dict[str, int] | None:
    """The level of each quasi-identifier that the user picked, while they have such levels."""
    if work.node is None or sorted(work.node) != sorted(work.quasi_identifiers):
        return None
    trees = work.trees
    if any(
        column not in trees or level >= trees[column].height for column, level in work.node.items()
    ):
        return None
    return dict(work.node)


def chosen_for(work: Work, algorithm: str) -> dict[str, Any]:
    """What was chosen for one algorithm alone."""
    found: dict[str, Any] = dict(work.options.get(algorithm, {}))
    if uses(algorithm, "node"):
        found["node"] = node_used(work)
    return found


def with_option(work: Work, algorithm: str, name: str, value: str) -> Work:
    """The work with another choice for a parameter that an algorithm alone has."""
    chosen = {**work.options.get(algorithm, {}), name: value}
    return replace(work, options={**work.options, algorithm: chosen}, problem=None, notice=None)


def begun_since(first: Work, now: Work) -> bool:
    """Whether anything was chosen since, beyond what the app does by itself."""
    return any(
        getattr(first, part.name) is not getattr(now, part.name)
        for part in fields(Work)
        if part.name not in _BY_ITSELF
    )


_BY_ITSELF = {"job", "doing", "then", "result", "started", "problem", "notice", "tour"}


def without_lost(work: Work) -> Work:
    """The work without models that no run meets: comparisons run over k, whatever is required."""
    return replace(work, models=tuple(one for one in work.models if one not in work.models_lost))


def fingerprint_of(*parts: object) -> str:
    """A fingerprint of all that something depends on, by how its parts are written.

    >>> fingerprint_of("a", 1) == fingerprint_of("a", 1) != fingerprint_of("a", 2)
    True
    """
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def settings_of(work: Work, plan: Plan) -> str:
    """A fingerprint of all that a result depends on but for k: a result knows its own k."""
    content = plan.model_dump(mode="json")
    content["privacy"] = [part for part in content["privacy"] if part["model"] != "k-anonymity"]
    if not LOOKS_AT[plan.algorithm.strategy]:  # what is not looked at cannot change the result
        content["algorithm"]["scope"] = None
    if not needs_sensitive(plan.algorithm.strategy):
        content["algorithm"]["sensitive"] = None
    for setting in ("cost", "tie_seed", "seed", "attribute_weights"):
        if not uses(plan.algorithm.name, setting):
            content["algorithm"][setting] = None
    content["metrics"] = content["metrics"].get(plan.algorithm.metric)
    return _fingerprint(work, content, [plan.algorithm.metric])


def comparison_settings(work: Work, plan: Plan, metrics: Iterable[str]) -> str:
    """A fingerprint of all that a comparison of these metrics depends on, whatever guides now."""
    content = plan.model_dump(mode="json")
    content["privacy"] = []
    # What leads a line is its own: the algorithm, its choices, what it may suppress.
    kept = {name: content["algorithm"][name] for name in ("cost", "attribute_weights", "tie_seed")}
    content["algorithm"] = kept
    content["suppression_limit"] = content["suppressed"] = None
    content["metrics"] = {name: content["metrics"].get(name) for name in sorted(metrics)}
    return _fingerprint(work, content, content["metrics"])


def _fingerprint(work: Work, content: dict[str, Any], metrics: Iterable[str]) -> str:
    """A fingerprint of a plan's content; hierarchies count by their trees, however made."""
    found = hashlib.sha256(f"{work.digest}{work.version}".encode())
    for column, tree in work.trees.items():
        content["columns"][column]["hierarchy"] = None
        found.update(repr((column, tree.labels)).encode())
        found.update(tree.parent.tobytes())
        if tree.weight is not None and "custom" in metrics:  # else nobody counts them
            found.update(tree.weight.tobytes())
    found.update(str(content).encode())
    return found.hexdigest()


def usable_metrics(work: Work) -> list[str]:
    """The metrics that can be chosen: drawn weights only where all hierarchies have them."""
    trees = [work.choices[name].tree for name in work.quasi_identifiers if name in work.choices]
    drawn = bool(trees) and all(tree is not None and tree.weight is not None for tree in trees)
    return [*PUBLISHED, *BESIDE, *work.composed, *(["custom"] if drawn else [])]


def usable_strategies(work: Work) -> list[str]:
    """The strategies that can be chosen: all but S1 need GAA, l and t a sensitive column too."""
    known = STRATEGIES if uses(work.algorithm, "strategy") else ["s1"]
    return [name for name in known if work.sensitive_columns or not needs_sensitive(name)]


def compared_metrics(work: Work) -> list[str]:
    """The metrics to compare: those chosen, as far as the hierarchies allow them."""
    return [name for name in usable_metrics(work) if name in work.compared]


def shown_k(algorithm: str, n_records: int, also: int) -> list[int]:
    """The k of a comparison: those of a slider, or the papers' where each k is a run of its own."""
    if serves_every_k(algorithm):
        return k_grid(n_records, also)
    most = max(2, n_records)
    return sorted({*(k for k in PAPER_K if k <= most), min(also, most)})


def k_grid(n_records: int, also: int) -> list[int]:
    """The values of a slider over k: every small one, then evenly spaced on a log scale.

    >>> k_grid(20, also=7)[:4], k_grid(20, also=7)[-1]
    ([2, 3, 4, 5], 20)
    """
    if n_records <= 2:
        return [2]
    spaced = np.geomspace(2, n_records, 160).round().astype(int).tolist()
    return sorted({k for k in [*spaced, *PAPER_K, 1500, 4000, also] if 2 <= k <= n_records})


def with_choices(work: Work, folder: str = ADULT_FOLDER) -> Work:
    """The work with a hierarchy for every quasi-identifier, made for the records that are kept.

    What was chosen and typed stays; the trees follow the records.
    """
    kept, choices, histories = work.kept, dict(work.choices), dict(work.histories)
    for column in work.quasi_identifiers:
        old = choices.get(column)
        if old is None:
            choices[column] = _first_choice(folder, column, kept.counted(column))
            continue
        choices[column] = remade(old, column, kept.counted(column))
        if choices[column].tree != old.tree:  # what was drawn on the old one is outdated
            history = work.history(column)
            histories[column] = replace(history, version=history.version + 1)
    previews = {
        column: remade(preview, column, kept.counted(column))
        for column, preview in work.previews.items()
        if column in work.quasi_identifiers
    }
    return replace(work, choices=choices, histories=histories, previews=previews)


def _first_choice(folder: str, column: str, values: Counted) -> Choice:
    """A hierarchy that comes with kanon, if one of that name covers the column; else a builder."""
    path = bundled_file(folder, column)
    if path is not None:
        choice = with_tree(f"{folder}/{path.name}", path.read_bytes(), column, values)
        if choice.plan is not None:
            if folder != ADULT_FOLDER:
                return choice
            return replace(choice, notes=(*choice.notes, say("It comes with kanon.")))
    return start_with(column, values)
