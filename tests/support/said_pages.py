"""Draws every page with all texts in brackets; prints what has none, as JSON.

Run by tests/base/test_language.py in a process of its own, as texts are said once per process::

    python said_pages.py LOCALE [PAGE …]

``LOCALE`` holds the catalogue of the language ``brackets``, and KANON_SETTINGS names it.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from html import unescape
from pathlib import Path
from warnings import catch_warnings

from kanon import settings
from kanon.base import language
from kanon.studio.learn.state import LessonsView
from kanon.studio.learn.steps_state import Beside
from kanon.studio.session.work import with_fields
from kanon.studio.utility.state import UtilityView
from support.paths import ROOT

if __name__ == "__main__":  # before the texts of the modules below are said
    settings.TRANSLATIONS = language.TRANSLATIONS = Path(sys.argv[1])
    in_brackets = settings.settings()
    settings._read = lambda path: in_brackets
    del os.environ[settings.VARIABLE]  # the workers do not know this translation: English

import pandas as pd
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Block, Element, Table

from kanon.experiments.advisor.proposals import about_first, about_limits
from kanon.metrics import METRICS
from kanon.release.decision import decide, levels_reached
from kanon.run import run
from kanon.schema import Role
from kanon.sources.addresses import allowed_folder
from kanon.sources.adult import ADULT_ATTRIBUTION, ADULT_LICENCE
from kanon.studio.decide.advice import advice_of
from kanon.studio.decide.state import DecideView
from kanon.studio.learn.exercises_state import Scores
from kanon.studio.learn.lesson import told
from kanon.studio.learn.two_lessons import beside_of, showing
from kanon.studio.session.run_plan import plan_of
from kanon.studio.session.table_loading import sample_work
from kanon.studio.session.work import Work
from kanon.studio.shell.guard import Guard
from kanon.studio.utility.state import LearningView, PredictingView
from kanon.teaching.answers import Answers
from kanon.teaching.attack_tables import preset
from kanon.teaching.attacks import ATTACKS, attack
from kanon.teaching.exercises import BUILT_IN, read_exercises
from kanon.teaching.hints import hint
from kanon.teaching.marks import marked_class
from kanon.teaching.presets import PRESETS, preset_table
from kanon.teaching.question import heading

SET = read_exercises(BUILT_IN)
QUESTIONS = len(SET.questions)
EXAM = SET.model_copy(update={"exam": True})
MARKS = Scores(EXAM.fingerprint, marked_class(EXAM, [("a", b"{}")]))
EXAM_HANDED_IN = Answers(
    version=2, set=EXAM.fingerprint, student="Ada", log=[]
).own_fingerprint  # fmt: skip
BESIDE = Beside("datafly", "custom", "s1")
WORK = "kanon-work"
PAGES = sorted(path.name for path in (ROOT / "pages").glob("*.py"))
TEXTS = {
    "label", "help", "body", "placeholder", "options", "captions", "caption", "title", "text",
    "message", "content", "alt",
}  # fmt: skip
# What a user types or copies, and what says its texts itself.
SILENT = {"code", "json", "bidi_component", "plotly_chart", "iframe"}
# What no translation changes: icons, code, addresses, colours and styles.
APART = re.compile(
    r":material/\w+:|`[^`]*`|\bhttps?:\S+|:[a-z]+(?:-badge)?\[|<style>.*?</style>|<[^>]*>",
    re.DOTALL,
)
# What comes from the library as it is: publications, and the verdicts of the independent check.
LIBRARY = re.compile(r"⟦[^⟦⟧]*(?:Sources?:(?:\*\*)?|with the algorithms:) ⟧.*?⟦", re.DOTALL)
SPOKEN = re.compile(r"""\b(?:aria-label|title|alt)="([^"]*)\"""")
WORD = re.compile(r"[A-Za-z]{2,}")
AS_THEY_ARE = {
    *("CSV", "TSV", "XLSX", "Parquet", "PARQUET", "Feather", "FEATHER", "Arrow", "JSON", "HTML"),
    *("Spark", "fillParent", "exp", "ln", "UTF"),
    *("NA", "NULL", "NaN", "nan", "null"),
}
"""Names of formats and engines, what counts as a missing value, and what stands in formulas."""

PANEL = re.compile(r"\d: ")
"""How the data of a panel of the board are called: by its chart, whose title stays English."""


# --- what is drawn --------------------------------------------------------------------------
def drawn(node: object) -> Iterator[tuple[str, str]]:
    """Every text of an element and of what is in it, with what it is of."""
    if not isinstance(node, Block | Element) or node.type in SILENT:
        return
    for name, text in texts_of(getattr(node, "proto", None)):
        yield f"{node.type}.{name}", text
        if node.type == "html":
            yield from ((f"{node.type}.spoken", spoken) for spoken in SPOKEN.findall(text))
    if isinstance(node, Table):
        yield from ((f"{node.type}.head", str(name)) for name in node.value.columns)
    elif node.type == "dataframe":  # its heads are names of columns, which stay as they are
        for column in json.loads(node.proto.columns or "{}").values():
            if column and column.get("help"):
                yield f"{node.type}.help", column["help"]
    for child in getattr(node, "children", {}).values():
        yield from drawn(child)


def texts_of(proto: object) -> Iterator[tuple[str, str]]:
    """The texts in a message of Streamlit, and in those that it holds."""
    for field, value in proto.ListFields() if hasattr(proto, "ListFields") else ():
        alone = isinstance(value, str | bytes) or not isinstance(value, Iterable)
        for one in [value] if alone else value:
            if isinstance(one, str) and field.name in TEXTS:
                yield field.name, one
            else:
                yield from texts_of(one)


def outside(text: str) -> str:
    """What of a text stands in no brackets; values stand outside of those of their text."""
    return APART.sub(" ", re.sub(r"⟦[^⟦⟧]*⟧", " ", LIBRARY.sub("⟦", text)))


def unsaid(at: AppTest, words: set[str], sentences: list[str]) -> set[str]:
    """The texts that are words, and neither data nor a sentence of the library."""
    found = set()
    work = at.session_state[WORK]
    results = work.findings
    lines = (  # called on the page as in its charts: by metrics, as nothing else varies here
        [line.title for line in results.comparison.comparison.lines]
        if results.comparison
        else [metric.card.title for metric in METRICS.values()]
    )
    remarks = results.result.release(work.settings.k).remarks if results.result else []
    sentences = [*advice(work), *sentences, *(remark.found for remark in remarks)]
    for what, text in drawn(at._tree):
        if text in lines or (what == "download_button.label" and PANEL.match(text)):
            continue
        left = unescape(outside(text.replace("\\", "").replace("\u2060", "")))
        for sentence in sorted(sentences, key=len, reverse=True):  # a short one may be in a longer
            left = left.replace(sentence, "")
        if strange := {*WORD.findall(left)} - words:
            found.add(f"{what}: {text[:160]!r} has {sorted(strange)[:8]}")
    return found


# --- what stays as it is --------------------------------------------------------------------
def words_of(*tables: pd.DataFrame) -> set[str]:
    """The words of tables: names of columns, and values."""
    data = [text for one in tables for text in [*one.columns, *one.astype(str).to_numpy().ravel()]]
    return {word for text in data for word in WORD.findall(text)}


def lessons(work: Work) -> tuple[set[str], list[str]]:
    """The words of the small tables, and the sentences of lessons, which stay English."""
    view = work.view(LessonsView).steps
    steps = [
        step
        for each in (view, beside_of(replace(view, beside=BESIDE)))
        for step in told(showing(work, each), lambda name, key, make: make()).lesson.steps
    ]
    choices = [choice for step in steps for choice in step.choices]
    said = [text for step in steps for text in (step.heading, step.sentence)]
    said += [text for choice in choices for text in (choice.question, choice.best)]
    said += [
        text for choice in choices for one in choice.candidates for text in (one.name, one.refused)
    ]
    said += [SET.title, SET.author]
    said += [*MARKS.marks.files["problem"], EXAM_HANDED_IN]
    for number, question in enumerate(SET.questions, start=1):
        table = SET.table_of(question)
        said += [
            heading(number, question),
            question.text,
            question.asked(table),
            question.solved(table),
        ]
        said += [SET.mark(question, None).sentence, hint(question, table, None)]
    cases = [preset(kind) for kind in ATTACKS]
    for kind, case in zip(ATTACKS, cases, strict=True):
        scene = attack(kind, case)
        again = attack(kind, scene.prevention.case or case, scene.known, scene.ruled_out)
        said += [scene.finding, scene.prevention.sentence, again.finding]
    small = [preset_table(name) for name in PRESETS]
    small += [SET.table_of(question) for question in SET.questions]
    tables = [one.frame for one in small]
    tables += [one for case in cases for one in (case.table, case.released, case.register)]
    tables += [pd.DataFrame({"": tree.labels}) for one in small for tree in one.classes.hierarchies]
    return words_of(*tables), [*filter(None, said)]


def verdict(work: Work) -> list[str]:
    """What the library says of the release on the page Decide."""
    with catch_warnings(action="ignore"):
        found = levels_reached(run(plan_of(work), work.table.records))
    decision = decide(work.purpose.context, found)
    return [*decision.apart, *(part.sentence for part in decision.parts)]


def advice(work: Work) -> list[str]:
    """What the library says of the ways on the page Decide, while these are shown."""
    if work.view(DecideView).part != "settings" or work.findings.advised is None:
        return []
    found = advice_of(work, work.findings.advised)
    said = [found.about_ties, found.about_records, about_limits(found.weighed)]
    said.append(about_first(found.weighed))
    for one in found.proposals:
        said += [one.reason, found.over_k(one), found.title(one)]
    return said


# --- how far a page is taken ----------------------------------------------------------------
def part_of_learn(part: str, **fields: object) -> Callable[[Work], Work]:
    """Show a part of the page Learn."""
    name = {"attacks": "attack"}.get(part, part)

    def changed(work: Work) -> Work:
        view = replace(getattr(work.view(LessonsView), name), **fields)
        return with_fields(work, view=replace(work.view(LessonsView), part=part, **{name: view}))

    return changed


def part_of_utility(part: str) -> Callable[[Work], Work]:
    """Show a part of the page Utility."""
    return lambda work: with_fields(work, view=replace(work.view(UtilityView), part=part))


def part_of_decide(part: str) -> Callable[[Work], Work]:
    """Show a part of the page Decide."""
    return lambda work: with_fields(work, view=replace(work.view(DecideView), part=part))


def quick_to_learn(work: Work) -> Work:
    """Have a column that can be learnt from ten records, and little to be learnt."""
    tree = "decision-tree"
    learning = LearningView(target="sex", classifier=tree, seeds=1, ks="2 3")
    predicting = PredictingView(algorithms=("gaa", "mondrian"), classifiers=(tree,), ks="2 3")
    view = replace(work.view(UtilityView), learning=learning, predicting=predicting)
    return with_fields(work, roles={**work.table.roles, "sex": Role.INSENSITIVE}, view=view)


# Per page what is done there, one after the other: a button pressed, or something else shown.
FURTHER: Mapping[str, Sequence[str | Callable[[Work], Work]]] = {
    "anonymise.py": ["run"],
    "compare.py": ["compare"],
    "decide.py": [
        part_of_decide("settings"),
        "advice-start",
        part_of_decide("study"),
        "simulating-start",
    ],
    "learn.py": [
        part_of_learn("steps", beside=BESIDE),
        part_of_learn("attacks"),
        part_of_learn("attacks", kind="background", step=4),
        part_of_learn("attacks", step=5),
        *(part_of_learn("exercises", place=place) for place in reversed(range(QUESTIONS + 1))),
        "exercise-check",
        "exercise-hint",
        *(part_of_learn("exercises", opened=EXAM, place=place) for place in (6, 7)),
        part_of_learn("exercises", opened=EXAM, place=QUESTIONS, student="Ada", scores=MARKS),
        "exercise-close",
    ],
    "utility.py": [
        quick_to_learn,
        "utility-run",
        part_of_utility("matrix"),
        part_of_utility("learning"),
        "learning-start",
        part_of_utility("predicting"),
        "predicting-start",
    ],
}


def go_further(at: AppTest, step: str | Callable[[Work], Work]) -> None:
    """Press the button of that key, and wait for what it starts; or show something else."""
    if not isinstance(step, str):
        at.session_state[WORK] = step(at.session_state[WORK])
        return
    at.button(key=step).click().run()
    assert all(one.job.wait(300) for one in at.session_state[WORK].running.values())


def main() -> None:
    """Draw all pages of the hospital sample: as they are at first, and further."""
    wanted = sys.argv[2:] or PAGES
    work = sample_work("hospital", version=1)
    words, sentences = lessons(work)
    words |= words_of(work.table.records.head(10**4)) | AS_THEY_ARE
    words |= {*WORD.findall(f"{ADULT_ATTRIBUTION} {ADULT_LICENCE}")}
    sentences += [str(allowed_folder()), "people.parquet", *verdict(work)]
    sentences += [
        *work.table.file.found,
        "hospital/age.csv",
        "hospital/sex.csv",
        "hospital/zip.csv",
    ]
    Guard.stands = True  # no server is asked
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=300)
    at.session_state[WORK] = work
    at.run()
    said = {"app.py": unsaid(at, words, sentences)}
    for page in wanted:
        said[page] = set()
        at.switch_page(f"pages/{page}")
        for step in (lambda work: work, *FURTHER.get(page, ())):
            go_further(at, step)
            at.run()
            assert not at.exception, at.exception[0].value
            said[page] |= unsaid(at, words, sentences)
    print(json.dumps({page: sorted(found) for page, found in said.items()}))


if __name__ == "__main__":
    main()
