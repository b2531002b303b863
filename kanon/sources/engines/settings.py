"""What every connection to DuckDB is made with."""

import contextlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kanon.settings import bytes_of


def scratch() -> list[Path]:
    """The folder that may be spilled to, by ``KANON_SCRATCH``, if there is one."""
    given = os.environ.get("KANON_SCRATCH", "").strip()
    return [Path(given)] if given else []


def duckdb_settings(in_order: bool = False) -> dict[str, Any]:
    """No extensions, nothing spilled unless allowed, no more memory than ``KANON_MEMORY`` says."""
    folders, limit = scratch(), os.environ.get("KANON_MEMORY", "").strip()
    return {
        "threads": os.cpu_count() or 1,
        "temp_directory": str(folders[0]) if folders else "",
        "preserve_insertion_order": in_order,
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        **({"memory_limit": limit} if limit else {}),
    }


def limit_spilling(execute: Callable[[str], object]) -> None:
    """Let a connection spill no more than is allowed, and nine tenths of what is free."""
    for folder in scratch():
        most = bytes_of("scratch_megabytes")
        with contextlib.suppress(OSError):  # it is not there yet: DuckDB makes it
            most = min(most, shutil.disk_usage(folder).free * 9 // 10)
        execute(f"SET max_temp_directory_size='{most}B'")
