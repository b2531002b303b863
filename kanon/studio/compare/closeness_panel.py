"""How far each line is at most from the least loss that is possible, at the k of the cursor."""

from collections.abc import Hashable
from dataclasses import dataclass, replace

import pandas as pd
import streamlit as st

from kanon.base.formatting import percent, thin
from kanon.experiments.comparison import Comparison
from kanon.experiments.criteria import SUPPRESSED_CARD
from kanon.report.optimality_gap import QUICKLY, OptimalityGap, may_show_ranges, why_no_bound
from kanon.run import PreparedRun, prepare
from kanon.studio.jobs.comparison import ComparisonState
from kanon.studio.jobs.configurations import PlannedLine
from kanon.studio.jobs.lower_bounds import BoundWanted
from kanon.studio.session import state
from kanon.studio.session.text import plain
from kanon.studio.session.work import Work
from kanon.studio.widgets.how import how_bound
from kanon.studio.widgets.numbers import closer_button, found_soon
from kanon.studio.widgets.picture import data_button

_UNKNOWN = "–"

_ASKED_FOR = 10 * QUICKLY
"""Up to so much effort bounds are found once somebody opens the table, in about ten seconds."""


@dataclass(frozen=True, eq=False)
class BoundedLine:
    """A line, the bound to look for, and what it loses as its metric counts."""

    line: PlannedLine
    prepared: PreparedRun
    wanted: BoundWanted
    lost: float | None  # None where the bound does not hold for it, or it was not measured
    suppresses: bool  # whether its release leaves out records

    @property
    def gap(self) -> OptimalityGap | None:
        """How far it is from the bound; None as long as that is not known."""
        known = state.work().findings.bounds.get(self.wanted.key)
        if known is None:
            return None
        return OptimalityGap.at(self.prepared, self.lost, self.suppresses, known.bound)


def closeness(
    work: Work, seen: ComparisonState, comparison: Comparison, k: int, key: Hashable, about: str
) -> None:
    """Per line what it loses, as the metric counts that guides it, beside the lower bound."""
    if seen.comparison is None:
        st.info("Press Compare first: the lines above are of earlier settings.")
        return
    lines = state.remembered("bounded", (key, k), lambda: _bounded(work, seen, comparison, k))
    if said := next(filter(None, (why_no_bound(one.prepared.classes) for one in lines)), ""):
        st.info(plain(said))
        return
    wanted = [one.wanted for one in lines]
    found_soon(wanted, most=_ASKED_FOR)
    st.caption(
        f"At k = {thin(k)}: what each loses, as the metric counts that guides it; what no "
        "release by its hierarchies, of any tool, can lose less than, of those that keep "
        "every record where it does; and how much more than the least possible it loses at "
        "most."
    )
    st.table(_shown(lines).set_index("Configuration"))
    if any(one.lost is None for one in lines):
        st.caption(
            f"{_UNKNOWN}: its releases show ranges, or are measured by other hierarchies than "
            "its own or not by its metric, so the bound says nothing about them."
        )
    closer_button(wanted, "compare")
    known = [gap for one in lines if (gap := one.gap) is not None]
    data_button("Data of the bounds", lambda: _numbers(lines, k), "bounds", f"{about}|{k}|{known}")
    for gap in known[:1]:
        st.caption(how_bound(gap))


def _bounded(
    work: Work, seen: ComparisonState, comparison: Comparison, k: int
) -> list[BoundedLine]:
    """Every line with what its bound is of: its hierarchies, its metric and k, no other model."""
    grounds: dict[str, PreparedRun] = {}
    found = []
    for line in seen.lines:
        ground = line.ground
        if ground.digest not in grounds:
            grounds[ground.digest] = prepare(ground.plan, work.table.records)
        plan = ground.plan.model_copy(update={"algorithm": line.plan.algorithm}).with_k(k)
        prepared = replace(grounds[ground.digest], plan=plan)
        made, measured = comparison.line(line.name), [one.name for one in comparison.measured]
        lost = None
        holds = line.yardstick is None and not may_show_ranges(line.plan)
        if holds and line.guide.name in measured:
            lost = float(made.at(f"alteration_{line.guide.name}", [k], comparison.sensitive)[0, 0])
        gone = bool(made.at(SUPPRESSED_CARD.name, [k], comparison.sensitive)[0, 0])
        found.append(BoundedLine(line, prepared, BoundWanted.of(prepared), lost, gone))
    return found


def _shown(lines: list[BoundedLine]) -> pd.DataFrame:
    rows = []
    for one in lines:
        gap = one.gap
        least, far = ("", "") if gap is None else (gap.least_said, gap.at_most)
        rows.append(
            {
                "Configuration": plain(one.line.title),
                "Counted by": plain(one.line.guide.card.title),
                "Loses ↓": _UNKNOWN if one.lost is None else percent(one.lost),
                "No release below": least or _UNKNOWN,
                "How far above the least, at most ↓": far or _UNKNOWN,
            }
        )
    return pd.DataFrame(rows)


def _numbers(lines: list[BoundedLine], k: int) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "configuration": one.line.title,
            "metric": one.line.guide.name,
            "k": k,
            "alteration": one.lost,
            "lower_bound": None if (gap := one.gap) is None else gap.least,
        }
        for one in lines
    )
