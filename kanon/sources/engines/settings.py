"""What every connection to DuckDB is made with."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any


def scratch() -> list[Path]:
    """The folder that may be spilled to, by ``KANON_SCRATCH``, if there is one."""
    given = os.environ.get("KANON_SCRATCH", "").strip()
    return [Path(given)] if given else []


def duckdb_settings() -> dict[str, Any]:
    """No extensions, nothing spilled unless allowed, no more memory than ``KANON_MEMORY`` says."""
    folders, limit = scratch(), os.environ.get("KANON_MEMORY", "").strip()
    return {
        "threads": os.cpu_count() or 1,
        "temp_directory": str(folders[0]) if folders else "",
        "preserve_insertion_order": False,
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        **({"memory_limit": limit} if limit else {}),
    }
