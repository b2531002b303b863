"""A plan, its verdict and its risks, in plain words for who has to sign."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from kanon.algorithms.catalogue import algorithm_named, uses
from kanon.algorithms.search import FULL_DOMAIN, own_way
from kanon.base.formatting import counted, joined, one_or_many, percent, thin
from kanon.base.sentences import best_guess, chance, left_out, lost, smallest_class
from kanon.errors import quoted
from kanon.measures.privacy import class_measures, sensitive_measures
from kanon.plan import Plan, RecordsPlan, parameters_of
from kanon.privacy.model import Model, rounded
from kanon.release.check import NOT_CONSIDERED, TABLE_ORDER
from kanon.release.released_rows import Verdict
from kanon.run import PreparedRun, Run
from kanon.schema import Role
from kanon.stored_classes import released_stay
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


def guarantees(done: Run, verdicts: Sequence[Verdict] = ()) -> tuple[Guarantee, ...]:
    """What a release reaches of each model, as the check of its rows, or of a file, found it."""
    pairs = zip(done.prepared.plan.models, verdicts or done.verdicts, strict=True)
    return tuple(_guarantee(model, found.level, found.holds) for model, found in pairs)


def guarantees_of_classes(done: Run) -> tuple[Guarantee, ...]:
    """What a release reaches of each model, as its classes say, before any row is looked at."""
    models = done.prepared.plan.models
    if released_stay(done.recoding):  # so that nothing but k was required
        return tuple(_guarantee(one, done.recoding.min_k, True) for one in models)
    released = done.recoding.released
    return tuple(_guarantee(one, one.level(released), one.holds(released)) for one in models)


def _guarantee(model: Model, level: float | None, holds: bool) -> Guarantee:
    card = model.card
    if level is None:
        reached = "no class is left"
    elif level == float("inf"):
        reached = "∞"
    else:
        reached = rounded(level, up=card.direction == "lower")
    said = (card.unit, card.arrow, holds, card.summary, card.source)
    return Guarantee(model.sentence, reached, *said)


def verdict_sentence(done: Run, found: tuple[Guarantee, ...]) -> str:
    """What was checked, what was reached and what was not considered, in one sentence.

    It names models and levels, and never calls a release safe.
    """
    if not done.recoding.n_classes:
        return "Nothing is released: every record is suppressed, so there is no class to check."
    # Persons cannot be counted in rows that no longer name them.
    whom = ", and from the table whom each of them is about"
    rows = f"the released rows{whom if done.prepared.plan.person is not None else ' alone'}"
    order = TABLE_ORDER if done.prepared.plan.order == "table" else ""
    return (
        f"Counted again from {rows}, every class meets {what_is_met(done, found)}; not considered "
        f"were {NOT_CONSIDERED}{order}."
    )


def what_is_met(done: Run, found: tuple[Guarantee, ...]) -> str:
    """What was required and reached, and of which sensitive columns nothing was required."""
    met = "; ".join(
        f"{_model_in_words(model)} (reached: {one.reached})"
        for model, one in zip(done.prepared.plan.models, found, strict=True)
    )
    asked = {getattr(model, "column", None) for model in done.prepared.plan.models}
    free = [name for name in done.prepared.plan.roles.columns(Role.SENSITIVE) if name not in asked]
    if not free:
        return met
    return (
        f"{met}; nothing was required of {_listed(free)}, so a whole class may share one value "
        "there"
    )


def in_plain_words(done: Run) -> tuple[str, ...]:
    """What the release protects and what it costs, for who is no statistician."""
    recoding, metric = done.recoding, done.prepared.plan.metric
    if recoding.min_k is None:
        return (smallest_class(None),)
    least = int(recoding.released.hiding.min())
    said = [smallest_class(least), chance(1 / least, least)]
    for each in recoding.released.sensitive:
        share = sensitive_measures(each)["alpha"]
        assert share is not None  # some value is the most frequent one
        said.append(f"{quoted(each.name)}: {best_guess(share)}")
    said.append(lost(done.alteration, metric.card.title))
    if coarsened := about_coarsened(done.prepared):
        said.append(coarsened)
    if recoding.suppressed_records:
        said.append(left_out(recoding.suppressed_records, done.prepared.classes.n_records))
    return tuple(said)


def about_coarsened(prepared: PreparedRun) -> str:
    """That what is said before a release is about groups too; nothing if no column is coarsened."""
    columns = [one.column for one in prepared.coarsened]
    if not columns:
        return ""
    return one_or_many(
        len(columns),
        "{columns} was coarsened before anything was counted: what is said of the table before is "
        "about its groups too, and no measure of loss counts it.",
        "{columns} were coarsened before anything was counted: what is said of the table before "
        "is about their groups too, and no measure of loss counts it.",
        columns=_listed(columns),
    )


def _model_in_words(model: Model) -> str:
    found = f"{model.title} with {model.parameters}"
    column = getattr(model, "column", None)
    return f"{found} for {quoted(column)}" if column else found


# --- the plan -------------------------------------------------------------------------------
MEETING: Mapping[str, str] = {
    "merging": "At first classes are merged for k alone. Then, as long as a class breaks another "
    "model, one of the smallest such classes is merged on by the same rule, for each k by itself.",
    "levels": "A node satisfies only if no more records than may be suppressed are in classes that "
    "break a model.",
    "regions": "A region is made only if it meets all of them.",
    "clusters": "At first clusters are made for k alone. Then, as long as one breaks another "
    "model, one of the smallest such is merged with the one that costs least.",
}
"""How the algorithms of a family meet models beside k."""


def algorithm_in_words(plan: Plan) -> dict[str, str]:
    """How a release is found: what the algorithm says of itself, and what guides it."""
    chosen, module = plan.algorithm, algorithm_named(plan.algorithm.name)
    own = own_way(module.CARD.how)
    how = [FULL_DOMAIN] if own != module.CARD.how else []
    options = [
        f"{one.title}: {one.choices[chosen.options.get(one.name, one.default)]}"
        for one in parameters_of(chosen.name)
    ]
    required = [f"{_model_in_words(model)}: {model.card.summary}" for model in plan.models]
    if len(plan.models) > 1:
        required.append(MEETING[module.CARD.family])
    said = {
        "Algorithm": " ".join(
            [
                f"{module.CARD.title}.",
                *filter(None, [*how, own, module.CARD.guarantees]),
                f"Source: {module.CARD.source}.",
            ]
        ),
        "Its own choices": "; ".join(options),
        "Strategy": _strategy(plan),
        "Required": " ".join(required),
    }
    return {term: text for term, text in said.items() if text}


def plan_in_words(done: Run) -> tuple[tuple[str, str], ...]:
    """What was chosen, as pairs of a term and what it means here."""
    plan = done.prepared.plan
    weights = plan.algorithm.attribute_weights
    said = {
        **algorithm_in_words(plan),
        "Metric": _metric(plan),
        "Weights of columns": ", ".join(f"{name}: {weight:g}" for name, weight in weights.items()),
        "Suppression": _suppression(done),
        "Missing values": _missing(done),
        "Coarsened": "; ".join(
            f"{one.column} to level {one.level} of {one.tree.height - 1} of its hierarchy, before "
            "anything was counted"
            for one in done.prepared.coarsened
        ),
        "Levels": _levels(done),
        "Parts": done.about_parts,
        "Proof": done.about_gap,
    }
    return tuple((term, text) for term, text in said.items() if text)


def _metric(plan: Plan) -> str:
    card = plan.metric.card
    what = f"{card.title}. {card.summary} Source: {card.source}."
    if uses(plan.algorithm.name, "metric"):
        return what
    return f"{what} The algorithm does not go by it; it counts what was lost."


LOOKS: Mapping[str, str] = {
    "": "",
    "k": "k is the number of records in the smallest class.",
    "l": "l is the entropy l-diversity, exp(−Σ p ln p) over the shares p of the values.",
    "t": "t is half the sum of the absolute differences between the shares in the class and in the "
    "table (total variation).",
}
"""What a strategy's letter stands for."""


def _strategy(plan: Plan) -> str:
    chosen = plan.algorithm
    said = []
    if uses(chosen.name, "strategy"):
        card, looks_at = STRATEGIES[chosen.strategy], LOOKS_AT[chosen.strategy]
        said = [f"{card.title}.", card.summary]
        if needs_sensitive(chosen.strategy):
            said.append(f"The sensitive column is {plan.led_by}.")
        said += [SCOPES[chosen.scope].summary if looks_at else "", LOOKS[looks_at]]
        said.append(f"Source: {card.source}.")
    if said or uses(chosen.name, "tie_seed"):
        seed = chosen.tie_seed
        said.append(
            "Of equally good ones, the first in tree order is taken."
            if seed is None
            else f"Of equally good ones, tie seed {seed} picks one, always the same."
        )
    return " ".join(filter(None, said))


def _suppression(done: Run) -> str:
    plan = done.prepared.plan
    limit, gone = plan.suppression_limit, done.recoding.suppressed_records
    if limit is None:
        allowed = "The plan sets no limit."
    elif isinstance(limit, RecordsPlan):
        allowed = f"At most {counted(limit.records, 'record')} may be suppressed."
    else:
        allowed = f"At most {percent(100 * limit)} of the records may be suppressed."
    if not gone:
        return f"{allowed} No record was suppressed."
    share = percent(100 * gone / done.prepared.classes.n_records)
    were = f"{counted(gone, 'record')} ({share}) {'was' if gone == 1 else 'were'} suppressed"
    stays = "; their rows stay, blanked" if plan.suppressed == "keep" else ""
    return f"{allowed} {were}{stays}."


def _missing(done: Run) -> str:
    if done.prepared.dropped:
        return (
            f"{counted(done.prepared.dropped, 'record')} with a quasi-identifier missing left the "
            "table before."
        )
    if done.prepared.plan.read.missing == "as-value":
        return "A missing quasi-identifier counts as a value of its own."
    return ""


def _levels(done: Run) -> str:
    node, classes = done.recoding.trace.node, done.prepared.classes
    if node is None:
        return ""
    pairs = zip(classes.attributes, node, classes.hierarchies, strict=True)
    listed = [f"{column} to level {level} of {tree.height - 1}" for column, level, tree in pairs]
    return f"Every record was raised to the same levels: {', '.join(listed)}."


# --- what leaves ----------------------------------------------------------------------------
def fates(done: Run) -> dict[str, str]:
    """What happens to each column on its way into the release."""
    plan, pseudonyms = done.prepared.plan, done.prepared.source.pseudonyms
    levels = {one.column: one.level for one in done.prepared.coarsened}
    found = {}
    for column in done.prepared.source.table.columns:
        role = plan.roles.roles.get(column, Role.INSENSITIVE)
        if role is Role.QUASI_IDENTIFIER:
            found[column] = "generalised"
        elif column in levels:
            found[column] = f"coarsened to level {levels[column]} of its hierarchy"
        elif role is not Role.IDENTIFIER:
            found[column] = "left as it is"
        else:
            found[column] = "pseudonyms drawn at random" if column in pseudonyms else "left out"
    return found


def what_leaves(done: Run) -> str:
    """What the release protects and what it does not: the sentence that somebody has to sign."""
    coarse = [one.column for one in done.prepared.coarsened]
    passed = [one for one in done.prepared.source.passed_through() if one not in coarse]
    replaced = done.prepared.source.pseudonyms
    identifiers = done.prepared.plan.roles.columns(Role.IDENTIFIER)
    dropped = [column for column in identifiers if column not in replaced]
    gone = done.recoding.suppressed_records
    attributes = done.prepared.classes.attributes
    said = [f"The records are alike in {_listed(attributes)} only."]
    if gone:
        kept = done.prepared.plan.suppressed == "keep"
        said.append(
            one_or_many(
                gone,
                "Suppressed: {count} record, {share} ({how}).",
                "Suppressed: {count} records, {share} ({how}).",
                share=percent(100 * gone / done.prepared.classes.n_records),
                how="their rows are blanked" if kept else "not in it",
            )
        )
    if coarse:
        said.append(f"Coarsened before anything was counted: {_listed(coarse)}.")
    if passed:
        said.append(f"Left as they are: {_listed(passed)}.")
    if replaced:
        said.append(f"Replaced by random labels: {_listed(replaced)}.")
    if dropped:
        said.append(f"Left out: {_listed(dropped)}.")
    return " ".join(said)


def _listed(columns: tuple[str, ...] | list[str]) -> str:
    return joined(map(quoted, columns))


# --- levels of sensitive columns --------------------------------------------------------------
@dataclass(frozen=True)
class SensitiveMeasure:
    """A number about a sensitive column, of the worst class: its title, unit and meaning."""

    title: str
    unit: str
    direction: Literal["lower", "higher", ""]
    meaning: str


LEVELS: Mapping[str, SensitiveMeasure] = {
    one.name: SensitiveMeasure(one.title, one.unit, one.card.direction, one.meaning)
    for one in class_measures()
    if one.title
}
"""What is said of a sensitive column, by the names in ``M.json``."""


def shown(level: float | None, what: SensitiveMeasure) -> str:
    """A level as it is shown, without its unit; None is infinite.

    >>> [shown(1.7581, LEVELS["entropy_l"]), shown(None, LEVELS["delta"])]
    ['1.75', '∞']
    >>> shown(4 / 7, LEVELS["alpha"])
    '57.1'
    """
    if level is None:
        return "∞"
    if what.unit == "%":
        return percent(100 * level).removesuffix(" %")
    return thin(level) if level >= 1000 else rounded(float(level), up=what.direction == "lower")
