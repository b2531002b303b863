"""The releases of a table that were handed out in this session, and what they say together.

Kept are plans and arrays of classes, no rows. Another table forgets them.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kanon.base.progress import Progress
from kanon.plan import Plan
from kanon.release.common_classes import Release
from kanon.release.composition import CombinedReleases, combine
from kanon.run import Run
from kanon.sources.tables import Table

_CLASSES_AT_ONCE, _RECORDS_AT_ONCE = 200_000, 300_000
"""What is worked out while a page waits, about two seconds; the rest is the worker's."""


@dataclass(frozen=True, eq=False)
class EarlierRelease:
    """A release that was downloaded or written."""

    key: str  # A fingerprint of all that it depends on
    title: str  # What its files are called
    release: Release  # What it shows of each class
    counts: bool = True  # Whether somebody may have got it; not if the user says that nobody did
    # Its plan; the name of the file, what its fingerprint is of, and the fingerprint.
    plan: str = ""
    file: tuple[str, tuple[str, str]] | None = None

    @classmethod
    def of(cls, settings: str, title: str, done: Run) -> EarlierRelease:
        """A release that was made with those settings, and whatever its plan requires."""
        key = f"{settings} {done.prepared.plan.privacy} {done.prepared.plan.order}"
        return cls(hashlib.sha256(key.encode()).hexdigest(), title, Release.of(done))


def with_handed(
    handed: Sequence[EarlierRelease], one: EarlierRelease
) -> tuple[EarlierRelease, ...]:
    """The releases handed out, with one more; one that was handed out before counts again."""
    return (*(each for each in handed if each.key != one.key), one)


def key_of_all(releases: Sequence[EarlierRelease]) -> str:
    """A fingerprint of several releases together."""
    return "|".join(each.key for each in releases)


def at_once(releases: Sequence[Release], table: Table) -> bool:
    """Whether releases are combined while a page waits: few classes, and no engine to be asked."""
    few = sum(each.recoding.classes.n_classes for each in releases) <= _CLASSES_AT_ONCE
    records = table.n_records * math.comb(len(releases), 2)  # which are compared pair by pair
    return few and not table.in_engine and records <= _RECORDS_AT_ONCE


def worked_out(
    progress: Progress, given: Sequence[dict[str, Any]], table: Table
) -> CombinedReleases:
    """What releases say together, in a worker, to which a plan is sent as its content."""
    progress(0, "Laying the releases side by side")
    plans = [{"plan": Plan.from_content(each["plan"])} for each in given]
    return combine([Release(**each | plan) for each, plan in zip(given, plans, strict=True)], table)
