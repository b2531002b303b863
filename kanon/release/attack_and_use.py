"""What an attack on a release shows, and how useful it still is, for the limits of a context.

>>> from kanon.plan import Plan
>>> from kanon.run import run
>>> import pandas as pd
>>> plan = Plan.from_content({"version": 2, "algorithm": {"name": "gaa"}, "columns":
...     {"sex": {"role": "quasi-identifier", "hierarchy": {"build": "suppression"}},
...      "ill": {"role": "sensitive"}}, "privacy": [{"model": "k-anonymity", "k": 3}]})
>>> table = pd.DataFrame({"sex": ["F"] * 3 + ["M"] * 3, "ill": ["flu"] * 3 + ["cold"] * 3})
>>> measure_usefulness(run(plan, table))
{'alteration': 0.0, 'correlation': 100.0, 'query_error': 0.0, 'classifier': 0.0}
"""

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import NamedTuple

import numpy as np

from kanon.base.progress import Progress, ignore_progress, scale_progress
from kanon.errors import KanonError
from kanon.evidence import KNOWN
from kanon.evidence.attack import Evidence, attack
from kanon.evidence.figures import limit_set_size
from kanon.learning.classifiers import fit
from kanon.learning.labels import LabelledRecords, split_labels
from kanon.learning.representations import represent, represent_original
from kanon.learning.scores import scores
from kanon.measures import association_change, query_error
from kanon.release.context import Context, list_thresholds
from kanon.release.threshold_cards import OF_EVIDENCE, OF_USEFULNESS
from kanon.run import Run
from kanon.schema import Role

_CLASSIFIER, _REPRESENTATION = "decision-tree", "fillParent"  # which a reader can make


class AttackAndUse(NamedTuple):
    """What only some contexts set thresholds for; None: not measured."""

    evidence: Evidence | None = None
    # by the name of its threshold; None if it cannot be measured
    usefulness: Mapping[str, float | None] | None = None


def list_measured_thresholds(contexts: Iterable[Context]) -> list[str]:
    """The thresholds that some context sets on what an attack or the use of a release shows."""
    required = [list_thresholds(context) for context in contexts]
    return [
        name
        for name in (*OF_EVIDENCE, *OF_USEFULNESS)
        if any(thresholds[name].wanted is not None for thresholds in required)
    ]


def measure_attack_and_use(
    run: Run,
    names: Collection[str],
    progress: Progress = ignore_progress,
    evidence: Evidence | None = None,
) -> AttackAndUse:
    """Attack a release and use it, as far as some of these thresholds need it.

    Inference is compared with people who are not in the release. The table has to be in memory.
    With ``evidence`` of this release, measured as the thresholds need it, it is not attacked again.
    """
    with_control = "inference" in names
    if evidence is not None and not _serves(evidence, with_control):
        evidence = None
    if evidence is None and run.recoding.n_classes and not {*OF_EVIDENCE}.isdisjoint(names):
        evidence = attack(run, with_control=with_control, progress=scale_progress(progress, 0, 0.8))
    useful = [name for name in OF_USEFULNESS if name in names]
    usefulness = measure_usefulness(run, useful, scale_progress(progress, 0.8, 1))
    return AttackAndUse(evidence, usefulness if useful else None)


def _serves(evidence: Evidence, with_control: bool) -> bool:
    """Whether thresholds can be compared with it: as many columns known, and compared if asked."""
    compared = bool(evidence.reason) or all(
        figure.control is not None for figure in evidence.inference.values()
    )
    as_known = evidence.known == limit_set_size(len(evidence.columns), KNOWN)
    return as_known and (compared or not with_control)


def measure_usefulness(
    run: Run, names: Iterable[str] = OF_USEFULNESS, progress: Progress = ignore_progress
) -> dict[str, float | None]:
    """Measure how useful a release is, in percent or points.

    - ``alteration``: in the plan's metric, 0 to 100 %.
    - ``correlation``: 100 (1 − Σ |V before − V after| / Σ V before), at least 0, over all pairs of
      columns of which one at least is a quasi-identifier; V is Cramér's as in
      :mod:`kanon.measures.association_change`. None where no two columns are associated.
    - ``query_error``: see :mod:`kanon.measures.query_error`; at least 0 %, without a limit.
    - ``classifier``: 100 (accuracy before − accuracy after), −100 to 100 points. A decision tree
      learns from two thirds of the records, as they were, to predict the first sensitive column
      with 2 to 50 values, or else the first insensitive one. Accuracy is measured on the others, as
      they were and as they are released, each cell as its node and all above it (*fillParent*).
      None without such a column.
    """
    functions: dict[str, Callable[[Run], float | None]] = {
        "alteration": lambda run: run.alteration,
        "correlation": _measure_kept_associations,
        "query_error": lambda run: query_error.value(run.recoding),
        "classifier": _measure_lost_accuracy,
    }
    values: dict[str, float | None] = {}
    for name in names:
        progress(len(values) / len(functions), "usefulness")
        values[name] = functions[name](run)
    return values


def _measure_kept_associations(run: Run) -> float | None:
    before = association_change.before(run.recoding.classes).cramers_v
    after = association_change.after(run.recoding).cramers_v
    pairs = np.triu(~np.isnan(before), 1)
    total = float(before[pairs].sum())
    if not total:
        return None
    return 100 * max(0.0, 1 - float(np.abs(before - after)[pairs].sum()) / total)


def _measure_lost_accuracy(run: Run) -> float | None:
    labels = _find_labels(run)
    if labels is None:
        return None
    recoding = run.recoding
    original = represent_original(recoding.classes, _REPRESENTATION)
    model = fit(_CLASSIFIER, original, labels.training, len(labels.labels), seed=0)
    accuracy = [
        scores(model.chances(matrix), records, labels.positive)["accuracy"]
        for matrix, records in (
            (original, labels.validation),
            (represent(_REPRESENTATION, recoding), labels.released(recoding)[1]),
        )
    ]
    lost = 100 * (accuracy[0] - accuracy[1])
    return None if math.isnan(lost) else lost  # nothing to predict is released


def _find_labels(run: Run) -> LabelledRecords | None:
    roles = run.prepared.plan.roles.roles
    for wanted in (Role.SENSITIVE, Role.INSENSITIVE):
        for column in (name for name, role in roles.items() if role is wanted):
            try:
                return split_labels(run.prepared.source.build_column_histogram(column))
            except KanonError:  # too many values, or too few
                continue
    return None
