"""``run``: anonymise a table as a plan says."""

import argparse
import json
import os
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from kanon.algorithms.catalogue import algorithm_named
from kanon.algorithms.lower_bound import LowerBound
from kanon.base.formatting import count_noun, write_count, write_percent
from kanon.base.progress import Progress
from kanon.cli.inputs import check_files, check_new_table, read_plan, read_publish, read_records
from kanon.cli.messages import build_notifier, choose_progress, show_warning
from kanon.cli.options import add_json, add_plan, add_progress, add_publish, add_seed, add_table
from kanon.errors import KanonError, PlanError, TableError, quote
from kanon.hierarchy.plans import describe_reading
from kanon.plan import Plan
from kanon.release.drift import build_pinned_plan
from kanon.release.record import check_record_writable, describe_earlier_releases, get_account
from kanon.report.optimality_gap import OptimalityGap, compute_close_bound
from kanon.report.origin import ReleasedFile, build_recorder, compute_address_fingerprint
from kanon.run import Run, run
from kanon.sources.addresses import Address
from kanon.sources.formats import find_format
from kanon.sources.memory import MemoryTable
from kanon.sources.repairs import describe_notes
from kanon.sources.stored_source import check_outside, find_written_kind
from kanon.sources.tables import Table
from kanon.sources.text_form import FORMS, PLAIN, TextForm
from kanon.sources.writing import write_whole


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_plan(parser)
    add_table(parser)
    parser.add_argument("--out", type=Address.parse, required=True, metavar="RELEASED")
    parser.add_argument("--measures", type=Path, metavar="M.json", help="write the measures")
    parser.add_argument(
        "--bound", action="store_true",
        help="find a lower bound on the loss of any release, and the most by which this one can "
        "exceed it; may take minutes",
    )  # fmt: skip
    parser.add_argument(
        "--pin", type=Path, metavar="NEXT.json",
        help="write the plan that raises later tables to the levels that were found",
    )  # fmt: skip
    parser.add_argument(
        "--bundle", type=Path, metavar="FILE.zip",
        help="write an archive for the recipient: the release, its requirements, a public report, "
        "checksums, and a script that checks it without kanon",
    )  # fmt: skip
    add_publish(parser)
    add_json(parser)
    add_seed(parser)
    add_progress(parser)
    parser.add_argument(
        "--csv", choices=("table", *FORMS),
        help="how a CSV is written: plain (commas, UTF-8: the default), as the table was, or for "
        "Excel (semicolons)",
    )  # fmt: skip
    parser.add_argument(
        "--neutralise-formulas", action="store_true",
        help="put an apostrophe before cells of a CSV or TSV that a spreadsheet would run as a "
        "formula; this alters those cells",
    )  # fmt: skip


def execute(args: argparse.Namespace) -> None:
    plan = read_plan(args)
    if args.out.is_url:
        raise PlanError("--out: a release is written to a path, not to a URL.")
    check_files(args, plan, args.out.path, args.measures, args.pin, args.bundle)
    if args.pin is not None and algorithm_named(plan.algorithm.name).CARD.family != "levels":
        raise PlanError(
            f"--pin: {quote(plan.algorithm.name)} decides anew for each table, so there are no "
            "levels to keep; the plan itself can be run on the next table."
        )
    if args.bundle is not None and args.bundle.suffix.lower() != ".zip":
        raise PlanError("--bundle: an archive is a zip file; end its name in .zip.")
    publish = read_publish(args, "--bundle")
    check_record_writable()
    table = read_records(args, plan)
    if args.bundle is not None and table.in_engine:
        raise PlanError(
            "--bundle needs a table in memory, because its report rechecks the released rows; "
            "leave --bundle out, or add --engine memory."
        )
    for option in ("--neutralise-formulas", "--csv"):
        if getattr(args, option.strip("-").replace("-", "_")):
            _check_text(args.out, table, option)
    if table.in_engine:
        kind = find_written_kind(args.out)
        check_outside(args.out, args.table)
        if kind == "duckdb":
            check_new_table(args, args.out)
    else:
        _check_kind(args.out)
    progress = choose_progress(args)
    record = build_recorder(
        plan, lambda: compute_address_fingerprint(args.table), get_account(), "command line"
    )
    if record is not None and (earlier := describe_earlier_releases(record.table)):
        show_warning(earlier)
    result = run(plan, table, args.plan.parent, progress)
    _show_notices(result, args)
    form = _choose_form(result, table, args.csv or "plain")
    result.write(args.out, progress, args.neutralise_formulas, record, form)
    if args.measures:
        _write_measures(result.measures, args.measures)
    if args.pin and (pinned := build_pinned_plan(result)):
        moved = _move_plan(pinned, args.plan.parent, args.pin.parent)
        write_whole(moved.to_json().encode("utf-8"), args.pin)
    bound = _compute_bound(result, args, progress) if args.bound else None
    if args.bundle:
        # Here, as no other option draws: Plotly takes its time to be imported.
        from kanon.report.archive import build_archive_file

        out = args.out.path
        file = ReleasedFile(
            out.read_bytes(), find_format(out.name).name, form, result.released(index=True)
        )
        write_whole(build_archive_file(result, file, datetime.now().date(), publish), args.bundle)
    if args.json:
        print(json.dumps(_add_bound(result, bound)))
        return
    print(_describe_outcome(result))
    if bound is not None:
        print(OptimalityGap.from_run(result, bound).sentence)


def _show_notices(result: Run, args: argparse.Namespace) -> None:
    show = build_notifier(args)
    for _, note in describe_notes(result.prepared.repairs):
        show(note)
    classes = result.prepared.classes
    for column, tree in zip(classes.attributes, classes.hierarchies, strict=True):
        chosen = result.prepared.plan.columns[column].hierarchy
        for notice in describe_reading(chosen, tree, args.plan.parent):
            show(f"Hierarchy of column {quote(column)}: {notice}")


def _write_measures(measures: Mapping[str, Any], path: Path) -> None:
    write_whole((json.dumps(measures, indent=2) + "\n").encode("utf-8"), path)


def _compute_bound(result: Run, args: argparse.Namespace, progress: Progress) -> LowerBound | None:
    """Compute the lower bound and add it to the measures; None, with a warning, without one."""
    try:
        bound = compute_close_bound(result.prepared, progress)
    except KanonError as error:
        show_warning(f"--bound: {error.sentence}")
        return None
    except KeyboardInterrupt as stop:
        if args.measures:
            stop.add_note(f"{quote(args.measures.name)} lacks lower_bound.")
        raise
    if args.measures:
        _write_measures(_add_bound(result, bound), args.measures)
    return bound


def _add_bound(result: Run, bound: LowerBound | None) -> Mapping[str, Any]:
    if bound is None:
        return result.measures
    return {**result.measures, "lower_bound": OptimalityGap.from_run(result, bound).least}


def _choose_form(result: Run, table: Table, name: str) -> TextForm:
    given = table.form if isinstance(table, MemoryTable) else PLAIN
    own = replace(FORMS.get(name, given), labels=given.labels)
    form = result.fitting(own)
    if form != own:
        show_warning(
            f"The release is written in UTF-8, because {own.encoding.upper()} lacks a character "
            "used in a hierarchy."
        )
    return form


def _move_plan(plan: Plan, old: Path, new: Path) -> Plan:
    """Rewrite a plan for another folder; its hierarchy files stay where they are."""
    content = plan.model_dump(mode="json", exclude_none=True)
    for column in content["columns"].values():
        name = column.get("hierarchy")
        if isinstance(name, str) and not Path(name).is_absolute():
            path = os.path.relpath((old / name).resolve(), new.resolve())
            column["hierarchy"] = Path(path).as_posix()
    return Plan.from_content(content)


def _check_text(out: Address, table: Table, option: str) -> None:
    if table.in_engine:
        raise PlanError(
            f"{option} needs a table in memory, because an engine writes the file itself; leave "
            "the option out, or add --engine memory."
        )
    if find_format(out.path.name).cells != "text":
        raise PlanError(
            f"{option} is for CSV and TSV: cells of an XLSX are marked as text anyway, and the "
            "other formats have neither formulas nor separators."
        )


def _check_kind(out: Address) -> None:
    try:
        find_format(out.shown, writes=True)
    except TableError as error:
        if not out.path.suffix or out.table:
            raise PlanError(
                "--out: a folder of Parquet files or a table of a DuckDB file is written by an "
                "engine; add --engine duckdb."
            ) from None
        raise error


def _describe_outcome(result: Run) -> str:
    prepared, recoding = result.prepared, result.recoding
    left_out, suppressed_records = prepared.dropped, recoding.suppressed_records
    dropped = f", {write_count(left_out)} dropped for missing values" if left_out else ""
    suppressed = f", {write_count(suppressed_records)} suppressed" if suppressed_records else ""
    classes = "no class is left"
    if (smallest := recoding.min_k) is not None:
        classes = (
            f"{count_noun(recoding.n_classes, 'class', 'classes')}, the smallest of "
            f"{count_noun(smallest, 'record')}"
        )
        if (fewest := recoding.released.min_persons) is not None:
            classes += f", at least {count_noun(fewest, 'person')} in each class"
    repairs = ", ".join(repair.amount for repair in prepared.repairs)
    return (
        f"{f'Repairs: {repairs}; ' if repairs else ''}"
        f"{count_noun(recoding.classes.n_records, 'record')}{dropped}{suppressed}; {classes}; "
        f"alteration {write_percent(result.alteration)} of all that could be lost "
        f"({prepared.plan.metric.card.title})"
        f"{''.join(f'; {note}' for note in (result.about_parts, result.about_gap) if note)}"
    )
