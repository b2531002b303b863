"""Why no test kills a mutant that survives: what each change does not change."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["why_of"]

_PROGRESS = "Only how often, or how far, progress is told."

_WHY: Mapping[tuple[str, str, str], str] = {
    ("kanon/recoding.py", "0", "1"): "No nodes were visited: the width of an empty array.",
}
"""By module, what stood there and what stands there now."""


def why_of(module: str, was: str, now: str) -> str:
    """The reason; empty if none is known."""
    return _WHY.get((module, was, now), "")
