"""Values that look like spellings of the same thing, and groups that join them."""

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

MOST_VALUES = 10_000  # with more distinct values no spellings are looked for

TIMES = 4  # a spelling counts as a mistake if another has at least this many times its records

_ANY = ", any spelling"

_MISTAKES = 2  # the most mistakes in a value

_AT_ONCE = 500  # this many values are compared with all others at a time


class Spellings(NamedTuple):
    """Values that look like spellings of the first one, with their records, most first."""

    records: Mapping[str, int]

    @property
    def name(self) -> str:
        return next(iter(self.records))


def find_spellings(counts: Mapping[str, int]) -> list[Spellings]:
    """The groups of values that look like spellings of the same thing, largest first."""
    if len(counts) > MOST_VALUES:
        return []
    texts = sorted(counts, key=lambda text: (-counts[text], text))
    words = [[] if re.search(r"\d", text) else _split_words(text) for text in texts]
    near: dict[int, list[tuple[int, int]]] = defaultdict(list)
    first: dict[Hashable, int] = {}
    for place, text in enumerate(texts):
        same = first.setdefault(fold_spelling(text), place)
        if same != place:
            near[place].append((0, same))
    records = np.array([counts[text] for text in texts], dtype=np.int64)
    for frequent, rare in _find_pairs(["".join(parts) for parts in words], records):
        mistakes = _count_mistakes(words[frequent], words[rare])
        if mistakes is not None:
            near[rare].append((mistakes, frequent))
    members: dict[int, list[int]] = {}
    for place in range(len(texts)):  # the most frequent first, so that their groups exist
        candidates = [(mistakes, name) for mistakes, name in near[place] if name in members]
        if candidates:
            members[min(candidates)[1]].append(place)
        else:
            members[place] = [place]
    groups = [
        Spellings({texts[place]: counts[texts[place]] for place in places})
        for places in members.values()
        if len(places) > 1
    ]
    return sorted(groups, key=lambda group: (-sum(group.records.values()), group.name))


def find_separate_spellings(
    tree: Hierarchy, groups: Sequence[Spellings], values: Collection[str] | None = None
) -> list[Spellings]:
    """The groups whose values are all in a tree, but not joined in it yet."""
    unjoined_groups = []
    spelt = {text for group in groups for text in group.records}
    for group in groups:
        nodes = [tree.node_of.get(text, tree.n_leaves) for text in group.records]
        if max(nodes) >= tree.n_leaves:
            continue
        common = functools.reduce(tree.lca, nodes)
        below = tree.labels[tree.first[common] : tree.last[common]]
        spelt_here = {*group.records} if common == tree.root else spelt
        strangers = {leaf for leaf in below if values is None or leaf in values} - spelt_here
        label = tree.labels[common].removesuffix(_ANY)
        if strangers and label.casefold() != group.name.casefold():
            unjoined_groups.append(group)
    return unjoined_groups


def join_spellings(tree: Hierarchy, choice: Sequence[Spellings]) -> Hierarchy:
    """Join the values of each group just above them, under the parent of its name."""
    labels = {*tree.labels}
    groups = {}
    for spelling in choice:
        name = spelling.name
        options = (name[:1].upper() + name[1:], name.upper(), name.lower(), f"{name}{_ANY}")
        label = next((option for option in options if option not in labels), options[-1])
        labels.add(label)
        groups[label] = list(spelling.records)
    return join(tree, groups)


def find_look_alikes(tree: Hierarchy, values: Iterable[str]) -> dict[str, str]:
    """Find the leaves that look like values that a tree lacks."""
    leaf_of = {_strip_unseen(leaf): leaf for leaf in tree.labels[: tree.n_leaves]}
    return {
        value: leaf_of[_strip_unseen(value)] for value in values if _strip_unseen(value) in leaf_of
    }


def add_look_alikes(
    tree: Hierarchy, alike: Mapping[str, str], present: Collection[str]
) -> Hierarchy:
    """Add values beside the leaves that look the same, or in place of unused leaves."""
    values_of: dict[str, list[str]] = defaultdict(list)
    for value, leaf in alike.items():
        values_of[leaf].append(value)
    entries = []
    for label, above, weight in tree.entries():
        values = values_of[label]
        own_label = [label] if label in present or not values else []
        entries += [(text, above, weight) for text in (*own_label, *values)]
    return Hierarchy.from_entries(entries)


def _strip_unseen(text: str) -> str:
    seen = (mark for mark in text if unicodedata.category(mark) != "Cf")
    return " ".join(unicodedata.normalize("NFC", "".join(seen)).split())


def _split_words(text: str) -> list[str]:
    plain = unicodedata.normalize("NFKD", text.casefold())
    plain = "".join(mark for mark in plain if not unicodedata.combining(mark))
    return re.findall(r"[^\W_]+", plain)


def _find_pairs(texts: Sequence[str], records: np.ndarray) -> Iterator[tuple[int, int]]:
    """Find pairs of texts that may be alike, by their places, the more frequent one first."""
    blocks: dict[int, list[int]] = defaultdict(list)
    for place, text in enumerate(texts):
        if text:
            blocks[len(text)].append(place)
    for length, places in list(blocks.items()):
        candidates = list(itertools.chain.from_iterable(
            blocks.get(length + more, []) for more in range(_MISTAKES + 1)
        ))  # fmt: skip
        for start in range(0, len(places), _AT_ONCE):
            part = places[start : start + _AT_ONCE]
            distances = process.cdist(
                [texts[place] for place in part],
                [texts[place] for place in candidates],
                scorer=OSA.distance,
                score_cutoff=_MISTAKES,
                dtype=np.uint8,
            )
            rows, columns = np.nonzero(distances <= _MISTAKES)
            mine, theirs = np.array(part)[rows], np.array(candidates)[columns]
            frequent, rare = np.minimum(mine, theirs), np.maximum(mine, theirs)
            same = distances[rows, columns] == 0
            enough = same | (records[frequent] >= TIMES * records[rare])
            # Among texts of one length each pair occurs twice, and each text with itself.
            once = (mine < theirs) | (columns >= len(places))
            near = enough & once
            yield from zip(frequent[near].tolist(), rare[near].tolist(), strict=True)


def _count_mistakes(words: Sequence[str], other_words: Sequence[str]) -> int | None:
    """Count the mistakes between two values, word by word; None if they are not alike."""
    if "".join(words) == "".join(other_words):
        return 0
    if len(words) != len(other_words):
        return None
    mistakes = 0
    for word, other_word in zip(words, other_words, strict=True):
        if word == other_word:
            continue
        shorter, longer = sorted((len(word), len(other_word)))
        # Different long words rarely differ so little; short words often do, by the first letter.
        most = 0 if shorter < 5 else 1 if shorter < 8 else _MISTAKES
        if word[0] != other_word[0]:
            most -= 1
        distance = OSA.distance(word, other_word, score_cutoff=max(most, 0))
        if distance > most or longer - shorter > 1:
            return None
        mistakes += distance
    return mistakes if mistakes <= _MISTAKES else None
