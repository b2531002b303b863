"""The state of a session, and what a page asks to be worked out. Nothing here knows Streamlit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, Protocol, TypeVar

from kanon.algorithms.catalogue import uses
from kanon.privacy.model import SensitiveModel
from kanon.strategies import STRATEGIES, needs_sensitive
from kanon.studio.session.collection import Collection
from kanon.studio.session.findings import Findings
from kanon.studio.session.parts import (
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
        own = (getattr(self, each.name) for each in fields(self))
        return {**{type(part): part for part in own if isinstance(part, SessionPart)}, **self.views}

    def view(self, kind: type[AnyPart]) -> AnyPart:
        found = self.views.get(kind) or self.parts.get(kind)
        return found if isinstance(found, kind) else kind()

    def with_parts(self, *parts: SessionPart) -> Work:
        named = {type(getattr(self, each.name)): each.name for each in fields(self)}
        own: dict[str, Any] = {named[type(part)]: part for part in parts if type(part) in named}
        views = {type(part): part for part in parts if type(part) not in named}
        return replace(self, **own, views={**self.views, **views})

    def with_notice(self, notice: str | None) -> Work:
        return self.with_parts(replace(self.message, notice=notice))

    @property
    def views_read_again(self) -> dict[type[SessionPart], SessionPart]:
        return {kind: view.read_again() for kind, view in self.views.items()}

    @property
    def focus(self) -> str | None:
        """The sensitive column that was chosen, or the first; None without one."""
        columns = self.table.sensitive_columns
        if self.settings.sensitive in columns:
            return self.settings.sensitive
        return columns[0] if columns else None

    @property
    def strategy_used(self) -> str:
        """The chosen strategy; S1 while that one cannot be used, see :func:`usable_strategies`."""
        return self.settings.strategy if self.settings.strategy in usable_strategies(self) else "s1"

    @property
    def models_lost(self) -> list[SensitiveModel]:
        """The models about columns that are not sensitive any more: no run meets them."""
        known = self.table.sensitive_columns
        return [model for model in self.settings.models if model.column not in known]

    @property
    def looked_at(self) -> str | None:
        """The quasi-identifier that was chosen to be looked at, or the first."""
        columns = self.table.quasi_identifiers
        if self.shared.column in columns:
            return self.shared.column
        return columns[0] if columns else None

    @property
    def drawn_column(self) -> str | None:
        columns = self.table.hierarchy_columns
        if self.shared.column in columns:
            return self.shared.column
        return columns[0] if columns else None


def is_same(one: SessionPart, other: SessionPart) -> bool:
    pairs = ((getattr(one, each.name), getattr(other, each.name)) for each in fields(one))
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
    known = STRATEGIES if uses(work.settings.algorithm, "strategy") else ["s1"]
    return [name for name in known if work.table.sensitive_columns or not needs_sensitive(name)]


def begun_since(first: Work, now: Work) -> bool:
    """Whether anything was chosen since, beyond what the app does by itself."""
    if first.version != now.version or dict(first.views) != dict(now.views):
        return True
    if now.running.keys() - {"run", "bound"}:
        return True
    return any(
        getattr(part, each.name) is not getattr(now.view(kind), each.name)
        for kind, part in first.parts.items()
        if kind not in first.views
        for each in fields(part)
        if each.name not in _BY_ITSELF
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
        "combining": "Releases put together",
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
        "singling": "Columns together",
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
