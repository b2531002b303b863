"""The command line: ``python -m kanon``. A plan that the dashboard saved runs here unchanged."""

from __future__ import annotations

import argparse
import io
import json
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pandas as pd

from kanon.algorithms.catalogue import algorithm_named
from kanon.algorithms.task import Progress, no_progress
from kanon.base.formatting import counted, percent, thin
from kanon.errors import (
    TRACEBACK,
    KanonError,
    PlanError,
    PlanWarning,
    PrivacyWarning,
    ReleaseError,
    TableError,
    Unsatisfiable,
    listing,
    quoted,
    withheld,
)
from kanon.experiments.advisor.advice import advise
from kanon.experiments.greatest_k import reverse
from kanon.experiments.simulated.columns import COLUMNS
from kanon.experiments.simulated.files import made_with, read_study, written_study
from kanon.experiments.simulated.ranks import OVERALL, mean_ranks, results
from kanon.experiments.simulated.study import STRATEGIES, RunResult, lacking, run_study, study_of
from kanon.experiments.sweep import sweep
from kanon.hierarchy.files import read_hierarchy
from kanon.measures.privacy import privacy_summary, risk_summary
from kanon.metrics import PUBLISHED
from kanon.plan import Plan, ReadPlan
from kanon.release.common_classes import Release
from kanon.release.composition import combine
from kanon.release.context import Context
from kanon.release.decision import decide, levels_reached
from kanon.release.drift import check_levels, check_next, same_levels
from kanon.run import Run, prepare, run
from kanon.schema import SUPPRESSED, Role
from kanon.sources.addresses import Address
from kanon.sources.memory import MemoryTable, check_covered
from kanon.sources.opening import open_address, open_table
from kanon.sources.people import people_in_classes
from kanon.sources.reading import ReadSettings, kind_of
from kanon.sources.singling_out import singling_out
from kanon.sources.stored import ENGINES, StoredTable
from kanon.sources.stored_source import check_outside, kind_written
from kanon.sources.tables import Table
from kanon.sources.writing import check_replaceable, table_bytes, write_whole
from kanon.teaching.exercises import read_exercises, score_files

__all__ = ["main"]

_MISTAKE, _BAD_INPUT, _UNSATISFIABLE, _READ_NO_FURTHER = 1, 2, 3, 141


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit status.

    0 when it worked, 2 for a bad plan, table or hierarchy, 3 when the plan cannot be satisfied,
    the check of the release fails, or releases together do not meet their plans, 1 for a
    mistake of kanon's own, 130 when it was interrupted, and 141 when nobody reads its output.
    """
    try:
        parsed = _parser().parse_args(arguments)
        with warnings.catch_warnings():
            warnings.simplefilter("always", PrivacyWarning)
            warnings.simplefilter("always", PlanWarning)
            warnings.showwarning = _warnings_shown()
            parsed.command(parsed)
            sys.stdout.flush()
    except (ReleaseError, Unsatisfiable) as error:
        return _fail(error, _UNSATISFIABLE)
    except KanonError as error:
        return _fail(error, _BAD_INPUT)
    except KeyboardInterrupt as stop:
        print(str(stop) or "Interrupted; nothing was written.", file=sys.stderr)
        return 130
    except BrokenPipeError:  # who read the output, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python flushes once more
        return _READ_NO_FURTHER
    except Exception as error:
        if os.environ.get(TRACEBACK):
            raise
        print(  # the text could hold cells
            f"kanon: failed by a mistake of its own: {withheld(error)}. Please report this line; "
            f"with {TRACEBACK}=1 there are more, which may hold values of the table.",
            file=sys.stderr,
        )
        return _MISTAKE
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m kanon", description="See what k-anonymity costs and what it buys."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    anonymise = commands.add_parser("run", help="anonymise a table as a plan says")
    anonymise.add_argument("plan", type=Path, metavar="PLAN.json")
    _takes_table(anonymise)
    anonymise.add_argument("--out", type=Address.parse, required=True, metavar="RELEASED")
    anonymise.add_argument("--measures", type=Path, metavar="M.json", help="write the measures")
    anonymise.add_argument(
        "--pin", type=Path, metavar="NEXT.json",
        help="write the plan that raises later tables to the levels that were found",
    )  # fmt: skip
    anonymise.add_argument("--seed", type=int, help="the seed, instead of the plan's")
    anonymise.add_argument("--progress", action="store_true", help="show a bar")
    anonymise.add_argument(
        "--neutralise-formulas", action="store_true",
        help="begin cells of a CSV or TSV that a spreadsheet would run as a formula with an "
        "apostrophe: it alters those cells",
    )  # fmt: skip
    anonymise.set_defaults(command=_run)

    compare = commands.add_parser("sweep", help="what every k costs under several metrics")
    compare.add_argument("plan", type=Path, metavar="PLAN.json")
    _takes_table(compare)
    compare.add_argument("--k", required=True, metavar="3,4,5,10")
    compare.add_argument("--metrics", default="all", metavar="all|a,b", help="all: the seven")
    compare.add_argument("--strategies", default="s1", metavar="s1")
    compare.add_argument("--out", type=Path, required=True, metavar="CURVES.csv")
    compare.add_argument("--seed", type=int, help="the seed, instead of the plan's")
    compare.add_argument("--progress", action="store_true", help="show a bar")
    compare.set_defaults(command=_sweep)

    advising = commands.add_parser("advise", help="which metric and strategy suit a table")
    advising.add_argument("plan", type=Path, metavar="PLAN.json")
    _takes_table(advising)
    advising.add_argument(
        "--k", metavar="5|3-100", help="one k, or a range to average over; else the plan's"
    )
    advising.add_argument(
        "--weights", default="utility=2,l=1,t=1", metavar="utility=2,l=1,t=1",
        help="how much each matters; what is not named does not",
    )  # fmt: skip
    advising.add_argument(
        "--limits", default="", metavar="l=2,t=0.3",
        help="what l of every class should be at least, and t at most",
    )  # fmt: skip
    advising.add_argument("--out", type=Path, metavar="WAYS.csv", help="write every alternative")
    advising.add_argument("--json", action="store_true", help="print the numbers as JSON")
    advising.add_argument("--progress", action="store_true", help="show a bar")
    advising.set_defaults(command=_advise)
    turned = commands.add_parser(
        "reverse", help="the greatest k that goes with the other models of a plan"
    )
    turned.add_argument("plan", type=Path, metavar="PLAN.json")
    _takes_table(turned)
    turned.add_argument("--out", type=Path, required=True, metavar="CURVE.csv")
    turned.add_argument("--progress", action="store_true", help="show a bar")
    turned.set_defaults(command=_reverse)

    simulate = commands.add_parser(
        "simulate", help="rank the strategies on simulated sensitive columns"
    )
    simulate.add_argument("plan", type=Path, metavar="PLAN.json")
    _takes_table(simulate)
    simulate.add_argument("--out", type=Path, required=True, metavar="RESULTS.csv")
    simulate.add_argument(
        "--state", type=Path, metavar="STUDY.json",
        help="keep there what was found, and go on from there",
    )  # fmt: skip
    simulate.add_argument("--seed", type=int, help="the seed, instead of the plan's")
    simulate.add_argument("--progress", action="store_true", help="show a bar")
    simulate.set_defaults(command=_simulate)

    file = commands.add_parser("report", help="write the report of a release, for the file")
    file.add_argument("plan", type=Path, metavar="PLAN.json")
    _takes_table(file)
    file.add_argument("--out", type=Path, required=True, metavar="REPORT.html")
    file.add_argument(
        "--words", type=Path, metavar="WORDS.json",
        help="purpose, responsible person, recipient, legal basis and such, in your own words",
    )  # fmt: skip
    _takes_context(file, required=False)
    file.add_argument(
        "--public", action="store_true", help="the form for publication: no values of the table"
    )
    file.add_argument("--seed", type=int, help="the seed, instead of the plan's")
    file.add_argument("--progress", action="store_true", help="show a bar")
    file.set_defaults(command=_report)

    purpose = commands.add_parser(
        "decide", help="whether a release has what is asked of it by what it is for"
    )
    purpose.add_argument("plan", type=Path, metavar="PLAN.json")
    _takes_table(purpose)
    _takes_context(purpose, required=True)
    purpose.add_argument("--json", action="store_true", help="print the numbers as JSON")
    purpose.add_argument("--seed", type=int, help="the seed, instead of the plan's")
    purpose.add_argument("--progress", action="store_true", help="show a bar")
    purpose.set_defaults(command=_decide)

    measure = commands.add_parser("measure", help="measure a table as it is")
    _takes_table(measure)
    measure.add_argument("--qi", required=True, metavar="a,b,c", help="the quasi-identifiers")
    measure.add_argument(
        "--sensitive", action="append", default=[], metavar="s,t", help="the sensitive columns"
    )
    measure.add_argument(
        "--person", metavar="COLUMN", help="the column that says which records are of one person"
    )
    measure.add_argument(
        "--population", type=Path, metavar="P", help="everybody who might be in the table"
    )
    measure.add_argument("--json", action="store_true", help="print the numbers as JSON")
    measure.set_defaults(command=_measure)

    finding = commands.add_parser(
        "quasi-identifiers", help="the smallest sets of columns that single records out"
    )
    _takes_table(finding)
    finding.add_argument("--columns", metavar="a,b,c", help="the columns to look at; else all")
    finding.add_argument(
        "--plan", type=Path, metavar="PLAN.json",
        help="leave out its identifiers, and say which columns it takes for harmless",
    )  # fmt: skip
    finding.add_argument(
        "--share", type=_share, default="5%", metavar="5%",
        help="the share of the records that a set has to single out",
    )  # fmt: skip
    finding.add_argument(
        "--k", type=int, default=2, help="records alike with fewer than k are singled out"
    )
    finding.add_argument("--size", type=int, default=3, help="so many columns in a set at most")
    finding.add_argument("--json", action="store_true", help="print the numbers as JSON")
    finding.add_argument("--progress", action="store_true", help="show a bar")
    finding.set_defaults(command=_find)

    following = commands.add_parser("check", help="see what is new in a table for a plan")
    following.add_argument("plan", type=Path, metavar="PLAN.json")
    _takes_table(following)
    following.add_argument(
        "--before", type=Address.parse, metavar="TABLE", help="the table that the plan was made for"
    )
    following.set_defaults(command=_check_next)

    together = commands.add_parser(
        "combine", help="what somebody learns who holds the releases of several plans"
    )
    together.add_argument(
        "plans", type=Path, nargs="+", metavar="PLAN.json",
        help="the plans of two or more releases of the table",
    )  # fmt: skip
    _takes_table(together)
    together.add_argument("--json", action="store_true", help="print the numbers as JSON")
    together.add_argument("--progress", action="store_true", help="show a bar")
    together.set_defaults(command=_combine)

    exercises = commands.add_parser("exercises", help="mark answers to an exercise set")
    marking = exercises.add_subparsers(required=True, metavar="COMMAND").add_parser(
        "score", help="mark the answers of a class: a row per file"
    )
    marking.add_argument("set", type=Path, metavar="SET.json")
    marking.add_argument("answers", type=Path, nargs="+", metavar="ANSWERS.json")
    marking.add_argument("--out", type=Path, required=True, metavar="SCORES.csv")
    marking.set_defaults(command=_score)

    hierarchy = commands.add_parser("hierarchy", help="look at hierarchy files")
    check = hierarchy.add_subparsers(required=True, metavar="COMMAND").add_parser(
        "check", help="check that a file is a tree, and that it covers a column"
    )
    check.add_argument("file", type=Path, metavar="FILE")
    check.add_argument("--table", type=Address.parse)
    check.add_argument("--column", metavar="NAME")
    check.add_argument("--sep", metavar="SEPARATOR")
    check.set_defaults(command=_check_hierarchy)
    return parser


def _takes_table(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--table", type=Address.parse, required=True, metavar="TABLE",
        help="a file, a folder of Parquet files, or a database: DATA.duckdb#TABLE, URL#TABLE",
    )  # fmt: skip
    parser.add_argument(
        "--engine", choices=("memory", *ENGINES), metavar="|".join(("memory", *ENGINES)),
        help="what reads it; by default memory for small files, else what fits",
    )  # fmt: skip
    parser.add_argument("--sep", metavar="SEPARATOR", help="the separator of a CSV; else found")


def _takes_context(parser: argparse.ArgumentParser, required: bool) -> None:
    parser.add_argument(
        "--context", type=Path, required=required, metavar="CONTEXT.json",
        help="what the release is for; see docs/release-context.md",
    )  # fmt: skip
    parser.add_argument(
        "--population", type=Path, metavar="P",
        help="everybody who might be in the table, with its original values",
    )  # fmt: skip


def _run(given: argparse.Namespace) -> None:
    plan = _plan(given)
    if given.out.is_url:
        raise PlanError("--out: a release is written to a path, not to a URL.")
    _check_files(given, plan, given.out.path, given.measures, given.pin)
    if given.pin is not None and algorithm_named(plan.algorithm.name).FAMILY != "levels":
        raise PlanError(
            f"--pin: {quoted(plan.algorithm.name)} decides for each table anew, so there are no "
            "levels to keep; the plan itself can be run on the next table."
        )
    table = _records(given, plan)
    if given.neutralise_formulas:
        _check_neutral(given.out, table)
    if isinstance(table, StoredTable):
        kind_written(given.out)
        check_outside(given.out, given.table)
    else:
        _check_kind(given.out)
    progress = _told(given)
    done = run(plan, table, given.plan.parent, progress)
    done.write(given.out, progress, given.neutralise_formulas)
    if given.measures:
        write_whole((json.dumps(done.measures, indent=2) + "\n").encode("utf-8"), given.measures)
    if given.pin and (pinned := same_levels(done)):
        moved = _moved(pinned, given.plan.parent, given.pin.parent)
        write_whole(moved.to_json().encode("utf-8"), given.pin)
    print(_outcome(done))


def _moved(plan: Plan, old: Path, new: Path) -> Plan:
    """The plan for another folder: its hierarchy files are where they were."""
    content = plan.model_dump(mode="json", exclude_none=True)
    for column in content["columns"].values():
        name = column.get("hierarchy")
        if isinstance(name, str) and not Path(name).is_absolute():
            path = os.path.relpath((old / name).resolve(), new.resolve())
            column["hierarchy"] = Path(path).as_posix()
    return Plan.from_content(content)


def _check_next(given: argparse.Namespace) -> None:
    """Say what is new in a table; what stops the plan ends with its exit status."""
    plan = Plan.load(given.plan)
    before = None if given.before is None else _records(given, plan, given.before)
    table, folder = _records(given, plan), given.plan.parent
    found = check_next(plan, table, folder, before)
    stopping = [finding for finding in found if finding.stops]
    if before is not None and not stopping:
        found += check_levels(plan, table, before, folder)
    for finding in found:
        print(f"{'stops' if finding.stops else 'note'}: {finding.sentence}")
    if not stopping:
        print("The plan can be run on this table.")
        return
    error = Unsatisfiable if stopping[0].kind == "models" else PlanError
    raise error(f"The plan cannot be run on this table: {counted(len(stopping), 'thing')} to mend.")


def _check_neutral(out: Address, table: Table) -> None:
    """Check that there are formulas to be neutralised, and that kanon writes them itself."""
    if isinstance(table, StoredTable):
        raise PlanError(
            "--neutralise-formulas needs a table in memory, as an engine writes cells as they are; "
            "leave it out, or add --engine memory."
        )
    if kind_of(out.path.name) not in ("csv", "tsv"):
        raise PlanError(
            "--neutralise-formulas is for CSV and TSV: cells of an XLSX are marked as text anyway, "
            "and Parquet and Feather have no formulas."
        )


def _check_kind(out: Address) -> None:
    """Check that a table in memory can be written so."""
    try:
        kind_of(out.shown)
    except TableError as error:
        if not out.path.suffix or out.table:
            raise PlanError(
                "--out: a folder of Parquet files or a table of a DuckDB file is written by an "
                "engine; add --engine duckdb."
            ) from None
        raise error


def _sweep(given: argparse.Namespace) -> None:
    plan = _plan(given)
    _check_files(given, plan, given.out)
    ks = [_whole(part.strip()) for part in given.k.split(",")]
    metrics = PUBLISHED if given.metrics == "all" else _parts(given.metrics)
    strategies = _parts(given.strategies)
    records = _records(given, plan)
    curves = sweep(plan, records, ks, metrics, strategies, given.plan.parent, _told(given))
    write_whole(curves.to_csv(index=False, lineterminator="\n").encode("utf-8"), given.out)
    print(
        f"{counted(len(curves), 'row')}: {counted(len(metrics), 'metric')}, "
        f"{counted(len(strategies), 'strategy', 'strategies')}, {len(ks)} k"
    )


def _advise(given: argparse.Namespace) -> None:
    plan = Plan.load(given.plan)
    _check_files(given, plan, given.out)
    weights, limits = _named("--weights", given.weights), _named("--limits", given.limits)
    k = None if given.k is None else _range(given.k)
    records, told = _records(given, plan), _told(given)
    found = advise(plan, records, k, weights, limits, given.plan.parent, told)
    if given.out is not None:
        table = found.table().to_csv(index=False, lineterminator="\n")
        write_whole(table.encode("utf-8"), given.out)
    print(json.dumps(found.numbers) if given.json else "\n".join(found.said()))


def _named(option: str, text: str) -> dict[str, float]:
    """Numbers by name, such as ``l=1,t=0.5``."""
    found: dict[str, float] = {}
    for part in _parts(text):
        name, _, number = (piece.strip() for piece in part.partition("="))
        if name in found:
            raise PlanError(f"{option} names {quoted(name)} twice; name each once.")
        try:
            found[name] = float(number)
        except ValueError:
            raise PlanError(
                f"{option}: {quoted(part)} is no name with a number; write them as utility=1,l=0.5."
            ) from None
    return found


def _range(text: str) -> int | tuple[int, int]:
    """One k, or the ends of a range."""
    low, dash, high = text.partition("-")
    try:
        return (int(low), int(high)) if dash else int(low)
    except ValueError:
        raise PlanError(
            f"--k: {quoted(text)} is no k; give one k such as 5, or a range such as 3-100."
        ) from None


def _reverse(given: argparse.Namespace) -> None:
    plan = Plan.load(given.plan)
    _check_files(given, plan, given.out)
    found = reverse(plan, _records(given, plan), given.plan.parent, _told(given))
    write_whole(found.ways.to_csv(index=False, lineterminator="\n").encode("utf-8"), given.out)
    first = found.curve.iloc[0]
    print(
        f"{counted(len(found.ways), 'row')}; the models are met from {first['alteration']:.1f} % "
        f"alteration on, as {plan.metric.card.title} counts, with k = {thin(int(first['k']))}"
    )
    reached = {most: found.greatest_k(most) for most in (5, 10, 20, 30, 50)}
    told = [f"{most} %: {thin(k)}" for most, k in reached.items() if k is not None]
    if told:
        print(f"Greatest k reached with at most so much alteration: {', '.join(told)}")


def _simulate(given: argparse.Namespace) -> None:
    plan = _plan(given)
    _check_files(given, plan, given.out, given.state)
    if plan.person is not None:
        _show_warning("The study counts k in records, and the plan counts it in persons.")
    study = study_of(prepare(plan, _records(given, plan), given.plan.parent))
    made, state = made_with(study), given.state
    found = read_study(state, made) if state is not None and state.exists() else []

    def keep(one: RunResult) -> None:
        found.append(one)
        if state is not None:
            write_whole(written_study(made, found), state)

    try:
        run_study(_told(given), study, lacking(found), keep)
    except KeyboardInterrupt:
        if state is None or not found:
            raise
        kept = f"what was found so far is in {quoted(state.name)}"
        raise KeyboardInterrupt(f"Interrupted; {kept}, and the same command goes on.") from None
    table = results(study, found)
    write_whole(table.to_csv(index=False, lineterminator="\n").encode("utf-8"), given.out)
    low, high = study.interval
    print(
        f"{counted(len(table), 'row')}: {counted(len(COLUMNS), 'column')}, "
        f"{counted(len(STRATEGIES), 'strategy', 'strategies')}, areas on k from {low} to {high}"
    )
    means = mean_ranks(found)[OVERALL].sort_values(kind="stable")
    ranked = ", ".join(f"{name} {mean:.2f}" for name, mean in means.items())
    print(f"Mean rank, 1 the best: {ranked}")


def _report(given: argparse.Namespace) -> None:
    # Here, as no other command draws: Plotly takes its time to be imported.
    from kanon.report.gathering import gather
    from kanon.report.origin import origin_of_file
    from kanon.report.public import for_publication
    from kanon.report.rendering import rendered
    from kanon.report.words import read_words

    if given.out.suffix.lower() not in (".html", ".htm"):
        raise PlanError("--out: a report is a page; end its name in .html.")
    plan = _plan(given)
    _check_files(given, plan, given.out)
    words = None if given.words is None else read_words(given.words)
    context = None if given.context is None else Context.load(given.context)
    people = _people(given, context)
    table = _records(given, plan)
    origin = origin_of_file(given.table.path) if isinstance(table, MemoryTable) else None
    report = gather(
        plan, table, given.plan.parent, date=datetime.now().date(), words=words, origin=origin,
        context=context, people=people, progress=_told(given),
    )  # fmt: skip
    write_whole(rendered(for_publication(report) if given.public else report), given.out)
    print(report.verdict)


def _decide(given: argparse.Namespace) -> None:
    """Say whether a release has what is asked of it; the status is 3 if it has not."""
    plan, context = _plan(given), Context.load(given.context)
    people = _people(given, context)
    done = run(plan, _records(given, plan), given.plan.parent, _told(given))
    found = decide(context, levels_reached(done, context.known, people))
    print(json.dumps(found.numbers) if given.json else found.sentence)
    if found.reached.levels and not found.parts:
        raise PlanError(
            "The context asks for nothing that can be counted here, so nothing was checked; ask "
            "for k or a risk, or for l or t of a sensitive column."
        )
    if not found.holds:
        raise ReleaseError("The release does not have all that is asked of it in this context.")


def _people(given: argparse.Namespace, context: Context | None) -> pd.DataFrame | None:
    """The population, where it counts: for who does not know who is in the table."""
    if given.population is None:
        return None
    if context is None or context.attacker != "journalist":
        raise PlanError(
            '--population counts in a context with "attacker": "journalist" alone, who does not '
            "know who is in the table."
        )
    settings = ReadSettings(separator=given.sep)
    return open_table(given.population, given.population.name, settings).table


def _plan(given: argparse.Namespace) -> Plan:
    """The plan, with the seed that was asked for."""
    plan = Plan.load(given.plan)
    if given.seed is None:
        return plan
    content = plan.model_dump(mode="json", exclude_none=True)
    content["algorithm"]["seed"] = given.seed
    return Plan.from_content(content)


def _records(given: argparse.Namespace, plan: Plan | None, address: Address | None = None) -> Table:
    """The table, or another one, read as the plan says if there is one."""
    read = ReadPlan() if plan is None else plan.read
    markers = read.missing_markers
    settings = ReadSettings(
        separator=given.sep or read.separator,
        encoding=read.encoding,
        missing_markers=None if markers is None else tuple(markers),
    )
    return open_address(address or given.table, given.engine, settings)


def _told(given: argparse.Namespace) -> Progress:
    return _bar if given.progress else no_progress


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _whole(text: str) -> int:
    try:
        return int(text.strip())
    except ValueError:
        raise PlanError(
            f"--k: {quoted(text.strip())} is no whole number; give whole numbers with commas "
            "between, such as 3,4,5,10."
        ) from None


def _outcome(done: Run) -> str:
    found, plan = done.measures, done.prepared.plan
    dropped = f", {thin(found['dropped'])} dropped for missing values" if found["dropped"] else ""
    suppressed = f", {thin(found['suppressed'])} suppressed" if found["suppressed"] else ""
    classes = "no class is left"
    if found["classes"]:
        classes = (
            f"{counted(found['classes'], 'class', 'classes')}, the smallest of "
            f"{counted(found['min_k'], 'record')}"
        )
        if "min_persons" in found:
            classes += f", the one of fewest persons of {counted(found['min_persons'], 'person')}"
    return (
        f"{counted(found['records'], 'record')}{dropped}{suppressed}; {classes}; "
        f"alteration {found['alteration'][plan.metric.name]:.1f} % of all that could be lost, "
        f"as {plan.metric.card.title} counts"
        f"{f'; {done.about_parts}' if done.about_parts else ''}"
    )


def _measure(given: argparse.Namespace) -> None:
    settings = ReadSettings(separator=given.sep)
    table = open_address(given.table, given.engine, settings)
    columns, sensitive = _parts(given.qi), _parts(",".join(given.sensitive))
    _check_once("--qi", columns, "quasi-identifier")
    _check_once("--sensitive", sensitive, "sensitive column")
    twice = [column for column in columns if column in sensitive]
    if twice:
        raise PlanError(
            f"--qi and --sensitive both name {quoted(twice[0])}; a column is one or the other."
        )
    if given.person in (*columns, *sensitive):
        raise PlanError(
            f"--person: {quoted(given.person)} is named by --qi or --sensitive too; a column is "
            "one of these."
        )
    suppressed = 0
    if SUPPRESSED not in (*columns, *sensitive):
        table, suppressed = table.without_suppressed()
    found = table.classes_of(columns, sensitive, given.person)
    in_persons = {} if given.person is None else {"min_persons": found.min_persons}
    numbers: dict[str, Any] = {
        "records": found.n_records,
        **({"suppressed": suppressed} if suppressed else {}),
        "classes": found.n_classes,
        "min_k": found.min_k,
        **in_persons,
        "unique_records": found.unique_records,
        **privacy_summary(found),
    }
    if given.population:
        if not isinstance(table, MemoryTable):
            raise PlanError("--population needs a table in memory; leave --engine out.")
        people = open_table(given.population, given.population.name, settings).table
        numbers |= risk_summary(found, people_in_classes(table.frame, people, columns))
    print(json.dumps(numbers) if given.json else "\n".join(_lines(numbers)))


def _find(given: argparse.Namespace) -> None:
    plan = None if given.plan is None else Plan.load(given.plan)
    roles = {} if plan is None else plan.roles.roles
    table = _records(given, plan)
    columns = _parts(given.columns or "")
    _check_once("--columns", columns, "column")
    gone = 0
    if SUPPRESSED not in columns:
        table, gone = table.without_suppressed()
    if given.columns is None:
        left_out = {name for name, role in roles.items() if role is Role.IDENTIFIER}
        left_out |= {SUPPRESSED} if gone else set()
        columns = [name for name in table.columns if name not in left_out]
    found = singling_out(table, columns, given.share, given.k, given.size, progress=_told(given))
    wrong = found.contradicted(roles) if plan is not None else ()
    if given.json:
        print(json.dumps(found.numbers | ({} if plan is None else {"contradicted": [*wrong]})))
        return
    print("\n".join(found.said))
    if wrong:
        print(f"The plan takes for insensitive, against this: {listing(wrong, most=12)}.")


def _share(text: str) -> float:
    """A share as a percentage or as a number: 5% or 0.05."""
    number = text.strip().removesuffix("%")
    what = "give a percentage such as 5% or a number such as 0.05"
    try:
        given = float(number) / (100 if number != text.strip() else 1)
        # 1.1 / 100 is a little more than 0.011, which a set may single out exactly.
        share = round(given, 15)
    except ValueError:
        raise PlanError(f"--share: {quoted(text)} is no share; {what}.") from None
    if given and not share:
        raise PlanError(f"--share: {quoted(text)} is less than what can be told from 0; {what}.")
    return share


def _combine(given: argparse.Namespace) -> None:
    if len(given.plans) < 2:
        raise PlanError("combine: name at least two plans, whose releases one could hold.")
    tables: dict[str, Table] = {}  # as each plan reads it
    releases = []
    for path in given.plans:
        plan = Plan.load(path)
        way = plan.read.model_dump_json(exclude={"missing"})
        if way not in tables:
            tables[way] = _records(given, plan)
        try:
            releases.append(Release.of(run(plan, tables[way], path.parent, _told(given))))
        except KanonError as error:
            raise error.within(quoted(path.name)) from None
    found = combine(releases, next(iter(tables.values())))
    if given.json:
        print(json.dumps(found.numbers))
    else:
        print("\n".join(found.said([path.name for path in given.plans])))
    if not found.holds:
        raise ReleaseError("All releases together do not meet what their plans ask for.")


def _score(given: argparse.Namespace) -> None:
    """Mark answers; a file that is none is a row that says so, and stops nothing."""
    _check_written([given.out])
    _check_different(
        [given.set, *given.answers, given.out], [], "the set, the answers and what is written"
    )
    exercises = read_exercises(given.set)
    scores = score_files(exercises, [(str(path), path) for path in given.answers])
    write_whole(table_bytes(scores, "csv", neutral=True), given.out)
    failed = scores[scores["problem"] != ""]
    for name, sentence in zip(failed["file"], failed["problem"], strict=True):
        print(f"kanon: {quoted(name, 200)} was not marked: {sentence}", file=sys.stderr)
    marked = scores["percent"].dropna()
    mean = f", on average {percent(marked.mean())} of {exercises.points:g} points"
    print(f"{counted(len(marked), 'file')} marked{mean if len(marked) else ''}")


def _check_once(option: str, columns: Sequence[str], what: str) -> None:
    if len(set(columns)) < len(columns):
        raise PlanError(f"{option} names a column twice; name each {what} once.")


def _lines(numbers: Mapping[str, Any], above: str = "") -> Iterator[str]:
    """A line per number, those within others after the names of what they are in."""
    for name, number in numbers.items():
        if isinstance(number, Mapping):
            yield from _lines(number, f"{above}{name} ")
        elif number is None:
            yield f"{above}{name}: ∞"
        else:
            shown = thin(number) if isinstance(number, int) else f"{number:.4g}"
            yield f"{above}{name}: {shown}"


def _check_hierarchy(given: argparse.Namespace) -> None:
    if (given.table is None) != (given.column is None):
        raise PlanError("--table and --column go together: the column that the tree should cover.")
    imported = read_hierarchy(given.file)
    tree = imported.hierarchy
    print(
        f"{counted(tree.n_nodes, 'node')}, {counted(tree.n_leaves, 'leaf', 'leaves')}, "
        f"height {tree.height}"
    )
    for note in imported.notes:
        print(note)
    if given.table is None:
        return
    table = open_address(given.table, None, ReadSettings(separator=given.sep))
    if given.column not in table.columns:
        raise PlanError(f"The table has no column {quoted(given.column)}.")
    column = table.counted(given.column)
    check_covered(given.column, column.counts, tree)
    unused = tree.n_leaves - sum(tree.node_of[text] < tree.n_leaves for text in column.counts)
    print(
        f"Every value has its place; {counted(unused, 'leaf', 'leaves')} not in the table (fine)."
    )


def _check_files(given: argparse.Namespace, plan: Plan, *written: Path | None) -> None:
    """No file may overwrite another one, and what could not be written is not worth computing."""
    outputs = [path for path in written if path is not None]
    _check_written(outputs)
    named = [each.hierarchy for each in plan.columns.values() if isinstance(each.hierarchy, str)]
    hierarchies = [given.plan.parent / name for name in named]  # columns may share one
    tables = [] if given.table.is_url else [given.table.path]
    what = "the plan, the table, hierarchies and what is written"
    also = [getattr(given, name, None) for name in ("words", "context", "population")]
    read = [path for path in also if path is not None]
    _check_different([given.plan, *tables, *read, *outputs], hierarchies, what)


def _check_written(outputs: Sequence[Path]) -> None:
    """What could not be written is not worth computing."""
    for path in outputs:
        check_replaceable(path)
        if not _writable(path):
            raise PlanError(
                f"{quoted(path.name)} cannot be written there: the folder around it has to exist "
                "and to allow writing, and a folder of that name has to be empty."
            )


def _check_different(paths: Sequence[Path], known: Sequence[Path], what: str) -> None:
    """No file may stand for two things, nor one of ``paths`` for one of ``known``."""
    seen = list(known)
    for path in paths:
        if any(_one_file(path, other) for other in seen):
            raise PlanError(
                f"{quoted(path.name)} is named for two things; {what} have to be different files."
            )
        seen.append(path)


def _writable(path: Path) -> bool:
    try:
        taken = path.resolve(strict=False).is_dir() and any(path.iterdir())
        return path.absolute().parent.is_dir() and not taken
    except (OSError, RuntimeError):  # no right to look there, a name too long, links in a circle
        return False


def _one_file(path: Path, other: Path) -> bool:
    """Whether two names lead to one file, as hard links do."""
    try:
        return path.resolve() == other.resolve() or path.samefile(other)
    except (OSError, RuntimeError):  # one of them does not exist
        return False


def _bar(fraction: float, text: str) -> None:
    filled = round(30 * fraction)
    end = "\n" if fraction >= 1 else ""
    print(f"\r{'█' * filled:<30} {fraction:4.0%} {text:<50}", end=end, file=sys.stderr, flush=True)


def _show_warning(message: Warning | str, *_: object) -> None:
    print(f"kanon: warning: {message}", file=sys.stderr)


def _warnings_shown() -> Callable[..., None]:
    """What shows warnings; that of old plans once, of however many plans.

    The filter "once" would not do: who reads a table may set filters, and then it begins anew.
    """
    about_plans: set[str] = set()

    def show(message: Warning | str, *_: object) -> None:
        if isinstance(message, PlanWarning) and str(message) in about_plans:
            return
        if isinstance(message, PlanWarning):
            about_plans.add(str(message))
        _show_warning(message)

    return show


def _fail(error: KanonError, status: int) -> int:
    print(f"kanon: {error.sentence}", file=sys.stderr)
    return status


if __name__ == "__main__":
    for stream in (sys.stdout, sys.stderr):  # a console may lack a sign; better a ? than an error
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    sys.exit(main())
