"""``run``: anonymise a table as a plan says."""

import argparse
import json
import os
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from kanon.algorithms.catalogue import algorithm_named
from kanon.algorithms.lower_bound import LowerBound
from kanon.base.formatting import counted, percent, thin
from kanon.base.progress import Progress
from kanon.cli.inputs import check_files, check_new_table, read_plan, read_publish, read_records
from kanon.cli.messages import notify, progress_shown, show_warning
from kanon.cli.options import add_plan, add_progress, add_publish, add_seed, add_table
from kanon.errors import KanonError, PlanError, TableError, quoted
from kanon.hierarchy.plans import describe_reading
from kanon.plan import Plan
from kanon.release.drift import same_levels
from kanon.release.record import account, check_record, describe_earlier_releases
from kanon.report.optimality_gap import OptimalityGap, bound_of
from kanon.report.origin import ReleasedFile, fingerprint_of_address, recorder
from kanon.run import Run, run
from kanon.sources.addresses import Address
from kanon.sources.formats import find_format
from kanon.sources.memory import MemoryTable
from kanon.sources.stored_source import check_outside, kind_written
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
        help="find what no release of any tool can lose less than, and say how far this one is "
        "from it at most; may take minutes",
    )  # fmt: skip
    parser.add_argument(
        "--pin", type=Path, metavar="NEXT.json",
        help="write the plan that raises later tables to the levels that were found",
    )  # fmt: skip
    parser.add_argument(
        "--bundle", type=Path, metavar="FILE.zip",
        help="write an archive for who gets the release: it, what was asked, a public report, "
        "checksums, and a script that checks it without kanon",
    )  # fmt: skip
    add_publish(parser)
    add_seed(parser)
    add_progress(parser)
    parser.add_argument(
        "--csv", choices=("table", *FORMS),
        help="how a CSV is written: plain (commas, UTF-8: the default), as the table was, or for "
        "Excel (semicolons)",
    )  # fmt: skip
    parser.add_argument(
        "--neutralise-formulas", action="store_true",
        help="begin cells of a CSV or TSV that a spreadsheet would run as a formula with an "
        "apostrophe: it alters those cells",
    )  # fmt: skip


def execute(given: argparse.Namespace) -> None:
    plan = read_plan(given)
    if given.out.is_url:
        raise PlanError("--out: a release is written to a path, not to a URL.")
    check_files(given, plan, given.out.path, given.measures, given.pin, given.bundle)
    if given.pin is not None and algorithm_named(plan.algorithm.name).CARD.family != "levels":
        raise PlanError(
            f"--pin: {quoted(plan.algorithm.name)} decides for each table anew, so there are no "
            "levels to keep; the plan itself can be run on the next table."
        )
    if given.bundle is not None and given.bundle.suffix.lower() != ".zip":
        raise PlanError("--bundle: an archive is a zip; end its name in .zip.")
    publish = read_publish(given, "--bundle")
    check_record()
    table = read_records(given, plan)
    if given.bundle is not None and table.in_engine:
        raise PlanError(
            "--bundle needs a table in memory, as the report in it checks the released rows again; "
            "leave it out, or add --engine memory."
        )
    for option in ("--neutralise-formulas", "--csv"):
        if getattr(given, option.strip("-").replace("-", "_")):
            _check_text(given.out, table, option)
    if table.in_engine:
        kind = kind_written(given.out)
        check_outside(given.out, given.table)
        if kind == "duckdb":
            check_new_table(given, given.out)
    else:
        _check_kind(given.out)
    progress = progress_shown(given)
    record = recorder(plan, lambda: fingerprint_of_address(given.table), account(), "command line")
    if record is not None and (earlier := describe_earlier_releases(record.table)):
        show_warning(earlier)
    done = run(plan, table, given.plan.parent, progress)
    _tell_about_hierarchies(done, given)
    form = _form(done, table, given.csv or "plain")
    done.write(given.out, progress, given.neutralise_formulas, record, form)
    if given.measures:
        _write_measures(done.measures, given.measures)
    if given.pin and (pinned := same_levels(done)):
        moved = _moved(pinned, given.plan.parent, given.pin.parent)
        write_whole(moved.to_json().encode("utf-8"), given.pin)
    bound = _bound(done, given, progress) if given.bound else None
    if given.bundle:
        # Here, as no other option draws: Plotly takes its time to be imported.
        from kanon.report.archive import archive

        out = given.out.path
        file = ReleasedFile(
            out.read_bytes(), find_format(out.name).name, form, done.released(index=True)
        )
        write_whole(archive(done, file, datetime.now().date(), publish), given.bundle)
    print(_outcome(done))
    if bound is not None:
        print(OptimalityGap.of(done, bound).sentence)


def _tell_about_hierarchies(run: Run, given: argparse.Namespace) -> None:
    show = notify(given)
    classes = run.prepared.classes
    for column, tree in zip(classes.attributes, classes.hierarchies, strict=True):
        chosen = run.prepared.plan.columns[column].hierarchy
        for notice in describe_reading(chosen, tree, given.plan.parent):
            show(f"Hierarchy of column {quoted(column)}: {notice}")


def _write_measures(measures: Mapping[str, Any], path: Path) -> None:
    write_whole((json.dumps(measures, indent=2) + "\n").encode("utf-8"), path)


def _bound(run: Run, given: argparse.Namespace, progress: Progress) -> LowerBound | None:
    """The lower bound, written among the measures; None, with a warning, if there is none."""
    try:
        bound = bound_of(run.prepared, progress)
    except KanonError as error:
        show_warning(f"--bound: {error.sentence}")
        return None
    except KeyboardInterrupt as stop:
        if given.measures:
            stop.add_note(f"{quoted(given.measures.name)} is without lower_bound.")
        raise
    if given.measures:
        _write_measures(
            {**run.measures, "lower_bound": OptimalityGap.of(run, bound).least}, given.measures
        )
    return bound


def _form(run: Run, table: Table, asked: str) -> TextForm:
    own = FORMS.get(asked, table.form if isinstance(table, MemoryTable) else PLAIN)
    form = run.fitting(own)
    if form != own:
        show_warning(
            f"The release is written in UTF-8, as {own.encoding.upper()} lacks a character of a "
            "hierarchy."
        )
    return form


def _moved(plan: Plan, old: Path, new: Path) -> Plan:
    """The plan for another folder: its hierarchy files are where they were."""
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
            f"{option} needs a table in memory, as an engine writes the file by itself; leave it "
            "out, or add --engine memory."
        )
    if find_format(out.path.name).cells != "text":
        raise PlanError(
            f"{option} is for CSV and TSV: cells of an XLSX are marked as text anyway, and Parquet "
            "and Feather have neither formulas nor separators."
        )


def _check_kind(out: Address) -> None:
    try:
        find_format(out.shown)
    except TableError as error:
        if not out.path.suffix or out.table:
            raise PlanError(
                "--out: a folder of Parquet files or a table of a DuckDB file is written by an "
                "engine; add --engine duckdb."
            ) from None
        raise error


def _outcome(run: Run) -> str:
    prepared, recoding = run.prepared, run.recoding
    left_out, gone = prepared.dropped, recoding.suppressed_records
    dropped = f", {thin(left_out)} dropped for missing values" if left_out else ""
    suppressed = f", {thin(gone)} suppressed" if gone else ""
    classes = "no class is left"
    if (smallest := recoding.min_k) is not None:
        classes = (
            f"{counted(recoding.n_classes, 'class', 'classes')}, the smallest of "
            f"{counted(smallest, 'record')}"
        )
        if (fewest := recoding.released.min_persons) is not None:
            classes += f", the one of fewest persons of {counted(fewest, 'person')}"
    return (
        f"{counted(recoding.classes.n_records, 'record')}{dropped}{suppressed}; {classes}; "
        f"alteration {percent(run.alteration)} of all that could be lost, "
        f"as {prepared.plan.metric.card.title} counts"
        f"{''.join(f'; {said}' for said in (run.about_parts, run.about_gap) if said)}"
    )
