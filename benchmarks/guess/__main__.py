"""``python -m benchmarks.guess`` writes its known.json and docs/figures/advisor-guess.md."""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.case import CaseError
from benchmarks.claims import check_claims
from benchmarks.fresh import ROOT
from benchmarks.guess.claims import CLAIMS
from benchmarks.guess.measured import Answered, Finding, answered, findings, known_content
from benchmarks.guess.tables import known_tables
from benchmarks.markdown import table
from benchmarks.plans import adult_path
from benchmarks.provenance import made
from kanon.experiments.advisor.guessing import KNOWN, QUESTIONS, RIGHT, SHAPE

__all__ = ["PAGE", "main", "page"]

PAGE = ROOT / "docs" / "figures" / "advisor-guess.md"
TEXT = Path(__file__).with_name("page.md")


def main() -> int:
    """Try every way on every known table; returns the exit status, 2 if the page cannot be made."""
    try:
        adult_path()
        tables = [answered(known) for known in known_tables()]
        found = findings(tables)
        check_claims(CLAIMS, found)
    except CaseError as error:
        print(error, file=sys.stderr)
        return 2
    KNOWN.write_text(known_content(tables, found), "utf-8")
    PAGE.write_text(page(tables, found), "utf-8")
    print(f"Written: {KNOWN.relative_to(ROOT)}, {PAGE.relative_to(ROOT)}")
    return 0


def page(tables: list[Answered], found: dict[str, dict[str, Finding]]) -> str:
    """The page."""
    rows = []
    for question, each in found.items():
        own, usual = each["guess"], each["constant"]
        rows.append(
            [
                question, f"{own.right} of {own.tried}", f"{own.behind:.1f}",
                f"{usual.right} of {usual.tried}", f"{usual.behind:.1f}",
            ]
        )  # fmt: skip
    own = [each["guess"] for each in found.values()]
    usual = [each["constant"] for each in found.values()]
    return TEXT.read_text("utf-8").format(
        tables=len(tables),
        origins=len({one.origin for one in tables}),
        names="\n".join(f"- {one.name}" for one in tables),
        shape=", ".join(SHAPE),
        within=f"{RIGHT:g}",
        questions=len(QUESTIONS) * len({question.split()[0] for question in found}),
        right=sum(one.right for one in own),
        usual=sum(one.right for one in usual),
        tried=sum(one.tried for one in own),
        share=f"{100 * sum(one.right for one in own) / sum(one.tried for one in own):.0f}",
        rows=table(
            [
                "question",
                "guess right",
                "behind, points",
                "always the same right",
                "behind, points",
            ],
            rows,
        ),
        made="\n".join(made(PAGE, "numpy", "pandas", "numba")),
    )


if __name__ == "__main__":
    sys.exit(main())
