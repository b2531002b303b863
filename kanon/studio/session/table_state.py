"""The table of a session, with the roles and hierarchies of its columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Literal

from kanon.base.data_files import read_data
from kanon.base.kinds import ColumnKind
from kanon.hierarchy import Hierarchy
from kanon.hierarchy.bundle import FileResult
from kanon.schema import Role
from kanon.sources.coarsening import Coarsening
from kanon.sources.opening import OpenedTable
from kanon.sources.read_settings import ReadSettings
from kanon.sources.reading import TableFile
from kanon.sources.repairs import Repair
from kanon.sources.stored import StoredTable
from kanon.sources.tables import Table
from kanon.studio.session.choices import HierarchyChoice
from kanon.studio.session.parts import StateSection

STEPS, LEAST, NODES = 100, 10, 1_500_000
"""The most steps to undo, the least, and the most nodes of all their trees together."""

Steps = Literal["past", "future"]  # to undo, or to redo


@dataclass(frozen=True, eq=False)
class PastChoice:
    choice: HierarchyChoice
    # The same object for all columns that one press changed: they are undone together.
    press: object


@dataclass(frozen=True, eq=False)
class History:
    # The choices to undo and to redo, the next one last; each only with what it is built from.
    past: tuple[PastChoice, ...] = ()
    future: tuple[PastChoice, ...] = ()
    version: int = 0  # Rises with every change; an edit names the version it saw
    answered: str = ""  # The id of the last operation of the browser; sent twice, it is done once
    said: str = ""  # The message about it
    refused: bool = False
    select: tuple[str, ...] = ()  # The nodes that it made or moved

    def after(self, old: HierarchyChoice, press: object) -> History:
        most = NODES // old.tree.n_nodes if old.tree is not None else STEPS
        past = (*self.past, PastChoice(_strip_choice(old), press))[-min(STEPS, max(LEAST, most)) :]
        return History(past, (), self.version + 1, self.answered)

    def step_through(
        self, current: HierarchyChoice, steps: Steps
    ) -> tuple[HierarchyChoice, History]:
        """Take the next choice of the steps; the current one goes to the others."""
        *rest, last = getattr(self, steps)
        others = "future" if steps == "past" else "past"
        kept = (*getattr(self, others), PastChoice(_strip_choice(current), last.press))
        changed: dict[str, Any] = {steps: tuple(rest), others: kept, "version": self.version + 1}
        return last.choice, replace(self, **changed, said="", refused=False, select=())


def _strip_choice(choice: HierarchyChoice) -> HierarchyChoice:
    """Only what a choice is built from: a hundred whole ones would fill the session's memory."""
    typed = dict(choice.typed)
    if "drawn" in typed:
        typed["drawn"] = replace(typed["drawn"])  # without its cached properties
    return HierarchyChoice(choice.builder, typed, notes=choice.notes)


Missing = Literal["drop-records", "as-value"]


@dataclass(frozen=True, eq=False)
class TableState(StateSection):
    LABELS: ClassVar[Mapping[str, str]] = read_data(__file__, "labels.toml")["TableState"]

    title: str
    origin: str  # Where it came from: the key of a sample, ``upload``, ``adult`` or ``place``
    file: TableFile | OpenedTable
    content: bytes | None  # The bytes of an upload or sample; None for other tables
    digest: str  # A fingerprint of the table and how it was read
    roles: Mapping[str, Role]
    reasons: Mapping[str, str]  # Why each role was suggested
    undecided: frozenset[str] = frozenset()  # Columns whose role is not chosen; insensitive so far
    # For each column that is or was a quasi-identifier or coarsened.
    choices: Mapping[str, HierarchyChoice] = field(default_factory=dict)
    histories: Mapping[str, History] = field(default_factory=dict)
    previews: Mapping[str, HierarchyChoice] = field(default_factory=dict)  # Not in use yet
    imports: tuple[FileResult, ...] = ()  # Hierarchy files to review
    # Of sensitive columns with a hierarchy; 0 for one that only says how far values are apart
    levels: Mapping[str, int] = field(default_factory=dict)
    # What is released for a class, of columns that are or were quasi-identifiers; see a plan's key.
    written: Mapping[str, str] = field(default_factory=dict)
    missing: Missing | None = None  # What happens to incomplete records; None until it is chosen
    person: str | None = None  # The identifier of the person; None where k counts records
    kinds: Mapping[str, ColumnKind] = field(default_factory=dict)  # As the user set them
    repairs: tuple[Repair, ...] = ()  # Steps on the table as it was read, in this order
    # The settings that the user asked for when the file was read.
    asked: ReadSettings = field(default_factory=ReadSettings)

    @property
    def records(self) -> Table:
        records = self.file.records.repair(self.repairs, self.kinds)
        return records.set_kinds(self.kinds) if self.kinds else records

    @property
    def can_be_reread(self) -> bool:
        return self.content is not None or isinstance(self.file, OpenedTable)

    @property
    def quasi_identifiers(self) -> list[str]:
        return [name for name, role in self.roles.items() if role is Role.QUASI_IDENTIFIER]

    @property
    def sensitive_columns(self) -> list[str]:
        return [name for name, role in self.roles.items() if role is Role.SENSITIVE]

    @property
    def usable_person(self) -> str | None:
        """The chosen column of the person, while it is an identifier."""
        return self.person if self.roles.get(self.person or "") is Role.IDENTIFIER else None

    @cached_property
    def person_for_k(self) -> str | None:
        person = self.usable_person
        if person is None or self.complete_records.incomplete([person]):
            return None
        return person

    @cached_property
    def highest_k(self) -> int:
        """The number of persons or records: the k of one class with everything."""
        person = self.person_for_k
        if person is None:
            return self.complete_records.n_records
        return self.complete_records.count_distinct(person).values

    @cached_property
    def n_tuples(self) -> int | None:
        """The distinct tuples of quasi-identifiers; None where they are not counted yet."""
        columns, records = self.quasi_identifiers, self.records
        if isinstance(records, StoredTable):
            return records.get_known_class_count(columns)
        if not columns or records.incomplete(columns) > self.dropped:
            return None
        return self.complete_records.count_class_sizes(columns).distinct.values

    @property
    def trees(self) -> dict[str, Hierarchy]:
        trees = {name: self.choices[name].tree for name in self.quasi_identifiers}
        return {name: tree for name, tree in trees.items() if tree is not None}

    @property
    def columns_to_coarsen(self) -> list[str]:
        """The sensitive columns with a hierarchy, whether or not it can be used."""
        return [name for name in self.sensitive_columns if name in self.levels]

    @property
    def hierarchy_columns(self) -> list[str]:
        """The quasi-identifiers, then the coarsened columns."""
        return [*self.quasi_identifiers, *self.columns_to_coarsen]

    @property
    def coarsened(self) -> dict[str, Coarsening]:
        return {name: part for name, part in self._coarsenings.items() if part.level}

    @property
    def distance_trees(self) -> dict[str, Hierarchy]:
        """The hierarchies by which models can say how far sensitive values are apart."""
        return {name: part.group_tree for name, part in self._coarsenings.items()}

    @property
    def _coarsenings(self) -> dict[str, Coarsening]:
        coarsenings = {}
        for name in self.columns_to_coarsen:
            choice = self.choices.get(name)
            tree = None if choice is None or choice.plan is None else choice.tree
            if tree is not None and tree.height > 1:
                coarsenings[name] = Coarsening(name, tree, min(self.levels[name], tree.height - 1))
        return coarsenings

    @property
    def released_level_records(self) -> Table:
        return self.complete_records.replace_by_groups([*self.coarsened.values()])

    def get_history(self, column: str) -> History:
        return self.histories.get(column, History())

    @property
    def complete_records(self) -> Table:
        """The records that a run works on, without those dropped for missing values."""
        return self.records.complete(self.quasi_identifiers) if self.dropped else self.records

    @cached_property
    def dropped(self) -> int:
        """The number of dropped records; 0 where all would be dropped."""
        columns = self.quasi_identifiers
        if self.missing != "drop-records" or not columns:
            return 0
        incomplete = self.records.incomplete(columns)
        return incomplete if incomplete < self.records.n_records else 0
