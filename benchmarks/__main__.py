"""Run the benchmarks: ``python -m benchmarks`` runs all and writes docs/figures/benchmarks.md.

``python -m benchmarks NAME...`` runs some and prints them; ``--list`` says what there is.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence

from benchmarks.case import Case, CaseError, all_cases
from benchmarks.fresh import ROOT
from benchmarks.plans import adult_path
from benchmarks.provenance import machine, made

__all__ = ["main"]

PAGE = ROOT / "docs" / "figures" / "benchmarks.md"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what was asked for; returns the exit status, 2 if a case cannot run."""
    cases = all_cases()
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="cases to run; default: all")
    parser.add_argument("--list", action="store_true", help="list the cases")
    given = parser.parse_args(arguments)
    unknown = [name for name in given.names if name not in cases]
    if unknown:
        parser.error(f"there is no case {unknown[0]!r}; there are {', '.join(cases)}")
    if given.list:
        for case in cases.values():
            print(f"{case.name:20} {case.about}")
        return 0
    chosen = [cases[name] for name in dict.fromkeys(given.names)]
    for case in cases.values() if not chosen else ():
        if case.needs and case.needs not in os.environ:
            print(f"{case.name}: left out, as {case.needs} is not set", file=sys.stderr)
        else:
            chosen.append(case)
    try:
        if any(case.needs_adult for case in chosen):
            adult_path()  # said now rather than after minutes
        head = [] if given.names else [_head()]
        sections = [_section(case) for case in chosen]
    except CaseError as error:
        print(error, file=sys.stderr)
        return 2
    report = "\n\n".join([*head, *sections]) + "\n"
    if given.names:
        print(report, end="")
    else:
        PAGE.write_text(report, "utf-8")
        print(f"Written: {PAGE.relative_to(ROOT)}")
    return 0


def _section(case: Case) -> str:
    print(f"{case.name} …", file=sys.stderr, flush=True)
    started = time.perf_counter()
    found = case.run()
    minutes = (time.perf_counter() - started) / 60
    print(f"{case.name}: {minutes:.1f} minutes", file=sys.stderr, flush=True)
    return f"## {case.name}\n\n*{case.about}*\n\n{found}"


def _head() -> str:
    """What was measured, on which machine, when, and how to repeat it."""
    return "\n\n".join(
        [
            "# Benchmarks",
            "What kanon takes, each time beside a reference that was measured in the same run. "
            "Where a case names no other, it is the *plain scan* of tests/oracles/plain_scan.py, "
            "compiled by Numba as kanon is: it looks at every class for every merge. Both take the "
            "same merges, and every case that times both checks it.",
            "Times are in seconds, best / median / worst of several alternating repetitions after "
            "one that is not counted. Other processes may have run beside; a ratio is of the best.",
            "\n".join(
                [
                    f"- Machine: {machine()}",
                    *made(PAGE, "numpy", "numba", "pandas", "pyarrow"),
                    "- Repeat: `KANON_ADULT=… python -m benchmarks` writes this page; "
                    "`python -m benchmarks NAME` prints one case; `--list` names them; "
                    "for other tools see benchmarks/cases/tools.py",
                ]
            ),
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
