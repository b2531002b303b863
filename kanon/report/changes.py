"""What changed since the last report of the same project: settings, roles, hierarchies, numbers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from kanon.algorithms.catalogue import short_title
from kanon.base.checked_json import Strict, load_json, problem
from kanon.base.formatting import percent, thin, write_number
from kanon.errors import PlanError, quoted
from kanon.metrics import METRICS
from kanon.privacy import k_anonymity
from kanon.privacy.plans import MODELS
from kanon.report.explanations import LEVELS
from kanon.strategies import STRATEGIES

if TYPE_CHECKING:
    from kanon.report.contents import Report


class ReportRecord(Strict):
    """What the next report of a project compares itself with; no value of the table is in it."""

    date: str = ""  # the day the report was made
    # what was chosen and what came of it, as it is shown, by what it is called
    settings: dict[str, str]
    figures: dict[str, str]
    fingerprints: dict[str, str]  # of the table and of each hierarchy


def record_of(report: Report) -> ReportRecord:
    """What the next report compares itself with."""
    plan = json.loads(report.plan)
    fingerprints = {
        f"hierarchy of {quoted(each.column)}": each.fingerprint for each in report.hierarchies
    }
    return ReportRecord(
        date=report.made.date.isoformat(),
        settings=dict(_settings(plan, report)),
        figures=dict(_figures(plan, report)),
        fingerprints={"table": report.hashes[0][1], **fingerprints},
    )


def parse_record(content: Any, where: str = "The last report") -> ReportRecord:
    """Check a record that was parsed from JSON, or the numbers of a report, which hold it."""
    given = content.get("record", content) if isinstance(content, dict) else content
    try:
        return ReportRecord.model_validate(given, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        path = ".".join(map(str, first["loc"]))
        raise problem(first, path, "record", PlanError).within(where) from None


def read_record(path: Path) -> ReportRecord:
    """Read the record of the last report from a JSON file."""
    return parse_record(load_json(path, "The last report"))


def changes_between(before: ReportRecord, now: ReportRecord) -> tuple[str, ...]:
    """What changed, in plain words: settings first, then hierarchies, then numbers.

    >>> old = ReportRecord(settings={"k": "5"}, figures={"Loss": "31.2 % (NLLM)"},
    ...                    fingerprints={"hierarchy of 'age'": "1f"})
    >>> new = ReportRecord(settings={"k": "10"}, figures={"Loss": "42.0 % (NLLM)"},
    ...                    fingerprints={"hierarchy of 'age'": "2e"})
    >>> for said in changes_between(old, new):
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
    made_of = [f"The {name} changed" for name in _differing(before.fingerprints, now.fingerprints)]
    figures = [
        f"{name}: {before.figures[name]} → {now.figures[name]}"
        for name in _differing(before.figures, now.figures)
    ]
    return (*settings, *made_of, *figures)


def _differing(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    return [name for name in now if name in before and before[name] != now[name]]


# --- what was chosen ------------------------------------------------------------------------
_TERMS = {
    "name": "Algorithm",
    "metric": "Metric",
    "strategy": "Strategy",
    "scope": "Scope of the strategy",
    "sensitive": "Column of the strategy",
    "cost": "Cost of a merge",
    "attribute_weights": "Weights of columns",
    "tie_seed": "Tie seed",
    "seed": "Seed",
    "node": "Levels",
}
"""What the keys of a plan's algorithm are called."""

_K = k_anonymity.CARD.name


def _settings(plan: Mapping[str, Any], report: Report) -> Iterator[tuple[str, str]]:
    k = max(part.get("k", 1) for part in plan["privacy"])
    yield "k", f"{k} {'persons' if plan.get('person') else 'records'}"
    required: dict[str, list[str]] = {}
    for part in plan["privacy"]:
        others = [f"{one} = {part[one]}" for one in part if one not in ("model", "column")]
        if part["model"] != _K:
            of = f" of {quoted(part['column'])}" if part.get("column") else ""
            title = f"{MODELS[part['model']].card.title}{of}"
            required.setdefault(title, []).append(", ".join(others))
    yield from ((title, "; ".join(asked)) for title, asked in required.items())
    for key, value in plan["algorithm"].items():
        yield _TERMS.get(key, key.capitalize()), _said(key, value)
    for name, made in plan["metrics"].items():
        yield f"Metric {quoted(name)}", f"{made['intermediate']}, {made['multiplier']}"
    limit = plan.get("suppression_limit")
    if isinstance(limit, dict):
        yield "Records that may be suppressed", thin(limit["records"])
    elif limit is not None:
        yield "Records that may be suppressed", percent(100 * limit)
    yield "Rows of suppressed records", plan["suppressed"]
    if plan["read"].get("missing"):
        yield "Records that lack a quasi-identifier", plan["read"]["missing"]
    if plan.get("person"):
        yield "Column of the person", quoted(plan["person"])
    yield "Version of kanon", dict(report.versions)["kanon"]
    for one in report.profile:
        yield f"Role of {quoted(one.name)}", f"{one.role}, {one.fate}"


def _said(key: str, value: Any) -> str:
    if key == "name":
        return short_title(value)
    if key == "metric":
        return METRICS[value].card.title if value in METRICS else quoted(value)
    if key == "strategy":
        return STRATEGIES[value].title
    if isinstance(value, dict):
        return ", ".join(f"{name}: {each:g}" for name, each in value.items()) or "all alike"
    return str(value)


# --- what came of it ------------------------------------------------------------------------
_LEVELS = [LEVELS[name] for name in ("entropy_l", "distinct_l", "t_variational", "alpha")]
"""What is said of each sensitive column."""


def _figures(plan: Mapping[str, Any], report: Report) -> Iterator[tuple[str, str]]:
    measures, metric = report.measures, plan["algorithm"]["metric"]
    yield "Records", thin(report.records)
    if report.persons is not None:
        yield "Persons", thin(report.persons)
    yield "Records left out for missing values", thin(report.dropped)
    yield "Suppressed records", thin(measures["suppressed"])
    yield "Classes", thin(measures["classes"])
    if measures["min_k"] is not None:
        yield "Records of the smallest class", thin(measures["min_k"])
    if measures.get("min_persons") is not None:
        yield "Persons of the smallest class", thin(measures["min_persons"])
    yield "Loss", f"{percent(measures['alteration'][metric])} ({_said('metric', metric)})"
    for change in report.risks:
        if change.column and change.after is not None and change.level in _LEVELS:
            yield f"{change.level.title} of {quoted(change.column)}", write_number(change.after)
