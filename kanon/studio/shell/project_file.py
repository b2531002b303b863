"""A project file: all that was chosen for a table, and none of its records."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from kanon import __version__
from kanon.base.checked_json import read_json, validate
from kanon.errors import KanonError, PlanError, list_names, quote
from kanon.experiments.kept_comparisons import (
    MOST_KEPT,
    KeptComparison,
    export_comparison,
    parse_comparison,
)
from kanon.hierarchy import Hierarchy
from kanon.hierarchy.files import HierarchyFile, parse_nodes, read_hierarchy, to_nodes
from kanon.metrics import METRICS
from kanon.plan import Plan, update_plan_version
from kanon.release.context import Context
from kanon.report.changes import ReportRecord, parse_record
from kanon.report.intruder_test import IntruderTest
from kanon.report.words import parse_words, select_filled_words
from kanon.schema import Role
from kanon.sources.read_settings import ReadSettings
from kanon.strategies import SCOPES, STRATEGIES
from kanon.studio.session.choices import BUILDERS, FIELDS, HierarchyChoice, build_choice
from kanon.studio.session.findings import SessionResults
from kanon.studio.session.hierarchy_choices import update_hierarchies
from kanon.studio.session.named_configurations import (
    LONGEST_TITLE,
    check_configuration_title,
    check_names_no_file,
    move_configurations,
)
from kanon.studio.session.parts import SavedConfiguration
from kanon.studio.session.run_plan import build_plan_content, read_plan_settings
from kanon.studio.session.table_loading import reread_table, set_repairs, take_over_reread
from kanon.studio.session.table_state import History
from kanon.studio.session.text import trim_title
from kanon.studio.session.work import SessionState

_FORMAT = 1


def check_savable(work: SessionState) -> dict[str, Any]:
    """Check that the project could be opened again; returns its plan."""
    content = build_plan_content(work, trees=False)
    Plan.from_content(content)
    work.purpose.words()
    return content


def export_project(work: SessionState) -> str:
    content = check_savable(work)
    project = {
        "project": _FORMAT,
        "kanon": __version__,
        "plan": content,
        # A former quasi-identifier may be an identifier now: then its values are not saved.
        "hierarchies": {
            column: _export_choice(choice)
            for column, choice in work.table.choices.items()
            if work.table.roles.get(column) is not Role.IDENTIFIER
        },
        "levels": {name: work.table.levels[name] for name in work.table.columns_to_coarsen},
        "compared": {
            "compared": [
                name
                for name in work.compare.compared
                if name in {*METRICS, *work.settings.composed}
            ],
            "strategies": list(work.compare.strategies),
            "scopes": list(work.compare.scopes),
            **({"k_only": True} if work.compare.k_only else {}),
        },
        "kept": [
            {
                "title": saved.title,
                "shown": saved.shown,
                "plan": _drop_identifiers(saved.plan, work),
            }
            for saved in work.kept.configurations
        ],
        "comparisons": [export_comparison(kept) for kept in work.kept.comparisons],
        "reports": [saved.model_dump() for saved in work.kept.reports],
        "words": select_filled_words(work.purpose.words()),
        "context": work.purpose.context.content,
        "intruder_test": work.purpose.intruder_test.model_dump(mode="json"),
    }
    return json.dumps(project, ensure_ascii=False, indent=1) + "\n"


def _drop_identifiers(plan: Plan, work: SessionState) -> dict[str, Any]:
    """Leave out the hierarchies of identifiers, which list their values."""
    content = plan.model_dump(mode="json", exclude_none=True)
    for column, part in content["columns"].items():
        if work.table.roles.get(column) is Role.IDENTIFIER:
            part.pop("hierarchy", None)
    return content


def get_project_reading(work: SessionState, content: bytes) -> ReadSettings | None:
    """How the project wants the uploaded table read; None if as it was read."""
    document = _parse_document(content)
    plan = _parse_plan(update_plan_version(document["plan"])[0], "The project file")
    return None if work.table.content is None else _compare_reading(work, plan)


def open_project(
    work: SessionState, content: bytes, again: SessionState | None = None
) -> SessionState:
    document = _parse_document(content)
    plan_content, change = update_plan_version(document["plan"])
    plan = _parse_plan(plan_content, "The project file")
    earlier = [
        part["plan"] for part in document["kept"] if isinstance(part, dict) and "plan" in part
    ]
    change = change or next(
        filter(None, (update_plan_version(earlier_plan)[1] for earlier_plan in earlier)), ""
    )
    if "words" in document:  # earlier files have none
        words = parse_words(document["words"], "The project file: the key words")
        work = work.replace_sections(replace(work.purpose, texts=select_filled_words(words)))
    try:  # earlier files have neither
        test = validate(IntruderTest, document.get("intruder_test", {}), "intruder test")
        purpose = replace(work.purpose, intruder_test=test)
        if "context" in document:
            purpose = replace(purpose, context=Context.from_content(document["context"]))
    except PlanError as error:
        raise error.add_place("The project file") from None
    work = work.replace_sections(purpose)
    work = _apply_reading(work.replace_sections(replace(work.message, problem=None)), plan, again)
    configurations: list[SavedConfiguration] = []
    for part in document["kept"]:
        configurations.append(
            _parse_configuration(part, [earlier_plan.title for earlier_plan in configurations])
        )
    levels = _parse_levels(document.get("levels", {}))  # earlier files have none
    work = work.replace_sections(replace(work.table, levels=levels))
    opened = _set_choices(update_hierarchies(work), document["hierarchies"])
    opened = _apply_settings(opened, plan, document["compared"])
    reports = _parse_reports(document.get("reports", []))
    comparisons = _parse_comparisons(document.get("comparisons", []), work.kept.comparisons)
    return move_configurations(
        opened.replace_sections(replace(opened.kept, configurations=tuple(configurations))),
        opened.replace_sections(
            replace(opened.kept, reports=reports, comparisons=comparisons),
            replace(opened.message, notice=_describe_opening(work, opened, plan, change)),
        ),
    )


def _parse_document(content: bytes) -> dict[str, Any]:
    document = read_json(content, "The project file")
    if isinstance(document, dict) and "project" not in document and "algorithm" in document:
        raise PlanError("This is a plan, not a project: import it on the Compare page.")
    if not isinstance(document, dict) or document.get("project") != _FORMAT:
        raise PlanError(f'This is not a kanon project file: it lacks "project": {_FORMAT}.')
    parts = {"plan": dict, "hierarchies": dict, "compared": dict, "kept": list}
    for key, kind in parts.items():
        if not isinstance(document.get(key), kind):
            called = "an object" if kind is dict else "a list"
            raise PlanError(f"The project file: the key '{key}' has to be {called}.")
    return document


def _parse_reports(content: Any) -> list[ReportRecord]:
    where = "The project file: the key 'reports'"
    if not isinstance(content, list):
        raise PlanError(f"{where} has to be a list.")
    return [parse_record(report, where) for report in content]


def _parse_comparisons(
    content: Any, present: Sequence[KeptComparison]
) -> tuple[KeptComparison, ...]:
    """Those of the file and those that were kept in this session, whose names give way."""
    if not isinstance(content, list):
        raise PlanError("The project file: the key 'comparisons' has to be a list.")
    others = [entry for entry in present if export_comparison(entry) not in content]
    if len(content) + len(others) > MOST_KEPT:
        raise PlanError(
            f"At most {MOST_KEPT} comparisons can be kept, with those of the project file; "
            f"there would be {len(content) + len(others)}."
        )
    kept: list[KeptComparison] = []
    for place, part in enumerate(content, 1):
        where = f"project file: entry {place} of comparisons"
        entry = parse_comparison(part, where)
        titles = [other.title for other in kept]
        try:
            title = check_configuration_title(entry.title, titles, "kept comparison")
        except PlanError as error:
            raise error.add_place(f"The {where}") from None
        kept.append(replace(entry, title=title))
    for entry in others:
        title, number = entry.title, 2
        while title.casefold() in {other.title.casefold() for other in kept}:
            end = f" {number}"
            title, number = trim_title(entry.title, LONGEST_TITLE - len(end)) + end, number + 1
        kept.append(replace(entry, title=title))
    return tuple(kept)


def _parse_levels(levels: Any) -> dict[str, int]:
    if not isinstance(levels, dict) or not all(
        type(level) is int and level >= 0 for level in levels.values()
    ):
        raise PlanError(
            "The project file: the key 'levels' has to be an object of whole numbers from 0."
        )
    return levels


def _describe_opening(work: SessionState, opened: SessionState, plan: Plan, change: str) -> str:
    beyond = [name for name in work.table.roles if name not in plan.columns]
    lost = [name for name in plan.columns if name not in work.table.roles]
    lacking = [
        name for name in opened.table.quasi_identifiers if opened.table.choices[name].plan is None
    ]
    sentences = ["The project was opened on this table."]
    if beyond:
        sentences.append(f"The project says nothing about {list_names(beyond)}.")
    if lost:
        sentences.append(f"No release can include {list_names(lost)}, which the table lacks.")
    if lacking:
        sentences.append(f"On the Hierarchies page, fix {list_names(lacking)}.")
    if change:
        sentences.append(change)
    return " ".join(sentences)


def _parse_plan(content: Any, where: str) -> Plan:
    try:
        return Plan.from_content(content)
    except PlanError as error:
        raise error.add_place(where) from None


def _parse_configuration(part: Any, before: Sequence[str]) -> SavedConfiguration:
    where = f"The project file: entry {len(before) + 1} of kept"
    if not isinstance(part, dict) or not isinstance(part.get("title"), str):
        raise PlanError(f"{where} has no title.")
    plan = _parse_plan(update_plan_version(part.get("plan"))[0], where)
    try:
        check_names_no_file(plan)
        title = check_configuration_title(part["title"], before)
    except PlanError as error:
        raise error.add_place(where) from None
    return SavedConfiguration(title, plan, {}, bool(part.get("shown", True)))


# --- hierarchies ----------------------------------------------------------------------------
def _export_choice(choice: HierarchyChoice) -> dict[str, Any]:
    typed = {name: text for name, text in choice.typed.items() if name in FIELDS}
    content: dict[str, Any] = {"builder": choice.builder, "typed": typed}
    if "name" in choice.typed:
        content["file"] = str(choice.typed["name"])
    if "imported" in choice.typed:
        content["imported"] = to_nodes(choice.typed["imported"].hierarchy)
    elif "content" in choice.typed and choice.tree is not None:  # else it was no hierarchy
        name = str(choice.typed["name"])
        content["imported"] = to_nodes(read_hierarchy(choice.typed["content"], name).hierarchy)
    if "drawn" in choice.typed:
        content["drawn"] = to_nodes(choice.typed["drawn"])
    return content


def _set_choices(work: SessionState, hierarchies: Mapping[str, Any]) -> SessionState:
    choices, histories = dict(work.table.choices), dict(work.table.histories)
    for column, part in hierarchies.items():
        if column not in work.table.roles:
            continue  # of a column that has no role in the plan either
        builder, typed = _parse_choice(column, part)
        values = work.table.complete_records.count_column_values(column)
        choices[column] = build_choice(builder, typed, column, values)
        histories[column] = History(version=work.table.get_history(column).version + 1)
    return work.replace_sections(replace(work.table, choices=choices, histories=histories))


def _parse_choice(column: str, part: Any) -> tuple[str, dict[str, Any]]:
    where = f"The project file: the hierarchy of {quote(column)}"
    if not isinstance(part, dict) or part.get("builder") not in [*BUILDERS]:
        builders = ", ".join(BUILDERS)
        raise PlanError(f"{where} names no known builder; choose from {builders}.")
    texts = part.get("typed", {})
    if not isinstance(texts, dict) or not all(
        name in FIELDS and isinstance(text, str) for name, text in texts.items()
    ):
        raise PlanError(f"{where} has fields that its builder does not know.")
    typed: dict[str, Any] = dict(texts)
    # Beside texts a choice may hold a drawn tree, and one from a file.
    trees = {name: _parse_tree(part[name], where) for name in ("drawn", "imported") if name in part}
    if part["builder"] == "drawn" and "drawn" not in trees:
        raise PlanError(f"{where} was drawn, but its nodes are missing.")
    if "drawn" in trees:
        typed["drawn"] = trees["drawn"]
    if "imported" in trees:
        typed |= {"name": str(part.get("file", "")), "imported": HierarchyFile(trees["imported"])}
    return part["builder"], typed


def _parse_tree(nodes: Any, where: str) -> Hierarchy:
    if not isinstance(nodes, list):
        raise PlanError(f"{where} has nodes that are not a list.")
    try:
        return parse_nodes(nodes)
    except KanonError as error:
        raise error.add_place(where) from None


# --- settings -------------------------------------------------------------------------------
def _compare_reading(work: SessionState, plan: Plan) -> ReadSettings | None:
    read = plan.read
    current = work.table.file.settings
    wanted = ReadSettings(
        read.separator if current.separator is not None else None,
        read.encoding if current.encoding is not None else None,
        None if read.missing_markers is None else tuple(read.missing_markers),
        read.sheet if current.sheet is not None else None,
        read.header,
        read.footer,
    )
    differ = any(
        value is not None and value != getattr(current, name)
        for name, value in vars(wanted).items()
    )
    return wanted if differ else None


def _apply_reading(work: SessionState, plan: Plan, again: SessionState | None) -> SessionState:
    wanted = _compare_reading(work, plan)
    if wanted is not None and work.table.content is not None:
        to_read = work.replace_sections(replace(work.table, asked=wanted))
        work = reread_table(to_read) if again is None else take_over_reread(to_read, again)
    work = set_repairs(work, plan.repairs or ())
    needed = (name for name, part in plan.columns.items() if part.role is not Role.IDENTIFIER)
    missing = [name for name in needed if name not in work.table.roles]
    if missing:
        raise PlanError(
            f"The project needs {list_names(missing)}, which this table lacks. Load "
            "the table that it was saved with, or a later one with the same columns."
        )
    roles = {name: plan.columns[name].role if name in plan.columns else role
             for name, role in work.table.roles.items()}  # fmt: skip
    reasons = dict.fromkeys(plan.columns, "As in the project.")
    work = work.replace_sections(
        replace(
            work.table,
            roles=roles,
            reasons={**work.table.reasons, **reasons},
            undecided=work.table.undecided.difference(plan.columns),
            missing=plan.read.missing or work.table.missing,
            kinds=plan.read.column_kinds,
            written=plan.written,
        )
    )
    return update_hierarchies(work)


def _apply_settings(work: SessionState, plan: Plan, compared: Mapping[str, Any]) -> SessionState:
    kinds = {"compared": [*METRICS, *plan.metrics], "strategies": STRATEGIES, "scopes": SCOPES}
    compared_names: dict[str, Any] = {
        name: _parse_names(name, compared[name], among)
        for name, among in kinds.items()
        if name in compared
    }
    k_only = compared.get("k_only", False)
    if not isinstance(k_only, bool):
        raise PlanError("The project file: the key 'compared.k_only' has to be true or false.")
    return replace(
        work,
        version=work.version + 1,
        table=replace(work.table, imports=(), previews={}, person=plan.person),
        settings=replace(read_plan_settings(work, plan), composed=dict(plan.metrics)),
        compare=replace(work.compare, k_only=k_only, **compared_names),
        running={},
        findings=SessionResults(),
        made_with={},
        views=work.views_after_reread,
    )


def _parse_names(key: str, names: Any, among: Iterable[str]) -> tuple[str, ...]:
    where = f"The project file: the key 'compared.{key}'"
    if not isinstance(names, list):
        raise PlanError(f"{where} has to be a list of names.")
    unknown = [name for name in names if name not in list(among)]
    if unknown:
        raise PlanError(
            f"{where}: {'{cells}'} is unknown; choose from {', '.join(among)}.",
            unknown[:1],
        )  # fmt: skip
    return tuple(names)
