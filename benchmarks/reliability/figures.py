"""The figures of each part, kept in figures.json until that part is run again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

from benchmarks.fresh import ROOT
from benchmarks.provenance import commit, machine

__all__ = ["FILE", "PAGE", "keep", "kept"]

FILE = Path(__file__).with_name("figures.json")

PAGE = ROOT / "docs" / "figures" / "reliability.md"


def kept() -> dict[str, dict[str, Any]]:
    """The last figures of every part that was run; a part that was never run is absent."""
    return json.loads(FILE.read_text("utf-8")) if FILE.exists() else {}


def keep(part: str, figures: Mapping[str, Any]) -> None:
    """Put the figures of a part in place of its last ones, with when and where they were found."""
    about = {"date": f"{date.today():%Y-%m-%d}", "commit": commit(FILE, PAGE), "machine": machine()}
    parts = {**kept(), part: {**about, **figures}}
    FILE.write_text(json.dumps(parts, indent=1, sort_keys=True) + "\n", "utf-8")
