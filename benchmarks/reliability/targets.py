"""What the fuzzer is let loose on: how an input is made, and what is done with it.

A target may answer or raise a :class:`~kanon.errors.KanonError`; anything else is a finding.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import xlsxwriter

from benchmarks.fresh import ROOT
from benchmarks.reliability.broken_input import (
    JUNK,
    broken_bytes,
    broken_json,
    broken_value,
    broken_zip,
)
from benchmarks.reliability.random_plans import draw_plan, draw_table
from kanon.algorithms.catalogue import algorithms
from kanon.errors import KanonError
from kanon.experiments.simulated.files import (
    StudyInputs,
    create_study_inputs,
    read_study,
    write_study,
)
from kanon.experiments.simulated.ranks import compute_mean_ranks
from kanon.experiments.simulated.study import RUNS, RunResult, create_study, list_missing_runs
from kanon.hierarchy import Hierarchy, edit
from kanon.hierarchy.bundle import read_bundle, write_bundle
from kanon.hierarchy.files import parse_csv, parse_json, read_hierarchy, to_csv, to_json, to_nodes
from kanon.hierarchy.tables import (
    build_edge_table,
    build_level_table,
    read_edge_table,
    read_level_table,
    read_pasted_tree,
)
from kanon.plan import Plan
from kanon.run import prepare, run
from kanon.schema import Role
from kanon.sources.read_settings import ReadSettings
from kanon.sources.reading import read_table
from kanon.studio.session.hierarchy_choices import set_role
from kanon.studio.session.table_loading import open_uploaded_table
from kanon.studio.session.work import SessionState
from kanon.studio.shell.project_file import export_project, open_project
from kanon.studio.widgets import tree_edits
from kanon.teaching.exercises import Answers, ExerciseSet, read_answers, read_exercises
from kanon.teaching.handout import write_handout
from kanon.teaching.marks import mark_answers, mark_class
from kanon.teaching.worked import explain_solution, get_hint

__all__ = ["SECRET", "TARGETS", "Target"]

SECRET = "Zoe-Q-4711"
"""Stands in cells alone, so it may stand in no text that could reach a log."""


@dataclass(frozen=True)
class Target:
    """Something to be fed with broken input.

    Attributes
    ----------
    title
        What it is, in words.
    share
        Of a thousand inputs so many are for it; quick ones get more.
    make
        Makes an input.
    feed
        Does what kanon does with such an input.
    """

    title: str
    share: int
    make: Callable[[Random], Any]
    feed: Callable[[Any], object]


# --- tables ---------------------------------------------------------------------------------
@cache
def _tables() -> list[pd.DataFrame]:
    small = pd.DataFrame(
        {
            "age": [39, 50, 38, 53, 28, 37],
            "zip": ["007", "010", "010", "113", "113", None],
            "ill": ["flu", SECRET, "cold", "flu", "cold", "flu"],
        }
    )
    typed = pd.DataFrame(
        {
            "born": pd.to_datetime(["2020-01-02", "1999-12-31", None]),
            "paid": [1.5, None, -3e10],
            "yes": [True, False, True],
            "kind": pd.Categorical(["a", SECRET, "b"]),
        }
    )
    return [small, typed]


@cache
def _csv_seeds() -> list[bytes]:
    small = _tables()[0]
    results = [small.to_csv(index=False, sep=mark).encode() for mark in ",;\t|"]
    quoted = f'"a, b","c"\r\n"x ""y""",{SECRET}\r\n"two\nlines",2\r\n'.encode()
    padded = f"a, b, c\n1, {SECRET}, 3\n4, 5, 6\n".encode()
    wide = "name;city\nJosé;Orléans\nRené;Besançon\n"
    one = f"note\n{SECRET}\nb\n".encode()
    codes = ("utf-16", "latin-1", "utf-8-sig", "utf-32-be", "shift_jis")
    coded = [wide.encode(code, "replace") for code in codes]
    return [*results, quoted, padded, one, *coded]


@cache
def _xlsx_seeds() -> list[bytes]:
    results = []
    for frame in _tables():
        out = io.BytesIO()
        with xlsxwriter.Workbook(out, {"in_memory": True, "remove_timezone": True}) as book:
            sheet = book.add_worksheet()
            day = book.add_format({"num_format": "yyyy-mm-dd"})
            sheet.write_row(0, 0, list(frame))
            for r, row in enumerate(frame.astype(object).to_numpy().tolist(), start=1):
                for c, cell in enumerate(row):
                    if isinstance(cell, pd.Timestamp):
                        sheet.write_datetime(r, c, cell.to_pydatetime(), day)
                    elif not pd.isna(cell):
                        sheet.write(r, c, cell)
        results.append(out.getvalue())
    return results


@cache
def _arrow_seeds(kind: str) -> list[bytes]:
    results = []
    for frame in _tables():
        content = pa.Table.from_pandas(frame, preserve_index=False)
        for how in ("none", "snappy") if kind == "parquet" else ("uncompressed", "zstd"):
            out = io.BytesIO()
            if kind == "parquet":
                pyarrow.parquet.write_table(content, out, compression=how)
            else:
                pyarrow.feather.write_feather(content, out, compression=how)
            results.append(out.getvalue())
    return results


def _settings(draw: Random) -> ReadSettings:
    """Mostly none, as for a fresh upload; else what somebody may type."""
    if draw.random() < 0.7:
        return ReadSettings()
    text = [None, *filter(lambda one: isinstance(one, str), JUNK)]
    return ReadSettings(
        draw.choice([None, ",", ";", "\t", " ", "ab", draw.choice(text)]),
        draw.choice(
            [None, "utf-8", "latin-1", "utf-16", "cp037", "rot13", "idna", draw.choice(text)]
        ),
        draw.choice([None, (), ("?",), ("", "39")]),
    )


def _make_csv(draw: Random) -> tuple[bytes, str, ReadSettings]:
    name = draw.choice(["t.csv", "t.csv", "t.tsv", "t.txt", "x y'.CSV"])
    return broken_bytes(draw, _csv_seeds()), name, _settings(draw)


def _read(given: tuple[bytes, str, ReadSettings]) -> None:
    data, name, settings = given
    try:
        file = read_table(data, name, settings)
    except KanonError as error:
        header = data.lstrip().split(b"\n")[0].split(b"\r")[0]  # its cells are names
        if SECRET.encode() not in header and data.isascii():
            assert SECRET not in str(error), f"a cell in {error!r}"
        raise
    assert len(file.table) and len(file.table.columns)
    assert all(isinstance(name, str) for name in file.table.columns)


def _make_typed(draw: Random, kind: str) -> tuple[bytes, str, ReadSettings]:
    if kind == "xlsx":
        return broken_zip(draw, _xlsx_seeds()), "t.xlsx", ReadSettings()
    return broken_bytes(draw, _arrow_seeds(kind)), f"t.{kind}", ReadSettings()


def _make_upload(draw: Random) -> tuple[bytes, str]:
    kind = draw.choice(["csv", "csv", "xlsx", "parquet", "feather"])
    made = _make_csv(draw) if kind == "csv" else _make_typed(draw, kind)
    return made[0], made[1]


def _upload(given: tuple[bytes, str]) -> None:
    work = open_uploaded_table(*given, version=1)
    for column, choice in work.table.choices.items():
        if choice.tree is not None and tree_edits.can_draw(choice.tree):
            _sendable(tree_edits.build_drawing(work, column, choice))


# --- hierarchies ----------------------------------------------------------------------------
_TREES = (
    f"39;30-49;*\n38;30-49;*\n{SECRET};50+;*\n53;50+;*\n28;28;*\n",
    "leaf,level 1,level 2\na,A,*\nb,A,*\nc,B,*\n",
    "1005;100*;10**;****\n1006;100*;10**;****\n2000;200*;20**;****\n",
    '"x;1"\t"A"\t"*"\n"y"\t"A"\t"*"\n',
)


@cache
def _known_trees() -> list[Hierarchy]:
    weighted = edit.with_weights(parse_csv(_TREES[0]).hierarchy, np.arange(8) / 4)
    return [*(parse_csv(text).hierarchy for text in _TREES), weighted]


@cache
def _adult_trees() -> list[bytes]:
    return [
        file.read_bytes() for file in sorted((ROOT / "hierarchies" / "adult").glob("*.csv"))[:4]
    ]


def _make_lines(draw: Random) -> bytes:
    return broken_bytes(draw, [*(text.encode() for text in _TREES), *_adult_trees()])


def _take_lines(data: bytes) -> None:
    try:
        tree = read_hierarchy(data, "h.csv").hierarchy
    except KanonError as error:
        assert SECRET not in str(error), f"a value in {error!r}"
        raise
    finally:
        _try(lambda: _is_tree(read_pasted_tree(data.decode("utf-8", "surrogateescape")).hierarchy))
    _is_tree(tree)


def _try(something: Callable[[], object]) -> None:
    try:
        something()
    except KanonError as error:
        check_sentence(error)


def _is_tree(tree: Hierarchy) -> None:
    """A tree that was read is written and read back as it is."""
    assert parse_json(to_json(tree)) == tree
    again = parse_csv(to_csv(tree)).hierarchy
    assert edit.with_weights(tree, None) == again


def _make_nodes(draw: Random) -> bytes:
    return broken_json(draw, [json.loads(to_json(tree, "age")) for tree in _known_trees()])


def _take_nodes(data: bytes) -> None:
    try:
        _is_tree(read_hierarchy(data, "h.json").hierarchy)
    except KanonError as error:
        assert SECRET not in str(error), f"a value in {error!r}"
        raise


@cache
def _bundles() -> list[bytes]:
    named = dict(zip(["age", "zip", "a/b", "Age "], _known_trees(), strict=False))
    return [write_bundle(named)]


def _make_bundle(draw: Random) -> list[tuple[str, bytes]]:
    names = ["age.zip", "b.ZIP", "age.csv", "hierarchy_zip.json", "x.txt", "", "..", "a\0.csv"]
    files = [("h.zip", broken_zip(draw, _bundles()))]
    if draw.random() < 0.4:
        files.append((draw.choice(names), draw.choice([_make_lines, _make_nodes])(draw)))
    return files


def _take_bundle(files: Sequence[tuple[str, bytes]]) -> None:
    for found in read_bundle(files, ["age", "zip", "Age "]):
        if found.hierarchy_file is not None:
            _is_tree(found.hierarchy_file.hierarchy)
        else:
            assert found.problem and "\n" not in found.problem, found.problem


# --- plans ----------------------------------------------------------------------------------
@cache
def _plans() -> list[tuple[dict[str, Any], pd.DataFrame]]:
    """Valid plans for all algorithms, each with its table."""
    results: list[tuple[dict[str, Any], pd.DataFrame]] = []
    draw = Random("plans")
    while len(results) < 120:
        made = draw_table(draw)
        for name in made.algorithms[:: draw.randint(1, 3)]:
            plan = draw_plan(draw, made, name, dict.fromkeys(made.texts, 2))
            results.append((plan, made.table))
    assert {plan["algorithm"]["name"] for plan, _ in results} == {*algorithms()}
    return results


def _make_plan(draw: Random) -> tuple[bytes, pd.DataFrame]:
    plan, table = draw.choice(_plans())
    return broken_json(draw, [plan]), table


def _take_plan(given: tuple[bytes, pd.DataFrame]) -> None:
    data, table = given
    plan = Plan.from_json(data.decode("utf-8-sig", "replace"))
    assert Plan.from_json(plan.to_json()) == plan
    if not any(isinstance(column.hierarchy, str) for column in plan.columns.values()):
        run(plan, table).released()


@cache
def _projects() -> list[Any]:
    work = _begun()
    column = work.table.quasi_identifiers[0]
    tree = work.table.choices[column].tree
    assert tree is not None
    edited = tree_edits.set_tree(work, column, edit.insert_group_above(tree, tree.labels[:1]))
    kept = json.loads(export_project(edited))
    kept["kept"] = [{"title": "first", "shown": True, "plan": dict(kept["plan"])}]
    return [json.loads(export_project(work)), kept]


def _make_project(draw: Random) -> bytes:
    return broken_json(draw, _projects())


def _take_project(data: bytes) -> None:
    """Open a project on the table that it is about; what is opened is saved and drawn again."""
    opened = open_project(_begun(), data)
    for column, choice in opened.table.choices.items():
        if choice.tree is not None:
            _sendable(tree_edits.build_drawing(opened, column, choice))
    try:
        again = export_project(opened)
    except KanonError as error:
        check_sentence(error)
    else:
        open_project(_begun(), again.encode())


# --- exercises ------------------------------------------------------------------------------
_EXERCISES: dict[str, Any] = {
    "format": "kanon-exercises",
    "version": 1,
    "title": "Ages",
    "tables": {
        "few": {
            "columns": {
                "age": {"role": "quasi-identifier"},
                "ill": {"role": "sensitive"},
            },
            "records": [["39", "flu"], ["38", SECRET], ["38", "cold"], ["53", "flu"]],
        }
    },
    "questions": [
        {"id": "a", "table": "few", "kind": "recode", "k": 2, "metric": "total"},
        {"id": "b", "table": "few", "kind": "levels", "k": 2, "points": 2},
        {"id": "c", "table": "few", "kind": "number", "number": "t", "levels": {"age": 1}},
        {"id": "d", "table": "few", "kind": "choice", "choose": "partner", "merges": 1},
    ],
}


@cache
def _exercises() -> ExerciseSet:
    content = json.loads(json.dumps(_EXERCISES))
    content["tables"]["few"]["columns"]["age"]["nodes"] = to_nodes(_known_trees()[0])
    return read_exercises(json.dumps(content).encode())


@cache
def _answers() -> dict[str, Any]:
    """Right answers to all questions."""
    made = _exercises()
    return {question.id: question.solution(made.get_table(question)) for question in made.questions}


def _make_exercises(draw: Random) -> tuple[bytes, bytes]:
    made = _exercises()
    answers = Answers(set=made.fingerprint, student="A", answers=_answers())
    return (
        broken_json(draw, [json.loads(made.to_json())]),
        broken_json(draw, [json.loads(answers.to_json())]),
    )


def _take_exercises(given: tuple[bytes, bytes]) -> None:
    """Mark broken answers; answer a broken set that can still be read, and print it."""
    exercises, answers = given
    _try(lambda: mark_answers(_exercises(), read_answers(answers)))
    mark_class(_exercises(), [("one", answers), ("other", answers)])
    try:
        made = read_exercises(exercises)
    except KanonError as error:
        assert SECRET not in str(error), f"a cell in {error!r}"
        raise
    right = {
        question.id: question.solution(made.get_table(question)) for question in made.questions
    }
    for question in made.questions:
        assert explain_solution(question, made.get_table(question)).sentences
        assert get_hint(question, made.get_table(question), right[question.id]) and get_hint(
            question, made.get_table(question), 0
        )
    scored = mark_answers(made, Answers(set=made.fingerprint, student="A", answers=right))
    assert all(mark.share == 1 for mark in scored), "a solution does not get all points"
    assert read_exercises(made.to_json().encode()).fingerprint == made.fingerprint
    write_handout(made, solutions=True).encode()


# --- simulated studies ----------------------------------------------------------------------
@cache
def _study() -> tuple[StudyInputs, list[RunResult]]:
    """What a small study is made with, and something that it might have found."""
    columns = {"ill": {"role": "quasi-identifier", "hierarchy": {"build": "suppression"}}}
    plan = {
        "version": 2,
        "columns": columns,
        "algorithm": {"name": "gaa"},
        "privacy": [{"model": "k-anonymity", "k": 2}],
    }
    study = create_study(prepare(Plan.from_content(plan), _tables()[0]))
    return create_study_inputs(study), [RunResult(run, (70.5, 99.0, 0.0)) for run in RUNS[:9]]


def _make_study(draw: Random) -> bytes:
    made, found = _study()
    return broken_json(draw, [json.loads(write_study(made, found[: draw.randint(0, 9)]))])


def _take_study(data: bytes) -> None:
    """Go on with a broken study; what can be read is ranked, and written as it was."""
    made, _ = _study()
    try:
        found = read_study(data, made)
    except KanonError as error:
        assert SECRET not in str(error), f"a cell in {error!r}"
        raise
    assert len(found) + len(list_missing_runs(found)) == len(RUNS)
    assert compute_mean_ranks(found).shape == (7, 4)
    assert sorted(read_study(write_study(made, found), made)) == sorted(found)


# --- the editor -----------------------------------------------------------------------------
_OPERATIONS: Mapping[str, Callable[[Hierarchy, Random], Hierarchy]] = {
    "add": lambda tree, draw: edit.add_leaves(tree, _labels(tree, draw), _label(tree, draw)),
    "remove": lambda tree, draw: edit.remove_leaves(tree, _labels(tree, draw)),
    "move": lambda tree, draw: edit.move(tree, _labels(tree, draw), _label(tree, draw)),
    "group": lambda tree, draw: edit.group(tree, _labels(tree, draw), _text(draw)),
    "ungroup": lambda tree, draw: edit.ungroup(tree, _labels(tree, draw)),
    "rename": lambda tree, draw: edit.rename(tree, _label(tree, draw), _text(draw)),
    "insert": lambda tree, draw: edit.insert_group_above(tree, _labels(tree, draw)),
    "sort": lambda tree, draw: edit.sort(tree, _label(tree, draw)),
    "weigh": lambda tree, draw: edit.set_weight(tree, _label(tree, draw), draw.choice(JUNK)),
    "weights": lambda tree, draw: edit.with_weights(tree, _weights(tree, draw)),
}


def _text(draw: Random) -> str:
    return str(draw.choice(JUNK)) if draw.random() < 0.6 else f"group {draw.randint(1, 9)}"


def _label(tree: Hierarchy, draw: Random) -> str:
    return draw.choice(tree.labels) if draw.random() < 0.9 else _text(draw)


def _labels(tree: Hierarchy, draw: Random) -> list[str]:
    return [_label(tree, draw) for _ in range(draw.choice([1, 1, 2, 3, 0]))]


def _weights(tree: Hierarchy, draw: Random) -> Any:
    if draw.random() < 0.2:
        return draw.choice(JUNK)
    given = np.array([draw.choice([0, 0.5, 1, 1e308]) for _ in range(tree.n_nodes)], np.float64)
    if draw.random() < 0.1:
        given[draw.randrange(len(given))] = draw.choice([-1, np.nan, np.inf])
    return given


def _edit(seed: int) -> None:
    """Up to eight operations after each other; a refused one leaves the tree as it was."""
    draw = Random(seed)
    tree = draw.choice(_known_trees())
    for _ in range(draw.randint(1, 8)):
        before, text = tree, to_json(tree)
        try:
            tree = _OPERATIONS[draw.choice([*_OPERATIONS])](tree, draw)
        except KanonError as error:
            check_sentence(error)
        assert to_json(before) == text, "an operation changed its argument"
    _is_tree(tree)


_KINDS = ("move", "group", "rename", "ungroup", "insert", "weigh", "sort", "undo", "redo")


@cache
def _begun() -> SessionState:
    work = open_uploaded_table(_csv_seeds()[0], "t.csv", 1)
    for column in ("age", "zip", "ill"):
        work = set_role(work, column, Role.QUASI_IDENTIFIER)
    return work.replace_sections(replace(work.shared, shown="nllm"))


def _operation(draw: Random, work: SessionState, column: str) -> dict[str, Any]:
    """An operation as the browser component sends it."""
    tree, version = work.table.choices[column].tree, work.table.get_history(column).version
    assert tree is not None
    node = lambda: draw.randrange(tree.n_nodes)  # noqa: E731
    asked = {
        "about": tree_edits.build_drawing(work, column, work.table.choices[column])["about"],
        "id": str(draw.random()),
        "base": version,
        "kind": draw.choice(_KINDS),
        "nodes": [node() for _ in range(draw.randint(1, 3))],
        "node": node(),
        "to": node(),
        "name": _text(draw),
        "weight": draw.choice(["1", "0.5", _text(draw)]),
        "by": draw.choice(["records", "name"]),
    }
    return broken_value(draw, asked) if draw.random() < 0.5 else asked


def _draw(seed: int) -> None:
    """Up to eight operations as the browser sends them, broken ones among them."""
    draw, work = Random(seed), _begun()
    for _ in range(draw.randint(1, 8)):
        column = draw.choice(["age", "zip", "ill"])
        operation = _operation(draw, work, column)
        work = tree_edits.apply_operation(work, operation if isinstance(operation, dict) else {})
        for name in work.table.quasi_identifiers:
            said = work.table.get_history(name).said
            assert "\n" not in said and "Traceback" not in said, said
        _sendable(tree_edits.build_drawing(work, column, work.table.choices[column]))


def _sendable(picture: Mapping[str, Any]) -> None:
    json.dumps(picture, allow_nan=False).encode()


def _make_table(draw: Random) -> tuple[str, pd.DataFrame, Hierarchy]:
    """A table of levels or of edges with a few cells written over, as in the data editor."""
    tree, kind = draw.choice(_known_trees()), draw.choice(["levels", "edges"])
    table = (build_level_table if kind == "levels" else build_edge_table)(tree).astype(object)
    for _ in range(draw.choice([1, 1, 2, 4])):
        row, column = draw.randrange(len(table)), draw.randrange(table.shape[1])
        cell = draw.choice(JUNK)
        table.iat[row, column] = None if isinstance(cell, list | dict) else cell
    if draw.random() < 0.1:
        table = table.rename(
            columns={table.columns[0]: draw.choice(["", "Child", "leaf", "weight"])}
        )
    return kind, table.sample(frac=draw.choice([1, 1, 0.5, 0]), random_state=1), tree


def _take_table(given: tuple[str, pd.DataFrame, Hierarchy]) -> None:
    kind, table, tree = given
    _is_tree(read_level_table(table, tree) if kind == "levels" else read_edge_table(table))


def check_sentence(error: KanonError) -> None:
    """A refusal is one line without a traceback, and names a way out or a reason."""
    for said in (error.sentence, str(error)):
        assert said and "\n" not in said and "\r" not in said, f"not one line: {said!r}"
        assert "Traceback" not in said and 'File "' not in said, f"a traceback: {said!r}"
        said.encode()  # half a character cannot be sent to a browser
    assert len(error.sentence) < 5000, f"{len(error.sentence)} characters"


def _number_of(draw: Random) -> int:
    return draw.getrandbits(64)


TARGETS: Mapping[str, Target] = {
    "csv": Target("CSV and TSV files", 160, _make_csv, _read),
    "xlsx": Target("XLSX files", 40, lambda draw: _make_typed(draw, "xlsx"), _read),
    "parquet": Target("Parquet files", 180, lambda draw: _make_typed(draw, "parquet"), _read),
    "feather": Target("Feather files", 130, lambda draw: _make_typed(draw, "feather"), _read),
    "upload": Target("Uploads up to the suggested roles and trees", 10, _make_upload, _upload),
    "hierarchy-csv": Target("Hierarchy files, CSV and pasted lines", 150, _make_lines, _take_lines),
    "hierarchy-json": Target("Hierarchy files, JSON", 140, _make_nodes, _take_nodes),
    "bundle": Target("Zips of hierarchies", 20, _make_bundle, _take_bundle),
    "tables": Target("Tables of levels and edges", 20, _make_table, _take_table),
    "plan": Target("Plans, run if they are valid", 70, _make_plan, _take_plan),
    "project": Target("Project files", 30, _make_project, _take_project),
    "exercises": Target("Exercise sets and answers", 10, _make_exercises, _take_exercises),
    "study": Target("Files of simulated studies", 10, _make_study, _take_study),
    "edit": Target("Sequences of editor operations", 25, _number_of, _edit),
    "drawing": Target("Sequences of what the browser sends", 5, _number_of, _draw),
}
assert sum(target.share for target in TARGETS.values()) == 1000
