"""Remarks on what follows from a release: values of a column from others, from ranges, from how."""

from collections.abc import Iterator, Sequence
from contextlib import suppress

import numpy as np

from kanon.base.formatting import counted, percent
from kanon.base.kinds import sizes
from kanon.errors import PlanError, quoted
from kanon.hierarchy.ranges import RangedHierarchy
from kanon.measures.cells import is_value, original_cells
from kanon.measures.minimality import measure_minimality
from kanon.privacy.model import Model, SensitiveModel
from kanon.recoding import Recoding
from kanon.release.remark_kinds import Remark
from kanon.sensitive import Sensitive
from kanon.sources.tables import Table

_FOLLOWS = 0.9
"""A sensitive value follows from other columns if so much of what chance leaves open is decided."""

_EVIDENCE = 20
"""Pairs of records that chance alone would have to make different, for that to be evidence."""


def determined_by(column: str, recoding: Recoding, table: Table) -> str:
    """By which quasi-identifiers a sensitive value is nearly decided; nothing if by none."""
    for what, grouped in _groupings(column, recoding, table):
        found = same_value(grouped)
        if found is not None and found[0] - found[1] >= _FOLLOWS * (1 - found[1]):
            return (
                f"it follows from {what}: two records alike there share it in "
                f"{percent(100 * found[0])} of the cases, any two in {percent(100 * found[1])}"
            )
    return ""


def _groupings(column: str, recoding: Recoding, table: Table) -> Iterator[tuple[str, Sensitive]]:
    classes = recoding.classes
    if classes.in_engine:
        for name in classes.attributes:
            with suppress(PlanError):  # more pairs of values than come here
                yield quoted(name), table.classes_of([name], [column]).sensitive_named(column)
        return
    sensitive = classes.sensitive_named(column)
    for j, name in enumerate(classes.attributes):
        group = np.unique(classes.nodes[:, j], return_inverse=True)[1]
        yield quoted(name), sensitive.grouped(group, int(group.max(initial=-1)) + 1)
    yield "all quasi-identifiers", sensitive


def same_value(grouped: Sensitive) -> tuple[float, float] | None:
    """How often two records of one group, and any two records, share a sensitive value.

    >>> group, value = [0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1]
    >>> same_value(Sensitive.from_records("ill", ["a", "b"], False, group * 9, value * 9, 2))
    (1.0, 0.490566...)
    """
    n, sizes, total = grouped.count, grouped.sizes, grouped.total
    pairs = float(sizes @ (sizes - 1))
    if not pairs:
        return None
    overall = float(total @ (total - 1)) / float(total.sum() * (total.sum() - 1))
    if (1 - overall) * pairs / 2 < _EVIDENCE:
        return None
    return float(n @ (n - 1)) / pairs, overall


def minimality_remarks(recoding: Recoding, models: Sequence[Model], k: int) -> Iterator[Remark]:
    """What :func:`measure_minimality` finds; nothing where no probability rises."""
    beside = [model for model in models if isinstance(model, SensitiveModel)]
    result = measure_minimality(recoding, beside, k)
    if result is None or not (result.worst or result.unreckoned):
        return
    column, known = beside[0].column, ""
    if result.worst:
        old, new = (percent(100 * share) for share in result.worst)
        where = "at worst, in the classes that were reckoned," if result.unreckoned else "at worst"
        known = f": {where} a person's {quoted(column)} is known with {new} instead of {old}"
    least = counted(k, "record" if recoding.classes.persons is None else "person")
    told = []
    if result.telling:
        told.append(
            f"{counted(result.telling, 'class', 'classes')} could be split into parts of at least "
            f"{least}, but no split of {'it' if result.telling == 1 else 'them'} meets "
            f"{' and '.join(model.sentence for model in beside)}. kanon makes minimal "
            "releases: it raises no more than needed. Anyone who knows this concludes that some "
            f"part breaks that{known}."
        )
    if result.unreckoned:
        unreckoned = counted(result.unreckoned, "class", "classes")
        told.append(f"What being minimal tells was not reckoned for {unreckoned}.")
    if result.needless:
        others = counted(result.needless, "other class", "other classes")
        told.append(f"In {others} such a conclusion is wrong, as a split meets the models.")
    yield Remark("minimality", column, result.records / int(recoding.counts.sum()), " ".join(told))


def remark_on_bounds(recoding: Recoding, k: int) -> Iterator[Remark]:
    for j, tree in enumerate(recoding.ranged):
        if not isinstance(tree, RangedHierarchy):
            continue
        column = recoding.classes.attributes[j]
        if tree.shows_means:
            counts = recoding.counts
            small = float(counts[counts <= 3].sum() / max(counts.sum(), 1))
            said = (
                f"{quoted(column)} shows the least and the greatest value of a class beside its "
                f"mean. In classes of at most 3 records, {percent(100 * small)} of the release, "
                "these are all values, or nearly."
            )
            yield Remark("means-beside", column, small, said)
        rare = dict(_rare_extremes(tree, original_cells(recoding)[j], k))
        if rare:
            said = (
                f"The ranges of {quoted(column)} show the {' and the '.join(rare)} value of the "
                f"table, and fewer than {counted(k, 'record')} {'have' if k > 1 else 'has'} it."
            )
            share = sum(rare.values()) / recoding.classes.n_records
            yield Remark("extremes", column, share, said)


def _rare_extremes(tree: RangedHierarchy, cells: np.ndarray, k: int) -> Iterator[tuple[str, int]]:
    """Which extreme values a range names as a bound although fewer than k records have them."""
    leaves = np.flatnonzero(cells[: tree.n_leaves] * is_value(tree, np.arange(tree.n_leaves)))
    places = sizes([tree.labels[leaf] for leaf in leaves]) or []
    for name, extreme in (("least", min), ("greatest", max)) if places else ():
        at = leaves[np.array(places) == extreme(places)]
        records = int(cells[at].sum())
        if records < k and not tree.bounds.isdisjoint(at.tolist()):
            yield name, records
