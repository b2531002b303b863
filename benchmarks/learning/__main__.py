"""Measure and write docs/figures/utility.md with its pictures."""

from __future__ import annotations

import os
import sys

from benchmarks.case import CaseError
from benchmarks.learning.measured import measure
from benchmarks.learning.page import PAGE, page
from benchmarks.learning.pictures import draw

if __name__ == "__main__":
    # Two studies go side by side, so each has one core.
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"
    try:
        found = measure(workers=2)
        text = page(found)
        draw(found)
        PAGE.write_text(text, "utf-8")
    except CaseError as error:
        sys.exit(str(error))
    print(f"Written: {PAGE}, {found.seconds:.0f} s of the processor")
