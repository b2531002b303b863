"""What a release may give away although it meets its models, in sentences with their figures.

A privacy model looks at the columns that it was told of, in the role that it was told. What
it cannot see is remarked on here: identifiers that show several records of a person where k counts
records, pseudonyms that link records of a person, a quasi-identifier that is almost a name, a
sensitive column that others know, classes that share one sensitive value, sensitive values that are
written in several ways, columns that pass through unchanged although they tell people apart, what
the order of rows gives away, and what follows from a release that is minimal. Each remark gives a
figure and what to do. Everything comes from counts, so that a table may stay in its engine; no
remark holds a value of the table.

>>> import pandas as pd
>>> from kanon.sources.memory import MemoryTable
>>> people = pd.DataFrame({"born": [f"19{n}-01-02" for n in range(50, 80)], "sex": ["F"] * 30})
>>> known = Role.QUASI_IDENTIFIER
>>> for remark in table_remarks(MemoryTable(people), {"born": known, "sex": known}, k=5):
...     print(remark.found)
'born' is almost unique: 30 values in 30 records, and alone it singles out 100.0 % of them.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress

import numpy as np
import pandas as pd

from kanon.base.formatting import counted, percent, thin
from kanon.base.kinds import are_dates, recognise
from kanon.base.spelling import fold_spelling
from kanon.base.values import MISSING_LABEL, Frequencies, canonical_texts
from kanon.classes import EquivalenceClasses
from kanon.errors import PlanError, TableError, quoted
from kanon.measures.cells import cells_shown, is_value
from kanon.privacy.model import Model
from kanon.recoding import Recoding
from kanon.release.inferences import (
    determined_by,
    minimality_remarks,
    order_remarks,
    remark_on_bounds,
)
from kanon.release.remark_kinds import KINDS, Kind, Remark
from kanon.schema import Role, named_like, tells_apart
from kanon.sources.coarsening import Coarsening
from kanon.sources.exposure import shows_nothing
from kanon.sources.memory import MemorySource
from kanon.sources.tables import Source, Table
from kanon.stored_classes import released_stay

_SAMPLE = 200  # so many records tell whether a column holds dates or free text
_MANY = 100_000  # beyond so many texts, only a release is looked at for spellings: seconds
_WORDS = 3  # texts of so many words, most of them different, are free text


def table_remarks(
    table: Table,
    roles: Mapping[str, Role],
    k: int,
    pseudonyms: Sequence[str] = (),
    person: str | None = None,
) -> tuple[Remark, ...]:
    """What a table and its roles alone tell, before anything is released."""
    known = {column: roles.get(column, Role.INSENSITIVE) for column in table.columns}
    return _in_order(
        [
            *_of_columns(table, known, k, {}, None, pseudonyms, person),
            *_several_spellings(_texts(table, known, person), person),
        ]
    )


def release_remarks(
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
    # What was counted for the classes is not counted again; missing is no value.
    frequencies, texts = {}, {}
    for each in classes.as_one_class.sensitive:
        filled = [text != MISSING_LABEL for text in each.values]
        frequencies[each.name] = Frequencies.of(each.total[filled])
        texts[each.name] = dict(zip(each.values, each.total.tolist(), strict=True))
    columns = zip(classes.attributes, classes.hierarchies, classes.cells, strict=True)
    for column, tree, cells in columns:
        frequencies[column] = Frequencies.of(cells[is_value(tree, np.arange(tree.n_nodes))])
    released = (source, recoding)
    if person is not None:
        texts |= _texts(table, {person: known[person]}, person)
    found = list(_of_columns(table, known, k, frequencies, released, source.pseudonyms, person))
    found += [*_suppressed_before(recoding.classes), *remark_on_bounds(recoding, k)]
    found += [*_homogeneous(recoding), *_several_spellings(texts, person)]
    found += order_remarks(source, known, recoding, order)
    return _in_order([*found, *minimality_remarks(recoding, models, k)])


def _in_order(remarks: Iterable[Remark]) -> tuple[Remark, ...]:
    return tuple(sorted(remarks, key=lambda one: (list(KINDS).index(one.kind), -one.share)))


_Released = tuple[Source, Recoding]


def _of_columns(
    table: Table,
    roles: Mapping[str, Role],
    k: int,
    known: Mapping[str, Frequencies],
    released: _Released | None,
    pseudonyms: Sequence[str],
    person: str | None,
) -> Iterator[Remark]:
    sample = table.head(_SAMPLE)
    for column, role in roles.items():
        dropped = role is Role.IDENTIFIER and column not in pseudonyms
        if dropped and person is not None:
            continue
        try:
            often = known[column] if column in known else table.frequencies(column)
        except TableError:  # the engine lacks the memory to group so many values
            if not dropped:
                kind, what = _UNCOUNTED[role]
                many = "its engine could not count how rare its values are"
                yield Remark(kind, column, 1.0, f"{quoted(column)} {what} {many}.")
            continue
        if dropped:
            yield from _repeating(column, often, k, released)
        elif role is Role.IDENTIFIER:
            yield from _linked(column, often, table.n_records, k, released)
        elif role is Role.QUASI_IDENTIFIER:
            yield from _almost_unique(table, column, often, released, person)
        elif role is Role.SENSITIVE:
            yield from _known_outside(table, column, often, sample[column], released, person)
        else:
            yield from _passing(column, often, sample[column], k, released, table.n_records)


def _suppressed_before(classes: EquivalenceClasses) -> Iterator[Remark]:
    if classes.in_engine:
        return
    silent = [
        [place for place, label in enumerate(tree.labels[: tree.n_leaves])
         if shows_nothing(label) or (label == MISSING_LABEL and len(classes.attributes) > 1)]
        for tree in classes.hierarchies
    ]  # fmt: skip
    columns = zip(classes.nodes.T, silent, strict=True)
    rows = np.logical_and.reduce([np.isin(nodes, codes) for nodes, codes in columns])
    if number := int(classes.counts[rows].sum()):
        many = "records of the table show" if number > 1 else "record of the table shows"
        said = f"{thin(number)} {many} nothing in any quasi-identifier (* or blank), as suppressed"
        share = number / classes.n_records
        yield Remark("suppressed-before", classes.attributes[0], share, f"{said} ones do.")


def coarsened_remark(one: Coarsening) -> Remark:
    said = (
        f"{quoted(one.column)} is released at level {one.level} of {one.tree.height - 1} of its "
        "hierarchy; l, t and all else are counted on these groups."
    )
    return Remark("coarsened", one.column, 1.0, said)


# --- an identifier that is dropped ----------------------------------------------------------
def _repeating(
    column: str, often: Frequencies, k: int, released: _Released | None
) -> Iterator[Remark]:
    persons = often.distinct.values - often.rarer_than(2)
    records = often.distinct.filled - often.rarer_than(2)
    if not persons:
        return
    share = records / often.distinct.filled
    have = f"{counted(persons, 'value')} {'has' if persons == 1 else 'have'}"
    said = (
        f"{quoted(column)} repeats: {have} several records, {thin(records)} together. If a value "
        "stands for a person, "
    )
    source, recoding = (None, None) if released is None else released
    if recoding is None or not isinstance(source, MemorySource):
        where = "" if recoding is None else " How few a class has was not counted in the engine."
        said += f"k counts them as {thin(records)} persons.{where}"
    else:
        each = source.values_in(column, recoding)
        if (each >= k).all():
            return
        share = float(recoding.counts[each < k].sum()) / int(recoding.counts.sum())
        said += (
            f"{percent(100 * share)} of the released records are in classes of fewer than "
            f"{counted(k, 'person')}: counted in records the smallest class has "
            f"{thin(recoding.min_k or 0)}, in persons {thin(int(each.min()))}."
        )
    yield Remark("several-records", column, share, said)


# --- an identifier with pseudonyms ----------------------------------------------------------
def _linked(
    column: str, often: Frequencies, n_records: int, k: int, released: _Released | None
) -> Iterator[Remark]:
    persons = often.distinct.values - often.rarer_than(2)
    records = often.distinct.filled - often.rarer_than(2)
    alone = None
    if released is not None and isinstance(released[0], MemorySource):
        each, sharing = released[0].linked_by(column, released[1])
        several = each > 1
        persons, records = int(several.sum()), int(each[several].sum())
        alone = int((several & (sharing < k)).sum())
        n_records = len(released[0].class_of_rows(released[1]))
    if not persons:
        return
    have = f"{counted(persons, 'person')} {'has' if persons == 1 else 'have'}"
    said = f"{quoted(column)} keeps pseudonyms, which link records: {have} several"
    few = f"fewer than {thin(k)} persons share the combination of classes"
    if alone is not None:
        said += (
            f", and for {thin(alone)} of them, {percent(100 * alone / persons)}, {few}: who knows "
            "in which classes such a person is finds all the records"
        )
    elif released is not None:
        said += f". For how many of them {few} was not counted in the engine"
    yield Remark("linked", column, records / n_records, f"{said}.")


# --- a quasi-identifier ---------------------------------------------------------------------
def _almost_unique(
    table: Table, column: str, often: Frequencies, released: _Released | None, person: str | None
) -> Iterator[Remark]:
    values, records = often.distinct.values, often.distinct.filled
    if not tells_apart(values, records):
        return
    alone, of_whom = _singled_out(table, column, often, person)
    where, shown = "", ""
    if released is not None:
        cells = cells_shown(released[1], column)
        if not cells:
            return  # the hierarchy was given, or the column lost
        where = " in the table"
        share = percent(100 * cells / released[1].classes.n_records)
        shown = f" The release shows it as it was in {counted(cells, 'record')}, {share}."
    said = (
        f"{quoted(column)} is almost unique{where}: {thin(values)} values in {thin(records)} "
        f"records, and alone it singles out {percent(100 * alone)} of {of_whom}.{shown}"
    )
    yield Remark("almost-unique", column, alone, said)


def _singled_out(
    table: Table, column: str, often: Frequencies, person: str | None
) -> tuple[float, str]:
    if person is not None:
        with suppress(PlanError, TableError):  # who is whom is not known: said elsewhere
            classes = table.classes_of([column], person=person)
            return classes.unique / classes.highest_k, counted(classes.highest_k, "person")
    return often.rarer_than(2) / often.distinct.filled, "them"


# --- a sensitive column ---------------------------------------------------------------------
def _known_outside(
    table: Table,
    column: str,
    often: Frequencies,
    sample: pd.Series,
    released: _Released | None,
    person: str | None,
) -> Iterator[Remark]:
    values, records = often.distinct.values, often.distinct.filled
    share = 0.0
    reasons = [reason for reason in (_name_tells(column), _describe_dates(sample)) if reason]
    if tells_apart(values, records):
        share, of_whom = _singled_out(table, column, often, person)
        reasons.append(
            f"it is almost unique ({thin(values)} values in {thin(records)} records; it singles "
            f"out {percent(100 * share)} of {of_whom})"
        )
    if released is not None and (determined := determined_by(column, released[1], table)):
        reasons.append(determined)
    if reasons:
        said = f"{quoted(column)} is sensitive, but {', and '.join(reasons)}."
        yield Remark("known-outside", column, share, said)


def _texts(
    table: Table, roles: Mapping[str, Role], person: str | None
) -> dict[str, dict[str, int]]:
    """Per sensitive column, and of persons, the texts with their records, unless very many."""
    found = {}
    asked = (name for name, role in roles.items() if role is Role.SENSITIVE or name == person)
    for column in asked:
        with suppress(TableError):
            if table.distinct_of(column).values <= _MANY:
                counts = table.counted(column)
                found[column] = {**counts.counts, MISSING_LABEL: counts.missing}
    return found


def _several_spellings(
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
                f"{quoted(column)} has {thin(len(spellings))} {are} written in several ways (equal "
                "as numbers, codes or words for missing, or apart from case, blanks and the form "
                f"of signs), {counted(pairs, 'pair')} in all. {counts_as}.",
            )


def _name_tells(column: str) -> str:
    by_name = named_like(column)
    if by_name is None or by_name.role is Role.SENSITIVE:
        return ""
    known = by_name.role is Role.QUASI_IDENTIFIER
    return f"by its name, {by_name.reason}" if known else by_name.reason


# --- the classes ----------------------------------------------------------------------------
def _homogeneous(recoding: Recoding) -> Iterator[Remark]:
    if released_stay(recoding):
        return
    released = recoding.released
    for sensitive in released.sensitive:
        one_value = np.diff(sensitive.folded.start) == 1
        records = int(sensitive.sizes[one_value].sum())
        if not records:
            continue
        share = records / released.n_records
        classes = counted(int(one_value.sum()), "class", "classes")
        said = (
            f"{counted(records, 'record')}, {percent(100 * share)}, "
            f"{'is' if records == 1 else 'are'} in {classes} whose records all have the same "
            f"{quoted(sensitive.name)}: who knows that somebody is in such a class knows it."
        )
        yield Remark("homogeneous", sensitive.name, share, said)


# --- a column that passes through -----------------------------------------------------------
def _passing(
    column: str,
    often: Frequencies,
    sample: pd.Series,
    k: int,
    released: _Released | None,
    n_records: int,
) -> Iterator[Remark]:
    records = often.distinct.filled
    rare = often.rarer_than(k)
    looks = [_name_tells(column)]
    if dates := _describe_dates(sample):
        looks.append(dates)
    elif tells_apart(often.distinct.values, records) and _is_prose(sample):
        looks.append("it looks like free text")
    looks = [one for one in looks if one]
    if not records or not (rare or looks):
        return
    share = rare / records
    how = "unchanged" if records == n_records else "with missing cells blank"
    said = [f"{quoted(column)} passes into the release {how}"]
    if looks:
        said[0] += f": {', and '.join(looks)}"
    if rare:
        said.append(
            f"{percent(100 * share)} of its records have a value that fewer than {thin(k)} share, "
            f"{percent(100 * often.rarer_than(2) / records)} one of their own"
        )
    else:
        said.append(f"None of its values has fewer than {counted(k, 'record')}")
    source, recoding = (None, None) if released is None else released
    if recoding is not None and isinstance(source, MemorySource):
        sizes = source.sizes_with(column, recoding)
        smaller = float(sizes[sizes < k].sum()) / max(int(sizes.sum()), 1)
        share = max(share, smaller)
        said.append(
            f"For one who knows it, {percent(100 * smaller)} of the released records are alike "
            f"with fewer than {thin(k)}"
        )
    elif recoding is not None:
        said.append("How much smaller it makes the classes was not counted in the engine")
    yield Remark("passes-through", column, share, f"{'. '.join(said)}.")


_UNCOUNTED: dict[Role, tuple[Kind, str]] = {
    Role.INSENSITIVE: ("passes-through", "passes into the release unchanged, and"),
    Role.SENSITIVE: ("known-outside", "is sensitive, but"),
    Role.IDENTIFIER: ("linked", "keeps pseudonyms, and"),
    Role.QUASI_IDENTIFIER: ("almost-unique", "may be almost unique:"),
}


# --- what a column holds --------------------------------------------------------------------
def _describe_dates(sample: pd.Series) -> str:
    _, texts = canonical_texts(sample)
    if are_dates(texts, share=0.9):
        return "it holds exact dates"
    kind = recognise(texts)
    month = kind.name == "date" and kind.resolution == "month"
    return "it holds exact dates, to the month" if month else ""


def _is_prose(sample: pd.Series) -> bool:
    """Whether the texts of a sample have several words each, on average."""
    _, texts = canonical_texts(sample)
    return sum(len(text.split()) for text in texts) >= _WORDS * max(len(texts), 1)
