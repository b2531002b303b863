"""docs/figures/simulated.md: the text of page.md with its figures filled in."""

from __future__ import annotations

from itertools import product
from pathlib import Path

from benchmarks.claims import check_claims
from benchmarks.fidelity.page import checksum
from benchmarks.fresh import ROOT
from benchmarks.markdown import thousands
from benchmarks.provenance import made
from benchmarks.simulated import claims, tables
from benchmarks.simulated.measured import AS_IT_FITS, GUIDES, Findings, areas
from benchmarks.simulated.published import MEANS
from kanon.experiments.simulated.study import CRITERIA, STRATEGIES
from kanon.strategies import SCOPES

__all__ = ["PAGE", "page"]

PAGE = ROOT / "docs" / "figures" / "simulated.md"
TEXT = Path(__file__).with_name("page.md")


def page(found: Findings, records: int) -> str:
    """The whole page; ``records`` is the length of the Adult table.

    Raises
    ------
    CaseError
        The figures do not bear out a sentence.
    """
    check_claims(claims.CLAIMS, found)
    known = {guide: [tables.known(guide, name) for name in CRITERIA] for guide in GUIDES}
    read = {guide: sum(each for each, _ in known[guide]) for guide in GUIDES}
    moved, moved_rank = tables.moved(found)
    of_s5 = [
        -tables.apart(found, guide, "s5", "s5", scope)[0]
        for guide, scope in product(GUIDES, SCOPES)
    ]
    more = [
        tables.apart(found, guide, name, name, scope)[0]
        for guide, name, scope in product(GUIDES, ("s3", "s6"), SCOPES)
    ]
    fitting = [
        tables.agreement(found, guide, criterion, AS_IT_FITS)[1:]
        for guide, criterion in product(GUIDES, CRITERIA)
    ]
    return TEXT.read_text("utf-8").format(
        read=read,
        left={guide: sum(each for _, each in known[guide]) - read[guide] for guide in GUIDES},
        areas={guide: tables.mean_areas(found, guide) for guide in GUIDES},
        ranks={guide: tables.mean_ranks(found, guide) for guide in GUIDES},
        alike={guide: tables.alike(found, guide, "s1", "s2") for guide in GUIDES},
        moved=moved,
        moved_rank=moved_rank,
        distances=tables.distances(found),
        agreements={guide: tables.agreements(found, guide) for guide in GUIDES},
        s5=MEANS["nllm"][tables.S5],
        s6=areas(found.of("nllm", "class"))[STRATEGIES.index("s6")],
        s5_far=min(of_s5) - 0.5,  # rounded down: at least
        private={scope: tables.off(found, ("s3", "s6"), scope, (1, 2)) for scope in SCOPES},
        high={
            name: [MEANS[guide][STRATEGIES.index(name), 0] for guide in GUIDES]
            for name in ("s3", "s6")
        },
        unexplained=min(more) - 0.5,
        equal=sum(each for each, _ in fitting),
        known=sum(each for _, each in fitting),
        s7={scope: tables.off(found, ("s7",), scope) for scope in SCOPES},
        studies=len(found.studies),
        minutes=max(1.0, found.seconds / 60),
        made="\n".join(made(PAGE, "numpy", "pandas", "numba")),
        records=thousands(records),
        checksum=checksum("adult"),
    )
