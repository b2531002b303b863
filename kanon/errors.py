"""The exceptions of kanon, by meaning, and the warnings.

A message says where the problem is and what is allowed. The values of a table are personal data:
a sentence has ``{cells}`` for them, which ``str()`` withholds (an exception's text can reach a
log) and :attr:`KanonError.sentence` fills in (for the person who already holds the table).

>>> error = CoverageError("Column 'age': {cells} (2 records) is not in its tree.", cells=["203"])
>>> str(error)
"Column 'age': (value withheld) (2 records) is not in its tree."
>>> error.sentence
"Column 'age': '203' (2 records) is not in its tree."
"""

import traceback
from collections.abc import Iterable, Sequence
from typing import Self

TRACEBACK = "KANON_TRACEBACK"
"""The environment variable that makes unexpected exceptions print their texts, for developers."""

_WITHHELD = "(value withheld)"

_TURNING = dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A)])
"""Invisible signs that reverse the direction of the text after them."""


def join_lines(text: object) -> str:
    """A text without line ends, runs of blanks and signs that reverse its direction.

    >>> join_lines("two\\nlines \\u202eturned")
    'two lines turned'
    """
    return " ".join(str(text).translate(_TURNING).split())


def quote(text: object, longest: int = 40) -> str:
    """A name or value in quotes, shortened, on one line.

    >>> quote("two\\nlines")
    "'two lines'"
    >>> quote("x" * 50, longest=5)
    "'xxxxx…'"
    """
    flat = join_lines(text).encode("utf-8", "replace").decode()  # no half characters
    return f"'{flat}'" if len(flat) <= longest else f"'{flat[:longest]}…'"


def list_names(items: Iterable[object], most: int = 5) -> str:
    """Several names in quotes, at most ``most`` of them.

    >>> list_names(["a", "b", "c"], most=2)
    "'a', 'b' and 1 more"
    """
    names = list(items)
    text = ", ".join(quote(item) for item in names[:most])
    return text + (f" and {len(names) - most} more" if len(names) > most else "")


def describe_safely(error: BaseException) -> str:
    """Describe any exception for a log: types and places, without texts, which may hold cells.

    >>> try:
    ...     int("Alice")
    ... except ValueError as error:
    ...     describe_safely(error)
    'ValueError at <doctest ...>:2'
    """
    lines: list[str] = []
    cause: BaseException | None = error
    while cause is not None and len(lines) < 10:
        places = [
            f"{frame.f_code.co_filename}:{line}"
            for frame, line in traceback.walk_tb(cause.__traceback__)
        ]
        lines.append(
            " ".join([type(cause).__name__, *(["at", " > ".join(places)] if places else [])])
        )
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)
    return ", after ".join(lines)


class KanonError(Exception):
    """The base of every error that a user can fix: a sentence with ``{cells}`` for values."""

    def __init__(self, sentence: str, cells: Sequence[object] = ()) -> None:
        super().__init__(sentence, tuple(cells))
        self._sentence = sentence
        self.cells = tuple(cells)

    def __str__(self) -> str:
        return self._sentence.replace("({cells})", _WITHHELD).replace("{cells}", _WITHHELD)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"

    @property
    def sentence(self) -> str:
        """The sentence with its values, for the person who holds the table; not for a log."""
        return self._sentence.replace("{cells}", list_names(self.cells))

    def add_place(self, place: str) -> Self:
        """Return the same error with the place where it happened before its sentence."""
        return type(self)(f"{place}: {self._sentence}", self.cells)


class TableError(KanonError):
    """The table cannot be read or used as it is."""


class UnclearHeader(TableError):
    """The first line reads like a record, so it is unclear whether it contains names."""

    def __init__(self, sentence: str, cells: Sequence[object] = (), reason: str = "") -> None:
        super().__init__(sentence, cells)
        self.reason = reason  # what in it reads like a record


class HierarchyError(KanonError):
    """A hierarchy is not a tree, or cannot be used."""


class CoverageError(HierarchyError):
    """A column holds values that its hierarchy lacks."""


class MetricError(KanonError):
    """A metric is unknown, or its edge weights cannot be used."""


class PlanError(KanonError):
    """A plan has a key or a value that is not allowed."""


class ExerciseError(KanonError):
    """A file of exercises or of answers has something that is not allowed."""


class StudyError(KanonError):
    """A file of a study has something that is not allowed, or belongs to another study."""


class SettingsError(KanonError):
    """The operator's settings cannot be read, or have a value that is not allowed."""


class NotAFile(KanonError):
    """A path leads to a pipe or a device, which may block for ever."""

    def __init__(self, path: object) -> None:
        super().__init__(
            f"{quote(path, 200)} is a pipe or a device, not a file. Save its output as a file, "
            "and name that file."
        )


class Unsatisfiable(KanonError):
    """No release of this table can meet the requirements of the plan."""


class ReleaseError(KanonError):
    """A finished release does not meet its plan, so it is not given out."""


class PlanWarning(UserWarning):
    """A plan means something different to this version of kanon than to the one that wrote it."""


class PrivacyWarning(UserWarning):
    """Something that may harm privacy, although nothing is formally wrong."""


class UtilityWarning(UserWarning):
    """The release probably loses more than it has to."""
