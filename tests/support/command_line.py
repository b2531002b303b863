"""The command line in a folder with a table, a plan and a hierarchy."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from kanon.cli.main import main
from support.plans import plan_content, qi, qi_with

TABLE = """name;age;sex;disease
Ana;31;F;flu
Bea;34;F;flu
Cyd;38;F;cold
Dan;52;M;cold
Eve;57;F;flu
Zoe;31;F;cold
"""


PLAN = plan_content(
    {
        "name": {"role": "identifier"},
        "age": qi("intervals", widths=[10]),
        "sex": qi_with("sex.csv"),
        "disease": {"role": "sensitive"},
    },
    2,
    {"name": "gaa", "metric": "ncp"},
)


RELEASED = [
    ["31", "F", "cold"],
    ["31", "F", "flu"],
    ["30-39", "F", "cold"],
    ["30-39", "F", "flu"],
    ["50-59", "*", "cold"],
    ["50-59", "*", "flu"],
]


class Said(NamedTuple):
    """What a command left behind."""

    status: int
    out: str
    err: str


@pytest.fixture
def folder(tmp_path):
    """A folder with a table, a plan and a hierarchy."""
    (tmp_path / "people.csv").write_text(TABLE, "utf-8")
    (tmp_path / "sex.csv").write_text("F;*\nM;*\n", "utf-8")
    write_plan(tmp_path)
    return tmp_path


def write_plan(folder: Path, **changes: Any) -> Path:
    path = folder / "plan.json"
    path.write_text(json.dumps({**PLAN, **changes}), "utf-8")
    return path


@pytest.fixture
def kanon(folder, monkeypatch, capsys):
    """The command line, run within the folder."""
    monkeypatch.chdir(folder)

    def call(*arguments: str) -> Said:
        capsys.readouterr()
        status = main(arguments)
        said = capsys.readouterr()
        return Said(status, said.out, said.err)

    return call


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def check_failure(said: Said, status: int, parts: list[str]) -> None:
    """The status, and one line that names the problem, beside notes of how the table was read."""
    assert said.status == status
    assert said.out == ""
    lines = said.err.splitlines(keepends=True)
    err = "".join(line for line in lines if not line.startswith("kanon: note: "))
    assert err.startswith("kanon: ")
    assert err.endswith(".\n")
    assert err.count("\n") == 1
    assert "Traceback" not in err
    for part in parts:
        assert part in err


RUN = ("run", "plan.json", "--table", "people.csv", "--out", "released.csv")
