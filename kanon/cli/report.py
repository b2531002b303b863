"""``report``: write the report of a release, for the file."""

import argparse
from datetime import datetime
from pathlib import Path

from kanon.cli.inputs import check_files, read_people, read_plan, read_publish, read_records
from kanon.cli.messages import progress_shown
from kanon.cli.options import add_context, add_plan, add_progress, add_publish, add_seed, add_table
from kanon.errors import PlanError
from kanon.release.context import Context
from kanon.sources.memory import MemoryTable
from kanon.sources.writing import write_whole


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_plan(parser)
    add_table(parser)
    parser.add_argument("--out", type=Path, required=True, metavar="REPORT.html")
    parser.add_argument(
        "--words", type=Path, metavar="WORDS.json",
        help="purpose, responsible person, recipient, legal basis and such, in your own words",
    )  # fmt: skip
    add_context(parser, required=False)
    parser.add_argument(
        "--last", type=Path, metavar="LAST.json",
        help="the numbers of the last report of the same project (report.json, from within it): "
        "what changed since is listed",
    )  # fmt: skip
    parser.add_argument(
        "--release", type=Path, metavar="RELEASED",
        help="the file that was handed out, for its fingerprint; by default that of a plain CSV",
    )  # fmt: skip
    parser.add_argument(
        "--public", action="store_true",
        help="the form for publication: of the table no more than the release shows",
    )  # fmt: skip
    add_publish(parser)
    parser.add_argument(
        "--bound", action="store_true",
        help="look closely for what no release of any tool can lose less than; may take minutes",
    )  # fmt: skip
    add_seed(parser)
    add_progress(parser)


def execute(given: argparse.Namespace) -> None:
    # Here, as no other command draws: Plotly takes its time to be imported.
    from kanon.report.changes import read_record
    from kanon.report.contents import gather
    from kanon.report.origin import origin_of_file
    from kanon.report.rendering import rendered
    from kanon.report.words import read_words

    if given.out.suffix.lower() not in (".html", ".htm"):
        raise PlanError("--out: a report is a page; end its name in .html.")
    plan, publish = read_plan(given), read_publish(given, "--public")
    for option in ("population", "last", "bound") if given.public else ():
        if getattr(given, option):
            raise PlanError(f"--{option} is for the internal form; leave it or --public out.")
    check_files(given, plan, given.out)
    words = None if given.words is None else read_words(given.words)
    context = None if given.context is None else Context.load(given.context)
    last = None if given.last is None else read_record(given.last)
    people = read_people(given, context)
    table = read_records(given, plan)
    origin = origin_of_file(given.table.path) if isinstance(table, MemoryTable) else None
    report = gather(
        plan, table, given.plan.parent, date=datetime.now().date(), words=words, origin=origin,
        context=context, people=people, last=last, closely=given.bound, handed_out=given.release,
        progress=progress_shown(given),
    )  # fmt: skip
    form = report.public.with_figures(report.figures, publish) if given.public else report
    write_whole(rendered(form), given.out)
    print(form.verdict)
