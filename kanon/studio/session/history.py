"""What came before and after the hierarchy in use: undo and redo, for one column."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kanon.studio.session.choices import HierarchyChoice

STEPS, LEAST, NODES = 100, 10, 1_500_000
"""So many steps can be undone, fewer of trees that hold more nodes together; at least 10."""


@dataclass(frozen=True, eq=False)
class ChangedChoice:
    """A choice that was changed, and the press of a button that changed it."""

    choice: HierarchyChoice
    # The same for what one press changed in several columns: they are undone together.
    press: object


@dataclass(frozen=True, eq=False)
class History:
    """The choices for a column around the one in use, and what was said of the last change."""

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
        """The history once a press has replaced ``old`` by something else."""
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
