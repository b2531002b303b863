"""The tables that come with kanon, and the hierarchies that fit columns by name."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from kanon.base.own_files import find_own_file
from kanon.schema import Role
from kanon.teaching.presets import PRESETS

_IDENTIFIER, _QUASI = Role.IDENTIFIER, Role.QUASI_IDENTIFIER
_SENSITIVE, _INSENSITIVE = Role.SENSITIVE, Role.INSENSITIVE

ADULT_FOLDER = "adult"  # the folder of hierarchies for the Adult table, under ``hierarchies/``


@dataclass(frozen=True)
class Sample:
    name: str  # Its file in ``sample_data/`` and its folder in ``hierarchies/``
    title: str  # What pages call it
    about: str  # One sentence
    roles: Mapping[str, Role] = field(default_factory=dict)  # The role of each column
    k: int = 5  # A k that shows something on this table
    # A column that can be learnt from the quasi-identifiers; empty for none in particular.
    target: str = ""

    @property
    def path(self) -> Path:
        return find_own_file("sample_data", f"{self.name}.csv")


def _build_small_sample(name: str) -> Sample:
    preset = PRESETS[name]
    return Sample(name, preset.title, preset.about, preset.roles, k=preset.k)


FIRST = "census"  # the sample that a first start opens

SAMPLES: Mapping[str, Sample] = {
    sample.name: sample
    for sample in (
        Sample("census", "Synthetic census", "30,000 invented persons of an invented country.", {
            "person": _IDENTIFIER, "age": _QUASI, "sex": _QUASI, "region": _QUASI,
            "education": _QUASI, "marital-status": _QUASI, "occupation": _QUASI,
            "household-size": _INSENSITIVE, "health": _SENSITIVE, "income-band": _INSENSITIVE,
        }, target="income-band"),
        Sample("voters", "Synthetic voters", "30,000 invented voters.", {
            "zip": _QUASI, "gender": _QUASI, "race": _QUASI, "birth-year": _QUASI,
            "party": _SENSITIVE,
        }),
        _build_small_sample("hospital"),
        _build_small_sample("animals-m23"),
        _build_small_sample("animals-v21"),
    )
}  # fmt: skip


def find_bundled_file(folder: str, column: str) -> Path | None:
    """The hierarchy file that comes with kanon for a column of that name, if any."""
    # A column's name must not lead out of the folder.
    for path in sorted(find_own_file("hierarchies", folder).glob("*.*")):
        if path.stem == column:
            return path
    return None
