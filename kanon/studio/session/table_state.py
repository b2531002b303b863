"""The table of a session, with the roles and hierarchies of its columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar, Literal

from kanon.base.kinds import ColumnKind
from kanon.hierarchy import Hierarchy
from kanon.schema import Role
from kanon.sources.coarsening import Coarsening
from kanon.sources.opening import OpenedTable
from kanon.sources.read_settings import ReadSettings
from kanon.sources.reading import TableFile
from kanon.sources.tables import Table
from kanon.studio.session.choices import FileReview, HierarchyChoice
from kanon.studio.session.parts import SessionPart

STEPS, LEAST, NODES = 100, 10, 1_500_000
"""So many steps can be undone, fewer of trees that hold more nodes together; at least 10."""


@dataclass(frozen=True, eq=False)
class ChangedChoice:
    choice: HierarchyChoice
    # The same for what one press changed in several columns: they are undone together.
    press: object


@dataclass(frozen=True, eq=False)
class History:
    # The choices before, the newest last, and those undone, the next one last: of each, what was
    # typed or drawn, from which all else is made again.
    past: tuple[ChangedChoice, ...] = ()
    future: tuple[ChangedChoice, ...] = ()
    version: int = 0  # Rises with every change: an edit names the version that it was drawn on
    # The last operation of the browser that was dealt with; sent twice, it is done once.
    answered: str = ""
    said: str = ""  # A sentence about the last operation, and whether it was refused
    refused: bool = False
    select: tuple[str, ...] = ()  # The nodes that the last operation made or moved

    def after(self, old: HierarchyChoice, press: object) -> History:
        most = NODES // old.tree.n_nodes if old.tree is not None else STEPS
        past = (*self.past, ChangedChoice(_slim(old), press))[-min(STEPS, max(LEAST, most)) :]
        return History(past, (), self.version + 1, self.answered)

    def back(self, now: HierarchyChoice) -> tuple[HierarchyChoice, History]:
        """The choice before this one, and the history then; there has to be one."""
        last = self.past[-1]
        future = (*self.future, ChangedChoice(_slim(now), last.press))
        changed = replace(self, past=self.past[:-1], future=future, version=self.version + 1)
        return last.choice, replace(changed, said="", refused=False, select=())

    def forward(self, now: HierarchyChoice) -> tuple[HierarchyChoice, History]:
        """The choice that was undone last, and the history then; there has to be one."""
        next_ = self.future[-1]
        past = (*self.past, ChangedChoice(_slim(now), next_.press))
        changed = replace(self, past=past, future=self.future[:-1], version=self.version + 1)
        return next_.choice, replace(changed, said="", refused=False, select=())


def _slim(choice: HierarchyChoice) -> HierarchyChoice:
    """What a choice is made of: a hundred whole ones would fill the memory of a session."""
    typed = dict(choice.typed)
    if "drawn" in typed:
        typed["drawn"] = replace(typed["drawn"])  # without what it has worked out meanwhile
    return HierarchyChoice(choice.builder, typed, notes=choice.notes)


Missing = Literal["drop-records", "as-value"]


@dataclass(frozen=True, eq=False)
class TableState(SessionPart):
    LABELS: ClassVar[Mapping[str, str]] = {
        "person": "Which column identifies the person?",
        "missing": "What happens to records with a missing value",
        "levels": "Levels of coarsened columns",
    }

    title: str  # What it is called on the pages
    origin: str  # Where it came from: the key of a sample, ``upload``, ``adult`` or ``place``
    # The table as it was read, the bytes it was read from (None for a download, and for a table
    # that stays where it is), and a fingerprint of both.
    file: TableFile | OpenedTable
    content: bytes | None
    digest: str
    roles: Mapping[str, Role]  # The role of each column, and why it was suggested
    reasons: Mapping[str, str]
    # The columns whose role nobody has chosen and nothing speaks for; insensitive meanwhile.
    undecided: frozenset[str] = frozenset()
    # The hierarchy chosen for each column that is or was a quasi-identifier, or coarsened; undo and
    # redo.
    choices: Mapping[str, HierarchyChoice] = field(default_factory=dict)
    histories: Mapping[str, History] = field(default_factory=dict)
    # Hierarchies that are shown and not in use yet, by column; hierarchy files that wait to be
    # looked through.
    previews: Mapping[str, HierarchyChoice] = field(default_factory=dict)
    imports: tuple[FileReview, ...] = ()
    # Per column the level of its hierarchy that it is coarsened to while it is sensitive; a column
    # that is not named stays as it is.
    levels: Mapping[str, int] = field(default_factory=dict)
    # What happens to records that lack a quasi-identifier; None until it is chosen.
    missing: Missing | None = None
    # The identifier that says which records are of one person, so that k counts persons; None where
    # k counts records.
    person: str | None = None
    # How the texts of some columns are read, where the user said so; those of others as it is
    # found.
    kinds: Mapping[str, ColumnKind] = field(default_factory=dict)
    # The settings that the user asked for when the file was read; None where they are found.
    asked: ReadSettings = field(default_factory=ReadSettings)

    @property
    def records(self) -> Table:
        return self.file.records.with_kinds(self.kinds) if self.kinds else self.file.records

    @property
    def can_be_reread(self) -> bool:
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
    def person_known(self) -> str | None:
        """The column that was chosen for the person, while it is an identifier of the table."""
        return self.person if self.roles.get(self.person or "") is Role.IDENTIFIER else None

    @cached_property
    def person_counted(self) -> str | None:
        person = self.person_known
        if person is None or self.complete_records.incomplete([person]):
            return None
        return person

    @cached_property
    def highest_k(self) -> int:
        """The k of a run that merges everything: how many persons there are, or records."""
        person = self.person_counted
        if person is None:
            return self.complete_records.n_records
        return self.complete_records.distinct_of(person).values

    @property
    def trees(self) -> dict[str, Hierarchy]:
        """The hierarchies of the quasi-identifiers that have one, complete or not."""
        found = {name: self.choices[name].tree for name in self.quasi_identifiers}
        return {name: tree for name, tree in found.items() if tree is not None}

    @property
    def coarse_columns(self) -> list[str]:
        """The sensitive columns that are to be coarsened, whether or not their hierarchies can."""
        return [name for name in self.sensitive_columns if name in self.levels]

    @property
    def hierarchy_columns(self) -> list[str]:
        """The columns that have a hierarchy: quasi-identifiers, then what is coarsened."""
        return [*self.quasi_identifiers, *self.coarse_columns]

    @property
    def coarsened(self) -> dict[str, Coarsening]:
        found = {}
        for name in self.coarse_columns:
            choice = self.choices.get(name)
            tree = None if choice is None or choice.plan is None else choice.tree
            if tree is not None and tree.height > 1:
                found[name] = Coarsening(name, tree, min(self.levels[name], tree.height - 1))
        return found

    @property
    def coarse_records(self) -> Table:
        return self.complete_records.coarsened([*self.coarsened.values()])

    def history(self, column: str) -> History:
        """Undo and redo of a column's choice; an empty one before the first change."""
        return self.histories.get(column, History())

    @property
    def complete_records(self) -> Table:
        """The records that a run works on: those that drop out for missing values left out."""
        return self.records.complete(self.quasi_identifiers) if self.dropped else self.records

    @cached_property
    def dropped(self) -> int:
        """How many records drop out; none where all would, which is said."""
        columns = self.quasi_identifiers
        if self.missing != "drop-records" or not columns:
            return 0
        incomplete = self.records.incomplete(columns)
        return incomplete if incomplete < self.records.n_records else 0
