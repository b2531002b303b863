"""Configurations kept under a name: keep, rename, remove, save as a plan, import from one.

Pure functions from one state of a session to the next.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from kanon.classes import EquivalenceClasses
from kanon.errors import KanonError, PlanError, listing, quoted
from kanon.hierarchy import Hierarchy
from kanon.plan import Plan
from kanon.run import prepare
from kanon.strategies import LOOKS_AT
from kanon.studio.configurations import Wanted
from kanon.studio.work import Pinned, Work

__all__ = [
    "LONGEST_TITLE",
    "carried",
    "export",
    "imported",
    "pin",
    "renamed",
    "restored",
    "unpinned",
]

LONGEST_TITLE = 40
"""The most characters in the name of a kept configuration."""


def pin(work: Work, line: Wanted, title: str) -> Work:
    """The work with a line kept under a name.

    Raises
    ------
    PlanError
        The name is empty, too long or taken.
    """
    return _with_pin(work, title, line.plan, line.ground.trees, "is kept")


def renamed(work: Work, old: str, title: str) -> Work:
    """The work with another name for a kept configuration.

    Raises
    ------
    PlanError
        The name is empty, too long or taken.
    """
    title = _checked(title, [each.title for each in work.pinned if each.title != old])
    return replace(
        work,
        pinned=tuple(
            replace(each, title=title) if each.title == old else each for each in work.pinned
        ),
        yardstick=title if work.yardstick == old else work.yardstick,
        problem=None,
        notice=None,
    )


def unpinned(work: Work, title: str) -> Work:
    """The work without a kept configuration; :func:`restored` brings it back."""
    gone = next(each for each in work.pinned if each.title == title)
    return replace(
        work,
        pinned=tuple(each for each in work.pinned if each is not gone),
        unpinned=gone,
        yardstick="" if work.yardstick == title else work.yardstick,
        problem=None,
        notice=None,
    )


def restored(work: Work) -> Work:
    """The work with the kept configuration that was removed last.

    Raises
    ------
    PlanError
        Its name was given to another one.
    """
    if work.unpinned is None:
        return work
    _checked(work.unpinned.title, [each.title for each in work.pinned])
    return replace(
        work, pinned=(*work.pinned, work.unpinned), unpinned=None, problem=None, notice=None
    )


def export(pinned: Pinned) -> str:
    """The plan of a kept configuration as JSON: what the command line repeats."""
    return pinned.plan.to_json()


def imported(work: Work, content: bytes, title: str) -> Work:
    """The work with a plan from a file kept under a name.

    Raises
    ------
    KanonError
        The file is no plan, or it does not fit the table.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise PlanError("The file is no plan: it is not text in UTF-8.") from None
    plan = Plan.from_json(text)
    elsewhere = [name for name, column in plan.columns.items() if isinstance(column.hierarchy, str)]
    if elsewhere:
        # A path would be read where kanon runs, which is not where the file came from.
        raise PlanError(
            f"The hierarchy of {listing(elsewhere)} is a file beside the plan; a plan can be "
            "imported whose hierarchies are written in it, as those are that kanon saves here."
        )
    for name, part in plan.metrics.items():
        if name in work.composed and work.composed[name] != part:
            raise PlanError(
                f"The plan composes a metric called {quoted(name)}, and yours of that name is "
                "another one; remove yours on the page Metrics first."
            )
    classes = _runnable(plan, work)
    trees = dict(zip(classes.attributes, classes.hierarchies, strict=True))
    kept = _with_pin(work, title, plan, trees, "was imported")
    beyond = [part.model for part in plan.privacy if part.model != "k-anonymity"]
    more = (
        f" It asks for {listing(beyond)} too, which the curves over k leave out." if beyond else ""
    )
    return replace(
        kept,
        composed={**work.composed, **plan.metrics},
        notice=f"{kept.notice or ''}{more}",
    )


def carried(old: Work, new: Work) -> Work:
    """The new work with what was kept in the old one, as far as it fits the new table."""
    if not old.pinned:
        return new
    fitting, lost = [], []
    for each in old.pinned:
        try:
            classes = _runnable(each.plan, new)
        except KanonError:
            lost.append(each.title)
            continue
        trees = dict(zip(classes.attributes, classes.hierarchies, strict=True))
        fitting.append(replace(each, trees=trees))
    said = []
    if fitting:
        said.append(f"{listing(each.title for each in fitting)} fits this table and stays kept.")
    if lost:
        said.append(f"{listing(lost)} does not fit this table and is no longer kept.")
    return replace(
        new, pinned=tuple(fitting), notice=" ".join(filter(None, [new.notice, *said])) or None
    )


def _runnable(plan: Plan, work: Work) -> EquivalenceClasses:
    """The classes of the table under a plan that could be run.

    Raises
    ------
    KanonError
        The plan does not fit the table, or its metric needs weights that nobody has drawn.
    """
    prepared = prepare(plan, work.table)
    prepared.task()
    return prepared.classes


def _with_pin(
    work: Work, title: str, plan: Plan, trees: Mapping[str, Hierarchy], what: str
) -> Work:
    title = _checked(title, [each.title for each in work.pinned])
    led = plan.algorithm
    if LOOKS_AT[led.strategy]:  # whatever becomes sensitive later
        led = led.model_copy(update={"sensitive": plan.led_by})
    kept = Pinned(title, plan.model_copy(update={"algorithm": led}), dict(trees))
    return replace(
        work,
        pinned=(*work.pinned, kept),
        problem=None,
        notice=f"{quoted(title)} {what}: it stays as it is, whatever is chosen from now on.",
    )


def _checked(title: str, taken: Sequence[str]) -> str:
    """The name of a kept configuration, without needless spaces."""
    title = " ".join(title.split())
    if not title or len(title) > LONGEST_TITLE:
        raise PlanError(f"A kept configuration needs a name of 1 to {LONGEST_TITLE} characters.")
    if title.casefold() in {other.casefold() for other in taken}:
        raise PlanError(f"The name {quoted(title)} is taken; give another one.")
    return title
