"""The glossary: terms are explained, their neighbours exist, page and app show them."""

import re

import pytest

import kanon.algorithms
import kanon.measures
import kanon.privacy
from kanon.cards import parts_of
from kanon.metrics import METRICS
from kanon.schema import Role
from kanon.strategies import STRATEGIES
from kanon.studio.shell import glossary as lookup
from kanon.teaching import glossary as module
from kanon.teaching.glossary import (
    EVERYWHERE,
    Term,
    find_terms,
    load_glossary,
    split_at_terms,
    write_glossary_page,
)
from support.browser import QUESTIONS
from support.paths import ROOT

PAGE = ROOT / "docs" / "reference" / "vocabulary.md"
# What a privacy officer, a lecturer or a student may meet and not know.
WORDS = (
    *("Record", "Role", "Equivalence class", "Generalisation hierarchy", "Level", "Leaf", "Root"),
    *("Lowest common ancestor", "Edge weight", "Metric", "Intermediate cost", "Multiplier"),
    *("Cost", "Cost matrix", "NAUC", "Suppression", "Global recoding", "Local recoding"),
    *("Full-domain recoding", "Multi-dimensional recoding", "Lattice", "Node", "Height"),
    *("Strategy", "Homogeneity attack", "Skewness attack", "Linkage attack"),
    *("Background knowledge attack", "Merge path", "Release", "Plan", "Pseudonym"),
    *("Prosecutor risk", "Journalist risk", "Marketer risk", "Earth mover's distance"),
    *("Total variation", "Norm 1"),
)


@pytest.mark.parametrize("term", load_glossary().values(), ids=lambda term: term.name)
def test_a_word_is_told(term):
    assert term.told.endswith((".", ".)")) and term.name[0] == term.name[0].strip()
    assert len(re.sub(r"\(.*?\.\)$", "", term.told)) < 330, "one or two sentences"
    assert set(term.where) <= {*QUESTIONS, EVERYWHERE} and term.where
    assert term.related_terms and set(term.related_terms) <= {*load_glossary()} - {term.name}, (
        "what to read next"
    )
    assert not re.search(r"\b(safe|anonymous)\b", term.told), "what was checked is said, no verdict"


def test_a_form_of_a_word_means_one_term():
    forms = [form for term in load_glossary().values() for form in term.forms]
    assert len(forms) == len(set(forms)) > 20
    for term in load_glossary().values():
        for form in term.forms:
            ((part, term_found),) = split_at_terms(form)
            assert (part, term_found) == (form, term)


def test_a_sentence_is_split_at_the_first_mention_of_each_term():
    text = "8 records are in classes of fewer than k = 4; “class, k” is a class, no classroom."
    parts = [*split_at_terms(text)]
    assert "".join(part for part, _ in parts) == text
    assert [(part, term.name) for part, term in parts if term] == [
        ("records", "Record"), ("classes", "Equivalence class"), ("k", "k"),
    ]  # fmt: skip


def test_no_word_is_told_twice():
    names = [term.name.casefold() for term in module._collect_terms()]
    assert len(names) == len(set(names)) == len(load_glossary())
    told = [term.told for term in load_glossary().values()]
    assert len(told) == len(set(told))


def test_every_title_that_the_app_shows_is_a_word():
    titles = {role.value.capitalize() for role in Role}
    titles |= {card.title for card in STRATEGIES.values()}
    titles |= {metric.card.title for metric in METRICS.values()}
    for package in (kanon.algorithms, kanon.measures, kanon.privacy):
        titles |= {part.CARD.title for part in parts_of(package).values()}
    assert titles | {*WORDS} <= {*load_glossary()}


def test_what_has_a_card_is_told_by_its_card():
    for metric in METRICS.values():
        assert load_glossary()[metric.card.title].told == metric.card.summary
    assert load_glossary()["General loss, as a measure"].told.startswith("The other values")
    precision = parts_of(kanon.measures)["precision"].CARD
    assert load_glossary()[precision.title].told == (
        f"{precision.summary} ({precision.lowest}; {precision.highest}.)"
    )
    assert load_glossary()[precision.title].source == precision.source


def test_words_are_found_by_their_parts():
    assert [term.name for term in find_terms("  HOMOgen ")] == ["Homogeneity attack"]
    first, *others = find_terms("class")
    assert first.name.casefold().startswith("class"), "who begins so stands first"
    assert "Equivalence class" in [term.name for term in others]
    by_name = [("class" in term.name.casefold()) for term in (first, *others)]
    assert by_name == sorted(by_name, reverse=True) and False in by_name
    for name, term in load_glossary().items():
        assert term in find_terms(name)


def test_the_page_is_current_and_its_links_lead_somewhere():
    text = PAGE.read_text("utf-8")
    assert text == write_glossary_page(), "make vocabulary"
    heads = [head.replace("\\", "") for head in re.findall(r"^## (.*)$", text, re.MULTILINE)]
    assert heads == [*load_glossary()]
    anchors = {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}
    assert len(anchors) == len(heads)
    assert set(re.findall(r"\(#([^)]*)\)", text)) <= anchors


# --- in the app -----------------------------------------------------------------------------
def look_up(start, word=""):
    """Open the glossary, with a word in its field."""
    return start(typed={"glossary": True, "glossary-word": word}).sidebar.get("popover")[0]


def texts(place):
    return [one.value.replace("\\", "") for one in place.markdown]


def test_an_open_glossary_lists_all_words(start):
    place = look_up(start)
    assert not texts(place)
    assert place.caption[0].value.replace("\\", "") == " · ".join(load_glossary())


def test_a_closed_glossary_looks_nothing_up(start, monkeypatch):
    monkeypatch.setattr(lookup, "find_terms", None)
    monkeypatch.setattr(lookup, "load_glossary", None)
    sidebar = start().sidebar
    closed = sidebar.get("popover")[0].proto.popover
    assert (closed.label, closed.open) == ("Glossary", False)
    assert not sidebar.text_input


def test_what_is_told_is_no_markdown(start, monkeypatch):
    term = Term("Root", "Written *.", (EVERYWHERE,))
    monkeypatch.setattr(lookup, "find_terms", lambda text: [term])
    assert "Written \\*" in look_up(start, "root").markdown[0].value
