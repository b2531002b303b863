"""The form of a report for publication: what holds values of the table is taken out before.

What is not in it cannot be shown by mistake. Names of columns stay, and counts.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from kanon.report.alternatives import Alternative
from kanon.report.contents import Report

_KEPT = {
    "suppression": ("build",),
    "intervals": ("build", "widths"),  # where they begin and end may be values of the column
    "mask": ("build", "keep", "side"),
    "codes": ("build", "separators", "prefixes"),  # ranges may be called like values
    "dates": ("build", "levels"),
    "ages": ("build", "day", "widths"),
}
"""Per builder the keys that hold no value of a table."""


def for_publication(report: Report) -> Report:
    """The report without values of the table, and without what would let one test a guess of them.

    Hierarchies are counts, there are no example rows, the plan names no values, reasons are given
    without cells. Of the fingerprints that of the release stays: the input's or a hierarchy's would
    tell who guesses the table, or all of it but a cell, that the guess is right.

    Parameters
    ----------
    report
        The internal form; the other one is returned as it is.
    """
    if report.public:
        return report
    plan = json.dumps(without_values(report.plan), ensure_ascii=False, indent=2) + "\n"
    drawn = tuple(replace(each, drawing=None, fingerprint="") for each in report.hierarchies)
    others = report.alternatives
    return replace(
        report,
        hierarchies=drawn,
        plan=plan,
        alternatives=replace(
            others,
            metrics=tuple(map(_withheld, others.metrics)),
            algorithms=tuple(map(_withheld, others.algorithms)),
        ),
        hashes=report.hashes[-1:],
        name="",
        example=None,
        last=None,
        changes=(),
        public=True,
    )


def _withheld(one: Alternative) -> Alternative:
    return replace(one, refused=one.withheld)


def without_values(plan: str) -> dict[str, Any]:
    """A plan whose hierarchies and markers of missing cells name no values.

    >>> tree = {"nodes": [{"name": "F"}, {"name": "*"}]}
    >>> plan = {"columns": {"sex": {"role": "quasi-identifier", "hierarchy": tree}}, "read": {}}
    >>> without_values(json.dumps(plan))["columns"]["sex"]["hierarchy"]
    {'build': 'withheld'}
    """
    content: dict[str, Any] = json.loads(plan)
    for column in content["columns"].values():
        chosen = column.get("hierarchy")
        if chosen is None:
            continue
        kept = _KEPT.get(str(chosen.get("build")), ()) if isinstance(chosen, dict) else ()
        shown = {key: chosen[key] for key in kept if key in chosen}
        column["hierarchy"] = shown or {"build": "withheld"}
    content["read"].pop("missing_markers", None)
    return content
