"""What the numbers on a page mean: one sentence for each, with the number in it.

For readers who are no statisticians: no symbols, and every term is explained. Names of columns
and metrics are passed as they are displayed.
"""

from kanon.base.formatting import CountedUnit, choose_plural, count_noun, write_count, write_percent


def describe_alteration(share: float, metric: str) -> str:
    """Alteration, in percent."""
    return (
        f"{write_percent(share)} of all that could be lost was lost, measured by {metric}. 0 % "
        "leaves the table as it was."
    )


def describe_cell_share(share: float, what: str) -> str:
    """A share of the cells, in percent."""
    return f"{write_percent(share)} of the cells in quasi-identifiers {what}."


def describe_smallest_class(k: int | None) -> str:
    """The k that was reached; None without any class."""
    if k is None:
        return "Nothing is released, so there is no class."
    if k == 1:
        return (
            "Anyone who knows the quasi-identifiers can tell at least one record (person, where k "
            "counts persons) from all others."
        )
    return choose_plural(
        k - 1,
        "For each record, anyone who knows the quasi-identifiers sees at least {count} other that "
        "looks the same (persons, where k counts persons).",
        "For each record, anyone who knows the quasi-identifiers sees at least {count} others that "
        "look the same (persons, where k counts persons).",
    )


def describe_class_numbers(after: int, before: int) -> str:
    """The classes of a release and of its table."""
    return choose_plural(
        after,
        "The records form {count} class with identical quasi-identifiers; in the original table "
        "they form {before}.",
        "The records form {count} classes with identical quasi-identifiers; in the original table "
        "they form {before}.",
        before=write_count(before),
    )


def describe_suppression(suppressed: int, records: int) -> str:
    """Suppressed records."""
    return choose_plural(
        suppressed,
        "{count} of {records} records was in a class that did not meet the requirements. It "
        "counts as lost in full.",
        "{count} of {records} records were in classes that did not meet the requirements. They "
        "count as lost in full.",
        records=write_count(records),
    )


def describe_entropy_l(value: str, most: str, column: str) -> str:
    """Entropy l of the worst class, and its maximum, as they are displayed."""
    if value == "1":
        return (
            f"In at least one class everyone has the same {column}: anyone who finds the class "
            f"knows it. The highest possible l is {most} (entropy l-diversity)."
        )
    return (
        f"In the worst class, {column} is as hard to guess as if it had {value} equally frequent "
        f"values. At 1 all values are the same; at {most}, the maximum, the class is mixed like "
        "the whole table (entropy l-diversity)."
    )


def describe_total_variation(value: str, column: str) -> str:
    """Total variation of the worst class, as it is shown."""
    return (
        f"In the worst class, {write_percent(100 * float(value))} of the records would need a "
        f"different {column} to match the table's mix. At 0 the class reveals nothing that the "
        "table does not (total variation; norm 1 gives twice as much)."
    )


def describe_distinct_l(fewest: int, values: int, column: str) -> str:
    """Distinct l of the worst class."""
    if fewest == values:
        return f"Every class has all {write_count(values)} values of {column} (distinct l)."
    return (
        f"At least one class has only {write_count(fewest)} of the {write_count(values)} values of "
        f"{column}, rare ones included (distinct l)."
    )


def describe_best_guess(share: float) -> str:
    """The largest share of one sensitive value in a class, of 1."""
    return (
        "Anyone who knows that a person is in the most revealing class can be "
        f"{write_percent(100 * share)} sure of that person's sensitive value."
    )


def describe_unique(unique: int, number: int, unit: CountedUnit) -> str:
    """Unique records, or persons."""
    return choose_plural(
        unique,
        "{count} of {all} ({share}) looks like no other.",
        "{count} of {all} ({share}) look like no other.",
        all=write_records_or_persons(number, unit),
        share=write_percent(100 * unique / number),
    )


def describe_highest_risk(share: float, smallest: int) -> str:
    """The highest risk of being found, of 1."""
    often = (
        "every time in the smallest class"
        if smallest == 1
        else f"at most 1 time in {write_count(smallest)}"
    )
    return (
        f"Someone who knows that a person is in the table picks the right record {often} "
        f"({write_percent(100 * share)}, prosecutor risk)."
    )


def write_records_or_persons(number: int, unit: CountedUnit) -> str:
    """A number of records or of persons."""
    if unit == "records":
        return write_records(number)
    return count_noun(number, "person")


def write_records(number: int) -> str:
    """So many records."""
    return count_noun(number, "record")


def describe_mean_risk(share: float, classes: int, records: int) -> str:
    """The mean risk of being found, of 1."""
    return (
        "On average, someone who knows that a person is in the table picks the right record "
        f"{write_percent(100 * share)} of the time: {count_noun(classes, 'class', 'classes')} / "
        f"{write_records(records)} (prosecutor risk)."
    )


def describe_mean_risk_in_persons(share: float) -> str:
    """The same where persons have several records, and only other persons' records hide anyone."""
    return (
        "On average, someone who knows that a person is in the table picks the right person "
        f"{write_percent(100 * share)} of the time, choosing among the persons in the class "
        "(prosecutor risk)."
    )


def describe_chance(share: float, beginning: str) -> str:
    """A risk of an attacker who has a table of the population, of 1."""
    return f"{beginning} a chance of {write_percent(100 * share)}."


def describe_query_error(error: float, how_many: str) -> str:
    """A quantile of the errors of counts, in percent."""
    return (
        f"{how_many} of the counts made on the release are off by at most {write_percent(error)}."
    )


def describe_nauc(low: int, high: int) -> str:
    """What an area under a curve over k says."""
    return (
        f"NAUC is the mean height of a curve from k = {write_count(low)} to k = "
        f"{write_count(high)}, in percent: the average cost over these k."
    )
