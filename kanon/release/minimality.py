"""The remark that a release is no finer than its models allow, which may tell more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kanon.base.formatting import counted, percent
from kanon.errors import quoted
from kanon.measures.minimality import measure_minimality
from kanon.privacy.model import Model, SensitiveModel
from kanon.recoding import Recoding
from kanon.release.remark_kinds import Remark


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
