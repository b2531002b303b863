"""``hierarchy``: check hierarchy files."""

import argparse
import json
from pathlib import Path

from kanon.base.formatting import count_noun
from kanon.cli.inputs import read_settings
from kanon.cli.messages import build_notifier
from kanon.cli.options import add_json, add_missing, add_reading
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
    add_json(check)


def execute(args: argparse.Namespace) -> None:
    if (args.table is None) != (args.column is None):
        raise PlanError("--table and --column go together: the column that the tree should cover.")
    imported = read_hierarchy(args.file)
    tree = imported.hierarchy
    numbers = {
        "nodes": tree.n_nodes,
        "leaves": tree.n_leaves,
        "height": tree.height,
        "notes": [*imported.notes],
    }
    if not args.json:
        leaves = count_noun(tree.n_leaves, "leaf", "leaves")
        print(f"{count_noun(tree.n_nodes, 'node')}, {leaves}, height {tree.height}")
        print("".join(f"{note}\n" for note in imported.notes), end="")
    if args.table is not None:
        table = open_address(args.table, None, read_settings(args), build_notifier(args))
        if args.column not in table.columns:
            raise PlanError(f"The table has no column {quote(args.column)}.")
        counts = table.count_column_values(args.column).counts
        check_coverage(args.column, counts, tree)
        unused = tree.n_leaves - sum(tree.node_of[text] < tree.n_leaves for text in counts)
        numbers["unused_leaves"] = unused
        if not args.json:
            print(
                f"The tree has every value; {count_noun(unused, 'leaf is', 'leaves are')} not in "
                "the table (fine)."
            )
    if args.json:
        print(json.dumps(numbers))
