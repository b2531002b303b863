"""Bad inputs, and the sentence that the library, the command line and the app give to each.

``make bad-inputs`` writes docs/reference/bad-inputs.md from this table; tests/studio/test_bad_inputs.py takes every
case along all of its routes.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

from kanon.hierarchy.intermediate_costs import COMPOSED
from kanon.metrics import METRICS
from support.paths import ROOT

PAGE = ROOT / "docs" / "reference" / "bad-inputs.md"
METRIC_NAMES = ", ".join(METRICS)
PHASES = " or ".join(", ".join(map(repr, COMPOSED)).rsplit(", ", 1))


# --- what is given -----------------------------------------------------------------------------
@dataclass(frozen=True)
class At:
    """Where in the app something is typed, chosen or loaded, and what.

    The places are the functions of tests/studio/test_bad_inputs.py in ``PLACES``.
    """

    place: str
    what: Mapping[str, Any]


def at(place: str, **what: Any) -> At:
    """For short."""
    return At(place, what)


@dataclass(frozen=True)
class TableFile:
    """A table to be read, and how it is to be read; in the app an upload. None: it is not there."""

    name: str
    content: bytes | None
    read: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class TreeFile:
    """A hierarchy to be read; in the app a file for the column sex. None: it is not there."""

    name: str
    content: bytes | None


@dataclass(frozen=True)
class PlanFile:
    """A plan for the people or another table; in the app it is imported, unless typed somewhere."""

    text: str | None
    table: pd.DataFrame | None = None
    app: At | None = None


@dataclass(frozen=True)
class ExerciseFile:
    """An exercise set; the command line marks answers to it, the app opens it. None: not there."""

    text: str | None


@dataclass(frozen=True)
class ContextFile:
    """What a release of the people is for. None: the file is not there."""

    text: str | None


@dataclass(frozen=True)
class StudyFile:
    """A file of a simulated study on the people, to go on with."""

    text: str


@dataclass(frozen=True)
class Reversed:
    """A plan whose models the greatest k is looked for with."""

    text: str


@dataclass(frozen=True)
class Sweep:
    """Numbers k to compare, with commas between."""

    ks: str


@dataclass(frozen=True)
class Measure:
    """Columns of the people to count classes by, with commas between."""

    columns: str
    sensitive: str = ""


@dataclass(frozen=True)
class Find:
    """Which sets of columns of the people are looked for that single records out."""

    columns: str = "age,sex"
    share: str = "5%"
    k: int = 2
    size: int = 3


@dataclass(frozen=True)
class Output:
    """Where a release of the people is to be written."""

    name: str


@dataclass(frozen=True)
class Call:
    """Arguments of the command line."""

    arguments: str


@dataclass(frozen=True)
class Screen:
    """What only the app has a field for."""

    app: At


# --- a case ------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Never:
    """That an input cannot occur on a route, and why."""

    why: str


@dataclass(frozen=True)
class Case:
    """A bad input and what is said of it; ``FOLDER`` stands for the folder of the test.

    Attributes
    ----------
    name
        What is wrong.
    given
        The input.
    library
        What the library says.
    command, app
        What those say, if it is not the same.
    status
        The exit status of the command line.
    """

    name: str
    given: Any
    library: str | Never
    command: str | Never | None = None
    app: str | Never | None = None
    status: int = 2

    def said(self, route: str) -> str | Never:
        """What is said on one of the routes."""
        own: str | Never | None = getattr(self, route)
        return self.library if own is None else own


@dataclass(frozen=True)
class Section:
    """Cases of one kind."""

    title: str
    about: str
    cases: list[Case]


PEOPLE = pd.DataFrame(
    {
        "name": ["Ana", "Bea", "Cyd", "Dan", "Eve", "Ana"],
        "age": [31, 34, 38, 52, 57, 31],
        "sex": ["F", "F", "F", "M", "F", "F"],
        "disease": ["flu", "flu", "cold", "cold", "flu", "cold"],
        "note": [1.5, None, 3.0, 4.0, 5.25, 6.0],
    }
)
PLAN: dict[str, Any] = {
    "version": 2,
    "columns": {
        "name": {"role": "identifier"},
        "age": {
            "role": "quasi-identifier",
            "hierarchy": {"build": "intervals", "widths": [10, 20]},
        },
        "sex": {"role": "quasi-identifier", "hierarchy": {"build": "suppression"}},
        "disease": {"role": "sensitive"},
        "note": {"role": "insensitive"},
    },
    "algorithm": {"name": "gaa"},
    "privacy": [{"model": "k-anonymity", "k": 2}],
}


def changed(
    *changes: tuple[str, Any], table: pd.DataFrame | None = None, app: At | None = None
) -> PlanFile:
    """The good plan with some keys set, such as ``("columns.sex.role", "sensitive")``."""
    plan = json.loads(json.dumps(PLAN))
    for path, value in changes:
        place: Any = plan
        *above, last = path.split(".")
        for key in above:
            place = place[int(key)] if isinstance(place, list) else place.setdefault(key, {})
        if value is ...:
            del place[last]
        else:
            place[int(last) if isinstance(place, list) else last] = value
    return PlanFile(json.dumps(plan), table, app)


def model(name: str, app: At | None = None, **parameters: Any) -> PlanFile:
    """The good plan with one more privacy model."""
    return changed(("privacy", [*PLAN["privacy"], {"model": name, **parameters}]), app=app)


def algorithm(name: str, *changes: tuple[str, Any], app: At | None = None, **own: Any) -> PlanFile:
    """The good plan with another algorithm."""
    return changed(("algorithm", {"name": name, **own}), *changes, app=app)


def tree(hierarchy: Any, column: str = "sex", app: At | None = None) -> PlanFile:
    """The good plan with another hierarchy of a column."""
    return changed((f"columns.{column}.hierarchy", hierarchy), app=app)


def nodes(*listed: tuple[Any, ...]) -> bytes:
    """A hierarchy in JSON, of name, parent and weight."""
    names = ("name", "parent", "weight")
    return json.dumps({"nodes": [dict(zip(names, one, strict=False)) for one in listed]}).encode()


def built(column: str, builder: str, **typed: str) -> At:
    """The fields of a builder, in the line of a column on the page Data."""
    return at("builder", column=column, builder=builder, typed=typed)


def typed(model: str, name: str, value: float | None) -> At:
    """The field of a parameter of a model, on the page Anonymise."""
    return at("parameter", model=model, name=name, value=value)


def parquet(table: Mapping[str, Any]) -> bytes:
    buffer = io.BytesIO()
    pyarrow.parquet.write_table(pa.table(dict(table)), buffer)
    return buffer.getvalue()


def sheet(*rows: list[Any]) -> bytes:
    buffer = io.BytesIO()
    pd.DataFrame(list(rows)).to_excel(buffer, header=False, index=False)
    return buffer.getvalue()


def zipped(*names: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in names:
            archive.writestr(name, "F;*")
    return buffer.getvalue()


JUNK = bytes(range(256)) * 8
PICTURE = b"\x89PNG\r\n\x1a\n" * 20
LOCKED = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504)
"""What a spreadsheet with a password begins with: not a ZIP but a container of OLE."""

# fmt: off
PICKED = Never("a file is picked from those that are there")

TABLES = [
    Case("A file that is not there", TableFile("absent.csv", None),
         "'absent.csv' does not exist.",
         app=PICKED),
    Case("An empty file", TableFile("empty.csv", b""),
         "'empty.csv' is empty: a header and at least one record are needed."),
    Case("Nothing but blank lines", TableFile("blank.csv", b"\n \r\n\n"),
         "'blank.csv' is empty: a header and at least one record are needed."),
    Case("Nothing but a header", TableFile("header.csv", b"age,sex\n"),
         "'header.csv' has a header but no records."),
    Case("Two columns of one name", TableFile("twice.csv", b"age,sex,age\n1,F,2\n"),
         "'twice.csv' has more than one column called 'age': names must differ."),
    Case("A column without a name", TableFile("nameless.csv", b"age,,sex\n1,F,2\n"),
         "Column 2 of 'nameless.csv' has no name: every column needs one in the first line."),
    Case("A line with too few cells", TableFile("short.csv", b"age,sex\n1,F\n2\n3,M\n"),
         "Line 3 of 'short.csv' has 1 cell where the header has 2."),
    Case("A line with too many cells", TableFile("long.csv", b"age,sex\n1,F\n2,M,x\n"),
         "Line 3 of 'long.csv' has 3 cells where the header has 2."),
    Case("A title above the header", TableFile("title.csv", b"People\nage,sex\n1,F\n2,M\n"),
         "Line 2 of 'title.csv' has 2 cells where the header has 1, with the separator ',': the first line must name every column; if there is only one, give a separator that does not occur."),
    Case("A quote that is never closed", TableFile("quote.csv", b'age,sex\n1,"F\n2,M\n'),
         "Line 2 of 'quote.csv' has a quote that is not closed where its cell ends: inside quotes a quote is written twice (\"\")."),
    Case("Binary junk as CSV", TableFile("junk.csv", JUNK),
         "'junk.csv' holds binary data, not text: if it is another kind of table, its name must end so (allowed are .csv, .txt, .tsv, .tab, .parquet, .pq, .feather, .arrow, .xlsx)."),
    Case("A NUL in a cell", TableFile("nul.csv", b"age,sex\n1,\x00\n"),
         "'nul.csv' holds binary data, not text: if it is another kind of table, its name must end so (allowed are .csv, .txt, .tsv, .tab, .parquet, .pq, .feather, .arrow, .xlsx)."),
    Case("Half a character of UTF-16", TableFile("half.csv", b"\xff\xfea\x00,\x00b\x00\n\x00\x31"),
         "Line 2 of 'half.csv' cannot be read in the encoding UTF-16: give another one, or none to have it found."),
    Case("A picture as Parquet", TableFile("picture.parquet", PICTURE),
         "'picture.parquet' cannot be read as Parquet: it is damaged, locked or another kind of file."),
    Case("A picture as Feather", TableFile("picture.feather", PICTURE),
         "'picture.feather' cannot be read as Feather: it is damaged, locked or another kind of file."),
    Case("A picture as XLSX", TableFile("picture.xlsx", PICTURE),
         "'picture.xlsx' cannot be read as XLSX: it is damaged, locked or another kind of file."),
    Case("An XLSX with a password", TableFile("locked.xlsx", LOCKED),
         "'locked.xlsx' cannot be read as XLSX: it is damaged, locked or another kind of file."),
    Case("A date in the year 12069", TableFile("far.parquet", parquet({"born": pa.array([318723120000, 0], pa.timestamp("s"))})),
         "Column 'born' holds a date outside of the years 1 to 9999: correct it, or convert the column to text."),
    Case("A Parquet file that was cut off", TableFile("cut.parquet", parquet({"a": [1]})[:-20]),
         "'cut.parquet' cannot be read as Parquet: it is damaged, locked or another kind of file."),
    Case("Lists in the cells", TableFile("lists.parquet", parquet({"a": [[1], [2]]})),
         "Column 'a' holds lists or structures: every cell must be one value."),
    Case("Bytes that are no text", TableFile("bytes.parquet", parquet({"a": [b"\xff\xfe"]})),
         "Column 'a' holds values that are not text, numbers, dates or yes/no."),
    Case("No columns", TableFile("none.parquet", parquet({})), "'none.parquet' has no columns."),
    Case("An empty sheet", TableFile("empty.xlsx", sheet()),
         "'empty.xlsx' has nothing on its first sheet: a header and at least one record are needed."),
    Case("A sheet with a header only", TableFile("header.xlsx", sheet(["age", "sex"])),
         "'header.xlsx' has a header but no records."),
    Case("A kind of file that is no table", TableFile("letter.docx", b"age,sex\n1,F\n"),
         "'letter.docx' does not end like a table: allowed are .csv, .txt, .tsv, .tab, .parquet, .pq, .feather, .arrow, .xlsx."),
    Case("A name without an ending", TableFile("people", b"age,sex\n1,F\n"),
         "'people' does not end like a table: allowed are .csv, .txt, .tsv, .tab, .parquet, .pq, .feather, .arrow, .xlsx."),
    Case("An encoding that nobody knows", TableFile("people.csv", b"age,sex\n1,F\n", {"encoding": "klingon"}),
         "Encoding 'klingon' is not known: allowed are names such as utf-8, utf-16, latin-1 or cp1252."),
    Case("An encoding that does not fit", TableFile("people.csv", b"age,sex\n1,F\n2,\xe9\n", {"encoding": "utf-8"}),
         "Line 3 of 'people.csv' cannot be read in the encoding UTF-8: give another one, or none to have it found."),
    Case("A separator that separates nothing", TableFile("people.csv", b"age,sex\n1,F\n", {"separator": ";"}),
         "Separator ';' does not separate anything in 'people.csv': with ',' every line has 2 cells."),
    Case("A separator of two characters", TableFile("people.csv", b"age,sex\n1,F\n", {"separator": "::"}),
         "Separator '::' is not allowed: give one ASCII character such as ',', ';', '|' or a tab, and neither a quote nor a line break.",
         app=Never("separators are chosen from a list")),
]

TREES = [
    Case("A file that is not there", TreeFile("absent.csv", None),
         "The hierarchy file 'absent.csv' cannot be opened.",
         app=PICKED),
    Case("An empty file", TreeFile("sex.csv", b""),
         "The hierarchy file is empty; it needs one line per value."),
    Case("One column", TreeFile("sex.csv", b"F\nM\n"),
         "The hierarchy file has one column; a line is leaf;level 1;…;* with ; or , between."),
    Case("Lines of different lengths", TreeFile("sex.csv", b"F;a;*\nM;*\n"),
         "Line 2 has 2 cells and line 1 has 3; repeat a cell to skip a level."),
    Case("An empty cell", TreeFile("sex.csv", b"F;a;*\nM;;*\n"),
         "Line 2: a cell is empty; repeat the cell to its left to skip a level."),
    Case("Two roots", TreeFile("sex.csv", b"F;a;*\nM;b;all\n"),
         "Line 2: the hierarchy has two roots ('*', 'all'); every line has to end in the same one."),
    Case("A value twice", TreeFile("sex.csv", b"F;a;*\nF;b;*\n"),
         "Line 2: the value 'F' is listed a second time (first: Line 1)."),
    Case("A group under two parents", TreeFile("sex.csv", b"F;a;b;*\nM;a;c;*\n"),
         "Line 2: a node stands under two parents ('a', 'b', 'c': the node, then both); give the groups different names."),
    Case("A group named like a value", TreeFile("sex.csv", b"F;F;*\nM;F;*\n"),
         "Line 1: 'F' is the name of a value and of a group; rename the group by adding ' (group)' to its name."),
    Case("A group above itself", TreeFile("sex.csv", b"F;a;b;a;*\n"),
         "Line 1: 'a' stands above itself; a path has to rise to the root."),
    Case("Not UTF-8", TreeFile("sex.csv", "müde;*\nwach;*\n".encode("latin-1")),
         "The hierarchy file 'sex.csv' is not UTF-8 text; save it as CSV (UTF-8) or JSON."),
    Case("A picture", TreeFile("sex.csv", PICTURE),
         "The hierarchy file 'sex.csv' is not UTF-8 text; save it as CSV (UTF-8) or JSON."),
    Case("Binary, though UTF-8", TreeFile("sex.csv", b"PK\x03\x04\0\0;a"),
         "The hierarchy file is not text; save it as CSV (UTF-8) or JSON."),
    Case("JSON that breaks off", TreeFile("sex.json", b'{"nodes": ['),
         "The hierarchy file is not valid JSON."),
    Case("JSON within JSON within JSON, without end", TreeFile("sex.json", b"[" * 100_000),
         "The hierarchy file is not valid JSON."),
    Case("JSON of another kind", TreeFile("sex.json", b"[1, 2]"),
         'A hierarchy in JSON is an object with a list "nodes".'),
    Case("A key twice", TreeFile("sex.json", b'{"nodes": [], "nodes": []}'),
         "The hierarchy file names a key twice in one place; each key stands once."),
    Case("No nodes", TreeFile("sex.json", nodes()),
         "The hierarchy has no nodes; it needs one per value."),
    Case("A node without a name", TreeFile("sex.json", b'{"nodes": [{"parent": "*"}]}'),
         'Node 1 has no "name"; every node needs one.'),
    Case("A node with an empty name", TreeFile("sex.json", nodes(("*",), (" ", "*"))),
         "A node has an empty name; every node needs one."),
    Case("A name that is no text", TreeFile("sex.json", nodes(("*",), (["F"], "*"))),
         "Node 2: its name has to be text, and its parent the name of a node."),
    Case("A key of a node that nobody knows", TreeFile("sex.json", b'{"nodes": [{"name": "*", "colour": 1}]}'),
         "Node 1 has the unknown key 'colour'; allowed are name, parent and weight."),
    Case("A node twice", TreeFile("sex.json", nodes(("*",), ("F", "*"), ("F", "*"))),
         "The node 'F' is listed twice; every node is listed once."),
    Case("A parent that is no node", TreeFile("sex.json", nodes(("*",), ("F", "a"))),
         "The parent 'a' is not a node of the tree; list it as one."),
    Case("Several roots", TreeFile("sex.json", nodes(("F",), ("M",))),
         "The hierarchy has 2 roots ('F', 'M'); it needs one root above all values."),
    Case("A cycle", TreeFile("sex.json", nodes(("*",), ("F", "*"), ("a", "b"), ("b", "a"))),
         "The parents of 'a', 'b' form a cycle; every path has to end at one root."),
    Case("A negative weight", TreeFile("sex.json", nodes(("*",), ("F", "*", -1))),
         "The weight '-1' above 'F' is not allowed; it has to be a number of at least 0 and at most 1e+15."),
    Case("A weight that is text", TreeFile("sex.json", nodes(("*",), ("F", "*", "2"))),
         "What stands as weight above 'F' is not allowed; it has to be a number of at least 0 and at most 1e+15."),
    Case("A weight beyond all numbers", TreeFile("sex.json", nodes(("*",), ("F", "*", float("inf")))),
         "The weight 'inf' above 'F' is not allowed; it has to be a number of at least 0 and at most 1e+15."),
    Case("Weights on some edges only", TreeFile("sex.json", nodes(("*",), ("F", "*", 1), ("M", "*"))),
         "The edge above 'M' has no weight although others have; give every edge a number of at least 0, or none."),
]

PLANS = [
    Case("A file that is not there", PlanFile(None),
         "The plan 'absent.json' cannot be read.",
         app=PICKED),
    Case("No JSON", PlanFile("age;sex"), "The plan is not valid JSON: see line 1, character 1."),
    Case("JSON that breaks off", PlanFile('{"version": 2,'),
         "The plan is not valid JSON: see line 1, character 15."),
    Case("An empty file", PlanFile(""), "The plan is not valid JSON: see line 1, character 1."),
    Case("A key twice", PlanFile('{"version": 2, "version": 2}'),
         "The plan names 'version' twice in one place; each key, and so each column's role, stands once."),
    Case("A column twice", PlanFile('{"columns": {"sex": {}, "sex": {}}}'),
         "The plan names 'sex' twice in one place; each key, and so each column's role, stands once."),
    Case("A list", PlanFile("[1]"), "The plan is a list; it has to be an object."),
    Case("Nothing", PlanFile("null"), "The plan is null; it has to be an object."),
    Case("A key that nobody knows", changed(("colums", {})),
         "The plan: the key 'colums' is unknown; known are version, columns, algorithm, privacy, metrics, read, suppression_limit, suppressed, person."),
    Case("A key of a column that nobody knows", changed(("columns.sex.kind", "x")),
         "Plan key columns.sex: the key 'kind' is unknown; known are role, hierarchy, pseudonym."),
    Case("A key of an algorithm that nobody knows", changed(("algorithm.speed", 1)),
         "Plan key algorithm: the key 'speed' is unknown; known are name, metric, strategy, scope, sensitive, cost, attribute_weights, tie_seed, seed, node, parts."),
    Case("A key of a builder that nobody knows", tree({"build": "mask", "keep": [1], "kep": 1}),
         "Plan key columns.sex.hierarchy: the key 'kep' is unknown; known are build, keep, side."),
    Case("A key of a model that nobody knows", changed(("privacy.0.l", 2)),
         "Plan key privacy.0: the key 'l' is unknown; known are model, k."),
    Case("Another version", changed(("version", 3)),
         "Plan key version: '3' is not allowed; it has to be 1 or 2."),
    Case("No version", changed(("version", ...)), "The plan lacks the key version."),
    Case("No columns", changed(("columns", ...)), "The plan lacks the key columns."),
    Case("No algorithm", changed(("algorithm", ...)), "The plan lacks the key algorithm."),
    Case("No privacy", changed(("privacy", ...)), "The plan lacks the key privacy."),
    Case("No privacy model", changed(("privacy", [])),
         "Plan key privacy is empty; it has to be a list of at least one entry."),
    Case("No role", changed(("columns.sex.role", ...)), "The plan lacks the key columns.sex.role."),
    Case("A role that nobody knows", changed(("columns.sex.role", "quasi")),
         "Plan key columns.sex.role: 'quasi' is not allowed; it has to be 'identifier', 'quasi-identifier', 'sensitive' or 'insensitive'."),
    Case("A role instead of a column", changed(("columns.sex", "sensitive")),
         "Plan key columns.sex: 'sensitive' is text; it has to be an object."),
    Case("An algorithm that nobody knows", changed(("algorithm.name", "gga")),
         "Plan key algorithm.name: 'gga' is unknown; known are datafly, flash, gaa, gaa-small, improved-greedy, incognito, k-member, kaca, lattice-sweep, levels, mdav, mingen, mondrian, oka, ola, optimal, samarati."),
    Case("A metric that nobody knows", changed(("algorithm.metric", "nlm")),
         f"Plan key algorithm.metric: 'nlm' is unknown; known are {METRIC_NAMES}."),
    Case("A strategy that nobody knows", changed(("algorithm.strategy", "s9")),
         "Plan key algorithm.strategy: 's9' is unknown; known are s1, s2, s3, s4, s5, s6, s7, l, t, k."),
    Case("A scope that nobody knows", changed(("algorithm.scope", "all")),
         "Plan key algorithm.scope: 'all' is not allowed; it has to be 'table' or 'class'."),
    Case("A cost that nobody knows", changed(("algorithm.cost", "cheap")),
         "Plan key algorithm.cost: 'cheap' is not allowed; it has to be 'weighted' or 'representatives'."),
    Case("A model that nobody knows", changed(("privacy.0.model", "k-anonimity")),
         "Plan key privacy.0.model: 'k-anonimity' is unknown; known are 'alpha-k-anonymity', 'basic-beta-likeness', 'delta-disclosure', 'distinct-l-diversity', 'enhanced-beta-likeness', 'entropy-l-diversity', 'k-anonymity', 'recursive-cl-diversity', 't-closeness'."),
    Case("A model without a name", changed(("privacy.0", {"k": 2})),
         "The plan lacks the key privacy.0.model; known are 'alpha-k-anonymity', 'basic-beta-likeness', 'delta-disclosure', 'distinct-l-diversity', 'enhanced-beta-likeness', 'entropy-l-diversity', 'k-anonymity', 'recursive-cl-diversity', 't-closeness'."),
    Case("A builder that nobody knows", tree({"build": "magic"}),
         "Plan key columns.sex.hierarchy: the builder 'magic' is unknown; known are 'suppression', 'intervals', 'mask', 'dates' and 'groups'."),
    Case("A hierarchy that is none", tree({"levels": 2}),
         "Plan key columns.sex.hierarchy: a hierarchy is a path, or has 'build' or 'nodes'."),
    Case("A rule for missing cells that nobody knows", changed(("read.missing", "drop")),
         "Plan key read.missing: 'drop' is not allowed; it has to be 'drop-records' or 'as-value'."),
    Case("Markers of missing cells as text", changed(("read.missing_markers", "?")),
         "Plan key read.missing_markers: '?' is text; it has to be a list."),
    Case("A pseudonym that is neither true nor false", changed(("columns.name.pseudonym", "yes")),
         "Plan key columns.name.pseudonym: 'yes' is text; it has to be true or false."),
    Case("A variant that the algorithm does not have", algorithm("mondrian", variant="loose"),
         "Plan key algorithm.variant: 'loose' is not allowed; known are strict, relaxed, hierarchy."),
    Case("A choice of another algorithm", algorithm("gaa", variant="strict"),
         "Plan key algorithm: the key 'variant' is unknown; known are name, metric, strategy, scope, sensitive, cost, attribute_weights, tie_seed, seed, node, parts."),
    Case("A negative seed", changed(("algorithm.seed", -1)),
         "Plan key algorithm.seed: '-1' is not allowed; it has to be at least 0."),
    Case("A seed as text", changed(("algorithm.tie_seed", "7")),
         "Plan key algorithm.tie_seed: '7' is text; it has to be a whole number."),
]

NUMBERS = [
    Case("k = 0", changed(("privacy.0.k", 0)),
         "Plan key privacy.0.k: '0' is not allowed; it has to be at least 2."),
    Case("k = 1", changed(("privacy.0.k", 1)),
         "Plan key privacy.0.k: '1' is not allowed; it has to be at least 2."),
    Case("A negative k", changed(("privacy.0.k", -5)),
         "Plan key privacy.0.k: '-5' is not allowed; it has to be at least 2."),
    Case("k as text", changed(("privacy.0.k", "5")),
         "Plan key privacy.0.k: '5' is text; it has to be a whole number."),
    Case("k with a fraction", changed(("privacy.0.k", 5.5)),
         "Plan key privacy.0.k: '5.5' is not allowed; it has to be a whole number."),
    Case("k = true", changed(("privacy.0.k", True)),
         "Plan key privacy.0.k: 'true' is not allowed; it has to be a whole number."),
    Case("No k", changed(("privacy.0", {"model": "k-anonymity"})),
         "The plan lacks the key privacy.0.k."),
    Case("l below 1", model("entropy-l-diversity", l=0.5, app=typed("entropy-l-diversity", "l", 0.5)),
         "Plan key privacy.1.l: '0.5' is not allowed; it has to be at least 1.",
         app="0.5 is not used, as l has to be a number of at least 1: l = 2 still holds."),
    Case("No l", model("entropy-l-diversity", app=typed("entropy-l-diversity", "l", None)),
         "The plan lacks the key privacy.1.l.",
         app="An empty field is not used: l = 2 still holds."),
    Case("l that is no number", model("entropy-l-diversity", l=float("nan")),
         "Plan key privacy.1.l: 'nan' is not allowed; it has to be a finite number."),
    Case("A fraction of a distinct value", model("distinct-l-diversity", l=2.5),
         "Plan key privacy.1.l: '2.5' is not allowed; it has to be a whole number."),
    Case("c = 0", model("recursive-cl-diversity", c=0, l=2, app=typed("recursive-cl-diversity", "c", 0.0)),
         "Plan key privacy.1.c: '0' is not allowed; it has to be above 0.",
         app="0 is not used, as c has to be a number above 0: c = 3 still holds."),
    Case("t above its range", model("t-closeness", t=2.5),
         "Plan key privacy.1.t: '2.5' is not allowed; it has to be at most 2."),
    Case("t below 0", model("t-closeness", t=-0.1, app=typed("t-closeness", "t", -0.1)),
         "Plan key privacy.1.t: '-0.1' is not allowed; it has to be at least 0.",
         app="-0.1 is not used, as t has to be a number of at least 0 and at most 1: t = 0.4 still holds."),
    Case("t above the range of its distance", model("t-closeness", t=1.5, distance="variational", app=typed("t-closeness", "t", 1.5)),
         "Plan key privacy.1: t has to be a number of at least 0 and at most 1 where distance is variational, not 1.5.",
         app="1.5 is not used, as t has to be a number of at least 0 and at most 1: t = 0.4 still holds."),
    Case("A distance that nobody knows", model("t-closeness", t=0.4, distance="euclid"),
         "Plan key privacy.1.distance: 'euclid' is not allowed; it has to be 'norm1', 'variational', 'emd-equal' or 'emd-ordered'."),
    Case("A share above 1", model("alpha-k-anonymity", alpha=1.5, k=2, app=typed("alpha-k-anonymity", "alpha", 1.5)),
         "Plan key privacy.1.alpha: '1.5' is not allowed; it has to be at most 1.",
         app="1.5 is not used, as alpha has to be a number above 0 and at most 1: alpha = 0.6 still holds."),
    Case("A negative δ", model("delta-disclosure", delta=-1, app=typed("delta-disclosure", "delta", -1.0)),
         "Plan key privacy.1.delta: '-1' is not allowed; it has to be above 0.",
         app="-1 is not used, as delta has to be a number above 0: delta = 2 still holds."),
    Case("A negative β", model("basic-beta-likeness", beta=-1, app=typed("basic-beta-likeness", "beta", -1.0)),
         "Plan key privacy.1.beta: '-1' is not allowed; it has to be above 0.",
         app="-1 is not used, as beta has to be a number above 0: beta = 1 still holds."),
    Case("A suppression limit above 1", changed(("suppression_limit", 1.5)),
         "Plan key suppression_limit: '1.5' is not allowed; it has to be at most 1."),
    Case("A suppression limit below 0", changed(("suppression_limit", -0.1)),
         "Plan key suppression_limit: '-0.1' is not allowed; it has to be at least 0."),
    Case("A suppression limit as text", changed(("suppression_limit", "some")),
         "Plan key suppression_limit: 'some' is text; it has to be a number."),
    Case("A negative number of suppressed records", changed(("suppression_limit", {"records": -1})),
         "Plan key suppression_limit.records: '-1' is not allowed; it has to be at least 0."),
    Case("A negative weight of a column", changed(("algorithm.attribute_weights", {"age": -0.5}), app=at("weight", text="-0.5")),
         "Plan key algorithm.attribute_weights.age: -0.5 is not allowed; a weight is a number of at least 0 and at most 1e+15.",
         app="The weight '-0.5' of 'age' is not allowed; it is a number with a decimal point, from 0 to 1000, and 1 counts as usual."),
    Case("A weight of a column as text", changed(("algorithm.attribute_weights", {"age": "much"}), app=at("weight", text="much")),
         "Plan key algorithm.attribute_weights.age: 'much' is text; it has to be a number.",
         app="The weight 'much' of 'age' is not allowed; it is a number with a decimal point, from 0 to 1000, and 1 counts as usual."),
    Case("A weight of a column beyond all numbers", changed(("algorithm.attribute_weights", {"age": float("inf")}), app=at("weight", text="inf")),
         "Plan key algorithm.attribute_weights.age: inf is not allowed; a weight is a number of at least 0 and at most 1e+15.",
         app="The weight 'inf' of 'age' is not allowed; it is a number with a decimal point, from 0 to 1000, and 1 counts as usual."),
    Case("A weight of a column that is not blurred", changed(("algorithm.attribute_weights", {"disease": 1})),
         "Plan key algorithm.attribute_weights: 'disease' is not one of the quasi-identifiers ('age', 'sex')."),
    Case("A composed metric with a name that is taken", changed(("metrics", {"nllm": {"intermediate": "leaves", "multiplier": "w1"}}), app=at("metric", name="nllm")),
         "The name 'nllm' is taken; a metric needs one of its own."),
    Case("A composed metric with a very long name", changed(("metrics", {"n" * 41: {"intermediate": "leaves", "multiplier": "w1"}}), app=at("metric", name="n" * 41)),
         "A metric needs a name of 1 to 40 characters."),
    Case("A first phase that nobody knows", changed(("metrics", {"mine": {"intermediate": "leafs", "multiplier": "w1"}})),
         f"Plan key metrics.mine.intermediate: 'leafs' is not allowed; it has to be {PHASES}."),
    Case("A second phase that nobody knows", changed(("metrics", {"mine": {"intermediate": "leaves", "multiplier": "w3"}})),
         "Plan key metrics.mine.multiplier: 'w3' is not allowed; it has to be 'none', 'w1' or 'w2'."),
    Case("Half a metric", changed(("metrics", {"mine": {"intermediate": "leaves"}})),
         "The plan lacks the key metrics.mine.multiplier."),
    Case("No widths", tree({"build": "intervals", "widths": []}, "age", app=built("age", "intervals", widths=" ")),
         "Plan key columns.age.hierarchy.widths is empty; it has to be a list of at least one entry.",
         app="Widths are numbers with commas between, such as 5, 10, 20."),
    Case("Widths further apart than numbers reach", tree({"build": "intervals", "widths": [1e-320, 1]}, "age", app=built("age", "intervals", widths="1e-320, 1")),
         "Hierarchy of column 'age': The width 1 is not a multiple of the width 9.99989e-321 before it; nested intervals need that."),
    Case("Widths beyond all numbers", tree({"build": "intervals", "widths": [1e307, 1e308]}, "age", app=built("age", "intervals", widths="1e307, 1e308")),
         "Hierarchy of column 'age': The width 1e+308 is too wide for numbers as large as those of the column."),
    Case("Widths as words", tree({"build": "intervals", "widths": ["five"]}, "age", app=built("age", "intervals", widths="five")),
         "Plan key columns.age.hierarchy.widths.0: 'five' is text; it has to be a number.",
         app="Widths are numbers with commas between, such as 5, 10, 20, not 'five'."),
    Case("A negative width", tree({"build": "intervals", "widths": [-5]}, "age", app=built("age", "intervals", widths="-5")),
         "Hierarchy of column 'age': Intervals need at least one width, each a number above 0."),
    Case("A width that is no multiple of the one before", tree({"build": "intervals", "widths": [5, 12]}, "age", app=built("age", "intervals", widths="5, 12")),
         "Hierarchy of column 'age': The width 12 is not a multiple of the width 5 before it; nested intervals need that."),
    Case("Widths that do not rise", tree({"build": "intervals", "widths": [10, 5]}, "age", app=built("age", "intervals", widths="10, 5")),
         "Hierarchy of column 'age': The width 5 has to be larger than the width 10 before it."),
    Case("Bounds the wrong way round", tree({"build": "intervals", "widths": [5], "lowest": 40, "highest": 30}, "age", app=built("age", "intervals", widths="5", lowest="40", highest="30")),
         "Hierarchy of column 'age': The lowest bound 40 has to be below the highest bound 30."),
    Case("A mask that keeps nothing", tree({"build": "mask", "keep": [0]}, "age", app=built("age", "mask", keep="0")),
         "Hierarchy of column 'age': A mask keeps at least 1 character at each level; then comes the root."),
    Case("A mask that keeps more and more", tree({"build": "mask", "keep": [1, 2]}, "age", app=built("age", "mask", keep="1, 2")),
         "Hierarchy of column 'age': A mask has to keep fewer characters from level to level."),
    Case("A mask that keeps half a character", tree({"build": "mask", "keep": [1.5]}, "age", app=built("age", "mask", keep="1.5")),
         "Plan key columns.age.hierarchy.keep.0: '1.5' is not allowed; it has to be a whole number.",
         app="Kept characters are whole numbers, such as 4, 3, 2."),
    Case("A side that nobody knows", tree({"build": "mask", "keep": [1], "side": "top"}, "age"),
         "Plan key columns.age.hierarchy.side: 'top' is not allowed; it has to be 'left' or 'right'."),
    Case("A period that nobody knows", tree({"build": "dates", "levels": ["week"]}, "age", app=built("age", "dates", levels="week")),
         "Plan key columns.age.hierarchy.levels.0: 'week' is not allowed; it has to be 'day', 'month', 'quarter', 'year' or 'decade'.",
         app="Periods are day, month, quarter, year, decade with commas between, not 'week'."),
    Case("Periods from coarse to fine", tree({"build": "dates", "levels": ["year", "month"]}, "age", app=built("age", "dates", levels="year, month")),
         "Hierarchy of column 'age': The levels of dates have to go from fine to coarse, each once."),
    Case("A member of two groups", tree({"build": "groups", "levels": [{"A": ["F"], "B": ["F"]}]}),
         "Hierarchy of column 'sex': The member 'F' stands in two groups; it can be in one."),
    Case("A group named like its member", tree({"build": "groups", "levels": [{"F": ["F", "M"]}]}),
         "Hierarchy of column 'sex': The group 'F' has a member of the same name; rename the group by adding ' (group)' to its name."),
    Case("Groups in a circle", tree({"build": "groups", "levels": [{"A": ["B"]}, {"B": ["A"]}]}),
         "Hierarchy of column 'sex': The parents of 'B', 'A' form a cycle; every path has to end at one root."),
]

AGES = PEOPLE.assign(age=["31", "34", "38", "n/k", "57", "31"])
LACKING = PEOPLE.assign(sex=["F", None, "F", "M", "F", "F"])
NOBODY = PEOPLE.assign(sex=[None] * 6)
SAYING = PEOPLE.assign(sex=["F", "(missing)", None, "M", "F", "F"])
MARKED = PEOPLE.assign(suppressed=0)
UNNAMED = PEOPLE.assign(name=["Ana", None, "Cyd", "Dan", "Eve", "Ana"])

UNFIT = [
    Case("A column that the table lacks", changed(("columns.height", {"role": "sensitive"})),
         "The table has no column 'height'; it has 'name', 'age', 'sex', 'disease', 'note'."),
    Case("No quasi-identifier", changed(("columns.age", {"role": "insensitive"}), ("columns.sex", {"role": "insensitive"}), app=at("roles", age="insensitive", sex="insensitive")),
         "No column is a quasi-identifier; choose at least one column that could help to single a person out.",
         app="No column is a quasi-identifier yet; choose roles on the page Data."),
    Case("A quasi-identifier without a hierarchy", changed(("columns.sex.hierarchy", ...)),
         "The quasi-identifier 'sex' has no hierarchy; choose one for it."),
    Case("A hierarchy file that is not there", tree("absent.csv"),
         "Hierarchy of column 'sex': The hierarchy file 'absent.csv' cannot be opened.",
         app="The hierarchy of 'sex' is a file beside the plan; a plan can be imported whose hierarchies are written in it, as those are that kanon saves here."),
    Case("A hierarchy that lacks a value", tree("men.csv", app=at("tree file", column="sex", name="men.csv", content=b"M;*\nX;*\n")),
         "Column 'sex': its hierarchy lacks 1 distinct value ('F') of 5 records; add what is missing to it.",
         app="This hierarchy lacks 1 distinct value ('F') of 5 records; add what is missing on the page Hierarchies, or to the file."),
    Case("A hierarchy with two roots", tree({"nodes": [{"name": "F"}, {"name": "M"}]}),
         "Hierarchy of column 'sex': The hierarchy has 2 roots ('F', 'M'); it needs one root above all values."),
    Case("Intervals of a column of texts", tree({"build": "intervals", "widths": [5]}, app=built("sex", "intervals", widths="5")),
         "Hierarchy of column 'sex': Intervals need numbers; 2 distinct values are not ('F', 'M')."),
    Case("Periods of a column without dates", tree({"build": "dates", "levels": ["year"]}, app=built("sex", "dates", levels="year")),
         "Hierarchy of column 'sex': Dates are written like 2021-03-04; 2 distinct values are not ('F', 'M')."),
    Case("A text in a column of numbers", changed(table=AGES, app=at("other table", table=AGES, then=built("age", "intervals", widths="10, 20"))),
         "Hierarchy of column 'age': Intervals need numbers; 1 distinct value is not ('n/k')."),
    Case("Missing cells and no rule for them", changed(table=LACKING),
         "1 record with a quasi-identifier missing: set read.missing to 'drop-records' or 'as-value' to say what happens to them.",
         app=Never("the rule is to drop the records, unless another one is chosen")),
    Case("Every record lacks a quasi-identifier", changed(("read.missing", "drop-records"), table=NOBODY, app=at("other table", table=NOBODY, then=at("roles", sex="quasi-identifier"))),
         "Every record lacks a quasi-identifier, so dropping records with missing values leaves none; treat missing as a value instead."),
    Case("Missing cells, and cells that say (missing)", changed(("read.missing", "as-value"), table=SAYING, app=at("other table", table=SAYING, then=at("missing"))),
         "Column 'sex' has missing cells, and cells that say '(missing)'; rename those, or drop the records with missing cells."),
    Case("A column called suppressed", changed(table=MARKED, app=at("other table", table=MARKED)),
         "The table already has a column 'suppressed', the name that a release gives to its mark of suppressed records; rename that column.",
         app="The table has a column 'suppressed', the name that a release gives to its mark of suppressed records; rename that column before you anonymise."),
    Case("The metric custom without drawn weights", changed(("algorithm.metric", "custom"), app=at("settings", metric="custom")),
         "The metric 'custom' counts drawn edge weights, and the hierarchy of 'age' has none."),
    Case("A model without a sensitive column", changed(("columns.disease.role", "insensitive"), ("privacy", [*PLAN["privacy"], {"model": "t-closeness", "t": 0.4}])),
         "Plan key privacy.1.column: no column has the role sensitive."),
    Case("A model about a column that is not sensitive", model("t-closeness", t=0.4, column="sex"),
         "Plan key privacy.1.column: 'sex' is not sensitive; sensitive are 'disease'."),
    Case("Several sensitive columns, none named", changed(("columns.note.role", "sensitive"), ("privacy", [*PLAN["privacy"], {"model": "t-closeness", "t": 0.4}])),
         "Plan key privacy.1.column: name one of the sensitive columns, 'disease', 'note'."),
    Case("A strategy led by a column that is not sensitive", changed(("algorithm", {"name": "gaa", "strategy": "s2", "sensitive": "age"})),
         "Plan key algorithm.sensitive: 'age' is not sensitive; sensitive are 'disease'."),
    Case("A strategy that the algorithm does not take", algorithm("mondrian", strategy="s2"),
         "The algorithm 'mondrian' picks no partners; the strategy 's2' needs 'gaa'."),
    Case("An ordered distance of texts", model("t-closeness", t=0.4, distance="emd-ordered"),
         "t-closeness with distance = emd-ordered for 'disease' needs numbers, which have an order; choose 'norm1', 'variational' or 'emd-equal'.",
         app=Never("an ordered distance is offered for numbers only")),
    Case("Means of texts", algorithm("mdav", app=at("settings", algorithm="mdav")),
         "MDAV takes means, and 'sex' holds texts; use k-member or Mondrian."),
    Case("MDAV with a model about a sensitive column", algorithm("mdav", ("columns.sex.role", "insensitive"), ("columns.sex.hierarchy", ...), ("privacy", [{"model": "k-anonymity", "k": 2}, {"model": "distinct-l-diversity", "l": 2}]), app=at("settings", roles={"sex": "insensitive"}, algorithm="mdav", models=[("distinct-l-diversity", {"l": 2, "column": "disease"})])),
         "MDAV counts records alone, so it cannot meet Distinct l-diversity with l = 2 for 'disease'; use Mondrian or greedy merging."),
    Case("MinGen with a suppression limit", algorithm("mingen", ("suppression_limit", 0.5)),
         "MinGen suppresses nothing, as published; set the suppression limit to 0, or use 'optimal', which suppresses up to the limit.",
         app=Never("a limit is not offered for MinGen")),
    Case("A search that tags, with l-diversity and suppression", algorithm("samarati", ("suppression_limit", 0.5), ("privacy", [{"model": "k-anonymity", "k": 2}, {"model": "distinct-l-diversity", "l": 2}]), app=at("settings", algorithm="samarati", suppression=0.5, models=[("distinct-l-diversity", {"l": 2, "column": "disease"})])),
         "Samarati meets 'Distinct l-diversity' only with nothing suppressed: where records are suppressed, raising values further can break what held before. Set the suppression limit to 0, or require k-anonymity alone."),
    Case("Levels by hand, and none picked", algorithm("levels", app=at("settings", algorithm="levels")),
         "Levels of your choice: choose a node on the page Lattice and press 'Use this one'; in a plan, name a level for each quasi-identifier as algorithm.node."),
    Case("Levels of some columns only", algorithm("levels", node={"age": 1}),
         "Plan key algorithm.node: it needs a level for each quasi-identifier ('age', 'sex') and for nothing else."),
    Case("A level above the root", algorithm("levels", node={"age": 9, "sex": 0}),
         "Plan key algorithm.node.age: level 9 is not allowed; the hierarchy has levels 0 to 3."),
    Case("A person that is no identifier", changed(("person", "age")),
         "Plan key person: 'age' has the role quasi-identifier; the column that says which records are of one person has to have the role identifier."),
    Case("A person that is not in the plan", changed(("person", "nobody")),
         "Plan key person: 'nobody' is not among the columns; the column that says which records are of one person has to have the role identifier."),
    Case("Records that do not say whom they are about", changed(("person", "name"), table=UNNAMED, app=at("other table", table=UNNAMED, then=at("person", column="name"))),
         "1 record without a value in 'name', which says which records are of one person: fill them in, or leave those records out of the table."),
    Case("A node for an algorithm that takes none", algorithm("gaa", node={"age": 1, "sex": 1}),
         "Plan key algorithm.node: the algorithm 'gaa' takes no node."),
]

BEYOND = [
    Case("k larger than the table", changed(("privacy.0.k", 7)),
         "k = 7 cannot be reached: the table has 6 records to anonymise, and k can be at most that.",
         app=Never("the field for k ends at the number of records, and of an imported plan curves take every k"),
         status=3),
    Case("More persons wanted than there are", changed(("person", "name"), ("privacy", [{"model": "k-anonymity", "k": 6}]), app=at("settings", person="name", k=6)),
         "k = 6 cannot be reached in persons: the records to anonymise are about 5 persons, and k can be at most that.",
         status=3),
    Case("k larger than what is left of the table", changed(("read.missing", "drop-records"), ("privacy.0.k", 6), table=LACKING, app=at("other table", table=LACKING, then=at("k", k=6))),
         "k = 6 cannot be reached: the table has 5 records to anonymise, and k can be at most that.",
         status=3),
    Case("l larger than the number of sensitive values", model("distinct-l-diversity", l=3, app=at("settings", models=[("distinct-l-diversity", {"l": 3, "column": "disease"})])),
         "Distinct l-diversity with l = 3 for 'disease' cannot be reached: with all records in one class, l is at most 2.",
         status=3),
    Case("Entropy l above that of the whole table", model("entropy-l-diversity", l=2.5, app=at("settings", models=[("entropy-l-diversity", {"l": 2.5, "column": "disease"})])),
         "Entropy l-diversity with l = 2.5 for 'disease' cannot be reached: with all records in one class, l is at most 2.",
         status=3),
    Case("Recursive (c,l) that the table cannot meet", model("recursive-cl-diversity", c=0.5, l=2, app=at("settings", models=[("recursive-cl-diversity", {"c": 0.5, "l": 2, "column": "disease"})])),
         "Recursive (c, l)-diversity with c = 0.5 and l = 2 for 'disease' cannot be reached: with all records in one class, c has to be above 1.",
         status=3),
    Case("A share below that of the most frequent value", model("alpha-k-anonymity", alpha=0.4, k=2, app=at("settings", models=[("alpha-k-anonymity", {"alpha": 0.4, "k": 2, "column": "disease"})])),
         "(alpha, k)-anonymity with alpha = 0.4 and k = 2 for 'disease' cannot be reached: with all records in one class, alpha is at least 0.5.",
         status=3),
    Case("Levels at which too many records are alone", algorithm("levels", node={"age": 0, "sex": 0}, app=at("settings", algorithm="levels", node={"age": 0, "sex": 0})),
         "At these levels 4 records would have to be suppressed, and 0 may be; choose higher levels, or raise the limit.",
         status=3),
]

SWEEPS = [
    Case("No k", Sweep(" "),
         "Give at least one k, such as 5.",
         command="--k: '' is no whole number; give whole numbers with commas between, such as 3,4,5,10."),
    Case("A k that is no number", Sweep("2,many"),
         Never("the library takes numbers, not text"),
         command="--k: 'many' is no whole number; give whole numbers with commas between, such as 3,4,5,10.",
         app="'many' is no k; give whole numbers of at least 2, separated by commas."),
    Case("k = 1 among several", Sweep("1,2"), "k = 1 is not allowed; k is at least 2."),
    Case("A k twice", Sweep("3,3"), "k = 3 is given twice; give each k once."),
    Case("Only k above the number of records", Sweep("999"),
         "k = 999 cannot be reached: the table has 6 records to anonymise, and k can be at most that.",
         app="No k is left: all that were given are above 6, the largest that this table allows; choose at least one from 2 to 6.",
         status=3),
]

LIST = Never("columns are chosen from those of the table")

COUNTS = [
    Case("A column that the table lacks", Measure("age,zip"),
         "The table has no column 'zip'; it has 'name', 'age', 'sex', 'disease', 'note'.",
         app=LIST),
    Case("No column", Measure(" , "),
         "Name at least one column to measure the exposure by.",
         app=LIST),
    Case("A column twice", Measure("age,age"),
         Never("a column twice counts once"),
         command="--qi names a column twice; name each quasi-identifier once.",
         app=LIST),
    Case("A column as quasi-identifier and sensitive", Measure("age", "age"),
         Never("the library counts both"),
         command="--qi and --sensitive both name 'age'; a column is one or the other.",
         app=LIST),
]

CHOSEN = Never("it is chosen from a list of what is allowed")

FINDS = [
    Case("No column to look at", Find(columns=" , "),
         "Name at least one column to look at.",
         app=LIST),
    Case("A column to look at that the table lacks", Find(columns="age,zip"),
         "The table has no column 'zip'; it has 'name', 'age', 'sex', 'disease', 'note'.",
         app=LIST),
    Case("A column to look at twice", Find(columns="age,age"),
         Never("a column twice counts once"),
         command="--columns names a column twice; name each column once.",
         app=LIST),
    Case("A share that is no number", Find(share="half"),
         Never("the library takes numbers, not text"),
         command="--share: 'half' is no share; give a percentage such as 5% or a number such as 0.05.",
         app=CHOSEN),
    Case("A share that cannot be told from 0", Find(share="1e-300%"),
         Never("the library takes any number above 0"),
         command="--share: '1e-300%' is less than what can be told from 0; give a percentage such as 5% or a number such as 0.05.",
         app=CHOSEN),
    Case("A share of nobody", Find(share="0%"),
         "A share of 0 % is not allowed; it is above 0 % and at most 100 % of the records.",
         app=CHOSEN),
    Case("A share of more than all", Find(share="5"),
         "A share of 500 % is not allowed; it is above 0 % and at most 100 % of the records.",
         app=CHOSEN),
    Case("k = 1 for being singled out", Find(k=1),
         "k = 1 is not allowed; it is at least 2 and at most the number of records, 6.",
         app=CHOSEN),
    Case("A k above the records for being singled out", Find(k=7),
         "k = 7 is not allowed; it is at least 2 and at most the number of records, 6.",
         app=CHOSEN),
    Case("Sets of no column", Find(size=0),
         "Sets of 0 columns are not possible; a set has at least 1 column.",
         app=CHOSEN),
]

SAVED = Never("the browser saves a download where its user says")

OUTPUTS = [
    Case("An output in a folder that is not there", Output("nowhere/released.csv"),
         "'nowhere/released.csv' cannot be written: no such file or directory.",
         command="'released.csv' cannot be written there: the folder around it has to exist and to allow writing, and a folder of that name has to be empty.",
         app=SAVED),
    Case("An output of no kind of table", Output("released.docx"),
         "'released.docx' does not end like a table: allowed are .csv, .txt, .tsv, .tab, .parquet, .pq, .feather, .arrow, .xlsx.",
         app=Never("the kinds are a list")),
    Case("An output with a name that no disk takes", Output("x" * 300 + ".csv"),
         "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…' cannot be written: file name too long.",
         command="'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…' cannot be written there: the folder around it has to exist and to allow writing, and a folder of that name has to be empty.",
         app=SAVED),
    Case("An output that is a folder with something in it", Output("full"),
         "'full' does not end like a table: allowed are .csv, .txt, .tsv, .tab, .parquet, .pq, .feather, .arrow, .xlsx.",
         command="'full' cannot be written there: the folder around it has to exist and to allow writing, and a folder of that name has to be empty.",
         app=SAVED),
]

EXERCISE_TABLE: dict[str, Any] = {
    "columns": {
        "name": {"role": "identifier"},
        "race": {
            "role": "quasi-identifier",
            "nodes": [{"name": "*"}, *({"name": race, "parent": "*"} for race in ("Cat", "Dog"))],
        },
        "ill": {"role": "sensitive"},
    },
    "records": [["Ada", "Cat", "cold"], ["Bo", "Cat", "flu"], ["Cy", "Dog", "cold"]],
}
NUMBER = {"id": "k", "table": "t", "kind": "number", "number": "k"}
CHOICE = {"id": "c", "table": "t", "kind": "choice", "choose": "smallest"}


def exercises(**keys: Any) -> ExerciseFile:
    """A good exercise set with some keys set."""
    good = {
        "format": "kanon-exercises",
        "version": 1,
        "title": "Animals",
        "tables": {"t": EXERCISE_TABLE},
        "questions": [NUMBER],
    }
    return ExerciseFile(json.dumps(good | keys))


def asking(**keys: Any) -> ExerciseFile:
    """The same with one question, some of its keys set."""
    good = {"id": "q", "table": "t", "kind": "recode", "k": 2}
    return exercises(questions=[good | keys])


def exercise_table(**keys: Any) -> ExerciseFile:
    """The same with another table."""
    return exercises(tables={"t": EXERCISE_TABLE | keys})


EXERCISES = [
    Case("No file", ExerciseFile(None),
         "The exercise file cannot be read; it has to be JSON in UTF-8.", app=PICKED),
    Case("A list", ExerciseFile("[]"),
         "This is no exercise file: it has to be an object with the format 'kanon-exercises'."),
    Case("No JSON", ExerciseFile("{"),
         "The exercise file is not valid JSON: see line 1, character 2."),
    Case("A key twice", ExerciseFile('{"a": 1, "a": 2}'),
         "The exercise file names 'a' twice in one place; each key, and so each column's role, stands once."),
    Case("Answers for a set", exercises(format="kanon-answers"),
         "This is no exercise file: it has to be an object with the format 'kanon-exercises'."),
    Case("Another version", exercises(version=2),
         "Exercise file key version: '2' is not allowed; it has to be 1."),
    Case("An unknown key", exercises(colour="red"),
         "The exercise file: the key 'colour' is unknown; known are format, version, title, author, tables, questions."),
    Case("No title", exercises(title=""),
         "Exercise file key title: '' is not allowed; it has to be text of at least 1 character."),
    Case("No questions", exercises(questions=[]),
         "Exercise file key questions is empty; it has to be a list of at least one entry."),
    Case("51 questions", exercises(questions=[NUMBER | {"id": str(n)} for n in range(51)]),
         "Exercise file key questions has 51 entries; it has to be a list of at most 50 entries."),
    Case("Two questions of one id", exercises(questions=[NUMBER, NUMBER]),
         "Two questions have the id 'k'; each needs one of its own."),
    Case("A question about no table", asking(table="u"),
         "Question 'q': there is no table 'u'; known are 't'."),
    Case("An unknown kind", asking(kind="guess"),
         "Exercise file key questions.0.kind has to be one of recode, levels, number, choice."),
    Case("k = 1", asking(k=1),
         "Exercise file key questions.0.k: '1' is not allowed; it has to be at least 2."),
    Case("k above the records", asking(k=6),
         "Question 'q': k = 6 cannot be reached: the table has 3 records to anonymise, and k can be at most that."),
    Case("An answer in a question", asking(answer=3),
         "Exercise file key questions.0: the key 'answer' is unknown; known are id, table, text, points, k, metric, kind."),
    Case("An unknown metric", asking(metric="mine"),
         "Question 'q': The metric 'mine' is unknown; known are distortion, ncp, total, llm, nllm, wllm, wnllm, entropy, general-loss, custom."),
    Case("No points", asking(points=0),
         "Exercise file key questions.0.points: '0' is not allowed; it has to be above 0."),
    Case("Levels of an identifier", exercises(questions=[{"id": "q", "table": "t", "kind": "number", "number": "k", "levels": {"name": 1}}]),
         "Question 'q': The column 'name' is no quasi-identifier."),
    Case("A level in words", exercises(questions=[{"id": "q", "table": "t", "kind": "number", "number": "k", "levels": {"race": "high"}}]),
         "Exercise file key questions.0.levels.race: 'high' is text; it has to be a whole number."),
    Case("A sensitive column that is none", exercises(questions=[{"id": "q", "table": "t", "kind": "number", "number": "t", "sensitive": "name"}]),
         "Question 'q': The key sensitive has to be one of the sensitive columns ('ill')."),
    Case("More merges than there are", exercises(questions=[CHOICE | {"merges": 2}]),
         "Question 'c': After 2 merges nothing is left to be merged; merges has to be below 1."),
    Case("A short record", exercise_table(records=[["Ada", "Cat"]]),
         "Table 't': Record 1 has 2 cells; it has to have 3, one for each column."),
    Case("A cell that is a number", exercise_table(records=[["Ada", "Cat", 3]]),
         "Exercise file key tables.t.records.0.2: '3' is not allowed; it has to be text."),
    Case("31 records", exercise_table(records=[["Ada", "Cat", "cold"]] * 31),
         "Exercise file key tables.t.records has 31 entries; it has to be a list of at most 30 entries."),
    Case("A value without a place", exercise_table(records=[["Ada", "Bird", "cold"]]),
         "Table 't': Column 'race': its hierarchy lacks 1 distinct value ('Bird') of 1 record; add what is missing to it."),
    Case("A quasi-identifier without a tree", exercise_table(columns=EXERCISE_TABLE["columns"] | {"race": {"role": "quasi-identifier"}}),
         "Table 't': The quasi-identifier 'race' has no tree; write it as its 'nodes'."),
    Case("No quasi-identifier", exercise_table(columns=EXERCISE_TABLE["columns"] | {"race": {"role": "identifier"}}),
         "Table 't': No column is a quasi-identifier; choose at least one column that could help to single a person out."),
    Case("Nothing to merge", exercises(questions=[CHOICE], tables={"t": EXERCISE_TABLE | {"records": [["Ada", "Cat", "cold"]]}}),
         "Question 'c': The table has one class, so there is nothing to be merged."),
    Case("A tree without nodes", exercise_table(columns=EXERCISE_TABLE["columns"] | {"race": {"role": "quasi-identifier", "nodes": []}}),
         "Table 't': Hierarchy of column 'race': The hierarchy has no nodes; it needs one per value."),
]

FIELDS = Never("the model and its value are chosen in fields that allow nothing else")
REVERSED = [
    Case("No model but k-anonymity", Reversed(changed().text),
         "The reverse looks for the greatest k that goes with another model, and the plan asks for none beside k-anonymity; add one, such as entropy-l-diversity.",
         app=FIELDS),
    Case("Another algorithm than greedy merging", Reversed(algorithm("mondrian", ("privacy", [{"model": "entropy-l-diversity", "l": 1.5}])).text),
         "The reverse merges greedily, and the plan names the algorithm 'mondrian'; set algorithm.name to 'gaa'.",
         app=FIELDS),
    Case("A model that no release meets", Reversed(changed(("privacy", [{"model": "distinct-l-diversity", "l": 3}])).text),
         "Distinct l-diversity with l = 3 for 'disease' cannot be reached: with all records in one class, l is at most 2.",
         app=FIELDS, status=3),
]

MADE_WITH = ("table", "hierarchies", "metric", "attribute_weights", "cost", "scope", "tie_seed", "parts", "seed", "version")
RESULT = {"distribution": "normal", "values": 5, "strategy": "s1", "alteration": 70.5, "l_percent": 99.0, "t_percent": 4.5}


def study(**keys: Any) -> StudyFile:
    """A file of a study with some keys set; all that it was made with is something else."""
    good = {"format": "kanon-simulated-study", "version": 2, "made_with": dict.fromkeys(MADE_WITH, "x"), "found": [RESULT]}
    return StudyFile(json.dumps(good | keys))


STUDIES = [
    Case("No JSON", StudyFile("{"), "The study file is not valid JSON: see line 1, character 2."),
    Case("Another file", StudyFile('{"format": "kanon-answers"}'),
         "This is no study file: it has to be an object with the format 'kanon-simulated-study'."),
    Case("An earlier version", study(version=1),
         "The study file is of version 1, in which alteration was the mean over seven metrics and an original value counted as a leaf of itself; begin a new one."),
    Case("Another version", study(version=3),
         "Study file key version: '3' is not allowed; it has to be 2."),
    Case("An unknown key", study(table="people.csv"),
         "The study file: the key 'table' is unknown; known are format, version, made_with, found."),
    Case("A missing key", study(made_with={}),
         "The study file lacks the key made_with.table."),
    Case("A column that no study has", study(found=[RESULT | {"values": 7}]),
         "Study file key found.0.values: '7' is not allowed; it has to be 5, 10, 20, 50, 100, 200 or 500."),
    Case("An area above 100 %", study(found=[RESULT | {"t_percent": 101}]),
         "Study file key found.0.t_percent: '101' is not allowed; it has to be at most 100."),
    Case("More results than runs", study(found=[RESULT] * 148),
         "Study file key found has 148 entries; it has to be a list of at most 147 entries."),
    Case("Made with something else", study(),
         "The study file was made with another table, other hierarchies, another metric, other attribute weights, another cost, "
         "another scope, another tie seed, another number of parts, another seed and another version of kanon; a study goes on with "
         "what it began with alone, so choose that again, or begin a new one."),
]

def context(**keys: Any) -> ContextFile:
    """A good context with some keys set."""
    return ContextFile(json.dumps({"context": 1, "release": "public"} | keys))


def asked(name: str, wanted: Any) -> ContextFile:
    """The same with a threshold of one's own."""
    return context(thresholds={name: {"wanted": wanted}})


CONTEXTS = [
    Case("No file", ContextFile(None), "The context 'absent.json' cannot be read.", app=PICKED),
    Case("No JSON", ContextFile("{"), "The context is not valid JSON: see line 1, character 2."),
    Case("Another file", ContextFile('{"release": "public"}'), 'This is no context of kanon: it lacks "context": 1.'),
    Case("Nobody gets it", ContextFile('{"context": 1}'), "The context lacks the key release."),
    Case("Somebody else gets it", context(release="everybody"),
         "Context key release: 'everybody' is not allowed; it has to be 'public', 'research' or 'internal'."),
    Case("An unknown key", context(atacker="journalist"),
         "The context: the key 'atacker' is unknown; known are context, release, attacker, known, thresholds."),
    Case("Nothing is known", context(known=0), "Context key known: '0' is not allowed; it has to be at least 1."),
    Case("A threshold that nobody knows", asked("m", 2),
         "Context key thresholds: the key 'm' is unknown; known are k, highest_risk, mean_risk, l, t."),
    Case("A k with a fraction", asked("k", 5.5),
         "Context key thresholds.k.wanted has to be a whole number of at least 2 and at most 100 000 000, not 5.5."),
    Case("A k beyond all tables", asked("k", 1e308),
         "Context key thresholds.k.wanted has to be a whole number of at least 2 and at most 100 000 000, not 1e+308."),
    Case("A t above 1", asked("t", 1.5),
         "Context key thresholds.t.wanted has to be a number of at least 0 and at most 1, not 1.5."),
    Case("A risk that is no 1 in so many", asked("highest_risk", 0.09),
         "Context key thresholds.highest_risk.wanted has to be a number of at least 1 and at most 100 000 000, not 0.09."),
]

OPTION = Never("it is an option of the command line")

CALLS = [
    Case("An output that is the table", Call("run plan.json --table people.csv --out people.csv"),
         OPTION,
         command="'people.csv' is named for two things; the plan, the table, hierarchies and what is written have to be different files.",
         app=SAVED),
    Case("An output that is the plan", Call("run plan.json --table people.csv --out released.csv --measures plan.json"),
         OPTION,
         command="'plan.json' is named for two things; the plan, the table, hierarchies and what is written have to be different files.",
         app=SAVED),
    Case("Measures in a folder that is not there", Call("run plan.json --table people.csv --out released.csv --measures no/m.json"),
         OPTION,
         command="'m.json' cannot be written there: the folder around it has to exist and to allow writing, and a folder of that name has to be empty.",
         app=SAVED),
    Case("A release to a URL", Call("run plan.json --table people.csv --out postgres://host/data#released"),
         OPTION,
         command="--out: a release is written to a path, not to a URL.",
         app=SAVED),
    Case("A negative seed", Call("run plan.json --table people.csv --out released.csv --seed -1"),
         OPTION,
         command="Plan key algorithm.seed: '-1' is not allowed; it has to be at least 0.",
         app=Never("the field for a seed begins at 0")),
    Case("A metric that nobody knows", Call("sweep plan.json --table people.csv --k 2 --metrics nlm --out curves.csv"),
         OPTION,
         command=f"The metric 'nlm' is unknown; known are {METRIC_NAMES}.",
         app=Never("metrics are a list")),
    Case("A strategy that nobody knows", Call("sweep plan.json --table people.csv --k 2 --strategies s8 --out curves.csv"),
         OPTION,
         command="The strategy 's8' is unknown; known are s1, s2, s3, s4, s5, s6, s7, l, t, k.",
         app=Never("strategies are a list")),
    Case("Weights that are all 0", Call("advise plan.json --table people.csv --weights utility=0"),
         OPTION,
         command="All weights are 0, so nothing matters; give at least one of utility, l and t a weight above 0.",
         app=OPTION),
    Case("A weight below 0", Call("advise plan.json --table people.csv --weights l=-1"),
         OPTION,
         command="The weight of l is '-1.0'; it has to be a number of at least 0 and at most 1e+15.",
         app=Never("a slider begins at 0")),
    Case("Weights whose sum is beyond all numbers", Call("advise plan.json --table people.csv --weights utility=1e308,l=1e308"),
         OPTION,
         command="The weight of utility is '1e+308'; it has to be a number of at least 0 and at most 1e+15.",
         app=Never("a slider ends at 10")),
    Case("A limit that no class can have", Call("advise plan.json --table people.csv --limits t=2"),
         OPTION,
         command="The limit of t is 2, and no class has more than t = 1.",
         app=OPTION),
    Case("No k", Call("advise plan.json --table people.csv --k ''"),
         OPTION,
         command="--k: '' is no k; give one k such as 5, or a range such as 3-100.",
         app=Never("the field for k holds whole numbers")),
    Case("A range of k without an end", Call("advise plan.json --table people.csv --k 3-"),
         OPTION,
         command="--k: '3-' is no k; give one k such as 5, or a range such as 3-100.",
         app=Never("a field that is empty is one k")),
    Case("A range of k that is empty", Call("advise plan.json --table people.csv --k 5-3"),
         OPTION,
         command="The range of k from 5 to 3 is empty.",
         app=OPTION),
    Case("Words of a report that are no JSON", Call("report plan.json --table people.csv --out report.html --words men.csv"),
         OPTION,
         command="The file of words is not valid JSON: see line 1, character 1.",
         app=Never("each text has a field")),
    Case("A folder instead of a context", Call("decide plan.json --table people.csv --context ."),
         OPTION,
         command="The context '.' cannot be read.",
         app=Never("a file is picked")),
    Case("A population that does not count", Call("decide plan.json --table people.csv --context context.json --population people.csv"),
         OPTION,
         command="--population counts in a context with \"attacker\": \"journalist\" alone, who does not know who is in the table.",
         app=Never("it is loaded for whoever reckons with it")),
    Case("A report that is no page", Call("report plan.json --table people.csv --out report.docx"),
         OPTION,
         command="--out: a report is a page; end its name in .html.",
         app=SAVED),
    Case("--table without --column", Call("hierarchy check sex.csv --table people.csv"),
         OPTION,
         command="--table and --column go together: the column that the tree should cover.",
         app=Never("a hierarchy is loaded for a column")),
    Case("A hierarchy that lacks values of the column", Call("hierarchy check men.csv --table people.csv --column sex"),
         OPTION,
         command="Column 'sex': its hierarchy lacks 1 distinct value ('F') of 5 records; add what is missing to it.",
         app=Never("it is said when the file is chosen, see above")),
]

ELSEWHERE = Never("it is a field of the app")


def screen(name: str, app: At, said: str) -> Case:
    """A case of the app alone."""
    return Case(name, Screen(app), ELSEWHERE, ELSEWHERE, said)


SCREENS = [
    screen("A metric without a name", at("metric", name=" "),
           "A metric needs a name of 1 to 40 characters."),
    screen("A metric with a name that is too long", at("metric", name="x" * 41),
           "A metric needs a name of 1 to 40 characters."),
    screen("A metric with a name of one's own that is taken", at("metric", name="Mine"),
           "The name 'Mine' is taken; a metric needs one of its own."),
    screen("No number as a weight of a column", at("weight", text=""),
           "The weight '' of 'age' is not allowed; it is a number with a decimal point, from 0 to 1000, and 1 counts as usual."),
    screen("A weight with a decimal comma", at("weight", text="1,5"),
           "The weight '1,5' of 'age' is not allowed; it is a number with a decimal point, from 0 to 1000, and 1 counts as usual."),
    screen("Pasted lines of different lengths", at("lines", text="F;a;*\nM;*"),
           "Line 2 has 2 cells and line 1 has 3; repeat a cell to skip a level."),
    screen("Pasted lines with two roots", at("lines", text="F;a;*\nM;b;all"),
           "Line 2: the hierarchy has two roots ('*', 'all'); every line has to end in the same one."),
    screen("Pasted edges with a node twice", at("lines", text="parent;child\n*;F\n*;F"),
           "Line 3: 'F' is listed as a child a second time (first: Line 2); every node has one parent."),
    screen("Pasted edges in a circle", at("lines", text="parent;child\na;b\nb;a\n*;F"),
           "Line 2: The parents of 'b', 'a' form a cycle; every path has to end at one root."),
    screen("Pasted edges with a negative weight", at("lines", text="parent;child;weight\n*;F;-1"),
           "Line 2: The weight '-1' is not allowed; it is a number with a decimal point, at least 0 and at most 1e+15."),
    screen("Nothing pasted", at("lines", text=" "),
           "The hierarchy file is empty; it needs one line per value."),
    screen("A ZIP that is none", at("tree files", name="trees.zip", content=JUNK),
           "'trees.zip' cannot be unpacked: it is damaged, locked, no zip, or packed in another way "
           "than the usual one (Deflate)."),
    screen("A ZIP without a hierarchy", at("tree files", name="trees.zip", content=zipped()),
           "'trees.zip' holds no CSV, JSON or GraphML file."),
    screen("A ZIP of many members", at("tree files", name="trees.zip", content=zipped(*(f"{n}.csv" for n in range(1001)))),
           "'trees.zip' has 1 001 members; the most allowed is 1 000 (hierarchies_files, see "
           "docs/operate/limits.md)."),
    screen("A ZIP in a ZIP", at("tree files", name="trees.zip", content=zipped("trees.zip")),
           "'trees.zip' is a zip inside a zip; unpack it first."),
    screen("A hierarchy file of another kind", at("tree files", name="sex.docx", content=b"F;*\n"),
           "'sex.docx' is neither CSV, JSON nor GraphML."),
    screen("A layout that is no text", at("layout", content=b"\xff\xfe"),
           "This file is no layout: it is not UTF-8 text."),
    screen("A layout with a key that nobody knows", at("layout", content=b'{"version": 1, "panels": [], "k": 3}'),
           "Layout key k: there is no such key; known are version, panels."),
    screen("A layout that is too large", at("layout", content=b" " * 200_001),
           "This file is no layout: it is larger than 200 kB."),
    screen("An interval of k that ends before it begins", at("interval", low=5, high=3),
           "The interval from 5 to 3 is empty; it has to end at a larger k."),
    screen("An interval of k beyond the records", at("interval", low=2, high=7),
           "The interval ends at k = 7, but the table has 6 records."),
    screen("A population without a quasi-identifier", at("population", name="all.csv", content=b"age\n31\n"),
           "The population lacks 'sex'; it needs every quasi-identifier as a column of the same name."),
    screen("A population that is no table", at("population", name="all.xlsx", content=PICTURE),
           "'all.xlsx' cannot be read as XLSX: it is damaged, locked or another kind of file."),
    screen("A population that lacks people of the table", at("population", name="all.csv", content=b"age,sex\n31,F\n"),
           "3 classes of the table have fewer people in the population than records in the table; the population has to contain everybody, in the same labels."),
    screen("A text of a report that is too long", at("text of a report", name="purpose", text="x" * 5001),
           "Purpose has 5 001 characters; a report takes up to 5 000, so shorten it."),
    screen("No path", at("path", typed=""), "Give the path of a table, or the URL of a database."),
    screen("A path where nothing is", at("path", typed="nothing.parquet"),
           "'FOLDER/nothing.parquet' does not exist."),
    screen("A path outside of the folder for tables", at("path", typed="/etc/passwd"),
           "'/etc/passwd' is not allowed: tables have to be in the folder 'FOLDER'."),
    screen("A database while connections are switched off", at("path", typed="postgres://host/data#people"),
           "Connections to databases are switched off on this server."),
    screen("A URL of another kind", at("path", typed="https://host/people.csv"),
           "URLs that begin with 'https://' are not opened: give the path of a file, or the URL of a server (athena, bigquery, clickhouse, databricks, druid, exasol, impala, materialize, mssql, mysql, oracle, postgres, postgresql, risingwave, singlestoredb, snowflake, trino)."),
]
# fmt: on

SECTIONS = [
    Section(
        "Tables",
        "The library reads the file, the command line runs a plan on it, in the app it is uploaded on *Data*.",
        TABLES,
    ),
    Section(
        "Hierarchy files",
        "The library reads the file, `hierarchy check` does, in the app it is loaded on *Hierarchies*. In a plan "
        "or on *Data* the column stands before the sentence.",
        TREES,
    ),
    Section(
        "Plans",
        "The library runs the plan, the command line does, in the app it is imported on *Compare*.",
        PLANS,
    ),
    Section(
        "Numbers and names",
        "As keys of a plan; in the app typed, where a sentence of its own is given, and else imported. The app's "
        "fields for k, seeds and the suppression limit take nothing outside of their range.",
        NUMBERS,
    ),
    Section(
        "What does not fit the table",
        "Plans that are good for another table. In the app the same is chosen by roles, builders and settings.",
        UNFIT,
    ),
    Section("What no release can meet", "The command line ends with the status 3.", BEYOND),
    Section(
        "Several k",
        "The library sweeps over them, `sweep --k` does, in the app they are typed on *Utility*.",
        SWEEPS,
    ),
    Section("Columns to count by", "`measure --qi`, and `--sensitive`.", COUNTS),
    Section(
        "What a release is for",
        "The library reads the file, `decide --context` does, in the app it is loaded on *Decide*.",
        CONTEXTS,
    ),
    Section("Columns that single out together", "`quasi-identifiers`.", FINDS),
    Section(
        "Exercise sets",
        "The library reads the file, `exercises score` marks answers to it, the page *Learn* opens it.",
        EXERCISES,
    ),
    Section(
        "Files of studies",
        "The library reads the file, `simulate --state` goes on with it, the page *Decide* loads it.",
        STUDIES,
    ),
    Section(
        "The greatest k with other models",
        "The library and `reverse` take a plan.",
        REVERSED,
    ),
    Section("Where a release goes", "`run --out`.", OUTPUTS),
    Section("Further options of the command line", "", CALLS),
    Section("Further fields of the app", "What was typed stays in its field.", SCREENS),
]

ABOUT = """# Bad inputs

What kanon says to each, along the three ways in: the library (an exception with that `sentence`), the command
line (on standard error after `kanon: `, with the exit status 2 unless another one is given), and the app (beside
what was typed or loaded). tests/studio/test_bad_inputs.py takes every input along every way it can take, and holds that
each answer is this one sentence, that no traceback appears, that no file is written or changed, and that all the
session worked on before is still there: table, roles, hierarchies, settings, result.

This page is written by `make bad-inputs` from tests/support/bad_inputs.py.
"""

ROUTES = {"library": "Library", "command": "Command line", "app": "App"}


def page() -> str:
    """The page of all cases."""
    return "\n".join([ABOUT, *(_section(section) for section in SECTIONS)])


def _section(section: Section) -> str:
    rows = ["| input | sentence |", "|---|---|", *map(_row, section.cases)]
    about = f"{section.about}\n\n" if section.about else ""
    return f"## {section.title}\n\n{about}{chr(10).join(rows)}\n"


def _row(case: Case) -> str:
    """A case: what all say, or what each says, and why some cannot."""
    said = {name: case.said(route) for route, name in ROUTES.items()}
    texts = {text: [] for text in said.values()}
    for name, text in said.items():
        texts[text].append(name)
    parts = [_cell(text, names, alone=len(texts) == 1) for text, names in texts.items()]
    return f"| {_plain(case.name)} | {'<br>'.join(parts)} |"


def _cell(text: str | Never, names: list[str], alone: bool) -> str:
    who = " and ".join(names)
    who = who[0] + who[1:].replace("A", "a").replace("C", "c")
    if isinstance(text, Never):
        return f"*{who}: cannot occur, as {_plain(text.why)}.*"
    return _plain(text) if alone else f"{who}: {_plain(text)}"


def _plain(text: str) -> str:
    for mark in "\\*_|<`":
        text = text.replace(mark, f"\\{mark}")
    return text


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
