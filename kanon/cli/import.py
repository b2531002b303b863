"""``import``: the table, the hierarchies and the plan of a project of another tool."""

import argparse
import json
from pathlib import Path

from kanon.base.checked_json import write_json
from kanon.base.formatting import count_noun
from kanon.base.sentences import write_records
from kanon.cli.inputs import check_different, check_output_files
from kanon.cli.options import add_json
from kanon.errors import quote
from kanon.hierarchy.bundle import build_safe_name
from kanon.hierarchy.files import to_csv
from kanon.run.arx import read_arx_project
from kanon.sources.reading import read_file_content
from kanon.sources.writing import write_whole


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("project", type=Path, metavar="FILE.deid", help="a project of ARX")
    parser.add_argument(
        "--out", type=Path, required=True, metavar="FOLDER",
        help="a new or empty folder for table.csv, plan.json and hierarchies",
    )  # fmt: skip
    add_json(parser)


def execute(args: argparse.Namespace) -> None:
    """Write the parts of a project, and say what of it is left out."""
    check_different([args.project, args.out], [], "the project and the folder")
    check_output_files(args, [args.out])
    project = read_arx_project(read_file_content(args.project), args.project.name)
    content = project.plan.model_dump(mode="json", exclude_none=True)
    files = {"table.csv": project.table}
    names: set[str] = set()
    for column, tree in project.hierarchies.items():
        name = build_safe_name(column, names)
        names.add(name.casefold())
        files[f"hierarchies/{name}.csv"] = to_csv(tree).encode()
        content["columns"][column]["hierarchy"] = f"hierarchies/{name}.csv"
    files["plan.json"] = write_json(content).encode()
    (args.out / "hierarchies").mkdir(parents=True)
    for name, data in files.items():
        write_whole(data, args.out / name)
    n_records = project.file.records.n_records
    if args.json:
        numbers = {"records": n_records, "files": [*files], "left_out": [*project.left_out]}
        print(json.dumps(numbers))
        return
    trees = count_noun(len(project.hierarchies), "hierarchy", "hierarchies")
    place = f"were written to {quote(args.out, 200)}, with plan.json."
    print(f"{write_records(n_records)} and {trees} {place}", *project.left_out, sep="\n")
