"""The words of the field, as kanon uses them.

What has a card (a metric, strategy, privacy model, algorithm or measure) is told by its card; all
other words are told here. ``make vocabulary`` writes docs/reference/vocabulary.md from both.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

import kanon.algorithms
import kanon.measures
import kanon.privacy
from kanon.base.language import say_of
from kanon.cards import Card, parts_of
from kanon.measures import alteration
from kanon.metrics import METRICS
from kanon.privacy.persons import IN_PERSONS
from kanon.strategies import STRATEGIES

EVERYWHERE = "every page"
"""Where a word is met that no page has for itself."""

_M20 = "Mauger, Le Mahec, Dequen 2020 (PPAI)"
_M23 = "Mauger, Le Mahec, Dequen 2023 (TDP 16)"
_L = "Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam 2007"
_RISK = "El Emam, Dankar 2008"


@dataclass(frozen=True)
class Term:
    """A word and what it means.

    Attributes
    ----------
    name
        The word, as it would begin a sentence.
    told
        What it means, in one or two plain sentences.
    where
        The pages on which it is met, by their titles, or :data:`EVERYWHERE`.
    see
        Other words, by their names.
    source
        Where it was defined; empty for words of everyday use and of this tool.
    """

    name: str
    told: str
    where: tuple[str, ...]
    see: tuple[str, ...] = ()
    source: str = ""


def _term(name: str, told: str, where: str, see: str = "", source: str = "") -> Term:
    return Term(name, told, tuple(where.split(", ")), tuple(filter(None, see.split("; "))), source)


_TERMS = (
    # --- tables and roles
    _term(
        "Record",
        "A row of the table: what it says about one person, or about one of several events of a "
        "person.",
        EVERYWHERE,
        "Equivalence class; Pseudonym",
    ),
    _term(
        "Role",
        "What a column is to the people in it: identifier, quasi-identifier, sensitive or "
        "insensitive.",
        "Data",
        "Identifier; Quasi-identifier; Sensitive; Insensitive",
    ),
    _term(
        "Identifier",
        "A column that names a person by itself, such as a name or an insurance number. It leaves"
        " the release, or gives way to a pseudonym.",
        "Data",
        "Pseudonym; Quasi-identifier",
        _M20,
    ),
    _term(
        "Quasi-identifier",
        "A column that names nobody by itself but that others may know, such as age or postcode; "
        "several together can single somebody out. Only these columns are recoded.",
        "Data, Hierarchies",
        "Equivalence class; Linkage attack",
        _M20,
    ),
    _term(
        "Sensitive",
        "A column that nobody should be able to tell of a person, such as a disease. It is "
        "released as it is; models beside k-anonymity look at it.",
        "Data, Privacy",
        "Homogeneity attack; Entropy l-diversity; t-closeness",
        _M20,
    ),
    _term(
        "Insensitive",
        "A column that is neither known to others nor worth hiding. It is released as it is.",
        "Data",
        "Role; Remark",
        _M20,
    ),
    _term(
        "Pseudonym",
        "A label drawn at random in place of an identifier. It tells which records are of the "
        "same person, and not who that is.",
        "Data",
        "Identifier; Remark",
    ),
    _term(
        "Missing cell",
        "A cell without a value. Records with one in a quasi-identifier are dropped, or the "
        "missing cell counts as a value of its own.",
        "Data, Hierarchies",
        "Leaf",
    ),
    _term(
        "Sample",
        "A table that comes with kanon, of invented persons or from a paper.",
        "Data",
        "Record",
    ),
    _term(
        "Remark",
        "What a release or a table may give away although it meets its models, with a figure and "
        "what to do. A remark stops nothing.",
        "Data, Anonymise",
        "Privacy model; Pseudonym",
    ),
    # --- classes
    _term(
        "Equivalence class",
        "All records with the same values in all quasi-identifiers: in a release they look the "
        "same to somebody who knows only those.",
        "Data, Anonymise, Privacy",
        "Quasi-identifier; k-anonymity; Minimum k",
        _M20,
    ),
    _term(
        "Unique record",
        "A record that shares its quasi-identifiers with no other one: a class of its own.",
        "Data, Privacy",
        "Equivalence class; Prosecutor risk",
    ),
    _term(
        "Singling out",
        "Some columns single a record out if fewer than k records share its values of them: of k = "
        "2, if no other one does.",
        "Data",
        "Quasi-identifier; Unique record",
        "Article 29 Working Party, Opinion 05/2014; Motwani, Xu 2007",
    ),
    _term(
        "Purpose of a release",
        "Who gets it, and what somebody who looks for a person may know; from that follows what is "
        "asked of it.",
        "Decide, Report",
        "Threshold",
    ),
    _term(
        "Threshold",
        "How much is asked of a release in one respect, such as k or the risk of being found. Each "
        "has a source and can be replaced; none is a law.",
        "Decide, Report",
        "Purpose of a release; Privacy model",
    ),
    _term(
        "k",
        "The number of records that every class of a release holds at least, as it was asked for."
        " A larger k hides better and costs more.",
        EVERYWHERE,
        "k-anonymity; Minimum k",
    ),
    # --- hierarchies
    _term(
        "Generalisation hierarchy",
        "A tree that says how the values of a column may be blurred: its leaves are the values, "
        "each group stands for all values below it, and the root stands for total loss.",
        "Hierarchies",
        "Leaf; Root; Level; Recoding",
        _M20,
    ),
    _term(
        "Leaf",
        "An original value of a column, at the bottom of its hierarchy.",
        "Hierarchies",
        "Generalisation hierarchy; Level",
        _M20,
    ),
    _term(
        "Root",
        "The top of a hierarchy, written *: any value could be meant, so nothing is told.",
        "Hierarchies",
        "Generalisation hierarchy; Suppression",
        _M20,
    ),
    _term(
        "Group",
        "A node of a hierarchy that stands for several values, such as 30-39.",
        "Hierarchies",
        "Generalisation hierarchy; Lowest common ancestor",
    ),
    _term(
        "Level",
        "How far above the leaves a node stands: the longest path, in edges, from a leaf below "
        "it. A leaf has level 0.",
        "Hierarchies, Lattice",
        "Height; Leaf",
        _M20,
    ),
    _term(
        "Height",
        "Of a hierarchy, the number of nodes on its longest path from a leaf to the root. Of a "
        "node of the lattice, the sum of its levels.",
        "Hierarchies, Lattice",
        "Level; Lattice",
        _M20,
    ),
    _term(
        "Lowest common ancestor",
        "The lowest node that holds two values: what both become when their records are merged, "
        "and never more than is needed.",
        "Hierarchies, Metrics",
        "Merge; Cost matrix",
        _M20,
    ),
    _term(
        "Range",
        "An interval or a set of values that some algorithms release without a hierarchy. Ranges "
        "may overlap, so they are no nodes of a tree.",
        "Anonymise",
        "Generalisation hierarchy; Multi-dimensional recoding",
    ),
    _term(
        "Yardstick",
        "The hierarchies that several releases are measured in, so that losses of different "
        "hierarchies can be compared.",
        "Compare",
        "Alteration; Configuration",
    ),
    # --- metrics
    _term(
        "Edge weight",
        "What it costs to raise a value along one edge of its hierarchy. It is 0 or more; a path "
        "costs the sum of its edges.",
        "Hierarchies, Metrics",
        "Metric; Cost",
        _M20,
    ),
    _term(
        "Metric",
        "A rule that gives every edge of every hierarchy a weight, and so says what counts as a "
        "loss. It has two phases: an intermediate cost times a multiplier.",
        "Metrics, Anonymise, Compare",
        "Intermediate cost; Multiplier; Alteration",
        _M23,
    ),
    _term(
        "Intermediate cost",
        "The first phase of a metric: what a rise counts, such as levels or values that can no "
        "longer be told apart.",
        "Metrics",
        "Metric; Multiplier",
        _M23,
    ),
    _term(
        "Multiplier",
        "The second phase of a metric: how much each column counts beside the others. w1 makes "
        "the tallest hierarchies weigh less, w2 makes flat ones weigh more.",
        "Metrics",
        "Metric; Intermediate cost",
        _M23,
    ),
    _term(
        "Cost",
        "What a rise, a merge or a release loses, as a metric counts: the sum of the edge weights"
        " that its cells rose along.",
        "Metrics, Anonymise",
        "Edge weight; Alteration",
        _M20,
    ),
    _term(
        "Cost matrix",
        "What it costs each value of a column to be merged with each other one. It is not "
        "symmetric: a group beside one of its members need not rise.",
        "Metrics",
        "Lowest common ancestor; Cost",
        _M23,
    ),
    _term(
        "Attribute weight",
        "How much more a column counts while partners are chosen. It guides the search; "
        "alteration is measured without it.",
        "Metrics",
        "Metric; Quasi-identifier",
    ),
    _term(
        "NAUC",
        "The normalised area under a curve over k: its mean height between two k. One number for "
        "a whole curve, in the unit of the curve.",
        "Compare",
        "Alteration; k",
        _M23,
    ),
    # --- recoding
    _term(
        "Recoding",
        "Replacing the values of quasi-identifiers by groups above them. Values only move up "
        "their hierarchy, and records of one class stay together.",
        "Anonymise",
        "Global recoding; Local recoding; Release",
    ),
    _term(
        "Full-domain recoding",
        "Every column is raised to one level in all records, so a release is one node of the "
        "lattice.",
        "Anonymise, Lattice",
        "Global recoding; Lattice",
        "Samarati 2001; Sweeney 2002",
    ),
    _term(
        "Global recoding",
        "A value is released as the same group wherever it occurs.",
        "Anonymise",
        "Local recoding; Full-domain recoding",
        "LeFevre, DeWitt, Ramakrishnan 2005",
    ),
    _term(
        "Local recoding",
        "A value may stay in one record and be raised in another, so that less is lost; the "
        "groups of a column then overlap.",
        "Anonymise",
        "Global recoding; Merge",
        "LeFevre, DeWitt, Ramakrishnan 2005",
    ),
    _term(
        "Multi-dimensional recoding",
        "The table is cut into regions over several columns at once, and each region is released "
        "as what its values have in common: groups or ranges.",
        "Anonymise",
        "Range; Mondrian",
        "LeFevre, DeWitt, Ramakrishnan 2006",
    ),
    _term(
        "Merge",
        "Making one class of two: in each column both take the lowest common ancestor of their "
        "values.",
        "Anonymise, Compare",
        "Merge path; Strategy",
        _M20,
    ),
    _term(
        "Merge path",
        "All merges of one run in their order. The release for every k is a point on it, so one "
        "run serves every k.",
        "Anonymise, Compare",
        "Merge; k",
    ),
    _term(
        "Strategy",
        "The rule by which a smallest class picks the class that it is merged with: by cost, by "
        "the l or t that is left, or by both.",
        "Anonymise, Compare",
        "Merge; S1: least cost; Tie",
        _M23,
    ),
    _term(
        "Tie",
        "Several partners are equally good, and an order has to decide: the canonical one, or one"
        " drawn from a tie seed.",
        "Anonymise, Compare",
        "Strategy; Band",
    ),
    _term(
        "Band",
        "What ties decide: from the least to the largest value over the canonical order and ten "
        "seeded ones. Where bands overlap, a difference is undecided.",
        "Compare",
        "Tie",
    ),
    _term(
        "Suppression",
        "Leaving a record out of the release; a plan may keep its row with every quasi-identifier"
        " at the root and all else blank. Either way it counts as if all of it were lost.",
        "Anonymise, Lattice",
        "Root; Alteration",
        "Samarati 2001; Sweeney 2002",
    ),
    # --- the lattice
    _term(
        "Lattice",
        "All ways to raise each column to one level, in order: a node lies above another one if "
        "no column is lower.",
        "Lattice",
        "Node; Full-domain recoding",
        "Samarati 2001",
    ),
    _term(
        "Node",
        "A level for each quasi-identifier: one full-domain release. In a hierarchy: a value or a"
        " group.",
        "Lattice, Hierarchies",
        "Lattice; Height",
        "Samarati 2001",
    ),
    # --- privacy
    _term(
        "Privacy model",
        "What every class of a release has to meet, with its parameters, such as k-anonymity with"
        " k = 5. kanon checks it and says what was reached.",
        "Anonymise, Privacy",
        "k-anonymity; Entropy l-diversity; t-closeness",
    ),
    _term(
        "l",
        "How mixed the sensitive values of a class are; of a release, of its worst class. The "
        "page shows entropy l: so many equally frequent values would be as hard to guess.",
        "Anonymise, Privacy, Compare",
        "Entropy l-diversity; Homogeneity attack",
        _L,
    ),
    _term(
        "t",
        "How far the mix of sensitive values in a class is from that of the whole table; of a "
        "release, of its worst class. 0: mixed as the table.",
        "Anonymise, Privacy, Compare",
        "t-closeness; Total variation; Skewness attack",
        "Li, Li, Venkatasubramanian 2007",
    ),
    _term(
        "Total variation",
        "Half the sum of the differences between two mixes: the share of records that would need "
        "another value. From 0 to 1.",
        "Anonymise, Privacy",
        "Norm 1; t",
    ),
    _term(
        "Norm 1",
        "The sum of the absolute differences between two mixes: twice the total variation, from 0"
        " to 2.",
        "Anonymise, Privacy",
        "Total variation; t",
        _M23,
    ),
    _term(
        "Earth mover's distance",
        "How much share has to be moved, and how far, to turn one mix into another. Values count "
        "as equally far apart, or numbers by their order.",
        "Anonymise, Privacy",
        "t-closeness; Total variation",
        "Li, Li, Venkatasubramanian 2007",
    ),
    _term(
        "Surest guess",
        "The largest share of one sensitive value in a class: how sure one can be of somebody of "
        "whom one knows the class.",
        "Privacy",
        "(alpha, k)-anonymity; Homogeneity attack",
    ),
    _term(
        "Linkage attack",
        "Matching what is known of somebody, such as age and postcode, with the records of a "
        "release to find theirs.",
        "Privacy",
        "Quasi-identifier; Prosecutor risk",
        "Sweeney 2002",
    ),
    _term(
        "Homogeneity attack",
        "All records of a class have the same sensitive value, so who knows somebody's class "
        "knows the value, however large the class is.",
        "Privacy",
        "Distinct l-diversity; l",
        _L,
    ),
    _term(
        "Background knowledge attack",
        "Who knows that some values of a class cannot be somebody's rules them out, and fewer "
        "remain.",
        "Privacy",
        "Entropy l-diversity; Linkage attack",
        _L,
    ),
    _term(
        "Skewness attack",
        "A sensitive value is far more frequent in a class than in the table, so much is learnt "
        "about everybody in it although the values differ.",
        "Privacy",
        "t-closeness; Basic beta-likeness",
        "Li, Li, Venkatasubramanian 2007",
    ),
    _term(
        "Prosecutor risk",
        "The chance to pick the right record for an attacker who knows that somebody is in the "
        "table: 1 / size of the class.",
        "Privacy",
        "Journalist risk; Marketer risk; Equivalence class",
        _RISK,
    ),
    _term(
        "Journalist risk",
        "The same for an attacker who does not know who is in the table: 1 / the people of the "
        "population who could be in the class.",
        "Privacy",
        "Prosecutor risk; Population",
        _RISK,
    ),
    _term(
        "Marketer risk",
        "The share of the records that somebody recognises on average who matches all of them "
        "with the population and minds no mistakes.",
        "Privacy",
        "Prosecutor risk; Population",
        "Dankar, El Emam 2010",
    ),
    _term(
        "Population",
        "Everybody who could be in the table, in a table of its own with the same "
        "quasi-identifiers.",
        "Privacy",
        "Journalist risk; Marketer risk",
    ),
    # --- work
    _term(
        "Plan",
        "A file that says how a table is released: roles, hierarchies, algorithm, metric, "
        "strategy, models. The same plan gives the same release.",
        "Data, Anonymise",
        "Release; Configuration",
    ),
    _term(
        "Release",
        "The table as it may be handed out: quasi-identifiers recoded, identifiers gone or "
        "replaced, all else as it was.",
        "Anonymise, Privacy, Utility",
        "Recoding; Suppression; Plan",
    ),
    _term(
        "Configuration",
        "An algorithm with its metric, strategy and other choices: one line of a comparison.",
        "Compare",
        "Plan; Strategy; Metric",
    ),
    _term(
        "Tie seed",
        "A number that decides ties in an order of its own, the same each time.",
        "Anonymise",
        "Tie; Band",
    ),
    _term(
        "Pareto front",
        "The configurations that no other one beats in one criterion without losing in the other.",
        "Compare",
        "Configuration",
    ),
    _term(
        "Proportional representation",
        "A release as a matrix for learning: each group is spread evenly over the values below it.",
        "Utility",
        "Release; Group",
    ),
)


def _of_card(card: Card, where: str, see: str, name: str = "") -> Term:
    """A word that has a card: its sentence, and what both ends of its number mean."""
    ends = "; ".join(filter(None, [card.lowest, card.highest]))
    told = f"{card.summary} ({ends}.)" if ends else card.summary
    return _term(name or card.title, told, where, see, card.source)


def _all() -> Iterable[Term]:
    yield from _TERMS
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
    """Every word by its name, in alphabetical order.

    >>> glossary()["Leaf"].told
    'An original value of a column, at the bottom of its hierarchy.'
    """
    return MappingProxyType({one.name: one for one in sorted(_all(), key=_in_order)})


def _in_order(term: Term) -> tuple[str, str]:
    return re.sub(r"\W", "", term.name).casefold(), term.name


def looked_up(text: str) -> tuple[Term, ...]:
    """The words that have all that was typed in their name, then those that have it elsewhere.

    They are looked up in the language of the settings.

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
        name = say_of(term.name).casefold()
        if all(part in name for part in parts):
            named.append((not name.startswith(parts[0]), term))
        elif all(part in f"{name} {say_of(term.told).casefold()}" for part in parts):
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
    """What a heading is linked by.

    >>> _anchor("S2: least cost, then highest l")
    's2-least-cost-then-highest-l'
    """
    return re.sub(r"[^\w -]", "", name.lower()).replace(" ", "-")


def _plain(text: str) -> str:
    return re.sub(r"([*_<`|])", r"\\\1", text)


if __name__ == "__main__":
    sys.stdout.buffer.write(as_markdown().encode())
