"""The settings of every connection to DuckDB."""

import contextlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kanon.settings import get_byte_limit


def list_scratch_folders() -> list[Path]:
    """The folder that DuckDB may spill to, by ``KANON_SCRATCH``; empty without one."""
    folder = os.environ.get("KANON_SCRATCH", "").strip()
    return [Path(folder)] if folder else []


def get_duckdb_settings(in_order: bool = False) -> dict[str, Any]:
    """No extensions, no spilling unless allowed, no more memory than ``KANON_MEMORY`` says."""
    folders, limit = list_scratch_folders(), os.environ.get("KANON_MEMORY", "").strip()
    return {
        "threads": os.cpu_count() or 1,
        "temp_directory": str(folders[0]) if folders else "",
        "preserve_insertion_order": in_order,
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        **({"memory_limit": limit} if limit else {}),
    }


def set_spilling_limit(execute: Callable[[str], object]) -> None:
    """Let a connection spill at most what is allowed, and nine tenths of the free space."""
    for folder in list_scratch_folders():
        limit = get_byte_limit("scratch_megabytes")
        with contextlib.suppress(OSError):  # it is not there yet: DuckDB makes it
            limit = min(limit, shutil.disk_usage(folder).free * 9 // 10)
        execute(f"SET max_temp_directory_size='{limit}B'")
