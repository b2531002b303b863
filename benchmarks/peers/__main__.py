"""Run the peers; write docs/figures/peers.md, and tests/oracles/peers.json for the tests."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from benchmarks.case import CaseError
from benchmarks.peers.agreements import compare_measures
from benchmarks.peers.algorithms import compare_datafly, compare_mdav, compare_mondrian
from benchmarks.peers.environments import make_environments
from benchmarks.peers.page import PAGE, page
from benchmarks.plans import adult_path

if __name__ == "__main__":
    try:
        adult_path()  # said now rather than after minutes
        make_environments()
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            found = (
                compare_measures(folder), compare_mondrian(folder, (5, 100)),
                compare_mdav(folder, 5, 1000), compare_datafly(folder),
            )  # fmt: skip
        PAGE.write_text(page(*found), "utf-8")
    except CaseError as error:
        sys.exit(str(error))
    print(f"Written: {PAGE}")
