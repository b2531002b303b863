"""What the page Learn shows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from kanon.studio.learn.attacks_state import AttackView
from kanon.studio.learn.exercises_state import ExercisesView
from kanon.studio.learn.steps_state import StepsView
from kanon.studio.session.parts import SessionPart

LessonsPart = Literal["steps", "attacks", "exercises"]


@dataclass(frozen=True)
class LessonsView(SessionPart):
    """What is shown."""

    part: LessonsPart = "steps"
    projected: bool = False  # whether the page is one picture for a projector
    steps: StepsView = field(default_factory=StepsView)
    attack: AttackView = field(default_factory=AttackView)
    exercises: ExercisesView = field(default_factory=ExercisesView)

    def for_another_table(self) -> LessonsView:
        """What stays when another table is loaded: nothing in it is about one."""
        steps = StepsView() if self.steps.table == "own" else self.steps
        return LessonsView(part=self.part, steps=steps, exercises=self.exercises)

    read_again = for_another_table
