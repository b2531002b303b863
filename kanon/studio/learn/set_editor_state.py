"""The exercise set that is made on the page Learn, and how a session goes from one to the next."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd

from kanon.errors import ExerciseError
from kanon.schema import Role, Schema
from kanon.sources.memory import MemorySource, MemoryTable
from kanon.studio.jobs.worker import Progress
from kanon.studio.learn.exercises import with_set
from kanon.studio.learn.exercises_state import Attempt, ExercisesView
from kanon.studio.session import state
from kanon.studio.session.parts import SessionPart
from kanon.studio.session.work import Request, Work
from kanon.teaching.case import texts_of
from kanon.teaching.exercise_draft import (
    SetDraft,
    TableDraft,
    checked_set,
    table_from,
    with_table,
)
from kanon.teaching.exercises import ExerciseSet
from kanon.teaching.small_tables import SmallTable

FEW = 8  # how many records of the session's table are taken, unless another number is typed


@dataclass(frozen=True)
class CheckedDraft:
    """A draft, and the set that it means: every question of it has an answer."""

    draft: SetDraft
    exercises: ExerciseSet


@dataclass(frozen=True, eq=False)
class SetEditorView(SessionPart):
    """What is shown."""

    open: bool = False
    draft: SetDraft | None = None
    before: tuple[SetDraft, ...] = ()  # those replaced, the last one first
    table: int = 0
    question: int = 0
    began: int = 0  # rises when anything but typing changes a table
    records: int = FEW
    tried: Attempt = field(default_factory=Attempt)
    checked: CheckedDraft | None = None
    own_sets: frozenset[str] = frozenset()

    def for_another_table(self) -> SetEditorView:
        """The same: what was made stays."""
        return self

    read_again = for_another_table


def look(**fields: Any) -> None:
    """Show something else."""
    state.change(replace(state.work().view(SetEditorView), **fields))


def change_draft(make: Callable[[SetDraft], SetDraft], **fields: Any) -> None:
    """Change the draft, and what is shown of it."""
    look(draft=make(state.work().view(SetEditorView).draft or SetDraft()), **fields)


def change_table(place: int, make: Callable[[TableDraft], TableDraft], **fields: Any) -> None:
    """Change a table of the draft."""
    change_draft(lambda draft: with_table(draft, place, make(draft.tables[place])), **fields)


def begin(draft: SetDraft) -> None:
    """Go on with another draft; those before can be had back."""
    view = state.work().view(SetEditorView)
    kept = () if view.draft is None else (view.draft,)
    _go_on(draft, (*kept, *view.before))


def go_back() -> None:
    """Go on with the draft that was made before; going on and on leads through all of them."""
    view = state.work().view(SetEditorView)
    last, *others = view.before
    _go_on(last, (*others, view.draft or SetDraft()))


def _go_on(draft: SetDraft, before: tuple[SetDraft, ...]) -> None:
    began = state.work().view(SetEditorView).began + 1
    look(
        open=True, draft=draft, before=before, table=0, question=0,
        began=began, tried=Attempt(), checked=None,
    )  # fmt: skip


def try_answer(exercises: ExerciseSet, make: Callable[[ExercisesView], ExercisesView]) -> None:
    """Answer the question of the preview, whose answers stay apart."""
    view = ExercisesView(attempts={exercises.fingerprint: state.work().view(SetEditorView).tried})
    look(tried=make(view).attempts[exercises.fingerprint])


def own_table(work: Work, size: int) -> TableDraft:
    """The first records of the session's table, without identifiers and insensitive columns."""
    kept, trees = work.table.coarse_records, work.table.trees
    if not isinstance(kept, MemoryTable):
        raise ExerciseError(
            "The table stays in its engine, and an exercise needs its records here; download "
            "a few of them as a table of their own, and open that."
        )
    roles = {
        name: role
        for name, role in work.table.roles.items()
        if role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE)
    }
    first = kept.frame.head(size)
    frame = pd.DataFrame({name: texts_of(first[name]) for name in roles}, dtype="str")
    schema = Schema(roles)
    used = {name: trees[name] for name in schema.quasi_identifiers if name in trees}
    table = SmallTable(frame, schema, MemorySource(frame, schema, used))
    return table_from("my table", table, own=True)


# --- checking and opening -------------------------------------------------------------------
def checked_draft(progress: Progress, draft: SetDraft) -> CheckedDraft:
    """For a worker: a draft with the best answers that were found on the way."""
    return CheckedDraft(draft, checked_set(draft, progress))


def checking_request(_: Work, draft: SetDraft) -> Request:
    """Check a draft: its best answers may take seconds to find."""
    return Request(
        "exercises", checked_draft, (draft,), with_checked,
        cancelled=lambda work: work.with_notice("Checking was cancelled; nothing was changed."),
    )  # fmt: skip


def with_checked(work: Work, found: CheckedDraft) -> Work:
    """The work with a draft that was checked."""
    return work.with_parts(replace(work.view(SetEditorView), checked=found))


def with_opened(work: Work, exercises: ExerciseSet) -> Work:
    """The work with the set that was made open for answers; the draft stays."""
    view = work.view(SetEditorView)
    own = {exercises.fingerprint} if view.draft and view.draft.own else set()
    return with_set(work, exercises).with_parts(
        replace(view, open=False, own_sets=view.own_sets | own)
    )
