"""What a remark is, and the kinds of them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

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
    "extremes",
    "means-beside",
    "table-order",
    "restores-order",
    "minimality",
]


class RemarkKind(NamedTuple):
    title: str
    advice: str


KINDS: Mapping[Kind, RemarkKind] = {
    "suppressed-before": RemarkKind(
        "Records that were suppressed before",
        "Remove them from the table: they hide nobody, and k counts them here.",
    ),
    "several-records": RemarkKind(
        "Several records per person",
        "If each value of such a column stands for one person, name it as the column that says "
        "which records are of one person: then k counts persons.",
    ),
    "linked": RemarkKind(
        "Pseudonyms that link records",
        "k looks at one class at a time: drop the pseudonym, or let one record stand for a person.",
    ),
    "homogeneous": RemarkKind(
        "Classes of one sensitive value",
        "k-anonymity does not prevent that; require l-diversity of the column too.",
    ),
    "several-spellings": RemarkKind(
        "Values written in several ways",
        "Clean such a column before, so that each value is written in one way, or coarsen it to a "
        "level that joins its spellings, which Hierarchies proposes.",
    ),
    "passes-through": RemarkKind(
        "Columns that pass through",
        "Make such a column an identifier if the release can do without it, else a "
        "quasi-identifier with a hierarchy.",
    ),
    "almost-unique": RemarkKind(
        "Almost unique quasi-identifiers",
        "Make such a column an identifier, which leaves the release, or give it a hierarchy that "
        "begins coarser, such as with years in place of days.",
    ),
    "known-outside": RemarkKind(
        "Sensitive columns that others may know",
        "Sensitive values stay in the release: if others can know them, make the column a "
        "quasi-identifier, or an identifier if it names people.",
    ),
    "coarsened": RemarkKind(
        "Coarsened sensitive columns",
        "What the models guarantee of such a column is about its groups: whoever learns the group "
        "of a person knows that the value is one of those.",
    ),
    "extremes": RemarkKind(
        "Ranges that show extremes of the table",
        "Set `ranges` to `outward`: a bound that fewer than k records reach is then left open, as "
        "in “65 or more”.",
    ),
    "means-beside": RemarkKind(
        "Ranges beside means", "Set `ranges` to `centroid`: the mean alone tells no value."
    ),
    "table-order": RemarkKind(
        "Rows in the table's order",
        "Let the rows leave sorted by what they show, unless somebody has to line them up.",
    ),
    "restores-order": RemarkKind(
        "Columns that restore the table's order",
        "Sorting the released rows does not help then: drop such a column (make it an identifier), "
        "or generalise it (make it a quasi-identifier).",
    ),
    "minimality": RemarkKind(
        "Classes that tell by not being split",
        "Require a larger k: where a class is too small to be split, nothing follows from it.",
    ),
}
"""The kinds of remark, in the order in which they are given."""


@dataclass(frozen=True)
class Remark:
    """Something about a column that no privacy model of the plan looks at."""

    kind: Kind  # one of :data:`KINDS`
    column: str
    share: float  # the share of the records that it is about, from 0 to 1
    found: str  # what was found, with its figure, in a sentence without values of the table


def by_kind(remarks: Iterable[Remark]) -> dict[Kind, list[Remark]]:
    """The remarks of each kind that there are, so that what to do is said once."""
    found: dict[Kind, list[Remark]] = {}
    for remark in remarks:
        found.setdefault(remark.kind, []).append(remark)
    return found


def sentences(remarks: Iterable[Remark]) -> list[str]:
    return [
        f"{' '.join(remark.found for remark in alike)} {KINDS[kind].advice}"
        for kind, alike in by_kind(remarks).items()
    ]
