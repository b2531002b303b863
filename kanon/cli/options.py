"""Arguments that several commands take."""

import argparse
from pathlib import Path

from kanon.evidence import KNOWN
from kanon.report.words import PUBLISHABLE_FIGURES
from kanon.sources.addresses import Address
from kanon.sources.engines import ENGINES


def add_plan(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("plan", type=Path, metavar="PLAN.json")


def add_seed(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seed", type=int, help="the seed to use instead of the plan's")


def add_progress(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--progress", action="store_true", help="show a progress bar")


def add_publish(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--publish", default="", metavar="NAME[,NAME...]",
        help="publish figures that the release does not show: " + ", ".join(PUBLISHABLE_FIGURES),
    )  # fmt: skip


def add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print the numbers as JSON")


def add_attack(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--known", type=int, default=KNOWN, metavar="N",
        help=f"the most columns of a person that are known, for singling out; by default {KNOWN}",
    )  # fmt: skip
    parser.add_argument(
        "--no-control", action="store_true",
        help="do not make the release again without a fifth of the people",
    )  # fmt: skip


def add_table(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--table", type=Address.parse, required=True, metavar="TABLE",
        help="a file, a folder of Parquet files, or a database: DATA.duckdb#TABLE, URL#TABLE",
    )  # fmt: skip
    parser.add_argument(
        "--engine", choices=("memory", *ENGINES), metavar="|".join(("memory", *ENGINES)),
        help="what reads the table; by default memory for small files, otherwise whatever suits",
    )  # fmt: skip
    add_reading(parser)


def add_reading(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--sep", metavar="SEPARATOR", help="the separator of a CSV, if not detected"
    )
    parser.add_argument(
        "--sheet", metavar="NAME", help="the sheet of an XLSX: by default the plan's or the largest"
    )
    parser.add_argument(
        "--header", choices=("yes", "no"), help="whether the first line holds the column names"
    )
    parser.add_argument(
        "--footer", type=int, metavar="N",
        help="the number of rows at the end that are totals or notes; by default the plan's or 0",
    )  # fmt: skip
    parser.add_argument("--quiet", action="store_true", help="do not say how the table was read")


def add_missing(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--missing", action="append", metavar="MARKERS",
        help="the texts that mark a missing cell, separated by commas, such as '?,*'; blank cells "
        "are always missing; by default the known markers that occur",
    )  # fmt: skip


def add_context(parser: argparse.ArgumentParser, required: bool) -> None:
    parser.add_argument(
        "--context", type=Path, required=required, metavar="CONTEXT.json",
        help="what the release is for; see docs/explanation/release-context.md",
    )  # fmt: skip
    parser.add_argument(
        "--population", type=Path, metavar="P",
        help="everyone who might be in the table, with the original values",
    )  # fmt: skip
