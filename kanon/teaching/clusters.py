"""Lessons of clustering: the cluster that grows, and every record that could have joined it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from kanon.base.formatting import counted
from kanon.reference.clustering import ClusterStep, k_member, oka
from kanon.reference.merging import PlainMerge, kaca
from kanon.reference.table import PlainTable
from kanon.teaching.blackboard import FIRST, Blackboard
from kanon.teaching.grouping import MADE, ClusterView, grouping
from kanon.teaching.lesson import Choice, ClassState, Rule, Step
from kanon.teaching.merging import merges_for_models, write_merges

_GROWTH, _LEAST = Rule("least growth of the cluster’s loss"), Rule("least cost")
_FURTHEST = Rule("furthest from the others of the cluster")


# --- KACA -------------------------------------------------------------------------------------
def _kaca(board: Blackboard) -> Iterator[Step]:
    task = board.task

    def drawn(made: PlainMerge) -> tuple[str, tuple[Choice, ...]]:
        return (
            f"Of the {counted(len(made.wrong), 'class', 'classes')} below k = {task.k}, "
            f"“{board.label(made.picked.nodes)}” ({counted(made.picked.records, 'record')}) is "
            f"drawn; the seed {task.seed} repeats the draw.",
            (),
        )

    nearest = replace(board, task=replace(task, strategy="s1"))
    merges = list(kaca(nearest.table))
    yield from write_merges(nearest, merges, drawn)
    yield from merges_for_models(board, board.recoded_by(merges))


# --- k-member and OKA -------------------------------------------------------------------------
def _write_clusters(
    board: Blackboard, algorithm: Callable[[PlainTable], Iterator[ClusterStep]]
) -> Iterator[Step]:
    before: tuple[tuple[int, ...], ...] = ()
    for made in algorithm(board.table):
        held = [
            board.held(members) if members else ClassState((), "", 0, ())
            for members in made.clusters
        ]
        recoding = board.recoded(each for each in held if each.records)
        taken = {each for members in made.clusters for each in members}
        left = tuple(each for each in range(board.task.classes.n_classes) if each not in taken)
        heading, sentence = _say(board, made, before)
        choices, met = list[Choice](), None
        if made.kind != "seeds":
            choices = [_choose(board, made)]
            sentence += f": {choices[0].reason}."
            pair = next(each.pair for each in made.options if each.number == _chosen(made))
            met = board.state(pair[0]), board.state(pair[1])
        view = ClusterView(made.cluster + 1, made.members, tuple(held), left, met)
        yield board.step(heading, sentence, recoding, choices, view)
        before = made.clusters
    yield from merges_for_models(board, recoding)


def _chosen(made: ClusterStep) -> int:
    return made.members[0] if made.kind in ("begin", "grow", "leave") else made.cluster


def _choose(board: Blackboard, made: ClusterStep) -> Choice:
    number = made.cluster + 1
    furthest = f"furthest from {'the last beginning' if made.cluster else 'the drawn record'}"
    label = board.held(made.members).label
    question, rules = {
        "begin": (f"With which record does cluster {number} begin?", (Rule(furthest), FIRST)),
        "grow": (f"Which record joins cluster {number}?", (_GROWTH, FIRST)),
        "leave": (f"Who leaves cluster {number}?", (_FURTHEST, FIRST)),
        "merge": (f"With which cluster is cluster {made.other + 1} merged?", (_LEAST, MADE)),
    }.get(made.kind, (f"Which cluster does “{label}” join?", (_GROWTH, MADE)))
    candidates = []
    for option in made.options:
        one, other = option.pair
        by_class = made.kind in ("begin", "grow", "leave")
        cost = float(option.cost)
        candidate = board.candidate(other if by_class else one, option.key, None, cost)
        name = candidate.name if by_class else f"cluster {option.number + 1}: {candidate.name}"
        records = 1 if made.kind == "begin" else None
        terms = board.merging(board.state(one), board.state(other), records)
        refused = "" if option.allowed else f"fewer than k = {board.task.k} records would stay"
        chosen = option.number == _chosen(made)
        candidates.append(
            replace(candidate, name=name, chosen=chosen, cost=cost, terms=terms, refused=refused)
        )
    return Choice(question, rules, tuple(candidates))


def _say(
    board: Blackboard, made: ClusterStep, before: tuple[tuple[int, ...], ...]
) -> tuple[str, str]:
    k, seed, number, table = board.task.k, board.task.seed, made.cluster + 1, board.table
    held = board.held(made.members)
    label, records = held.label, counted(held.records, "record")
    if made.kind == "seeds":
        begun = ", ".join(f"“{board.originals[each].label}”" for each in made.members)
        return (
            counted(len(made.members), "cluster begins", "clusters begin"),
            f"{sum(table.records)} records allow "
            f"{counted(sum(table.records) // k, 'cluster')} of k = {k}: records are "
            f"drawn until so many tuples came up (the seed {seed} repeats the draws), and "
            f"each begins a cluster: {begun}.",
        )
    if made.kind == "begin":
        last = board.originals[made.other].label
        how = f"which was drawn (the seed {seed} repeats the draw)"
        from_ = f"“{last}”, {'with which the last cluster began' if made.cluster else how}"
        return (
            f"Cluster {number} begins: {label}",
            f"What is compared is the cost of putting one record together with one of {from_}. "
            f"“{label}” begins the cluster",
        )
    size = counted(table.size(before[made.cluster]), "record")
    if made.kind == "grow":
        return (
            f"Cluster {number}: {label} joins",
            f"The cluster holds {size}, fewer than k = {k}. “{label}” ({records}) joins",
        )
    if made.kind == "leftover":
        rest = sum(table.records) - sum(map(table.size, before))
        return (
            f"{label} is left over",
            f"{counted(rest, 'record is', 'records are')} left, fewer than k = {k}: they "
            f"join in random order. “{label}” joins cluster {number}",
        )
    if made.kind == "leave":
        return (
            f"{label} leaves cluster {number}",
            f"Cluster {number} holds {size}, more than k = {k}. “{label}” leaves, and at least k "
            "stay",
        )
    if made.kind == "merge":
        return (
            f"Cluster {made.other + 1} is merged with cluster {number}",
            f"It holds {records}, fewer than k = {k}, as records with the same values stay "
            f"together. It goes to cluster {number}",
        )
    why = "Every other record, in tree order, joins the cluster that it costs least to widen"
    if made.kind == "refill" and any(table.size(members) < k for members in before):
        why = (
            "Records that were given away join, in random order, the nearest cluster with fewer "
            f"than k = {k}"
        )
    elif made.kind == "refill":
        why = "No cluster is below k any more, so it joins the nearest of all"
    return f"{label} joins cluster {number}", f"{why}. It is cluster {number}"


REPLAYS: Mapping[str, Callable[[Blackboard], Iterator[Step]]] = {
    "kaca": _kaca,
    "k-member": lambda board: _write_clusters(board, k_member),
    "oka": lambda board: _write_clusters(board, oka),
    "mdav": grouping,
}
