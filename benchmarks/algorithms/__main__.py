"""Measure and write docs/figures/algorithms.md."""

from __future__ import annotations

import sys

from benchmarks.algorithms.measured import measure
from benchmarks.algorithms.page import PAGE, page
from benchmarks.case import CaseError
from benchmarks.plans import adult_path
from kanon.sources.opening import open_table
from kanon.warm import load_kernels


def _tell(doing: str) -> None:
    print(doing, file=sys.stderr, flush=True)


if __name__ == "__main__":
    try:
        table = open_table(adult_path()).table
        load_kernels()  # what set-up has compiled is loaded
        found = measure(table, progress=_tell)
        PAGE.write_text(page(found), "utf-8")
    except CaseError as error:
        sys.exit(str(error))
    print(f"Written: {PAGE}, {found.seconds:.0f} s")
