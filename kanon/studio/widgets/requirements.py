"""Which privacy models fit a table beside k, and how much can be required."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, TypeVar

import numpy as np

from kanon.base.formatting import count_noun
from kanon.cards import Card
from kanon.classes import EquivalenceClasses
from kanon.errors import KanonError, Unsatisfiable, quote
from kanon.privacy.average_risk import AverageRisk
from kanon.privacy.conjunction import check_reachable
from kanon.privacy.known_columns import KAmongKnown
from kanon.privacy.model import Model, SensitiveModel, ranges, rounded
from kanon.privacy.plans import MODELS
from kanon.privacy.records_at_risk import RecordsAtRisk
from kanon.privacy.release_model import ReleaseModel
from kanon.privacy.t_closeness import HIGHEST, SPOKEN, TCloseness
from kanon.sources.histograms import build_table_histogram
from kanon.sources.memory import MemoryTable, count_for_models
from kanon.studio.session.work import SessionState

_AnyModel = TypeVar("_AnyModel", bound=Model)

DISTANCES = {
    "variational": "total variation, 0 to 1",
    "norm1": "norm 1 (twice the total variation), 0 to 2",
    "emd-equal": "earth mover's, all values equally far apart, 0 to 1",
    "emd-ordered": "earth mover's, numbers in their order, 0 to 1",
    "hierarchical": "earth mover's, by the hierarchy of the column, 0 to 1",
}

KINDS: Mapping[str, type[SensitiveModel]] = {
    model.card.name: model
    for model in sorted(
        (model for model in MODELS.values() if issubclass(model, SensitiveModel)),
        key=lambda model: model.place,
    )
}
"""The models about a sensitive column by name, the usual ones first."""

RELEASE_KINDS: Mapping[str, ReleaseModel] = {
    model.card.name: model
    for model in (AverageRisk(0.1), RecordsAtRisk(above=0.2, most=0.05), KAmongKnown(2, 3))
}
"""The models about the whole release by name, as they are added."""


def build_table_class(work: SessionState) -> EquivalenceClasses:
    """The table as one class: no release can reach more."""
    records, coarsened = work.table.complete_records, work.table.coarsened
    counted = []
    for name in work.table.sensitive_columns:
        values = records.count_column_values(name)
        released_values = coarsened[name].counts(values) if name in coarsened else values
        counted.append(build_table_histogram(name, released_values))
    nodes, n_records = np.zeros((1, 0), dtype=np.int32), records.n_records
    classes = EquivalenceClasses((), (), nodes, np.array([n_records]), tuple(counted))
    table = work.table.released_level_records if work.looks_at_several else None
    table = table if isinstance(table, MemoryTable) else None
    one_class = np.zeros(n_records, dtype=np.int64)
    return count_for_models(classes, work.table.distance_trees, table, one_class)


def explain_refusal(models: Sequence[Model], whole: EquivalenceClasses) -> str | None:
    """Why no release can meet one of the models; None if each can be met."""
    for model in models:
        if isinstance(model, SensitiveModel) and _needs_numbers(model, whole):
            return (
                f"{model.sentence} needs numbers, but {quote(model.column)} holds other values; "
                "choose another distance."
            )
    try:
        check_reachable(models, whole)
    except KanonError as error:
        return error.sentence
    return None


def _needs_numbers(model: SensitiveModel, whole: EquivalenceClasses) -> bool:
    return (
        isinstance(model, TCloseness)
        and model.distance == "emd-ordered"
        and not whole.sensitive_named(model.column).numeric
    )


def describe_strictest(model: SensitiveModel, whole: EquivalenceClasses) -> str:
    """The most that can be required, beside its field.

    >>> from kanon.privacy.entropy_l_diversity import EntropyLDiversity
    >>> from kanon.sensitive import Sensitive
    >>> ill = Sensitive.from_records("ill", ["angina", "cold"], False, [0] * 4, [0, 1, 1, 1], 1)
    >>> whole = EquivalenceClasses((), (), np.zeros((1, 0), np.int32), np.array([4]), (ill,))
    >>> describe_strictest(EntropyLDiversity(l=2, column="ill"), whole)
    'at most 1.75 for this column'
    """
    if _needs_numbers(model, whole):
        return explain_refusal([model], whole) or ""
    level = model.level(whole)
    if level is None:
        return ""
    if math.isinf(level):
        return "no number is enough for this column"
    if model.card.direction == "higher":
        return f"at most {rounded(level, up=False)} for this column"
    if level == 0:
        return "as low as you like: all records in one class reach 0"
    if get_level_sign(model) == "<":
        return f"above {rounded(level, up=True)} for this column"
    return f"at least {rounded(level, up=True)} for this column"


def get_level_sign(model: SensitiveModel) -> str:
    """How the level of a class compares with what is required: ``≥``, ``≤`` or ``<``."""
    if model.card.direction == "higher":
        return "≥"
    wanted = getattr(model, model.symbol)
    return "≤" if model.accepts(np.array([wanted]))[0] else "<"


def format_model(model: Model) -> str:
    """A model in a few words, without the k of the slider.

    >>> from kanon.privacy.recursive_cl_diversity import RecursiveCLDiversity
    >>> format_model(RecursiveCLDiversity(c=3.0, l=2, column="ill"))
    'recursive c < 3 with l = 2'
    """
    if not isinstance(model, SensitiveModel):
        if isinstance(model, KAmongKnown):
            return f"k for any {model.known} known"
        return f"{model.title[:1].lower()}{model.title[1:]} with {model.parameters}"
    wanted = f"{name_model_level(type(model))} {get_level_sign(model)} "
    wanted += f"{getattr(model, model.symbol):.12g}"
    others = [
        f"{part.name} = {getattr(model, part.name)}"
        for part in fields(model)
        if part.name not in (model.symbol, "column", "columns", "others", "distance", "k")
    ]
    if isinstance(model, TCloseness):
        return f"{wanted} ({SPOKEN[model.distance]})"
    return f"{wanted} with {', '.join(others)}" if others else wanted


def name_model_level(kind: type[SensitiveModel]) -> str:
    """The level of a model in two words at most.

    >>> name_model_level(KINDS["entropy-l-diversity"]), name_model_level(KINDS["t-closeness"])
    ('entropy l', 't')
    """
    first = kind.card.title.split()[0]
    return f"{first.lower()} {kind.symbol}" if first.isalpha() else kind.symbol


def format_models_for_file(models: Sequence[Model]) -> str:
    """Models as part of a file name; empty for none.

    >>> from kanon.privacy.distinct_l_diversity import DistinctLDiversity
    >>> format_models_for_file([DistinctLDiversity(2, "ill"), TCloseness(0.4, "ill")])
    '-l2-t0.4'
    """
    if len(models) > 2:
        return f"-with-{len(models)}-models"
    return "".join(
        f"-{model.symbol}{getattr(model, model.symbol):g}"
        if isinstance(model, SensitiveModel)
        else f"-{model.card.name}"
        for model in models
    )


def format_model_option(card: Card) -> str:
    """A model with what it requires, as an item of a list.

    >>> format_model_option(KINDS["entropy-l-diversity"].card)
    'Entropy l-diversity — the values of every class are well mixed'
    """
    gloss = KINDS[card.name].gloss if card.name in KINDS else ""
    return f"{card.title} — {gloss}" if gloss else card.title


def describe_models(models: Sequence[Model]) -> str:
    if len(models) > 2:
        return count_noun(len(models), "model")
    return " and ".join(map(format_model, models))


def list_addable_cards(work: SessionState) -> dict[str, Card]:
    """The models that can still be added: each once, or once per sensitive column."""
    cards = {
        name: kind.card
        for name, kind in KINDS.items()
        if not {*work.table.sensitive_columns} <= list_taken_columns(work, name)
    }
    others = {
        name: model.card
        for name, model in RELEASE_KINDS.items()
        if all(other.card.name != name for other in work.settings.models)
    }
    return cards | others


def list_taken_columns(work: SessionState, name: str) -> set[str]:
    """The sensitive columns that have a model of that name."""
    models = work.settings.models
    return {m.column for m in models if isinstance(m, SensitiveModel) and m.card.name == name}


def suggest_model(work: SessionState, name: str, whole: EquivalenceClasses) -> SensitiveModel:
    """Suggest a model: the usual parameters, or half as much as the table can meet.

    It is about the column in focus, or the first one that has no model of that name yet.
    """
    taken_columns = list_taken_columns(work, name)
    columns = [work.focus, *work.table.sensitive_columns]
    column = next(other for other in columns if other is not None and other not in taken_columns)
    kind = KINDS[name]
    least = {part: max(1, int(allowed.lowest)) for part, allowed in ranges(kind).items()}
    wish: dict[str, Any] = {"column": column, **(kind.wish or least)}
    model = kind(**wish)
    try:
        check_reachable([model], whole)
    except Unsatisfiable:
        level, allowed = model.level(whole), ranges(kind)[model.symbol]
        if level is not None and math.isfinite(level) and not allowed.whole:
            higher = model.card.direction == "higher"
            nothing = 1.0 if higher else min(allowed.highest, 3 * level)
            half = float(rounded((level + nothing) / 2, up=not higher))
            return change_model(model, **{model.symbol: half}) or model
    return model


def change_model(model: _AnyModel, **typed: Any) -> _AnyModel | None:
    """The model with other parameters; None if they do not go together."""
    if isinstance(model, TCloseness) and "distance" in typed:
        scale = HIGHEST[typed["distance"]] / HIGHEST[model.distance]
        typed["t"] = round(model.t * scale, 6)
    try:
        return replace(model, **typed)  # type: ignore[type-var]
    except KanonError:
        return None


def describe_unused_entry(model: Model, part: str, typed: float | None) -> str:
    """Say that a typed parameter is not used, why, and what still applies.

    >>> from kanon.privacy.entropy_l_diversity import EntropyLDiversity
    >>> model = EntropyLDiversity(l=2.0, column="ill")
    >>> describe_unused_entry(model, "l", 0.5)
    '0.5 is not used, because l has to be a number of at least 1; l = 2 still applies.'
    >>> describe_unused_entry(model, "l", None)
    'An empty field is not used: l = 2 still applies.'
    """
    holding = f"{part} = {getattr(model, part):.12g} still applies"
    if typed is None:
        return f"An empty field is not used: {holding}."
    allowed = ranges(type(model))[part]
    if isinstance(model, TCloseness):
        allowed = replace(allowed, highest=HIGHEST[model.distance])
    return f"{typed:.12g} is not used, because {part} has to be {allowed.text}; {holding}."
