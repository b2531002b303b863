"""Whether what is on screen was made with other settings than those chosen now."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from kanon.errors import KanonError
from kanon.plan import Plan
from kanon.studio.session.comparison_runs import outlook
from kanon.studio.session.run_plan import (
    comparison_settings,
    plan_of,
    release_settings,
    settings_of,
    without_lost,
)
from kanon.studio.session.work import Work


def outdated(work: Work) -> bool:
    """Whether the result on screen was made with other settings than those chosen now."""
    result = work.findings.result
    if result is None:
        return False
    try:
        return result_depends_on(work) != (True, result.settings)
    except KanonError:
        return True


def result_depends_on(work: Work) -> tuple[bool, str]:
    """Whether a k is chosen that the result on screen knows, and a fingerprint of the rest."""
    result = work.findings.result
    if result is None:
        return False, ""
    most = min(work.settings.k, result.prepared.classes.n_records)
    return result.k_for(most) == most, settings_of(work, plan_of(work))


def engine_release_outdated(work: Work) -> bool:
    """Whether the release that an engine wrote was made with other settings than those of now."""
    made = work.findings.engine_release
    try:
        return made is not None and engine_release_depends_on(work) != made.settings
    except KanonError:
        return True


def engine_release_depends_on(work: Work) -> str:
    """A fingerprint of all that a release depends on that an engine makes."""
    return release_settings(work, plan_of(work, in_engine=True))


def comparison_outdated(work: Work) -> bool:
    """Whether the comparison on screen lacks something of what is chosen now."""
    if work.findings.comparison is None:
        return False
    guides = [line.guide.name for line in work.findings.comparison.comparison.lines]
    settings = partial(comparison_settings, metrics=guides)
    if _differ(without_lost(work), settings, work.findings.comparison.settings):
        return True
    found = outlook(work)
    return bool(found.lacking or found.problem)


def _differ(work: Work, settings: Callable[[Work, Plan], str], made_with: str) -> bool:
    try:
        return settings(work, plan_of(work)) != made_with
    except KanonError:
        return True
