"""What one session works on, in parts. Pure functions; nothing here knows Streamlit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from kanon.algorithms.catalogue import uses
from kanon.privacy.model import SensitiveModel
from kanon.strategies import STRATEGIES, needs_sensitive
from kanon.studio.session.collection import Collection
from kanon.studio.session.findings import Findings
from kanon.studio.session.purpose import Purpose
from kanon.studio.session.run_settings import CompareSettings, RunSettings
from kanon.studio.session.table_state import TableState

if TYPE_CHECKING:
    from kanon.studio.session.request import Calculation, Request


State = TypeVar("State")


@dataclass(frozen=True, eq=False)
class Message:
    """The last thing that went wrong or happened, until something else is tried."""

    problem: str | None = None  # A sentence each
    notice: str | None = None
    # Beside which control it went wrong, where that one hides what is said above it.
    problem_at: str = ""


@dataclass(frozen=True, eq=False)
class CalculationState:
    """A calculation under way: the worker's job, what it is for, and what was chosen then."""

    job: Calculation
    request: Request
    began: Work


@dataclass(frozen=True, eq=False)
class SharedView:
    """What several pages show."""

    # The column that the pages on hierarchies and metrics look at; see :attr:`Work.looked_at`.
    column: str | None = None
    # How its hierarchy is shown, and whose weights stand on the edges: a metric's name, the drawn
    # ones, or none.
    tree_view: Literal["tree", "levels", "edges"] = "tree"
    shown: str = ""
    uploads: int = 0  # How often files were uploaded, so that their field is empty again
    started: bool = False  # Whether the first run was started by itself
    tour: int = 0  # The step of the guided tour that is shown; 0 without one


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
    message: Message = field(default_factory=Message)  # What is said at the top of the page
    shared: SharedView = field(default_factory=SharedView)  # What several pages show
    # What each page shows, by the class of its state; see :meth:`view`.
    views: Mapping[type, Any] = field(default_factory=dict)

    def view(self, kind: type[State]) -> State:
        """What a page shows, by the class of its state: as it begins, until it is changed."""
        found: State = self.views[kind] if kind in self.views else kind()
        return found

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
        return [
            model
            for model in self.settings.models
            if model.column not in self.table.sensitive_columns
        ]

    @property
    def looked_at(self) -> str | None:
        """The quasi-identifier that was chosen to be looked at, or the first."""
        columns = self.table.quasi_identifiers
        if self.shared.column in columns:
            return self.shared.column
        return columns[0] if columns else None

    @property
    def drawn_column(self) -> str | None:
        """The column whose hierarchy is shown: the chosen one, coarsened ones too, or the first."""
        columns = self.table.hierarchy_columns
        if self.shared.column in columns:
            return self.shared.column
        return columns[0] if columns else None


def with_fields(work: Work, view: object = None, **values: Any) -> Work:
    """The work with other values of some fields, its own and those of its parts.

    The name of a field stands in one part alone, so that the part need not be named.
    """
    own = {name: value for name, value in values.items() if name in _OWN}
    parts: dict[str, dict[str, Any]] = {}
    for name in values.keys() - own.keys():
        parts.setdefault(PART_OF[name], {})[name] = values[name]
    for part, changed in parts.items():
        own[part] = replace(own.get(part, getattr(work, part)), **changed)
    if view is not None:
        own["views"] = {**own.get("views", work.views), type(view): view}
    return replace(work, **own)


def value_of(work: Work, name: str) -> Any:
    """The value of a field of a part, by the name that :func:`with_fields` takes."""
    return getattr(getattr(work, PART_OF[name]), name)


_OWN = frozenset(part.name for part in fields(Work))
_PARTS = {
    "table": TableState,
    "settings": RunSettings,
    "compare": CompareSettings,
    "kept": Collection,
    "purpose": Purpose,
    "findings": Findings,
    "message": Message,
    "shared": SharedView,
}
PART_OF = {each.name: part for part, kind in _PARTS.items() for each in fields(kind)}
"""The part that a field stands in, by its name."""


def views_read_again(views: Mapping[type, Any]) -> dict[type, Any]:
    """What pages show once the table is read again: all but what a state forgets by itself."""
    return {
        kind: view.read_again() if hasattr(view, "read_again") else view
        for kind, view in views.items()
    }


def for_another_table(old: Work, new: Work) -> Work:
    """The new work with what belongs to the user: metrics, the board, what pages keep."""
    views = dict(new.views)
    for kind, view in old.views.items():
        if kind not in views and hasattr(view, "for_another_table"):
            views[kind] = view.for_another_table()
    same = {name: value_of(old, name) for name in ("composed", "layout", "tour")}
    return with_fields(new, views=views, **same)


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
        value_of(first, name) is not value_of(now, name)
        for name in PART_OF
        if name not in _BY_ITSELF
    )


_BY_ITSELF = {"result", "bounds", "made_with", "started", "problem", "notice", "tour"}
