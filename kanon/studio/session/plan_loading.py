"""What a session works on, set as a plan says: roles, hierarchies and settings."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from kanon.base.values import ValueCounts
from kanon.hierarchy.codes import ranges_text
from kanon.hierarchy.files import HierarchyFile
from kanon.hierarchy.plans import (
    AgesPlan,
    CodesPlan,
    DatesPlan,
    HierarchyPlan,
    IntervalsPlan,
    MaskPlan,
    SuppressionPlan,
    build_hierarchy,
)
from kanon.plan import Plan, RecordsPlan
from kanon.privacy.model import SensitiveModel
from kanon.schema import Role
from kanon.studio.session.choices import HierarchyChoice, choose, imported, start_with
from kanon.studio.session.hierarchy_choices import with_choice, with_choices
from kanon.studio.session.parts import Message, RunSettings
from kanon.studio.session.work import Work


def with_plan(work: Work, plan: Plan) -> Work:
    """The work with all that a plan says; what the plan does not say stays."""
    named = plan.roles.roles
    settings = settings_said(work, plan)
    table = replace(
        work.table,
        roles={column: named.get(column, Role.INSENSITIVE) for column in work.table.roles},
        reasons={
            column: "As the plan says." if column in named else "The plan does not name it."
            for column in work.table.roles
        },
        levels={column: level for column, (_, level) in plan.coarsened.items()},
        undecided=frozenset(work.table.roles).difference(named),
        missing=plan.read.missing or work.table.missing,
        kinds=plan.read.column_kinds,
        person=plan.person,
    )
    composed = {**work.settings.composed, **plan.metrics}
    work = with_choices(work.with_parts(table, replace(settings, composed=composed), Message()))
    for column in work.table.hierarchy_columns:
        values = work.table.complete_records.counted(column)
        choice = _choice(column, plan.columns[column].hierarchy, values)
        work = with_choice(work, column, choice)
    return work


def settings_said(work: Work, plan: Plan) -> RunSettings:
    chosen, limit = plan.algorithm, plan.suppression_limit
    if isinstance(limit, RecordsPlan):
        limit = min(1.0, limit.records / work.table.records.n_records)
    return replace(
        work.settings,
        algorithm=chosen.name,
        metric=chosen.metric,
        strategy=chosen.strategy,
        scope=chosen.scope,
        cost=chosen.cost,
        tie_seed=chosen.tie_seed,
        seed=chosen.seed,
        sensitive=plan.led_by,
        options={**work.settings.options, chosen.name: chosen.options},
        node=chosen.node,
        attribute_weights=dict(chosen.attribute_weights),
        k=min(max(2, plan.k), max(2, work.table.records.n_records)),
        models=tuple(one for one in plan.models if isinstance(one, SensitiveModel)),
        suppression=limit,
        keep_suppressed=plan.suppressed == "keep",
        row_order=plan.order,
    )


def _choice(column: str, part: HierarchyPlan | None, values: ValueCounts) -> HierarchyChoice:
    if part is None:
        return start_with(column, values)
    for kind, (builder, typed) in _TYPED.items():
        if isinstance(part, kind):
            return choose(builder, typed(part), column, values)
    tree = build_hierarchy(column, part, values.texts, Path(), values.chosen)
    return imported("the plan", HierarchyFile(tree), column, values)


def _intervals(part: Any) -> dict[str, str]:
    numbers = {name: getattr(part, name, None) for name in ("origin", "lowest", "highest")}
    typed = {name: "" if number is None else repr(number) for name, number in numbers.items()}
    return {"widths": ", ".join(map(repr, part.widths)), **typed}


def _codes(part: Any) -> dict[str, str]:
    prefixes = ", ".join(map(str, part.prefixes))
    typed = {"separators": part.separators, "prefixes": prefixes}
    return {**typed, "ranges": ranges_text(part.ranges)}


_TYPED: Mapping[type, tuple[str, Callable[[Any], dict[str, str]]]] = {
    SuppressionPlan: ("suppression", lambda part: {}),
    IntervalsPlan: ("intervals", _intervals),
    MaskPlan: ("mask", lambda part: {"keep": ", ".join(map(str, part.keep)), "side": part.side}),
    AgesPlan: ("ages", lambda part: {**_intervals(part), "day": part.day}),
    CodesPlan: ("codes", _codes),
    DatesPlan: ("dates", lambda part: {"levels": ", ".join(part.levels)}),
}
"""The builders that a plan names, each with what would be typed for it."""
