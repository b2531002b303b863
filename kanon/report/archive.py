"""The archive of a release for its recipient: all that is needed to check it without kanon.

Everything in it follows from the released file, the hierarchy groups that the file uses, and typed
texts. So its plan states requirements and cannot be run; its report is the one for publication.
"""

import ast
import datetime
import hashlib
import inspect
import io
import json
import zipfile
from collections.abc import Iterator, Sequence
from functools import cache
from types import ModuleType

from kanon import __version__
from kanon.base.checked_json import write_json
from kanon.privacy.plans import COUNTED_MODELS, RECOUNTS
from kanon.release import cell_values
from kanon.report import recipients_check
from kanon.report.origin import ReleasedFile
from kanon.report.public import build_public_report, list_publishable_figures
from kanon.report.rendering import render_report
from kanon.run import Run

_README = """\
An anonymised table, and what you need to check it without kanon, the program that made it
(version {version}).

{released}
    The table.
plan.json
    What was required of the table: the role of each column, the privacy models, the groups of the
    hierarchies that the table uses (with the number of values in each group), and how to read the
    file. It cannot be run; the people who made the release have the full plan.
report.html
    What was checked, what was reached and what was not considered. It opens offline.
check.py
    Calculates, from the released table alone, how far it meets each model. It is short: read it
    first. Then run it in this folder, with Python 3.11 or later and pandas (pip install pandas
    openpyxl pyarrow):

        python check.py

SHA256SUMS
    The SHA-256 fingerprints of these files. check.py compares them, and so does: sha256sum -c
    SHA256SUMS
    They reveal damage. Anyone who alters the files can alter this list too: to be sure, compare the
    fingerprint of the table with the one that the sender gives you by another route.

The archive reveals no more about the original table than {released} does, except for the names of
its columns, including identifiers that were left out{figures}.

Meeting the privacy models does not prove that nobody can be recognised. The report and the last
lines that check.py prints say what was not considered.
"""


@cache
def write_check() -> str:
    """The script check.py: where its module imports from kanon, it has the source of that."""
    models = []
    for name, (recount, folds) in RECOUNTS.items():
        source = f'{inspect.getsource(recount)}\n\nRECOUNTS["{name}"] = recount, {folds}\n'
        models.append((COUNTED_MODELS[name], source))
    table = (
        "# Per model: the function that counts it; whether values that read alike are one, None\n"
    )
    table += "# if it is about the whole release.\n"
    table += "RECOUNTS: dict[str, tuple[Any, bool | None]] = {}\n"
    values, rest = _get_code_after_imports(cell_values), _get_code_after_imports(recipients_check)
    pieces = [(cell_values, values), *models, (recipients_check, table), (recipients_check, rest)]
    import_lines = {line for module, source in pieces for line in _find_imports(source, module)}
    imports = "\n".join(sorted(import_lines, key=lambda line: (line.startswith("from"), line)))
    header = f'"""{recipients_check.__doc__}"""\n\n{imports}\n\n'
    return header + "\n\n".join([values, table, *(source for _, source in models), rest])


def _get_code_after_imports(module: ModuleType) -> str:
    source = inspect.getsource(module)
    body = ast.parse(source).body[1:]
    first = next(node for node in body if not isinstance(node, ast.Import | ast.ImportFrom))
    return "".join(source.splitlines(keepends=True)[first.lineno - 1 :])


def _find_imports(source: str, module: ModuleType) -> Iterator[str]:
    """The imports of a module, but for those of kanon, that a piece of its source needs."""
    names = {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}
    for node in ast.parse(inspect.getsource(module)).body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            line = ast.unparse(node)
            for alias in node.names:
                if (alias.asname or alias.name) in names and "kanon" not in line:
                    node.names = [alias]
                    yield ast.unparse(node)


def build_archive_file(
    run: Run, file: ReleasedFile, date: datetime.date, publish: Sequence[str] = ()
) -> bytes:
    """Zip a release with its requirements, its report, its fingerprints and the script check.py."""
    report = build_public_report(run, file, date).add_figures(
        list_publishable_figures(run), publish
    )
    name, plan = f"released.{file.kind}", json.loads(report.plan)
    plan["read"] |= file.how_read
    figures = f", and the figures chosen for publication: {', '.join(report.figures)}"
    holes = {"released": name, "figures": figures if report.figures else ""}
    members = {
        name: file.content,
        "plan.json": write_json(plan).encode("utf-8"),
        "report.html": render_report(report),
        "check.py": write_check().encode("utf-8"),
        "README.txt": _README.format(version=__version__, **holes).encode("utf-8"),
    }
    sums = (f"{hashlib.sha256(member).hexdigest()}  {path}\n" for path, member in members.items())
    members["SHA256SUMS"] = "".join(sums).encode("ascii")
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as zip_file:
        for path, content in members.items():
            entry = zipfile.ZipInfo(path)  # of 1980, whenever it is made
            entry.external_attr = 0o644 << 16
            zip_file.writestr(entry, content, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()
