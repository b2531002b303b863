"""The archive of a release for who receives it: all that is needed to check it without kanon.

It is for the recipient, not for the house: nothing in it holds a value of the table that the
release does not show. So the plan in it says what was asked for, without the hierarchies that list
original values, and is not made to be run; the report is the one for publication.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from dataclasses import replace
from importlib import resources

from kanon import __version__
from kanon.errors import ReleaseError
from kanon.report.contents import Report
from kanon.report.origin import fingerprint_of_release
from kanon.report.public import for_publication
from kanon.report.rendering import rendered
from kanon.report.words import Words
from kanon.run import Run

_README = """\
An anonymised table, and what is needed to check it without kanon, the program that made it
(version {version}).

{released}
    The table.
plan.json
    What was asked of it: the role of each column, the privacy models and the algorithm. Original
    values are left out (the groups of hierarchies, the first and last value of intervals, markers
    of missing cells), so this plan cannot be run again; who made the release has the whole one.
report.html
    What was checked, what was lost and what was not considered. It opens offline.
check.py
    Reckons from the table alone what each model reaches. Read it, it is short; then run, in this
    folder, with Python 3.11 or later and pandas (pip install pandas openpyxl pyarrow):

        python check.py

SHA256SUMS
    The fingerprints of these files; check.py compares them, and so does: sha256sum -c SHA256SUMS
    They tell of damage. Against somebody who alters the files, and this one with them, compare the
    fingerprint of the table with the one that the sender tells you by another way.

Told of the original table, beside what the release shows: the names of all its columns, those of
left-out identifiers too, how many records and different values it had, and how exposed its records
were. No value of it that the release lacks is in the archive.

Met privacy models are no proof that nobody can be recognised: the end of what check.py prints, and
the report, say what was not considered.
"""


def archive(report: Report, done: Run, released: bytes, kind: str) -> bytes:
    """A zip of a release, what was asked of it, its report, its checksums and what checks it.

    Two archives of one release differ in the report's line with the date and the seconds alone.

    Parameters
    ----------
    report
        The report of the release, in either form; the words of people and the purpose are left
        out, as they were not written for who receives it.
    done
        The release, of a table in memory.
    released, kind
        Its file, and one of :data:`kanon.sources.writing.KINDS`.

    Raises
    ------
    ReleaseError
        The report is of another release.
    """
    if report.hashes[-1][1] != fingerprint_of_release(done):
        raise ReleaseError("The report is not of this release, so no archive is made.")
    public = for_publication(replace(report, words=Words(), decision=None))
    name = f"released.{kind}"
    check = resources.files("kanon.report").joinpath("recipients_check.py").read_bytes()
    members = {
        name: released,
        "plan.json": public.plan.encode("utf-8"),
        "report.html": rendered(public),
        "check.py": check,
        "README.txt": _README.format(version=__version__, released=name).encode("utf-8"),
    }
    sums = (f"{hashlib.sha256(each).hexdigest()}  {file}\n" for file, each in members.items())
    members["SHA256SUMS"] = "".join(sums).encode("ascii")
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as packed:
        for file, content in members.items():
            entry = zipfile.ZipInfo(file)  # of 1980, whenever it is made
            entry.external_attr = 0o644 << 16
            packed.writestr(entry, content, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()
