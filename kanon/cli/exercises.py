"""``exercises``: mark answers to an exercise set."""

import argparse
import getpass
import json
import sys
from pathlib import Path

from kanon.base.formatting import count_noun, write_percent
from kanon.cli.inputs import check_different, check_output_files
from kanon.cli.options import add_json
from kanon.errors import quote
from kanon.sources.writing import table_bytes, write_whole
from kanon.teaching.exercises import read_exercises
from kanon.teaching.marks import mark_class


def add_arguments(parser: argparse.ArgumentParser) -> None:
    marking = parser.add_subparsers(required=True, metavar="COMMAND").add_parser(
        "score", help="mark the answers of a class: a row per file; an exam asks for its code"
    )
    marking.add_argument("set", type=Path, metavar="SET.json")
    marking.add_argument("answers", type=Path, nargs="+", metavar="ANSWERS.json")
    marking.add_argument("--out", type=Path, required=True, metavar="SCORES.csv")
    add_json(marking)


def execute(args: argparse.Namespace) -> None:
    """Mark answers; a file without answers gets a row that says so, and stops nothing."""
    check_output_files(args, [args.out])
    check_different([args.set, *args.answers, args.out], [], "the set, the answers and the output")
    exercises = read_exercises(args.set)
    if exercises.exam:
        exercises = exercises.unlock(_read_code())
    marks = mark_class(exercises, [(str(path), path) for path in args.answers])
    write_whole(table_bytes(marks.files, "csv", neutral=True), args.out)
    odd = marks.files[["file", "problem", "remark"]].itertuples(index=False, name=None)
    for name, problem, remark in odd:
        if problem:
            print(f"kanon: {quote(name, 200)} was not marked: {problem}", file=sys.stderr)
        if remark:
            print(f"kanon: {quote(name, 200)}: {remark}", file=sys.stderr)
    marked = marks.files["percent"].dropna()
    if args.json:
        numbers = {
            "files": len(marks.files),
            "marked": len(marked),
            "percent": float(marked.mean()) if len(marked) else None,
            "points": exercises.points,
            "questions": json.loads(marks.questions.to_json(orient="records")),
        }
        print(json.dumps(numbers))
        return
    mean = f", on average {write_percent(marked.mean())} of {exercises.points:g} points"
    print(f"{count_noun(len(marked), 'file')} marked{mean if len(marked) else ''}")
    for line in marks.lines:
        print(line)


def _read_code() -> str:
    """The code of an exam, typed without being shown, or the first line of standard input."""
    if sys.stdin.isatty():
        return getpass.getpass("Code of the exam: ")
    return sys.stdin.readline().rstrip("\r\n")
