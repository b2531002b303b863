"""What has changed since the last report of a project: settings, roles, hierarchies, numbers."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kanon.base.checked_json import Strict, load_json, validate
from kanon.errors import PlanError


class ReportRecord(Strict):
    """What the next report of a project is compared with; it holds no value of the table."""

    date: str = ""  # the day the report was made
    # what was chosen and what came of it, as it is shown, by what it is called
    settings: dict[str, str]
    figures: dict[str, str]
    fingerprints: dict[str, str]  # of the table and of each hierarchy


def parse_record(content: Any, where: str = "The last report") -> ReportRecord:
    """Check a record that was parsed from JSON, or the numbers of a report, which hold it."""
    record = content.get("record", content) if isinstance(content, dict) else content
    try:
        return validate(ReportRecord, record, "record")
    except PlanError as error:
        raise error.add_place(where) from None


def read_record(path: Path) -> ReportRecord:
    """Read the record of the last report from a JSON file."""
    return parse_record(load_json(path, "The last report"))


def list_report_changes(before: ReportRecord, now: ReportRecord) -> tuple[str, ...]:
    """What changed, in plain words: settings first, then hierarchies, then numbers.

    >>> old = ReportRecord(settings={"k": "5"}, figures={"Loss": "31.2 % (NLLM)"},
    ...                    fingerprints={"hierarchy of 'age'": "1f"})
    >>> new = ReportRecord(settings={"k": "10"}, figures={"Loss": "42.0 % (NLLM)"},
    ...                    fingerprints={"hierarchy of 'age'": "2e"})
    >>> for said in list_report_changes(old, new):
    ...     print(said)
    k: 5 → 10
    The hierarchy of 'age' changed
    Loss: 31.2 % (NLLM) → 42.0 % (NLLM)
    """
    settings = [
        f"{name}: {before.settings.get(name, 'none')} → {now.settings.get(name, 'none')}"
        for name in dict.fromkeys([*before.settings, *now.settings])
        if before.settings.get(name) != now.settings.get(name)
    ]
    names = _find_differing(before.fingerprints, now.fingerprints)
    hierarchies = [f"The {name} changed" for name in names]
    figures = [
        f"{name}: {before.figures[name]} → {now.figures[name]}"
        for name in _find_differing(before.figures, now.figures)
    ]
    return (*settings, *hierarchies, *figures)


def _find_differing(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    return [name for name in now if name in before and before[name] != now[name]]
