"""Which settings differ from those that something was made with, in the words of their controls."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from kanon.base.language import say
from kanon.errors import KanonError
from kanon.studio.session.collection import Collection
from kanon.studio.session.findings import Findings
from kanon.studio.session.work import Work, value_of, with_fields

_LABELS = {
    "person": say("Which column says who a record is about?"),
    "missing": say("What happens to records with a missing value"),
    "levels": say("Levels of coarsened columns"),
    "algorithm": say("Algorithm"),
    "metric": say("Metric"),
    "strategy": say("Strategy"),
    "scope": say("Whose l, t or k strategies look at"),
    "sensitive": say("Sensitive column"),
    "cost": say("A merge counts"),
    "tie_seed": say("Tie seed"),
    "seed": say("Seed"),
    "options": say("Details of the algorithm"),
    "node": say("Levels"),
    "suppression": say("Suppress at most, %"),
    "keep_suppressed": say("Keep the rows of suppressed records, blanked"),
    "row_order": say("Keep the table's order of rows"),
    "models": say("Also require"),
    "k": say("k"),
    "attribute_weights": say("How much does losing a column hurt?"),
    "composed": say("Metrics of your own"),
    "compared": say("Metrics"),
    "algorithms": say("Algorithms"),
    "strategies": say("Strategies"),
    "scopes": say("Whose l, t or k strategies look at"),
    "bands": say("Show what ties decide"),
    "context": say("What is it for?"),
    "population_origin": say("A table of the population"),
}
"""Every setting that something may depend on, by the name of its field."""


def made_with(now: Work, doing: str, began: Work) -> Work:
    """The work with a note of what was chosen when what is there now was begun."""
    chosen = replace(began, findings=Findings(), running={}, kept=Collection())
    return with_fields(now, made_with={**now.findings.made_with, doing: chosen})


def changed_since(work: Work, doing: str, depends: Callable[[Work], object]) -> list[str]:
    """What was changed since, of that which matters to it; nothing if that is not known."""
    before = work.findings.made_with.get(doing)
    if before is None or before.version != work.version:
        return []
    now = _tried(depends, work)
    told = (name for name, other in _one_as_before(before, work) if _tried(depends, other) != now)
    return list(dict.fromkeys(told))


def _tried(depends: Callable[[Work], object], work: Work) -> object:
    try:
        return depends(work)
    except KanonError as error:
        return error.sentence


def _one_as_before(before: Work, now: Work) -> Iterator[tuple[str, Work]]:
    """What differs, each with the work of now in which that alone is as it was."""
    for column, role in before.table.roles.items():
        if now.table.roles.get(column) is not role:
            roles = {**now.table.roles, column: role}
            yield say("Role of {column}", column=column), with_fields(now, roles=roles)
    for column, choice in before.table.choices.items():
        if now.table.choices.get(column) is not choice:
            choices = {**now.table.choices, column: choice}
            yield say("Hierarchy of {column}", column=column), with_fields(now, choices=choices)
    for name, label in _LABELS.items():
        value = value_of(before, name)
        if value_of(now, name) != value:
            yield label, with_fields(now, **{name: value})
    for kind in {**before.views, **now.views}:
        for name, label in getattr(kind, "LABELS", {}).items():
            value = getattr(before.view(kind), name)
            if getattr(now.view(kind), name) != value:
                yield label, with_fields(now, view=replace(now.view(kind), **{name: value}))
