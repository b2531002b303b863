"""Whether a table's classes come here: those of a table in an engine may be too many."""

from kanon.base.formatting import thin
from kanon.errors import KanonError, PlanError
from kanon.settings import settings
from kanon.sources.stored import StoredTable
from kanon.studio.session.work import Work


def counted_table(work: Work) -> StoredTable | None:
    """The records that a run works on, where they may have more classes than come here."""
    table = work.table
    if not table.records.in_engine or not table.quasi_identifiers:
        return None
    try:
        found = table.complete_records
        assert isinstance(found, StoredTable)
        return found if found.most_classes(table.quasi_identifiers) > settings().classes else None
    except KanonError:  # the page says it where it asks for the values
        return None


def counted_by(work: Work) -> str:
    table = work.table
    return repr((work.version, table.dropped > 0, table.quasi_identifiers))


def uncounted(work: Work) -> bool:
    """Whether it is not known yet if the classes come here: to count them may take long."""
    table = counted_table(work)
    return table is not None and table.known_classes(work.table.quasi_identifiers) is None


def classes_kept(work: Work) -> int | None:
    """The number of classes that stay in the engine; None where they come here, or are unknown."""
    table = counted_table(work)
    number = None if table is None else table.known_classes(work.table.quasi_identifiers)
    return number if number is not None and number > settings().classes else None


def said_kept(number: int) -> str:
    return (
        f"The quasi-identifiers of this table have {thin(number)} different combinations of "
        f"values, and {thin(settings().classes)} come here at most (setting classes): they stay "
        "in the engine that has the table, which counts, merges and writes."
    )


def check_classes_here(work: Work) -> None:
    if uncounted(work):
        raise PlanError(
            "The classes of this table are not counted yet, and they may be too many to come here."
        )
    number = classes_kept(work)
    if number is not None:
        raise PlanError(f"{said_kept(number)} The page Anonymise releases such a table.")
