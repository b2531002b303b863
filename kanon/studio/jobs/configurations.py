"""The configurations that a session compares, and what their runs share."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kanon.algorithms.catalogue import algorithms, uses
from kanon.base.fingerprint import compute_fingerprint
from kanon.base.formatting import join_words, write_count
from kanon.errors import PlanError, list_names, quote
from kanon.experiments.comparison import TIE_SEEDS
from kanon.experiments.sweep import Configuration
from kanon.experiments.titles import (
    combine_settings,
    create_titles,
    get_configuration,
    name_configuration,
)
from kanon.hierarchy import Hierarchy
from kanon.metrics import METRICS, Metric
from kanon.plan import Plan
from kanon.plan_parts import build_composed_metrics
from kanon.privacy.model import Model
from kanon.privacy.plans import AnyModelPlan
from kanon.run.preparation import list_distance_columns
from kanon.schema import Role
from kanon.studio.session.parts import SavedConfiguration
from kanon.studio.session.run_plan import (
    build_plan,
    drop_unmeetable_models,
    get_algorithm_options,
    get_outlier_limit,
    get_suppression_limit,
    get_tree_inputs,
    list_further_models,
)
from kanon.studio.session.work import (
    SessionState,
    count_incomplete_records,
    list_compared_metrics,
    list_usable_strategies,
)

MOST_LINES = 48  # the most lines of one comparison: more would be a picture that nobody can read


@dataclass(frozen=True, eq=False)
class RunInputs:
    """What runs share, whatever leads them: the plan, its hierarchies and a fingerprint."""

    plan: Plan
    trees: Mapping[str, Hierarchy]
    digest: str


@dataclass(frozen=True, eq=False)
class PlannedLine:
    configuration: Configuration  # What leads it, with its own tie seed
    plan: Plan  # The whole plan
    name: str  # See :class:`kanon.experiments.comparison.Line`
    title: str
    kept: bool
    # The tie seeds of its runs: its own first, then those of a band.
    seeds: tuple[int | None, ...]
    ground: RunInputs  # The plan that all such lines share, and the hierarchies
    measuring_inputs: (
        RunInputs | None
    )  # What its releases are measured by; None for its own hierarchies

    @property
    def guide(self) -> Metric:
        return self.plan.metric

    @property
    def measured_by(self) -> Mapping[str, Hierarchy]:
        return (self.measuring_inputs or self.ground).trees


def list_offered_strategies(work: SessionState) -> list[str]:
    led = next((name for name in list_compared_algorithms(work) if uses(name, "strategy")), None)
    if led is None:
        return ["s1"]
    return list_usable_strategies(work.replace_sections(replace(work.settings, algorithm=led)))


def list_offered_algorithms() -> list[str]:
    """All algorithms but levels chosen by hand, which are for one k."""
    return [name for name in algorithms() if name != "levels"]


def list_compared_algorithms(work: SessionState) -> list[str]:
    """The algorithms to compare; if none is chosen, that of the Anonymise page."""
    wanted = work.compare.algorithms or (work.settings.algorithm,)
    return [name for name in list_offered_algorithms() if name in wanted] or ["gaa"]


def list_compared_strategies(work: SessionState) -> list[str]:
    offered = list_offered_strategies(work)
    strategies = [name for name in offered if name in work.compare.strategies]
    return strategies if strategies or not work.compare.strategies else ["s1"]


def list_compared_models(work: SessionState) -> tuple[Model, ...]:
    """What every line meets beside k: what Anonymise requires and a run can meet."""
    return () if work.compare.k_only else drop_unmeetable_models(work).settings.models


def describe_requirement(work: SessionState) -> str:
    """What every line meets or leaves out, in a sentence; empty where only k is required."""
    met = list_compared_models(work)
    missing = [model for model in work.settings.models if model not in met]
    parts = [f"Every line meets {_join_models(met)}" if met else "Lines meet k only"]
    parts += [f"Anonymise also requires {_join_models(missing)}"] if missing else []
    return f"{'; '.join(parts)}." if work.settings.models else ""


def describe_own_requirement(work: SessionState, saved: SavedConfiguration) -> str:
    """What the plan of a saved configuration requires, if its line meets something else."""
    own = list_further_models(saved.plan)
    if set(own) == set(list_compared_models(work)):
        return ""
    return f"its plan requires {_join_models(own) or 'k only'}; here it meets what all lines meet"


def explain_other_models(work: SessionState, then: SessionState) -> str:
    """That lines compared with the settings of then met other models than Anonymise requires."""
    met, required = list_compared_models(then), work.settings.models
    if set(met) == set(required):
        return ""
    return (
        f"This line met {_join_models(met) or 'k only'}; Anonymise requires "
        f"{_join_models(required) or 'k only'}, so its loss differs."
    )


def _join_models(models: Iterable[Model]) -> str:
    sentences = (model.sentence for model in models)
    return join_words(sentence[:1].lower() + sentence[1:] for sentence in sentences)


def list_planned_lines(work: SessionState, also: Iterable[str] = ()) -> tuple[PlannedLine, ...]:
    """The product of metrics, strategies, scopes and algorithms, and the saved configurations."""
    whole = build_plan(drop_unmeetable_models(work))
    required = [] if work.compare.k_only else whole.privacy
    ours = _get_run_inputs(work, whole, work.table.trees, required)
    names = dict.fromkeys([*list_compared_metrics(work), *also])
    configurations = combine_settings(
        list(names),
        list_compared_strategies(work),
        work.compare.scopes,
        list_compared_algorithms(work),
        work.settings.tie_seed,
    )
    metrics = {**METRICS, **build_composed_metrics(work.settings.composed)}
    titles = create_titles(configurations, {name: metrics[name].card.title for name in names})
    lines = [
        PlannedLine(
            config,
            apply_configuration_to_plan(whole, config, work),
            name_configuration(config),
            title,
            False,
            _list_seeds(work, config),
            ours,
            None,
        )
        for config, title in zip(configurations, titles, strict=True)
    ]
    names_taken = {text for line in lines for text in (line.name, line.title)}
    for saved in work.kept.configurations:
        if saved.shown and not explain_incomparable(work, saved):
            # The user's own metric may have this name.
            name, title = (
                text + "′" * (text in names_taken)
                for text in (f"kept: {saved.title}", f"★ {saved.title}")
            )
            as_now = add_sensitive_columns(saved.plan, whole, work.table.sensitive_columns)
            ground = _get_run_inputs(work, as_now, saved.trees, required)
            own = get_configuration(saved.plan)
            seeds = _list_seeds(work, own)
            lines.append(PlannedLine(own, ground.plan, name, title, True, seeds, ground, None))
    if len(lines) > MOST_LINES:
        raise PlanError(
            f"{write_count(len(lines))} lines are too many; a comparison can have at most "
            f"{MOST_LINES}. Choose fewer metrics or strategies."
        )
    measure = _get_yardstick(work, ours)
    return tuple(
        replace(line, measuring_inputs=_pick_other_trees(measure, line.ground)) for line in lines
    )


def explain_incomparable(work: SessionState, saved: SavedConfiguration) -> str:
    """Why a saved configuration cannot be compared with the current choice; empty if it can."""
    if not saved.fits:
        return "its plan does not fit this table"
    if saved.plan.algorithm.name not in list_offered_algorithms():
        return "its levels were chosen for one k, but a comparison covers many"
    own, current = saved.plan.roles.quasi_identifiers, work.table.quasi_identifiers
    if set(own) != set(current):
        more, less = (
            [c for c in columns if c not in other]
            for columns, other in ((own, current), (current, own))
        )
        apart = [f"with {list_names(more)}"] if more else []
        apart += [f"without {list_names(less)}"] if less else []
        return f"it has other quasi-identifiers: {' and '.join(apart)}"
    if saved.plan.person != work.table.person:
        if saved.plan.person is None:
            return "its k counts records"
        return f"its k counts persons, identified by {quote(saved.plan.person)}"
    if saved.plan.read.missing != work.table.missing and count_incomplete_records(work):
        return "it treats missing values differently, so it has other records"
    if (saved.plan.repairs or []) != [*work.table.repairs]:
        return "it repairs the table differently"
    return ""


def _list_seeds(work: SessionState, config: Configuration) -> tuple[int | None, ...]:
    return tuple(dict.fromkeys([config.tie_seed, *(TIE_SEEDS if work.compare.bands else ())]))


def list_measuring_hierarchies(work: SessionState) -> list[str | None]:
    """The hierarchies to measure by, if the lines have different ones."""
    able = [saved for saved in work.kept.configurations if not explain_incomparable(work, saved)]
    trees = work.table.trees
    if all(dict(saved.trees) == trees for saved in able if saved.shown):
        return []
    other = [saved.title for saved in able if dict(saved.trees) != trees]
    return ["", *other, None]


def _get_yardstick(work: SessionState, ours: RunInputs) -> RunInputs | None:
    """The hierarchies that measure all lines; None if each line is measured by its own."""
    title = work.kept.measuring_hierarchies
    if title not in list_measuring_hierarchies(work):  # never an unseen one
        return ours
    if title is None:
        return None
    for saved in work.kept.configurations:
        if saved.title == title:
            return _get_run_inputs(work, saved.plan, saved.trees, [])
    return ours


def _pick_other_trees(measure: RunInputs | None, own: RunInputs) -> RunInputs | None:
    return None if measure is None or dict(measure.trees) == dict(own.trees) else measure


def apply_configuration_to_plan(
    plan: Plan, config: Configuration, work: SessionState | None = None, seed: int | None = None
) -> Plan:
    led = plan.algorithm
    wanted: dict[str, Any] = {
        "metric": config.metric,
        "strategy": config.strategy,
        "scope": config.scope,
        "tie_seed": config.tie_seed,
        "seed": led.seed if seed is None else seed,
    }
    limit: dict[str, Any] = {}
    if work is not None and config.algorithm != led.name:
        common = {key: getattr(led, key) for key in type(led).model_fields if key != "node"}
        own_options = get_algorithm_options(work, config.algorithm)
        led = type(led).model_validate({**common, "name": config.algorithm, **own_options})
        limit = {
            "suppression_limit": get_suppression_limit(work, config.algorithm),
            "outliers": get_outlier_limit(work, config.algorithm),
        }
    return plan.model_copy(update={"algorithm": led.model_copy(update=wanted), **limit})


def build_run_plan(line: PlannedLine, tie_seed: int | None) -> Plan:
    """The plan of one run of a line: by its own tie seed, or by another one for a band."""
    own = {key: getattr(line.plan, key) for key in ("algorithm", "suppression_limit", "outliers")}
    led = replace(line.configuration, tie_seed=tie_seed)
    seed = None if tie_seed == line.configuration.tie_seed else tie_seed
    return apply_configuration_to_plan(line.ground.plan.model_copy(update=own), led, seed=seed)


def add_sensitive_columns(plan: Plan, current: Plan, columns: Iterable[str]) -> Plan:
    """Take sensitive columns from the current plan, so that all lines are measured alike."""
    changed = dict(plan.columns)
    for column in columns:
        if column not in changed or changed[column].role is not Role.QUASI_IDENTIFIER:
            changed[column] = current.columns[column]
    return plan.model_copy(update={"columns": changed})


def _get_run_inputs(
    work: SessionState,
    plan: Plan,
    trees: Mapping[str, Hierarchy],
    required: Sequence[AnyModelPlan],
) -> RunInputs:
    """What runs share, with the same models required of all lines; curves run over k."""
    own = plan.model_copy(update={"privacy": [*required]}).with_k(2)
    columns, led = plan.roles.quasi_identifiers, plan.algorithm
    digest = compute_fingerprint(
        work.table.digest,
        work.version,
        get_tree_inputs({column: trees[column] for column in columns}),
        columns,
        plan.roles.columns(Role.SENSITIVE),
        {name: plan.columns[name].hierarchy for name in list_distance_columns(own)},
        plan.coarsened,
        plan.read.missing,
        plan.person,
        led.cost,
        [led.attribute_weights.get(column, 1.0) for column in columns],
        plan.level_bounds,
    )
    return RunInputs(own, trees, digest)


def get_metric_identity(metric: Metric, trees: Mapping[str, Hierarchy]) -> str:
    """A metric's name with its phases, or with a fingerprint of the drawn weights."""
    if metric.intermediate:
        return "|".join((metric.name, *get_metric_phases(metric)))
    return (
        f"{metric.name}|{compute_fingerprint({name: tree.weight for name, tree in trees.items()})}"
    )


def get_metric_phases(metric: Metric) -> tuple[str, str]:
    return metric.intermediate, metric.multiplier
