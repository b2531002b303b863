"""What only the people behind a release can say about it: why, for whom, on what legal basis."""

from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Annotated, Any

from pydantic import ConfigDict, Field, ValidationError
from pydantic.dataclasses import dataclass

from kanon.base.checked_json import load_json
from kanon.base.formatting import write_count
from kanon.errors import PlanError, quote

LONGEST = 5000  # the most characters of one text

TERMS: Mapping[str, str] = {
    "purpose": "Purpose",
    "responsible": "Responsible person",
    "recipient": "Recipient",
    "legal_basis": "Legal basis",
    "retention": "Kept for",
    "remarks": "Further remarks",
}
"""What each text is called in a report, in its order; the title stands at its head."""

FIELD_HELP: Mapping[str, str] = {
    "title": "What is released; it becomes the report's title, for example “Patients of 2024, for "
    "the registry”. Without it, the title names the table's file.",
    "purpose": "What the release is for, in a sentence or two.",
    "responsible": "The person who is responsible for the release and signs the report.",
    "recipient": "The people who get the release; for a publication, where it appears.",
    "legal_basis": "What permits the release, such as a law, a contract or consent.",
    "retention": "How long the release is kept, and what happens to it then.",
    "remarks": "Anything else for the file, such as the people who were consulted.",
}
"""The help of each text, in the order in which one would write them."""

PUBLISHABLE_FIGURES: Mapping[str, str] = {
    "records": "Records that were anonymised",
    "dropped": "Records left out for missing values",
    "suppressed": "Suppressed records",
    "persons": "Persons in these records",
    "alteration": "Alteration",
    "algorithm": "Algorithm, its parameters and seeds",
}
"""Figures of the table that may be published although the released file does not show them."""

_Text = Annotated[str, Field(max_length=LONGEST)]


@dataclass(frozen=True, config=ConfigDict(extra="forbid", strict=True))
class Words:
    """The texts of a report that no calculation knows; each may be left out.

    >>> Words(purpose="teaching").purpose
    'teaching'
    """

    title: _Text = ""  # what is released, such as "Patients of 2024, for the registry"
    purpose: _Text = ""  # what the release is for
    responsible: _Text = ""  # who answers for it
    recipient: _Text = ""  # who gets it
    legal_basis: _Text = ""  # what allows it
    retention: _Text = ""  # how long it is kept
    remarks: _Text = ""  # whatever else belongs on file


_KEYS = ", ".join(part.name for part in fields(Words))


def read_words(path: Path) -> Words:
    """Read the words of a report from a JSON file."""
    return parse_words(load_json(path, "The file of words"))


def parse_words(content: Any, where: str = "The file of words") -> Words:
    """Check words that were parsed from JSON.

    >>> parse_words({"purpose": "teaching"}).recipient
    ''
    >>> parse_words({"purpos": "teaching"})
    Traceback (most recent call last):
    kanon.errors.PlanError: The file of words: the key 'purpos' is unknown; choose from title, ...
    """
    if not isinstance(content, dict):
        raise PlanError(f"{where} has to be an object that holds texts; its keys can be {_KEYS}.")
    unknown = [key for key in content if key not in _KEYS.split(", ")]
    if unknown:
        raise PlanError(f"{where}: the key {quote(unknown[0])} is unknown; choose from {_KEYS}.")
    try:
        return Words(**content)
    except ValidationError as error:
        key = error.errors(include_url=False)[0]["loc"][0]
        raise PlanError(
            f"{where}: {key} has to be text of at most {write_count(LONGEST)} characters."
        ) from None


def select_filled_words(words: Words) -> dict[str, str]:
    """The texts that were given, by their names."""
    return {name: text for name, text in asdict(words).items() if text}
