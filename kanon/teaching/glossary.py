"""The terms of the field: those with a card from their card, all others from glossary.toml."""

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

import kanon.algorithms
import kanon.measures
import kanon.privacy
from kanon.base.data_files import read_data
from kanon.cards import Card, parts_of
from kanon.measures import alteration
from kanon.metrics import METRICS
from kanon.privacy.persons import IN_PERSONS
from kanon.strategies import STRATEGIES

EVERYWHERE = "every page"


@dataclass(frozen=True)
class Term:
    name: str  # the term, as it would begin a sentence
    told: str  # what it means, in one or two plain sentences
    where: tuple[str, ...]  # the titles of the pages that use it, or :data:`EVERYWHERE`
    related_terms: tuple[str, ...] = ()  # the names of other terms
    source: str = ""  # where it was defined
    forms: tuple[str, ...] = ()  # the words by which sentences of lessons mean it


def _read_terms() -> Iterable[Term]:
    for name, about in read_data(__file__).items():
        meaning = " ".join(about["told"].split())
        see, source = tuple(about.get("see", ())), about.get("source", "")
        forms = tuple(about.get("forms", ()))
        yield Term(name, meaning, tuple(about["where"]), see, source, forms)


def _build_term(card: Card, where: str, see: str, name: str = "") -> Term:
    ends = "; ".join(filter(None, [card.lowest, card.highest]))
    meaning = f"{card.summary} ({ends}.)" if ends else card.summary
    words = tuple(see.split("; "))
    return Term(name or card.title, meaning, tuple(where.split(", ")), words, card.source)


def _collect_terms() -> Iterable[Term]:
    yield from _read_terms()
    for metric in METRICS.values():
        yield _build_term(metric.card, "Metrics, Anonymise, Compare", "Metric")
    for card in STRATEGIES.values():
        yield _build_term(card, "Anonymise, Compare", "Strategy")
    for model in parts_of(kanon.privacy).values():
        yield _build_term(model.CARD, "Anonymise, Privacy", "Privacy model")
    yield _build_term(IN_PERSONS, "Data, Anonymise, Privacy", "k-anonymity; Minimum k")
    for algorithm in parts_of(kanon.algorithms).values():
        yield _build_term(algorithm.CARD, "Anonymise, Compare", "Recoding")
    guides = {metric.card.title for metric in METRICS.values()}
    for measure in parts_of(kanon.measures).values():
        title = measure.CARD.title
        name = f"{title}, as a measure" if title in guides else title
        yield _build_term(measure.CARD, "Utility, Compare", "Release", name)
    yield _build_term(alteration.MEAN_CARD, "Utility, Compare", "Alteration")


@cache
def load_glossary() -> Mapping[str, Term]:
    return MappingProxyType(
        {term.name: term for term in sorted(_collect_terms(), key=_get_sort_key)}
    )


def _get_sort_key(term: Term) -> tuple[str, str]:
    return re.sub(r"\W", "", term.name).casefold(), term.name


def find_terms(text: str) -> tuple[Term, ...]:
    """The terms with all typed words in their name, then those with them in their text.

    >>> [term.name for term in find_terms("attack link")]
    ['Linkage attack']
    >>> find_terms("l divers")[0].name, find_terms("no such word"), find_terms(" ")
    ('Distinct l-diversity', (), ())
    """
    parts = text.casefold().split()
    if not parts:
        return ()
    named, mentioned = [], []
    for term in load_glossary().values():
        name = term.name.casefold()
        if all(part in name for part in parts):
            named.append((not name.startswith(parts[0]), term))
        elif all(part in f"{name} {term.told.casefold()}" for part in parts):
            mentioned.append(term)
    named.sort(key=lambda pair: pair[0])
    return (*(term for _, term in named), *mentioned)


def split_at_terms(text: str) -> Iterator[tuple[str, Term | None]]:
    """A sentence in parts, the first mention of each term with the term; quoted values have none.

    >>> [(part, term and term.name) for part, term in split_at_terms("No class is a “class”.")]
    [('No ', None), ('class', 'Equivalence class'), (' is a “class”.', None)]
    """
    term_by_form = {form: term for term in load_glossary().values() for form in term.forms}
    words = "|".join(map(re.escape, sorted(term_by_form, key=len, reverse=True)))
    start, mentioned = 0, set[str]()
    for match in re.finditer(rf"“[^”]*”|(?<![\w-])({words})(?![\w-])", text):
        term = term_by_form.get(match[1] or "")
        if term is None or term.name in mentioned:
            continue
        mentioned.add(term.name)
        if start < match.start():
            yield text[start : match.start()], None
        yield match[1], term
        start = match.end()
    if start < len(text):
        yield text[start:], None


_ABOUT = """# Vocabulary

The terms of the field as kanon uses them, and the pages that use them. The glossary in the sidebar
of the dashboard has the same terms.

`make vocabulary` writes this page from kanon/teaching/glossary.toml and from the cards of
metrics, strategies, privacy models, algorithms and measures.
"""


def write_glossary_page() -> str:
    return "\n".join([_ABOUT, *map(_format_section, load_glossary().values())])


def _format_section(term: Term) -> str:
    met = f"Used on {', '.join(f'*{page}*' for page in term.where)}."
    if term.where == (EVERYWHERE,):
        met = f"Used on {EVERYWHERE}."
    listed = ", ".join(
        f"[{_escape_markdown(name)}](#{_format_anchor(name)})" for name in term.related_terms
    )
    parts = [met, f"See {listed}." if listed else "", f"Source: {term.source}." * bool(term.source)]
    paragraphs = _escape_markdown(term.told), " ".join(filter(None, parts))
    return "\n\n".join([f"## {_escape_markdown(term.name)}", *paragraphs]) + "\n"


def _format_anchor(name: str) -> str:
    return re.sub(r"[^\w -]", "", name.lower()).replace(" ", "-")


def _escape_markdown(text: str) -> str:
    return re.sub(r"([*_<`|])", r"\\\1", text)


if __name__ == "__main__":
    sys.stdout.buffer.write(write_glossary_page().encode())
