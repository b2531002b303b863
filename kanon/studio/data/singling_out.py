"""The search for the smallest sets of columns that single people out, and its changes of roles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import ClassVar

from kanon.base.fingerprint import fingerprint_of
from kanon.base.progress import Progress
from kanon.schema import Role
from kanon.sources.singling_out import SinglingOut, SmallestSet, singling_out
from kanon.sources.tables import Table
from kanon.studio.session.hierarchy_choices import with_choices, with_roles
from kanon.studio.session.parts import Message, SessionPart
from kanon.studio.session.work import Request, Work

SHARES = (0.001, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
"""The offered shares of records or persons that a set of columns must single out."""

KS = (2, 3, 5, 10)
SIZES = (1, 2, 3, 4, 5)


def asked_columns(work: Work) -> list[str]:
    return [name for name, role in work.table.roles.items() if role is not Role.IDENTIFIER]


def can_be_searched(work: Work) -> bool:
    return bool(asked_columns(work)) and work.table.highest_k >= min(KS)


def k_used(work: Work) -> int:
    """The chosen k, or the largest that the table has the records or persons for."""
    most = max(work.table.highest_k, min(KS))
    return max(k for k in KS if k <= min(work.view(SinglingView).k, most))


def about_search(work: Work) -> str:
    view = work.view(SinglingView)
    settings = (
        tuple(asked_columns(work)),
        view.share,
        k_used(work),
        view.size,
        work.table.person_counted,
        work.table.quasi_identifiers if work.table.dropped else [],
    )
    return fingerprint_of(work.table.digest, work.version, *settings)


def found_in(
    progress: Progress,
    table: Table,
    columns: Sequence[str],
    share: float,
    k: int,
    size: int,
    person: str | None,
) -> SinglingOut:
    def show_progress(fraction: float, _: str) -> None:
        progress(fraction, "Counting sets of columns")

    return singling_out(table, columns, share, k, size, progress=show_progress, person=person)


def singling_out_request(work: Work) -> Request | None:
    """None if the table has no columns to search or too few records."""
    if not can_be_searched(work):
        return None
    view = work.view(SinglingView)
    table = work.table
    arguments = (
        table.complete_records, asked_columns(work), view.share, k_used(work), view.size,
        table.person_counted,
    )  # fmt: skip
    stays = table.records.in_engine
    return Request(
        "singling", found_in, arguments, partial(with_sets, about_search(work)),
        limit="engine_minutes" if stays else "job_minutes",
    )  # fmt: skip


def with_sets(about: str, work: Work, result: SinglingOut) -> Work:
    return work.with_parts(replace(work.view(SinglingView), found=result, about=about))


def to_change(work: Work, smallest_set: SmallestSet) -> list[str]:
    """The columns of a set that are called insensitive, which the finding contradicts."""
    return [name for name in smallest_set.columns if work.table.roles.get(name) is Role.INSENSITIVE]


def with_sets_of(work: Work, columns: Sequence[str], role: Role) -> Work:
    before = {name: (work.table.roles[name], work.table.reasons[name]) for name in columns}
    undecided = work.table.undecided.intersection(columns)
    work = with_roles(work, columns, role)
    view = replace(work.view(SinglingView), before=before, undecided=undecided, given=role)
    notice = f"{', '.join(columns)}: now {role.value}."
    return work.with_parts(view, replace(work.message, notice=notice))


def can_be_undone(work: Work) -> bool:
    before, role = work.view(SinglingView).before, work.view(SinglingView).given
    return bool(before) and all(work.table.roles[name] is role for name in before)


def without_last(work: Work) -> Work:
    before = work.view(SinglingView).before
    undecided = work.table.undecided | work.view(SinglingView).undecided
    roles = {**work.table.roles, **{name: role for name, (role, _) in before.items()}}
    reasons = {**work.table.reasons, **{name: reason for name, (_, reason) in before.items()}}
    view = replace(work.view(SinglingView), before={})
    return with_choices(
        work.with_parts(
            view,
            replace(work.table, roles=roles, reasons=reasons, undecided=undecided),
            Message(),
        )
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class SinglingView(SessionPart):
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

    def read_again(self) -> SinglingView:
        """Drop the result when the table is read again: its columns may be gone."""
        return replace(self, found=None, about="", before={})
