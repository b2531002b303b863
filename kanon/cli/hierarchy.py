"""``hierarchy``: look at hierarchy files."""

import argparse
from pathlib import Path

from kanon.base.formatting import counted
from kanon.cli.inputs import read_settings
from kanon.cli.messages import notify
from kanon.cli.options import add_missing, add_reading
from kanon.errors import PlanError, quoted
from kanon.hierarchy.files import read_hierarchy
from kanon.sources.addresses import Address
from kanon.sources.coverage import check_covered
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


def execute(given: argparse.Namespace) -> None:
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
    table = open_address(given.table, None, read_settings(given), notify(given))
    if given.column not in table.columns:
        raise PlanError(f"The table has no column {quoted(given.column)}.")
    column = table.counted(given.column)
    check_covered(given.column, column.counts, tree)
    unused = tree.n_leaves - sum(tree.node_of[text] < tree.n_leaves for text in column.counts)
    print(
        f"Every value has its place; {counted(unused, 'leaf', 'leaves')} not in the table (fine)."
    )
