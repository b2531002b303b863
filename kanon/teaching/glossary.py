"""The words of the field: what has a card is told by its card, all others by glossary.toml."""

import re
import sys
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType

import kanon.algorithms
import kanon.measures
import kanon.privacy
from kanon.cards import Card, parts_of
from kanon.measures import alteration
from kanon.metrics import METRICS
from kanon.privacy.persons import IN_PERSONS
from kanon.strategies import STRATEGIES

EVERYWHERE = "every page"  # where a word is met that no page has for itself


@dataclass(frozen=True)
class Term:
    name: str  # the word, as it would begin a sentence
    told: str  # what it means, in one or two plain sentences
    where: tuple[str, ...]  # the pages on which it is met, by their titles, or :data:`EVERYWHERE`
    see: tuple[str, ...] = ()  # other words, by their names
    source: str = ""  # where it was defined


def _terms() -> Iterable[Term]:
    """The words without a card, from the table beside this file."""
    table = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
    for name, about in table.items():
        told = " ".join(about["told"].split())
        see, source = tuple(about.get("see", ())), about.get("source", "")
        yield Term(name, told, tuple(about["where"]), see, source)


def _of_card(card: Card, where: str, see: str, name: str = "") -> Term:
    ends = "; ".join(filter(None, [card.lowest, card.highest]))
    told = f"{card.summary} ({ends}.)" if ends else card.summary
    words = tuple(see.split("; "))
    return Term(name or card.title, told, tuple(where.split(", ")), words, card.source)


def _all() -> Iterable[Term]:
    yield from _terms()
    for metric in METRICS.values():
        yield _of_card(metric.card, "Metrics, Anonymise, Compare", "Metric")
    for card in STRATEGIES.values():
        yield _of_card(card, "Anonymise, Compare", "Strategy")
    for model in parts_of(kanon.privacy).values():
        yield _of_card(model.CARD, "Anonymise, Privacy", "Privacy model")
    yield _of_card(IN_PERSONS, "Data, Anonymise, Privacy", "k-anonymity; Minimum k")
    for algorithm in parts_of(kanon.algorithms).values():
        yield _of_card(algorithm.CARD, "Anonymise, Compare", "Recoding")
    guides = {metric.card.title for metric in METRICS.values()}
    for measure in parts_of(kanon.measures).values():
        title = measure.CARD.title
        name = f"{title}, as a measure" if title in guides else title
        yield _of_card(measure.CARD, "Utility, Compare", "Release", name)
    yield _of_card(alteration.MEAN_CARD, "Utility, Compare", "Alteration")


@cache
def glossary() -> Mapping[str, Term]:
    """Every word by its name, in alphabetical order."""
    return MappingProxyType({one.name: one for one in sorted(_all(), key=_in_order)})


def _in_order(term: Term) -> tuple[str, str]:
    return re.sub(r"\W", "", term.name).casefold(), term.name


def looked_up(text: str) -> tuple[Term, ...]:
    """The words that have all that was typed in their name, then those that have it elsewhere.

    >>> [term.name for term in looked_up("attack link")]
    ['Linkage attack']
    >>> looked_up("l divers")[0].name, looked_up("no such word"), looked_up(" ")
    ('Distinct l-diversity', (), ())
    """
    parts = text.casefold().split()
    if not parts:
        return ()
    named, told = [], []
    for term in glossary().values():
        name = term.name.casefold()
        if all(part in name for part in parts):
            named.append((not name.startswith(parts[0]), term))
        elif all(part in f"{name} {term.told.casefold()}" for part in parts):
            told.append(term)
    named.sort(key=lambda found: found[0])
    return (*(term for _, term in named), *told)


_ABOUT = """# Vocabulary

The words of the field as kanon uses them, with the pages on which they are met. The glossary of the
dashboard, in the bar at the side of every page, has the same words.

This page is written by `make vocabulary` from kanon/teaching/glossary.py and from the cards of
metrics, strategies, privacy models, algorithms and measures.
"""


def as_markdown() -> str:
    """The page docs/reference/vocabulary.md."""
    return "\n".join([_ABOUT, *map(_section, glossary().values())])


def _section(term: Term) -> str:
    met = f"Met on {', '.join(f'*{page}*' for page in term.where)}."
    if term.where == (EVERYWHERE,):
        met = f"Met on {EVERYWHERE}."
    listed = ", ".join(f"[{_plain(name)}](#{_anchor(name)})" for name in term.see)
    parts = [met, f"See {listed}." if listed else "", f"Source: {term.source}." * bool(term.source)]
    return f"## {_plain(term.name)}\n\n{_plain(term.told)}\n\n{' '.join(filter(None, parts))}\n"


def _anchor(name: str) -> str:
    """What a heading is linked by."""
    return re.sub(r"[^\w -]", "", name.lower()).replace(" ", "-")


def _plain(text: str) -> str:
    return re.sub(r"([*_<`|])", r"\\\1", text)


if __name__ == "__main__":
    sys.stdout.buffer.write(as_markdown().encode())
