"""The verdicts on one release for all who might get it, side by side."""

from collections.abc import Mapping

import pandas as pd

from kanon.errors import quote
from kanon.release.attack_and_use import AttackAndUse
from kanon.release.context import AUDIENCES, Context, Release, list_recipient_contexts
from kanon.release.decision import Decision, ReachedNumbers, compare_with_thresholds
from kanon.release.threshold_cards import THRESHOLD_CARDS


def decide_for_recipients(
    context: Context, reached: ReachedNumbers, measured: AttackAndUse
) -> dict[Release, Decision]:
    """The decision for each kind of recipients; what was set by hand counts for its own alone."""
    return {
        release: compare_with_thresholds(own, reached, *measured)
        for release, own in list_recipient_contexts(context).items()
    }


def describe_recipients_verdict(decision: Decision) -> str:
    """The recipients, how many thresholds are met, and which are not."""
    unmet = [
        f"{part.threshold.card.title}{f', {quote(part.column)}' if part.column else ''} "
        f"({part.verdict})"
        for part in decision.parts
        if not part.met
    ]
    listed = f": {'; '.join(unmet)}" if unmet else ""
    return f"{AUDIENCES[decision.context.release]}: {decision.tally} thresholds met{listed}."


def build_recipients_table(decisions: Mapping[Release, Decision]) -> pd.DataFrame:
    """A row per threshold, and a column per kind of recipients with what it requires.

    ✓ met, ✗ not met, ? not measured, – not required; the first row has the verdicts.
    """
    verdicts = {
        AUDIENCES[release]: f"{'✓' if decision.holds else '✗'} {decision.tally}"
        for release, decision in decisions.items()
    }
    rows: dict[tuple[str, str], dict[str, str]] = {}
    for release, decision in decisions.items():
        for part in decision.parts:
            row = rows.setdefault((part.threshold.card.name, part.column), {})
            title, (reached, wanted) = part.threshold.card.title, part.shown
            row["Threshold"] = f"{title}: {part.column}" if part.column else title
            row["Unit"] = f"{part.unit} {part.threshold.card.arrow}"
            row["Reached"] = reached
            row[AUDIENCES[release]] = f"{part.mark} {wanted}"
    order = [*THRESHOLD_CARDS]
    keys = sorted(rows, key=lambda key: order.index(key[0]))
    first = {"Threshold": "Thresholds that are met", "Unit": "", "Reached": "", **verdicts}
    return pd.DataFrame([first, *(rows[key] for key in keys)], columns=[*first]).fillna("–")
