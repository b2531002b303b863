"""The state of a session, what it can choose among, and what a page asks to be worked out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, Protocol, TypeVar

import numpy as np

from kanon.algorithms.catalogue import serves_every_k, uses
from kanon.base.formatting import thin
from kanon.errors import KanonError, PlanError
from kanon.experiments.comparison import PAPER_K
from kanon.hierarchy import Hierarchy
from kanon.metrics import BESIDE, PUBLISHED, Metric, metric_named
from kanon.plan import composed_metrics
from kanon.privacy.model import SensitiveModel
from kanon.settings import settings
from kanon.sources.stored import StoredTable
from kanon.strategies import STRATEGIES, needs_sensitive
from kanon.studio.session.findings import Findings
from kanon.studio.session.parts import (
    Collection,
    CompareSettings,
    Message,
    Purpose,
    RunSettings,
    SessionPart,
    SharedView,
)
from kanon.studio.session.table_state import TableState

AnyPart = TypeVar("AnyPart", bound=SessionPart)


@dataclass(frozen=True, eq=False)
class Work:
    """The state of a session. Every change makes a new one."""

    version: int  # Rises with every new table, so that no widget keeps an answer about another one
    table: TableState  # The table, with the roles and hierarchies of its columns
    # What guides a run, and what is compared.
    settings: RunSettings = field(default_factory=RunSettings)
    compare: CompareSettings = field(default_factory=CompareSettings)
    # Configurations under a name, and releases that were handed out.
    kept: Collection = field(default_factory=Collection)
    purpose: Purpose = field(default_factory=Purpose)  # What the release is for
    findings: Findings = field(default_factory=Findings)  # What was worked out
    # The calculations under way, by what they do.
    running: Mapping[str, CalculationState] = field(default_factory=dict)
    # What was chosen when the last of each calculation began, without what was found then.
    made_with: Mapping[str, Work] = field(default_factory=dict)
    message: Message = field(default_factory=Message)  # What is said at the top of the page
    shared: SharedView = field(default_factory=SharedView)  # What several pages show
    # What each page shows, by the class of its state; see :meth:`view`.
    views: Mapping[type[SessionPart], SessionPart] = field(default_factory=dict)

    @property
    def parts(self) -> dict[type[SessionPart], SessionPart]:
        """All parts by their class, but for those of pages that are as they begin."""
        own = (getattr(self, item.name) for item in fields(self))
        return {**{type(part): part for part in own if isinstance(part, SessionPart)}, **self.views}

    def view(self, kind: type[AnyPart]) -> AnyPart:
        part = self.views.get(kind) or self.parts.get(kind)
        return part if isinstance(part, kind) else kind()

    def with_parts(self, *parts: SessionPart) -> Work:
        field_of = {type(getattr(self, item.name)): item.name for item in fields(self)}
        own: dict[str, Any] = {
            field_of[type(part)]: part for part in parts if type(part) in field_of
        }
        views = {type(part): part for part in parts if type(part) not in field_of}
        return replace(self, **own, views={**self.views, **views})

    def with_notice(self, notice: str | None) -> Work:
        return self.with_parts(replace(self.message, notice=notice))

    @property
    def views_read_again(self) -> dict[type[SessionPart], SessionPart]:
        return {kind: view.read_again() for kind, view in self.views.items()}

    @property
    def focus(self) -> str | None:
        """The sensitive column that was chosen, or the first; None without one."""
        return _pick_or_first(self.settings.sensitive, self.table.sensitive_columns)

    @property
    def strategy_used(self) -> str:
        """The chosen strategy; S1 while that one cannot be used, see :func:`usable_strategies`."""
        return self.settings.strategy if self.settings.strategy in usable_strategies(self) else "s1"

    @property
    def models_lost(self) -> list[SensitiveModel]:
        """The models about columns that are not sensitive any more: no run meets them."""
        sensitive = self.table.sensitive_columns
        return [model for model in self.settings.models if model.column not in sensitive]

    @property
    def looked_at(self) -> str | None:
        """The quasi-identifier that was chosen to be looked at, or the first."""
        return _pick_or_first(self.shared.column, self.table.quasi_identifiers)

    @property
    def drawn_column(self) -> str | None:
        return _pick_or_first(self.shared.column, self.table.hierarchy_columns)


def _pick_or_first(wanted: str | None, columns: list[str]) -> str | None:
    return wanted if wanted in columns else next(iter(columns), None)


def is_same(first: SessionPart, second: SessionPart) -> bool:
    pairs = ((getattr(first, item.name), getattr(second, item.name)) for item in fields(first))
    return all(before is after or before == after for before, after in pairs)


def for_another_table(old: Work, new: Work) -> Work:
    """The new work with what belongs to the user: metrics, the board, what pages keep."""
    staying = [
        view.for_another_table() for kind, view in old.views.items() if kind not in new.views
    ]
    return new.with_parts(
        *(view for view in staying if view is not None),
        replace(new.settings, composed=old.settings.composed),
        replace(new.compare, layout=old.compare.layout),
        replace(new.shared, tour=old.shared.tour),
    )


def usable_strategies(work: Work) -> list[str]:
    """The strategies that can be chosen: all but S1 need GAA, l and t a sensitive column too."""
    strategies = STRATEGIES if uses(work.settings.algorithm, "strategy") else ["s1"]
    return [
        name for name in strategies if work.table.sensitive_columns or not needs_sensitive(name)
    ]


def begun_since(first: Work, now: Work) -> bool:
    """Whether anything was chosen since, beyond what the app does by itself."""
    if first.version != now.version or dict(first.views) != dict(now.views):
        return True
    if now.running.keys() - {"run", "bound"}:
        return True
    return any(
        getattr(part, item.name) is not getattr(now.view(kind), item.name)
        for kind, part in first.parts.items()
        if kind not in first.views
        for item in fields(part)
        if item.name not in _BY_ITSELF
    )


_BY_ITSELF = {"result", "bounds", "started", "problem", "notice", "tour"}


# --- what is worked out for it ---------------------------------------------------------------
Limit = Literal["job_minutes", "study_minutes", "engine_minutes"]
"""The setting that says how long it may take."""

Lane = Literal["short", "long", "study"]
"""What it is held to be before it is known: short, longer than seconds, hours."""


OPENINGS = ("uploading", "opening", "reading", "project", "people")
"""What opens a file. A session opens one at a time, the last it asked for, as each takes memory."""


def called(doing: str) -> str:
    return {
        "advising": "The advisor",
        "bound": "The lower bound",
        "closer": "A closer lower bound",
        "combining": "Combining releases",
        "comparison": "Comparing",
        "counting": "Counting the classes",
        "exercises": "The exercise set",
        "lattice": "The lattice",
        "learning": "Learning",
        "marking": "Marking",
        "opening": "Opening a table",
        "people": "Opening a table",
        "predicting": "Learning from releases",
        "project": "Reading the table",
        "reading": "Reading the table",
        "releasing": "Anonymising and writing the release",
        "reporting": "The report",
        "reverse": "The greatest k",
        "run": "Anonymising",
        "searches": "The searches",
        "simulating": "The study",
        "singling": "Combinations of columns",
        "uploading": "Opening a table",
        "writing": "Writing the release",
    }[doing]


class Calculation(Protocol):
    """A :class:`kanon.studio.jobs.job.Job`, as far as a session and pages look at it."""

    @property
    def state(self) -> str: ...
    @property
    def finished(self) -> bool: ...
    @property
    def progress(self) -> float: ...
    @property
    def text(self) -> str: ...
    @property
    def result(self) -> object: ...
    @property
    def parts(self) -> tuple[object, ...]: ...
    @property
    def error(self) -> str | None: ...
    def wait(self, timeout: float | None = None) -> bool: ...
    @property
    def seconds(self) -> float: ...
    @property
    def remaining(self) -> float | None: ...
    def cancel(self) -> None: ...


def cancelled_run(work: Work) -> Work:
    return work.with_notice("The run was cancelled; nothing was changed.")


def opening_cancelled(work: Work) -> Work:
    return work.with_notice("Opening was cancelled; nothing was changed.")


def reading_cancelled(work: Work) -> Work:
    return work.with_notice("Reading was cancelled; nothing was changed.")


def said_on_page(work: Work, sentence: str) -> Work:
    """The work with what went wrong said at the head of the page, after what is said there."""
    return work.with_parts(
        replace(work.message, problem=" ".join(filter(None, [work.message.problem, sentence])))
    )


@dataclass(frozen=True, eq=False)
class Request:
    doing: str  # What is done, in a word of :func:`called`; a session does each once at a time
    function: Callable[..., object]  # What a worker calls, after its progress
    arguments: tuple[object, ...]
    # The work with the result; with None of a study that ended early, whose findings are the parts
    # of the job, and of what was complete although it was cancelled.
    then: Callable[[Work, Any], Work]
    limit: Limit = "job_minutes"  # See :data:`Limit`
    # See :data:`Lane`. What is short may be begun twice, so that what writes never is.
    lane: Lane = "short"
    # The work while it is done, beside that it is.
    begins: Callable[[Work], Work] = lambda work: work
    # What is done whatever came of it; see :meth:`kanon.studio.jobs.pool.Jobs.submit`.
    after: Callable[[], object] = lambda: None
    cancelled: Callable[[Work], Work] = cancelled_run  # The work after it was cancelled
    # The work with the sentence that says why it failed.
    failed: Callable[[Work, str], Work] = said_on_page
    # What is said where its worker died; see :meth:`kanon.studio.jobs.pool.Jobs.submit`.
    died: str = ""
    studying: str = ""  # Of a study the fingerprint that its findings are kept under
    # Whether what is the user's comes along; see :func:`kanon.studio.session.state.put`.
    carry: bool = True


@dataclass(frozen=True, eq=False)
class CalculationState:
    job: Calculation
    request: Request
    began: Work


# --- what it can choose among: metrics, k, what is missing ------------------------------------
def metric_called(work: Work, name: str) -> Metric:
    """The metric of a name, composed ones too."""
    return metric_named(name, composed_metrics(work.settings.composed))


def counted_records(
    work: Work, metric: Metric, trees: Mapping[str, Hierarchy]
) -> tuple[np.ndarray, ...] | None:
    """The records at each node or below it, per column, for a metric that counts records."""
    if not metric.counts_records:  # hierarchies can be large
        return None
    counts = ((tree, work.table.choices[column].counts) for column, tree in trees.items())
    return tuple(
        tree.sum_below(np.array([records.get(label, 0) for label in tree.labels]))
        for tree, records in counts
    )


def incomplete_records(work: Work) -> int:
    """The number of records that lack a quasi-identifier."""
    columns = work.table.quasi_identifiers
    return work.table.records.incomplete(columns) if columns else 0


def missing_undecided(work: Work) -> int:
    """The number of those records while nobody has said what happens to them; else 0."""
    return incomplete_records(work) if work.table.missing is None else 0


def undecided_columns(work: Work) -> list[str]:
    """The columns whose role nobody has chosen, in the table's order."""
    return [name for name in work.table.roles if name in work.table.undecided]


def with_option(work: Work, algorithm: str, name: str, value: str) -> Work:
    own_options = {**work.settings.options.get(algorithm, {}), name: value}
    options = {**work.settings.options, algorithm: own_options}
    return work.with_parts(replace(work.settings, options=options), Message())


def usable_metrics(work: Work) -> list[str]:
    """The metrics that can be chosen: drawn weights only where all hierarchies have them."""
    choices = work.table.choices
    trees = [choices[name].tree for name in work.table.quasi_identifiers if name in choices]
    all_drawn = bool(trees) and all(tree is not None and tree.weight is not None for tree in trees)
    return [*PUBLISHED, *BESIDE, *work.settings.composed, *(["custom"] if all_drawn else [])]


def compared_metrics(work: Work) -> list[str]:
    return [name for name in usable_metrics(work) if name in work.compare.compared]


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


# --- whether the classes of a table in an engine come here -------------------------------------
def counted_table(work: Work) -> StoredTable | None:
    """The records that a run works on, where they may have more classes than come here."""
    table = work.table
    if not table.records.in_engine or not table.quasi_identifiers:
        return None
    try:
        stored = table.complete_records
        assert isinstance(stored, StoredTable)
        return stored if stored.most_classes(table.quasi_identifiers) > settings().classes else None
    except KanonError:  # the page says it where it asks for the values
        return None


def counted_by(work: Work) -> str:
    table = work.table
    return repr((work.version, table.dropped > 0, table.quasi_identifiers))


def uncounted(work: Work) -> bool:
    """Whether it is not known yet if the classes come here: to count them may take long."""
    table = counted_table(work)
    return table is not None and table.known_classes(work.table.quasi_identifiers) is None


def classes_kept(work: Work) -> int | None:
    """The number of classes that stay in the engine; None where they come here, or are unknown."""
    table = counted_table(work)
    number = None if table is None else table.known_classes(work.table.quasi_identifiers)
    return number if number is not None and number > settings().classes else None


def said_kept(number: int) -> str:
    return (
        f"The quasi-identifiers of this table have {thin(number)} different combinations of "
        f"values. kanon loads at most {thin(settings().classes)} (setting classes), so they stay in "
        "the table's engine, which counts, merges and writes."
    )


def check_classes_here(work: Work) -> None:
    if uncounted(work):
        raise PlanError(
            "The classes of this table are not counted yet; there may be too many to load."
        )
    number = classes_kept(work)
    if number is not None:
        raise PlanError(f"{said_kept(number)} Release such a table on the page Anonymise.")
