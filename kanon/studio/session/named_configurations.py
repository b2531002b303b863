"""Configurations kept under a name: keep, rename, remove, save as a plan, import from one."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from kanon.base.checked_json import read_json
from kanon.classes import EquivalenceClasses
from kanon.errors import KanonError, PlanError, listing, quoted
from kanon.hierarchy import Hierarchy
from kanon.hierarchy.plans import file_of
from kanon.plan import Plan, of_this_version
from kanon.release.drift import Finding, found_next
from kanon.run import PreparedRun, prepare
from kanon.schema import check_columns
from kanon.settings import settings
from kanon.sources.memory import MemoryTable
from kanon.sources.stored import StoredTable
from kanon.sources.tables import Table
from kanon.strategies import needs_sensitive
from kanon.studio.session.parts import Message, NamedConfiguration
from kanon.studio.session.run_plan import with_plan
from kanon.studio.session.work import Work

LONGEST_TITLE = 40  # the most characters in the name of a kept configuration


def pin(work: Work, plan: Plan, trees: Mapping[str, Hierarchy], title: str) -> Work:
    kept = _with_pin(work, title, plan, trees)
    return kept.with_notice(
        f"{quoted(kept.kept.pinned[-1].title)} is kept: it stays as it is, whatever is "
        "chosen from now on."
    )


def renamed(work: Work, old: str, title: str) -> Work:
    title = checked_title(title, [each.title for each in work.kept.pinned if each.title != old])
    pinned = tuple(
        replace(each, title=title) if each.title == old else each for each in work.kept.pinned
    )
    yardstick = title if work.kept.yardstick == old else work.kept.yardstick
    return work.with_parts(replace(work.kept, pinned=pinned, yardstick=yardstick), Message())


def unpinned(work: Work, title: str) -> Work:
    """The work without a kept configuration; :func:`restored` brings it back."""
    gone = next(each for each in work.kept.pinned if each.title == title)
    pinned = tuple(each for each in work.kept.pinned if each is not gone)
    yardstick = "" if work.kept.yardstick == title else work.kept.yardstick
    kept = replace(work.kept, pinned=pinned, unpinned=gone, yardstick=yardstick)
    return work.with_parts(kept, Message())


def restored(work: Work) -> Work:
    """The work with the kept configuration that was removed last."""
    if work.kept.unpinned is None:
        return work
    checked_title(work.kept.unpinned.title, [each.title for each in work.kept.pinned])
    return work.with_parts(
        replace(work.kept, pinned=(*work.kept.pinned, work.kept.unpinned), unpinned=None), Message()
    )


def used(work: Work, title: str) -> Work:
    each = next(each for each in work.kept.pinned if each.title == title)
    check_columns(work.table.records.columns, each.plan.columns)
    notice = f"Roles, hierarchies and settings are those of {quoted(title)}."
    return with_plan(work, each.plan).with_notice(notice)


def export(pinned: NamedConfiguration) -> str:
    """The plan of a kept configuration as JSON: what the command line repeats."""
    return pinned.plan.to_json()


def imported(work: Work, content: bytes, title: str) -> Work:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise PlanError("The file is no plan: it is not text in UTF-8.") from None
    given = read_json(text)
    if isinstance(given, dict) and "project" in given:
        raise PlanError(
            "This is a project, not a plan: open it under Project, below the navigation."
        )
    given, change = of_this_version(given)
    plan = Plan.from_content(given)
    check_whole(plan)
    for name, part in plan.metrics.items():
        if name in work.settings.composed and work.settings.composed[name] != part:
            raise PlanError(
                f"The plan composes a metric called {quoted(name)}, and yours of that name is "
                "another one; remove yours on the page Metrics first."
            )
    check_columns(work.table.records.columns, plan.columns)
    one = _on_table(NamedConfiguration(title, plan, {}), work)
    if any(finding.kind == "unfit" for finding in one.findings):
        # Says what is wrong with the plan itself, whatever the table.
        _runnable(prepare(plan, work.table.records))
    kept = _with_pin(work, title, plan, one.trees, one.findings)
    if not one.fits:
        said = [f"{quoted(title)} was imported.", _unfit([title]), change]
        return kept.with_notice(" ".join(filter(None, said)))
    said = [
        f"{quoted(kept.kept.pinned[-1].title)} was imported: it stays as it is, whatever is "
        "chosen from now on."
    ]
    beyond = [part.model for part in plan.privacy if part.model != "k-anonymity"]
    if beyond:
        said.append(f"It asks for {listing(beyond)} too, which the curves over k leave out.")
    if change:
        said.append(change)
    return kept.with_parts(
        replace(kept.settings, composed={**work.settings.composed, **plan.metrics}),
        replace(kept.message, notice=" ".join(said)),
    )


def check_whole(plan: Plan) -> None:
    """Check that a plan from elsewhere names no file: it would be read where kanon runs."""
    elsewhere = [
        name for name, column in plan.columns.items() if file_of(column.hierarchy) is not None
    ]
    if elsewhere:
        raise PlanError(
            f"The hierarchy of {listing(elsewhere)} is a file beside the plan; a plan can be "
            "imported whose hierarchies are written in it, as those are that kanon saves "
            "here."
        )


def carried(old: Work, new: Work) -> Work:
    if not old.kept.pinned:
        return new
    # What a table in an engine held would have to be asked for again.
    before = old.table.records if isinstance(old.table.records, MemoryTable) else None
    pinned = tuple(_on_table(each, new, before) for each in old.kept.pinned)
    fitting = [each.title for each in pinned if each.fits]
    said = [new.message.notice or ""]
    if fitting:
        said.append(f"{listing(fitting)} fits this table and stays kept.")
    if len(fitting) < len(pinned):
        said.append(_unfit([each.title for each in pinned if not each.fits]))
    return new.with_parts(
        replace(new.kept, pinned=pinned), replace(new.message, notice=" ".join(filter(None, said)))
    )


def _unfit(titles: Sequence[str]) -> str:
    return (
        f"{listing(titles)} does not fit this table: under Keep, on the page Compare, stands what "
        "is new in it."
    )


def _on_table(
    each: NamedConfiguration, work: Work, before: Table | None = None
) -> NamedConfiguration:
    try:
        _check_classes_come(each.plan, work.table.records)
        findings, prepared = found_next(each.plan, work.table.records, before=before)
        found = replace(each, findings=findings)
        if not found.fits:
            return found
        classes = _runnable(prepared or prepare(each.plan, work.table.records))
    except KanonError as error:
        return replace(each, findings=(Finding("unfit", "", True, str(error)),))
    return replace(found, trees=dict(zip(classes.attributes, classes.hierarchies, strict=True)))


def _check_classes_come(plan: Plan, table: Table) -> None:
    """Check that the classes of a plan come here: else an engine would count them meanwhile."""
    columns, most = plan.roles.quasi_identifiers, settings().classes
    if not isinstance(table, StoredTable) or not {*columns} <= {*table.columns}:
        return
    if table.most_classes(columns) > most and (table.known_classes(columns) or most + 1) > most:
        raise PlanError(
            "This table may have more classes by these quasi-identifiers than come here, so "
            "nobody looked whether the configuration fits."
        )


def _runnable(prepared: PreparedRun) -> EquivalenceClasses:
    prepared.task()
    return prepared.classes


def _with_pin(
    work: Work,
    title: str,
    plan: Plan,
    trees: Mapping[str, Hierarchy],
    findings: tuple[Finding, ...] = (),
) -> Work:
    title = checked_title(title, [each.title for each in work.kept.pinned])
    led = plan.algorithm
    if needs_sensitive(led.strategy):  # whatever becomes sensitive later
        led = led.model_copy(update={"sensitive": plan.led_by})
    kept = NamedConfiguration(
        title, plan.model_copy(update={"algorithm": led}), dict(trees), findings=findings
    )
    return work.with_parts(replace(work.kept, pinned=(*work.kept.pinned, kept)), Message())


def checked_title(title: str, taken: Sequence[str]) -> str:
    title = " ".join(title.split())
    if not title or len(title) > LONGEST_TITLE:
        raise PlanError(f"A kept configuration needs a name of 1 to {LONGEST_TITLE} characters.")
    if title.casefold() in {other.casefold() for other in taken}:
        raise PlanError(f"The name {quoted(title)} is taken; give another one.")
    return title
