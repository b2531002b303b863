"""``hierarchy``: check hierarchy files."""

import argparse
from pathlib import Path

from kanon.base.formatting import count_noun
from kanon.cli.inputs import read_settings
from kanon.cli.messages import build_notifier
from kanon.cli.options import add_missing, add_reading
from kanon.errors import PlanError, quote
from kanon.hierarchy.files import read_hierarchy
from kanon.sources.addresses import Address
from kanon.sources.coverage import check_coverage
from kanon.sources.opening import open_address


def add_arguments(parser: argparse.ArgumentParser) -> None:
    check = parser.add_subparsers(required=True, metavar="COMMAND").add_parser(
        "check", help="check that a file is a tree, and that it covers a column"
    )
    check.add_argument("file", type=Path, metavar="FILE")
    check.add_argument("--table", type=Address.parse)
    check.add_argument("--column", metavar="NAME")
    add_missing(check)
    add_reading(check)


def execute(args: argparse.Namespace) -> None:
    if (args.table is None) != (args.column is None):
        raise PlanError("--table and --column go together: the column that the tree should cover.")
    imported = read_hierarchy(args.file)
    tree = imported.hierarchy
    print(
        f"{count_noun(tree.n_nodes, 'node')}, {count_noun(tree.n_leaves, 'leaf', 'leaves')}, "
        f"height {tree.height}"
    )
    for note in imported.notes:
        print(note)
    if args.table is None:
        return
    table = open_address(args.table, None, read_settings(args), build_notifier(args))
    if args.column not in table.columns:
        raise PlanError(f"The table has no column {quote(args.column)}.")
    column = table.count_column_values(args.column)
    check_coverage(args.column, column.counts, tree)
    unused = tree.n_leaves - sum(tree.node_of[text] < tree.n_leaves for text in column.counts)
    print(
        f"The tree has every value; {count_noun(unused, 'leaf is', 'leaves are')} not in the table "
        "(fine)."
    )
