"""``report``: write the report of a release."""

import argparse
import json
from datetime import datetime
from pathlib import Path

from kanon.base.progress import Progress
from kanon.cli.inputs import check_files, read_people, read_plan, read_publish, read_records
from kanon.cli.messages import choose_progress
from kanon.cli.options import (
    add_attack,
    add_context,
    add_json,
    add_plan,
    add_progress,
    add_publish,
    add_seed,
    add_table,
)
from kanon.errors import PlanError
from kanon.release.context import Context
from kanon.run import Run
from kanon.sources.memory import MemoryTable
from kanon.sources.writing import write_whole


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_plan(parser)
    add_table(parser)
    parser.add_argument("--out", type=Path, required=True, metavar="REPORT.html")
    parser.add_argument(
        "--words", type=Path, metavar="WORDS.json",
        help="purpose, responsible person, recipient, legal basis and so on, in your own words",
    )  # fmt: skip
    add_context(parser, required=False)
    parser.add_argument(
        "--last", type=Path, metavar="LAST.json",
        help="the numbers of the project's last report (report.json, downloaded from that report), "
        "to list what has changed since",
    )  # fmt: skip
    parser.add_argument(
        "--release", type=Path, metavar="RELEASED",
        help="the file that was given out, to show its fingerprint; by default that of a plain CSV",
    )  # fmt: skip
    parser.add_argument(
        "--public", action="store_true",
        help="write the report for publication: apart from column names, it shows no more of the "
        "table than the release does",
    )  # fmt: skip
    add_publish(parser)
    parser.add_argument(
        "--bound", action="store_true",
        help="search closely for a lower bound on the loss of any release; may take minutes",
    )  # fmt: skip
    parser.add_argument(
        "--attack", action="store_true",
        help="measure what an attacker gains, and put it into the report",
    )  # fmt: skip
    add_attack(parser)
    parser.add_argument(
        "--intruder", type=Path, metavar="TEST.json",
        help="the attempts of people to recognise someone, downloaded from the dashboard",
    )  # fmt: skip
    add_json(parser)
    add_seed(parser)
    add_progress(parser)


def execute(args: argparse.Namespace) -> None:
    # Here, as no other command draws: Plotly takes its time to be imported.
    from kanon.evidence.attack import Evidence, attack, count_people
    from kanon.report.changes import read_record
    from kanon.report.contents import collect_report
    from kanon.report.intruder_test import NO_ATTEMPTS, read_intruder_test
    from kanon.report.origin import get_file_origin
    from kanon.report.rendering import collect_report_numbers, render_report
    from kanon.report.words import read_words

    if args.out.suffix.lower() not in (".html", ".htm"):
        raise PlanError("--out: a report is an HTML page; end its name in .html.")
    plan, publish = read_plan(args), read_publish(args, "--public")
    internal = ("population", "last", "bound", "attack", "intruder")
    for option in internal if args.public else ():
        if getattr(args, option):
            raise PlanError(f"--{option} is for the internal report; leave it or --public out.")
    check_files(args, plan, args.out)
    words = None if args.words is None else read_words(args.words)
    context = None if args.context is None else Context.load(args.context)
    last = None if args.last is None else read_record(args.last)
    people = read_people(args, context)
    test = NO_ATTEMPTS if args.intruder is None else read_intruder_test(args.intruder)

    def attack_release(release: Run, progress: Progress) -> Evidence:
        everyone = count_people(release, people)
        return attack(release, args.known, everyone, not args.no_control, progress=progress)

    table = read_records(args, plan)
    is_searched = context is not None and context.attacker == "journalist"
    origin = get_file_origin(args.table.path) if isinstance(table, MemoryTable) else None
    report = collect_report(
        plan, table, args.plan.parent, date=datetime.now().date(), words=words, origin=origin,
        context=context, people=people if is_searched else None, last=last, closely=args.bound,
        handed_out=args.release, attack=attack_release if args.attack else None,
        intruder_test=test, progress=choose_progress(args),
    )  # fmt: skip
    form = report.public.add_figures(report.figures, publish) if args.public else report
    write_whole(render_report(form), args.out)
    print(json.dumps(collect_report_numbers(form)) if args.json else form.verdict)
