"""Lower bounds on the loss of any release: one per table, hierarchies, metric and k."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from kanon.algorithms.lower_bound import least_k
from kanon.algorithms.task import Task
from kanon.base.fingerprint import compute_fingerprint
from kanon.plan import Plan
from kanon.report.optimality_gap import QUICKLY, estimate_bound_effort, find_bounds
from kanon.run import PreparedRun
from kanon.studio.session.findings import LowerBoundResult
from kanon.studio.session.run_plan import hash_run_inputs
from kanon.studio.session.sample_results import build_sample_key, get_sample_results
from kanon.studio.session.work import JobRequest, SessionState


@dataclass(frozen=True, eq=False)
class BoundTask:
    """The task of a bound, and a fingerprint of all that it depends on."""

    task: Task
    key: str

    @classmethod
    def from_prepared(cls, prepared: PreparedRun) -> BoundTask:
        """The bound of all releases for a plan's k, whatever its algorithm."""
        task = prepared.task_of_bound()
        classes = task.classes
        trees = [tree.parent for tree in classes.hierarchies]
        key = compute_fingerprint(
            least_k(task), classes.nodes, classes.counts, trees, task.potentials
        )
        return cls(task, key)

    @property
    def effort(self) -> int:
        return estimate_bound_effort(self.task.classes)


def list_missing_bounds(
    work: SessionState, wanted: Sequence[BoundTask], closely: bool
) -> list[BoundTask]:
    """The bounds that are not known yet, or only by a quick search; each once."""
    known = work.findings.bounds
    distinct = {bound.key: bound for bound in wanted}
    return [
        bound
        for key, bound in distinct.items()
        if key not in known or (closely and not known[key].closely)
    ]


def take_sample_bounds(work: SessionState, wanted: Sequence[BoundTask]) -> SessionState:
    """The state with the bounds that any session has found for this sample."""
    found = {
        bound.key: known
        for bound in list_missing_bounds(work, wanted, closely=False)
        if (known := get_sample_results().get(build_sample_key(work, bound.key)))
    }
    bounds = {**work.findings.bounds, **found}
    return work.replace_sections(replace(work.findings, bounds=bounds)) if found else work


def request_bounds(
    work: SessionState, wanted: Sequence[BoundTask], closely: bool
) -> JobRequest | None:
    """Request the bounds that are not known yet; None if all are."""
    todo = list_missing_bounds(work, wanted, closely)
    if not todo:
        return None
    doing, tasks = "closer" if closely else "bound", [(bound.key, bound.task) for bound in todo]
    return JobRequest(
        doing, find_bounds, (tasks, closely), partial(_store_bounds, doing),
        limit="study_minutes" if closely else "job_minutes",
        lane="long" if closely else "short",
        # A quick search begins by itself, so the message of the last action stays.
        begins=lambda new: new if closely else replace(new, message=work.message),
    )  # fmt: skip


def _store_bounds(doing: str, work: SessionState, _: object) -> SessionState:
    bounds = dict(work.findings.bounds)
    parts: Any = work.running[doing].job.parts
    for key, *result in parts:
        bound = LowerBoundResult(*result)
        if key not in bounds or not bounds[key].closely:
            bounds[key] = bound
            get_sample_results().put(build_sample_key(work, key), bound)
    return work.replace_sections(replace(work.findings, bounds=bounds))


def get_known_bound(work: SessionState, plan: Plan) -> LowerBoundResult | None:
    """The lower bound of a plan whose release is on screen, at this k or another."""
    result = work.findings.result
    if not work.findings.bounds or result is None or result.settings != hash_run_inputs(work, plan):
        return None
    wanted = BoundTask.from_prepared(replace(result.prepared, plan=plan))
    bound = work.findings.bounds.get(wanted.key)
    return bound if bound is not None and (bound.closely or wanted.effort <= QUICKLY) else None
