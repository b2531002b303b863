"""The archive of a release for who receives it: all that is needed to check it without kanon.

It is for the recipient, not for the house: all in it follows from the released file, the groups of
the hierarchies that the file uses, and what somebody typed. So the plan in it says what was asked
for and is not made to be run; the report is the one for publication.
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

import kanon.privacy
from kanon import __version__
from kanon.base.checked_json import write_json
from kanon.cards import parts_of
from kanon.privacy.plans import RECOUNTS
from kanon.release import cell_values
from kanon.report import recipients_check
from kanon.report.origin import ReleasedFile
from kanon.report.public import figures_of, public_report
from kanon.report.rendering import rendered
from kanon.run import Run

_README = """\
An anonymised table, and what is needed to check it without kanon, the program that made it
(version {version}).

{released}
    The table.
plan.json
    What was asked of it: the role of each column, the privacy models, the groups of hierarchies
    that the table uses, with how many values each stands for, and how the file is read. It cannot
    be run; whoever made the release has the whole plan.
report.html
    What was checked, what was reached and what was not considered. It opens offline.
check.py
    Reckons from the table alone what each model reaches. Read it, it is short; then run, in this
    folder, with Python 3.11 or later and pandas (pip install pandas openpyxl pyarrow):

        python check.py

SHA256SUMS
    The fingerprints of these files; check.py compares them, and so does: sha256sum -c SHA256SUMS
    They tell of damage. Against somebody who alters the files, and this one with them, compare the
    fingerprint of the table with the one that the sender tells you by another way.

Of the original table the archive tells no more than {released} does, but for the names of its
columns, those of left-out identifiers too{figures}.

Met privacy models are no proof that nobody can be recognised: the end of what check.py prints, and
the report, say what was not considered.
"""


@cache
def write_check() -> str:
    """The script check.py: where its module imports from kanon, it has the source of that."""
    models = []
    for name, (recount, folds) in RECOUNTS.items():
        source = f'{inspect.getsource(recount)}\n\nRECOUNTS["{name}"] = recount, {folds}\n'
        models.append((parts_of(kanon.privacy)[name], source))
    table = "# Per model what reckons it, and whether values that read alike count as one.\n"
    table += "RECOUNTS: dict[str, tuple[Any, bool]] = {}\n"
    values, rest = _after_imports(cell_values), _after_imports(recipients_check)
    pieces = [(cell_values, values), *models, (recipients_check, table), (recipients_check, rest)]
    used = {line for module, source in pieces for line in _imports_for(source, module)}
    imports = "\n".join(sorted(used, key=lambda line: (line.startswith("from"), line)))
    described = f'"""{recipients_check.__doc__}"""\n\n{imports}\n\n'
    return described + "\n\n".join([values, table, *(source for _, source in models), rest])


def _after_imports(module: ModuleType) -> str:
    source = inspect.getsource(module)
    body = ast.parse(source).body[1:]
    first = next(node for node in body if not isinstance(node, ast.Import | ast.ImportFrom))
    return "".join(source.splitlines(keepends=True)[first.lineno - 1 :])


def _imports_for(source: str, module: ModuleType) -> Iterator[str]:
    """The imports of a module, but for those of kanon, that a piece of its source needs."""
    used = {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}
    for node in ast.parse(inspect.getsource(module)).body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            line = ast.unparse(node)
            for alias in node.names:
                if (alias.asname or alias.name) in used and "kanon" not in line:
                    node.names = [alias]
                    yield ast.unparse(node)


def archive(
    done: Run, file: ReleasedFile, date: datetime.date, publish: Sequence[str] = ()
) -> bytes:
    """A zip of a release, what was asked of it, its report, its checksums and what checks it."""
    report = public_report(done, file, date).with_figures(figures_of(done), publish)
    name, plan = f"released.{file.kind}", json.loads(report.plan)
    plan["read"] |= file.how_read
    figures = f", and what was chosen to be told: {', '.join(report.figures)}"
    told = {"released": name, "figures": figures if report.figures else ""}
    members = {
        name: file.content,
        "plan.json": write_json(plan).encode("utf-8"),
        "report.html": rendered(report),
        "check.py": write_check().encode("utf-8"),
        "README.txt": _README.format(version=__version__, **told).encode("utf-8"),
    }
    sums = (f"{hashlib.sha256(each).hexdigest()}  {path}\n" for path, each in members.items())
    members["SHA256SUMS"] = "".join(sums).encode("ascii")
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as packed:
        for path, content in members.items():
            entry = zipfile.ZipInfo(path)  # of 1980, whenever it is made
            entry.external_attr = 0o644 << 16
            packed.writestr(entry, content, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()
