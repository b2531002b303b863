"""The plan of a session, and a session set by a plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from kanon.algorithms.catalogue import unused_settings, uses
from kanon.base.fingerprint import compute_fingerprint
from kanon.base.formatting import choose_plural
from kanon.base.values import ValueCounts
from kanon.errors import PlanError, list_names, quote
from kanon.hierarchy import Hierarchy
from kanon.hierarchy.files import HierarchyFile
from kanon.hierarchy.plans import HierarchyPlan, build_hierarchy
from kanon.plan import VERSION, Plan
from kanon.plan_parts import RecordsPlan
from kanon.privacy import k_anonymity
from kanon.privacy.k_anonymity import KAnonymity
from kanon.privacy.known_columns import KAmongKnown
from kanon.privacy.model import Model, SensitiveModel
from kanon.privacy.plans import AnyModelPlan
from kanon.privacy.release_model import PopulationModel, ReleaseModel
from kanon.run.preparation import list_distance_columns
from kanon.schema import Role
from kanon.strategies import LOOKS_AT, needs_sensitive
from kanon.studio.session.choices import (
    BuilderPlan,
    HierarchyChoice,
    build_choice,
    build_imported_choice,
    suggest_first_choice,
    write_typed_parameters,
)
from kanon.studio.session.hierarchy_choices import set_hierarchy, update_hierarchies
from kanon.studio.session.parts import Message, RunSettings
from kanon.studio.session.table_loading import set_repairs
from kanon.studio.session.work import (
    SessionState,
    check_classes_loadable,
    count_undecided_records,
    list_undecided_columns,
)


def build_plan(work: SessionState, in_engine: bool = False) -> Plan:
    """The plan of all that was chosen; PlanError says what is still to be decided."""
    unfit = [
        column
        for column in work.table.quasi_identifiers
        if (choice := work.table.choices.get(column)) is None or choice.plan is None
    ]
    if unfit:
        have = "has" if len(unfit) == 1 else "have"
        raise PlanError(
            f"{list_names(unfit)} {have} no usable hierarchy yet; see the Hierarchies page."
        )
    coarsened = work.table.coarsened
    for column in work.table.columns_to_coarsen:
        if column not in coarsened and work.table.levels[column]:
            raise PlanError(
                f"{quote(column)} should be coarsened, but its hierarchy cannot be used. Fix it "
                "on the Data page, or release the column as it is."
            )
    incomplete = count_undecided_records(work)
    if incomplete:  # never dropped, and never kept, in silence
        raise PlanError(
            choose_plural(
                incomplete,
                "{count} record lacks a quasi-identifier; choose on the Data page what happens to "
                "it.",
                "{count} records lack a quasi-identifier; choose on the Data page what happens to "
                "them.",
            )
        )
    if work.table.file.unclear:
        raise PlanError(
            "Say on the Data page whether the first line of the table holds column names."
        )
    if work.table.undecided:  # never released in silence
        raise PlanError(
            choose_plural(
                len(work.table.undecided),
                "{columns} has no role yet; choose its role on the Data page.",
                "{columns} have no roles yet; choose their roles on the Data page.",
                columns=list_names(list_undecided_columns(work), most=12),
            )
        )
    if not work.table.quasi_identifiers:
        raise PlanError("No column is a quasi-identifier yet; choose roles on the Data page.")
    for model in work.unmeetable_models:  # never dropped in silence: somebody asked for it
        raise PlanError(
            f"{model.sentence} is required, but that column is no longer sensitive. Make it "
            "sensitive on the Data page, or remove the requirement on the Anonymise page."
        )
    if work.table.person is not None and work.table.usable_person is None:
        raise PlanError(
            f"{quote(work.table.person)} identifies the person, but it is no longer an "
            "identifier. Make it one on the Data page, or choose there that k counts records."
        )
    if not in_engine:
        check_classes_loadable(work)
    return Plan.from_content(build_plan_content(work))


def build_plan_content(work: SessionState, trees: bool = True) -> dict[str, Any]:
    """All that was chosen, in the form of a plan, even if it cannot be run."""
    columns: dict[str, object] = {}
    coarsened = work.table.coarsened
    for column, role in work.table.roles.items():
        if column in work.table.undecided:  # a plan says nothing of it
            continue
        entry: dict[str, object] = {"role": role.value}
        choice = work.table.choices.get(column)
        plan = choice.plan if trees and choice is not None else None
        if plan is not None and column in work.table.hierarchy_columns:
            # Nodes and builders are models already; a path would be text.
            entry["hierarchy"] = plan if isinstance(plan, str) else plan.model_dump(mode="json")
            if column in coarsened:
                entry["level"] = coarsened[column].level
        if role is Role.QUASI_IDENTIFIER and column in work.table.written:
            entry["written"] = work.table.written[column]
        least, most = get_level_bounds(work, column)
        if role is Role.QUASI_IDENTIFIER and (least or most is not None):
            entry["levels"] = {"least": least, "most": most}
        columns[column] = entry
    settings = work.table.file.settings
    markers = settings.missing_markers
    read = {
        **vars(settings),
        "missing_markers": None if markers is None else list(markers),
        "missing": work.table.missing,
        "kinds": {column: str(kind) for column, kind in work.table.kinds.items()} or None,
    }
    return {
        "version": VERSION,
        "columns": columns,
        "read": {key: value for key, value in read.items() if value is not None},
        "algorithm": {
            "name": work.settings.algorithm,
            "metric": work.settings.metric,
            "strategy": work.usable_strategy,
            "scope": work.settings.scope,
            # A single one need not be named.
            "sensitive": work.focus if len(work.table.sensitive_columns) > 1 else None,
            "cost": work.settings.cost,
            "tie_seed": work.settings.tie_seed,
            "seed": work.settings.seed,
            **get_algorithm_options(work, work.settings.algorithm),
            "attribute_weights": {
                column: weight
                for column, weight in work.settings.attribute_weights.items()
                if column in work.table.quasi_identifiers and weight != 1
            },
        },
        "metrics": {
            name: part.model_dump(mode="json") for name, part in work.settings.composed.items()
        },
        "privacy": [
            {"model": "k-anonymity", "k": work.settings.k, "known": work.settings.known},
            *(
                model.describe_for_plan()
                if isinstance(model, SensitiveModel)
                else {"model": model.card.name, **vars(model)}
                for model in work.settings.models
                if not isinstance(model, KAmongKnown)
            ),
        ],
        "suppression_limit": get_suppression_limit(work, work.settings.algorithm),
        "outliers": get_outlier_limit(work, work.settings.algorithm),
        "suppressed": (
            "keep"
            if work.settings.keep_suppressed and can_suppress(work.settings.algorithm)
            else "leave-out"
        ),
        "order": work.settings.row_order,
        "person": work.table.person,
        "repairs": [step.model_dump(mode="json", exclude_none=True) for step in work.table.repairs]
        or None,
    }


def get_level_bounds(work: SessionState, column: str) -> tuple[int, int | None]:
    """The levels that a release may show, in the column's present hierarchy; None: up to it all."""
    least, most = work.settings.level_bounds.get(column, (0, None))
    tree = work.table.trees.get(column)
    if tree is None:
        return least, most
    top = tree.height - 1
    return min(least, top), None if most is None or most >= top else most


def get_suppression_limit(work: SessionState, algorithm: str) -> float | None:
    """The share of records that an algorithm may suppress; None for its own default."""
    return work.settings.suppression if uses(algorithm, "suppression") else None


def get_outlier_limit(work: SessionState, algorithm: str) -> float | None:
    return work.settings.outliers if uses(algorithm, "outliers") else None


def can_suppress(algorithm: str) -> bool:
    return uses(algorithm, "suppression") or uses(algorithm, "outliers")


def get_picked_levels(work: SessionState) -> dict[str, int] | None:
    node, trees = work.settings.node, work.table.trees
    if node is None or {*node} != {*work.table.quasi_identifiers} or not {*node} <= {*trees}:
        return None
    return dict(node) if all(node[name] < trees[name].height for name in node) else None


def get_algorithm_options(work: SessionState, algorithm: str) -> dict[str, Any]:
    options: dict[str, Any] = dict(work.settings.options.get(algorithm, {}))
    if uses(algorithm, "node"):
        options["node"] = get_picked_levels(work)
    return options


def drop_unmeetable_models(work: SessionState) -> SessionState:
    """Leave out models that no run can meet; pages that do so say it."""
    models = tuple(model for model in work.settings.models if model not in work.unmeetable_models)
    return work.replace_sections(replace(work.settings, models=models))


def list_models(plan: Plan) -> list[AnyModelPlan]:
    """What a plan requires beside k-anonymity."""
    return [part for part in plan.privacy if part.counted_as != k_anonymity.CARD.name]


def hash_run_inputs(work: SessionState, plan: Plan) -> str:
    """The fingerprint of all that a result depends on except k."""
    content = plan.model_dump(mode="json")
    led = content["algorithm"]
    content["privacy"] = [
        part | ({"k": None} if part["model"] == "k-anonymity" else {})
        for part in content["privacy"]
        if part["model"] != "k-anonymity" or part["known"] is not None
    ]
    if not LOOKS_AT[plan.algorithm.strategy]:  # what is not looked at cannot change the result
        led["scope"] = None
    if not needs_sensitive(plan.algorithm.strategy):
        led["sensitive"] = None
    led.update(dict.fromkeys(led.keys() & unused_settings(plan.algorithm.name) - {"metric"}))
    content["metrics"] = content["metrics"].get(plan.algorithm.metric)
    content["order"] = None  # of the rows of a file
    trees = get_tree_inputs(work.table.trees, plan.algorithm.metric == "custom")
    for column in trees:
        content["columns"][column]["hierarchy"] = None
    return compute_fingerprint(work.table.digest, work.version, content, trees)


def hash_release_inputs(work: SessionState, plan: Plan) -> str:
    return compute_fingerprint(hash_run_inputs(work, plan), plan.k)


def get_tree_inputs(trees: Mapping[str, Hierarchy], weighted: bool = False) -> dict[str, Any]:
    """What results depend on of hierarchies, however these were made."""
    return {
        column: (tree.labels, tree.parent, tree.weight if weighted else None)
        for column, tree in trees.items()
    }


def apply_plan(work: SessionState, plan: Plan) -> SessionState:
    """Apply a plan; what it does not mention stays."""
    work = set_repairs(work, plan.repairs or ())
    roles = plan.roles.roles
    settings = read_plan_settings(work, plan)
    table = replace(
        work.table,
        roles={column: roles.get(column, Role.INSENSITIVE) for column in work.table.roles},
        reasons={
            column: "From the plan." if column in roles else "The plan does not name it."
            for column in work.table.roles
        },
        levels={
            **dict.fromkeys(list_distance_columns(plan), 0),
            **{column: level for column, (_, level) in plan.coarsened.items()},
        },
        written=plan.written,
        undecided=frozenset(work.table.roles).difference(roles),
        missing=plan.read.missing or work.table.missing,
        kinds=plan.read.column_kinds,
        person=plan.person,
    )
    composed = {**work.settings.composed, **plan.metrics}
    work = update_hierarchies(
        work.replace_sections(table, replace(settings, composed=composed), Message())
    )
    for column in work.table.hierarchy_columns:
        values = work.table.complete_records.count_column_values(column)
        choice = _choose_hierarchy(column, plan.columns[column].hierarchy, values)
        work = set_hierarchy(work, column, choice)
    return work


def read_plan_settings(work: SessionState, plan: Plan) -> RunSettings:
    algorithm = plan.algorithm
    limit, outliers = (
        min(1.0, wanted.records / work.table.records.n_records)
        if isinstance(wanted, RecordsPlan)
        else wanted
        for wanted in (plan.suppression_limit, plan.outliers)
    )
    return replace(
        work.settings,
        algorithm=algorithm.name,
        metric=algorithm.metric,
        strategy=algorithm.strategy,
        scope=algorithm.scope,
        cost=algorithm.cost,
        tie_seed=algorithm.tie_seed,
        seed=algorithm.seed,
        sensitive=plan.led_by,
        options={**work.settings.options, algorithm.name: algorithm.options},
        node=algorithm.node,
        attribute_weights=dict(algorithm.attribute_weights),
        level_bounds={name: (part.least, part.most) for name, part in plan.level_bounds.items()},
        k=min(max(2, plan.k), max(2, work.table.records.n_records)),
        models=_list_usable_models(plan),
        suppression=limit,
        outliers=outliers,
        keep_suppressed=plan.suppressed == "keep",
        row_order=plan.order,
    )


def list_further_models(plan: Plan) -> list[Model]:
    """What a plan requires beside k, and beside persons."""
    return [model for model in plan.models if isinstance(model, SensitiveModel | ReleaseModel)]


def _list_usable_models(plan: Plan) -> tuple[Model, ...]:
    models = tuple(list_further_models(plan))
    for model in models:
        if isinstance(model, PopulationModel):
            raise PlanError(
                f"The plan requires {model.title}, whose population is a separate file; that can "
                "be run by the command line, and not here."
            )
    n_known = sum(isinstance(model, KAmongKnown) for model in models)
    if n_known > 1 or (n_known and any(isinstance(model, KAnonymity) for model in plan.models)):
        raise PlanError(
            "The plan requires k for all quasi-identifiers and for some of them; that can be run "
            "by the command line, and not here."
        )
    return models


def _choose_hierarchy(
    column: str, part: HierarchyPlan | None, values: ValueCounts
) -> HierarchyChoice:
    if part is None:
        return suggest_first_choice(column, values)
    if isinstance(part, BuilderPlan):
        return build_choice(part.build, write_typed_parameters(part), column, values)
    tree = build_hierarchy(column, part, values.texts, Path(), values.chosen)
    return build_imported_choice("the plan", HierarchyFile(tree), column, values)
