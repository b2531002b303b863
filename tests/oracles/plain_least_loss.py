"""The least loss of any release of a small table, by trying all of them."""

from itertools import combinations

from oracles.plain_clustering import partitions
from oracles.plain_lattice_sweep import Cost, Labels
from support.random_tables import Problem


def least(problem: Problem, cost: Cost, k: int, items: list[tuple[Labels, int]]) -> int:
    """The least loss of any way to part some tuples with their records into parts of k."""

    def loss(part: list[tuple[Labels, int]]) -> int:
        high = part[0][0]
        for labels, _ in part:
            high = tuple(t.lca(x, y) for t, x, y in zip(problem.trees, high, labels, strict=True))
        return sum(int(cost(labels, high)) * records for labels, records in part)

    return min(
        sum(map(loss, parts))
        for parts in partitions(items)
        if all(sum(records for _, records in part) >= k for part in parts)
    )


def least_with_suppression(problem: Problem, cost: Cost, k: int) -> int:
    """The least loss of any release of the records, some of which may be suppressed.

    One that is suppressed loses as much as at the roots.
    """
    roots = tuple(tree.root for tree in problem.trees)
    found = []
    for shown in range(len(problem.rows) + 1):
        for places in combinations(range(len(problem.rows)), shown):
            rest = [row for at, row in enumerate(problem.rows) if at not in places]
            lost = sum(int(cost(row, roots)) for row in rest)
            if shown == 0:
                found.append(lost)
            elif shown >= k:
                rows = [(problem.rows[at], 1) for at in places]
                found.append(lost + least(problem, cost, k, rows))
    return min(found)
