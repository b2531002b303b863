"""The lattice in sentences: what a step of a search did, what its numbers mean."""

from kanon.algorithms.catalogue import short_title
from kanon.algorithms.lattice_size import Node, cell_recodings_log10, largest_level
from kanon.algorithms.search import FULL_DOMAIN, own_way
from kanon.base.formatting import counted, percent, thin
from kanon.base.how_texts import Sections
from kanon.base.sentences import records_said
from kanon.experiments.exploration import WALKERS, Assessment, Exploration, VisitedNode, Walk
from kanon.studio.lattice.subject import Subject
from kanon.studio.session.text import plain, shortened

_how = Sections(__file__)


def step_said(explored: Exploration, walk: Walk, step: int | None) -> str:
    """What a search did at one of its steps, by default the last; later, that it has stopped."""
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
    said = f"{title}, step {number}: {did}."
    return f"{said} {_stopped(explored, one, walk)}" if end else said


def _stopped(explored: Exploration, one: VisitedNode, walk: Walk) -> str:
    loss = explored.assessed.loss_suppressed[explored.assessed.places[one.node]]
    did = f" and suppresses {records_said(one.suppressed)}" if one.suppressed else ""
    if one.suppressed > explored.limit:
        limit = _limit(explored.limit)
        did += f", as published, though the lattice here may suppress {limit}"
    nodes = counted(walk.evaluated, "node")
    return f"Here it stops{did}: a loss of {percent(float(loss))}, having counted {nodes}."


def _limit(records: int) -> str:
    return thin(records) if records else "none"


def _raised(explored: Exploration, one: VisitedNode, walk: Walk) -> str:
    assert one.raised is not None
    name, level = shortened(explored.attributes[one.raised]), one.node[one.raised]
    if walk.algorithm == "datafly":
        return "raises {column} ({values}, the most) to level {level}; {rest}".format(
            column=name,
            values=counted(one.distinct, "distinct value"),
            level=level,
            rest=_too_small(explored, one),
        )
    return (
        f"raises {name} to level {level}, as no other single step reaches a larger k than "
        f"{thin(one.reached)}"
    )


def _jumped(one: VisitedNode, walk: Walk, end: bool) -> str:
    height = sum(one.node)
    if end:
        return f"takes, of the nodes of height {height} that satisfy, the one of least loss"
    if one.suppressed <= walk.limit:
        return f"height {height} has a node that satisfies, so it looks no higher"
    return f"no node of height {height} satisfies, so it looks higher"


def _too_small(explored: Exploration, one: VisitedNode) -> str:
    below = f"classes below k = {thin(explored.k)}"
    if explored.others:
        below = f"{below} or that break a model"
    return f"{counted(one.suppressed, 'record is', 'records are')} in {below}"


def size_said(ready: Subject) -> str:
    """How many nodes there are, counted and approximated, and recodings cell by cell."""
    explored, trees = ready.outline, ready.task.classes.hierarchies
    factors = " · ".join(str(tree.height) for tree in trees)
    most = max(explored.per_height)
    nodes = (
        f"Nodes: {factors} = {thin(explored.size)}, the product of the heights h. Widest height: "
        f"{thin(most)} nodes; the normal approximation, Π h / √(2π Σ (h² − 1) / 12), gives about "
        f"{thin(round(largest_level(trees)))}."
    )
    recodings = _power_of_ten(cell_recodings_log10(trees, explored.n_records))
    records = records_said(explored.n_records)
    return f"{nodes} With a level for every cell of {records}: {recodings} recodings."


def _power_of_ten(log10: float) -> str:
    """A whole number given by its logarithm: in full below a million, else as a power of ten.

    >>> _power_of_ten(0.0), _power_of_ten(2.40824), _power_of_ten(123.4)
    ('1', '256', 'about 10¹²³')
    """
    if log10 < 6:
        return thin(round(10**log10))
    exponent = str(round(log10)).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"about 10{exponent}"


def levels_said(explored: Exploration, node: Node) -> str:
    pairs = zip(explored.attributes, node, strict=True)
    return ", ".join(f"{shortened(name, 24)} {level}" for name, level in pairs)


def levels_shown(labels: list[str], most: int = 3) -> str:
    """Some of what a column's values become at a level, and how many there are.

    >>> levels_shown(["a", "b", "c", "d"])
    'a, b, c … (4)'
    """
    listed = ", ".join(shortened(label, 16) for label in labels[:most])
    return listed if len(labels) <= most else f"{listed} … ({thin(len(labels))})"


def verdict(explored: Exploration, found: Assessment, node: Node) -> str:
    place = found.places[node]
    gone, limit = int(found.suppressed[place]), found.limit
    if gone > limit:
        least = "at least " if explored.others else ""
        return (
            f"Does not satisfy: {least}{records_said(gone)} would have to be suppressed, and "
            f"{_limit(limit)} may be."
        )
    parts = ["Satisfies"]
    if node == explored.least:
        parts.append("no node loses less")
    if node in explored.minimal:
        parts.append("minimal: lower any column by one level, and it fails")
    if node in explored.tied:
        tied = counted(len(explored.tied), "node")
        parts.append(
            "MinGen takes it"
            if len(explored.tied) == 1
            else f"one of {tied} among which MinGen lets you choose"
        )
    return "; ".join(parts) + "."


def how_lattice(ready: Subject, explored: Exploration) -> str:
    trees = ready.task.classes.hierarchies
    heights = ", ".join(
        f"{plain(shortened(name))} {tree.height}"
        for name, tree in zip(explored.attributes, trees, strict=True)
    )
    size, spread = explored.size, sum((tree.height**2 - 1) / 12 for tree in trees)
    n_edges = sum(size // tree.height * (tree.height - 1) for tree in trees)
    sources = "; ".join(dict.fromkeys(module.CARD.source for module in WALKERS.values()))
    required = f"k = {thin(explored.k)}"
    if explored.others:
        required = f"{required} or one of the other models"
    allowed = "No record is"
    if explored.limit:
        allowed = f"At most {counted(explored.limit, 'record is', 'records are')}"
    weighted = ""
    if ready.prepared.plan.algorithm.attribute_weights:
        weighted = (
            " Columns count by their weights here, as they do while searching; alteration on the "
            "other pages counts each once."
        )
    suppressed = "k records, as published, as no limit was set"
    if ready.task.suppression is not None:
        suppressed = f"up to {counted(ready.task.suppression, 'record')}"
    searches = (
        f"**{plain(module.CARD.title)}.** {plain(own_way(module.CARD.how))}"
        for module in WALKERS.values()
    )
    return _how(
        "lattice",
        full_domain=FULL_DOMAIN,
        heights=heights,
        nodes=thin(size),
        edges=thin(n_edges),
        variance=f"{spread:.2f}",
        expected=thin(round(largest_level(trees))),
        widest=thin(max(explored.per_height)),
        allowed=f"{allowed} in classes that break {required}.",
        metric=plain(ready.prepared.plan.metric.card.title),
        weighted=weighted,
        searches="\n\n".join(searches),
        suppressed=f"Datafly may suppress {suppressed}.",
        source=plain(sources),
    )
