"""The kinds of remarks, each with advice."""

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


KINDS: Mapping[Kind, RemarkKind] = {
    "suppressed-before": RemarkKind(
        "Records that were suppressed before",
        "Remove them from the table: k counts them, but they hide nobody.",
    ),
    "several-records": RemarkKind(
        "Several records per person",
        "If each value of such a column stands for one person, choose it as the column that "
        "identifies the person: then k counts persons.",
    ),
    "linked": RemarkKind(
        "Pseudonyms that link records",
        "k considers one class at a time: drop the pseudonym, or keep one record per person.",
    ),
    "homogeneous": RemarkKind(
        "Classes of one sensitive value",
        "k-anonymity does not prevent this: require l-diversity of the column too.",
    ),
    "several-spellings": RemarkKind(
        "Values written in several ways",
        "Clean such a column first, so that each value is written in one way, or coarsen it to a "
        "level that joins its spellings: the Hierarchies page proposes one.",
    ),
    "passes-through": RemarkKind(
        "Columns that pass through",
        "Make such a column an identifier if the release can do without it, otherwise a "
        "quasi-identifier with a hierarchy.",
    ),
    "almost-unique": RemarkKind(
        "Almost unique quasi-identifiers",
        "Make such a column an identifier, which removes it from the release, or give it a "
        "hierarchy that starts at a coarser level, for example with years instead of days.",
    ),
    "known-outside": RemarkKind(
        "Sensitive columns that others may know",
        "Sensitive values stay in the release: if others might know them, make the column a "
        "quasi-identifier, or an identifier if it names people.",
    ),
    "coarsened": RemarkKind(
        "Coarsened sensitive columns",
        "The models protect only the groups of such a column: anyone who learns a person's group "
        "knows that the value is one of those in it.",
    ),
    "written": RemarkKind(
        "Classes that show somebody's value",
        "Write the mean instead: it is nobody's value, unless all values of a class are equal.",
    ),
    "extremes": RemarkKind(
        "Ranges that show extremes of the table",
        "Set `ranges` to `outward` with Mondrian or MDAV: a bound that fewer than k records reach "
        "is then left open, as in “65 or more”. For a column with `written`, choose `mean`.",
    ),
    "means-beside": RemarkKind(
        "Ranges beside means", "Set `ranges` to `centroid`: the mean alone reveals no value."
    ),
    "table-order": RemarkKind(
        "Rows in the table's order",
        "Release the rows sorted by what they show, unless someone has to line them up with the "
        "table.",
    ),
    "restores-order": RemarkKind(
        "Columns that restore the table's order",
        "Sorting the released rows does not help here: drop such a column (make it an identifier), "
        "or generalise it (make it a quasi-identifier).",
    ),
    "minimality": RemarkKind(
        "Classes that reveal something by not being split",
        "Require a larger k: nothing follows from a class that is too small to be split.",
    ),
}
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
