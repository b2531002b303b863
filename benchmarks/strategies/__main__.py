"""Measure and write docs/figures/strategies.md."""

from __future__ import annotations

import sys

from benchmarks.case import CaseError
from benchmarks.plans import adult_path
from benchmarks.strategies.measured import measure
from benchmarks.strategies.page import PAGE, page
from kanon.sources.opening import open_table

if __name__ == "__main__":
    try:
        table = open_table(adult_path()).table
        found = measure(table)
        PAGE.write_text(page(found, len(table)), "utf-8")
    except CaseError as error:
        sys.exit(str(error))
    print(f"Written: {PAGE}, {found.seconds:.0f} s")
