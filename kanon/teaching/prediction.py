"""What comes next in a lesson: questions about a step, from its own candidates and rules."""

from collections.abc import Iterable
from dataclasses import dataclass

from kanon.base.formatting import count_noun
from kanon.teaching.lesson import Choice, Lesson
from kanon.teaching.nodes import NodeView
from kanon.teaching.regions import RegionView


@dataclass(frozen=True)
class StepQuestion:
    text: str
    options: tuple[str, ...]
    chosen: int  # the place of the option that the lesson takes
    right: frozenset[int]  # the places that the rules allow: it, and those that tie with it
    reason: str  # the rule that decided
    refused: tuple[str, ...] = ()  # per option why it must not be chosen; empty where it may

    def judge(self, answer: int) -> str:
        """Whether an option is right, and why, in a sentence or two.

        >>> right = frozenset({0, 1})
        >>> question = StepQuestion("Which?", ("a", "b", "c"), 0, right,
        ...                         "least cost, 4 for “a” and “b” against 6",
        ...                         ("", "", "too small"))
        >>> for answer in range(3):
        ...     print(question.judge(answer))
        Right, “a”: least cost, 4 for “a” and “b” against 6.
        Right, “b” is as good as “a”, which comes next: least cost, 4 for “a” and “b” against 6.
        Wrong, the answer is “a”: least cost, 4 for “a” and “b” against 6. Of “c”: too small.
        """
        name, chosen = self.options[answer], self.options[self.chosen]
        if answer == self.chosen:
            return f"Right, “{name}”: {self.reason}."
        if answer in self.right:
            return f"Right, “{name}” is as good as “{chosen}”, which comes next: {self.reason}."
        why = self.refused[answer] if self.refused else ""
        refusal = f" Of “{name}”: {why}." if why else ""
        return f"Wrong, the answer is “{chosen}”: {self.reason}.{refusal}"


def list_step_questions(lesson: Lesson, at: int) -> tuple[StepQuestion, ...]:
    """The questions about a step, from 1, in the order of its decisions; none where it has none."""
    step = lesson.steps[at]
    questions = [
        _build_choice_question(choice) for choice in step.choices if len(choice.candidates) > 1
    ]
    if isinstance(step.detail, NodeView) and not step.detail.released:
        questions.append(_ask_whether_node_meets(lesson, step.detail))
    if isinstance(step.detail, RegionView) and isinstance(lesson.steps[at - 1].detail, RegionView):
        questions.insert(0, _ask_whether_region_is_cut(lesson, at, step.detail))
    return tuple(questions)


def _build_choice_question(choice: Choice) -> StepQuestion:
    candidates, chosen = choice.candidates, choice.chosen
    # An order without figures decides ties alone, unless nothing else decides.
    compared = [place for place in range(len(choice.rules)) if chosen.figure(place) is not None]
    parts = compared[-1] + 1 if compared else len(chosen.key)
    right = {
        place
        for place, candidate in enumerate(candidates)
        if not candidate.refused and candidate.key[:parts] == chosen.key[:parts]
    }
    return StepQuestion(
        choice.question,
        tuple(candidate.name for candidate in candidates),
        candidates.index(chosen),
        frozenset(right),
        choice.reason,
        tuple(candidate.refused for candidate in candidates),
    )


def _ask_whether_node_meets(lesson: Lesson, view: NodeView) -> StepQuestion:
    names = lesson.task.classes.attributes
    node = ", ".join(f"{name} {level}" for name, level in zip(names, view.node, strict=True))
    would = "would be" if view.satisfies else "would have to be"
    reason = "no record would have to be suppressed"
    if view.too_small:
        number = count_noun(view.too_small, "record")
        reason = f"{number} {would} suppressed; {view.limit or 'none'} may be"
    return _build_yes_no_question(
        f"Does {node} meet the requirements?",
        ("It does", "It does not"),
        view.satisfies,
        reason,
    )


def _ask_whether_region_is_cut(lesson: Lesson, at: int, view: RegionView) -> StepQuestion:
    step, region, extents = lesson.steps[at], view.region, []
    for axis, low, high in zip(view.axes, region.low, region.high, strict=True):
        labels = dict(axis.marks)
        span = labels[low] if low == high else f"{labels[low]} to {labels[high]}"
        extents.append(f"{axis.attribute} {span}")
    records = count_noun(region.records, "record")
    cut = "a region is cut where every part of some cut meets the requirements"
    stays = step.sentence[0].lower() + step.sentence[1:].rstrip(".")
    return _build_yes_no_question(
        f"Is the region of {records} ({', '.join(extents)}) cut?",
        ("It is cut", "It stays"),
        bool(step.choices),
        cut if step.choices else stays,
    )


def _build_yes_no_question(
    text: str, options: tuple[str, str], is_yes: bool, reason: str
) -> StepQuestion:
    chosen = 0 if is_yes else 1
    return StepQuestion(text, options, chosen, frozenset({chosen}), reason)


def count_right_answers(lesson: Lesson, answers: Iterable[tuple[int, int, int]]) -> int:
    """How many answers are right: each a step, the place of its question, and an option's."""
    return sum(
        option in list_step_questions(lesson, step)[place].right for step, place, option in answers
    )
