"""Measure some parts or all of them, keep the last figures of the others, write the page."""

from __future__ import annotations

import argparse
import sys
import time

from benchmarks.case import CaseError
from benchmarks.reliability.figures import PAGE, keep, kept
from benchmarks.reliability.page import page
from benchmarks.reliability.parts import PARTS

if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reliability", description=__doc__)
    parser.add_argument("part", nargs="*", help=f"one of {', '.join(PARTS)}, or page; all if none")
    parser.add_argument("--sessions", type=int, help="fewer sessions than a class has")
    parser.add_argument("--seconds", type=float, help="less time than a class takes")
    given = parser.parse_args()
    chosen = given.part or list(PARTS)
    smaller = {name: value for name, value in vars(given).items() if value and name != "part"}
    if smaller and chosen != ["classroom"]:
        parser.error("--sessions and --seconds belong to the part classroom alone")
    if unknown := [name for name in chosen if name not in (*PARTS, "page")]:
        parser.error(f"there is no part {unknown[0]!r}")
    for name in chosen:
        if name in PARTS:
            began = time.perf_counter()
            try:
                keep(name, PARTS[name](**smaller))
            except CaseError as error:
                sys.exit(str(error))
            print(f"{name}: {time.perf_counter() - began:.0f} s", flush=True)
            PAGE.write_text(page(kept()), "utf-8")
    PAGE.write_text(page(kept()), "utf-8")
    print(f"Written: {PAGE}")
