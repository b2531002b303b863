"""What each number of a page means, as a sentence with the number in it.

For who is not a statistician: no symbol, no term without what it stands for. Names of columns and
metrics are handed over as they are to be shown.
"""

from kanon.base.formatting import Counted, counted, one_or_many, percent, thin


def lost(share: float, metric: str) -> str:
    """Alteration, in percent.

    >>> lost(27.04, "NLLM")
    '27.0 % of all that could be lost was lost, measured by NLLM: 0 % leaves the table as it was.'
    """
    return (
        f"{percent(share)} of all that could be lost was lost, measured by {metric}: 0 % leaves "
        "the table as it was."
    )


def of_quasi_identifiers(share: float, what: str) -> str:
    """A share of the cells, in percent.

    >>> of_quasi_identifiers(50, "were changed")
    '50.0 % of the cells in quasi-identifiers were changed.'
    """
    return f"{percent(share)} of the cells in quasi-identifiers {what}."


def smallest_class(k: int | None) -> str:
    """The k that was reached; None without any class.

    >>> smallest_class(5)
    'Everybody looks like at least 4 others to who knows the quasi-identifiers.'
    >>> smallest_class(1)
    'Somebody looks like nobody else to who knows the quasi-identifiers.'
    """
    if k is None:
        return "Nothing is released, so there is no class."
    if k == 1:
        return "Somebody looks like nobody else to who knows the quasi-identifiers."
    return one_or_many(
        k - 1,
        "Everybody looks like at least {count} other to who knows the quasi-identifiers.",
        "Everybody looks like at least {count} others to who knows the quasi-identifiers.",
    )


def classes_told_apart(after: int, before: int) -> str:
    """The classes of a release and of its table.

    >>> classes_told_apart(1, 12)
    'The release tells 1 group of records apart, the original table 12.'
    """
    return one_or_many(
        after,
        "The release tells {count} group of records apart, the original table {before}.",
        "The release tells {count} groups of records apart, the original table {before}.",
        before=thin(before),
    )


def left_out(gone: int, records: int) -> str:
    """Suppressed records.

    >>> left_out(1, 12)
    '1 of 12 records was in a class that does not satisfy what is required: it counts as if all \
of it were lost.'
    """
    return one_or_many(
        gone,
        "{count} of {records} records was in a class that does not satisfy what is required: it "
        "counts as if all of it were lost.",
        "{count} of {records} records were in classes that do not satisfy what is required: they "
        "count as if all of them were lost.",
        records=thin(records),
    )


def hard_to_guess(value: str, most: str, column: str) -> str:
    """Entropy l of the worst class, and the most that there can be, as they are shown.

    >>> hard_to_guess("1.88", "3", "disease").split(": ")[0]
    'In the worst class disease is as hard to guess as among 1.88 equally frequent values'
    """
    return (
        f"In the worst class {column} is as hard to guess as among {value} equally frequent "
        f"values: 1 means that all have the same, {most}, the most possible, that it is mixed as "
        "the whole table (entropy l-diversity)."
    )


def unlike_the_table(value: str, column: str) -> str:
    """Total variation of the worst class, as it is shown.

    >>> unlike_the_table("0.35", "disease").split(": ")[0]
    'In the worst class 0.35 of the records would need another disease to be mixed as the table'
    """
    return (
        f"In the worst class {value} of the records would need another {column} to be mixed as "
        "the table: 0 means that the class tells nothing that the table does not (total "
        "variation; by norm 1 it is twice as much)."
    )


def different_values(fewest: int, values: int, column: str) -> str:
    """Distinct l of the worst class.

    >>> different_values(1, 5, "disease")
    'In the class with the fewest, 1 of 5 values of disease occurs, however rare (distinct l).'
    """
    return one_or_many(
        fewest,
        "In the class with the fewest, {count} of {values} values of {column} occurs, however "
        "rare (distinct l).",
        "In the class with the fewest, {count} of {values} values of {column} occur, however rare "
        "(distinct l).",
        values=thin(values),
        column=column,
    )


def best_guess(share: float) -> str:
    """The largest share of one sensitive value in a class, of 1.

    >>> best_guess(0.6)
    'Who knows that somebody is in the class that tells most can be 60.0 % sure of their value.'
    """
    return (
        f"Who knows that somebody is in the class that tells most can be {percent(100 * share)} "
        "sure of their value."
    )


def nobody_alike(unique: int, number: int, of: Counted) -> str:
    """Unique records, or persons.

    >>> nobody_alike(1, 10, "records")
    '1 of 10 records (10.0 %) looks like no other one.'
    """
    return one_or_many(
        unique,
        "{count} of {all} ({share}) looks like no other one.",
        "{count} of {all} ({share}) look like no other one.",
        all=number_said(number, of),
        share=percent(100 * unique / number),
    )


def chance(share: float, smallest: int) -> str:
    """The highest risk of being found, of 1.

    >>> chance(0.2, 5)
    'Who knows that somebody is in the table picks the right record with a chance of 20.0 %: one \
of 5 in the smallest class (prosecutor).'
    """
    return (
        "Who knows that somebody is in the table picks the right record with a chance of "
        f"{percent(100 * share)}: one of {thin(smallest)} in the smallest class (prosecutor)."
    )


def number_said(number: int, of: Counted) -> str:
    """A number of records or of persons.

    >>> number_said(1, "records"), number_said(2, "persons")
    ('1 record', '2 persons')
    """
    if of == "records":
        return records_said(number)
    return counted(number, "person")


def records_said(number: int) -> str:
    """So many records.

    >>> records_said(1), records_said(0)
    ('1 record', '0 records')
    """
    return counted(number, "record")


def mean_chance(share: float, classes: int, records: int) -> str:
    """The mean risk of being found, of 1.

    >>> mean_chance(0.05, 5, 100).split(": ")[0]
    'Over all records the right one is picked with a chance of 5.0 % on average'
    """
    return (
        f"Over all records the right one is picked with a chance of {percent(100 * share)} on "
        f"average: {counted(classes, 'class', 'classes')} / "
        f"{records_said(records)} (prosecutor)."
    )


def mean_chance_in_persons(share: float) -> str:
    """The same where persons have several records, and only those of others hide anybody.

    >>> mean_chance_in_persons(0.05).split(": ")[0]
    'Over all records the person is picked with a chance of 5.0 % on average'
    """
    return (
        f"Over all records the person is picked with a chance of {percent(100 * share)} on "
        "average: one of the persons in the class (prosecutor)."
    )


def found_with(share: float, who: str) -> str:
    """A risk of an attacker who has a table of the population, of 1.

    >>> found_with(0.5, "Somebody is recognised with")
    'Somebody is recognised with a chance of 50.0 %.'
    """
    return f"{who} a chance of {percent(100 * share)}."


def wrong_by(error: float, how_many: str) -> str:
    """A quantile of the errors of counts, in percent.

    >>> wrong_by(12, "Half")
    'Half of the counts that are taken from the release are off by at most 12.0 %.'
    """
    return (
        f"{how_many} of the counts that are taken from the release are off by at most "
        f"{percent(error)}."
    )


def average_height(low: int, high: int) -> str:
    """What an area under a curve over k says.

    >>> average_height(3, 50)
    'NAUC is the mean height of a curve from k = 3 to k = 50, in percent: what it costs on \
average over all these k.'
    """
    return (
        f"NAUC is the mean height of a curve from k = {thin(low)} to k = {thin(high)}, in "
        "percent: what it costs on average over all these k."
    )
