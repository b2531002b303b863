"""Full-domain searches by their definitions: labels, dicts and exact fractions, nothing compiled.

A node is a tuple of levels. Every search here is written down as its paper walks the lattice and
notes which nodes it counts, in their order; the tests compare kanon's searches with them.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations, product

from support.random_tables import PlainTree, Problem

Node = tuple[int, ...]
Labels = tuple[str, ...]
Cost = Callable[[int, str, str], int | Fraction]
"""What raising one cell costs: the quasi-identifier, from which label, to which."""
Breaks = Callable[[Sequence[int]], bool]
"""Whether a class of some rows breaks what has to hold."""


def at_level(tree: PlainTree, label: str, level: int) -> str:
    """g_l(v): the highest ancestor-or-self with a level of at most l; itself if its is higher."""
    return [node for node in tree.paths[label] if tree.level[node] <= level or node == label][-1]


class PlainLattice:
    """The lattice of a table, and which of its nodes a search counted.

    Up to ``limit`` records may be suppressed. A class breaks the models by ``breaks``, or if it has
    fewer than k records.
    """

    def __init__(
        self, problem: Problem, k: int, limit: int = 0, breaks: Breaks | None = None
    ) -> None:
        self.problem, self.k, self.limit = problem, k, limit
        self.breaks: Breaks = breaks or (lambda rows: len(rows) < k)
        self.n = len(problem.rows)
        self.tops: Node = tuple(tree.level[tree.root] for tree in problem.trees)
        self.bottom: Node = (0,) * len(self.tops)
        self.evaluated: list[Node] = []
        self.at_level = cache(lambda j, *at: at_level(problem.trees[j], *at))
        self.classes = cache(self._classes)
        self.suppressed = cache(self._suppressed)

    # The shape

    def nodes(self) -> Iterator[Node]:
        """All nodes, in canonical order."""
        return product(*(range(top + 1) for top in self.tops))

    def at_height(self, height: int) -> list[Node]:
        return [node for node in self.nodes() if sum(node) == height]

    def above(self, node: Node) -> list[Node]:
        """The direct generalisations, in the order of the quasi-identifiers."""
        steps = [tuple(int(i == j) for i in range(len(node))) for j in range(len(node))]
        found = [tuple(a + b for a, b in zip(node, step, strict=True)) for step in steps]
        return [one for one in found if all(a <= b for a, b in zip(one, self.tops, strict=True))]

    # What is at a node

    def raised(self, labels: Labels, node: Node) -> Labels:
        return tuple(map(self.at_level, range(len(node)), labels, node))

    def _classes(self, node: Node) -> dict[Labels, list[int]]:
        """The classes at a node: per tuple its rows."""
        found: dict[Labels, list[int]] = {}
        for row, labels in enumerate(self.problem.rows):
            found.setdefault(self.raised(labels, node), []).append(row)
        return found

    def _suppressed(self, node: Node) -> set[int]:
        """The rows in classes that break the models."""
        return {row for rows in self.classes(node).values() if self.breaks(rows) for row in rows}

    def kept(self, node: Node) -> list[list[int]]:
        """The classes that meet the models."""
        return [rows for rows in self.classes(node).values() if not self.breaks(rows)]

    def satisfies(self, node: Node) -> bool:
        return len(self.suppressed(node)) <= self.limit

    def anonymity(self, node: Node) -> int:
        """The largest k that is reached when at most the limit of records is suppressed."""
        sizes = [len(rows) for rows in self.classes(node).values()]
        return max(
            k for k in range(1, self.n + 1) if sum(size for size in sizes if size < k) <= self.limit
        )

    def distinct(self, node: Node) -> list[int]:
        """The number of distinct values of each quasi-identifier."""
        tuples = list(self.classes(node))
        return [len({labels[j] for labels in tuples}) for j in range(len(node))]

    # What a node loses

    def released(self, node: Node) -> list[Labels]:
        """Per row what is released of it; the roots if it is suppressed."""
        roots = tuple(tree.root for tree in self.problem.trees)
        gone = self.suppressed(node)
        return [
            roots if row in gone else self.raised(labels, node)
            for row, labels in enumerate(self.problem.rows)
        ]

    def cells(self, node: Node, cost: Cost) -> int | Fraction:
        """The sum over all cells of what raising them costs."""
        return sum(
            cost(j, low, high)
            for labels, target in zip(self.problem.rows, self.released(node), strict=True)
            for j, (low, high) in enumerate(zip(labels, target, strict=True))
        )

    def cells_unsuppressed(self, node: Node, cost: Cost) -> int | Fraction:
        """The same if no record were suppressed."""
        return sum(
            cost(j, low, high)
            for labels in self.problem.rows
            for j, (low, high) in enumerate(zip(labels, self.raised(labels, node), strict=True))
        )

    def precision(self, node: Node) -> Fraction:
        """Prec: 1 - the mean over the cells of level(v) / level(root)."""
        lost = sum(
            Fraction(tree.level[label], max(tree.level[tree.root], 1))
            for labels in self.released(node)
            for tree, label in zip(self.problem.trees, labels, strict=True)
        )
        return 1 - Fraction(lost) / (self.n * len(self.tops))

    def discernibility(self, node: Node) -> int:
        """DM: the squared sizes of the classes, and n per suppressed record."""
        squares = sum(len(rows) ** 2 for rows in self.kept(node))
        return squares + len(self.suppressed(node)) * self.n

    def class_size(self, node: Node) -> Fraction:
        """AECS: all records per class; the suppressed ones are one class more."""
        return Fraction(self.n, len(self.kept(node)) + bool(self.suppressed(node)))

    # Searching

    def look(self, node: Node) -> bool:
        """Count the classes of a node, and say whether it satisfies."""
        if node not in self.evaluated:
            self.evaluated.append(node)
        return self.satisfies(node)


def at_or_above(node: Node, other: Node) -> bool:
    return all(a >= b for a, b in zip(node, other, strict=True))


def exhaustive(
    lattice: PlainLattice, loss: Callable[[Node], int | Fraction]
) -> tuple[int | Fraction, Node]:
    """The least loss of all nodes that satisfy, and the first node in canonical order with it."""
    return min((loss(node), node) for node in lattice.nodes() if lattice.satisfies(node))


def minimal(lattice: PlainLattice) -> list[Node]:
    """The nodes that satisfy with none below them that does."""
    good = [node for node in lattice.nodes() if lattice.satisfies(node)]
    return [
        node for node in good if not any(at_or_above(node, low) and low != node for low in good)
    ]


# --- The papers' traversals ---------------------------------------------------------------------
def datafly(lattice: PlainLattice) -> Node:
    """Sweeney 1997: raise the column with the most distinct values until few records are left."""
    node = lattice.bottom
    while not lattice.look(node):
        distinct = lattice.distinct(node)
        steps = lattice.above(node)
        raised = [next(j for j in range(len(node)) if one[j] > node[j]) for one in steps]
        most = max(distinct[j] for j in raised)
        node = next(one for one, j in zip(steps, raised, strict=True) if distinct[j] == most)
    return node


def samarati(lattice: PlainLattice, loss: Callable[[Node], int | Fraction]) -> Node:
    """Samarati 2001: binary search on the height; Babu et al.: the best of the lowest one."""
    low, high = 0, sum(lattice.tops)
    while low < high:
        middle = (low + high) // 2
        if any(map(lattice.look, lattice.at_height(middle))):  # the first is enough
            high = middle
        else:
            low = middle + 1
    good = [node for node in lattice.at_height(low) if lattice.look(node)]
    return min(good, key=lambda node: (loss(node), node))


def improved_greedy(lattice: PlainLattice) -> list[Node]:
    """Babu et al., Algorithm 1: to the neighbour with the largest k. Returns the walk."""
    walk = [lattice.bottom]
    lattice.look(walk[-1])
    while lattice.anonymity(walk[-1]) < lattice.k:
        node = walk[-1]
        distinct = lattice.distinct(node)
        merits = {}
        for one in lattice.above(node):
            lattice.look(one)
            raised = next(j for j in range(len(node)) if one[j] > node[j])
            merits[one] = (-lattice.anonymity(one), -distinct[raised], raised)
        walk.append(min(merits, key=lambda one: merits[one]))
    return walk


def mingen(
    lattice: PlainLattice, chosen: Node | None, loss: Callable[[Node], int | Fraction]
) -> Node:
    """Sweeney 2002: all minimal generalisations; of these the least distorted, the preferred."""
    found: list[Node] = []
    for height in range(sum(lattice.tops) + 1):
        for node in lattice.at_height(height):
            if not any(at_or_above(node, low) for low in found) and lattice.look(node):
                found.append(node)
    best = max(lattice.precision(node) for node in found)
    tied = [node for node in found if lattice.precision(node) == best]
    return chosen if chosen in tied else min(tied, key=lambda node: (loss(node), node))


def incognito(lattice: PlainLattice) -> set[Node]:
    """LeFevre et al. 2005: per size of subset one queue by height. Returns what satisfies.

    A combination of some quasi-identifiers is looked at in the table without the others.
    """
    every = range(len(lattice.tops))

    def without_others(subset: tuple[int, ...], levels: Node) -> Node:
        levels_of = dict(zip(subset, levels, strict=True))
        return tuple(levels_of.get(j, lattice.tops[j]) for j in every)

    good: dict[tuple[int, ...], set[Node]] = {(): {()}}
    for size in range(1, len(lattice.tops) + 1):
        subsets = list(combinations(every, size))
        queue = []
        for subset in subsets:
            for levels in product(*(range(lattice.tops[j] + 1) for j in subset)):
                # The candidates: those whose every part with one less satisfies.
                if all(
                    (*levels[:i], *levels[i + 1 :]) in good[(*subset[:i], *subset[i + 1 :])]
                    for i in range(size)
                ):
                    queue.append((sum(levels), subset, levels))
        now: dict[tuple[int, ...], set[Node]] = {subset: set() for subset in subsets}
        for _, subset, levels in sorted(queue):
            marked = any(at_or_above(levels, low) for low in now[subset])
            if marked or lattice.look(without_others(subset, levels)):
                now[subset].add(levels)
        good = now
    return good[tuple(every)]


def ola(lattice: PlainLattice) -> set[Node]:
    """El Emam et al. 2009: K-Min on the strategies of a lattice. Returns what satisfies.

    The top is known to satisfy.
    """
    tags = Tags(lattice)
    tags.note(lattice.tops, True)

    def between(low: Node, high: Node, height: int) -> list[Node]:
        """The nodes of the sublattice so many steps above its bottom."""
        return [
            node
            for node in lattice.at_height(sum(low) + height)
            if at_or_above(node, low) and at_or_above(high, node)
        ]

    def k_min(low: Node, high: Node) -> None:
        height = sum(high) - sum(low)
        if height <= 1:
            tags.check(low)
            return
        for node in between(low, high, height // 2):
            if tags.check(node):
                k_min(low, node)
            else:
                k_min(node, high)

    k_min(lattice.bottom, lattice.tops)
    return tags.satisfying()


def flash_order(lattice: PlainLattice) -> list[Node]:
    """Kohlmayer et al. 2012: by height, mean share of the levels, mean share of values lost."""
    first = lattice.distinct(lattice.bottom)

    def place(node: Node) -> tuple[int, Fraction, Fraction, Node]:
        levels = sum(
            (Fraction(level, top) for level, top in zip(node, lattice.tops, strict=True) if top),
            Fraction(0),
        )
        left = sum(
            (Fraction(a, b) for a, b in zip(lattice.distinct(node), first, strict=True)),
            Fraction(0),
        )
        return sum(node), levels, -left, node

    return sorted(lattice.nodes(), key=place)


def flash(lattice: PlainLattice) -> set[Node]:
    """Kohlmayer et al. 2012: binary search on paths from below. Returns what satisfies."""
    tags = Tags(lattice)
    order = flash_order(lattice)
    place = {node: number for number, node in enumerate(order)}

    def find_path(node: Node) -> list[Node]:
        path = [node]
        while True:
            open_ones = sorted(
                (one for one in lattice.above(path[-1]) if one not in tags.known),
                key=place.__getitem__,
            )
            if not open_ones:
                return path
            path.append(open_ones[0])

    def check_path(path: list[Node], heap: set[Node]) -> None:
        low, high = 0, len(path) - 1
        while low <= high:
            middle = (low + high) // 2
            if tags.check(path[middle]):
                high = middle - 1
            else:
                heap.add(path[middle])
                low = middle + 1

    for start in order:
        if start in tags.known:
            continue
        heap: set[Node] = set()
        check_path(find_path(start), heap)
        while heap:
            failed = min(heap, key=place.__getitem__)
            heap.remove(failed)
            for node in sorted(lattice.above(failed), key=place.__getitem__):
                if node not in tags.known:
                    check_path(find_path(node), heap)
    return tags.satisfying()


class Tags:
    """Predictive tagging: above a node that satisfies all do, below one that fails all fail."""

    def __init__(self, lattice: PlainLattice) -> None:
        self.lattice = lattice
        self.known: dict[Node, bool] = {}

    def note(self, node: Node, satisfies: bool) -> None:
        for other in self.lattice.nodes():
            pair = (other, node) if satisfies else (node, other)
            if at_or_above(*pair):
                self.known[other] = satisfies

    def check(self, node: Node) -> bool:
        if node not in self.known:
            self.note(node, self.lattice.look(node))
        return self.known[node]

    def satisfying(self) -> set[Node]:
        return {node for node, satisfies in self.known.items() if satisfies}


# --- Least loss among what satisfies, where suppression makes the loss rise and fall ------------
Number = int | Fraction


@dataclass(frozen=True)
class PlainLoss:
    """What is minimised, and what is known of it without counting.

    Attributes
    ----------
    of
        The loss of a node.
    rank
        What loses least without suppression is looked at first.
    bound
        What a node loses at least, given the nodes that were looked at.
    """

    of: Callable[[Node], Number]
    rank: Callable[[Node], Number]
    bound: Callable[[Node, list[Node]], Number]


def plain_loss(lattice: PlainLattice, name: str, cost: Cost) -> PlainLoss:
    """A loss by its name in plans."""
    cells = cache(lambda node: lattice.cells(node, cost))
    unsuppressed = cache(lambda node: lattice.cells_unsuppressed(node, cost))
    if name in ("metric", "precision"):
        return PlainLoss(cells, unsuppressed, lambda node, seen: unsuppressed(node))

    def squares(node: Node) -> int:
        return sum(len(rows) ** 2 for rows in lattice.classes(node).values())

    def mean_size(node: Node) -> Fraction:
        return Fraction(lattice.n, len(lattice.classes(node)))

    of, least = {
        "discernibility": (lattice.discernibility, squares),
        "class-size": (lattice.class_size, mean_size),
    }[name]

    def bound(node: Node, seen: list[Node]) -> Number:
        """Classes only join on the way up."""
        return max((least(low) for low in seen if at_or_above(node, low)), default=0)

    return PlainLoss(cache(of), unsuppressed, bound)


def least_loss(lattice: PlainLattice, satisfying: set[Node], loss: PlainLoss) -> Node:
    """The best node: those that rank lowest first, and none that is known to lose more."""
    seen = [node for node in lattice.evaluated if node in satisfying]
    for node in sorted(satisfying, key=lambda one: (loss.rank(one), one)):
        if seen and loss.bound(node, seen) > min(loss.of(one) for one in seen):
            continue
        lattice.look(node)
        seen.append(node)
    return min(seen, key=lambda node: (loss.of(node), node))


def optimal(lattice: PlainLattice, loss: PlainLoss) -> tuple[Node, list[Node]]:
    """Ours: down from the top along satisfying nodes; then by bound, the highest first.

    Returns the best node and the way down.
    """
    tags = Tags(lattice)
    tags.check(lattice.tops)
    walk = [lattice.tops]
    while True:
        below = [node for node in lattice.nodes() if walk[-1] in lattice.above(node)]
        below = sorted(below, key=lambda node: (loss.rank(node), node))
        found = next((node for node in below if node not in tags.known and tags.check(node)), None)
        if found is None:
            break
        walk.append(found)
    best = min((loss.of(node), node) for node in walk)
    for node in sorted(lattice.nodes(), key=lambda one: (-loss.rank(one), one)):
        hopeless = (loss.rank(node), node) > best
        if hopeless or node in walk or tags.known.get(node) is False:
            continue
        if lattice.look(node):
            best = min(best, (loss.of(node), node))
        else:
            tags.note(node, False)
    return best[1], walk
