"""The state of a session, the choices it allows, and the requests of a page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, Protocol, TypeVar

import numpy as np

from kanon.algorithms.catalogue import uses
from kanon.base.data_files import read_data
from kanon.base.formatting import write_count
from kanon.errors import KanonError, PlanError
from kanon.experiments.comparison import PAPER_K
from kanon.hierarchy import Hierarchy
from kanon.metrics import BESIDE, PUBLISHED, Metric, metric_named
from kanon.plan_parts import build_composed_metrics
from kanon.privacy.model import SensitiveModel
from kanon.settings import get_settings
from kanon.sources.stored import StoredTable
from kanon.strategies import STRATEGIES, needs_sensitive
from kanon.studio.session.findings import SessionResults
from kanon.studio.session.parts import (
    CompareSettings,
    Message,
    Purpose,
    RunSettings,
    SavedItems,
    SharedView,
    StateSection,
)
from kanon.studio.session.table_state import TableState

AnyPart = TypeVar("AnyPart", bound=StateSection)


@dataclass(frozen=True, eq=False)
class SessionState:
    """The state of a session. Every change makes a new one."""

    version: int  # Rises with every new table, so that no widget keeps an answer about another one
    table: TableState  # The table, with the roles and hierarchies of its columns
    settings: RunSettings = field(default_factory=RunSettings)
    compare: CompareSettings = field(default_factory=CompareSettings)
    kept: SavedItems = field(default_factory=SavedItems)
    purpose: Purpose = field(default_factory=Purpose)
    findings: SessionResults = field(default_factory=SessionResults)
    running: Mapping[str, RunningJob] = field(default_factory=dict)
    # The state when the last calculation of each name began, without its results.
    made_with: Mapping[str, SessionState] = field(default_factory=dict)
    message: Message = field(default_factory=Message)
    shared: SharedView = field(default_factory=SharedView)  # What several pages show
    # What each page shows, by the class of its section.
    views: Mapping[type[StateSection], StateSection] = field(default_factory=dict)

    @property
    def parts(self) -> dict[type[StateSection], StateSection]:
        """All sections by class, except those of pages that are unchanged."""
        own = (getattr(self, item.name) for item in fields(self))
        return {
            **{type(part): part for part in own if isinstance(part, StateSection)},
            **self.views,
        }

    def view(self, kind: type[AnyPart]) -> AnyPart:
        part = self.views.get(kind) or self.parts.get(kind)
        return part if isinstance(part, kind) else kind()

    def replace_sections(self, *parts: StateSection) -> SessionState:
        field_of = {type(getattr(self, item.name)): item.name for item in fields(self)}
        own: dict[str, Any] = {
            field_of[type(part)]: part for part in parts if type(part) in field_of
        }
        views = {type(part): part for part in parts if type(part) not in field_of}
        return replace(self, **own, views={**self.views, **views})

    def add_notice(self, notice: str | None) -> SessionState:
        return self.replace_sections(replace(self.message, notice=notice))

    @property
    def views_after_reread(self) -> dict[type[StateSection], StateSection]:
        return {kind: view.reset_after_reread() for kind, view in self.views.items()}

    @property
    def focus(self) -> str | None:
        return _pick_or_first(self.settings.sensitive, self.table.sensitive_columns)

    @property
    def usable_strategy(self) -> str:
        """The chosen strategy; S1 while that one cannot be used."""
        return (
            self.settings.strategy
            if self.settings.strategy in list_usable_strategies(self)
            else "s1"
        )

    @property
    def unmeetable_models(self) -> list[SensitiveModel]:
        """The models about columns that are no longer sensitive: no run meets them."""
        sensitive = self.table.sensitive_columns
        return [
            model
            for model in self.settings.models
            if isinstance(model, SensitiveModel)
            and not {*(model.columns or [model.column])} <= {*sensitive}
        ]

    @property
    def looks_at_several(self) -> bool:
        """Whether a model looks at several sensitive columns at once."""
        return any(
            isinstance(model, SensitiveModel) and model.looks_at_several
            for model in self.settings.models
        )

    @property
    def looked_at(self) -> str | None:
        return _pick_or_first(self.shared.column, self.table.quasi_identifiers)

    @property
    def drawn_column(self) -> str | None:
        return _pick_or_first(self.shared.column, self.table.hierarchy_columns)


def _pick_or_first(wanted: str | None, columns: list[str]) -> str | None:
    return wanted if wanted in columns else next(iter(columns), None)


def is_same_section(first: StateSection, second: StateSection) -> bool:
    pairs = ((getattr(first, item.name), getattr(second, item.name)) for item in fields(first))
    return all(before is after or before == after for before, after in pairs)


def keep_user_sections(old: SessionState, new: SessionState) -> SessionState:
    """Keep what belongs to the user: own metrics, the board, what pages keep."""
    staying = [
        view.keep_for_new_table() for kind, view in old.views.items() if kind not in new.views
    ]
    return new.replace_sections(
        *(view for view in staying if view is not None),
        replace(new.settings, composed=old.settings.composed),
        replace(new.compare, layout=old.compare.layout),
        replace(new.kept, comparisons=old.kept.comparisons),
        replace(
            new.shared, tour=old.shared.tour, playlist=old.shared.playlist, slide=old.shared.slide
        ),
    )


def list_usable_strategies(work: SessionState) -> list[str]:
    """All strategies with GAA, those on l and t only with a sensitive column; else S1."""
    strategies = STRATEGIES if uses(work.settings.algorithm, "strategy") else ["s1"]
    return [
        name for name in strategies if work.table.sensitive_columns or not needs_sensitive(name)
    ]


def has_user_changes(first: SessionState, current: SessionState) -> bool:
    """Whether the user chose anything since, beyond what the app does by itself."""
    if first.version != current.version or dict(first.views) != dict(current.views):
        return True
    if current.running.keys() - {"run", *BY_ITSELF}:
        return True
    return any(
        getattr(part, item.name) is not getattr(current.view(kind), item.name)
        for kind, part in first.parts.items()
        if kind not in first.views
        for item in fields(part)
        if item.name not in _BY_ITSELF
    )


_BY_ITSELF = {
    *("result", "results", "bounds", "problem", "notice", "tour", "link"),
    *("playlist", "slide", "on_projector"),
}


# --- calculations ---------------------------------------------------------------
Limit = Literal["job_minutes", "study_minutes", "engine_minutes"]

Lane = Literal["short", "long", "study"]
"""The expected duration before it is known: seconds, minutes, hours."""

OPENINGS = ("uploading", "opening", "reading", "project", "people")
"""These open a file. A session opens one at a time, the last requested, to save memory."""

BEHIND = ("alternatives", "curve")
"""These begin by themselves behind a result, and give way to whatever a user starts."""

BY_ITSELF = ("bound", "counting", *BEHIND)

_JOB_TITLES: Mapping[str, str] = read_data(__file__, "job_titles.toml")


def get_job_title(doing: str) -> str:
    return _JOB_TITLES[doing]


class JobHandle(Protocol):
    """A :class:`kanon.studio.jobs.job.Job`, as sessions and pages see it."""

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


def add_cancel_notice(work: SessionState) -> SessionState:
    return work.add_notice("Cancelled; nothing was changed.")


def add_problem(work: SessionState, sentence: str) -> SessionState:
    """Add a problem to those at the head of the page."""
    return work.replace_sections(
        replace(work.message, problem=" ".join(filter(None, [work.message.problem, sentence])))
    )


@dataclass(frozen=True, eq=False)
class JobRequest:
    job_name: str  # A key of :func:`called`; a session runs each once at a time
    function: Callable[..., object]  # What a worker calls, after its progress
    arguments: tuple[object, ...]
    # Stores the result in the state; None for a study that ended early, whose partial results are
    # the parts of the job.
    store_result: Callable[[SessionState, Any], SessionState]
    limit: Limit = "job_minutes"
    seconds: float = 0.0  # Its deadline, if the limit is none of minutes
    lane: Lane = "short"  # A short one may be begun twice, so one that writes is never short
    begins: Callable[[SessionState], SessionState] = lambda work: work
    after: Callable[[], object] = lambda: None  # Called on the server, however it ended
    handle_cancel: Callable[[SessionState], SessionState] = add_cancel_notice
    handle_failure: Callable[[SessionState, str], SessionState] = add_problem
    death_message: str = ""  # The message where its worker died
    study_key: str = ""  # The fingerprint under which a study's results are kept
    sample_key: str = ""  # Under which its result is kept for all sessions, if it is of a sample
    noun: str = "search"  # What a sentence calls it if it ends early and leaves partial results
    keep_user_items: bool = True  # Whether the user's own metrics and configurations come along


@dataclass(frozen=True, eq=False)
class RunningJob:
    job: JobHandle
    request: JobRequest
    began: SessionState
    effort: Mapping[str, float] = field(default_factory=dict)  # See kanon.studio.jobs.durations


# --- choices: metrics, k, missing values ------------------------------------
def get_metric(work: SessionState, name: str) -> Metric:
    return metric_named(name, build_composed_metrics(work.settings.composed))


def count_records_at_nodes(
    work: SessionState, metric: Metric, trees: Mapping[str, Hierarchy]
) -> tuple[np.ndarray, ...] | None:
    """The records at or below each node, per column, for a metric that counts records."""
    if not metric.counts_records:  # hierarchies can be large
        return None
    counts = ((tree, work.table.choices[column].counts) for column, tree in trees.items())
    return tuple(
        tree.sum_below(np.array([records.get(label, 0) for label in tree.labels]))
        for tree, records in counts
    )


def count_incomplete_records(work: SessionState) -> int:
    """The number of records that lack a quasi-identifier."""
    columns = work.table.quasi_identifiers
    return work.table.records.incomplete(columns) if columns else 0


def count_undecided_records(work: SessionState) -> int:
    """The number of incomplete records while it is undecided what happens to them; else 0."""
    return count_incomplete_records(work) if work.table.missing is None else 0


def list_undecided_columns(work: SessionState) -> list[str]:
    return [name for name in work.table.roles if name in work.table.undecided]


def set_algorithm_option(work: SessionState, algorithm: str, name: str, value: str) -> SessionState:
    own_options = {**work.settings.options.get(algorithm, {}), name: value}
    options = {**work.settings.options, algorithm: own_options}
    return work.replace_sections(replace(work.settings, options=options), Message())


def list_usable_metrics(work: SessionState) -> list[str]:
    """The metrics to choose from; drawn weights only where all hierarchies have them."""
    choices = work.table.choices
    trees = [choices[name].tree for name in work.table.quasi_identifiers if name in choices]
    all_drawn = bool(trees) and all(tree is not None and tree.weight is not None for tree in trees)
    return [*PUBLISHED, *BESIDE, *work.settings.composed, *(["custom"] if all_drawn else [])]


def list_compared_metrics(work: SessionState) -> list[str]:
    return [name for name in list_usable_metrics(work) if name in work.compare.compared]


def list_run_k(n_records: int, also: int) -> list[int]:
    """The k of a comparison where each k is a run of its own: the papers' and the current one."""
    most = max(2, n_records)
    return sorted({*(k for k in PAPER_K if k <= most), min(also, most)})


def list_slider_k(n_records: int, also: int) -> list[int]:
    """The k of a slider: every small one, then evenly spaced on a log scale.

    >>> list_slider_k(20, also=7)[:4], list_slider_k(20, also=7)[-1]
    ([2, 3, 4, 5], 20)
    """
    if n_records <= 2:
        return [2]
    spaced = np.geomspace(2, n_records, 160).round().astype(int).tolist()
    return sorted({k for k in [*spaced, *PAPER_K, 1500, 4000, also] if 2 <= k <= n_records})


# --- whether the classes of a table in an engine are loaded -------------------------------------
def get_countable_table(work: SessionState) -> StoredTable | None:
    """The stored table of a run, if it may have more classes than kanon loads."""
    table = work.table
    if not table.records.in_engine or not table.quasi_identifiers:
        return None
    try:
        stored = table.complete_records
        assert isinstance(stored, StoredTable)
        return (
            stored
            if stored.estimate_most_classes(table.quasi_identifiers) > get_settings().classes
            else None
        )
    except KanonError:  # the page says it where it asks for the values
        return None


def describe_class_count_inputs(work: SessionState) -> str:
    table = work.table
    return repr((work.version, table.dropped > 0, table.quasi_identifiers))


def needs_class_count(work: SessionState) -> bool:
    """Whether the classes must be counted first, which may take long."""
    table = get_countable_table(work)
    return table is not None and table.get_known_class_count(work.table.quasi_identifiers) is None


def count_classes_in_engine(work: SessionState) -> int | None:
    """The number of classes that stay in the engine; None if they are loaded, or unknown."""
    table = get_countable_table(work)
    number = None if table is None else table.get_known_class_count(work.table.quasi_identifiers)
    return number if number is not None and number > get_settings().classes else None


def describe_classes_in_engine(number: int) -> str:
    return (
        f"The quasi-identifiers of this table have {write_count(number)} different combinations of "
        f"values. kanon loads at most {write_count(get_settings().classes)} (the setting "
        "'classes'), so the classes stay in the table's engine, which counts and merges them and "
        "writes the release."
    )


def check_classes_loadable(work: SessionState) -> None:
    if needs_class_count(work):
        raise PlanError(
            "The classes of this table have not been counted yet; there may be too many to load."
        )
    number = count_classes_in_engine(work)
    if number is not None:
        raise PlanError(
            f"{describe_classes_in_engine(number)} Release such a table on the Anonymise page."
        )
