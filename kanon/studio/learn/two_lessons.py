"""Two lessons that stand side by side on the page Learn: which, and where they are."""

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from kanon.algorithms.catalogue import algorithm_named, algorithms, uses
from kanon.errors import KanonError
from kanon.strategies import STRATEGIES
from kanon.studio.learn.lesson import TableLesson, metrics_of, strategies_of, table_of, told
from kanon.studio.learn.state import Beside, LessonsView, StepsView, look
from kanon.studio.session import state
from kanon.studio.session.work import Work, metric_called
from kanon.teaching.side_by_side import SideBySide

SIDES = ("one", "other")  # what the two are called where nobody sees it


@dataclass(frozen=True, eq=False)
class Two:
    """Two lessons on the same table, as far as they can be made."""

    told: tuple[TableLesson | KanonError, TableLesson | KanonError]  # or why it cannot be told

    @cached_property
    def pair(self) -> SideBySide | None:
        """Both side by side; None unless both can be made."""
        one, other = self.told
        if isinstance(one, TableLesson) and isinstance(other, TableLesson):
            return SideBySide(one.lesson, other.lesson)
        return None

    @property
    def last(self) -> int:
        """The last place; -1 if neither lesson can be made."""
        if self.pair is not None:
            return self.pair.last
        return max(
            len(each.lesson.steps) - 1 if isinstance(each, TableLesson) else -1
            for each in self.told
        )

    def place(self, step: int) -> int:
        """The place that is shown, at most the last one; where nothing is, what was asked for."""
        return min(step, self.last) if self.last >= 0 else step

    def positions(self, place: int) -> tuple[int, int]:
        """The position of each lesson at a place; one that stands alone has its steps as places."""
        return self.pair.positions(place) if self.pair is not None else (place, place)

    def first_at(self, side: int, position: int) -> int:
        """The first place at which a side is at a position."""
        return self.pair.first_at(side, position) if self.pair is not None else position


def beside_of(view: StepsView) -> StepsView:
    """The settings of the lesson beside the first; those of the first where there is none."""
    if view.beside is None:
        return view
    return replace(view, table=table_of(view), **vars(view.beside))


def two_of(work: Work) -> Two:
    view = work.view(LessonsView).steps
    return Two((_told(work, SIDES[0], view), _told(work, SIDES[1], beside_of(view))))


def _told(work: Work, side: str, view: StepsView) -> TableLesson | KanonError:
    def remember(name: str, key: Hashable, make: Callable[[], TableLesson]) -> TableLesson:
        return state.remembered(f"{name}-{side}", key, make)

    try:
        return told(showing(work, view), remember)
    except KanonError as error:
        return error


def showing(work: Work, view: StepsView) -> Work:
    return work.with_parts(replace(work.view(LessonsView), steps=view))


def names_of(work: Work, view: StepsView, other: StepsView, brief: bool = False) -> str:
    """What a lesson is called beside another: what they differ in; nothing if they do not."""
    named = []
    if view.algorithm != other.algorithm:
        named.append(algorithm_named(view.algorithm).CARD.title)
    one, two = (metrics_of(work, each)[1] for each in (view, other))
    if one != two:
        named.append(metric_called(work, one).card.title)
    if all(uses(each.algorithm, "strategy") for each in (view, other)):
        one, two = (strategies_of(work, each)[1] for each in (view, other))
        if one != two:
            title = STRATEGIES[one].title
            named.append(title.partition(":")[0] if brief else title)
    return ", ".join(named)


# --- what is changed ------------------------------------------------------------------------
def choose(second: bool, **fields: Any) -> None:
    """Change a lesson's settings. Alone it begins anew; of two, the other one stays in place."""
    work = state.work()
    view = work.view(LessonsView).steps
    if view.beside is None:
        look("steps", **fields, step=0, playing=False)
        return
    now = two_of(work)
    stays = 0 if second else 1
    position = now.positions(now.place(view.step))[stays]
    shown = {"beside": replace(view.beside, **fields)} if second else fields
    changed = replace(view, **shown)
    step = two_of(showing(work, changed)).first_at(stays, position)
    look("steps", **vars(replace(changed, step=step, playing=False)))


def set_beside(on: bool) -> None:
    """Show a lesson beside the one that is shown, or no longer; the step stays."""
    work = state.work()
    view = work.view(LessonsView).steps
    if not on:
        now = two_of(work)
        step = now.positions(now.place(view.step))[0]
        look("steps", beside=None, step=step, playing=False)
        return
    # The table stays, whatever algorithm is chosen.
    changed = replace(view, table=table_of(view), beside=_unlike(work, view), playing=False)
    step = two_of(showing(work, changed)).first_at(0, view.step)
    look("steps", **vars(replace(changed, step=step)))


def _unlike(work: Work, view: StepsView) -> Beside:
    """What is shown first beside a lesson: the first that comes to differ, in one choice alone."""
    first = None
    for one in _others(work, view):
        shown = replace(view, table=table_of(view), beside=one)
        pair = two_of(showing(work, shown)).pair
        first = first or one
        if pair is not None and pair.parting is not None:
            return one
    assert first is not None, "there are several algorithms"
    return first


def _others(work: Work, view: StepsView) -> Iterator[Beside]:
    """The same in all but one: another strategy, metric or algorithm, relatives first."""
    metrics, metric = metrics_of(work, view)
    strategies, strategy = strategies_of(work, view)
    same = Beside(view.algorithm, metric, strategy)
    yield from (replace(same, strategy=one) for one in strategies if one != strategy)
    if uses(view.algorithm, "metric"):
        yield from (replace(same, metric=one) for one in metrics if one != metric)
    family = algorithm_named(view.algorithm).CARD.family
    listed = sorted(algorithms().items(), key=lambda one: family != one[1].CARD.family)
    yield from (replace(same, algorithm=name) for name, _ in listed if name != view.algorithm)
