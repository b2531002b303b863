"""Hierarchy files that wait to be looked through before they are used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kanon.hierarchy.bundle import read_bundle
from kanon.studio.choices import Waiting, imported
from kanon.studio.work import Work, with_choice

__all__ = ["import_meant_for", "with_imported", "with_imports"]


def with_imports(work: Work, files: Sequence[tuple[str, bytes]]) -> Work:
    """The work with hierarchy files to look through, matched with columns by name.

    A single file without a match is meant for the column that is looked at.
    """
    found = read_bundle(files, list(work.roles))
    only = work.looked_at if len(found) == 1 else None
    waiting = tuple(
        _meant_for(
            work, Waiting(one.file, one.imported, None, None, one.problem), one.column or only
        )
        for one in found
    )
    return replace(work, imports=waiting, problem=None, notice=None)


def import_meant_for(work: Work, place: int, column: str | None) -> Work:
    """The work with one of the waiting files meant for another column."""
    changed = _meant_for(work, work.imports[place], column)
    imports = (*work.imports[:place], changed, *work.imports[place + 1 :])
    return replace(work, imports=imports, problem=None, notice=None)


def _meant_for(work: Work, waiting: Waiting, column: str | None) -> Waiting:
    if waiting.problem is not None or waiting.found is None or column is None:
        return replace(waiting, column=column, choice=None)
    choice = imported(waiting.file, waiting.found, column, work.kept[column])
    return replace(waiting, column=column, choice=choice)


def with_imported(work: Work) -> Work:
    """The work with every waiting file that is meant for a column taken over."""
    for waiting in work.imports:
        if waiting.column is not None and waiting.choice is not None:
            work = with_choice(work, waiting.column, waiting.choice)
    return replace(work, imports=())
