"""Saved configurations: save, rename, delete, apply, export as a plan, import from one."""

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

LONGEST_TITLE = 40  # characters in the name of a saved configuration


def pin(work: Work, plan: Plan, trees: Mapping[str, Hierarchy], title: str) -> Work:
    new_work = _add_configuration(work, title, plan, trees)
    return new_work.with_notice(
        f"{quoted(new_work.kept.pinned[-1].title)} is saved. Later choices do not change it."
    )


def renamed(work: Work, old: str, title: str) -> Work:
    title = checked_title(title, [name for name in _get_titles(work) if name != old])
    pinned = tuple(
        replace(saved, title=title) if saved.title == old else saved for saved in work.kept.pinned
    )
    yardstick = title if work.kept.yardstick == old else work.kept.yardstick
    return work.with_parts(replace(work.kept, pinned=pinned, yardstick=yardstick), Message())


def unpinned(work: Work, title: str) -> Work:
    removed = _get_configuration(work, title)
    pinned = tuple(saved for saved in work.kept.pinned if saved is not removed)
    yardstick = "" if work.kept.yardstick == title else work.kept.yardstick
    kept = replace(work.kept, pinned=pinned, unpinned=removed, yardstick=yardstick)
    return work.with_parts(kept, Message())


def restored(work: Work) -> Work:
    """Bring back the configuration that was deleted last."""
    if work.kept.unpinned is None:
        return work
    checked_title(work.kept.unpinned.title, _get_titles(work))
    return work.with_parts(
        replace(work.kept, pinned=(*work.kept.pinned, work.kept.unpinned), unpinned=None), Message()
    )


def used(work: Work, title: str) -> Work:
    plan = _get_configuration(work, title).plan
    check_columns(work.table.records.columns, plan.columns)
    notice = f"Roles, hierarchies and settings are now those of {quoted(title)}."
    return with_plan(work, plan).with_notice(notice)


def _get_titles(work: Work) -> list[str]:
    return [saved.title for saved in work.kept.pinned]


def _get_configuration(work: Work, title: str) -> NamedConfiguration:
    return next(saved for saved in work.kept.pinned if saved.title == title)


def export(pinned: NamedConfiguration) -> str:
    return pinned.plan.to_json()


def imported(work: Work, content: bytes, title: str) -> Work:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise PlanError("This file is not a plan: it is not UTF-8 text.") from None
    document = read_json(text)
    if isinstance(document, dict) and "project" in document:
        raise PlanError(
            "This is a project, not a plan: open it under Project, below the navigation."
        )
    document, change = of_this_version(document)
    plan = Plan.from_content(document)
    check_whole(plan)
    for name, part in plan.metrics.items():
        if name in work.settings.composed and work.settings.composed[name] != part:
            raise PlanError(
                f"The plan has its own metric {quoted(name)}, and yours of that name is different. "
                "Delete yours on the page Metrics first."
            )
    check_columns(work.table.records.columns, plan.columns)
    configuration = _check_on_table(NamedConfiguration(title, plan, {}), work)
    if any(finding.kind == "unfit" for finding in configuration.findings):
        # Raises the error of the plan itself, whatever the table.
        _check_runnable(prepare(plan, work.table.records))
    new_work = _add_configuration(work, title, plan, configuration.trees, configuration.findings)
    if not configuration.fits:
        sentences = [f"{quoted(title)} was imported.", _describe_misfits([title]), change]
        return new_work.with_notice(" ".join(filter(None, sentences)))
    name = quoted(new_work.kept.pinned[-1].title)
    sentences = [f"{name} was imported. Later choices do not change it."]
    beyond = [part.model for part in plan.privacy if part.model != "k-anonymity"]
    if beyond:
        sentences.append(f"It also requires {listing(beyond)}, which the curves over k leave out.")
    if change:
        sentences.append(change)
    return new_work.with_parts(
        replace(new_work.settings, composed={**work.settings.composed, **plan.metrics}),
        replace(new_work.message, notice=" ".join(sentences)),
    )


def check_whole(plan: Plan) -> None:
    """Refuse a plan from elsewhere that names a file: kanon would read it on its own machine."""
    elsewhere = [
        name for name, column in plan.columns.items() if file_of(column.hierarchy) is not None
    ]
    if elsewhere:
        raise PlanError(
            f"The hierarchy of {listing(elsewhere)} is a separate file. Import a plan that "
            "contains its hierarchies, as the plans that kanon saves here do."
        )


def carried(old: Work, new: Work) -> Work:
    if not old.kept.pinned:
        return new
    # A table in an engine would have to be queried again.
    before = old.table.records if isinstance(old.table.records, MemoryTable) else None
    pinned = tuple(_check_on_table(saved, new, before) for saved in old.kept.pinned)
    fitting = [saved.title for saved in pinned if saved.fits]
    misfits = [saved.title for saved in pinned if not saved.fits]
    sentences = [new.message.notice or ""]
    if fitting:
        fit = "fits this table and stays" if len(fitting) == 1 else "fit this table and stay"
        sentences.append(f"{listing(fitting)} {fit} saved.")
    if misfits:
        sentences.append(_describe_misfits(misfits))
    return new.with_parts(
        replace(new.kept, pinned=pinned),
        replace(new.message, notice=" ".join(filter(None, sentences))),
    )


def _describe_misfits(titles: Sequence[str]) -> str:
    do = "does" if len(titles) == 1 else "do"
    return (
        f"{listing(titles)} {do} not fit this table; the list of saved configurations on the page "
        "Compare says why."
    )


def _check_on_table(
    configuration: NamedConfiguration, work: Work, before: Table | None = None
) -> NamedConfiguration:
    try:
        _check_classes_load(configuration.plan, work.table.records)
        findings, prepared = found_next(configuration.plan, work.table.records, before=before)
        checked = replace(configuration, findings=findings)
        if not checked.fits:
            return checked
        classes = _check_runnable(prepared or prepare(configuration.plan, work.table.records))
    except KanonError as error:
        return replace(configuration, findings=(Finding("unfit", "", True, str(error)),))
    return replace(checked, trees=dict(zip(classes.attributes, classes.hierarchies, strict=True)))


def _check_classes_load(plan: Plan, table: Table) -> None:
    """Refuse a plan whose classes an engine would have to count first, which can take long."""
    columns, most = plan.roles.quasi_identifiers, settings().classes
    if not isinstance(table, StoredTable) or not {*columns} <= {*table.columns}:
        return
    if table.most_classes(columns) > most and (table.known_classes(columns) or most + 1) > most:
        raise PlanError(
            "By these quasi-identifiers the table may have more classes than kanon loads, so the "
            "configuration was not checked."
        )


def _check_runnable(prepared: PreparedRun) -> EquivalenceClasses:
    prepared.task()
    return prepared.classes


def _add_configuration(
    work: Work,
    title: str,
    plan: Plan,
    trees: Mapping[str, Hierarchy],
    findings: tuple[Finding, ...] = (),
) -> Work:
    title = checked_title(title, [other.title for other in work.kept.pinned])
    led = plan.algorithm
    if needs_sensitive(led.strategy):  # whatever becomes sensitive later
        led = led.model_copy(update={"sensitive": plan.led_by})
    configuration = NamedConfiguration(
        title, plan.model_copy(update={"algorithm": led}), dict(trees), findings=findings
    )
    return work.with_parts(replace(work.kept, pinned=(*work.kept.pinned, configuration)), Message())


def checked_title(title: str, taken_titles: Sequence[str]) -> str:
    title = " ".join(title.split())
    if not title or len(title) > LONGEST_TITLE:
        raise PlanError(f"A saved configuration needs a name of 1 to {LONGEST_TITLE} characters.")
    if title.casefold() in {other.casefold() for other in taken_titles}:
        raise PlanError(f"The name {quoted(title)} is taken; choose another one.")
    return title
