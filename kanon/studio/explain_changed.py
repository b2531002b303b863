"""How the numbers about what changed are computed, with those of this release filled in."""

from __future__ import annotations

from kanon.measures import association_change, distribution_change, query_error
from kanon.measures.association_change import Associations, strongest
from kanon.measures.distribution_change import Distribution
from kanon.run import Run
from kanon.studio.changed import Changed
from kanon.studio.text import plain, shortened
from kanon.words import percent, thin

__all__ = ["how_changed"]


def how_changed(done: Run, changed: Changed, shown: Distribution) -> str:
    """The formulas of the page, term by term.

    Parameters
    ----------
    done
        The release.
    changed
        What it changed.
    shown
        The distribution that is looked at.
    """
    parts = [_spread(done), _distribution(done, changed, shown), _association(done, changed)]
    return "\n\n".join([*parts, _queries(done, changed), _way()])


def _spread(done: Run) -> str:
    gone = done.recoding.suppressed_records
    suppressed = f" The {thin(gone)} suppressed records have no value at all." if gone else ""
    return (
        "**Uniform spread.** A reader of the release knows that a record's value is one of the nl "
        "values below the released one, and no more. So a cell counts as 1/nl of a record at each "
        "of them; an original value that is a group already counts alike, and within a class "
        f"columns count as independent of each other.{suppressed}"
    )


def _distribution(done: Run, changed: Changed, shown: Distribution, most: int = 3) -> str:
    n = shown.n_records
    apart = abs(shown.before - shown.after)
    furthest = sorted(range(len(apart)), key=lambda place: -apart[place])[:most]
    terms = [
        f"|{shown.before[place]:.1f} − {shown.after[place]:.1f}|"
        for place in furthest
        if apart[place] > 0
    ]
    named = ", ".join(
        plain(shortened(shown.values[place], 20)) for place in furthest if apart[place] > 0
    )
    listed = " + ".join(terms) or "0"
    rest = " + …" if (apart > 0).sum() > len(terms) else ""
    gone = f" + {thin(shown.suppressed)}" if shown.suppressed else ""
    each = [f"{one.total_variation:.4f}" for one in changed.distributions]
    several = " + ".join(each[:4]) + (" + …" if len(each) > 4 else "")
    value = done.measures[distribution_change.CARD.name]
    whose = f" (the largest terms: {named})" if named else ""
    return (
        f"**Distribution change.** The total variation distance of {plain(shown.name)} is "
        f"½ · (Σ |before − after|{' + suppressed' if gone else ''}) / n = "
        f"½ · ({plain(listed)}{rest}{gone}) / {thin(n)} = "
        f"{shown.total_variation:.4f}{whose}. The mean over the {len(each)} quasi-identifiers: "
        f"({several}) / {len(each)} = **{value:.4f}**. 0: every value is as frequent as it was; "
        f"1: nothing is released. Source: {plain(distribution_change.CARD.source)}."
    )


def _association(done: Run, changed: Changed) -> str:
    value = done.measures[association_change.CARD.name]
    found = strongest(changed.before, changed.after)
    pairs = _pairs(changed.before)
    if not pairs or value is None:
        return (
            "**Association change.** The mean of |V before − V after| over pairs of columns; here "
            "there is none to compare."
        )
    example = ""
    if found is not None:
        example = (
            f" It changed most between {plain(found.one)} and {plain(found.other)}: "
            f"|{found.before:.4f} − {found.after:.4f}| = {abs(found.after - found.before):.4f}."
        ).replace("|", "\\|")
    return (
        "**Association change.** Cramér's V = √(χ² / (N · (min(r, c) − 1))) of the estimated "
        "numbers of records of every pair of values: 0 if the two columns say nothing of each "
        "other, 1 if one determines the other; N is their sum, r and c the numbers of values that "
        f"occur.{example} The mean of \\|V before − V after\\| over {thin(pairs)} pairs is "
        f"**{value:.4f}**. The mutual information is Σ p(a, b) · log2(p(a, b) / (p(a) · p(b))): so "
        "many bits of one column the other tells. Source: "
        f"{plain(association_change.CARD.source)}; mutual information: Shannon 1948."
    )


def _pairs(found: Associations) -> int:
    """How many pairs of columns were counted."""
    return int((found.cramers_v == found.cramers_v).sum()) // 2


def _queries(done: Run, changed: Changed) -> str:
    asked, names = changed.queries, done.recoding.classes.attributes
    middle = int(abs(asked.errors - asked.quantile(1 / 2)).argmin())
    about = " and ".join(plain(names[j]) for j in asked.queries.attributes[middle] if j >= 0)
    n = asked.n_records
    kinds = asked.queries.of_ranges
    true, estimated = float(asked.true[middle]), float(asked.estimated[middle])
    return (
        f"**Query error.** {thin(len(kinds))} random counts over two or three columns (fewer where "
        f"there are fewer): {thin(int(kinds.sum()))} of ranges, a run of values between two drawn "
        f"with equal chance in each column, and {thin(int((~kinds).sum()))} of single cells, the "
        "values of a record drawn at random. Every release is asked the same. It answers Σ over "
        "classes of \\|C\\| · Π \\|range ∩ values\\| / nl, the original table alike. "
        "The error is \\|estimate − true\\| / max(true, 0.1 % of n). One in the middle, about "
        f"{about}: true {true:.1f}, estimate {estimated:.1f}, so "
        f"{abs(estimated - true):.1f} / {max(true, n / 1000):.1f} = "
        f"{percent(float(asked.errors[middle]))}. Source: {plain(query_error.CARD.source)}."
    )


def _way() -> str:
    return (
        "**Of the way to all at root**, in the table of all measures: (after − before) / (all at "
        "root − before), in percent. So measures of different units can be put in an order: 0 % is "
        "the original table, 100 % a release with every quasi-identifier of every record at its "
        "root. It can be more, as suppressed records count for more than root cells in some "
        "measures."
    )
