"""A plan, its verdict and its risks, in plain words for the person who has to sign."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from kanon.algorithms.catalogue import algorithm_named, uses
from kanon.algorithms.search import FULL_DOMAIN, get_own_steps
from kanon.base.formatting import count_noun, join_words, write_count, write_percent
from kanon.base.sentences import (
    describe_alteration,
    describe_best_guess,
    describe_highest_risk,
    describe_smallest_class,
    describe_suppression,
)
from kanon.cards import Card
from kanon.errors import quote
from kanon.measures.privacy import class_measures, sensitive_measures
from kanon.plan import Plan
from kanon.plan_parts import RecordsPlan, get_own_parameters
from kanon.privacy.model import Model, rounded
from kanon.release.check import NOT_CONSIDERED, TABLE_ORDER
from kanon.release.released_rows import Verdict
from kanon.run import PreparedRun, Run
from kanon.schema import Role
from kanon.sources.repairs import describe_repair_kinds
from kanon.sources.tables import Table
from kanon.stored_classes import has_released_in_engine
from kanon.strategies import LOOKS_AT, SCOPES, STRATEGIES, needs_sensitive


# --- guarantees -----------------------------------------------------------------------------
@dataclass(frozen=True)
class Guarantee:
    """A model of the plan, and what the independent check found in the released rows."""

    required: str  # the model with its parameters
    reached: str  # the level of the worst class, never rounded to the better side
    # of that level
    unit: str
    arrow: str
    holds: bool  # whether the release meets the model
    # what the model says, and where it comes from
    summary: str
    source: str


def list_guarantees(run: Run, verdicts: Sequence[Verdict] = ()) -> tuple[Guarantee, ...]:
    """What a release reaches for each model, by the check of its rows or of a file."""
    pairs = zip(run.prepared.plan.models, verdicts or run.verdicts, strict=True)
    return tuple(_build_guarantee(model, verdict.level, verdict.holds) for model, verdict in pairs)


def list_class_guarantees(run: Run) -> tuple[Guarantee, ...]:
    """What a release reaches for each model by its classes, before its rows are checked."""
    models = run.prepared.plan.models
    if has_released_in_engine(run.recoding):  # so that nothing but k was required
        return tuple(_build_guarantee(model, run.recoding.min_k, True) for model in models)
    released = run.recoding.released
    return tuple(
        _build_guarantee(model, model.level(released), model.holds(released)) for model in models
    )


def _build_guarantee(model: Model, level: float | None, holds: bool) -> Guarantee:
    card = model.card
    if level is None:
        reached = "no class is left"
    elif level == float("inf"):
        reached = "∞"
    else:
        reached = rounded(level, up=card.direction == "lower")
    details = (card.unit, card.arrow, holds, card.summary, card.source)
    return Guarantee(model.sentence, reached, *details)


def describe_check_verdict(run: Run, reached: tuple[Guarantee, ...]) -> str:
    """What was checked, reached and not considered; it never calls a release safe."""
    if not run.recoding.n_classes:
        return "Nothing is released: every record is suppressed, so there is no class to check."
    # Persons cannot be counted in rows that no longer name them.
    persons = " alone" if run.prepared.plan.person is None else ", with persons from the table,"
    order = TABLE_ORDER if run.prepared.plan.order == "table" else ""
    return (
        f"A recount from the released rows{persons} shows that every class meets "
        f"{describe_met_models(run, reached)}. Not considered: {NOT_CONSIDERED}{order}."
    )


def describe_met_models(run: Run, reached: tuple[Guarantee, ...]) -> str:
    """What was required and reached, and which sensitive columns no model protects."""
    met = "; ".join(
        f"{_describe_model(model)} (reached: {guarantee.reached})"
        for model, guarantee in zip(run.prepared.plan.models, reached, strict=True)
    )
    plan = run.prepared.plan
    covered = {getattr(model, "column", None) for model in plan.models}
    others = [name for name in plan.roles.columns(Role.SENSITIVE) if name not in covered]
    if not others:
        return met
    return (
        f"{met}; no model protects {_list_columns(others)}, so everyone in a class might "
        "share one value there"
    )


def describe_plainly(run: Run) -> tuple[str, ...]:
    """What the release protects and what it costs, for readers who are not statisticians."""
    recoding, metric = run.recoding, run.prepared.plan.metric
    if recoding.min_k is None:
        return (describe_smallest_class(None),)
    least = int(recoding.released.hiding.min())
    sentences = [describe_smallest_class(least), describe_highest_risk(1 / least, least)]
    for sensitive in recoding.released.sensitive:
        share = sensitive_measures(sensitive)["alpha"]
        assert share is not None  # some value is the most frequent one
        sentences.append(f"{quote(sensitive.name)}: {describe_best_guess(share)}")
    sentences.append(describe_alteration(run.alteration, metric.card.title))
    if coarsening := describe_coarsening_effect(run.prepared):
        sentences.append(coarsening)
    if recoding.suppressed_records:
        sentences.append(
            describe_suppression(recoding.suppressed_records, run.prepared.classes.n_records)
        )
    return tuple(sentences)


def describe_coarsening_effect(prepared: PreparedRun) -> str:
    """What coarsening does to figures about the original table; "" if no column is coarsened."""
    columns = [coarsening.column for coarsening in prepared.coarsened]
    if not columns:
        return ""
    were = "was" if len(columns) == 1 else "were"
    return (
        f"{_list_columns(columns)} {were} coarsened before anything was counted: figures for the "
        "original table also refer to the groups, and no measure of loss includes the coarsening."
    )


def _describe_model(model: Model) -> str:
    text = f"{model.title} with {model.parameters}"
    return f"{text} for {model.subject}" if model.subject else text


# --- the plan -------------------------------------------------------------------------------
FAMILY_SENTENCES: Mapping[str, str] = {
    "merging": "Classes are first merged for k alone. Then, as long as a class does not meet "
    "another model, one of the smallest such classes is merged by the same rule, separately for "
    "each k.",
    "levels": "A node qualifies only if the classes that do not meet a model hold no more records "
    "than may be suppressed.",
    "regions": "A region is made only if it meets all models.",
    "clusters": "Clusters are first made for k alone. Then, as long as a cluster does not meet "
    "another model, one of the smallest such clusters is merged with its cheapest partner.",
}
"""How the algorithms of a family meet models besides k."""


def describe_plan_algorithm(plan: Plan) -> dict[str, str]:
    settings, module = plan.algorithm, algorithm_named(plan.algorithm.name)
    own = get_own_steps(module.CARD.how)
    how = [FULL_DOMAIN] if own != module.CARD.how else []
    options = [
        f"{option.title}: {option.choices[settings.options.get(option.name, option.default)]}"
        for option in get_own_parameters(settings.name)
    ]
    required = [f"{_describe_model(model)}: {model.card.summary}" for model in plan.models]
    if len(plan.models) > 1:
        required.append(FAMILY_SENTENCES[module.CARD.family])
    text_of_term = {
        "Algorithm": " ".join(
            [
                f"{module.CARD.title}.",
                *filter(None, [*how, own, module.CARD.guarantees]),
                f"Source: {module.CARD.source}.",
            ]
        ),
        "Options of the algorithm": "; ".join(options),
        "Strategy": _describe_strategy(plan),
        "Required": " ".join(required),
    }
    return {term: text for term, text in text_of_term.items() if text}


def describe_plan(run: Run) -> tuple[tuple[str, str], ...]:
    plan = run.prepared.plan
    weights = plan.algorithm.attribute_weights
    text_of_term = {
        **describe_plan_algorithm(plan),
        "Metric": _describe_metric(plan),
        "Weights of columns": ", ".join(f"{name}: {weight:g}" for name, weight in weights.items()),
        "Suppression": _describe_suppression(run),
        "Missing values": _describe_missing(run),
        "Repairs": describe_repair_kinds(plan.repairs),
        "Coarsened": "; ".join(
            f"{part.column} to level {part.level} of {part.tree.height - 1} of its hierarchy, "
            "before anything was counted"
            for part in run.prepared.coarsened
        ),
        "Level bounds": "; ".join(
            f"{column} from level {bounds.least} to {bounds.highest}"
            for column, bounds in plan.level_bounds.items()
        ),
        "Levels": _describe_levels(run),
        "Parts": run.about_parts,
        "Merging": run.about_models,
        "Population": run.prepared.about_population,
        "Proof": run.about_gap,
    }
    return tuple((term, text) for term, text in text_of_term.items() if text)


def _describe_metric(plan: Plan) -> str:
    card = plan.metric.card
    text = f"{card.title}. {card.summary} Source: {card.source}."
    if uses(plan.algorithm.name, "metric"):
        return text
    return f"{text} The algorithm does not use this metric; here it only measures the loss."


STRATEGY_LETTERS: Mapping[str, str] = {
    "": "",
    "k": "k is the number of records in the smallest class.",
    "l": "l is the entropy l-diversity, exp(−Σ p ln p) over the shares p of the values.",
    "t": "t is half the sum of the absolute differences between the shares in the class and in the "
    "table (total variation).",
}
"""What a strategy's letter stands for."""


def _describe_strategy(plan: Plan) -> str:
    settings = plan.algorithm
    sentences = []
    if uses(settings.name, "strategy"):
        card, looks_at = STRATEGIES[settings.strategy], LOOKS_AT[settings.strategy]
        sentences = [f"{card.title}.", card.summary]
        if needs_sensitive(settings.strategy):
            sentences.append(f"The sensitive column is {plan.led_by}.")
        sentences += [
            SCOPES[settings.scope].summary if looks_at else "",
            STRATEGY_LETTERS[looks_at],
        ]
        sentences.append(f"Source: {card.source}.")
    if sentences or uses(settings.name, "tie_seed"):
        seed = settings.tie_seed
        sentences.append(
            "Ties go to the first in tree order."
            if seed is None
            else f"Tie seed {seed} decides ties, always in the same way."
        )
    return " ".join(filter(None, sentences))


def _describe_suppression(run: Run) -> str:
    plan = run.prepared.plan
    limit, suppressed, reason = plan.suppression_limit, run.recoding.suppressed_records, ""
    if plan.outliers is not None and uses(plan.algorithm.name, "outliers"):
        limit, reason = plan.outliers, " as outliers, if the others then lose less in total"
    if limit is None:
        limit_sentence = "The plan sets no limit."
    elif isinstance(limit, RecordsPlan):
        limit_sentence = f"At most {count_noun(limit.records, 'record')} may be suppressed{reason}."
    else:
        share = write_percent(100 * limit)
        limit_sentence = f"At most {share} of the records may be suppressed{reason}."
    if not suppressed:
        return f"{limit_sentence} No record was suppressed."
    share = write_percent(100 * suppressed / run.prepared.classes.n_records)
    were = "was" if suppressed == 1 else "were"
    rows_note = "; their rows stay, blanked" if plan.suppressed == "keep" else ""
    outcome = f"{count_noun(suppressed, 'record')} ({share}) {were} suppressed{rows_note}."
    return f"{limit_sentence} {outcome}"


def _describe_missing(run: Run) -> str:
    if dropped := run.prepared.dropped:
        were = "was" if dropped == 1 else "were"
        records = count_noun(dropped, "record")
        return f"{records} with a missing quasi-identifier {were} left out beforehand."
    if run.prepared.plan.read.missing == "as-value":
        return "A missing quasi-identifier counts as a value of its own."
    return ""


def _describe_levels(run: Run) -> str:
    node, classes = run.recoding.trace.node, run.prepared.classes
    if node is None:
        return ""
    pairs = zip(classes.attributes, node, classes.hierarchies, strict=True)
    raised = [f"{column} to level {level} of {tree.height - 1}" for column, level, tree in pairs]
    return f"Every record was raised to the same levels: {', '.join(raised)}."


# --- what leaves ----------------------------------------------------------------------------
def describe_column_fates(run: Run) -> dict[str, str]:
    plan, pseudonyms = run.prepared.plan, run.prepared.source.pseudonyms
    levels = {coarsening.column: coarsening.level for coarsening in run.prepared.coarsened}
    fate_of_column = {}
    for column in run.prepared.source.table.columns:
        role = plan.roles.roles.get(column, Role.INSENSITIVE)
        if role is Role.QUASI_IDENTIFIER:
            fate_of_column[column] = "generalised"
            if column in plan.written:
                fate_of_column[column] += f", written as the {plan.written[column]} of each class"
        elif column in levels:
            fate_of_column[column] = f"coarsened to level {levels[column]} of its hierarchy"
        elif role is not Role.IDENTIFIER:
            fate_of_column[column] = "left as it is"
        else:
            drawn = column in pseudonyms
            fate_of_column[column] = "pseudonyms drawn at random" if drawn else "left out"
    return fate_of_column


@dataclass(frozen=True)
class ColumnProfile:
    name: str
    role: str
    fate: str
    distinct: int
    missing: int


def describe_columns(run: Run, original: Table) -> tuple[ColumnProfile, ...]:
    roles, fate = run.prepared.plan.roles.roles, describe_column_fates(run)
    profiles = []
    for column in original.columns:
        distinct = original.count_distinct(column)
        role = roles.get(column, Role.INSENSITIVE)
        missing = original.n_records - distinct.n_filled
        profiles.append(ColumnProfile(column, str(role), fate[column], distinct.values, missing))
    return tuple(profiles)


def describe_released_columns(run: Run) -> str:
    """What the release protects and what it does not, by columns: somebody has to sign this."""
    coarsened = [part.column for part in run.prepared.coarsened]
    passing = run.prepared.source.list_unchanged_columns()
    unchanged = [column for column in passing if column not in coarsened]
    replaced = run.prepared.source.pseudonyms
    identifiers = run.prepared.plan.roles.columns(Role.IDENTIFIER)
    dropped = [column for column in identifiers if column not in replaced]
    suppressed = run.recoding.suppressed_records
    attributes = run.prepared.classes.attributes
    sentences = [f"The records of a class are alike only in {_list_columns(attributes)}."]
    if suppressed:
        rows_stay = run.prepared.plan.suppressed == "keep"
        share = write_percent(100 * suppressed / run.prepared.classes.n_records)
        how = "their rows are blanked" if rows_stay else "not in the release"
        sentences.append(f"Suppressed: {count_noun(suppressed, 'record')}, {share} ({how}).")
    if coarsened:
        sentences.append(f"Coarsened before anything was counted: {_list_columns(coarsened)}.")
    if unchanged:
        sentences.append(f"Left as they are: {_list_columns(unchanged)}.")
    if replaced:
        sentences.append(f"Replaced by random labels: {_list_columns(replaced)}.")
    if dropped:
        sentences.append(f"Left out: {_list_columns(dropped)}.")
    return " ".join(sentences)


def _list_columns(columns: tuple[str, ...] | list[str]) -> str:
    return join_words(map(quote, columns))


# --- levels of sensitive columns --------------------------------------------------------------
SENSITIVE_MEASURES: Mapping[str, Card] = {
    measure.name: replace(
        measure.card, title=measure.title, unit=measure.unit, summary=measure.meaning
    )
    for measure in class_measures()
    if measure.title
}
"""The measures of a sensitive column, by their names in ``M.json``."""


def format_sensitive_level(level: float | None, card: Card) -> str:
    """Format a level without its unit; None is infinite.

    >>> format_sensitive_level(1.7581, SENSITIVE_MEASURES["entropy_l"])
    '1.75'
    >>> format_sensitive_level(None, SENSITIVE_MEASURES["delta"])
    '∞'
    >>> format_sensitive_level(4 / 7, SENSITIVE_MEASURES["alpha"])
    '57.1'
    """
    if level is None:
        return "∞"
    if card.unit == "%":
        return write_percent(100 * level).removesuffix(" %")
    return (
        write_count(level) if level >= 1000 else rounded(float(level), up=card.direction == "lower")
    )
