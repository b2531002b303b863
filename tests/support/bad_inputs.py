"""Bad inputs, and what the sentence has to name that is said to each.

tests/studio/test_bad_inputs.py takes every case along all of its routes; ``make bad-inputs`` does
so as well, and writes docs/reference/bad-inputs.md from what was said.
"""

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

from kanon.errors import (
    CoverageError,
    ExerciseError,
    HierarchyError,
    KanonError,
    MetricError,
    PlanError,
    StudyError,
    TableError,
    Unsatisfiable,
)
from support.paths import ROOT

PAGE = ROOT / "docs" / "reference" / "bad-inputs.md"


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
    """A bad input, and words that what is said of it has to hold: what is wrong, what is allowed."""

    name: str  # what is wrong
    given: Any
    library: str | Never  # words of the library's sentence, with blanks between
    command: str | Never | None = None  # those of the command line and the app, if others
    app: str | Never | None = None
    status: int = 2  # of the command line

    def words(self, route: str) -> str | Never:
        """What the sentence of one of the routes has to hold."""
        own: str | Never | None = getattr(self, route)
        return self.library if own is None else own


@dataclass(frozen=True)
class Section:
    """Cases of one kind, and the errors that the library may raise for them."""

    title: str
    about: str
    cases: list[Case]
    errors: tuple[type[KanonError], ...] = (PlanError,)


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
    Case("A file that is not there", TableFile("absent.csv", None), 'absent.csv', app=PICKED),
    Case("An empty file", TableFile("empty.csv", b""), 'empty.csv'),
    Case("Nothing but blank lines", TableFile("blank.csv", b"\n \r\n\n"), 'blank.csv'),
    Case("Nothing but a header", TableFile("header.csv", b"age,sex\n"), 'header.csv'),
    Case("Two columns of one name", TableFile("twice.csv", b"age,sex,age\n1,F,2\n"), 'twice.csv age'),
    Case("A column without a name", TableFile("nameless.csv", b"age,,sex\n1,F,2\n"), 'nameless.csv 2'),
    Case("A line with too few cells", TableFile("short.csv", b"age,sex\n1,F\n2\n3,M\n"), 'short.csv 3 1 2'),
    Case("A line with too many cells", TableFile("long.csv", b"age,sex\n1,F\n2,M,x\n"), 'long.csv 3 2'),
    Case("A title above the header", TableFile("title.csv", b"People\nage,sex\n1,F\n2,M\n"), 'title.csv 2 1'),
    Case("A quote that is never closed", TableFile("quote.csv", b'age,sex\n1,"F\n2,M\n'), 'quote.csv 2'),
    Case("Binary junk as CSV", TableFile("junk.csv", JUNK), 'junk.csv'),
    Case("A NUL in a cell", TableFile("nul.csv", b"age,sex\n1,\x00\n"), 'nul.csv'),
    Case("Half a character of UTF-16", TableFile("half.csv", b"\xff\xfea\x00,\x00b\x00\n\x00\x31"), 'half.csv 2'),
    Case("A picture as Parquet", TableFile("picture.parquet", PICTURE), 'picture.parquet'),
    Case("A picture as Feather", TableFile("picture.feather", PICTURE), 'picture.feather'),
    Case("A picture as XLSX", TableFile("picture.xlsx", PICTURE), 'picture.xlsx'),
    Case("An XLSX with a password", TableFile("locked.xlsx", LOCKED), 'locked.xlsx'),
    Case("A date in the year 12069", TableFile("far.parquet", parquet({"born": pa.array([318723120000, 0], pa.timestamp("s"))})), 'born 1 9999'),
    Case("A Parquet file that was cut off", TableFile("cut.parquet", parquet({"a": [1]})[:-20]), 'cut.parquet'),
    Case("Lists in the cells", TableFile("lists.parquet", parquet({"a": [[1], [2]]})), 'a'),
    Case("Bytes that are no text", TableFile("bytes.parquet", parquet({"a": [b"\xff\xfe"]})), 'a'),
    Case("No columns", TableFile("none.parquet", parquet({})), 'none.parquet'),
    Case("An empty sheet", TableFile("empty.xlsx", sheet()), 'empty.xlsx'),
    Case("A sheet with a header only", TableFile("header.xlsx", sheet(["age", "sex"])), 'header.xlsx'),
    Case("A kind of file that is no table", TableFile("letter.docx", b"age,sex\n1,F\n"), 'letter.docx'),
    Case("A name without an ending", TableFile("people", b"age,sex\n1,F\n"), 'people'),
    Case("An encoding that nobody knows", TableFile("people.csv", b"age,sex\n1,F\n", {"encoding": "klingon"}), 'klingon utf-8'),
    Case("An encoding that does not fit", TableFile("people.csv", b"age,sex\n1,F\n2,\xe9\n", {"encoding": "utf-8"}), 'people.csv 3'),
    Case("A separator that separates nothing", TableFile("people.csv", b"age,sex\n1,F\n", {"separator": ";"}), 'people.csv 2'),
    Case("A separator of two characters", TableFile("people.csv", b"age,sex\n1,F\n", {"separator": "::"}), 'Separator', app=Never("separators are chosen from a list")),
]

TREES = [
    Case("A file that is not there", TreeFile("absent.csv", None), 'absent.csv', app=PICKED),
    Case("An empty file", TreeFile("sex.csv", b""), 'hierarchy empty'),
    Case("One column", TreeFile("sex.csv", b"F\nM\n"), '1'),
    Case("Lines of different lengths", TreeFile("sex.csv", b"F;a;*\nM;*\n"), '2 1'),
    Case("An empty cell", TreeFile("sex.csv", b"F;a;*\nM;;*\n"), '2'),
    Case("Two roots", TreeFile("sex.csv", b"F;a;*\nM;b;all\n"), '* all 2'),
    Case("A value twice", TreeFile("sex.csv", b"F;a;*\nF;b;*\n"), 'F 2 1'),
    Case("A group under two parents", TreeFile("sex.csv", b"F;a;b;*\nM;a;c;*\n"), 'a b c 2'),
    Case("A group above itself", TreeFile("sex.csv", b"F;a;b;a;*\n"), 'a 1'),
    Case("An encoding that breaks off", TreeFile("sex.csv", "müde;*\nwach;*".encode("utf-16")[:-1]), 'sex.csv'),
    Case("A picture", TreeFile("sex.csv", PICTURE), 'sex.csv'),
    Case("Binary, though UTF-8", TreeFile("sex.csv", b"PK\x03\x04\0\0;a"), 'UTF-8'),
    Case("JSON that breaks off", TreeFile("sex.json", b'{"nodes": ['), 'hierarchy valid'),
    Case("JSON within JSON within JSON, without end", TreeFile("sex.json", b"[" * 100_000), 'hierarchy valid'),
    Case("JSON of another kind", TreeFile("sex.json", b"[1, 2]"), 'hierarchy object'),
    Case("A key twice", TreeFile("sex.json", b'{"nodes": [], "nodes": []}'), 'twice key'),
    Case("No nodes", TreeFile("sex.json", nodes()), 'hierarchy nodes'),
    Case("A node without a name", TreeFile("sex.json", b'{"nodes": [{"parent": "*"}]}'), '1'),
    Case("A node with an empty name", TreeFile("sex.json", nodes(("*",), (" ", "*"))), 'node empty'),
    Case("A name that is no text", TreeFile("sex.json", nodes(("*",), (["F"], "*"))), '2'),
    Case("A key of a node that nobody knows", TreeFile("sex.json", b'{"nodes": [{"name": "*", "colour": 1}]}'), 'colour name 1'),
    Case("A node twice", TreeFile("sex.json", nodes(("*",), ("F", "*"), ("F", "*"))), 'F'),
    Case("A parent that is no node", TreeFile("sex.json", nodes(("*",), ("F", "a"))), 'a'),
    Case("Several roots", TreeFile("sex.json", nodes(("F",), ("M",))), 'F M 2'),
    Case("A cycle", TreeFile("sex.json", nodes(("*",), ("F", "*"), ("a", "b"), ("b", "a"))), 'a b'),
    Case("A negative weight", TreeFile("sex.json", nodes(("*",), ("F", "*", -1))), '-1 F 0 1e+15'),
    Case("A weight that is text", TreeFile("sex.json", nodes(("*",), ("F", "*", "2"))), 'F 0 1e+15'),
    Case("A weight beyond all numbers", TreeFile("sex.json", nodes(("*",), ("F", "*", float("inf")))), 'inf F 0 1e+15'),
    Case("Weights on some edges only", TreeFile("sex.json", nodes(("*",), ("F", "*", 1), ("M", "*"))), 'M 0'),
]

PLANS = [
    Case("A file that is not there", PlanFile(None), 'absent.json', app=PICKED),
    Case("No JSON", PlanFile("age;sex"), '1'),
    Case("JSON that breaks off", PlanFile('{"version": 2,'), '1 15'),
    Case("An empty file", PlanFile(""), '1'),
    Case("A key twice", PlanFile('{"version": 2, "version": 2}'), 'version'),
    Case("A column twice", PlanFile('{"columns": {"sex": {}, "sex": {}}}'), 'sex'),
    Case("A list", PlanFile("[1]"), 'plan list'),
    Case("Nothing", PlanFile("null"), 'plan null'),
    Case("A key that nobody knows", changed(("colums", {})), 'colums version'),
    Case("A key of a column that nobody knows", changed(("columns.sex.kind", "x")), 'columns.sex kind role'),
    Case("A key of an algorithm that nobody knows", changed(("algorithm.speed", 1)), 'algorithm speed name'),
    Case("A key of a builder that nobody knows", tree({"build": "mask", "keep": [1], "kep": 1}), 'columns.sex.hierarchy kep build'),
    Case("A key of a model that nobody knows", changed(("privacy.0.l", 2)), 'privacy.0 l model'),
    Case("Another version", changed(("version", 3)), 'version 3 1 2'),
    Case("No version", changed(("version", ...)), 'version'),
    Case("No columns", changed(("columns", ...)), 'columns'),
    Case("No algorithm", changed(("algorithm", ...)), 'algorithm'),
    Case("No privacy", changed(("privacy", ...)), 'privacy'),
    Case("No privacy model", changed(("privacy", [])), 'privacy'),
    Case("No role", changed(("columns.sex.role", ...)), 'columns.sex.role'),
    Case("A role that nobody knows", changed(("columns.sex.role", "quasi")), 'columns.sex.role quasi identifier quasi-identifier'),
    Case("A role instead of a column", changed(("columns.sex", "sensitive")), 'columns.sex sensitive'),
    Case("An algorithm that nobody knows", changed(("algorithm.name", "gga")), 'algorithm.name gga datafly'),
    Case("A metric that nobody knows", changed(("algorithm.metric", "nlm")), 'algorithm.metric nlm distortion'),
    Case("A strategy that nobody knows", changed(("algorithm.strategy", "s9")), 'algorithm.strategy s9 s1'),
    Case("A scope that nobody knows", changed(("algorithm.scope", "all")), 'algorithm.scope all table class'),
    Case("A cost that nobody knows", changed(("algorithm.cost", "cheap")), 'algorithm.cost cheap weighted representatives'),
    Case("A model that nobody knows", changed(("privacy.0.model", "k-anonimity")), 'privacy.0.model k-anonimity alpha-k-anonymity basic-beta-likeness'),
    Case("A model without a name", changed(("privacy.0", {"k": 2})), 'privacy.0.model alpha-k-anonymity basic-beta-likeness delta-disclosure'),
    Case("A builder that nobody knows", tree({"build": "magic"}), 'columns.sex.hierarchy magic suppression intervals'),
    Case("A hierarchy that is none", tree({"levels": 2}), 'columns.sex.hierarchy build nodes'),
    Case("A rule for missing cells that nobody knows", changed(("read.missing", "drop")), 'read.missing drop drop-records as-value'),
    Case("Markers of missing cells as text", changed(("read.missing_markers", "?")), 'read.missing_markers ?'),
    Case("A pseudonym that is neither true nor false", changed(("columns.name.pseudonym", "yes")), 'columns.name.pseudonym yes'),
    Case("A variant that the algorithm does not have", algorithm("mondrian", variant="loose"), 'algorithm.variant loose strict'),
    Case("A choice of another algorithm", algorithm("gaa", variant="strict"), 'algorithm variant name'),
    Case("A negative seed", changed(("algorithm.seed", -1)), 'algorithm.seed -1 0'),
    Case("A seed as text", changed(("algorithm.tie_seed", "7")), 'algorithm.tie_seed 7'),
]

NUMBERS = [
    Case("k = 0", changed(("privacy.0.k", 0)), 'privacy.0.k 0 2'),
    Case("k = 1", changed(("privacy.0.k", 1)), 'privacy.0.k 1 2'),
    Case("A negative k", changed(("privacy.0.k", -5)), 'privacy.0.k -5 2'),
    Case("k as text", changed(("privacy.0.k", "5")), 'privacy.0.k 5'),
    Case("k with a fraction", changed(("privacy.0.k", 5.5)), 'privacy.0.k 5.5'),
    Case("k = true", changed(("privacy.0.k", True)), 'privacy.0.k true'),
    Case("No k", changed(("privacy.0", {"model": "k-anonymity"})), 'privacy.0.k'),
    Case("l below 1", model("entropy-l-diversity", l=0.5, app=typed("entropy-l-diversity", "l", 0.5)), '0.5 1'),
    Case("No l", model("entropy-l-diversity", app=typed("entropy-l-diversity", "l", None)), 'privacy.1.l', app='2'),
    Case("l that is no number", model("entropy-l-diversity", l=float("nan")), 'privacy.1.l nan'),
    Case("A fraction of a distinct value", model("distinct-l-diversity", l=2.5), 'privacy.1.l 2.5'),
    Case("c = 0", model("recursive-cl-diversity", c=0, l=2, app=typed("recursive-cl-diversity", "c", 0.0)), 'privacy.1.c 0', app='0 3'),
    Case("t above its range", model("t-closeness", t=2.5), 'privacy.1.t 2.5 2'),
    Case("t below 0", model("t-closeness", t=-0.1, app=typed("t-closeness", "t", -0.1)), '-0.1 0'),
    Case("t above the range of its distance", model("t-closeness", t=1.5, distance="variational", app=typed("t-closeness", "t", 1.5)), '0 1 1.5'),
    Case("A distance that nobody knows", model("t-closeness", t=0.4, distance="euclid"), 'privacy.1.distance euclid norm1 variational'),
    Case("A share above 1", model("alpha-k-anonymity", alpha=1.5, k=2, app=typed("alpha-k-anonymity", "alpha", 1.5)), '1.5 1'),
    Case("A negative δ", model("delta-disclosure", delta=-1, app=typed("delta-disclosure", "delta", -1.0)), '-1 0'),
    Case("A negative β", model("basic-beta-likeness", beta=-1, app=typed("basic-beta-likeness", "beta", -1.0)), '-1 0 1'),
    Case("A suppression limit above 1", changed(("suppression_limit", 1.5)), 'suppression_limit 1.5 1'),
    Case("A suppression limit below 0", changed(("suppression_limit", -0.1)), 'suppression_limit -0.1 0'),
    Case("A suppression limit as text", changed(("suppression_limit", "some")), 'suppression_limit some'),
    Case("A negative number of suppressed records", changed(("suppression_limit", {"records": -1})), 'suppression_limit.records -1 0'),
    Case("A negative weight of a column", changed(("algorithm.attribute_weights", {"age": -0.5}), app=at("weight", text="-0.5")), '-0.5 0'),
    Case("A weight of a column as text", changed(("algorithm.attribute_weights", {"age": "much"}), app=at("weight", text="much")),
         'algorithm.attribute_weights.age much', app='much age 0 1000 1'),
    Case("A weight of a column beyond all numbers", changed(("algorithm.attribute_weights", {"age": float("inf")}), app=at("weight", text="inf")), '0 inf'),
    Case("A weight of a column that is not blurred", changed(("algorithm.attribute_weights", {"disease": 1})), 'algorithm.attribute_weights disease age sex'),
    Case("A composed metric with a name that is taken", changed(("metrics", {"nllm": {"intermediate": "leaves", "multiplier": "w1"}}), app=at("metric", name="nllm")),
         'nllm'),
    Case("A composed metric with a very long name", changed(("metrics", {"n" * 41: {"intermediate": "leaves", "multiplier": "w1"}}), app=at("metric", name="n" * 41)),
         '1 40'),
    Case("A first phase that nobody knows", changed(("metrics", {"mine": {"intermediate": "leafs", "multiplier": "w1"}})),
         'metrics.mine.intermediate leafs harmonic-levels levels'),
    Case("A second phase that nobody knows", changed(("metrics", {"mine": {"intermediate": "leaves", "multiplier": "w3"}})), 'metrics.mine.multiplier w3 none w1'),
    Case("Half a metric", changed(("metrics", {"mine": {"intermediate": "leaves"}})), 'metrics.mine.multiplier'),
    Case("No widths", tree({"build": "intervals", "widths": []}, "age", app=built("age", "intervals", widths=" ")), 'age 0', app='5 10 20'),
    Case("Widths further apart than numbers reach", tree({"build": "intervals", "widths": [1e-320, 1]}, "age", app=built("age", "intervals", widths="1e-320, 1")),
         'age 9.99989e'),
    Case("Widths beyond all numbers", tree({"build": "intervals", "widths": [1e307, 1e308]}, "age", app=built("age", "intervals", widths="1e307, 1e308")), 'age 1e+308'),
    Case("Widths as words", tree({"build": "intervals", "widths": ["five"]}, "age", app=built("age", "intervals", widths="five")),
         'columns.age.hierarchy.widths.0 five', app='five 5 10 20'),
    Case("A negative width", tree({"build": "intervals", "widths": [-5]}, "age", app=built("age", "intervals", widths="-5")), 'age 0'),
    Case("A width that is no multiple of the one before", tree({"build": "intervals", "widths": [5, 12]}, "age", app=built("age", "intervals", widths="5, 12")), 'age 12 5'),
    Case("Widths that do not rise", tree({"build": "intervals", "widths": [10, 5]}, "age", app=built("age", "intervals", widths="10, 5")), 'age 5 10'),
    Case("Bounds the wrong way round", tree({"build": "intervals", "widths": [5], "lowest": 40, "highest": 30}, "age", app=built("age", "intervals", widths="5", lowest="40", highest="30")),
         'age 40 30'),
    Case("A mask that keeps nothing", tree({"build": "mask", "keep": [0]}, "age", app=built("age", "mask", keep="0")), 'age 1'),
    Case("A mask that keeps more and more", tree({"build": "mask", "keep": [1, 2]}, "age", app=built("age", "mask", keep="1, 2")), 'age'),
    Case("A mask that keeps half a character", tree({"build": "mask", "keep": [1.5]}, "age", app=built("age", "mask", keep="1.5")),
         'columns.age.hierarchy.keep.0 1.5', app='4 3 2'),
    Case("A side that nobody knows", tree({"build": "mask", "keep": [1], "side": "top"}, "age"), 'columns.age.hierarchy.side top left right'),
    Case("Codes with nothing to cut them by", tree({"build": "codes", "separators": ""}, "age", app=built("age", "codes", separators=" ")), 'age separators prefixes ranges'),
    Case("Prefixes that get longer", tree({"build": "codes", "prefixes": [1, 2]}, "age", app=built("age", "codes", prefixes="1, 2")), 'age shorter'),
    Case("Ranges of codes that overlap", tree({"build": "codes", "ranges": [{"first": "10", "last": "40", "name": "a"}, {"first": "30", "last": "60", "name": "b"}]}, "age"), 'age a b inside'),
    Case("A file of ranges that is not there", tree({"build": "codes", "ranges_file": "blocks.csv"}, "age"), 'age blocks.csv', app='age file'),
    Case("A period that nobody knows", tree({"build": "dates", "levels": ["week"]}, "age", app=built("age", "dates", levels="week")), 'week day month'),
    Case("Periods from coarse to fine", tree({"build": "dates", "levels": ["year", "month"]}, "age", app=built("age", "dates", levels="year, month")), 'age'),
    Case("Ages at a day that is none", tree({"build": "ages", "day": "25.11.2026", "widths": [5]}, "age", app=built("age", "ages", day="25.11.2026", widths="5")), '25.11.2026 2026'),
    Case("Ages in halves of years", tree({"build": "ages", "day": "2026-11-25", "widths": [0.5]}, "age", app=built("age", "ages", day="2026-11-25", widths="0.5")), 'age'),
    Case("A kind of column that nobody knows", changed(("read.kinds", {"age": "weight"})), 'weight text decimal date'),
    Case("A kind that is written in no known way", changed(("read.kinds", {"age": "date DD.MM"})), 'date DD.MM.YYYY'),
    Case("A member of two groups", tree({"build": "groups", "levels": [{"A": ["F"], "B": ["F"]}]}), 'sex F'),
    Case("A group named like its member", tree({"build": "groups", "levels": [{"F": ["F", "M"]}]}), 'sex F'),
    Case("Groups in a circle", tree({"build": "groups", "levels": [{"A": ["B"]}, {"B": ["A"]}]}), 'sex B A'),
]

AGES = PEOPLE.assign(age=["31", "34", "38", "n/k", "57", "31"])
LACKING = PEOPLE.assign(sex=["F", None, "F", "M", "F", "F"])
NOBODY = PEOPLE.assign(sex=[None] * 6)
SAYING = PEOPLE.assign(sex=["F", "(missing)", None, "M", "F", "F"])
MARKED = PEOPLE.assign(suppressed=0)
UNNAMED = PEOPLE.assign(name=["Ana", None, "Cyd", "Dan", "Eve", "Ana"])

UNFIT = [
    Case("A column that the table lacks", changed(("columns.height", {"role": "sensitive"})), 'height name age'),
    Case("No quasi-identifier", changed(("columns.age", {"role": "insensitive"}), ("columns.sex", {"role": "insensitive"}), app=at("roles", age="insensitive", sex="insensitive")),
         'quasi-identifier'),
    Case("A quasi-identifier without a hierarchy", changed(("columns.sex.hierarchy", ...)), 'sex'),
    Case("A hierarchy file that is not there", tree("absent.csv"), 'sex absent.csv', app='sex'),
    Case("A hierarchy that lacks a value", tree("men.csv", app=at("tree file", column="sex", name="men.csv", content=b"M;*\nX;*\n")), 'F 1 5'),
    Case("A hierarchy with two roots", tree({"nodes": [{"name": "F"}, {"name": "M"}]}), 'sex F M 2'),
    Case("Intervals of a column of texts", tree({"build": "intervals", "widths": [5]}, app=built("sex", "intervals", widths="5")), 'sex F M 2'),
    Case("Periods of a column without dates", tree({"build": "dates", "levels": ["year"]}, app=built("sex", "dates", levels="year")), 'sex F M 2021 2'),
    Case("Ages of a column without dates", tree({"build": "ages", "day": "2026-11-25", "widths": [5]}, app=built("sex", "ages", day="2026-11-25", widths="5")), 'sex F M 2021 2'),
    Case("Values that are not of the kind that was chosen", changed(("read.kinds", {"sex": "date DD.MM.YYYY"})), 'sex F M DD.MM.YYYY 2'),
    Case("A kind for a column that the table lacks", changed(("read.kinds", {"height": "whole number 1234"})), 'height name age'),
    Case("A text in a column of numbers", changed(table=AGES, app=at("other table", table=AGES, then=built("age", "intervals", widths="10, 20"))), 'age n/k 1'),
    Case("Missing cells and no rule for them", changed(table=LACKING, app=at("other table", table=LACKING, missing=None, then=at("k", k=2))), 'drop-records as-value 1', app='1 Data'),
    Case("Every record lacks a quasi-identifier", changed(("read.missing", "drop-records"), table=NOBODY, app=at("other table", table=NOBODY, then=at("roles", sex="quasi-identifier"))),
         'quasi-identifier'),
    Case("Missing cells, and cells that say (missing)", changed(("read.missing", "as-value"), table=SAYING, app=at("other table", table=SAYING, then=at("missing"))),
         'sex missing'),
    Case("A column called suppressed", changed(table=MARKED, app=at("other table", table=MARKED)), 'suppressed'),
    Case("The metric custom without drawn weights", changed(("algorithm.metric", "custom"), app=at("settings", metric="custom")), 'custom age'),
    Case("A model without a sensitive column", changed(("columns.disease.role", "insensitive"), ("privacy", [*PLAN["privacy"], {"model": "t-closeness", "t": 0.4}])),
         'privacy.1.column'),
    Case("A model about a column that is not sensitive", model("t-closeness", t=0.4, column="sex"), 'privacy.1.column sex disease'),
    Case("Several sensitive columns, none named", changed(("columns.note.role", "sensitive"), ("privacy", [*PLAN["privacy"], {"model": "t-closeness", "t": 0.4}])),
         'privacy.1.column disease note'),
    Case("A strategy led by a column that is not sensitive", changed(("algorithm", {"name": "gaa", "strategy": "s2", "sensitive": "age"})),
         'algorithm.sensitive age disease'),
    Case("A strategy that the algorithm does not take", algorithm("mondrian", strategy="s2"), 'mondrian s2 gaa'),
    Case("An ordered distance of texts", model("t-closeness", t=0.4, distance="emd-ordered"),
         'disease norm1 variational', app=Never("an ordered distance is offered for numbers only")),
    Case("A hierarchical distance without a hierarchy", model("t-closeness", t=0.4, distance="hierarchical"),
         'columns.disease.hierarchy disease', app=Never("a hierarchical distance is offered for columns with a hierarchy only")),
    Case("Means of texts", algorithm("mdav", app=at("settings", algorithm="mdav")), 'sex'),
    Case("MDAV with a model about a sensitive column", algorithm("mdav", ("columns.sex.role", "insensitive"), ("columns.sex.hierarchy", ...), ("privacy", [{"model": "k-anonymity", "k": 2}, {"model": "distinct-l-diversity", "l": 2}]), app=at("settings", roles={"sex": "insensitive"}, algorithm="mdav", models=[("distinct-l-diversity", {"l": 2, "column": "disease"})])),
         'disease 2'),
    Case("MinGen with a suppression limit", algorithm("mingen", ("suppression_limit", 0.5)), 'optimal 0', app=Never("a limit is not offered for MinGen")),
    Case("A search that tags, with l-diversity and suppression", algorithm("samarati", ("suppression_limit", 0.5), ("privacy", [{"model": "k-anonymity", "k": 2}, {"model": "distinct-l-diversity", "l": 2}]), app=at("settings", algorithm="samarati", suppression=0.5, models=[("distinct-l-diversity", {"l": 2, "column": "disease"})])),
         '0'),
    Case("Levels by hand, and none picked", algorithm("levels", app=at("settings", algorithm="levels")), 'quasi-identifier'),
    Case("Levels of some columns only", algorithm("levels", node={"age": 1}), 'algorithm.node age sex'),
    Case("A level above the root", algorithm("levels", node={"age": 9, "sex": 0}), 'algorithm.node.age 9 0 3'),
    Case("A person that is no identifier", changed(("person", "age")), 'person age'),
    Case("A person that is not in the plan", changed(("person", "nobody")), 'person nobody'),
    Case("Records that do not say whom they are about", changed(("person", "name"), table=UNNAMED, app=at("other table", table=UNNAMED, then=at("person", column="name"))),
         'name 1'),
    Case("A node for an algorithm that takes none", algorithm("gaa", node={"age": 1, "sex": 1}), 'algorithm.node gaa'),
]

BEYOND = [
    Case("k larger than the table", changed(("privacy.0.k", 7)),
         '7 6', app=Never("the field for k ends at the number of records, and of an imported plan curves take every k"), status=3),
    Case("More persons wanted than there are", changed(("person", "name"), ("privacy", [{"model": "k-anonymity", "k": 6}]), app=at("settings", person="name", k=6)),
         '6 5', status=3),
    Case("k larger than what is left of the table", changed(("read.missing", "drop-records"), ("privacy.0.k", 6), table=LACKING, app=at("other table", table=LACKING, then=at("k", k=6))),
         '6 5', status=3),
    Case("l larger than the number of sensitive values", model("distinct-l-diversity", l=3, app=at("settings", models=[("distinct-l-diversity", {"l": 3, "column": "disease"})])),
         'disease 3 2', status=3),
    Case("Entropy l above that of the whole table", model("entropy-l-diversity", l=2.5, app=at("settings", models=[("entropy-l-diversity", {"l": 2.5, "column": "disease"})])),
         'disease 2.5 2', status=3),
    Case("Recursive (c,l) that the table cannot meet", model("recursive-cl-diversity", c=0.5, l=2, app=at("settings", models=[("recursive-cl-diversity", {"c": 0.5, "l": 2, "column": "disease"})])),
         'disease 0.5 2 1', status=3),
    Case("A share below that of the most frequent value", model("alpha-k-anonymity", alpha=0.4, k=2, app=at("settings", models=[("alpha-k-anonymity", {"alpha": 0.4, "k": 2, "column": "disease"})])),
         'disease 0.4 2 0.5', status=3),
    Case("Levels at which too many records are alone", algorithm("levels", node={"age": 0, "sex": 0}, app=at("settings", algorithm="levels", node={"age": 0, "sex": 0})),
         '4 0', status=3),
]

SWEEPS = [
    Case("No k", Sweep(" "), '5'),
    Case("A k that is no number", Sweep("2,many"), Never("the library takes numbers, not text"), command='many 3 4 5', app='many 2'),
    Case("k = 1 among several", Sweep("1,2"), '1 2'),
    Case("A k twice", Sweep("3,3"), '3'),
    Case("Only k above the number of records", Sweep("999"), '999 6', app='6 2', status=3),
]

LIST = Never("columns are chosen from those of the table")

COUNTS = [
    Case("A column that the table lacks", Measure("age,zip"), 'zip name age', app=LIST),
    Case("No column", Measure(" , "), 'measuring exposure', app=LIST),
    Case("A column twice", Measure("age,age"), Never("a column twice counts once"), command='--qi', app=LIST),
    Case("A column as quasi-identifier and sensitive", Measure("age", "age"), Never("the library counts both"), command='age', app=LIST),
]

CHOSEN = Never("it is chosen from a list of what is allowed")

FINDS = [
    Case("No column to look at", Find(columns=" , "), 'least column', app=LIST),
    Case("A column to look at that the table lacks", Find(columns="age,zip"), 'zip name age', app=LIST),
    Case("A column to look at twice", Find(columns="age,age"), Never("a column twice counts once"), command='--columns', app=LIST),
    Case("A share that is no number", Find(share="half"), Never("the library takes numbers, not text"), command='half 5 0.05', app=CHOSEN),
    Case("A share that cannot be told from 0", Find(share="1e-300%"), Never("the library takes any number above 0"), command='1e-300% 0 5 0.05', app=CHOSEN),
    Case("A share of nobody", Find(share="0%"), '0 100', app=CHOSEN),
    Case("A share of more than all", Find(share="5"), '500 0 100', app=CHOSEN),
    Case("k = 1 for being singled out", Find(k=1), '1 2 6', app=CHOSEN),
    Case("A k above the records for being singled out", Find(k=7), '7 2 6', app=CHOSEN),
    Case("Sets of no column", Find(size=0), '0 1', app=CHOSEN),
]

SAVED = Never("the browser saves a download where its user says")

OUTPUTS = [
    Case("An output in a folder that is not there", Output("nowhere/released.csv"), 'nowhere/released.csv', command='released.csv empty', app=SAVED),
    Case("An output of no kind of table", Output("released.docx"), 'released.docx', app=Never("the kinds are a list")),
    Case("An output with a name that no disk takes", Output("x" * 300 + ".csv"), 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…', app=SAVED),
    Case("An output that is a folder with something in it", Output("full"), 'full', app=SAVED),
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
    Case("No file", ExerciseFile(None), 'UTF-8', app=PICKED),
    Case("A list", ExerciseFile("[]"), 'kanon-exercises'),
    Case("No JSON", ExerciseFile("{"), '1 2'),
    Case("A key twice", ExerciseFile('{"a": 1, "a": 2}'), 'a'),
    Case("Answers for a set", exercises(format="kanon-answers"), 'kanon-exercises'),
    Case("Another version", exercises(version=2), 'version 2 1'),
    Case("An unknown key", exercises(colour="red"), 'colour format'),
    Case("No title", exercises(title=""), 'title 1'),
    Case("An exam in words", exercises(exam="yes"), 'exam true'),
    Case("An exam without a code", exercises(exam=True), 'exam code'),
    Case("A code in the clear", exercises(exam=True, code="three blue lions"), 'code'),
    Case("No questions", exercises(questions=[]), 'questions'),
    Case("51 questions", exercises(questions=[NUMBER | {"id": str(n)} for n in range(51)]), 'questions 51 50'),
    Case("Two questions of one id", exercises(questions=[NUMBER, NUMBER]), 'k'),
    Case("A question about no table", asking(table="u"), 'q u t'),
    Case("An unknown kind", asking(kind="guess"), 'questions.0.kind'),
    Case("A long title of a question", asking(title="x" * 61), 'questions.0.title 60'),
    Case("k = 1", asking(k=1), 'questions.0.k 1 2'),
    Case("k above the records", asking(k=6), 'q 6 3'),
    Case("An answer in a question", asking(answer=3), 'questions.0 answer id'),
    Case("An unknown metric", asking(metric="mine"), 'q mine distortion'),
    Case("No points", asking(points=0), 'questions.0.points 0'),
    Case("Levels of an identifier", exercises(questions=[{"id": "q", "table": "t", "kind": "number", "number": "k", "levels": {"name": 1}}]), 'q name'),
    Case("A level in words", exercises(questions=[{"id": "q", "table": "t", "kind": "number", "number": "k", "levels": {"race": "high"}}]), 'questions.0.levels.race high'),
    Case("A sensitive column that is none", exercises(questions=[{"id": "q", "table": "t", "kind": "number", "number": "t", "sensitive": "name"}]), 'sensitive q ill'),
    Case("More merges than there are", exercises(questions=[CHOICE | {"merges": 2}]), 'c 2 1'),
    Case("A short record", exercise_table(records=[["Ada", "Cat"]]), 't 1 2 3'),
    Case("A cell that is a number", exercise_table(records=[["Ada", "Cat", 3]]), 'tables.t.records.0.2 3 text'),
    Case("31 records", exercise_table(records=[["Ada", "Cat", "cold"]] * 31), 'tables.t.records 31 30'),
    Case("A value without a place", exercise_table(records=[["Ada", "Bird", "cold"]]), 't race Bird 1'),
    Case("A quasi-identifier without a tree", exercise_table(columns=EXERCISE_TABLE["columns"] | {"race": {"role": "quasi-identifier"}}), 't race nodes'),
    Case("No quasi-identifier", exercise_table(columns=EXERCISE_TABLE["columns"] | {"race": {"role": "identifier"}}), 't'),
    Case("Nothing to merge", exercises(questions=[CHOICE], tables={"t": EXERCISE_TABLE | {"records": [["Ada", "Cat", "cold"]]}}), 'c'),
    Case("A tree without nodes", exercise_table(columns=EXERCISE_TABLE["columns"] | {"race": {"role": "quasi-identifier", "nodes": []}}), 't race'),
]

FIELDS = Never("the model and its value are chosen in fields that allow nothing else")
REVERSED = [
    Case("No model but k-anonymity", Reversed(changed().text), 'k-anonymity', app=FIELDS),
    Case("Another algorithm than greedy merging", Reversed(algorithm("mondrian", ("privacy", [{"model": "entropy-l-diversity", "l": 1.5}])).text),
         'mondrian gaa', app=FIELDS),
    Case("A model that no release meets", Reversed(changed(("privacy", [{"model": "distinct-l-diversity", "l": 3}])).text), 'disease 3 2', app=FIELDS, status=3),
]

MADE_WITH = ("table", "hierarchies", "metric", "attribute_weights", "cost", "scope", "tie_seed", "parts", "seed", "version")
RESULT = {"distribution": "normal", "values": 5, "strategy": "s1", "alteration": 70.5, "l_percent": 99.0, "t_percent": 4.5}


def study(**keys: Any) -> StudyFile:
    """A file of a study with some keys set; all that it was made with is something else."""
    good = {"format": "kanon-simulated-study", "version": 2, "made_with": dict.fromkeys(MADE_WITH, "x"), "found": [RESULT]}
    return StudyFile(json.dumps(good | keys))


STUDIES = [
    Case("No JSON", StudyFile("{"), '1 2'),
    Case("Another file", StudyFile('{"format": "kanon-answers"}'), 'kanon-simulated-study'),
    Case("An earlier version", study(version=1), '1'),
    Case("Another version", study(version=3), 'version 3 2'),
    Case("An unknown key", study(table="people.csv"), 'table format'),
    Case("A missing key", study(made_with={}), 'made_with.table'),
    Case("A column that no study has", study(found=[RESULT | {"values": 7}]), 'found.0.values 7 5 10 20'),
    Case("An area above 100 %", study(found=[RESULT | {"t_percent": 101}]), 'found.0.t_percent 101 100'),
    Case("More results than runs", study(found=[RESULT] * 148), 'found 148 147'),
    Case("Made with something else", study(), 'hierarchies attribute'),
]

def playlist(**link: Any) -> bytes:
    """A playlist of one link."""
    content = {"format": "kanon-playlist", "title": "One", "links": [link]}
    return json.dumps(content).encode()


def context(**keys: Any) -> ContextFile:
    """A good context with some keys set."""
    return ContextFile(json.dumps({"context": 1, "release": "public"} | keys))


def asked(name: str, wanted: Any) -> ContextFile:
    """The same with a threshold of one's own."""
    return context(thresholds={name: {"wanted": wanted}})


CONTEXTS = [
    Case("No file", ContextFile(None), 'absent.json', app=PICKED),
    Case("No JSON", ContextFile("{"), '1 2'),
    Case("Another file", ContextFile('{"release": "public"}'), '1'),
    Case("Nobody gets it", ContextFile('{"context": 1}'), 'release'),
    Case("Somebody else gets it", context(release="everybody"), 'release everybody public research'),
    Case("An unknown key", context(atacker="journalist"), 'atacker context'),
    Case("Nothing is known", context(known=0), 'known 0 1'),
    Case("A threshold that nobody knows", asked("m", 2), 'thresholds m k'),
    Case("A k with a fraction", asked("k", 5.5), 'thresholds.k.wanted 2 100 000'),
    Case("A k beyond all tables", asked("k", 1e308), 'thresholds.k.wanted 2 100 000'),
    Case("A t above 1", asked("t", 1.5), 'thresholds.t.wanted 0 1 1.5'),
    Case("A risk that is no 1 in so many", asked("highest_risk", 0.09), 'thresholds.highest_risk.wanted 1 100 000'),
    Case("Controls without the harm", context(controls={"contract": True}), 'controls invasion low medium high'),
]

OPTION = Never("it is an option of the command line")

CALLS = [
    Case("An output that is the table", Call("run plan.json --table people.csv --out people.csv"), OPTION, command='people.csv', app=SAVED),
    Case("An output that is the plan", Call("run plan.json --table people.csv --out released.csv --measures plan.json"), OPTION, command='plan.json', app=SAVED),
    Case("Measures in a folder that is not there", Call("run plan.json --table people.csv --out released.csv --measures no/m.json"),
         OPTION, command='m.json empty', app=SAVED),
    Case("A release to a URL", Call("run plan.json --table people.csv --out postgres://host/data#released"), OPTION, command='--out', app=SAVED),
    Case("A negative seed", Call("run plan.json --table people.csv --out released.csv --seed -1"),
         OPTION, command='algorithm.seed -1 0', app=Never("the field for a seed begins at 0")),
    Case("A metric that nobody knows", Call("sweep plan.json --table people.csv --k 2 --metrics nlm --out curves.csv"),
         OPTION, command='nlm distortion', app=Never("metrics are a list")),
    Case("A strategy that nobody knows", Call("sweep plan.json --table people.csv --k 2 --strategies s8 --out curves.csv"),
         OPTION, command='s8 s1', app=Never("strategies are a list")),
    Case("Weights that are all 0", Call("advise plan.json --table people.csv --weights utility=0"), OPTION, command='0', app=OPTION),
    Case("A weight below 0", Call("advise plan.json --table people.csv --weights l=-1"), OPTION, command='-1.0 0 1e+15', app=Never("a slider begins at 0")),
    Case("Weights whose sum is beyond all numbers", Call("advise plan.json --table people.csv --weights utility=1e308,l=1e308"),
         OPTION, command='1e+308 0 1e+15', app=Never("a slider ends at 10")),
    Case("A limit that no class can have", Call("advise plan.json --table people.csv --limits t=2"), OPTION, command='2 1', app=OPTION),
    Case("No k", Call("advise plan.json --table people.csv --k ''"), OPTION, command='5 3', app=Never("the field for k holds whole numbers")),
    Case("A range of k without an end", Call("advise plan.json --table people.csv --k 3-"), OPTION, command='3- 5 3', app=Never("a field that is empty is one k")),
    Case("A range of k that is empty", Call("advise plan.json --table people.csv --k 5-3"), OPTION, command='5 3', app=OPTION),
    Case("Words of a report that are no JSON", Call("report plan.json --table people.csv --out report.html --words men.csv"),
         OPTION, command='1', app=Never("each text has a field")),
    Case("A folder instead of a context", Call("decide plan.json --table people.csv --context ."), OPTION, command='context read', app=Never("a file is picked")),
    Case("A population that does not count", Call("decide plan.json --table people.csv --context context.json --population people.csv"),
         OPTION, command='--population', app=Never("it is loaded for whoever reckons with it")),
    Case("A report that is no page", Call("report plan.json --table people.csv --out report.docx"), OPTION, command='--out', app=SAVED),
    Case("--table without --column", Call("hierarchy check sex.csv --table people.csv"), OPTION, command='--table', app=Never("a hierarchy is loaded for a column")),
    Case("A hierarchy that lacks values of the column", Call("hierarchy check men.csv --table people.csv --column sex"),
         OPTION, command='sex F 1 5', app=Never("it is said when the file is chosen, see above")),
]

ELSEWHERE = Never("it is a field of the app")


def screen(name: str, app: At, words: str) -> Case:
    """A case of the app alone."""
    return Case(name, Screen(app), ELSEWHERE, ELSEWHERE, words)


SCREENS = [
    screen("A metric without a name", at("metric", name=" "), '1 40'),
    screen("A metric with a name that is too long", at("metric", name="x" * 41), '1 40'),
    screen("A metric with a name of one's own that is taken", at("metric", name="Mine"), 'Mine'),
    screen("No number as a weight of a column", at("weight", text=""), 'age 0 1000 1'),
    screen("A weight with a decimal comma", at("weight", text="1,5"), '1,5 age 0 1000 1'),
    screen("Pasted lines of different lengths", at("lines", text="F;a;*\nM;*"), '2 1'),
    screen("Pasted lines with two roots", at("lines", text="F;a;*\nM;b;all"), '* all 2'),
    screen("Pasted edges with a node twice", at("lines", text="parent;child\n*;F\n*;F"), 'F 3 2'),
    screen("Pasted edges in a circle", at("lines", text="parent;child\na;b\nb;a\n*;F"), 'b a 2'),
    screen("Pasted edges with a negative weight", at("lines", text="parent;child;weight\n*;F;-1"), '-1 2 0 1e+15'),
    screen("Nothing pasted", at("lines", text=" "), 'hierarchy empty'),
    screen("A ZIP that is none", at("tree files", name="trees.zip", content=JUNK), 'trees.zip'),
    screen("A ZIP without a hierarchy", at("tree files", name="trees.zip", content=zipped()), 'trees.zip'),
    screen("A ZIP of many members", at("tree files", name="trees.zip", content=zipped(*(f"{n}.csv" for n in range(1001)))), 'trees.zip 1 001'),
    screen("A ZIP in a ZIP", at("tree files", name="trees.zip", content=zipped("trees.zip")), 'trees.zip'),
    screen("A hierarchy file of another kind", at("tree files", name="sex.docx", content=b"F;*\n"), 'sex.docx'),
    screen("A layout that is no text", at("layout", content=b"\xff\xfe"), 'UTF-8'),
    screen("A layout with a key that nobody knows", at("layout", content=b'{"version": 1, "panels": [], "k": 3}'), 'k version'),
    screen("A layout that is too large", at("layout", content=b" " * 200_001), '200'),
    screen("A playlist that is no text", at("playlist", content=b"\xff"), 'UTF-8'),
    screen("A playlist with a page that is not there", at("playlist", content=playlist(page="start")), 'start learn'),
    screen("A playlist with an unknown algorithm", at("playlist", content=playlist(page="learn", algorithm="gaga")), '1 gaga gaa'),
    screen("A playlist with a step beyond the last", at("playlist", content=playlist(page="learn", step=99)), '1 99 3'),
    screen("An interval of k that ends before it begins", at("interval", low=5, high=3), '5 3'),
    screen("An interval of k beyond the records", at("interval", low=2, high=7), '7 6'),
    screen("A population without a quasi-identifier", at("population", name="all.csv", content=b"age\n31\n"), 'sex'),
    screen("A population that is no table", at("population", name="all.xlsx", content=PICTURE), 'all.xlsx'),
    screen("A population that lacks people of the table", at("population", name="all.csv", content=b"age,sex\n31,F\n"), '3'),
    screen("A text of a report that is too long", at("text of a report", name="purpose", text="x" * 5001), '5 001'),
    screen("No path", at("path", typed=""), 'table database'),
    screen("A path where nothing is", at("path", typed="nothing.parquet"), 'nothing.parquet'),
    screen("A path outside of the folder for tables", at("path", typed="/etc/passwd"), '/etc/passwd'),
    screen("A database while connections are switched off", at("path", typed="postgres://host/data#people"), 'Connections databases'),
    screen("A URL of another kind", at("path", typed="https://host/people.csv"), 'https://'),
]
# fmt: on

SECTIONS = [
    Section(
        "Tables",
        "The library reads the file, the command line runs a plan on it, in the app it is uploaded on *Data*.",
        TABLES,
        (TableError,),
    ),
    Section(
        "Hierarchy files",
        "The library reads the file, `hierarchy check` does, in the app it is loaded on *Hierarchies*. In a plan "
        "or on *Data* the column stands before the sentence.",
        TREES,
        (HierarchyError,),
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
        (PlanError, HierarchyError),
    ),
    Section(
        "What does not fit the table",
        "Plans that are good for another table. In the app the same is chosen by roles, builders and settings.",
        UNFIT,
        (PlanError, HierarchyError, CoverageError, TableError, MetricError),
    ),
    Section(
        "What no release can meet",
        "The command line ends with the status 3.",
        BEYOND,
        (Unsatisfiable,),
    ),
    Section(
        "Several k",
        "The library sweeps over them, `sweep --k` does, in the app they are typed on *Utility*.",
        SWEEPS,
        (PlanError, Unsatisfiable),
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
        (ExerciseError, MetricError, CoverageError, PlanError, HierarchyError),
    ),
    Section(
        "Files of studies",
        "The library reads the file, `simulate --state` goes on with it, the page *Decide* loads it.",
        STUDIES,
        (StudyError,),
    ),
    Section(
        "The greatest k with other models",
        "The library and `reverse` take a plan.",
        REVERSED,
        (PlanError, Unsatisfiable),
    ),
    Section("Where a release goes", "`run --out`.", OUTPUTS, (TableError,)),
    Section("Further options of the command line", "", CALLS),
    Section("Further fields of the app", "What was typed stays in its field.", SCREENS),
]

ABOUT = """# Bad inputs

What kanon says to each, along the three ways in: the library (an exception with that `sentence`), the command
line (on standard error after `kanon: `, with the exit status 2 unless another one is given), and the app (beside
what was typed or loaded). tests/studio/test_bad_inputs.py takes every input along every way it can take, and holds that
each answer is one sentence that names what is wrong and what is allowed, that no traceback appears, that no file is written or changed, and that all the
session worked on before is still there: table, roles, hierarchies, settings, result.

`make bad-inputs` writes this page from tests/support/bad_inputs.py and from what was said to each input.
"""

ROUTES = {"library": "Library", "command": "Command line", "app": "App"}

Said = dict[tuple[str, str, str], str]
"""What was said, by the title of a section, the name of a case and a route."""


def page(said: Said) -> str:
    """The page of all cases."""
    return "\n".join([ABOUT, *(_section(section, said) for section in SECTIONS)])


def plain(text: str) -> str:
    """A text as it stands in a table of Markdown."""
    for mark in "\\*_|<`":
        text = text.replace(mark, f"\\{mark}")
    return text


def _section(section: Section, said: Said) -> str:
    rows = [_row(section, case, said) for case in section.cases]
    about = f"{section.about}\n\n" if section.about else ""
    table = "\n".join(["| input | sentence |", "|---|---|", *rows])
    return f"## {section.title}\n\n{about}{table}\n"


def _row(section: Section, case: Case, said: Said) -> str:
    """A case: what all say, or what each says, and why some cannot."""
    texts: dict[str | Never, list[str]] = {}
    for route, name in ROUTES.items():
        never = case.words(route)
        text = never if isinstance(never, Never) else said[section.title, case.name, route]
        texts.setdefault(text, []).append(name)
    parts = [_cell(text, names, alone=len(texts) == 1) for text, names in texts.items()]
    return f"| {plain(case.name)} | {'<br>'.join(parts)} |"


def _cell(text: str | Never, names: list[str], alone: bool) -> str:
    who = " and ".join(names)
    who = who[0] + who[1:].replace("A", "a").replace("C", "c")
    if isinstance(text, Never):
        return f"*{who}: cannot occur, as {plain(text.why)}.*"
    return plain(text) if alone else f"{who}: {plain(text)}"
