"""Which columns single people out together: what is asked on the page Data, and what was found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

from kanon.schema import Role
from kanon.sources.singling_out import SinglingOut
from kanon.studio.session.parts import SessionPart

SHARES = (0.001, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
"""The shares of the records or persons that a set of columns may be asked to single out."""

KS = (2, 3, 5, 10)
SIZES = (1, 2, 3, 4, 5)


@dataclass(frozen=True, eq=False)
class SinglingView(SessionPart):
    share: float = 0.05  # See :func:`kanon.sources.singling_out.singling_out`
    k: int = 2
    size: int = 3
    # What was found last, and a fingerprint of what it was asked of.
    found: SinglingOut | None = None
    about: str = ""
    # The columns whose roles were changed by a finding last, with their roles and reasons then;
    # those that were not decided then; and the role that they were given.
    before: Mapping[str, tuple[Role, str]] = field(default_factory=dict)
    undecided: frozenset[str] = frozenset()
    given: Role | None = None

    LABELS: ClassVar[Mapping[str, str]] = {
        "share": "Share singled out, at least",
        "k": "Fewer alike than",
        "size": "Columns in a set, at most",
    }

    def read_again(self) -> SinglingView:
        """What stays when the table is read again: its columns may not be there any more."""
        return replace(self, found=None, about="", before={})
