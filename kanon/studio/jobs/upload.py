"""Read an uploaded table in a worker, where running out of memory does no harm."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path, PurePath
from pickle import PickleBuffer
from typing import Any, TypeVar

from kanon.base.progress import Progress
from kanon.errors import TableError, quote
from kanon.report.origin import get_content_origin
from kanon.run.arx import read_arx_project
from kanon.settings import MEGABYTE, describe_exceeded_limit, get_settings
from kanon.sources.opening import open_table
from kanon.sources.read_settings import ReadSettings
from kanon.sources.reading import TableFile
from kanon.studio.session.run_plan import apply_plan
from kanon.studio.session.table_loading import open_uploaded_table, start_with_upload
from kanon.studio.session.work import (
    JobRequest,
    SessionState,
)


@contextmanager
def limit_memory(megabytes: int) -> Iterator[None]:
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


def request_upload(work: SessionState, content: bytes, name: str) -> JobRequest | SessionState:
    """Request to open an uploaded file; the same bytes under another name need no worker."""
    file = work.table.file
    same = work.table.origin == "upload" and content == work.table.content
    if same and isinstance(file, TableFile) and PurePath(name).suffix == PurePath(file.name).suffix:
        return work.replace_sections(replace(work.table, title=name, file=replace(file, name=name)))

    def store_table(work: SessionState, new: SessionState) -> SessionState:
        # Of an ARX project, the worker gives the table alone.
        is_table = new.table.origin == "upload" and new.table.content is None
        bytes_read = content if is_table else new.table.content
        return replace(new, version=work.version + 1, table=replace(new.table, content=bytes_read))

    arguments = (PickleBuffer(content), name, ReadSettings())
    return JobRequest(
        "uploading", open_upload, arguments, store_table,
        death_message=describe_out_of_memory(name),
    )  # fmt: skip


def request_rereading(
    work: SessionState,
    read_settings: ReadSettings,
    then: Callable[[SessionState, SessionState], SessionState],
    doing: str = "reading",
    **how: Any,
) -> JobRequest | None:
    """Request to read an uploaded table in another way; None if it was not uploaded."""
    if work.table.content is None:
        return None
    name = work.table.file.name
    arguments = (PickleBuffer(work.table.content), name, read_settings)
    return JobRequest(
        doing, open_upload, arguments, then,
        death_message=describe_out_of_memory(name), **how,
    )  # fmt: skip


def request_population(work: SessionState, content: bytes, name: str) -> JobRequest:
    def store_population(work: SessionState, file: TableFile) -> SessionState:
        origin = get_content_origin(content, name)
        return work.replace_sections(
            replace(work.purpose, population=file, population_origin=origin)
        )

    # Its columns have the names of the table's.
    arguments = (PickleBuffer(content), name, work.table.file.settings.header is not False)
    return JobRequest(
        "people", open_people, arguments, store_population,
        death_message=describe_out_of_memory(name),
    )  # fmt: skip


def describe_out_of_memory(name: str) -> str:
    problem = f"{quote(name)} needs more memory to be opened than is allowed"
    return describe_exceeded_limit("opening_megabytes", problem)


def open_upload(
    progress: Progress, content: memoryview, name: str, wanted: ReadSettings
) -> SessionState:
    """Open an uploaded table, or an ARX project; a table's content stays with the server."""
    if name.lower().endswith(".deid"):
        return _run_safely(progress, name, lambda: _open_arx_project(bytes(content), name))
    work = _run_safely(progress, name, lambda: open_uploaded_table(bytes(content), name, 0, wanted))
    return work.replace_sections(replace(work.table, content=None))


def _open_arx_project(content: bytes, name: str) -> SessionState:
    project = read_arx_project(content, name)
    file = replace(project.file, found=(*project.file.found, *project.left_out))
    work = apply_plan(start_with_upload(file, project.table, name), project.plan)
    opened = "The ARX project was opened with its roles, hierarchies and settings."
    return work.add_notice(" ".join([opened, *project.left_out]))


def open_people(progress: Progress, content: memoryview, name: str, header: bool) -> TableFile:
    settings = ReadSettings(header=header)
    return _run_safely(progress, name, lambda: open_table(bytes(content), name, settings))


def _run_safely(progress: Progress, name: str, read: Callable[[], T]) -> T:
    progress(0, "Reading the table")
    try:
        with limit_memory(get_settings().opening_megabytes):
            return read()
    except MemoryError:
        raise TableError(describe_out_of_memory(name)) from None
