"""The lattice in sentences: what a step of a search did, what its numbers mean."""

from kanon.algorithms.catalogue import short_title
from kanon.algorithms.lattice_size import (
    Node,
    compute_cell_recodings_log10,
    estimate_largest_height,
)
from kanon.algorithms.search import FULL_DOMAIN, get_own_steps
from kanon.base.formatting import count_noun, write_count, write_percent
from kanon.base.how_texts import Sections
from kanon.base.sentences import write_records
from kanon.experiments.exploration import (
    WALKING_SEARCHES,
    Assessment,
    Exploration,
    VisitedNode,
    Walk,
)
from kanon.studio.lattice.subject import LatticeInputs
from kanon.studio.session.text import escape_markdown, trim_title

_how = Sections(__file__)


def describe_step(lattice: Exploration, walk: Walk, step: int | None) -> str:
    title = short_title(walk.algorithm)
    if not walk.steps:
        return f"{title}: {walk.problem}" if walk.problem else ""
    number = walk.last if step is None else min(step, walk.last)
    if number < walk.first:
        return f"{title} has not started yet."
    visit = walk.steps[number - walk.first]
    end = number == walk.last
    if not walk.climbs:
        deed = _describe_jump(visit, walk, end)
    elif visit.raised is None:
        deed = f"starts from the original values; {_count_too_small(lattice, visit)}"
    else:
        deed = _describe_raise(lattice, visit, walk)
    sentence = f"{title}, step {number}: {deed}."
    return f"{sentence} {_describe_stop(lattice, visit, walk)}" if end else sentence


def _describe_stop(lattice: Exploration, visit: VisitedNode, walk: Walk) -> str:
    loss = lattice.assessment.loss_suppressed[lattice.assessment.places[visit.node]]
    suppression = f" and suppresses {write_records(visit.suppressed)}" if visit.suppressed else ""
    if visit.suppressed > lattice.limit:
        suppression += f", as published, although the limit here is {write_count(lattice.limit)}"
    nodes = count_noun(walk.evaluated, "node")
    return f"It stops here{suppression}. Loss: {write_percent(float(loss))}; counted: {nodes}."


def _write_limit(records: int) -> str:
    return write_count(records) if records else "none"


def _describe_raise(lattice: Exploration, visit: VisitedNode, walk: Walk) -> str:
    assert visit.raised is not None
    name, level = trim_title(lattice.attributes[visit.raised]), visit.node[visit.raised]
    if walk.algorithm == "datafly":
        return "raises {column} ({values}, the most) to level {level}; {rest}".format(
            column=name,
            values=count_noun(visit.distinct, "distinct value"),
            level=level,
            rest=_count_too_small(lattice, visit),
        )
    return (
        f"raises {name} to level {level}; no other single step reaches a larger k than "
        f"{write_count(visit.reached)}"
    )


def _describe_jump(visit: VisitedNode, walk: Walk, end: bool) -> str:
    height = sum(visit.node)
    if end:
        return f"chooses the node at height {height} that meets the requirements and loses least"
    if visit.suppressed <= walk.limit:
        return f"a node of height {height} meets the requirements, so the search goes no higher"
    return f"no node of height {height} meets the requirements, so the search goes higher"


def _count_too_small(lattice: Exploration, visit: VisitedNode) -> str:
    below = f"classes below k = {write_count(lattice.k)}"
    if lattice.others:
        below = f"{below} or that do not meet a model"
    return f"{count_noun(visit.suppressed, 'record is', 'records are')} in {below}"


def _write_power_of_ten(log10: float) -> str:
    """A whole number from its logarithm: in full below a million, else as a power of ten.

    >>> [_write_power_of_ten(log10) for log10 in (0.0, 2.40824, 123.4)]
    ['1', '256', 'about 10¹²³']
    """
    if log10 < 6:
        return write_count(round(10**log10))
    exponent = str(round(log10)).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"about 10{exponent}"


def list_node_levels(lattice: Exploration, node: Node) -> str:
    pairs = zip(lattice.attributes, node, strict=True)
    return ", ".join(f"{trim_title(name, 24)} {level}" for name, level in pairs)


def list_labels(labels: list[str], most: int = 3) -> str:
    """The first labels of a column at a level, and how many there are.

    >>> list_labels(["a", "b", "c", "d"])
    'a, b, c … (4)'
    """
    first_labels = ", ".join(trim_title(label, 16) for label in labels[:most])
    return first_labels if len(labels) <= most else f"{first_labels} … ({write_count(len(labels))})"


def describe_node(lattice: Exploration, counts: Assessment, node: Node) -> str:
    place = counts.places[node]
    suppressed, limit = int(counts.suppressed[place]), counts.limit
    if suppressed > limit:
        least = "at least " if lattice.others else ""
        return (
            f"Does not meet the requirements: {least}{write_records(suppressed)} would have to "
            f"be suppressed, but {_write_limit(limit)} may be."
        )
    parts = ["Meets the requirements"]
    if node == lattice.least:
        parts.append("no node loses less")
    if node in lattice.minimal:
        parts.append("minimal: it fails if any column is lowered by one level")
    if node in lattice.mingen_nodes:
        ties = count_noun(len(lattice.mingen_nodes), "node")
        parts.append(
            "MinGen takes it"
            if len(lattice.mingen_nodes) == 1
            else f"one of {ties} among which MinGen lets you choose"
        )
    return "; ".join(parts) + "."


def explain_lattice(ready: LatticeInputs, lattice: Exploration) -> str:
    trees = ready.task.classes.hierarchies
    heights = ", ".join(
        f"{escape_markdown(trim_title(name))} {tree.height}"
        for name, tree in zip(lattice.attributes, trees, strict=True)
    )
    size, spread = lattice.size, sum((tree.height**2 - 1) / 12 for tree in trees)
    n_edges = sum(size // tree.height * (tree.height - 1) for tree in trees)
    sources = "; ".join(dict.fromkeys(module.CARD.source for module in WALKING_SEARCHES.values()))
    requirements = f"k = {write_count(lattice.k)}"
    if lattice.others:
        requirements = f"{requirements} or one of the other models"
    limit = "No record is"
    if lattice.limit:
        limit = f"At most {count_noun(lattice.limit, 'record is', 'records are')}"
    about_weights = ""
    if ready.prepared.plan.algorithm.attribute_weights:
        about_weights = (
            " Here columns count by their weights, as in the search; alteration on the other "
            "pages counts each column once."
        )
    suppressed = "k records, as published, because no limit was set"
    if ready.task.suppression is not None:
        suppressed = f"up to {count_noun(ready.task.suppression, 'record')}"
    searches = (
        f"**{escape_markdown(module.CARD.title)}.** "
        f"{escape_markdown(get_own_steps(module.CARD.how))}"
        for module in WALKING_SEARCHES.values()
    )
    return _how(
        "lattice",
        full_domain=FULL_DOMAIN,
        heights=heights,
        nodes=write_count(size),
        edges=write_count(n_edges),
        variance=f"{spread:.2f}",
        expected=write_count(round(estimate_largest_height(trees))),
        widest=write_count(max(lattice.per_height)),
        recodings=_write_power_of_ten(compute_cell_recodings_log10(trees, lattice.n_records)),
        allowed=f"{limit} in classes that do not meet {requirements}.",
        metric=escape_markdown(ready.prepared.plan.metric.card.title),
        weighted=about_weights,
        searches="\n\n".join(searches),
        suppressed=f"Datafly can suppress {suppressed}.",
        source=escape_markdown(sources),
    )
