"""By which fingerprints the input, the plan and the output of a release are known again."""

import hashlib
import importlib.metadata
import json
import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from kanon import __version__
from kanon.hierarchy import Hierarchy
from kanon.hierarchy.files import to_nodes
from kanon.plan import Plan
from kanon.release.record import Recorder, fingerprint_of_path, record_file
from kanon.report.released_file import ReleasedFile
from kanon.run import Run
from kanon.schema import Role
from kanon.sources.addresses import Address
from kanon.sources.tables import Table
from kanon.sources.writing import table_bytes

_LIBRARIES = ("numpy", "pandas", "numba", "scipy", "pyarrow", "duckdb", "pydantic", "plotly")
"""What a release depends on, and its check and pictures."""

_BYTES = "the bytes of the input file"


@dataclass(frozen=True)
class Origin:
    name: str  # what it is called
    sha256: str  # its fingerprint
    of: str  # what that is the SHA-256 of


def origin_of_file(path: Path) -> Origin:
    """The fingerprint of a file, by its bytes."""
    return Origin(path.name, fingerprint_of_path(path), _BYTES)


def origin_of_content(content: bytes, name: str) -> Origin:
    """The fingerprint of a file that was read already; the same as of the file itself."""
    return Origin(name, _sha256(content), _BYTES)


def origin_of_table(table: Table, name: str = "a table in memory") -> Origin:
    """The fingerprint of a table that has no file of its own, by its cells as CSV."""
    cells = table_bytes(table.head(table.n_records), "csv")
    return Origin(name, _sha256(cells), "the cells of the table in memory, as CSV")


def hashes_of(done: Run, origin: Origin, release: ReleasedFile) -> tuple[tuple[str, str], ...]:
    """What each fingerprint is of, and the fingerprint: of the input, the plan and the release."""
    classes = done.prepared.classes
    trees = zip(classes.attributes, classes.hierarchies, strict=True)
    coarsened = {one.column: one.tree for one in done.prepared.coarsened}
    return (
        (f"Input: {origin.of}", origin.sha256),
        ("Plan: as kanon writes it", fingerprint_of_plan(done.prepared.plan)),
        ("Hierarchies: their nodes as JSON", fingerprint_of_trees({**dict(trees), **coarsened})),
        release.fingerprint,
    )


def fingerprint_of_trees(trees: Mapping[str, Hierarchy]) -> str:
    """The fingerprint of hierarchies by their columns."""
    nodes = {column: to_nodes(tree) for column, tree in trees.items()}
    return _sha256(json.dumps(nodes, sort_keys=True).encode())


def recorder(plan: Plan, table: Callable[[], str | None], who: str, by: str) -> Recorder | None:
    """What writes a release into the operator's record; None if nobody asks for one."""
    if record_file() is None:
        return None
    return Recorder(who, by, table(), fingerprint_of_plan(plan), plan.k)


def fingerprint_of_address(address: Address) -> str | None:
    """The fingerprint of the file or folder that a table is in; None of a server's."""
    return None if address.is_url else fingerprint_of_path(address.path)


def fingerprint_of_plan(plan: Plan) -> str:
    """The fingerprint of a plan, however its file was laid out."""
    return _sha256(canonical_plan(plan).encode("utf-8"))


def canonical_plan(plan: Plan) -> str:
    """A plan as kanon writes it, however its file was laid out."""
    columns = {
        name: column
        if column.role is Role.QUASI_IDENTIFIER or name in plan.coarsened
        else column.model_copy(update={"hierarchy": None})
        for name, column in plan.columns.items()
    }
    return plan.model_copy(update={"columns": columns}).to_json()


def versions() -> tuple[tuple[str, str], ...]:
    """The versions of kanon, Python, and the libraries that a release depends on."""
    libraries = [(name, importlib.metadata.version(name)) for name in _LIBRARIES]
    return (("kanon", __version__), ("Python", platform.python_version()), *libraries)


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
