"""The script that a recipient runs, and an archive to run it in."""

import io
import zipfile
from pathlib import Path
from types import ModuleType

from kanon.report.archive import build_archive_file, write_check
from kanon.report.origin import ReleasedFile
from kanon.run import Run
from kanon.sources.text_form import PLAIN
from kanon.sources.writing import table_bytes
from support.reports import DAY

SCRIPT = ModuleType("check")
exec(compile(write_check(), "check.py", "exec"), SCRIPT.__dict__)


def unpack_archive(done: Run, folder: Path) -> Path:
    """The folder with the archive of a release as CSV."""
    rows = done.released()
    file = ReleasedFile(table_bytes(rows, "csv"), "csv", PLAIN, rows)
    with zipfile.ZipFile(io.BytesIO(build_archive_file(done, file, DAY))) as found:
        found.extractall(folder)
    return folder
