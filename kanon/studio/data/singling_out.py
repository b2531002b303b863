"""The search for the smallest sets of columns that single people out, and its changes of roles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import ClassVar

from kanon.base.fingerprint import compute_fingerprint
from kanon.base.progress import Progress
from kanon.schema import Role
from kanon.sources.singling_out import SinglingOut, SmallestSet, singling_out
from kanon.sources.tables import Table
from kanon.studio.session.hierarchy_choices import set_roles, update_hierarchies
from kanon.studio.session.parts import Message, StateSection
from kanon.studio.session.work import JobRequest, SessionState

SHARES = (0.001, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
"""The offered shares of records or persons that a set of columns must single out."""

KS = (2, 3, 5, 10)
SIZES = (1, 2, 3, 4, 5)


def list_searched_columns(work: SessionState) -> list[str]:
    return [name for name, role in work.table.roles.items() if role is not Role.IDENTIFIER]


def can_search(work: SessionState) -> bool:
    return bool(list_searched_columns(work)) and work.table.highest_k >= min(KS)


def get_search_k(work: SessionState) -> int:
    """The chosen k, or the largest that the table has the records or persons for."""
    most = max(work.table.highest_k, min(KS))
    return max(k for k in KS if k <= min(work.view(SinglingView).k, most))


def get_search_key(work: SessionState) -> str:
    view = work.view(SinglingView)
    settings = (
        tuple(list_searched_columns(work)),
        view.share,
        get_search_k(work),
        view.size,
        work.table.person_for_k,
        work.table.quasi_identifiers if work.table.dropped else [],
    )
    return compute_fingerprint(work.table.digest, work.version, *settings)


def search_in_worker(
    progress: Progress,
    table: Table,
    columns: Sequence[str],
    share: float,
    k: int,
    size: int,
    person: str | None,
) -> SinglingOut:
    def show_search_progress(fraction: float, _: str) -> None:
        progress(fraction, "Counting sets of columns")

    return singling_out(
        table, columns, share, k, size, progress=show_search_progress, person=person
    )


def build_singling_request(work: SessionState) -> JobRequest | None:
    """None if the table has no columns to search or too few records."""
    if not can_search(work):
        return None
    view = work.view(SinglingView)
    table = work.table
    arguments = (
        table.complete_records, list_searched_columns(work), view.share, get_search_k(work),
        view.size, table.person_for_k,
    )  # fmt: skip
    stays = table.records.in_engine
    return JobRequest(
        "singling", search_in_worker, arguments, partial(store_sets, get_search_key(work)),
        limit="engine_minutes" if stays else "job_minutes",
    )  # fmt: skip


def store_sets(about: str, work: SessionState, result: SinglingOut) -> SessionState:
    return work.replace_sections(replace(work.view(SinglingView), found=result, about=about))


def list_insensitive(work: SessionState, smallest_set: SmallestSet) -> list[str]:
    """The columns of a set that are called insensitive, which the finding contradicts."""
    return [name for name in smallest_set.columns if work.table.roles.get(name) is Role.INSENSITIVE]


def set_role_of_columns(work: SessionState, columns: Sequence[str], role: Role) -> SessionState:
    before = {name: (work.table.roles[name], work.table.reasons[name]) for name in columns}
    undecided = work.table.undecided.intersection(columns)
    work = set_roles(work, columns, role)
    view = replace(work.view(SinglingView), before=before, undecided=undecided, given=role)
    notice = f"{', '.join(columns)}: now {role.value}."
    return work.replace_sections(view, replace(work.message, notice=notice))


def can_undo_roles(work: SessionState) -> bool:
    before, role = work.view(SinglingView).before, work.view(SinglingView).given
    return bool(before) and all(work.table.roles[name] is role for name in before)


def undo_roles(work: SessionState) -> SessionState:
    before = work.view(SinglingView).before
    undecided = work.table.undecided | work.view(SinglingView).undecided
    roles = {**work.table.roles, **{name: role for name, (role, _) in before.items()}}
    reasons = {**work.table.reasons, **{name: reason for name, (_, reason) in before.items()}}
    view = replace(work.view(SinglingView), before={})
    return update_hierarchies(
        work.replace_sections(
            view,
            replace(work.table, roles=roles, reasons=reasons, undecided=undecided),
            Message(),
        )
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class SinglingView(StateSection):
    share: float = 0.05  # See :func:`kanon.sources.singling_out.singling_out`
    k: int = 2
    size: int = 3
    # The last result, and a fingerprint of the table and settings that it is of.
    found: SinglingOut | None = None
    about: str = ""
    # The columns that the last change of roles concerned, with their roles and reasons before;
    # those not decided before; and the role that they got.
    before: Mapping[str, tuple[Role, str]] = field(default_factory=dict)
    undecided: frozenset[str] = frozenset()
    given: Role | None = None

    LABELS: ClassVar[Mapping[str, str]] = {
        "share": "Share singled out, at least",
        "k": "Fewer alike than",
        "size": "Columns in a set, at most",
    }

    def reset_after_reread(self) -> SinglingView:
        """Drop the result when the table is read again: its columns may be gone."""
        return replace(self, found=None, about="", before={})
