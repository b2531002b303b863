"""What the page Learn shows, part by part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Any, Literal

from kanon.studio.session import state
from kanon.studio.session.parts import StateSection
from kanon.studio.session.work import SessionState
from kanon.teaching.exercise_draft import Draft
from kanon.teaching.exercises import AnswerChange, ExerciseSet
from kanon.teaching.marks import ClassMarks
from kanon.teaching.question import Help, Mark

LessonsPart = Literal["steps", "attacks", "exercises"]


def read_clock() -> float:
    return monotonic()


@dataclass(frozen=True)
class OtherLesson:
    algorithm: str
    metric: str
    strategy: str


@dataclass(frozen=True)
class StepsView:
    algorithm: str = "gaa"
    table: str = ""  # of kanon, `own`, or empty: where the algorithm is seen best
    records: int = 12  # of the session's table, 6 to 30
    seed: int | None = None  # draws these; None for the first ones
    metric: str = ""
    strategy: str = "s1"
    k: int | None = None  # None for what is usual on the table
    step: int = 0  # of two lessons, their place side by side
    playing: bool = False
    beside: OtherLesson | None = None  # the other lesson on this table


@dataclass(frozen=True)
class PredictionView:
    on: bool = False  # whether the lesson asks what comes next
    lesson: str = ""  # the key of the lesson that the answers are about
    answers: tuple[tuple[int, int, int], ...] = ()  # step, place of the question, option


@dataclass(frozen=True)
class AttackView:
    kind: str = "linkage"
    own: bool = False  # attack the release of the session
    person: int | None = None  # by place; None: the person it reveals most about
    ruled_out: tuple[str, ...] | None = None  # None: the value whose absence tells most
    step: int = 1  # of the story, from 1


@dataclass(frozen=True, eq=False)
class Attempt:
    answers: Mapping[str, Any] = field(default_factory=dict)  # by question, as files hold them
    marks: Mapping[str, Mark] = field(default_factory=dict)  # of answers that did not change since
    misses: Mapping[str, int] = field(default_factory=dict)  # wrong checks, by question
    help_seen: Mapping[str, Help] = field(default_factory=dict)  # by question, and visible
    before: Attempt | None = None  # before many answers changed at once
    opened: float = field(default_factory=read_clock)
    log: tuple[AnswerChange, ...] = ()  # which answer changed when, in an exam
    is_closed: bool = False  # an exam that was closed here


@dataclass(frozen=True, eq=False)
class ExercisesView:
    opened: ExerciseSet | None = None
    place: int = 0  # after the last question comes handing in
    attempts: Mapping[str, Attempt] = field(default_factory=dict)  # by the fingerprint of the set
    student: str = ""
    metric: str = ""  # of the handout; empty for those of its questions
    solutions: bool = False  # whether the handout has them
    scores: ClassMarks | None = None
    uploads: int = 0  # files taken, so that a field hands over none twice


@dataclass(frozen=True)
class CheckedDraft:
    draft: Draft
    exercises: ExerciseSet


@dataclass(frozen=True, eq=False)
class EditorView:
    open: bool = False
    draft: Draft | None = None
    before: tuple[Draft, ...] = ()  # those replaced, the last one first
    table: int = 0
    question: int = 0
    began: int = 0  # rises when anything but typing changes a table
    records: int = 8  # so many of the session's table are taken
    tried: Attempt = field(default_factory=Attempt)
    checked: CheckedDraft | None = None
    own_sets: frozenset[str] = frozenset()


@dataclass(frozen=True)
class LessonsView(StateSection):
    part: LessonsPart = "steps"
    steps: StepsView = field(default_factory=StepsView)
    prediction: PredictionView = field(default_factory=PredictionView)
    attack: AttackView = field(default_factory=AttackView)
    exercises: ExercisesView = field(default_factory=ExercisesView)
    editor: EditorView = field(default_factory=EditorView)

    def keep_for_new_table(self) -> LessonsView:
        """What stays when another table is loaded: nothing in it is about one."""
        steps = StepsView() if self.steps.table == "own" else self.steps
        return replace(self, steps=steps, attack=AttackView())

    reset_after_reread = keep_for_new_table


def update_view(work: SessionState, part: str, **fields: Any) -> SessionState:
    lessons = work.view(LessonsView)
    view = replace(getattr(lessons, part), **fields)
    return work.replace_sections(replace(lessons, **{part: view}))


def apply_view(part: str, **fields: Any) -> None:
    state.update_sections(update_view(state.get_session(), part, **fields).view(LessonsView))
