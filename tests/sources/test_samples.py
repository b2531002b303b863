"""The sample tables and hierarchies, read with the csv and json modules alone, without kanon."""

import csv
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from support.paths import ROOT

HIERARCHIES = ROOT / "hierarchies"
SAMPLES = ROOT / "sample_data"
README = SAMPLES / "README.md"
LARGEST = 2_500_000  # bytes

# file: (leaves, nodes, height); the Adult shapes are those published, the others our own
ADULT = {
    "age.csv": (74, 105, 5),
    "sex.csv": (2, 3, 2),
    "race.csv": (5, 6, 2),
    "marital-status.csv": (7, 10, 3),
    "education.csv": (16, 22, 4),
    "native-country.csv": (41, 45, 3),
    "workclass.csv": (7, 12, 3),
    "occupation.csv": (14, 17, 3),
    "salary-class.csv": (2, 3, 2),
}
ADULT_FOLDERS = ("adult", "adult-us-statistics", "adult-un-standards")
ADULT_FILES = [f"{folder}/{file}" for folder in ADULT_FOLDERS for file in ADULT]
SHAPES = {
    **{name: ADULT[name.split("/")[1]] for name in ADULT_FILES},
    "animals-m23/gender.json": (2, 3, 2),
    "animals-m23/race.json": (3, 5, 3),
    "animals-v21/gender.csv": (2, 3, 2),
    "animals-v21/race.csv": (7, 11, 3),
    "hospital/age.csv": (40, 47, 4),
    "hospital/zip.csv": (11, 18, 4),
    "hospital/sex.csv": (2, 3, 2),
    "census/age.csv": (73, 104, 5),
    "census/sex.csv": (2, 3, 2),
    "census/region.csv": (12, 17, 3),
    "census/education.csv": (8, 12, 3),
    "census/marital-status.csv": (5, 8, 3),
    "census/occupation.csv": (12, 17, 4),
    "census/household-size.csv": (7, 11, 3),
    "voters/zip.csv": (1000, 1165, 6),
    "voters/gender.csv": (2, 3, 2),
    "voters/race.csv": (8, 9, 2),
    "voters/birth-year.csv": (77, 106, 5),
}
RECORDS = {"animals-m23": 8, "animals-v21": 6, "hospital": 10, "census": 30_000, "voters": 30_000}


@cache
def read_rows(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file, delimiter=";"))


def column(path: Path, name: str) -> list[str]:
    header, *records = read_rows(path)
    return [record[header.index(name)] for record in records]


def paths_to_root(name: str) -> list[list[str]]:
    """One path per leaf, from the leaf to the root, repeated cells collapsed."""
    file = HIERARCHIES / name
    if file.suffix == ".csv":
        return [list(dict.fromkeys(row)) for row in read_rows(file)]
    parent = {node["name"]: node["parent"] for node in json.loads(file.read_text("utf-8"))["nodes"]}

    def climb(node: str | None) -> Iterator[str]:
        while node is not None:
            yield node
            node = parent[node]

    return [list(climb(node)) for node in parent if node not in parent.values()]


def labels(name: str) -> set[str]:
    return {label for path in paths_to_root(name) for label in path}


def test_every_hierarchy_file_is_listed_here() -> None:
    folders = {name.split("/")[0] for name in SHAPES}
    found = {
        path.relative_to(HIERARCHIES).as_posix()
        for folder in folders
        for path in (HIERARCHIES / folder).iterdir()
    }
    assert found == set(SHAPES)


@pytest.mark.parametrize("name", SHAPES)
def test_shape(name: str) -> None:
    paths = paths_to_root(name)
    leaves = [path[0] for path in paths]
    shape = len(leaves), len(labels(name)), max(len(path) for path in paths)
    assert shape == SHAPES[name]
    if name in ADULT_FILES:  # groupings of one column have the same leaves
        assert {*leaves} == {path[0] for path in paths_to_root(f"adult/{name.split('/')[1]}")}


@pytest.mark.parametrize(
    "path",
    [*(HIERARCHIES / name for name in SHAPES), *(SAMPLES / f"{name}.csv" for name in RECORDS)],
    ids=lambda path: path.relative_to(ROOT).as_posix(),
)
def test_text_is_utf8_with_plain_line_ends(path: Path) -> None:
    content = path.read_bytes()
    assert content.decode("utf-8")[:1] != "\ufeff"
    assert b"\r" not in content
    assert content.endswith(b"\n")
    assert not content.endswith(b"\n\n")
    assert len(content) <= LARGEST


@pytest.mark.parametrize(
    ("name", "start", "stop", "widths"),
    [
        ("adult/age.csv", 17, 90, [5, 10, 20]),
        ("adult-un-standards/age.csv", 17, 90, [5, 10, 20]),
        ("hospital/age.csv", 20, 59, [10, 20]),
        ("census/age.csv", 18, 90, [5, 10, 20]),
        ("voters/birth-year.csv", 1920, 1996, [5, 10, 20]),
    ],
)
def test_intervals_are_aligned_and_hold_their_leaf(
    name: str, start: int, stop: int, widths: list[int]
) -> None:
    rows = read_rows(HIERARCHIES / name)
    assert [int(row[0]) for row in rows] == list(range(start, stop + 1))
    for leaf, *intervals, root in rows:
        assert root == "*"
        for width, label in zip(widths, intervals, strict=True):
            low, high = map(int, label.split("-"))
            assert low % width == 0
            assert high == low + width - 1
            assert low <= int(leaf) <= high


@pytest.mark.parametrize(
    ("name", "kept"), [("hospital/zip.csv", [4, 3]), ("voters/zip.csv", [4, 3, 2, 1])]
)
def test_masks_are_prefixes(name: str, kept: list[int]) -> None:
    for leaf, *masks in read_rows(HIERARCHIES / name):
        assert len(leaf) == 5
        assert leaf.isdigit()
        assert masks == [leaf[:keep] + "*" * (5 - keep) for keep in kept] + ["*"]


def test_weights_of_the_worked_example() -> None:
    def weights(name: str) -> dict[tuple[str, str], float]:
        nodes = json.loads((HIERARCHIES / "animals-m23" / name).read_text("utf-8"))["nodes"]
        assert [set(node) for node in nodes if node["parent"] is None] == [{"name", "parent"}]
        return {(n["name"], n["parent"]): n["weight"] for n in nodes if n["parent"] is not None}

    assert weights("race.json") == {
        ("Cat", "Felid"): 1,
        ("Lion", "Felid"): 1,
        ("Dog", "Mammal"): 4,
        ("Felid", "Mammal"): 3,
    }
    assert weights("gender.json") == {("F", "*"): 5, ("M", "*"): 5}


def members(column: str, folder: str = "adult") -> dict[str, set[str]]:
    """The leaves of every group of a hierarchy of Adult."""
    under: dict[str, set[str]] = {}
    for leaf, *above in paths_to_root(f"{folder}/{column}.csv"):
        for group in above[:-1]:
            under.setdefault(group, set()).add(leaf)
    return under


def test_groups_of_adult_as_documented() -> None:
    assert members("marital-status")["Not married"] == {"Never-married", "Divorced", "Widowed"}
    assert members("workclass") == {
        "Private employer": {"Private"},
        "Own business": {"Self-emp-not-inc", "Self-emp-inc"},
        "Government": {"Federal-gov", "Local-gov", "State-gov"},
        "Unpaid": {"Without-pay"},
    }
    assert members("education")["Graduate school"] == {"Masters", "Doctorate", "Prof-school"}
    assert len(members("education")["School"]) == 9
    countries = members("native-country")
    assert {name: len(under) for name, under in countries.items()} == {
        "Americas": 17, "Asia": 12, "Europe": 12,
    }  # fmt: skip
    assert {"South", "Hong"} <= countries["Asia"]
    assert {"Puerto-Rico", "Outlying-US(Guam-USVI-etc)"} <= countries["Americas"]
    assert len(members("occupation")["White collar"]) == 5
    page = (ROOT / "docs" / "figures" / "adult-hierarchies.md").read_text("utf-8")
    for name, (leaves, nodes, height) in ADULT.items():
        assert f"| `{Path(name).stem}` | {leaves} | {nodes} | {height} |" in page


# --- The tables ---------------------------------------------------------------------------------
@pytest.mark.parametrize("name", [name for name in SHAPES if name not in ADULT_FILES])
def test_every_value_is_a_leaf_of_its_tree(name: str) -> None:
    table, file = name.split("/")
    values = set(column(SAMPLES / f"{table}.csv", Path(file).stem))
    assert values <= {path[0] for path in paths_to_root(name)}


@pytest.mark.adult
@pytest.mark.parametrize("name", ADULT_FILES)
def test_every_value_of_adult_is_a_leaf_of_its_tree(name: str, adult_path: Path) -> None:
    values = set(column(adult_path, Path(name).stem))
    leaves = {path[0] for path in paths_to_root(name)}
    assert values <= leaves
    unused = {"age.csv": {"87", "89"}}
    assert leaves - values <= unused.get(Path(name).name, set())


@pytest.mark.parametrize("name", ["hospital", "census", "voters"])
def test_no_column_of_a_sample_is_sorted(name: str) -> None:
    header, *records = read_rows(SAMPLES / f"{name}.csv")
    for column_name, cells in zip(header, zip(*records, strict=True), strict=True):
        plain = [int(cell) for cell in cells] if all(map(str.isdigit, cells)) else list(cells)
        rising = sorted(plain)
        assert plain not in (rising, rising[::-1]), column_name


def test_hospital_shows_a_class_that_is_told() -> None:
    """Ages in tens, three digits of the postcode: three alike, and all with one disease."""
    parent = {
        name: {path[0]: path for path in paths_to_root(f"hospital/{name}.csv")}
        for name in ("age", "zip")
    }
    classes: dict[tuple[str, str], list[str]] = {}
    for _, age, zip_code, _, disease in read_rows(SAMPLES / "hospital.csv")[1:]:
        key = parent["age"][age][1], parent["zip"][zip_code][2]
        classes.setdefault(key, []).append(disease)
    assert classes["20-29", "476**"] == ["heart disease"] * 3
    assert len(set(classes["30-39", "476**"])) == 3


def test_census_is_of_the_size_that_is_promised() -> None:
    header, *records = read_rows(SAMPLES / "census.csv")
    assert header == [
        *("person", "age", "sex", "region", "education", "marital-status", "occupation"),
        *("household-size", "health", "income-band"),
    ]
    distinct_tuples = len({tuple(record[1:7]) for record in records})
    assert 9_000 <= distinct_tuples <= 12_000
    assert f"{distinct_tuples:,} distinct tuples" in README.read_text("utf-8")
    assert {record[0] for record in records} == {f"P{i:05d}" for i in range(1, 30_001)}
    health = Counter(record[8] for record in records)
    assert health.most_common(1)[0][0] == "none"
    assert min(health.values()) > 300


def test_voters_is_what_is_promised() -> None:
    header, *records = read_rows(SAMPLES / "voters.csv")
    assert header == ["zip", "gender", "race", "birth-year", "party"]
    assert len({record[4] for record in records}) == 10
    distinct_tuples = len({tuple(record[:4]) for record in records})
    assert f"{distinct_tuples:,} distinct tuples" in README.read_text("utf-8")


# --- The generator ------------------------------------------------------------------------------
def test_generator_draws_the_files_that_are_here() -> None:
    command = [sys.executable, str(SAMPLES / "generate.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
