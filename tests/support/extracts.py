"""Extracts of a clinic as nobody prepared them, afresh for every seed.

Somebody has one record per stay. Dates are German, numbers have a decimal comma, jobs are typed by
hand, missing cells come in three spellings, and the workbook opens with a cover sheet.
"""

import io
from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np
import pandas as pd

MISSING = ("", "k.A.", "-")
"""The spellings of a missing cell."""

IDENTIFIERS = ("Karten-Nr.", "Nachname")

_SYLLABLES = (
    "ba",
    "ker",
    "li",
    "mo",
    "na",
    "ro",
    "sa",
    "ter",
    "vi",
    "wen",
    "zo",
    "del",
    "fa",
    "gus",
)
_WORK = ("Schlosser", "Verkäufer", "Lehrer", "Pfleger", "Maler", "Fahrer", "Gärtner", "Koch")
_FIELD = ("Auto", "Bau", "Haus", "Metall", "Kranken", "Land", "Schul", "Stadt", "Industrie", "Holz")
_MARITAL = ("ledig", "verheiratet", "geschieden", "verwitwet")


@dataclass(frozen=True, eq=False)
class Extract:
    """An extract and what is true of it.

    Attributes
    ----------
    table
        The cells as they are written, missing ones too.
    job_of
        The job that every spelling stands for.
    """

    table: pd.DataFrame
    job_of: dict[str, str]

    def csv(self) -> bytes:
        """As a German Excel writes it: semicolons, Windows' signs and ends of lines."""
        text = self.table.to_csv(index=False, sep=";", lineterminator="\r\n")
        return text.encode("cp1252")

    def xlsx(self) -> bytes:
        """A workbook whose first sheet is a cover."""
        cover = pd.DataFrame(
            {"Auszug": ["Stand", "Abteilung"], "der Klinik": ["heute", "Controlling"]}
        )
        content = io.BytesIO()
        with pd.ExcelWriter(content, engine="openpyxl") as book:
            cover.to_excel(book, sheet_name="Deckblatt", index=False)
            self.table.to_excel(book, sheet_name="Fälle", index=False)
        return content.getvalue()

    def known(self, column: str) -> pd.Series:
        """A column, its missing cells missing."""
        cells = self.table[column]
        return cells.mask(cells.isin(MISSING))


def extract(seed: int, rows: int = 8_000, persons: int = 6_200) -> Extract:
    """An extract of so many records of so many persons."""
    random = np.random.default_rng(seed)
    who = np.concatenate([np.arange(persons), random.integers(0, persons, rows - persons)])
    random.shuffle(who)
    # What a person has in every record:
    number = random.choice(900_000, persons, replace=False) + 100_000
    names = ["".join(random.choice(_SYLLABLES, 3)).title() for _ in range(persons)]
    born = [
        _german(date(1930, 1, 1) + timedelta(int(day)))
        for day in random.integers(0, 29_000, persons)
    ]
    postcode = _skewed(
        random,
        [f"{code:05d}" for code in random.choice(90_000, 120, replace=False) + 1_000],
        persons,
    )
    jobs = [field + work.lower() for field in _FIELD for work in _WORK][:60]
    job = _skewed(random, jobs, persons)
    salary = np.exp(random.normal(7.8, 0.5, persons))
    # What differs from record to record:
    spelt = [_typed(random, job[one]) for one in who]
    came = [date(2022, 1, 1) + timedelta(int(day)) for day in random.integers(0, 700, rows)]
    table = pd.DataFrame({
        "Karten-Nr.": number[who].astype(str),
        "Nachname": np.array(names, dtype=object)[who],
        "Geburtsdatum": np.array(born, dtype=object)[who],
        "Geschlecht": random.choice(["w", "m", "d"], persons, p=[0.5, 0.49, 0.01])[who],
        "PLZ": postcode[who],
        "Beruf": spelt,
        "Familienstand": random.choice(_MARITAL, persons)[who],
        "Einkommen": [_decimal(amount) for amount in salary[who]],
        "Größe": [_decimal(height) for height in random.normal(172, 9, persons)[who].round(1)],
        "Aufnahme": [f"{_german(day)} {_clock(random)}" for day in came],
        "Tage": random.geometric(0.2, rows).astype(str),
        "Diagnose": _diagnoses(random, rows),
        "Station": random.choice(["A1", "A2", "B1", "C3"], rows),
        "Versicherung": random.choice(["gesetzlich", "privat"], persons, p=[0.88, 0.12])[who],
    })  # fmt: skip
    for column in ("Geburtsdatum", "PLZ", "Beruf", "Einkommen", "Größe", "Familienstand"):
        lacking = random.choice(rows, rows // 200, replace=False)
        table.loc[lacking, column] = random.choice(MISSING, len(lacking))
    return Extract(table, {text: job[one] for text, one in zip(spelt, who, strict=True)})


def _german(day: date) -> str:
    return f"{day:%d.%m.%Y}"


def _clock(random: np.random.Generator) -> str:
    return f"{random.integers(0, 24):02d}:{random.integers(0, 60):02d}"


def _decimal(number: float) -> str:
    """A number with a decimal comma and thousands marks.

    >>> _decimal(1234.5)
    '1.234,50'
    """
    return f"{number:,.2f}".translate(str.maketrans(",.", ".,"))


def _skewed(random: np.random.Generator, values: list[str], size: int) -> np.ndarray:
    """Few values are frequent, many are rare."""
    share = 1 / np.arange(1, len(values) + 1)
    return random.choice(np.array(values, dtype=object), size, p=share / share.sum())


def _typed(random: np.random.Generator, text: str) -> str:
    """A text as somebody types it: one in twelve times a letter is lost, doubled or swapped."""
    if random.random() > 1 / 12:
        return text
    place = int(random.integers(1, len(text) - 2))
    slips = (
        text[:place] + text[place + 1 :],
        text[:place] + text[place] + text[place:],
        text[:place] + text[place + 1] + text[place] + text[place + 2 :],
    )
    return str(random.choice(slips))


def _diagnoses(random: np.random.Generator, rows: int) -> np.ndarray:
    """ICD codes of unequal length."""
    blocks = [
        f"{letter}{two:02d}" for letter in "EIJKM" for two in random.choice(90, 6, replace=False)
    ]
    codes = [
        code for block in blocks for code in (block, f"{block}.9", f"{block}.12", f"{block}.1")
    ]
    return _skewed(random, list(random.permutation(codes)), rows)
