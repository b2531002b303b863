"""A limit to the memory that a worker may take for one thing."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kanon.settings import MEGABYTE


@contextmanager
def limited_memory(megabytes: int) -> Iterator[None]:
    """Limit what this process may take beyond now, else a MemoryError; on Linux alone."""
    if sys.platform != "linux":
        yield
        return
    import resource

    before, hard = resource.getrlimit(resource.RLIMIT_DATA)
    allowed = [one for one in (before, hard) if one != resource.RLIM_INFINITY]
    most = min([_taken() + megabytes * MEGABYTE, *allowed])
    resource.setrlimit(resource.RLIMIT_DATA, (most, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (before, hard))


def _taken() -> int:
    """The bytes that count against the limit."""
    lines = Path("/proc/self/status").read_text("ascii").splitlines()
    kilobytes = next(line.split()[1] for line in lines if line.startswith("VmData:"))
    return int(kilobytes) * 1024
