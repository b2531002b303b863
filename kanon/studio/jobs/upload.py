"""Read an uploaded table in a worker, where running out of memory does no harm."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import PurePath
from pickle import PickleBuffer
from typing import Any, TypeVar

from kanon.base.progress import Progress
from kanon.errors import TableError, quoted
from kanon.report.origin import origin_of_content
from kanon.settings import exceeded, settings
from kanon.sources.opening import open_table
from kanon.sources.read_settings import ReadSettings
from kanon.sources.reading import TableFile
from kanon.studio.jobs.memory import limited_memory
from kanon.studio.session.request import Request, opening_cancelled, reading_cancelled
from kanon.studio.session.table_loading import uploaded_work
from kanon.studio.session.work import Work, with_fields

T = TypeVar("T")

AT_ONCE = 1.0
"""For so many seconds a page waits for a table before it is drawn: most are there by then."""


def upload_request(work: Work, content: bytes, name: str) -> Request | Work:
    """Open a file that was uploaded; of the same bytes under another name, the work under that."""
    file = work.table.file
    same = work.table.origin == "upload" and content == work.table.content
    if same and isinstance(file, TableFile) and PurePath(name).suffix == PurePath(file.name).suffix:
        return with_fields(work, title=name, file=replace(file, name=name))
    return Request(
        "uploading",
        open_upload,
        (PickleBuffer(content), name, ReadSettings()),
        lambda work, found: with_fields(
            found,
            version=work.version + 1,
            content=content if found.table.origin == "upload" else found.table.content,
        ),
        cancelled=opening_cancelled,
        died=out_of_memory(name),
    )


def rereading_request(
    work: Work,
    asked: ReadSettings,
    then: Callable[[Work, Work], Work],
    doing: str = "reading",
    **how: Any,
) -> Request | None:
    """Read an uploaded table in another way; None of any that cannot be read again."""
    if work.table.content is None:
        return None
    name = work.table.file.name
    return Request(
        doing,
        open_upload,
        (PickleBuffer(work.table.content), name, asked),
        then,
        cancelled=reading_cancelled,
        died=out_of_memory(name),
        **how,
    )


def people_request(work: Work, content: bytes, name: str) -> Request:
    """Read the population of a file that was uploaded."""
    return Request(
        "people",
        open_people,
        # Its columns are those of the table, by their names.
        (PickleBuffer(content), name, work.table.file.settings.header is not False),
        lambda work, found: with_fields(
            work, population=found, population_origin=origin_of_content(content, name)
        ),
        cancelled=opening_cancelled,
        died=out_of_memory(name),
    )


def out_of_memory(name: str) -> str:
    """The sentence about a file that asks for too much."""
    what = f"{quoted(name)} needs more memory to be opened than it may take"
    return exceeded("opening_megabytes", what)


def open_upload(progress: Progress, content: memoryview, name: str, asked: ReadSettings) -> Work:
    """The work on an uploaded table, but for its content, which the server has."""
    return _limited(
        progress,
        name,
        lambda: with_fields(uploaded_work(bytes(content), name, 0, asked), content=None),
    )


def open_people(progress: Progress, content: memoryview, name: str, header: bool) -> TableFile:
    """The table of a population."""
    settings = ReadSettings(header=header)
    return _limited(progress, name, lambda: open_table(bytes(content), name, settings))


def _limited(progress: Progress, name: str, make: Callable[[], T]) -> T:
    progress(0, "Reading the table")
    try:
        with limited_memory(settings().opening_megabytes):
            return make()
    except MemoryError:
        raise TableError(out_of_memory(name)) from None
