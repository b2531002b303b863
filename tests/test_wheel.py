"""What is installed from a wheel: the files of the dashboard and nothing else, and they work."""

import json
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from playwright.sync_api import expect

from support import browser as by
from support.paths import ROOT

TOP_LEVEL = ("app.py", "pages", "hierarchies", "sample_data", ".streamlit")
NEEDED = (*TOP_LEVEL, "kanon", "pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE")
LISTS = ("requirements.txt", "requirements-spark.txt", "requirements-dev.txt")
BUILD = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"


def files(*names: str) -> set[str]:
    """The files of folders of the clone, without what is made while they are used."""
    found = {
        path
        for name in names
        for path in ((ROOT / name).rglob("*") if (ROOT / name).is_dir() else [ROOT / name])
        if path.is_file() and "__pycache__" not in path.parts
    }
    return {path.relative_to(ROOT).as_posix() for path in found if path.suffix != ".pot"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """The wheel, made from a copy."""
    copy, made = tmp_path_factory.mktemp("copy"), tmp_path_factory.mktemp("made")
    for name in (*files(*NEEDED), *LISTS):
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, copy / name)
    subprocess.run([sys.executable, "-c", BUILD, made], cwd=copy, check=True, capture_output=True)
    (found,) = made.glob("kanon-*.whl")
    return found


def requirements(name: str) -> list[Requirement]:
    lines = (ROOT / name).read_text("utf-8").splitlines()
    return [Requirement(line) for line in lines if line and not line.startswith("#")]


def test_a_wheel_holds_the_dashboard_and_nothing_else(wheel):
    with zipfile.ZipFile(wheel) as content:
        held = {name for name in content.namelist() if ".dist-info/" not in name}
    beside = {f"kanon/dashboard/{name}" for name in files(*TOP_LEVEL) if "generate.py" not in name}
    assert held == files("kanon") | beside


def test_a_wheel_needs_what_the_lists_say(wheel):
    with zipfile.ZipFile(wheel) as content:
        (name,) = (each for each in content.namelist() if each.endswith("dist-info/METADATA"))
        told = Parser().parsestr(content.read(name).decode("utf-8"))
    needed = [Requirement(each) for each in told.get_all("Requires-Dist")]

    def named(extra: str) -> set[str]:
        return {each.name for each in needed if extra in str(each.marker or "")}

    runtime, spark, dev = ({each.name for each in requirements(name)} for name in LISTS)
    assert {each.name for each in needed if "extra" not in str(each.marker or "")} == runtime
    assert (named("spark"), named("dev")) == (spark, spark | dev)


@pytest.mark.parametrize("name", LISTS)
def test_the_constraints_are_within_the_ranges(name):
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    exact = dict(line.lower().split("==") for line in lines if not line.startswith("#"))
    wrong = [
        str(each)
        for each in requirements(name)
        if exact.get(each.name.lower(), "") not in each.specifier
    ]
    assert wrong == []


# --- installed ------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory) -> Path:
    """An environment of its own with the wheel; what the wheel needs is that of the tests."""
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder, with_pip=True)
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(folder)}))
    (packages / "needed.pth").write_text(sysconfig.get_path("purelib"), "utf-8")
    pip(folder, "install", "--no-index", "--no-deps", "--no-compile", str(wheel))
    return folder


def program(folder: Path, name: str) -> str:
    found = shutil.which(name, path=sysconfig.get_path("scripts", vars={"base": str(folder)}))
    assert found, name
    return found


def pip(folder: Path, *arguments: str) -> None:
    command = [program(folder, "python"), "-m", "pip", "--disable-pip-version-check"]
    subprocess.run([*command, *arguments], check=True, capture_output=True)


@pytest.mark.nightly
@pytest.mark.browser
def test_what_is_installed_works_and_goes_without_a_trace(installed, page, tmp_path):
    (own,) = installed.rglob("kanon/dashboard")
    run_a_plan(program(installed, "kanon"), own, tmp_path)
    with by.serving(tmp_path, (program(installed, "kanon"), "app", "--port"), tmp_path) as server:
        by.open_start(page, server)
        by.picture(page, "installed")
        for title in by.QUESTIONS:
            by.go(page, title)
        by.go(page, "Data")
        for sample, records in (
            ("Synthetic voters", "30\u202f000"),
            ("Hospital, ten records", "10"),
            ("Animals (Mauger et al. 2023)", "8"),
            ("Animals (Viton et al. 2021)", "6"),
            ("Synthetic census", "30\u202f000"),
        ):
            by.open_tables(page, "Samples")
            with by.answered(page):
                by.button(page, sample).click()
            heading = page.get_by_role("heading", name=f"{records} records,")
            expect(heading).to_be_visible(timeout=30_000)
        page.goto("about:blank")  # or it would complain that the server has gone
    pip(installed, "uninstall", "--yes", "kanon")
    left = {path.suffix for path in own.parent.rglob("*") if path.is_file()}
    assert left <= {".nbc", ".nbi", ".lock", ".compiled", ".pyc"}, "more than what was compiled"


def run_a_plan(kanon: str, own: Path, folder: Path) -> None:
    """Run the plan of the tutorial on a sample, within a folder."""
    plan = json.loads((ROOT / "docs" / "tutorial-plan.json").read_text("utf-8"))
    for column in plan["columns"].values():
        if "hierarchy" in column:
            column["hierarchy"] = str(own / column["hierarchy"].removeprefix("../"))
    (folder / "plan.json").write_text(json.dumps(plan), "utf-8")
    table = str(own / "sample_data" / "census.csv")
    command = [kanon, "run", "plan.json", "--table", table, "--out", "new.csv"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    assert len((folder / "new.csv").read_text("utf-8").splitlines()) == 30_001
