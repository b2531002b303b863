"""The released file, and the fingerprints that identify it, the input and the plan."""

import hashlib
import importlib.metadata
import json
import platform
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd

from kanon import __version__
from kanon.errors import ReleaseError, quote
from kanon.hierarchy import Hierarchy
from kanon.hierarchy.files import to_nodes
from kanon.plan import Plan
from kanon.release.record import Recorder, compute_path_fingerprint, get_record_file
from kanon.run import Run
from kanon.run.preparation import list_distance_columns
from kanon.schema import Role
from kanon.sources.addresses import Address
from kanon.sources.formats import FORMATS, find_format, read_back
from kanon.sources.read_back import UNREADABLE
from kanon.sources.reading import read_file_content
from kanon.sources.separators import describe_separator
from kanon.sources.tables import Table
from kanon.sources.text_form import FORMS, PLAIN, TextForm
from kanon.sources.writing import table_bytes


@dataclass(frozen=True, eq=False)
class ReleasedFile:
    """The bytes of a release, its kind and form, the rows in it, and what it leaves out."""

    content: bytes
    kind: str
    form: TextForm
    rows: pd.DataFrame
    remark: str = ""

    @property
    def how_read(self) -> dict[str, str]:
        """The separator and the encoding of a text file, by the keys of a plan's ``read``."""
        file_format = FORMATS[self.kind]
        form = file_format.set_separator(self.form)
        reading = {"separator": form.separator, "encoding": form.encoding}
        return reading if file_format.cells == "text" else {}

    @property
    def fingerprint(self) -> tuple[str, str]:
        """What the fingerprint is of, in words, and the SHA-256 of the bytes."""
        reading = self.how_read
        note = (
            f" ({describe_separator(reading['separator'])}, {reading['encoding'].upper()})"
            if reading
            else ""
        )
        title = f"Release: the bytes of its {self.kind.upper()}{note}{self.remark}"
        return title, hashlib.sha256(self.content).hexdigest()

    @property
    def row_counts(self) -> Counter[tuple[Any, ...]]:
        """How often each row occurs in the file, its header too; nothing if it is not readable."""
        try:
            contents = read_back(self.content, self.kind, self.form.separator, self.form.encoding)
        except UNREADABLE:
            return Counter()
        columns = [(name, *cells.to_pylist()) for name, cells in zip(*contents, strict=True)]
        return Counter(zip(*(column for column in columns if column[0] in self.rows), strict=True))


def build_released_file(run: Run, path: Path | None = None) -> ReleasedFile:
    """The file that was given out, in any form that kanon writes; without one, a plain CSV."""
    pseudonyms = list(run.prepared.source.pseudonyms)
    rows = run.released(index=True)
    bare = rows.drop(columns=pseudonyms)
    if path is None:
        remark = ", without its columns of pseudonyms, which are drawn anew each time"
        content = table_bytes(bare, "csv")
        return ReleasedFile(content, "csv", PLAIN, bare, remark if pseudonyms else "")
    kind, content_given = find_format(path.name).name, read_file_content(path)
    own = getattr(run.prepared.source.table, "form", PLAIN)
    for form, neutral in product(map(run.fitting, (*FORMS.values(), own)), (False, True)):
        written = ReleasedFile(table_bytes(bare, kind, form, neutral), kind, form, bare)
        if written.row_counts == ReleasedFile(content_given, kind, form, bare).row_counts:
            return ReleasedFile(content_given, kind, form, rows)
    raise ReleaseError(f"{quote(path.name)} does not hold the release of this plan and table.")


_LIBRARIES = ("numpy", "pandas", "numba", "scipy", "pyarrow", "duckdb", "pydantic", "plotly")
"""What a release depends on, and its check and pictures."""

_FILE_BYTES = "the bytes of the input file"


@dataclass(frozen=True)
class Origin:
    name: str  # what it is called
    sha256: str  # its fingerprint
    of: str  # what that is the SHA-256 of


def get_file_origin(path: Path) -> Origin:
    """The fingerprint of a file, by its bytes."""
    return Origin(path.name, compute_path_fingerprint(path), _FILE_BYTES)


def get_content_origin(content: bytes, name: str) -> Origin:
    """The fingerprint of a file that was read already; the same as of the file itself."""
    return Origin(name, _hash_bytes(content), _FILE_BYTES)


def get_table_origin(table: Table, name: str = "a table in memory") -> Origin:
    """The fingerprint of a table that has no file of its own, by its cells as CSV."""
    table = table.unrepaired
    cells = table_bytes(table.head(table.n_records), "csv")
    return Origin(name, _hash_bytes(cells), "the cells of the table in memory, as CSV")


def collect_fingerprints(
    run: Run, origin: Origin, release: ReleasedFile
) -> tuple[tuple[str, str], ...]:
    """The fingerprints of the input, the plan, the hierarchies and the release, with titles."""
    classes = run.prepared.classes
    trees = zip(classes.attributes, classes.hierarchies, strict=True)
    coarsened = {coarsening.column: coarsening.tree for coarsening in run.prepared.coarsened}
    return (
        (f"Input: {origin.of}", origin.sha256),
        ("Plan: as kanon writes it", compute_plan_fingerprint(run.prepared.plan)),
        (
            "Hierarchies: their nodes as JSON",
            compute_hierarchies_fingerprint({**dict(trees), **run.prepared.distances, **coarsened}),
        ),
        release.fingerprint,
    )


def compute_hierarchies_fingerprint(trees: Mapping[str, Hierarchy]) -> str:
    """The fingerprint of hierarchies by their columns."""
    nodes = {column: to_nodes(tree) for column, tree in trees.items()}
    return _hash_bytes(json.dumps(nodes, sort_keys=True).encode())


def build_recorder(
    plan: Plan, table: Callable[[], str | None], user: str, interface: str
) -> Recorder | None:
    """The writer of the operator's record of releases; None if there is no such record."""
    if get_record_file() is None:
        return None
    return Recorder(user, interface, table(), compute_plan_fingerprint(plan), plan.k)


def compute_address_fingerprint(address: Address) -> str | None:
    """The fingerprint of the file or folder that a table is in; None of a server's."""
    return None if address.is_url else compute_path_fingerprint(address.path)


def compute_plan_fingerprint(plan: Plan) -> str:
    """The fingerprint of a plan, however its file was laid out."""
    return _hash_bytes(write_canonical_plan(plan).encode("utf-8"))


def write_canonical_plan(plan: Plan) -> str:
    """A plan as kanon writes it, however its file was laid out."""
    columns = {
        name: column
        if column.role is Role.QUASI_IDENTIFIER
        or name in (*plan.coarsened, *list_distance_columns(plan))
        else column.model_copy(update={"hierarchy": None})
        for name, column in plan.columns.items()
    }
    return plan.model_copy(update={"columns": columns}).to_json()


def list_versions() -> tuple[tuple[str, str], ...]:
    """The versions of kanon, Python, and the libraries that a release depends on."""
    libraries = [(name, importlib.metadata.version(name)) for name in _LIBRARIES]
    return (("kanon", __version__), ("Python", platform.python_version()), *libraries)


def _hash_bytes(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
