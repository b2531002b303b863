"""Saved configurations: save, rename, delete, apply, export as a plan, import from one."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from kanon.base.checked_json import read_json
from kanon.errors import KanonError, PlanError, list_names, quote
from kanon.hierarchy import Hierarchy
from kanon.hierarchy.plans import get_hierarchy_file
from kanon.plan import Plan, update_plan_version
from kanon.release.drift import DriftFinding, find_changes
from kanon.run import prepare
from kanon.schema import check_columns
from kanon.settings import get_settings
from kanon.sources.memory import MemoryTable
from kanon.sources.stored import StoredTable
from kanon.sources.tables import Table
from kanon.strategies import needs_sensitive
from kanon.studio.session.parts import Message, SavedConfiguration
from kanon.studio.session.run_plan import apply_plan
from kanon.studio.session.work import SessionState

LONGEST_TITLE = 40  # characters in the name of a saved configuration


def save_configuration(
    work: SessionState, plan: Plan, trees: Mapping[str, Hierarchy], title: str
) -> SessionState:
    new_work = _add_configuration(work, title, plan, trees)
    return new_work.add_notice(
        f"{quote(new_work.kept.configurations[-1].title)} is saved. Later choices do not change it."
    )


def rename_configuration(work: SessionState, old: str, title: str) -> SessionState:
    title = check_configuration_title(title, [name for name in _get_titles(work) if name != old])
    pinned = tuple(
        replace(saved, title=title) if saved.title == old else saved
        for saved in work.kept.configurations
    )
    yardstick = title if work.kept.measuring_hierarchies == old else work.kept.measuring_hierarchies
    return _change_kept(work, configurations=pinned, measuring_hierarchies=yardstick)


def delete_configuration(work: SessionState, title: str) -> SessionState:
    removed = get_saved_configuration(work, title)
    pinned = tuple(saved for saved in work.kept.configurations if saved is not removed)
    yardstick = "" if work.kept.measuring_hierarchies == title else work.kept.measuring_hierarchies
    return _change_kept(
        work,
        configurations=pinned,
        deleted_configuration=removed,
        measuring_hierarchies=yardstick,
    )


def restore_configuration(work: SessionState) -> SessionState:
    """Bring back the configuration that was deleted last."""
    deleted = work.kept.deleted_configuration
    if deleted is None:
        return work
    check_configuration_title(deleted.title, _get_titles(work))
    configurations = (*work.kept.configurations, deleted)
    return _change_kept(work, configurations=configurations, deleted_configuration=None)


def _change_kept(work: SessionState, **fields: Any) -> SessionState:
    return work.replace_sections(replace(work.kept, **fields), Message())


def apply_configuration(work: SessionState, title: str, plan: Plan | None = None) -> SessionState:
    """Apply a saved configuration, or another plan that was made from it."""
    plan = plan or get_saved_configuration(work, title).plan
    check_columns(work.table.records.columns, plan.columns)
    notice = f"Roles, hierarchies and settings are now those of {quote(title)}."
    return apply_plan(work, plan).add_notice(notice)


def _get_titles(work: SessionState) -> list[str]:
    return [saved.title for saved in work.kept.configurations]


def get_saved_configuration(work: SessionState, title: str) -> SavedConfiguration:
    return next(saved for saved in work.kept.configurations if saved.title == title)


def import_configuration(work: SessionState, content: bytes, title: str) -> SessionState:
    document = read_json(content)
    if isinstance(document, dict) and "project" in document:
        raise PlanError(
            "This is a project, not a plan: open it under Project, below the navigation."
        )
    document, change = update_plan_version(document)
    plan = Plan.from_content(document)
    check_names_no_file(plan)
    for name, part in plan.metrics.items():
        if name in work.settings.composed and work.settings.composed[name] != part:
            raise PlanError(
                f"The plan has its own metric {quote(name)}, and your metric of that name is "
                "different. Delete yours on the Metrics page first."
            )
    check_columns(work.table.records.columns, plan.columns)
    configuration = _check_on_table(SavedConfiguration(title, plan, {}), work)
    if any(finding.kind == "unfit" for finding in configuration.findings):
        # Raises the error of the plan itself, whatever the table.
        prepare(plan, work.table.records).task()
    new_work = _add_configuration(work, title, plan, configuration.trees, configuration.findings)
    if not configuration.fits:
        sentences = [f"{quote(title)} was imported.", _describe_misfits([title]), change]
        return new_work.add_notice(" ".join(filter(None, sentences)))
    name = quote(new_work.kept.configurations[-1].title)
    sentences = [f"{name} was imported. Later choices do not change it."]
    beyond = [part.model for part in plan.privacy if part.counted_as != "k-anonymity"]
    if beyond:
        sentences.append(
            f"It also requires {list_names(beyond)}; on Compare, all lines meet the same models."
        )
    if change:
        sentences.append(change)
    return new_work.replace_sections(
        replace(new_work.settings, composed={**work.settings.composed, **plan.metrics}),
        replace(new_work.message, notice=" ".join(sentences)),
    )


def check_names_no_file(plan: Plan) -> None:
    """Refuse a plan from elsewhere that names a file: kanon would read it on its own machine."""
    elsewhere = [
        name
        for name, column in plan.columns.items()
        if get_hierarchy_file(column.hierarchy) is not None
    ]
    if any("population" in type(part).model_fields for part in plan.privacy):
        raise PlanError(
            "The plan names the file of a population. Such a plan can be run by the command line, "
            "and not here."
        )
    if elsewhere:
        raise PlanError(
            f"The hierarchy of {list_names(elsewhere)} is a separate file. Import a plan that "
            "contains its hierarchies, as the plans that kanon saves here do."
        )


def move_configurations(old: SessionState, new: SessionState) -> SessionState:
    if not old.kept.configurations:
        return new
    # A table in an engine would have to be queried again.
    before = old.table.records if isinstance(old.table.records, MemoryTable) else None
    pinned = tuple(_check_on_table(saved, new, before) for saved in old.kept.configurations)
    fitting = [saved.title for saved in pinned if saved.fits]
    misfits = [saved.title for saved in pinned if not saved.fits]
    sentences = [new.message.notice or ""]
    if fitting:
        fit = "fits this table and stays" if len(fitting) == 1 else "fit this table and stay"
        sentences.append(f"{list_names(fitting)} {fit} saved.")
    if misfits:
        sentences.append(_describe_misfits(misfits))
    return new.replace_sections(
        replace(new.kept, configurations=pinned),
        replace(new.message, notice=" ".join(filter(None, sentences))),
    )


def _describe_misfits(titles: Sequence[str]) -> str:
    do = "does" if len(titles) == 1 else "do"
    return (
        f"{list_names(titles)} {do} not fit this table; the list "
        "of saved configurations on the Compare page says why."
    )


def _check_on_table(
    configuration: SavedConfiguration, work: SessionState, before: Table | None = None
) -> SavedConfiguration:
    try:
        _check_classes_load(configuration.plan, work.table.records)
        findings, prepared = find_changes(configuration.plan, work.table.records, before=before)
        checked = replace(configuration, findings=findings)
        if not checked.fits:
            return checked
        prepared = prepared or prepare(configuration.plan, work.table.records)
        prepared.task()
    except KanonError as error:
        return replace(configuration, findings=(DriftFinding("unfit", "", True, str(error)),))
    classes = prepared.classes
    return replace(checked, trees=dict(zip(classes.attributes, classes.hierarchies, strict=True)))


def _check_classes_load(plan: Plan, table: Table) -> None:
    """Refuse a plan whose classes an engine would have to count first, which can take long."""
    columns, most = plan.roles.quasi_identifiers, get_settings().classes
    if not isinstance(table, StoredTable) or not {*columns} <= {*table.columns}:
        return
    if (
        table.estimate_most_classes(columns) > most
        and (table.get_known_class_count(columns) or most + 1) > most
    ):
        raise PlanError(
            "With these quasi-identifiers the table may have more classes than kanon loads, so the "
            "configuration was not checked."
        )


def _add_configuration(
    work: SessionState,
    title: str,
    plan: Plan,
    trees: Mapping[str, Hierarchy],
    findings: tuple[DriftFinding, ...] = (),
) -> SessionState:
    title = check_configuration_title(title, _get_titles(work))
    led = plan.algorithm
    if needs_sensitive(led.strategy):  # whatever becomes sensitive later
        led = led.model_copy(update={"sensitive": plan.led_by})
    configuration = SavedConfiguration(
        title, plan.model_copy(update={"algorithm": led}), dict(trees), findings=findings
    )
    return _change_kept(work, configurations=(*work.kept.configurations, configuration))


def check_configuration_title(
    title: str, taken_titles: Sequence[str], noun: str = "saved configuration"
) -> str:
    title = " ".join(title.split())
    if not title or len(title) > LONGEST_TITLE:
        raise PlanError(f"A {noun} needs a name of 1 to {LONGEST_TITLE} characters.")
    if title.casefold() in {other.casefold() for other in taken_titles}:
        raise PlanError(f"The name {quote(title)} is taken; choose another one.")
    return title
