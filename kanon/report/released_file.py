"""The file of a release that a report is about: by its bytes the recipient knows it again."""

import hashlib
from collections import Counter
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd

from kanon.errors import ReleaseError, quoted
from kanon.run import Run
from kanon.sources.formats import FORMATS, find_format, read_back
from kanon.sources.read_back import UNREADABLE
from kanon.sources.reading import file_content
from kanon.sources.separators import shown
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
        its = FORMATS[self.kind]
        form = its.fit_form(self.form)
        known = {"separator": form.separator, "encoding": form.encoding}
        return known if its.cells == "text" else {}

    @property
    def fingerprint(self) -> tuple[str, str]:
        """What the fingerprint is of, in words, and the SHA-256 of the bytes."""
        how = self.how_read
        said = f" ({shown(how['separator'])}, {how['encoding'].upper()})" if how else ""
        title = f"Release: the bytes of its {self.kind.upper()}{said}{self.remark}"
        return title, hashlib.sha256(self.content).hexdigest()

    @property
    def row_counts(self) -> Counter[tuple[Any, ...]]:
        """How often each row occurs in the file, its header too; nothing if it is not readable."""
        try:
            read = read_back(self.content, self.kind, self.form.separator, self.form.encoding)
        except UNREADABLE:
            return Counter()
        columns = [(name, *cells.to_pylist()) for name, cells in zip(*read, strict=True)]
        return Counter(zip(*(one for one in columns if one[0] in self.rows), strict=True))


def file_of(done: Run, path: Path | None = None) -> ReleasedFile:
    """The file that was handed out, in any form that kanon writes; without one, a plain CSV."""
    pseudonyms = list(done.prepared.source.pseudonyms)
    rows = done.released(index=True)
    bare = rows.drop(columns=pseudonyms)
    if path is None:
        left = ", without its columns of pseudonyms, which are drawn anew each time"
        content = table_bytes(bare, "csv")
        return ReleasedFile(content, "csv", PLAIN, bare, left if pseudonyms else "")
    kind, given = find_format(path.name).name, file_content(path)
    own = getattr(done.prepared.source.table, "form", PLAIN)
    for form, neutral in product(map(done.fitting, (*FORMS.values(), own)), (False, True)):
        made = ReleasedFile(table_bytes(bare, kind, form, neutral), kind, form, bare).row_counts
        if made == ReleasedFile(given, kind, form, bare).row_counts:
            return ReleasedFile(given, kind, form, rows)
    raise ReleaseError(f"{quoted(path.name)} does not hold the release of this plan and table.")
