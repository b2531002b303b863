"""OLA: halve the lattice between nodes that fail and nodes that meet the requirements."""

from functools import partial

from kanon.algorithms.algorithm_card import read_algorithm_card
from kanon.algorithms.lattice import Lattice
from kanon.algorithms.lattice_size import Node
from kanon.algorithms.search import (
    FULL_DOMAIN,
    LOSS,
    NodeLog,
    NodeTags,
    begin_search,
    check_full_domain,
    log_nothing,
    run_search,
)
from kanon.algorithms.task import Task
from kanon.base.progress import Progress, ignore_progress
from kanon.recoding import Recoding

CARD = read_algorithm_card(__file__, (LOSS,), family_text=FULL_DOMAIN)

check = partial(check_full_domain, title=CARD.title)


def anonymise(task: Task, progress: Progress = ignore_progress) -> Recoding:
    """The full-domain release with the least loss, found by OLA.

    Between a node and one above it that meets the requirements, the nodes half-way up are looked
    at in canonical order. The search goes on below a node that meets them and above one that fails,
    each time between nearer ends, until these are neighbours. A result is noted for all nodes above
    too, or for all below. The top meets the requirements (checked before): it is not evaluated.

    Source: El Emam et al. 2009. The paper chooses among the minimal nodes. With suppression,
    another node can lose less, so all nodes that could are looked at in the end.
    """
    return run_search(search, begin_search(task, progress, check))


def search(lattice: Lattice, tags: NodeTags, log_node: NodeLog = log_nothing) -> None:
    """Decide for every node whether it meets the requirements; logs it with low and high node."""
    tags.set_tag(lattice.tops, satisfies=True)
    _search_between(lattice, tags, lattice.bottom, lattice.tops, log_node)


def _search_between(
    lattice: Lattice, tags: NodeTags, low: Node, high: Node, log_node: NodeLog
) -> None:
    if tags.satisfying[low]:
        return
    height = sum(high) - sum(low)
    if height <= 1:
        if not tags.failing[low]:
            log_node(low, (low, high))
            tags.check(low)
        return
    # Where all is known the published recursion would go on, and evaluate nothing.
    region = tuple(slice(a, b + 1) for a, b in zip(low, high, strict=True))
    if (tags.satisfying[region] | tags.failing[region]).all():
        return
    for node in lattice.list_nodes_between(low, high, height // 2):
        satisfies = tags.get_tag(node)
        if satisfies is None:
            log_node(node, (low, high))
            satisfies = tags.check(node)
        if satisfies:
            _search_between(lattice, tags, low, node, log_node)
        else:
            _search_between(lattice, tags, node, high, log_node)
