"""Every exception of kanon, by meaning, and the one warning about privacy.

A message is one sentence that says where the problem is and what is allowed. The values of a
table are personal data: they stand in a sentence as ``{cells}``, which ``str()`` withholds (an
exception's text can reach a log) and :attr:`KanonError.sentence` fills in (for the person who
already holds the table).

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
"""The environment variable by which a developer has unexpected exceptions told with their texts."""

_WITHHELD = "(value withheld)"

_TURNING = dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A)])
"""Invisible signs that turn the direction of what follows, beyond the name that they stand in."""


def on_one_line(text: object) -> str:
    """A text without line ends, runs of blanks, and signs that turn what follows.

    >>> on_one_line("two\\nlines \\u202eturned")
    'two lines turned'
    """
    return " ".join(str(text).translate(_TURNING).split())


def quoted(text: object, longest: int = 40) -> str:
    """A name or value in quotes, shortened, on one line.

    >>> quoted("two\\nlines")
    "'two lines'"
    >>> quoted("x" * 50, longest=5)
    "'xxxxx…'"
    """
    flat = on_one_line(text).encode("utf-8", "replace").decode()  # no half characters
    return f"'{flat}'" if len(flat) <= longest else f"'{flat[:longest]}…'"


def listing(items: Iterable[object], most: int = 5) -> str:
    """Several names in quotes, at most ``most`` of them.

    >>> listing(["a", "b", "c"], most=2)
    "'a', 'b' and 1 more"
    """
    everything = list(items)
    text = ", ".join(quoted(item) for item in everything[:most])
    return text + (f" and {len(everything) - most} more" if len(everything) > most else "")


def withheld(error: BaseException) -> str:
    """What a log may say of any exception: types and places, without the texts, which hold cells.

    >>> try:
    ...     int("Alice")
    ... except ValueError as error:
    ...     withheld(error)
    'ValueError at <doctest ...>:2'
    """
    said: list[str] = []
    one: BaseException | None = error
    while one is not None and len(said) < 10:
        places = [
            f"{frame.f_code.co_filename}:{line}"
            for frame, line in traceback.walk_tb(one.__traceback__)
        ]
        said.append(" ".join([type(one).__name__, *(["at", " > ".join(places)] if places else [])]))
        one = one.__cause__ or (None if one.__suppress_context__ else one.__context__)
    return ", after ".join(said)


class KanonError(Exception):
    """The base of every error that a user can mend.

    Parameters
    ----------
    sentence
        One sentence; ``{cells}`` marks where values of the table belong.
    cells
        Those values.
    """

    def __init__(self, sentence: str, cells: Sequence[object] = ()) -> None:
        super().__init__(sentence, tuple(cells))
        self._sentence = sentence
        self.cells = tuple(cells)

    def __str__(self) -> str:
        return self._sentence.replace("{cells}", _WITHHELD)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"

    @property
    def sentence(self) -> str:
        """The sentence with its values, for the person who holds the table; not for a log."""
        return self._sentence.replace("{cells}", listing(self.cells))

    def within(self, place: str) -> Self:
        """The same error, with the place where it happened in front of its sentence."""
        return type(self)(f"{place}: {self._sentence}", self.cells)


class TableError(KanonError):
    """The table cannot be read or used as it is."""


class UnclearHeader(TableError):
    """A first line reads as a record, and nobody has said whether it holds names."""

    def __init__(self, sentence: str, cells: Sequence[object] = (), reason: str = "") -> None:
        super().__init__(sentence, cells)
        self.reason = reason  # what of it reads as a record


class HierarchyError(KanonError):
    """A hierarchy is not a tree, or not one that can be used."""


class CoverageError(HierarchyError):
    """A column holds values that its hierarchy lacks."""


class MetricError(KanonError):
    """A metric is unknown, or its edge weights cannot be used."""


class PlanError(KanonError):
    """A plan has a key or a value that is not allowed."""


class ExerciseError(KanonError):
    """A file of exercises or of answers has something that is not allowed."""


class StudyError(KanonError):
    """A file of a study has something that is not allowed, or is of another study."""


class SettingsError(KanonError):
    """The operator's settings cannot be read, or have a value that is not allowed."""


class NotAFile(KanonError):
    """A path leads to a pipe or a device, which may have nothing to say for ever."""

    def __init__(self, path: object) -> None:
        super().__init__(
            f"{quoted(path, 200)} is a pipe or a device, not a file: save what comes out of it as "
            "a file, and name that."
        )


class Unsatisfiable(KanonError):
    """No release of this table can satisfy the plan."""


class ReleaseError(KanonError):
    """A release that was made does not meet its plan, so it is not given out."""


class PlanWarning(UserWarning):
    """A plan means something else than it did to the version of kanon that wrote it."""


class PrivacyWarning(UserWarning):
    """Something that may harm privacy, although nothing is formally wrong."""
