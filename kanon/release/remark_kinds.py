"""The kinds of remarks, each with advice."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

from kanon.base.data_files import read_data

Kind = Literal[
    "suppressed-before",
    "several-records",
    "linked",
    "homogeneous",
    "several-spellings",
    "passes-through",
    "almost-unique",
    "known-outside",
    "coarsened",
    "written",
    "extremes",
    "means-beside",
    "table-order",
    "restores-order",
    "minimality",
]


class RemarkKind(NamedTuple):
    title: str
    advice: str


_TEXTS = read_data(__file__)

KINDS: Mapping[Kind, RemarkKind] = {kind: RemarkKind(**_TEXTS[kind]) for kind in get_args(Kind)}
"""The kinds of remarks, in their order."""


@dataclass(frozen=True)
class Remark:
    """Something about a column that no privacy model of the plan covers."""

    kind: Kind  # one of :data:`KINDS`
    column: str
    share: float  # the share of the records that it is about, from 0 to 1
    found: str  # what was found, with its figure, in a sentence without values from the table


def sort_by_kind(remarks: Iterable[Remark]) -> dict[Kind, list[Remark]]:
    """The remarks by their kinds, so that the advice is given once."""
    remarks_of_kind: dict[Kind, list[Remark]] = {}
    for remark in remarks:
        remarks_of_kind.setdefault(remark.kind, []).append(remark)
    return remarks_of_kind


def list_sentences(remarks: Iterable[Remark]) -> list[str]:
    return [
        f"{' '.join(remark.found for remark in alike)} {KINDS[kind].advice}"
        for kind, alike in sort_by_kind(remarks).items()
    ]
