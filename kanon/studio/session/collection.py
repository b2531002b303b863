"""Configurations that a session keeps under a name, and releases that it handed out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kanon.base.fingerprint import fingerprint_of
from kanon.hierarchy import Hierarchy
from kanon.plan import Plan
from kanon.release.common_classes import Release
from kanon.release.drift import Finding
from kanon.report.changes import ReportRecord
from kanon.run import Run
from kanon.studio.session.parts import SessionPart


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
        plan = done.prepared.plan
        key = fingerprint_of(settings, plan.privacy, plan.order)
        return cls(key, title, Release.of(done))


@dataclass(frozen=True, eq=False)
class NamedConfiguration:
    title: str  # Its name
    plan: Plan  # All that it is, and its hierarchies as they were then
    trees: Mapping[str, Hierarchy]
    shown: bool = True  # Whether it stands among the lines that are compared
    # What is new for it in the table, if that is another one than it was made for.
    findings: tuple[Finding, ...] = ()

    @property
    def fits(self) -> bool:
        """Whether it could be run on the table, for some k."""
        return all(found.kind == "models" for found in self.findings if found.stops)


@dataclass(frozen=True, eq=False)
class Collection(SessionPart):
    """What stays while settings change: configurations under a name, and releases handed out."""

    # The configurations that were kept, and the one that was removed last.
    pinned: tuple[NamedConfiguration, ...] = ()
    unpinned: NamedConfiguration | None = None
    # Whose hierarchies all releases are measured by: empty for those in use, the name of a kept
    # configuration, None for each by its own.
    yardstick: str | None = ""
    # The releases of this table that were downloaded or written; and those that were made into
    # files of late and are not among them yet, the one list that is changed.
    handed: tuple[EarlierRelease, ...] = ()
    made: list[EarlierRelease] = field(default_factory=list)
    # What the reports said that were downloaded, the last one last; a list that is changed too.
    reports: list[ReportRecord] = field(default_factory=list)
