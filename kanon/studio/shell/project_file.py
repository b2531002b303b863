"""A project file: all that was chosen for a table, and none of its records."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from kanon import __version__
from kanon.base.checked_json import read_json
from kanon.errors import KanonError, PlanError, listing, quoted
from kanon.hierarchy import Hierarchy
from kanon.hierarchy.files import HierarchyFile, parse_nodes, read_hierarchy, to_nodes
from kanon.metrics import METRICS
from kanon.plan import Plan, of_this_version
from kanon.release.context import Context
from kanon.report.changes import ReportRecord, parse_record
from kanon.report.words import parse_words, words_given
from kanon.schema import Role
from kanon.sources.read_settings import ReadSettings
from kanon.strategies import SCOPES, STRATEGIES
from kanon.studio.session.choices import BUILDERS, FIELDS, HierarchyChoice, choose
from kanon.studio.session.findings import Findings
from kanon.studio.session.hierarchy_choices import with_choices
from kanon.studio.session.named_configurations import carried, check_whole, checked_title
from kanon.studio.session.parts import NamedConfiguration
from kanon.studio.session.run_plan import plan_content, settings_said
from kanon.studio.session.table_loading import read_again, reread
from kanon.studio.session.table_state import History
from kanon.studio.session.work import Work

_FORMAT = 1


def check_savable(work: Work) -> dict[str, Any]:
    """Check that what would be saved could be opened again; returns its settings."""
    content = plan_content(work, trees=False)
    Plan.from_content(content)
    work.purpose.words()
    return content


def saved_project(work: Work) -> str:
    content = check_savable(work)
    project = {
        "project": _FORMAT,
        "kanon": __version__,
        "plan": content,
        # What was a quasi-identifier once may be an identifier now: then its values stay here.
        "hierarchies": {
            column: _choice_content(choice)
            for column, choice in work.table.choices.items()
            if work.table.roles.get(column) is not Role.IDENTIFIER
        },
        "levels": {name: work.table.levels[name] for name in work.table.coarse_columns},
        "compared": {
            "compared": [
                name
                for name in work.compare.compared
                if name in {*METRICS, *work.settings.composed}
            ],
            "strategies": list(work.compare.strategies),
            "scopes": list(work.compare.scopes),
        },
        "kept": [
            {
                "title": each.title,
                "shown": each.shown,
                "plan": _without_identifiers(each.plan, work),
            }
            for each in work.kept.pinned
        ],
        "reports": [each.model_dump() for each in work.kept.reports],
        "words": words_given(work.purpose.words()),
        "context": work.purpose.context.content,
    }
    return json.dumps(project, ensure_ascii=False, indent=1) + "\n"


def _without_identifiers(plan: Plan, work: Work) -> dict[str, Any]:
    """A kept plan, without the hierarchies of what is an identifier now: they list its values."""
    content = plan.model_dump(mode="json", exclude_none=True)
    for column, part in content["columns"].items():
        if work.table.roles.get(column) is Role.IDENTIFIER:
            part.pop("hierarchy", None)
    return content


def reading_asked(work: Work, content: bytes) -> ReadSettings | None:
    """How a project file has an uploaded table read, if that is otherwise than it was read."""
    given = _given(content)
    plan = _plan(of_this_version(given["plan"])[0], "The project file")
    return None if work.table.content is None else _other_reading(work, plan)


def opened_project(work: Work, content: bytes, again: Work | None = None) -> Work:
    given = _given(content)
    plan_content, change = of_this_version(given["plan"])
    plan = _plan(plan_content, "The project file")
    earlier = [part["plan"] for part in given["kept"] if isinstance(part, dict) and "plan" in part]
    change = change or next(filter(None, (of_this_version(each)[1] for each in earlier)), "")
    if "words" in given:  # earlier files have none
        words = parse_words(given["words"], "The project file: the key words")
        work = work.with_parts(replace(work.purpose, texts=words_given(words)))
    if "context" in given:
        try:
            context = Context.from_content(given["context"])
        except PlanError as error:
            raise error.within("The project file") from None
        work = work.with_parts(replace(work.purpose, context=context))
    work = _read_as(work.with_parts(replace(work.message, problem=None)), plan, again)
    kept: list[NamedConfiguration] = []
    for part in given["kept"]:
        kept.append(_pinned(part, [each.title for each in kept]))
    levels = _levels(given.get("levels", {}))  # earlier files have none
    work = work.with_parts(replace(work.table, levels=levels))
    opened = _with_choices_of(with_choices(work), given["hierarchies"])
    opened = _with_settings(opened, plan, given["compared"])
    reports = _reports(given.get("reports", []))
    return carried(
        opened.with_parts(replace(opened.kept, pinned=tuple(kept))),
        opened.with_parts(
            replace(opened.kept, reports=reports),
            replace(opened.message, notice=_said(work, opened, plan, change)),
        ),
    )


def _given(content: bytes) -> dict[str, Any]:
    try:
        given = read_json(content.decode("utf-8-sig"), "The project file")
    except UnicodeDecodeError:
        raise PlanError("The project file is not text in UTF-8.") from None
    if isinstance(given, dict) and "project" not in given and "algorithm" in given:
        raise PlanError("This is a plan, not a project: import it on the page Compare, under Keep.")
    if not isinstance(given, dict) or given.get("project") != _FORMAT:
        raise PlanError(f'This is no project file of kanon: it lacks "project": {_FORMAT}.')
    parts = {"plan": dict, "hierarchies": dict, "compared": dict, "kept": list}
    for key, kind in parts.items():
        if not isinstance(given.get(key), kind):
            called = "an object" if kind is dict else "a list"
            raise PlanError(f"The project file: the key {key} has to be {called}.")
    return given


def _reports(given: Any) -> list[ReportRecord]:
    where = "The project file: the key reports"
    if not isinstance(given, list):
        raise PlanError(f"{where} has to be a list.")
    return [parse_record(each, where) for each in given]


def _levels(given: Any) -> dict[str, int]:
    if not isinstance(given, dict) or not all(
        type(level) is int and level >= 1 for level in given.values()
    ):
        raise PlanError(
            "The project file: the key levels has to be an object of whole numbers from 1."
        )
    return given


def _said(work: Work, opened: Work, plan: Plan, change: str) -> str:
    beyond = [name for name in work.table.roles if name not in plan.columns]
    gone = [name for name in plan.columns if name not in work.table.roles]
    lacking = [
        name for name in opened.table.quasi_identifiers if opened.table.choices[name].plan is None
    ]
    said = ["The project was opened on this table."]
    if beyond:
        said.append(f"It says nothing of {listing(beyond)}.")
    if gone:
        said.append(f"The table lacks {listing(gone)}, which no release has.")
    if lacking:
        said.append(f"To be mended on the page Hierarchies: {listing(lacking)}.")
    if change:
        said.append(change)
    return " ".join(said)


def _plan(content: Any, where: str) -> Plan:
    try:
        return Plan.from_content(content)
    except PlanError as error:
        raise error.within(where) from None


def _pinned(part: Any, before: Sequence[str]) -> NamedConfiguration:
    where = f"The project file: entry {len(before) + 1} of kept"
    if not isinstance(part, dict) or not isinstance(part.get("title"), str):
        raise PlanError(f"{where} has no title.")
    plan = _plan(of_this_version(part.get("plan"))[0], where)
    try:
        check_whole(plan)
        title = checked_title(part["title"], before)
    except PlanError as error:
        raise error.within(where) from None
    return NamedConfiguration(title, plan, {}, bool(part.get("shown", True)))


# --- hierarchies ----------------------------------------------------------------------------
def _choice_content(choice: HierarchyChoice) -> dict[str, Any]:
    typed = {name: text for name, text in choice.typed.items() if name in FIELDS}
    found: dict[str, Any] = {"builder": choice.builder, "typed": typed}
    if "name" in choice.typed:
        found["file"] = str(choice.typed["name"])
    if "imported" in choice.typed:
        found["imported"] = to_nodes(choice.typed["imported"].hierarchy)
    elif "content" in choice.typed and choice.tree is not None:  # else it was no hierarchy
        name = str(choice.typed["name"])
        found["imported"] = to_nodes(read_hierarchy(choice.typed["content"], name).hierarchy)
    if "drawn" in choice.typed:
        found["drawn"] = to_nodes(choice.typed["drawn"])
    return found


def _with_choices_of(work: Work, given: Mapping[str, Any]) -> Work:
    choices, histories = dict(work.table.choices), dict(work.table.histories)
    for column, part in given.items():
        if column not in work.table.roles:
            continue  # of a column that has no role in the plan either
        builder, typed = _typed(column, part)
        values = work.table.complete_records.counted(column)
        choices[column] = choose(builder, typed, column, values)
        histories[column] = History(version=work.table.history(column).version + 1)
    return work.with_parts(replace(work.table, choices=choices, histories=histories))


def _typed(column: str, part: Any) -> tuple[str, dict[str, Any]]:
    where = f"The project file: the hierarchy of {quoted(column)}"
    if not isinstance(part, dict) or part.get("builder") not in [*BUILDERS]:
        known = ", ".join(BUILDERS)
        raise PlanError(f"{where} has no builder; known are {known}.")
    texts = part.get("typed", {})
    if not isinstance(texts, dict) or not all(
        name in FIELDS and isinstance(text, str) for name, text in texts.items()
    ):
        raise PlanError(f"{where} has fields that its builder does not know.")
    typed: dict[str, Any] = dict(texts)
    # What a choice may hold beside texts: a tree that was drawn, and one that stood in a file.
    trees = {name: _tree(part[name], where) for name in ("drawn", "imported") if name in part}
    if part["builder"] == "drawn" and "drawn" not in trees:
        raise PlanError(f"{where} was drawn, and its nodes are missing.")
    if "drawn" in trees:
        typed["drawn"] = trees["drawn"]
    if "imported" in trees:
        typed |= {"name": str(part.get("file", "")), "imported": HierarchyFile(trees["imported"])}
    return part["builder"], typed


def _tree(nodes: Any, where: str) -> Hierarchy:
    if not isinstance(nodes, list):
        raise PlanError(f"{where} has nodes that are no list.")
    try:
        return parse_nodes(nodes)
    except KanonError as error:
        raise error.within(where) from None


# --- settings -------------------------------------------------------------------------------
def _other_reading(work: Work, plan: Plan) -> ReadSettings | None:
    read = plan.read
    now = work.table.file.settings
    wanted = ReadSettings(
        read.separator if now.separator is not None else None,
        read.encoding if now.encoding is not None else None,
        None if read.missing_markers is None else tuple(read.missing_markers),
        read.sheet if now.sheet is not None else None,
        read.header,
        read.footer,
    )
    differ = any(
        value is not None and value != getattr(now, name) for name, value in vars(wanted).items()
    )
    return wanted if differ else None


def _read_as(work: Work, plan: Plan, again: Work | None) -> Work:
    wanted = _other_reading(work, plan)
    if wanted is not None and work.table.content is not None:
        asked = work.with_parts(replace(work.table, asked=wanted))
        work = reread(asked) if again is None else read_again(asked, again)
    needed = (name for name, part in plan.columns.items() if part.role is not Role.IDENTIFIER)
    missing = [name for name in needed if name not in work.table.roles]
    if missing:
        raise PlanError(
            f"The project is about {listing(missing)}, which this table lacks: load the table "
            "it was saved with, or the next month's of the same columns."
        )
    roles = {name: plan.columns[name].role if name in plan.columns else role
             for name, role in work.table.roles.items()}  # fmt: skip
    chosen = dict.fromkeys(plan.columns, "As in the project.")
    work = work.with_parts(
        replace(
            work.table,
            roles=roles,
            reasons={**work.table.reasons, **chosen},
            undecided=work.table.undecided.difference(plan.columns),
            missing=plan.read.missing or work.table.missing,
            kinds=plan.read.column_kinds,
        )
    )
    return with_choices(work)


def _with_settings(work: Work, plan: Plan, compared: Mapping[str, Any]) -> Work:
    kinds = {"compared": [*METRICS, *plan.metrics], "strategies": STRATEGIES, "scopes": SCOPES}
    chosen: dict[str, Any] = {
        name: _known(name, compared[name], among)
        for name, among in kinds.items()
        if name in compared
    }
    return replace(
        work,
        version=work.version + 1,
        table=replace(work.table, imports=(), previews={}, person=plan.person),
        settings=replace(settings_said(work, plan), composed=dict(plan.metrics)),
        compare=replace(work.compare, **chosen),
        running={},
        findings=Findings(),
        made_with={},
        views=work.views_read_again,
    )


def _known(key: str, given: Any, among: Iterable[str]) -> tuple[str, ...]:
    where = f"The project file: the key compared.{key}"
    if not isinstance(given, list):
        raise PlanError(f"{where} has to be a list of names.")
    strange = [name for name in given if name not in list(among)]
    if strange:
        raise PlanError(
            f"{where}: {'{cells}'} is unknown; known are {', '.join(among)}.",
            strange[:1],
        )  # fmt: skip
    return tuple(given)
