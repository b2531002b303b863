"""Remarks on what a release may give away although it meets its models.

Each remark gives a figure and advice. All figures come from counts, so that a table may stay in its
engine; no remark contains a value from the table.

>>> import pandas as pd
>>> from kanon.sources.memory import MemoryTable
>>> people = pd.DataFrame({"born": [f"19{n}-01-02" for n in range(50, 80)], "sex": ["F"] * 30})
>>> known = Role.QUASI_IDENTIFIER
>>> for remark in check_table_remarks(MemoryTable(people), {"born": known, "sex": known}, k=5):
...     print(remark.found)
'born' is almost unique: 30 values in 30 records, and on its own it singles out 100.0 % of them.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress

import numpy as np
import pandas as pd

from kanon.base.formatting import count_noun, write_count, write_percent
from kanon.base.kinds import find_kind, has_dates
from kanon.base.spelling import fold_spelling
from kanon.base.values import MISSING_LABEL, Frequencies, encode_texts
from kanon.classes import EquivalenceClasses
from kanon.errors import PlanError, TableError, quote
from kanon.measures.cells import count_cells_shown, is_value
from kanon.privacy.model import Model
from kanon.recoding import Recoding
from kanon.release.inferences import (
    check_minimality,
    check_range_bounds,
    check_row_order,
    describe_dependence,
)
from kanon.release.remark_kinds import KINDS, Kind, Remark
from kanon.schema import Role, named_like, tells_apart
from kanon.sources.coarsening import Coarsening
from kanon.sources.exposure import is_blank_or_stars
from kanon.sources.memory import MemorySource
from kanon.sources.tables import Source, Table
from kanon.stored_classes import has_released_in_engine

_SAMPLE_SIZE = 200  # records by which dates and free text are recognised
_MANY_TEXTS = 100_000  # with more texts, spellings are only compared in a release: it takes seconds
_WORDS_OF_PROSE = 3  # texts of this many words, most of them different, are free text


def check_table_remarks(
    table: Table,
    roles: Mapping[str, Role],
    k: int,
    pseudonyms: Sequence[str] = (),
    person: str | None = None,
) -> tuple[Remark, ...]:
    """Remark on a table and its roles, before anything is released."""
    known = {column: roles.get(column, Role.INSENSITIVE) for column in table.columns}
    return _sort_remarks(
        [
            *_check_columns(table, known, k, {}, None, pseudonyms, person),
            *_check_spellings(_count_texts(table, known, person), person),
        ]
    )


def check_release_remarks(
    source: Source,
    roles: Mapping[str, Role],
    recoding: Recoding,
    k: int,
    person: str | None = None,
    order: str = "released",
    models: Sequence[Model] = (),
) -> tuple[Remark, ...]:
    classes, table = recoding.classes, source.table
    known = {column: roles.get(column, Role.INSENSITIVE) for column in table.columns}
    # What was counted for the classes is not counted again; missing is not a value.
    frequencies, texts = {}, {}
    for sensitive in classes.as_one_class.sensitive:
        filled = [text != MISSING_LABEL for text in sensitive.values]
        frequencies[sensitive.name] = Frequencies.count_frequencies(sensitive.total[filled])
        texts[sensitive.name] = dict(zip(sensitive.values, sensitive.total.tolist(), strict=True))
    columns = zip(classes.attributes, classes.hierarchies, classes.cells, strict=True)
    for column, tree, cells in columns:
        frequencies[column] = Frequencies.count_frequencies(
            cells[is_value(tree, np.arange(tree.n_nodes))]
        )
    released = (source, recoding)
    if person is not None:
        texts |= _count_texts(table, {person: known[person]}, person)
    remarks = list(
        _check_columns(table, known, k, frequencies, released, source.pseudonyms, person)
    )
    remarks += [*_check_suppressed(recoding.classes), *check_range_bounds(recoding, k)]
    remarks += [*_check_homogeneity(recoding), *_check_spellings(texts, person)]
    remarks += check_row_order(source, known, recoding, order)
    return _sort_remarks([*remarks, *check_minimality(recoding, models, k)])


def _sort_remarks(remarks: Iterable[Remark]) -> tuple[Remark, ...]:
    return tuple(
        sorted(remarks, key=lambda remark: (list(KINDS).index(remark.kind), -remark.share))
    )


_Released = tuple[Source, Recoding]


def _check_columns(
    table: Table,
    roles: Mapping[str, Role],
    k: int,
    known: Mapping[str, Frequencies],
    released: _Released | None,
    pseudonyms: Sequence[str],
    person: str | None,
) -> Iterator[Remark]:
    sample = table.head(_SAMPLE_SIZE)
    for column, role in roles.items():
        dropped = role is Role.IDENTIFIER and column not in pseudonyms
        if dropped and person is not None:
            continue
        try:
            often = known[column] if column in known else table.frequencies(column)
        except TableError:  # the engine lacks the memory to group so many values
            if not dropped:
                kind, phrase = _UNCOUNTED_PHRASES[role]
                reason = "its engine could not count how rare its values are"
                yield Remark(kind, column, 1.0, f"{quote(column)} {phrase} {reason}.")
            continue
        if dropped:
            yield from _check_repeats(column, often, k, released)
        elif role is Role.IDENTIFIER:
            yield from _check_links(column, often, table.n_records, k, released)
        elif role is Role.QUASI_IDENTIFIER:
            yield from _check_uniqueness(table, column, often, released, person)
        elif role is Role.SENSITIVE:
            yield from _check_outside_knowledge(
                table, column, often, sample[column], released, person
            )
        else:
            yield from _check_passing(column, often, sample[column], k, released, table.n_records)


def _check_suppressed(classes: EquivalenceClasses) -> Iterator[Remark]:
    if classes.in_engine:
        return
    empty_leaves = [
        [place for place, label in enumerate(tree.labels[: tree.n_leaves])
         if is_blank_or_stars(label) or (label == MISSING_LABEL and len(classes.attributes) > 1)]
        for tree in classes.hierarchies
    ]  # fmt: skip
    columns = zip(classes.nodes.T, empty_leaves, strict=True)
    rows = np.logical_and.reduce([np.isin(nodes, codes) for nodes, codes in columns])
    if number := int(classes.counts[rows].sum()):
        many = "records of the table show" if number > 1 else "record of the table shows"
        text = f"{write_count(number)} {many} nothing in any quasi-identifier (* or blank), like"
        share = number / classes.n_records
        yield Remark(
            "suppressed-before", classes.attributes[0], share, f"{text} suppressed records."
        )


def describe_coarsened_column(coarsening: Coarsening) -> Remark:
    text = (
        f"{quote(coarsening.column)} is released at level {coarsening.level} of "
        f"{coarsening.tree.height - 1} of its hierarchy, so l, t and all other figures refer to "
        "these groups."
    )
    return Remark("coarsened", coarsening.column, 1.0, text)


def describe_written_column(column: str, form: str) -> Remark:
    shows = f"the {form} of each class, which is the value of somebody in it"
    if form == "range":
        shows = "the range of each class, whose bounds are values of people in it"
    return Remark("written", column, 1.0, f"{quote(column)} is written as {shows}.")


# --- an identifier that is dropped ----------------------------------------------------------
def _check_repeats(
    column: str, often: Frequencies, k: int, released: _Released | None
) -> Iterator[Remark]:
    persons = often.distinct.values - often.count_rarer_than(2)
    records = often.distinct.n_filled - often.count_rarer_than(2)
    if not persons:
        return
    share = records / often.distinct.n_filled
    have = f"{count_noun(persons, 'value')} {'has' if persons == 1 else 'have'}"
    text = (
        f"{quote(column)} repeats: {have} several records, {write_count(records)} in all. If a "
        "value stands for a person, "
    )
    source, recoding = (None, None) if released is None else released
    if recoding is None or not isinstance(source, MemorySource):
        where = "" if recoding is None else " The persons per class were not counted in the engine."
        text += f"k counts them as {write_count(records)} persons.{where}"
    else:
        n_persons = source.count_distinct_values(column, recoding)
        if (n_persons >= k).all():
            return
        share = float(recoding.counts[n_persons < k].sum()) / int(recoding.counts.sum())
        text += (
            f"{write_percent(100 * share)} of the released records are in classes with fewer than "
            f"{count_noun(k, 'person')}: the smallest class has "
            f"{count_noun(recoding.min_k or 0, 'record')}, but at least one class has records of "
            f"only {count_noun(int(n_persons.min()), 'person')}."
        )
    yield Remark("several-records", column, share, text)


# --- an identifier with pseudonyms ----------------------------------------------------------
def _check_links(
    column: str, often: Frequencies, n_records: int, k: int, released: _Released | None
) -> Iterator[Remark]:
    persons = often.distinct.values - often.count_rarer_than(2)
    records = often.distinct.n_filled - often.count_rarer_than(2)
    alone = None
    if released is not None and isinstance(released[0], MemorySource):
        n_records_of_person, sharing = released[0].count_linked_records(column, released[1])
        several = n_records_of_person > 1
        persons, records = int(several.sum()), int(n_records_of_person[several].sum())
        alone = int((several & (sharing < k)).sum())
        n_records = len(released[0].get_released_positions(released[1]))
    if not persons:
        return
    have = f"{count_noun(persons, 'person')} {'has' if persons == 1 else 'have'}"
    text = f"{quote(column)} keeps pseudonyms, which link records: {have} several"
    few = f"fewer than {write_count(k)} persons share the combination of classes"
    if alone is not None:
        text += (
            f", and for {write_count(alone)} of them, {write_percent(100 * alone / persons)}, "
            f"{few}: anyone who knows the classes of such a person finds all of that person's "
            "records"
        )
    elif released is not None:
        text += f". For how many of them {few} was not counted in the engine"
    yield Remark("linked", column, records / n_records, f"{text}.")


# --- a quasi-identifier ---------------------------------------------------------------------
def _check_uniqueness(
    table: Table, column: str, often: Frequencies, released: _Released | None, person: str | None
) -> Iterator[Remark]:
    values, records = often.distinct.values, often.distinct.n_filled
    if not tells_apart(values, records):
        return
    alone, of_whom = _measure_uniqueness(table, column, often, person)
    where, shown_sentence = "", ""
    if released is not None:
        cells = count_cells_shown(released[1], column)
        if not cells:
            return  # the hierarchy was given, or the column lost
        where = " in the table"
        share = write_percent(100 * cells / released[1].classes.n_records)
        shown_sentence = (
            " The release shows the column's original values in "
            f"{count_noun(cells, 'record')}, {share}."
        )
    text = (
        f"{quote(column)} is almost unique{where}: {write_count(values)} values in "
        f"{write_count(records)} records, and on its own it singles out "
        f"{write_percent(100 * alone)} of {of_whom}.{shown_sentence}"
    )
    yield Remark("almost-unique", column, alone, text)


def _measure_uniqueness(
    table: Table, column: str, often: Frequencies, person: str | None
) -> tuple[float, str]:
    if person is not None:
        with suppress(PlanError, TableError):  # the persons are not known: said elsewhere
            classes = table.build_classes([column], person=person)
            return classes.unique / classes.highest_k, count_noun(classes.highest_k, "person")
    return often.count_rarer_than(2) / often.distinct.n_filled, "them"


# --- a sensitive column ---------------------------------------------------------------------
def _check_outside_knowledge(
    table: Table,
    column: str,
    often: Frequencies,
    sample: pd.Series,
    released: _Released | None,
    person: str | None,
) -> Iterator[Remark]:
    values, records = often.distinct.values, often.distinct.n_filled
    share = 0.0
    reasons = [reason for reason in (_describe_name(column), _describe_dates(sample)) if reason]
    if tells_apart(values, records):
        share, of_whom = _measure_uniqueness(table, column, often, person)
        reasons.append(
            f"it is almost unique ({write_count(values)} values in {write_count(records)} records; "
            f"it singles out {write_percent(100 * share)} of {of_whom})"
        )
    if released is not None and (determined := describe_dependence(column, released[1], table)):
        reasons.append(determined)
    if reasons:
        text = f"{quote(column)} is sensitive, but {', and '.join(reasons)}."
        yield Remark("known-outside", column, share, text)


def _count_texts(
    table: Table, roles: Mapping[str, Role], person: str | None
) -> dict[str, dict[str, int]]:
    """The records of each text, per sensitive column and of persons, unless there are too many."""
    texts = {}
    columns = (name for name, role in roles.items() if role is Role.SENSITIVE or name == person)
    for column in columns:
        with suppress(TableError):
            if table.count_distinct(column).values <= _MANY_TEXTS:
                counts = table.count_column_values(column)
                texts[column] = {**counts.counts, MISSING_LABEL: counts.missing}
    return texts


def _check_spellings(
    texts: Mapping[str, Mapping[str, int]], person: str | None
) -> Iterator[Remark]:
    for column, counts in texts.items():
        written = {text: records for text, records in counts.items() if records}
        read = [fold_spelling(text) for text in written]
        spellings = {value: number for value, number in Counter(read).items() if number > 1}
        if spellings:
            alike = sum(
                n for value, n in zip(read, written.values(), strict=True) if value in spellings
            )
            are = "value that is" if len(spellings) == 1 else "values that are"
            pairs = sum(number * (number - 1) // 2 for number in spellings.values())
            counts_as = (
                "k counts each spelling as a person"
                if column == person
                else "Diversity counts them as one value; t-closeness, beta-likeness and "
                "delta-disclosure count them as different"
            )
            yield Remark(
                "several-spellings",
                column,
                alike / sum(written.values()),
                f"{quote(column)} has {write_count(len(spellings))} {are} written in several ways "
                "(equal as numbers, codes or words for a missing value, or equal except for case, "
                f"blanks and Unicode form), {count_noun(pairs, 'pair')} in all. {counts_as}.",
            )


def _describe_name(column: str) -> str:
    by_name = named_like(column)
    if by_name is None or by_name.role is Role.SENSITIVE:
        return ""
    known = by_name.role is Role.QUASI_IDENTIFIER
    return f"by its name, {by_name.reason}" if known else by_name.reason


# --- the classes ----------------------------------------------------------------------------
def _check_homogeneity(recoding: Recoding) -> Iterator[Remark]:
    if has_released_in_engine(recoding):
        return
    released = recoding.released
    for sensitive in released.sensitive:
        one_value = np.diff(sensitive.folded.start) == 1
        records = int(sensitive.sizes[one_value].sum())
        if not records:
            continue
        share = records / released.n_records
        classes = count_noun(int(one_value.sum()), "class in which", "classes in each of which")
        text = (
            f"{count_noun(records, 'record')}, {write_percent(100 * share)}, "
            f"{'is' if records == 1 else 'are'} in {classes} all records have the same "
            f"{quote(sensitive.name)}: anyone who finds a person's class knows it."
        )
        yield Remark("homogeneous", sensitive.name, share, text)


# --- a column that passes through -----------------------------------------------------------
def _check_passing(
    column: str,
    often: Frequencies,
    sample: pd.Series,
    k: int,
    released: _Released | None,
    n_records: int,
) -> Iterator[Remark]:
    records = often.distinct.n_filled
    rare = often.count_rarer_than(k)
    reasons = [_describe_name(column)]
    if dates := _describe_dates(sample):
        reasons.append(dates)
    elif tells_apart(often.distinct.values, records) and _is_prose(sample):
        reasons.append("it looks like free text")
    reasons = [reason for reason in reasons if reason]
    if not records or not (rare or reasons):
        return
    share = rare / records
    how = "unchanged" if records == n_records else "with missing cells blank"
    sentences = [f"{quote(column)} passes into the release {how}"]
    if reasons:
        sentences[0] += f": {', and '.join(reasons)}"
    if rare:
        sentences.append(
            f"{write_percent(100 * share)} of its records have a value that fewer than "
            f"{write_count(k)} share, {write_percent(100 * often.count_rarer_than(2) / records)} a "
            "value of their own"
        )
    else:
        sentences.append(f"None of its values has fewer than {count_noun(k, 'record')}")
    source, recoding = (None, None) if released is None else released
    if recoding is not None and isinstance(source, MemorySource):
        sizes = source.count_value_sizes(column, recoding)
        smaller = float(sizes[sizes < k].sum()) / max(int(sizes.sum()), 1)
        share = max(share, smaller)
        sentences.append(
            f"To anyone who knows it, {write_percent(100 * smaller)} of the released records are "
            f"in classes with fewer than {count_noun(k, 'record')}"
        )
    elif recoding is not None:
        sentences.append("How much smaller it makes the classes was not counted in the engine")
    yield Remark("passes-through", column, share, f"{'. '.join(sentences)}.")


_UNCOUNTED_PHRASES: dict[Role, tuple[Kind, str]] = {
    Role.INSENSITIVE: ("passes-through", "passes into the release unchanged, and"),
    Role.SENSITIVE: ("known-outside", "is sensitive, but"),
    Role.IDENTIFIER: ("linked", "keeps pseudonyms, and"),
    Role.QUASI_IDENTIFIER: ("almost-unique", "may be almost unique:"),
}


# --- what a column holds --------------------------------------------------------------------
def _describe_dates(sample: pd.Series) -> str:
    _, texts = encode_texts(sample)
    if has_dates(texts, share=0.9):
        return "it holds exact dates"
    kind = find_kind(texts)
    month = kind.name == "date" and kind.resolution == "month"
    return "it holds exact dates, to the month" if month else ""


def _is_prose(sample: pd.Series) -> bool:
    _, texts = encode_texts(sample)
    return sum(len(text.split()) for text in texts) >= _WORDS_OF_PROSE * max(len(texts), 1)
