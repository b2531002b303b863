"""The archive of a release for who receives it: all that is needed to check it without kanon.

It is for the recipient, not for the house: all in it follows from the released file, the groups of
the hierarchies that the file uses, and what somebody typed. So the plan in it says what was asked
for and is not made to be run; the report is the one for publication.
"""

from __future__ import annotations

import datetime
import hashlib
import io
import json
import zipfile
from collections.abc import Sequence
from importlib import resources

from kanon import __version__
from kanon.report.public import figures_of, public_report
from kanon.report.released_file import ReleasedFile
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


def archive(
    done: Run, file: ReleasedFile, date: datetime.date, publish: Sequence[str] = ()
) -> bytes:
    """A zip of a release, what was asked of it, its report, its checksums and what checks it."""
    report = public_report(done, file, date).with_figures(figures_of(done), publish)
    name, plan = f"released.{file.kind}", json.loads(report.plan)
    plan["read"] |= file.how_read
    check = resources.files("kanon.report").joinpath("recipients_check.py").read_bytes()
    figures = f", and what was chosen to be told: {', '.join(report.figures)}"
    told = {"released": name, "figures": figures if report.figures else ""}
    members = {
        name: file.content,
        "plan.json": (json.dumps(plan, ensure_ascii=False, indent=2) + "\n").encode("utf-8"),
        "report.html": rendered(report),
        "check.py": check,
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
