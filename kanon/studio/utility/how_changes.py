"""How the numbers about what changed are computed, with those of this release filled in."""

from kanon.base.formatting import counted, percent, thin, write_decimals
from kanon.base.how_texts import Sections
from kanon.measures import association_change, distribution_change, query_error
from kanon.measures.association_change import strongest
from kanon.measures.distribution_change import Distribution
from kanon.run import Run
from kanon.studio.session.text import plain, shortened
from kanon.studio.utility.changes import Changes

_how = Sections(__file__)


def how_changed(done: Run, changed: Changes, shown: Distribution) -> str:
    parts = [_spread(done), _distribution(done, changed, shown), _association(done, changed)]
    return "\n\n".join([*parts, _queries(done, changed), _how("root")])


def _spread(done: Run) -> str:
    gone = done.recoding.suppressed_records
    if not gone:
        return _how("spread")
    suppressed = counted(gone, "suppressed record has", "suppressed records have")
    return f"{_how('spread')} The {suppressed} no value at all."


def _distribution(done: Run, changed: Changes, shown: Distribution, most: int = 3) -> str:
    n = shown.n_records
    apart = abs(shown.before - shown.after)
    furthest = sorted(range(len(apart)), key=lambda place: -apart[place])[:most]
    furthest = [place for place in furthest if apart[place] > 0]
    terms = [
        f"|{write_decimals(shown.before[place], 1)} − {write_decimals(shown.after[place], 1)}|"
        for place in furthest
    ]
    named = ", ".join(plain(shortened(shown.values[place], 20)) for place in furthest)
    listed = " + ".join(terms) or "0"
    rest = " + …" if (apart > 0).sum() > len(terms) else ""
    gone = f" + {thin(shown.suppressed)}" if shown.suppressed else ""
    each = [write_decimals(one.total_variation, 4) for one in changed.distributions]
    several = " + ".join(each[:4]) + (" + …" if len(each) > 4 else "")
    value = done.measures[distribution_change.CARD.name]
    whose = f" (the largest terms: {named})" if named else ""
    suppressed = " + suppressed" if gone else ""
    return _how(
        "distribution",
        column=plain(shown.name),
        formula=f"½ · (Σ |before − after|{suppressed}) / n",
        terms=f"½ · ({plain(listed)}{rest}{gone}) / {thin(n)}",
        distance=f"{write_decimals(shown.total_variation, 4)}{whose}",
        number=len(each),
        mean=f"({several}) / {len(each)}",
        value=write_decimals(value, 4),
        source=plain(distribution_change.CARD.source),
    )


def _association(done: Run, changed: Changes) -> str:
    value = done.measures[association_change.CARD.name]
    found = strongest(changed.before, changed.after)
    pairs = changed.before.pairs
    if not pairs or value is None:
        return (
            "**Association change.** The mean of |V before − V after| over pairs of columns; "
            "here there is none to compare."
        )
    most = ""
    if found is not None:
        before, after = write_decimals(found.before, 4), write_decimals(found.after, 4)
        gap = f"|{before} − {after}| = {abs(found.after - found.before):.4f}"
        most = f"It changed most between {plain(found.one)} and {plain(found.other)}: {gap}. "
        most = most.replace("|", "\\|")
    return _how(
        "associations",
        most=most,
        bins=association_change.BINS,
        fewest=association_change.RECORDS_PER_VALUE,
        number=thin(pairs),
        value=write_decimals(value, 4),
        source=plain(association_change.CARD.source),
    )


def _queries(done: Run, changed: Changes) -> str:
    asked, names = changed.queries, done.recoding.classes.attributes
    middle = int(abs(asked.errors - asked.quantile(1 / 2)).argmin())
    about = " and ".join(plain(names[j]) for j in asked.queries.attributes[middle] if j >= 0)
    n = asked.n_records
    kinds = asked.queries.of_ranges
    true, estimated = float(asked.true[middle]), float(asked.estimated[middle])
    return _how(
        "queries",
        all=thin(len(kinds)),
        ranges=thin(int(kinds.sum())),
        cells=thin(int((~kinds).sum())),
        columns=about,
        true=f"{true:.1f}",
        estimate=f"{estimated:.1f}",
        error=f"{abs(estimated - true):.1f} / {max(true, n / 1000):.1f} = "
        f"{percent(float(asked.errors[middle]))}",
        source=plain(query_error.CARD.source),
    )
