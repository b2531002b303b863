"""How the numbers about what changed are computed, with those of this release filled in."""

from __future__ import annotations

from kanon.base.formatting import percent, thin
from kanon.base.language import say, say_counted
from kanon.measures import association_change, distribution_change, query_error
from kanon.measures.association_change import Associations, strongest
from kanon.measures.distribution_change import Distribution
from kanon.run import Run
from kanon.studio.session.text import plain, shortened
from kanon.studio.utility.changes import Changed


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
    spread = say(
        "**Uniform spread.** A reader of the release knows that a record's value is one of the "
        "values that the released one stands for, and no more. So a cell that stands for v values "
        "counts as 1/v of a record at each of them; an original value that is a group already "
        "counts alike, and within a class columns count as independent of each other."
    )
    if not gone:
        return spread
    suppressed = say_counted(
        gone,
        "The {count} suppressed record has no value at all.",
        "The {count} suppressed records have no value at all.",
    )
    return f"{spread} {suppressed}"


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
    whose = " " + say("(the largest terms: {values})", values=named) if named else ""
    apart_said = say("|before − after|")
    suppressed = " + " + say("suppressed") if gone else ""
    return say(
        "**Distribution change.** The total variation distance of {column} is {formula} = {terms} "
        "= {distance}. The mean over the {number} quasi-identifiers: {mean} = **{value}**. 0: "
        "every value is as frequent as it was; 1: nothing is released. Source: {source}.",
        column=plain(shown.name),
        formula=f"½ · (Σ {apart_said}{suppressed}) / n",
        terms=f"½ · ({plain(listed)}{rest}{gone}) / {thin(n)}",
        distance=f"{shown.total_variation:.4f}{whose}",
        number=len(each),
        mean=f"({several}) / {len(each)}",
        value=f"{value:.4f}",
        source=plain(distribution_change.CARD.source),
    )


def _association(done: Run, changed: Changed) -> str:
    value = done.measures[association_change.CARD.name]
    found = strongest(changed.before, changed.after)
    pairs = _pairs(changed.before)
    if not pairs or value is None:
        return say(
            "**Association change.** The mean of |V before − V after| over pairs of columns; here "
            "there is none to compare."
        )
    parts = [
        say(
            "**Association change.** Cramér's V = √(χ² / (N · (min(r, c) − 1))) of the estimated "
            "numbers of records of every pair of values: 0 if the two columns say nothing of each "
            "other, 1 if one determines the other; N is their sum, r and c the numbers of values "
            "that occur."
        )
    ]
    if found is not None:
        parts.append(
            say(
                "It changed most between {one} and {other}: {difference}.",
                one=plain(found.one),
                other=plain(found.other),
                difference=f"|{found.before:.4f} − {found.after:.4f}| = "
                f"{abs(found.after - found.before):.4f}",
            ).replace("|", "\\|")
        )
    parts += [
        say(
            "The mean of \\|V before − V after\\| over {number} pairs is **{value}**.",
            number=thin(pairs),
            value=f"{value:.4f}",
        ),
        say(
            "The mutual information is Σ p(a, b) · log2(p(a, b) / (p(a) · p(b))): so many bits of "
            "one column the other tells."
        ),
        say(
            "Source: {source}; mutual information: Shannon 1948.",
            source=plain(association_change.CARD.source),
        ),
    ]
    return " ".join(parts)


def _pairs(found: Associations) -> int:
    """How many pairs of columns were counted."""
    return int((found.cramers_v == found.cramers_v).sum()) // 2


def _queries(done: Run, changed: Changed) -> str:
    asked, names = changed.queries, done.recoding.classes.attributes
    middle = int(abs(asked.errors - asked.quantile(1 / 2)).argmin())
    columns = [plain(names[j]) for j in asked.queries.attributes[middle] if j >= 0]
    about = columns[0]
    for column in columns[1:]:
        about = say("{columns} and {last}", columns=about, last=column)
    n = asked.n_records
    kinds = asked.queries.of_ranges
    true, estimated = float(asked.true[middle]), float(asked.estimated[middle])
    parts = [
        say(
            "**Query error.** {all} random counts over two or three columns (fewer where there are "
            "fewer): {ranges} of ranges, a run of values between two drawn with equal chance in "
            "each column, and {cells} of single cells, the values of a record drawn at random. "
            "Every release is asked the same.",
            all=thin(len(kinds)),
            ranges=thin(int(kinds.sum())),
            cells=thin(int((~kinds).sum())),
        ),
        say(
            "It answers Σ over classes of \\|C\\| · Π \\|range ∩ values\\| / \\|values\\|, the "
            "values being those that a class stands for; the original table alike. The error is "
            "\\|estimate − true\\| / max(true, 0.1 % of n)."
        ),
        say(
            "One in the middle, about {columns}: true {true}, estimate {estimate}, so {error}.",
            columns=about,
            true=f"{true:.1f}",
            estimate=f"{estimated:.1f}",
            error=f"{abs(estimated - true):.1f} / {max(true, n / 1000):.1f} = "
            f"{percent(float(asked.errors[middle]))}",
        ),
        say("Source: {source}.", source=plain(query_error.CARD.source)),
    ]
    return " ".join(parts)


def _way() -> str:
    return say(
        "**Of the way to all at root**, in the table of all measures: (after − before) / (all at "
        "root − before), in percent. So measures of different units can be put in an order: 0 % is "
        "the original table, 100 % a release with every quasi-identifier of every record at its "
        "root. It can be more, as suppressed records count for more than root cells in some "
        "measures."
    )
