"""Hierarchy files that wait to be looked through before they are used."""

from collections.abc import Sequence
from dataclasses import replace

from kanon.hierarchy.bundle import read_bundle
from kanon.studio.session.choices import FileReview, HierarchyChoice, imported
from kanon.studio.session.hierarchy_choices import with_chosen
from kanon.studio.session.parts import Message
from kanon.studio.session.work import Work


def with_imports(work: Work, files: Sequence[tuple[str, bytes]]) -> Work:
    """The work with more hierarchy files to look through, matched with columns by name."""
    found = read_bundle(files, list(work.table.roles))
    only = work.drawn_column if len(found) == 1 and not work.table.imports else None
    if only is not None and found[0].imported is not None:
        values = work.table.complete_records.counted(only).texts
        if not any(value in found[0].imported.hierarchy.node_of for value in values):
            only = None  # it cannot be meant
    waiting = [
        FileReview(one.file, one.imported, None if one.problem else one.column or only, one.problem)
        for one in found
    ]
    return work.with_parts(
        replace(work.table, imports=(*work.table.imports, *waiting)),
        replace(work.shared, uploads=work.shared.uploads + 1),
        Message(),
    )


def import_meant_for(work: Work, place: int, column: str | None) -> Work:
    changed = replace(work.table.imports[place], column=column)
    imports = (*work.table.imports[:place], changed, *work.table.imports[place + 1 :])
    return work.with_parts(replace(work.table, imports=imports), Message())


def meant(work: Work) -> tuple[HierarchyChoice | None, ...]:
    """What each waiting file would be as the choice for its column, with the records as they are.

    None for a file that is meant for no column of the table.
    """
    return tuple(
        imported(one.file, one.found, one.column, work.table.complete_records.counted(one.column))
        if one.found is not None and one.column is not None and one.column in work.table.roles
        else None
        for one in work.table.imports
    )


def with_imported(work: Work) -> Work:
    """The work with every waiting file that is meant for a column taken over: one step to undo."""
    chosen = {
        waiting.column: choice
        for waiting, choice in zip(work.table.imports, meant(work), strict=True)
        if waiting.column is not None and choice is not None and choice.tree is not None
    }
    work = with_chosen(work, chosen)
    return work.with_parts(replace(work.table, imports=()))
