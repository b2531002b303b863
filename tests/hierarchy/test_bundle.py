"""Several hierarchies at once, hostile labels in files, and files that are too large."""

import io
import json
import zipfile

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kanon.errors import HierarchyError
from kanon.hierarchy.build import groups, suppression
from kanon.hierarchy.bundle import FileResult, read_bundle, write_bundle
from kanon.hierarchy.edit import with_weights
from kanon.hierarchy.files import (
    column_of_json,
    parse_csv,
    parse_json,
    read_hierarchy,
    to_csv,
    to_json,
)
from kanon.hierarchy.tables import read_pasted_tree
from kanon.settings import get_settings
from support.labelled_trees import labelled_trees
from support.random_tables import examples

SEX = suppression(["F", "M"])
DRAWN = with_weights(SEX, np.array([1, 2, 0]))
CSV, JSON = to_csv(SEX).encode(), to_json(DRAWN).encode()


def zipped(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


def problem_of(found: tuple[FileResult, ...]) -> str:
    (one,) = found
    assert one.hierarchy_file is None and one.column is None
    assert one.problem.endswith(".") and "\n" not in one.problem
    return one.problem


# --- What is written can be read ----------------------------------------------------------------
NAMES = st.sampled_from(
    ["a/b", "a_b", "A_B", "..", ".", "CON", "nul", "", " ", "🦁", "age", "hierarchy_age", "Ärger",
     "../../etc/passwd", "x" * 300, "x" * 299 + "y", "a\nb", "a\0b", "=cmd()", "<b>", '"', "*"]
) | st.text(max_size=8)  # fmt: skip


@examples(200)
@given(st.dictionaries(NAMES, labelled_trees(max_nodes=6, weighted=True), max_size=5))
@example({name: suppression(["a"]) for name in ("a/b", "a_b", "A_B", "a?b", "", "_", " ")})
def test_every_column_gets_its_tree_back_whatever_it_is_called(plain):
    trees = {name: x.build() if hasattr(x, "build") else x for name, x in plain.items()}
    data = write_bundle(trees)
    assert data == write_bundle(trees)
    found = read_bundle([("bundle.zip", data)], list(trees))
    if not trees:
        assert "has no CSV, JSON or GraphML" in problem_of(found)
        return
    assert {one.column: one.hierarchy_file.hierarchy for one in found} == trees
    assert all(one.problem is None for one in found)
    names = zipfile.ZipFile(io.BytesIO(data)).namelist()
    assert len({name.casefold() for name in names}) == 2 * len(trees)
    for name in names:
        assert name.startswith("hierarchy_") and len(name.encode()) < 256
        assert not set(name) & set('/\\:*?"<>|\0\n')


def test_a_bundle_holds_both_kinds_of_file():
    archive = zipfile.ZipFile(io.BytesIO(write_bundle({"sex": DRAWN})))
    assert archive.namelist() == ["hierarchy_sex.csv", "hierarchy_sex.json"]
    assert archive.read("hierarchy_sex.csv") == CSV
    content = json.loads(archive.read("hierarchy_sex.json"))
    assert list(content) == ["column", "nodes"]
    assert content["column"] == "sex"


# --- Matching -----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("age.csv", "age"),
        ("hierarchy_age.csv", "age"),
        ("adult_hierarchy_age.csv", "age"),
        ("some/folder/adult_hierarchy_age.CSV", "age"),
        ("C:\\data\\age.csv", "age"),
        ("AGE.csv", "age"),
        ("Adult-Hierarchy-Native Country.csv", "native-country"),
        ("native_country.csv", "native-country"),
        ("adult_hierarchy_native-country.csv", "native-country"),
        ("x_hierarchy_y_hierarchy_age.csv", "y_hierarchy_age"),
        ("my_age.csv", None),
        ("hierarchy_.csv", None),
        ("country.csv", None),
        ("ages.csv", None),
    ],
)
def test_a_file_is_matched_by_its_name(name, column):
    columns = ["age", "y_hierarchy_age", "native-country", "-"]
    (found,) = read_bundle([(name, CSV)], columns)
    assert (found.file, found.column, found.problem) == (name, column, None)
    assert found.hierarchy_file.hierarchy == SEX


def test_the_letter_comes_before_what_is_alike():
    (found,) = read_bundle([("Age.csv", CSV)], ["age", "AGE", "Age"])
    assert found.column == "Age"


def test_a_json_names_its_column_itself():
    data = to_json(DRAWN, "sex").encode()
    (found,) = read_bundle([("age.json", data)], ["age", "sex"])
    assert (found.column, found.hierarchy_file.hierarchy) == ("sex", DRAWN)
    (found,) = read_bundle([("age.json", data)], ["age", "other"])
    assert found.column == "age", "a column that the table lacks does not count"
    (found,) = read_bundle([("age.json", to_json(SEX, "Birth Year").encode())], ["birth_year"])
    assert found.column == "birth_year"
    (found,) = read_bundle([("x.json", to_json(SEX, "").encode())], ["a", ""])
    assert found.column == ""


def test_a_second_file_for_a_column_says_so():
    found = read_bundle([("sex.csv", CSV), ("hierarchy_sex.json", JSON)], ["sex"])
    assert [(one.file, one.column) for one in found] == [
        ("sex.csv", "sex"),
        ("hierarchy_sex.json", None),
    ]
    assert found[1].hierarchy_file.hierarchy == DRAWN
    assert found[1].problem is None, "it is free for another column"
    assert found[1].hierarchy_file.notes == (
        "It also fits the column 'sex', but 'sex.csv' is used for that column.",
    )


def test_a_file_that_names_a_column_to_the_letter_comes_first():
    found = read_bundle([("a.csv", CSV), ("A.csv", CSV)], ["A"])
    assert [one.column for one in found] == [None, "A"]


def test_an_upload_has_one_limit_for_all_its_files(limits):
    limits(hierarchies_megabytes=1)
    large = CSV + b"\n" * 600_000
    files = [("sex.csv", large), ("all.zip", zipped({"age.csv": large})), ("age.csv", large)]
    found = read_bundle(files[:2], ["sex", "age"])
    assert found[0].column == "sex"
    assert "With 'all.zip'" in found[1].problem and "1 MB (hierarchies_mega" in found[1].problem
    assert "With 'age.csv'" in read_bundle(files[::2], ["sex", "age"])[1].problem


def test_an_upload_has_one_limit_for_all_its_nodes(limits):
    limits(hierarchy_nodes=5)
    files = [("sex.csv", CSV), ("age.csv", CSV), ("zip.csv", CSV)]
    found = read_bundle(files, ["sex", "age", "zip"])
    assert [one.column for one in found] == ["sex", "age", None]
    assert "'zip.csv' was not read" in found[2].problem
    assert "the limit is 5 (hierarchy_nodes" in found[2].problem


@pytest.mark.parametrize("name", [".", "./.", "a/", "/", "..", "../sex.csv"])
def test_odd_member_names_are_no_trouble(name):
    found = read_bundle([("all.zip", zipped({name: CSV}))], ["sex"])
    assert all(one.problem or one.hierarchy_file for one in found)


@pytest.mark.parametrize("node", ['{"name": "a", "parent": "\\ud800"}', '{"name":"a","\\ud800":1}'])
def test_half_a_character_anywhere_is_a_sentence_that_can_be_shown(node):
    (found,) = read_bundle([("sex.json", f'{{"nodes": [{node}]}}'.encode())], ["sex"])
    assert found.problem.encode() and "not valid text" in found.problem


def test_a_key_twice_is_refused():
    (found,) = read_bundle([("sex.json", b'{"nodes": [{"name": "a", "name": "b"}]}')], ["sex"])
    assert "has the same key twice" in found.problem


def test_of_two_kinds_in_one_zip_the_json_is_taken():
    data = zipped({"sex.csv": CSV, "sex.json": JSON, "age.csv": CSV})
    found = read_bundle([("all.zip", data)], ["sex", "age"])
    assert [(one.file, one.column, one.problem) for one in found] == [
        ("sex.json", "sex", None),
        ("age.csv", "age", None),
    ]
    broken = zipped({"sex.csv": CSV, "sex.json": b"{"})
    found = read_bundle([("all.zip", broken)], ["sex"])
    assert [(one.file, one.hierarchy_file is None) for one in found] == [
        ("sex.csv", False),
        ("sex.json", True),
    ]


def test_a_mistake_in_one_file_is_its_own():
    found = read_bundle(
        [("age.csv", b"a;A;*\na;B;*\n"), ("sex.csv", CSV), ("sex.txt", CSV), ("x.csv", b"\xff")],
        ["age", "sex"],
    )
    assert [one.column for one in found] == ["age", "sex", None, None]
    assert "'a' is listed a second time" in found[0].problem
    assert found[1].problem is None
    assert found[2].problem == "'sex.txt' is not a CSV, JSON or GraphML file."
    assert "has one column" in found[3].problem


def test_nothing_is_found_in_nothing():
    assert read_bundle([], ["age"]) == ()
    assert read_bundle([("age.csv", CSV)], [])[0].column is None


# --- Zips ---------------------------------------------------------------------------------------
def test_folders_and_hidden_members_are_skipped():
    data = zipped(
        {
            "folder/": b"",
            "folder/sex.csv": CSV,
            "./age.csv": CSV,
            "__MACOSX/._sex.csv": b"\0",
            ".DS_Store": b"\0",
            "folder/.git/config": b"",
            "readme.md": b"# Read me",
            "inner.zip": zipped({"x.csv": CSV}),
        }
    )
    found = read_bundle([("all.ZIP", data)], ["sex", "age"])
    assert [(one.file, one.column) for one in found] == [
        ("folder/sex.csv", "sex"),
        ("./age.csv", "age"),
        ("readme.md", None),
        ("inner.zip", None),
    ]
    assert found[2].problem == "'readme.md' is not a CSV, JSON or GraphML file."
    assert found[3].problem == "'inner.zip' is a zip inside a zip; unpack it first."


def test_a_zip_with_too_many_members_is_refused(limits):
    limits(hierarchies_files=3)
    data = zipped({f"{i}.csv": b"" for i in range(4)})
    assert problem_of(read_bundle([("a.zip", data)], [])) == (
        "'a.zip' has 4 members; the limit is 3 (hierarchies_files, see docs/operate/limits.md)."
    )


def test_a_zip_that_unpacks_to_too_much_is_refused_before_it_does(monkeypatch):
    data = zipped({f"{i}.csv": b"0" * 6_000_000 for i in range(4)})
    assert len(data) < 1_000_000
    monkeypatch.setattr("kanon.base.unzipping._read_member", lambda *_: 1 / 0)
    said = problem_of(read_bundle([("a.zip", data)], []))
    assert said.startswith("With 'a.zip' the upload unpacks to more; the limit is 20 MB")


def test_a_size_that_is_a_lie_is_damage():
    data = zipped({"a.csv": b"0" * 4_000})
    lie = data.replace((4_000).to_bytes(4, "little"), (10).to_bytes(4, "little"))
    assert "cannot be unpacked" in problem_of(read_bundle([("a.zip", lie)], []))


def test_other_ways_to_pack():
    (found,) = read_bundle([("a.zip", zipped({"sex.csv": CSV}, zipfile.ZIP_STORED))], ["sex"])
    assert found.hierarchy_file.hierarchy == SEX
    for method in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):  # Python cannot count while it unpacks
        data = zipped({"sex.csv": CSV}, method)
        assert "something other than Deflate" in problem_of(read_bundle([("a.zip", data)], ["sex"]))


def test_damaged_zips_are_refused_in_a_sentence():
    good = zipped({"sex.csv": CSV * 50, "age.json": JSON})
    for data in (b"", b"PK", b"no zip", good[:-30], good[:40] + b"\xff" * 30 + good[70:]):
        assert "cannot be unpacked" in problem_of(read_bundle([("a.zip", data)], ["sex"]))
    locked = bytearray(good)
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        locked[good.index(mark) + offset] |= 1
    assert "encrypted" in problem_of(read_bundle([("a.zip", bytes(locked))], ["sex"]))
    assert "has no" in problem_of(read_bundle([("a.zip", zipped({".x": b""}))], ["sex"]))


@examples(300)
@given(st.integers(0, 10_000), st.integers(0, 255))
def test_a_byte_that_was_changed_is_never_more_than_a_problem(place, value):
    data = bytearray(write_bundle({"sex": DRAWN, "age": SEX}))
    data[place % len(data)] = value
    for one in read_bundle([("a.zip", bytes(data))], ["sex", "age"]):
        assert one.hierarchy_file is not None or one.problem.endswith(".")


# --- Hostile labels -----------------------------------------------------------------------------
HOSTILE = [
    "<script>alert(1)</script>",
    "<b>&amp;</b>",
    'say "hi"',
    '"',
    "'",
    "a;b,c\td|e",
    "two\nlines",
    "carriage\rreturn",
    "both\r\nends",
    "🦁👩‍👩‍👧‍👦",
    "x" * 10_000,
    "شمال אבג \u202eabc",
    "\ufeffmark",
    "leaf",
    "value",
    "level 0",
    "level 1",
    "=1+1",
    "{cells}",
    "\\",
    "None",
    "nan",
    "null",
    "\u2028",
    "a\x07",
    "007",
]


@pytest.mark.parametrize("hostile", HOSTILE, ids=[ascii(x)[:20] for x in HOSTILE])
def test_a_hostile_label_survives_both_kinds_of_file(hostile):
    label = hostile.strip() or "blank"
    for tree in (
        suppression([label, "other"]),
        groups([{label: ["a", "b"]}, {"*": [label, "c"]}]),
        groups([{"G": [label, "b"]}, {label + "!": ["G", "c"]}]),
        suppression([label]),
    ):
        for separator in ";,\t|":
            assert parse_csv(to_csv(tree, separator)).hierarchy == tree
        assert parse_json(to_json(tree, label)) == tree
        assert column_of_json(to_json(tree, label)) == label
        (found,) = read_bundle([("x.csv", to_csv(tree).encode())], [])
        assert found.hierarchy_file.hierarchy == tree


# --- The column of a JSON, and what is too large ------------------------------------------------
@pytest.mark.parametrize(
    "text", ["", "{", "[]", "3", '{"nodes": []}', '{"column": 3}', '{"column": null}', "[" * 99_999]
)
def test_a_json_may_name_no_column(text):
    assert column_of_json(text) is None


def test_other_keys_are_left_alone():
    text = to_json(DRAWN, "sex").replace('"column"', '"author": "me", "column"')
    assert parse_json(text) == DRAWN
    assert column_of_json(text) == "sex"
    assert to_json(DRAWN) == to_json(DRAWN, None) and "column" not in to_json(DRAWN)


def test_a_file_with_too_many_nodes_is_refused_before_a_tree_is_built(monkeypatch, limits):
    limits(hierarchy_nodes=300)
    monkeypatch.setattr("kanon.hierarchy.files.parse_nodes", lambda nodes: 1 / 0)
    monkeypatch.setattr("kanon.hierarchy.lines.Hierarchy.from_entries", lambda entries: 1 / 0)
    many = "".join(f"{i};*\n" for i in range(300))
    deep = ";".join(map(str, range(301)))
    twice = "".join(f"{i};G{i};*\n" for i in range(150))
    nodes = [{"name": "*"}] + [{"name": i, "parent": "*"} for i in range(300)]
    edges = "parent;child\n" + "".join(f"*;{i}\n" for i in range(301))
    refused = [(parse_csv, text) for text in (many, deep, twice)]
    refused += [(parse_json, json.dumps({"nodes": nodes})), (read_pasted_tree, edges)]
    for read, text in refused:
        with pytest.raises(HierarchyError) as caught:
            read(text)
        assert "the limit is 300 (hierarchy_nodes, see" in caught.value.sentence


@pytest.mark.nightly
def test_the_largest_file_is_read():
    values = get_settings().hierarchy_nodes - 1
    tree = parse_csv("leaf;level 1\n" + "".join(f"{i};*\n" for i in range(values))).hierarchy
    assert tree.n_leaves == values
    assert parse_json(to_json(tree)) == tree


def test_a_file_that_is_too_large_is_not_even_decoded(limits):
    limits(hierarchies_megabytes=1)
    with pytest.raises(HierarchyError) as caught:
        read_hierarchy(b"\xff" * 3_000_000, "age.csv")
    assert "'age.csv' has 3 MB; the limit is 1 MB (hierarchies_" in caught.value.sentence
