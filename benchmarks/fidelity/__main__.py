"""Measure, write docs/figures/fidelity.md, and say whether the aims are met."""

from __future__ import annotations

import sys

from benchmarks.case import CaseError
from benchmarks.fidelity.measured import measure, readings
from benchmarks.fidelity.page import PAGE, aims, page
from benchmarks.plans import adult_path
from kanon.sources.opening import open_table

if __name__ == "__main__":
    try:
        table = open_table(adult_path()).table
    except CaseError as error:
        sys.exit(str(error))
    found = measure(table, readings())
    PAGE.write_text(page(found, table.shape), "utf-8")
    print(f"Written: {PAGE}", *aims(found), sep="\n")
