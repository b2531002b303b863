"""Counting the classes of a table that stays where it is, before a page asks for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from kanon.base.progress import Progress
from kanon.sources.stored import StoredTable
from kanon.studio.jobs import runner
from kanon.studio.session import state
from kanon.studio.session.engine_classes import ClassCount, counted_by, counted_table, uncounted
from kanon.studio.session.work import Request, Work


def count_classes(progress: Progress, table: StoredTable, columns: Sequence[str]) -> StoredTable:
    """Have the engine count the classes by some columns; returns the table with the count."""
    progress(0, "Grouping the records")
    table.group_sizes(columns)
    return table


def counting_request(work: Work) -> Request | None:
    """Count the classes of the table; None where they are known, or certainly come here."""
    table = counted_table(work)
    if table is None or not uncounted(work):
        return None
    about = counted_by(work)
    return Request(
        "counting", count_classes, (table, work.table.quasi_identifiers), _counted,
        limit="engine_minutes",
        # What was said is about what somebody did; this begins by itself.
        begins=lambda new: replace(new, message=work.message).with_parts(ClassCount(about)),
        cancelled=partial(_not_counted, sentence="Counting the classes was cancelled."),
        failed=_not_counted,
    )  # fmt: skip


def count_by_itself() -> None:
    """Count the classes once for each choice of quasi-identifiers, if that is needed."""
    work = state.work()
    about = counted_by(work) if "counting" in work.running or uncounted(work) else ""
    if "counting" in work.running and work.view(ClassCount).of != about:
        runner.cancel("counting")
        runner.collect()
    if uncounted(state.work()) and state.work().view(ClassCount).of != about:
        runner.run(counting_request)


def _counted(work: Work, found: StoredTable) -> Work:
    if isinstance(work.table.records, StoredTable):
        work.table.records.learn(found)
    return work.with_parts(ClassCount(work.view(ClassCount).of))


def _not_counted(work: Work, sentence: str) -> Work:
    return work.with_parts(ClassCount(work.view(ClassCount).of, sentence))
