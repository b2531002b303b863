"""Which figure of a report answers which question of four documents, in kanon's words.

Sources: Article 29 Working Party 2014, Opinion 05/2014 (WP 216); ICO 2025, guidance on
anonymisation; ISO/IEC 27559:2022, by its public table of contents; Regulation (EU) 2025/327 (EHDS).
"""

from kanon.base.formatting import write_percent
from kanon.release.context import ATTACKERS, AUDIENCES
from kanon.report.contents import Report
from kanon.report.explanations import format_sensitive_level

NOT_ASSESSED = "not assessed"

_WP, _ICO = "WP 216", "ICO 2025, motivated intruder test"
_ISO, _EHDS = "ISO/IEC 27559", "EHDS, Article 66"

QUESTIONS: tuple[tuple[str, str, str], ...] = (
    (f"{_WP}, singling out", "Does any record look like no other?", "unique"),
    (f"{_WP}, singling out", "Do a few known values find one person's record?", "Singling out"),
    (f"{_WP}, linkability", "Do two sources find the same person's record?", "Linkability"),
    (f"{_WP}, linkability", "Do the numbers of all records tell whose is whose?", "Assignment"),
    (f"{_WP}, inference", "Is the best guess of a sensitive value right?", "Inference"),
    (_ICO, "Did people try to recognise someone in this release, and were they right?", "attempts"),
    (f"{_ISO}, 6 context", "Who gets the release, and what does an attacker know?", "context"),
    (f"{_ISO}, 6 context", "Which security practices does the recipient follow?", ""),
    (f"{_ISO}, 7 data", "Which columns may identify people or hurt them?", "columns"),
    (f"{_ISO}, 8 identifiability", "How high is the risk of the person at most risk?", "highest"),
    (f"{_ISO}, 8 identifiability", "How high is the risk on average?", "mean"),
    (f"{_ISO}, 8 identifiability", "Is the risk within the stated thresholds?", "thresholds"),
    (f"{_ISO}, 8 identifiability", "Was the release attacked on trial?", "attempts"),
    (f"{_ISO}, 9 governance", "Who reviews the release later, and when?", ""),
    (f"{_EHDS} (1)", "Is only what the purpose needs released?", "columns"),
    (f"{_EHDS} (2)", "How much does the anonymised table lose for the purpose?", "alteration"),
    (f"{_EHDS} (3)", "Is what reverses pseudonyms kept apart from their users?", ""),
)
"""Document, question, and the key of what answers it in :func:`collect_answers`; empty: nothing."""


def build_annex(report: Report) -> list[dict[str, str]]:
    """A row per question: the figure that answers it, or that it was not assessed."""
    answers = collect_answers(report)
    rows = []
    for document, question, key in QUESTIONS:
        figure, answer = answers.get(key, ("", NOT_ASSESSED))
        rows.append(
            {"Document": document, "Question": question, "Figure": figure, "Answer": answer}
        )
    return rows


def collect_answers(report: Report) -> dict[str, tuple[str, str]]:
    """What the report has by the keys of :data:`QUESTIONS`: what it is called there, and says."""
    answers: dict[str, tuple[str, str]] = {}
    for risk in report.risks:
        text = f"{format_sensitive_level(risk.after, risk.level)} {risk.level.unit}"
        answers[risk.level.name] = f"{risk.level.title} (section 6)", text
    for title, part in {} if report.evidence is None else report.evidence.figures.items():
        key = title.partition(" of ")[0]
        earlier = f"{answers[key][1]}; " if key in answers else ""
        share = write_percent(100 * part.value)
        answers[key] = "What an attacker gains (section 6)", f"{earlier}{title} {share}"
    if outcome := report.intruder_test.describe_outcome(report.release_fingerprint):
        answers["attempts"] = "Motivated intruder test (section 6)", outcome
    if report.decision is not None:
        context = report.decision.context
        text = f"{AUDIENCES[context.release]}; an attacker knows {ATTACKERS[context.attacker]}"
        figure = "What this purpose requires of a release (section 5)"
        answers["context"] = figure, text
        answers["thresholds"] = figure, report.decision.apart[0]
    answers["columns"] = "The table (section 2)", report.leaves
    answers["alteration"] = "Alteration (section 7)", report.figures["alteration"]
    return answers
