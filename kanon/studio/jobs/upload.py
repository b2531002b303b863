"""Read an uploaded table in a worker, where running out of memory does no harm."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path, PurePath
from pickle import PickleBuffer
from typing import Any, TypeVar

from kanon.base.progress import Progress
from kanon.errors import TableError, quoted
from kanon.report.origin import origin_of_content
from kanon.settings import MEGABYTE, exceeded, settings
from kanon.sources.opening import open_table
from kanon.sources.read_settings import ReadSettings
from kanon.sources.reading import TableFile
from kanon.studio.session.table_loading import uploaded_work
from kanon.studio.session.work import Request, Work, opening_cancelled, reading_cancelled


@contextmanager
def limited_memory(megabytes: int) -> Iterator[None]:
    """Limit the further memory of this process, with a MemoryError beyond; Linux only."""
    if sys.platform != "linux":
        yield
        return
    import resource

    before, hard = resource.getrlimit(resource.RLIMIT_DATA)
    allowed = [limit for limit in (before, hard) if limit != resource.RLIM_INFINITY]
    most = min([_get_memory_use() + megabytes * MEGABYTE, *allowed])
    resource.setrlimit(resource.RLIMIT_DATA, (most, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (before, hard))


def _get_memory_use() -> int:
    lines = Path("/proc/self/status").read_text("ascii").splitlines()
    kilobytes = next(line.split()[1] for line in lines if line.startswith("VmData:"))
    return int(kilobytes) * 1024


T = TypeVar("T")


AT_ONCE = 1.0
"""Seconds that a page waits for a table before it is drawn: most are there by then."""


def upload_request(work: Work, content: bytes, name: str) -> Request | Work:
    """Request to open an uploaded file; the same bytes under another name need no worker."""
    file = work.table.file
    same = work.table.origin == "upload" and content == work.table.content
    if same and isinstance(file, TableFile) and PurePath(name).suffix == PurePath(file.name).suffix:
        return work.with_parts(replace(work.table, title=name, file=replace(file, name=name)))

    def store_table(work: Work, new: Work) -> Work:
        bytes_read = content if new.table.origin == "upload" else new.table.content
        return replace(new, version=work.version + 1, table=replace(new.table, content=bytes_read))

    arguments = (PickleBuffer(content), name, ReadSettings())
    return Request(
        "uploading", open_upload, arguments, store_table,
        cancelled=opening_cancelled, died=out_of_memory(name),
    )  # fmt: skip


def rereading_request(
    work: Work,
    read_settings: ReadSettings,
    then: Callable[[Work, Work], Work],
    doing: str = "reading",
    **how: Any,
) -> Request | None:
    """Request to read an uploaded table in another way; None if it was not uploaded."""
    if work.table.content is None:
        return None
    name = work.table.file.name
    arguments = (PickleBuffer(work.table.content), name, read_settings)
    return Request(
        doing, open_upload, arguments, then,
        cancelled=reading_cancelled, died=out_of_memory(name), **how,
    )  # fmt: skip


def people_request(work: Work, content: bytes, name: str) -> Request:
    def store_population(work: Work, file: TableFile) -> Work:
        origin = origin_of_content(content, name)
        return work.with_parts(replace(work.purpose, population=file, population_origin=origin))

    # Its columns have the names of the table's.
    arguments = (PickleBuffer(content), name, work.table.file.settings.header is not False)
    return Request(
        "people", open_people, arguments, store_population,
        cancelled=opening_cancelled, died=out_of_memory(name),
    )  # fmt: skip


def out_of_memory(name: str) -> str:
    problem = f"{quoted(name)} needs more memory to be opened than it may take"
    return exceeded("opening_megabytes", problem)


def open_upload(progress: Progress, content: memoryview, name: str, wanted: ReadSettings) -> Work:
    """Open an uploaded table; its content stays with the server."""
    work = _run_safely(progress, name, lambda: uploaded_work(bytes(content), name, 0, wanted))
    return work.with_parts(replace(work.table, content=None))


def open_people(progress: Progress, content: memoryview, name: str, header: bool) -> TableFile:
    settings = ReadSettings(header=header)
    return _run_safely(progress, name, lambda: open_table(bytes(content), name, settings))


def _run_safely(progress: Progress, name: str, read: Callable[[], T]) -> T:
    progress(0, "Reading the table")
    try:
        with limited_memory(settings().opening_megabytes):
            return read()
    except MemoryError:
        raise TableError(out_of_memory(name)) from None
