"""Values that look like spellings of one: found, and joined in a group just above them."""

import functools
import itertools
import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from rapidfuzz import process
from rapidfuzz.distance import OSA

from kanon.base.spelling import fold_spelling
from kanon.hierarchy.edit import join
from kanon.hierarchy.tree import Hierarchy

MOST_VALUES = 10_000  # among more distinct values than this no spellings are looked for

TIMES = 4  # a mistake is proposed where the other spelling has at least so many times the records

_ANY = ", any spelling"

_MISTAKES = 2  # the most mistakes in a value

_AT_ONCE = 500  # so many values are compared with all others at a time


class Spellings(NamedTuple):
    """Values that look like spellings of the first of them, with their records, most first."""

    records: Mapping[str, int]

    @property
    def name(self) -> str:
        return next(iter(self.records))


def spellings(counts: Mapping[str, int]) -> list[Spellings]:
    """The groups of values that look like spellings of one, those with most records first."""
    if len(counts) > MOST_VALUES:
        return []
    texts = sorted(counts, key=lambda text: (-counts[text], text))
    words = [[] if re.search(r"\d", text) else _words(text) for text in texts]
    near: dict[int, list[tuple[int, int]]] = defaultdict(list)
    first: dict[Hashable, int] = {}
    for place, text in enumerate(texts):
        same = first.setdefault(fold_spelling(text), place)
        if same != place:
            near[place].append((0, same))
    records = np.array([counts[text] for text in texts], dtype=np.int64)
    for frequent, rare in _pairs(["".join(each) for each in words], records):
        mistakes = _mistakes(words[frequent], words[rare])
        if mistakes is not None:
            near[rare].append((mistakes, frequent))
    members: dict[int, list[int]] = {}
    for place in range(len(texts)):  # the most frequent first: what it belongs to is known
        named = [(mistakes, name) for mistakes, name in near[place] if name in members]
        if named:
            members[min(named)[1]].append(place)
        else:
            members[place] = [place]
    found = [
        Spellings({texts[place]: counts[texts[place]] for place in places})
        for places in members.values()
        if len(places) > 1
    ]
    return sorted(found, key=lambda one: (-sum(one.records.values()), one.name))


def unjoined(
    tree: Hierarchy, found: Sequence[Spellings], values: Collection[str] | None = None
) -> list[Spellings]:
    """Those of the groups whose values are all in a tree, and not joined in it already."""
    left = []
    spelt = {text for one in found for text in one.records}
    for one in found:
        nodes = [tree.node_of.get(text, tree.n_leaves) for text in one.records]
        if max(nodes) >= tree.n_leaves:
            continue
        common = functools.reduce(tree.lca, nodes)
        below = tree.labels[tree.first[common] : tree.last[common]]
        known = {*one.records} if common == tree.root else spelt
        others = {leaf for leaf in below if values is None or leaf in values} - known
        label = tree.labels[common].removesuffix(_ANY)
        if others and label.casefold() != one.name.casefold():
            left.append(one)
    return left


def joined(tree: Hierarchy, chosen: Sequence[Spellings]) -> Hierarchy:
    """The tree with each of the groups just above its values, under the parent of its name."""
    taken = {*tree.labels}
    groups = {}
    for one in chosen:
        name = one.name
        ways = (name[:1].upper() + name[1:], name.upper(), name.lower(), f"{name}{_ANY}")
        label = next((way for way in ways if way not in taken), ways[-1])
        taken.add(label)
        groups[label] = list(one.records)
    return join(tree, groups)


def find_look_alikes(tree: Hierarchy, values: Iterable[str]) -> dict[str, str]:
    """Of values that a tree lacks, the leaf that looks the same on a screen."""
    leaf_of = {_strip_unseen(leaf): leaf for leaf in tree.labels[: tree.n_leaves]}
    return {
        value: leaf_of[_strip_unseen(value)] for value in values if _strip_unseen(value) in leaf_of
    }


def with_look_alikes(
    tree: Hierarchy, alike: Mapping[str, str], present: Collection[str]
) -> Hierarchy:
    """The tree with values beside the leaves that look the same, or in place of unused ones."""
    values_of: dict[str, list[str]] = defaultdict(list)
    for value, leaf in alike.items():
        values_of[leaf].append(value)
    entries = []
    for label, above, weight in tree.entries():
        values = values_of[label]
        kept = [label] if label in present or not values else []
        entries += [(text, above, weight) for text in (*kept, *values)]
    return Hierarchy.from_entries(entries)


def _strip_unseen(text: str) -> str:
    seen = (mark for mark in text if unicodedata.category(mark) != "Cf")
    return " ".join(unicodedata.normalize("NFC", "".join(seen)).split())


def _words(text: str) -> list[str]:
    """The words of a value without case, accents and punctuation."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    plain = "".join(mark for mark in plain if not unicodedata.combining(mark))
    return re.findall(r"[^\W_]+", plain)


def _pairs(texts: Sequence[str], records: np.ndarray) -> Iterator[tuple[int, int]]:
    """Pairs of texts that may be alike, by their places, the more frequent one first."""
    blocks: dict[int, list[int]] = defaultdict(list)
    for place, text in enumerate(texts):
        if text:
            blocks[len(text)].append(place)
    for length, own in list(blocks.items()):
        others = list(itertools.chain.from_iterable(
            blocks.get(length + more, []) for more in range(_MISTAKES + 1)
        ))  # fmt: skip
        for start in range(0, len(own), _AT_ONCE):
            part = own[start : start + _AT_ONCE]
            distances = process.cdist(
                [texts[place] for place in part],
                [texts[place] for place in others],
                scorer=OSA.distance,
                score_cutoff=_MISTAKES,
                dtype=np.uint8,
            )
            rows, columns = np.nonzero(distances <= _MISTAKES)
            mine, theirs = np.array(part)[rows], np.array(others)[columns]
            frequent, rare = np.minimum(mine, theirs), np.maximum(mine, theirs)
            same = distances[rows, columns] == 0
            enough = same | (records[frequent] >= TIMES * records[rare])
            # Of texts with one length each pair is met twice, and each with itself.
            once = (mine < theirs) | (columns >= len(own))
            near = enough & once
            yield from zip(frequent[near].tolist(), rare[near].tolist(), strict=True)


def _mistakes(one: Sequence[str], other: Sequence[str]) -> int | None:
    """How many mistakes lie between two values, word by word; None if they are not alike."""
    if "".join(one) == "".join(other):
        return 0
    if len(one) != len(other):
        return None
    mistakes = 0
    for word, written in zip(one, other, strict=True):
        if word == written:
            continue
        shorter, longer = sorted((len(word), len(written)))
        # Long words rarely differ in so little; in short ones the first letter makes another word.
        allowed = 0 if shorter < 5 else 1 if shorter < 8 else _MISTAKES
        if word[0] != written[0]:
            allowed -= 1
        distance = OSA.distance(word, written, score_cutoff=max(allowed, 0))
        if distance > allowed or longer - shorter > 1:
            return None
        mistakes += distance
    return mistakes if mistakes <= _MISTAKES else None
