"""The lattice in sentences: what a step of a search did, what its numbers mean."""

from __future__ import annotations

from kanon.algorithms.lattice import Node, largest_level
from kanon.algorithms.search import FULL_DOMAIN
from kanon.exploration import WALKERS, Assessed, Explored, Step, Walk
from kanon.run import short_title
from kanon.studio.lattice import Ready
from kanon.studio.text import plain, shortened
from kanon.words import counted, percent, thin

__all__ = ["how_lattice", "levels_said", "levels_shown", "size_said", "step_said", "verdict"]


def step_said(explored: Explored, walk: Walk, step: int | None) -> str:
    """What a search did at one of its steps; at a later one, that it has stopped.

    Parameters
    ----------
    explored
        The lattice.
    walk
        The walk.
    step
        The number of the step; None for the last.
    """
    title = short_title(walk.algorithm)
    if not walk.steps:
        return f"{title}: {walk.problem}" if walk.problem else ""
    number = walk.last if step is None else min(step, walk.last)
    if number < walk.first:
        return f"{title} has not begun yet."
    one = walk.steps[number - walk.first]
    end = number == walk.last
    if not walk.climbs:
        did = _jumped(one, walk, end)
    elif one.raised is None:
        did = f"starts from the original values; {_too_small(explored, one)}"
    else:
        did = _raised(explored, one, walk)
    stop = ""
    if end:
        cost = explored.assessed.loss[explored.assessed.places[one.node]]
        evaluated = counted(walk.evaluated, "node")
        gone = f" and suppresses {counted(one.suppressed, 'record')}" if one.suppressed else ""
        if one.suppressed > explored.limit:
            gone += ", as published, though the lattice here may suppress "
            gone += thin(explored.limit) if explored.limit else "none"
        loss = percent(float(cost))
        stop = f" Here it stops{gone}: a loss of {loss}, having counted {evaluated}."
    return f"{title}, step {number}: {did}.{stop}"


def _raised(explored: Explored, one: Step, walk: Walk) -> str:
    assert one.raised is not None
    name, level = shortened(explored.attributes[one.raised]), one.node[one.raised]
    if walk.algorithm == "datafly":
        return (
            f"raises {name} ({counted(one.distinct, 'distinct value')}, the most) to level "
            f"{level}; {_too_small(explored, one)}"
        )
    return (
        f"raises {name} to level {level}, as no other single step reaches a larger k than "
        f"{thin(one.reached)}"
    )


def _jumped(one: Step, walk: Walk, end: bool) -> str:
    """What a binary search over heights learnt."""
    height = sum(one.node)
    if end:
        return f"takes, of the nodes of height {height} that satisfy, the one of least loss"
    if one.suppressed <= walk.limit:
        return f"height {height} has a node that satisfies, so it looks no higher"
    return f"no node of height {height} satisfies, so it looks higher"


def _too_small(explored: Explored, one: Step) -> str:
    are = "is" if one.suppressed == 1 else "are"
    which = f"below k = {thin(explored.k)}" + (" or that break a model" if explored.others else "")
    return f"{counted(one.suppressed, 'record')} {are} in classes {which}"


def size_said(ready: Ready) -> str:
    """How many nodes there are, counted and by the formulas."""
    explored, trees = ready.outline, ready.task.classes.hierarchies
    factors = " · ".join(str(tree.height) for tree in trees)
    most = max(explored.per_height)
    return (
        f"Nodes: {factors} = {thin(explored.size)}, the product of the heights. Widest height: "
        f"{thin(most)} nodes; by the formula about {thin(round(largest_level(trees)))}."
    )


def levels_said(explored: Explored, node: Node) -> str:
    """The levels of a node in words."""
    pairs = zip(explored.attributes, node, strict=True)
    return ", ".join(f"{shortened(name, 24)} {level}" for name, level in pairs)


def levels_shown(labels: list[str], most: int = 3) -> str:
    """Some of what a column's values become at a level, and how many there are.

    >>> levels_shown(["a", "b", "c", "d"])
    'a, b, c … (4)'
    """
    listed = ", ".join(shortened(label, 16) for label in labels[:most])
    return listed if len(labels) <= most else f"{listed} … ({thin(len(labels))})"


def verdict(explored: Explored, found: Assessed, node: Node) -> str:
    """Whether a node satisfies, and what it is among the others."""
    place = found.places[node]
    gone, limit = int(found.suppressed[place]), found.limit
    if gone > limit:
        at_least = "at least " if explored.others else ""
        return (
            f"Does not satisfy: {at_least}{counted(gone, 'record')} would have to be suppressed, "
            f"and {thin(limit) if limit else 'none'} may be."
        )
    parts = ["Satisfies"]
    if node == explored.least:
        parts.append("no node loses less")
    if node in explored.minimal:
        parts.append("minimal: lower any column by one level, and it fails")
    if node in explored.tied:
        one = len(explored.tied) == 1
        parts.append(
            "MinGen takes it"
            if one
            else f"one of {counted(len(explored.tied), 'node')} among which MinGen lets you choose"
        )
    return "; ".join(parts) + "."


def how_lattice(ready: Ready, explored: Explored) -> str:
    """What the picture shows and how its numbers come about, with this lattice's figures."""
    trees = ready.task.classes.hierarchies
    heights = ", ".join(
        f"{plain(shortened(name))} {tree.height}"
        for name, tree in zip(explored.attributes, trees, strict=True)
    )
    size, spread = explored.size, sum((tree.height**2 - 1) / 12 for tree in trees)
    n_edges = sum(size // tree.height * (tree.height - 1) for tree in trees)
    metric = ready.prepared.plan.metric.card.title
    weights = ready.prepared.plan.algorithm.attribute_weights
    are = "is" if explored.limit == 1 else "are"
    allowed = (
        f"At most {counted(explored.limit, 'record')} {are}" if explored.limit else "No record is"
    )
    sources = "; ".join(dict.fromkeys(module.CARD.source for module in WALKERS.values()))
    return (
        f"{FULL_DOMAIN} Raising one column by one level leads to the node above; the **height** of "
        "a node is the sum of its levels. At the bottom nothing is raised, at the top everything "
        "is lost.\n\n"
        f"**How many nodes.** With h_j levels of column j ({heights}) there are Π h_j = "
        f"{thin(size)} nodes and Σ_j (h_j − 1) · Π_(i≠j) h_i = {thin(n_edges)} edges. The sum of "
        "the levels of a node drawn at random is nearly normal, with variance Σ (h_j² − 1)/12 = "
        f"{spread:.2f}, so the widest height has about Π h_j / √(2π Σ (h_j² − 1)/12) = "
        f"{thin(round(largest_level(trees)))} nodes; counted, it has "
        f"{thin(max(explored.per_height))}. How many there are at each height is the coefficient "
        "of x to that power in the product of (1 + x + … + x^(h_j − 1)): no node has to be "
        "listed for it.\n\n"
        f"**Satisfies.** {allowed} in classes that break k = {thin(explored.k)}"
        + (" or one of the other models" if explored.others else "")
        + ". Every node above one that satisfies does so too. A satisfying node is **minimal** if "
        "none below it satisfies.\n\n"
        "**k reached.** The largest k that the node has once at most the allowed number of records "
        "is suppressed.\n\n"
        f"**Loss** = 100 · cost / cost of losing everything, as {plain(metric)} counts, in percent "
        "of all that could be lost. Records in classes that do not satisfy count as lost "
        "completely, whether or not so many may be suppressed: so low nodes lose much although "
        "they raise little."
        + (
            " Columns count by their weights here, as they do while searching; alteration on the "
            "other pages counts each once."
            if weights
            else ""
        )
        + "\n\n"
        + "\n\n".join(
            f"**{plain(module.CARD.title)}.** {plain(module.HOW.removeprefix(FULL_DOMAIN).strip())}"
            for module in WALKERS.values()
        )
        + "\n\nTies of Improved greedy go to the column with the most distinct values. Datafly may "
        + (
            "suppress k records, as published, as no limit was set."
            if ready.task.suppression is None
            else f"suppress up to {counted(ready.task.suppression, 'record')}."
        )
        + f"\n\nSource: {plain(sources)}."
    )
