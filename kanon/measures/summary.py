"""All measures of one release, as the command line and the pages show them."""

from collections.abc import Sequence
from typing import Any

import kanon.measures
from kanon.cards import parts_of
from kanon.measures import (
    alteration,
    association_change,
    c_avg,
    classification_metric,
    number_change,
    query_error,
)
from kanon.measures.privacy import privacy_summary, risk_summary
from kanon.metrics import Metric
from kanon.recoding import Recoding
from kanon.stored_classes import has_released_in_engine

_OF_THEIR_OWN = (alteration, c_avg, classification_metric)
"""Measures that need more than a release: a metric, the k of the plan, a sensitive column."""

_OF_CLASSES = (association_change, number_change, query_error)
"""Measures that need every original class beside its released one; engines do not count them."""


def measure_release(recoding: Recoding, metrics: Sequence[Metric], k: int = 1) -> dict[str, Any]:
    alterations = {metric.name: alteration.value(recoding, metric) for metric in metrics}
    modules, in_engine = parts_of(kanon.measures), recoding.in_engine
    moments = () if in_engine else number_change.compare_moments(recoding)
    return {
        "records": recoding.classes.n_records,
        "classes": recoding.n_classes,
        "suppressed": recoding.suppressed_records,
        "alteration": alterations,
        "mean_alteration": alteration.compute_mean_alteration(alterations),
        **{
            name: None if in_engine and module in _OF_CLASSES else module.value(recoding)
            for name, module in modules.items()
            if module not in _OF_THEIR_OWN
        },
        **({"not_counted": [module.CARD.name for module in _OF_CLASSES]} if in_engine else {}),
        **({"numbers": [moment._asdict() for moment in moments]} if moments else {}),
        "c_avg": c_avg.value(recoding, k),
        **({} if has_released_in_engine(recoding) else _measure_protection(recoding)),
    }


def _measure_protection(recoding: Recoding) -> dict[str, Any]:
    released = recoding.released
    cm = classification_metric.CARD.name
    as_labels = {
        sensitive.name: {cm: classification_metric.value(recoding, sensitive.name)}
        for sensitive in released.sensitive
    }
    return {
        **({} if released.persons is None else {"min_persons": released.min_persons}),
        **risk_summary(released),
        **privacy_summary(released, as_labels),
    }
