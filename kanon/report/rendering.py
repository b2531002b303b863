"""A report as one self-contained HTML page: opening it contacts no server."""

import base64
import json
from dataclasses import asdict
from functools import cache
from typing import Any

import jinja2
import pandas as pd
from markupsafe import Markup
from plotly.io import to_json

from kanon import __version__
from kanon.base.formatting import count_noun, write_count, write_number, write_percent
from kanon.charts.style import METRIC_COLOURS, ROLE_COLOURS
from kanon.errors import join_lines
from kanon.release.remark_kinds import KINDS, sort_by_kind
from kanon.report import scripts
from kanon.report.annex import build_annex
from kanon.report.contents import Report, build_report_record
from kanon.report.explanations import format_sensitive_level
from kanon.report.public import PublicReport
from kanon.report.words import TERMS
from kanon.sources.writing import table_bytes


def render_report(report: Report | PublicReport) -> bytes:
    """The report as HTML, in UTF-8."""
    shared = {
        "report": report,
        "terms": [(term, getattr(report.words, name)) for name, term in TERMS.items()],
        "kinds": {"role": ROLE_COLOURS, "accent": METRIC_COLOURS["distortion"]},
        "numbers_json": _build_data_url("application/json", write_numbers_json(report)),
    }
    if isinstance(report, PublicReport):
        template = _load_templates().get_template("public.html.jinja")
        return template.render(version=__version__, **shared).encode("utf-8", "replace")
    page = _load_templates().get_template("report.html.jinja").render(
        remarks=[(KINDS[kind], remarks) for kind, remarks in sort_by_kind(report.remarks).items()],
        library=Markup(scripts.LIBRARY),
        drawing=Markup(scripts.DRAWING),
        figures=Markup(_encode_figures(report)),
        policy=scripts.compute_script_hashes(),
        annex=build_annex(report),
        protocol=_list_protocol(report),
        evidence=[] if report.evidence is None else report.evidence.rows,
        numbers_csv=_build_data_url("text/csv", write_measures_csv(report)),
        **shared,
    )  # fmt: skip
    return page.encode("utf-8", "replace")  # a name may hold half of a character


def collect_report_numbers(report: Report | PublicReport) -> dict[str, Any]:
    """The figures of a report as JSON: all but the date and the seconds."""
    if isinstance(report, PublicReport):
        return {
            **{name: getattr(report, name) for name in ("title", "verdict", "records", "classes")},
            "form": "publication",
            "guarantees": [asdict(part) for part in report.guarantees],
            "published": report.published_texts,
            "plan": json.loads(report.plan),
            **({"repairs": report.repairs} if report.repairs else {}),
            "sha256": dict([report.release]),
        }
    return {
        "title": report.title,
        "verdict": report.verdict,
        "form": "internal",
        "records": report.records,
        "persons": report.persons,
        "dropped": report.dropped,
        "measures": report.measures,
        "lower_bound": report.gap and report.gap.least,
        "guarantees": [asdict(part) for part in report.guarantees],
        "decision": report.decision and report.decision.numbers,
        "evidence": report.evidence and report.evidence.numbers,
        "intruder_test": _list_protocol(report),
        "annex": build_annex(report),
        "profile": [asdict(part) for part in report.profile],
        "curves": [
            {"title": part.title, "head": part.head, "rows": part.rows} for part in report.curves
        ],
        "better_alternative": report.alternatives.better_sentence or None,
        "alternatives": [
            asdict(part) for part in (*report.alternatives.metrics, *report.alternatives.algorithms)
        ],
        "plan": json.loads(report.plan),
        "versions": dict(report.versions),
        "sha256": dict(report.hashes),
        # For the next report of the project to compare itself with; it is on file with this one.
        "record": build_report_record(report).model_dump(exclude={"date"}),
    }


def _list_protocol(report: Report) -> list[dict[str, str]]:
    test, evidence = report.intruder_test, report.evidence
    return test.list_rows(report.release_fingerprint, evidence, report.attacked_on)


@cache
def _load_templates() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("kanon.report", "."),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "flat": join_lines,
        "thin": write_count,
        "percent": write_percent,
        "level": format_sensitive_level,
        "measure": _format_measure,
    }
    environment.globals["counted"] = count_noun
    return environment


def _encode_figures(report: Report) -> str:
    figures = [figure for section in report.curves for figure in section.figures]
    places = [
        {"place": f"curve-{place}", "figure": json.loads(to_json(figure, engine="json"))}
        for place, figure in enumerate(figures)
    ]
    return json.dumps(places, sort_keys=True).replace("<", "\\u003c")  # no text can end it


def _build_data_url(kind: str, content: bytes) -> str:
    return f"data:{kind};charset=utf-8;base64,{base64.b64encode(content).decode()}"


def write_numbers_json(report: Report | PublicReport) -> bytes:
    """The figures of a report as a file of JSON."""
    return (json.dumps(collect_report_numbers(report), indent=2) + "\n").encode("ascii")


def write_measures_csv(report: Report) -> bytes:
    """All measures of loss, with no text that a spreadsheet would run."""
    rows = [
        {
            "measure": measure.card.title,
            "column": measure.column,
            "before": measure.before,
            "after": measure.after,
            "all at root": measure.at_root,
            "of the way, %": measure.way,
            "unit": measure.card.unit,
            "better": measure.card.direction,
            "meaning": measure.card.summary,
        }
        for measure in report.lost
    ]
    return table_bytes(pd.DataFrame(rows), "csv", neutral=True)


def _format_measure(number: float | None) -> str:
    """A measure of any unit with four digits; a dash where it is not defined.

    >>> _format_measure(12.3456), _format_measure(None), _format_measure(0.0)
    ('12.35', '–', '0')
    """
    if number is None:
        return "–"
    return write_count(number) if abs(number) >= 10_000 else write_number(number)
