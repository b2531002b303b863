"""Which settings differ from those that something was made with, in the words of their controls."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from kanon.errors import KanonError
from kanon.studio.session.collection import Collection
from kanon.studio.session.findings import Findings
from kanon.studio.session.work import Work, value_of, with_fields

_LABELS = {
    "person": "Which column says who a record is about?",
    "missing": "What happens to records with a missing value",
    "levels": "Levels of coarsened columns",
    "algorithm": "Algorithm",
    "metric": "Metric",
    "strategy": "Strategy",
    "scope": "Whose l, t or k strategies look at",
    "sensitive": "Sensitive column",
    "cost": "A merge counts",
    "tie_seed": "Tie seed",
    "seed": "Seed",
    "options": "Details of the algorithm",
    "node": "Levels",
    "suppression": "Suppress at most, %",
    "keep_suppressed": "Keep the rows of suppressed records, blanked",
    "row_order": "Keep the table's order of rows",
    "models": "Also require",
    "k": "k",
    "attribute_weights": "How much does losing a column hurt?",
    "composed": "Metrics of your own",
    "compared": "Metrics",
    "algorithms": "Algorithms",
    "strategies": "Strategies",
    "scopes": "Whose l, t or k strategies look at",
    "bands": "Show what ties decide",
    "context": "What is it for?",
    "population_origin": "A table of the population",
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
            yield f"Role of {column}", with_fields(now, roles=roles)
    for column, choice in before.table.choices.items():
        if now.table.choices.get(column) is not choice:
            choices = {**now.table.choices, column: choice}
            yield f"Hierarchy of {column}", with_fields(now, choices=choices)
    for name, label in _LABELS.items():
        value = value_of(before, name)
        if value_of(now, name) != value:
            yield label, with_fields(now, **{name: value})
    for kind in {**before.views, **now.views}:
        for name, label in getattr(kind, "LABELS", {}).items():
            value = getattr(before.view(kind), name)
            if getattr(now.view(kind), name) != value:
                yield label, with_fields(now, view=replace(now.view(kind), **{name: value}))
