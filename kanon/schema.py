"""The roles of columns, and suggestions for them."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from kanon.base.data_files import read_data
from kanon.base.formatting import count_noun, write_count
from kanon.base.values import DistinctCounts
from kanon.errors import PlanError, TableError, list_names, quote

SUPPRESSED = "suppressed"
"""The column of a release that marks suppressed records which are kept as blank rows."""


class Role(StrEnum):
    """What a column is to the people in it."""

    IDENTIFIER = "identifier"
    QUASI_IDENTIFIER = "quasi-identifier"
    SENSITIVE = "sensitive"
    INSENSITIVE = "insensitive"


@dataclass(frozen=True)
class Schema:
    """The role of every column of a table, in the table's or the plan's order.

    >>> schema = Schema({"name": Role.IDENTIFIER, "age": Role.QUASI_IDENTIFIER})
    >>> schema.quasi_identifiers
    ('age',)
    """

    roles: Mapping[str, Role]

    def columns(self, role: Role) -> tuple[str, ...]:
        """The columns of one role."""
        return tuple(column for column, own_role in self.roles.items() if own_role is role)

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """The columns that could single a person out together."""
        return self.columns(Role.QUASI_IDENTIFIER)

    def check(self, columns: Sequence[object]) -> None:
        """Check that a table's columns fit: each name once, all of the schema, no reserved name.

        The reserved name is ``suppressed``, with which a release marks suppressed records. At least
        one column has to be a quasi-identifier.
        """
        check_columns(columns, self.roles)
        if not self.quasi_identifiers:
            raise PlanError(
                "No column is a quasi-identifier. Choose at least one column that could help to "
                "single a person out."
            )
        reserved = [name for name in columns if str(name).casefold() == SUPPRESSED]
        if reserved:  # many databases ignore case
            raise TableError(
                f"The table has a column {quote(reserved[0])}, the name that a release uses "
                "to mark suppressed records. Rename that column."
            )


def check_columns(columns: Sequence[object], needed: Iterable[str]) -> None:
    """Check that a table has the wanted columns (PlanError), and no name twice (TableError)."""
    names = Counter(str(column).strip() for column in columns)  # as they are written to a file
    twice = [name for name, count in names.items() if count > 1]
    if twice:
        raise TableError(f"Two columns are called {quote(twice[0])}. Give each its own name.")
    absent = [column for column in needed if column not in columns]
    if absent:
        raise PlanError(
            f"The table has no column {quote(absent[0])}; it has {list_names(columns, most=12)}."
        )


@dataclass(frozen=True)
class Suggestion:
    """A role that a column might have, and the reason in one sentence."""

    role: Role
    reason: str
    decided: bool = True  #: whether anything suggests the role; else a person has to choose


_NAMES = tuple(
    (Role(entry["role"]), "|".join(entry["words"]), entry["reason"])
    for entry in read_data(__file__)["names"]
)
_NAMES_A_PERSON = "its name suggests that it identifies a person"

_PERSON = (
    r"(person|patient|client|customer|employee|member|participant|respondent|student|pupil|user"
    r"|kunde|mitarbeiter|mitglied|proband)(e?n|in|innen|s)?"
)
"""Words for people, which do not say what the column contains: "patient age" is an age."""

_NUMBERS = r"\w*(nr|nummer|number)|no|num|num[eé]ro"
_IDS = r"id|uuid|guid|identifier|pseudonym"
_OF_PERSONS = (
    r"(person|patient|pat|client|customer|kunde|kunden|member|mitglied|student|pupil|employee"
    r"|mitarbeiter|versicherten|insured|subject|participant|proband|user)\w*"
)

_OF_PLACES = r"haus|house|street|stra(ss|ß)e|room|zimmer|phone|telefon|fax"

_FEW_VALUES = 20
"""At most this many values, shared by many records, identify no persons, whatever the name."""

_RECORDS_OF_A_PERSON = 20
"""The most records per person on average; a value with more records is not a person."""


def suggest_roles(columns: Mapping[str, DistinctCounts]) -> dict[str, Suggestion]:
    """Suggest a role per column from its name and its number of distinct values.

    Suggestions only: users know which columns can be linked or are private.

    >>> few, all_differ = DistinctCounts(1, 2), DistinctCounts(2, 2)
    >>> columns = {"Name": all_differ, "sex": few, "note": few}
    >>> {column: str(s.role) for column, s in suggest_roles(columns).items()}
    {'Name': 'identifier', 'sex': 'quasi-identifier', 'note': 'insensitive'}
    """
    return {str(name): _suggest_role(str(name), column) for name, column in columns.items()}


def suggest_person(
    columns: Mapping[str, DistinctCounts], roles: Mapping[str, Role], n_records: int
) -> str | None:
    """Suggest the identifier that may show which records belong to one person; None without one.

    Its name says number or id, every record has one, and some share one. Of several, names that
    mention persons come first, then the one with most values.

    >>> columns = {"pat-nr": DistinctCounts(30, 40), "ward no.": DistinctCounts(39, 40)}
    >>> suggest_person(columns, dict.fromkeys(columns, Role.IDENTIFIER), 40)
    'pat-nr'
    """
    fitting = [
        name
        for name, column in columns.items()
        if roles[name] is Role.IDENTIFIER
        and column.values < column.n_filled == n_records
        and tells_persons(column)
        and re.fullmatch(f"{_NUMBERS}|{_IDS}", _split_name(name)[-1])
        and not re.search(_OF_PLACES, name.lower())
    ]

    def rank(name: str) -> tuple[bool, int]:
        persons = any(re.fullmatch(_OF_PERSONS, word) for word in _split_name(name))
        return persons, columns[name].values

    return max(fitting, key=rank, default=None)


def tells_persons(column: DistinctCounts) -> bool:
    """Whether a column has enough values for each to be a person.

    >>> tells_persons(DistinctCounts(30, 40)), tells_persons(DistinctCounts(3, 400))
    (True, False)
    """
    return _RECORDS_OF_A_PERSON * column.values >= column.n_filled


def named_like(name: str) -> Suggestion | None:
    """The role that the name of a column suggests, with the reason; None if it suggests none.

    >>> named_like("Date of birth").role.value, named_like("note")
    ('quasi-identifier', None)
    >>> named_like("Patient Age").role.value, named_like("ICD10").role.value
    ('quasi-identifier', 'sensitive')
    """
    all_words = _split_name(name)
    words = [re.sub(r"^(patienten|kunden|mitarbeiter)(?=\w)", "", word) for word in all_words]
    words = [word for word in words if not re.fullmatch(_PERSON, word)] or all_words
    if words != all_words and re.fullmatch(_NUMBERS, words[-1]):
        return Suggestion(Role.IDENTIFIER, _NAMES_A_PERSON)
    # Pairs of words too, for names such as "postal code" or "year of birth".
    pairs = ["_".join(words[i : i + 2]) for i in range(len(words) - 1)]
    candidates = {"_".join(words), *pairs, *words}
    candidates |= {re.sub(r"[\d_]+$", "", text) for text in candidates}
    candidates |= {text.removesuffix("s") for text in candidates}
    for role, pattern, reason in _NAMES:
        if any(re.fullmatch(pattern, text) for text in candidates):
            return Suggestion(role, reason)
    return None


def _split_name(name: str) -> list[str]:
    """Split a name into words in lower case; "N° x" becomes "x no".

    >>> _split_name("Pat.-Nr."), _split_name("customerId")
    (['pat', 'nr'], ['customer', 'id'])
    >>> _split_name("N° dossier")
    ['dossier', 'no']
    """
    name = re.sub(r"^\s*([nN][°º]|№)(.*)", r"\2 no", name)
    snake = re.sub(r"([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z]{2})", r"\1\3_\2\4", name)
    return re.sub(r"\W+|_+", "_", snake).strip("_").lower().split("_")


def _suggest_role(name: str, column: DistinctCounts) -> Suggestion:
    by_name = named_like(name)
    has_number_name = re.fullmatch(f"{_NUMBERS}|{_IDS}", _split_name(name)[-1])
    if has_number_name and tells_apart(column.values, column.n_filled):
        return Suggestion(Role.IDENTIFIER, "Suggested: its name is typical of a number or an ID.")
    if by_name is not None and by_name.role is Role.IDENTIFIER and _has_few_values(column):
        many = f"{write_count(column.n_filled)} records share {count_noun(column.values, 'value')}"
        return Suggestion(
            Role.INSENSITIVE,
            f"Undecided: its name suggests a person, but {many}. Please choose.",
            decided=False,
        )
    if by_name is not None:
        return Suggestion(by_name.role, f"Suggested: {by_name.reason}.")
    if column.n_filled > 20 and column.values == column.n_filled:
        return Suggestion(Role.IDENTIFIER, "Suggested: every record has its own value.")
    if has_number_name and column.values > _FEW_VALUES and tells_persons(column):
        return Suggestion(Role.IDENTIFIER, "Suggested: its name is typical of a number or an ID.")
    many = singles_out(column)
    if many:
        return Suggestion(Role.QUASI_IDENTIFIER, f"Suggested: {many}")
    return Suggestion(
        Role.INSENSITIVE,
        "Undecided: neither its name nor its values show its role. Please choose.",
        decided=False,
    )


def _has_few_values(column: DistinctCounts) -> bool:
    return column.values <= _FEW_VALUES and not tells_persons(column)


def singles_out(column: DistinctCounts) -> str:
    """A sentence about a column with enough values to single people out, or nothing.

    >>> singles_out(DistinctCounts(values=30, n_filled=40))
    '30 values in 40 records single people out.'
    """
    if not tells_apart(column.values, column.n_filled):
        return ""
    values, records = write_count(column.values), write_count(column.n_filled)
    return f"{values} values in {records} records single people out."


def tells_apart(distinct: int, records: int) -> bool:
    """Whether a column has enough values to distinguish most records.

    >>> tells_apart(30, 40), tells_apart(3, 4)
    (True, False)
    """
    return records > 20 and distinct > 0.5 * records
