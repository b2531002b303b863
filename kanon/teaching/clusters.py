"""Lessons of clustering: the cluster that grows, and every record that could join it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from kanon.base.formatting import count_noun
from kanon.reference.clustering import ClusterStep, k_member, oka
from kanon.reference.merging import PlainMerge, kaca
from kanon.reference.table import PlainTable
from kanon.teaching.blackboard import FIRST, Blackboard
from kanon.teaching.grouping import FIRST_CLUSTER, ClusterView, explain_mdav
from kanon.teaching.lesson import Choice, ClassState, Rule, Step
from kanon.teaching.merging import explain_model_merges, write_merges

_GROWTH, _LEAST = Rule("least growth of the cluster’s loss"), Rule("least cost")
_FURTHEST = Rule("furthest from the others in the cluster")


# --- KACA -------------------------------------------------------------------------------------
def _explain_kaca(board: Blackboard) -> Iterator[Step]:
    task = board.task

    def describe_draw(merge: PlainMerge) -> tuple[str, tuple[Choice, ...]]:
        return (
            f"“{board.label(merge.picked.nodes)}” ({count_noun(merge.picked.records, 'record')}) "
            f"is drawn from the {count_noun(len(merge.breaking_classes), 'class', 'classes')} "
            f"below k = {task.k}; seed {task.seed} always draws the same class.",
            (),
        )

    nearest = replace(board, task=replace(task, strategy="s1"))
    merges = list(kaca(nearest.table))
    yield from write_merges(nearest, merges, describe_draw)
    yield from explain_model_merges(board, board.apply_merges(merges))


# --- k-member and OKA -------------------------------------------------------------------------
def _write_clusters(
    board: Blackboard, algorithm: Callable[[PlainTable], Iterator[ClusterStep]]
) -> Iterator[Step]:
    before: tuple[tuple[int, ...], ...] = ()
    for step in algorithm(board.table):
        states = [
            board.held(members) if members else ClassState((), "", 0, ())
            for members in step.clusters
        ]
        recoding = board.build_recoding(state for state in states if state.records)
        clustered = {place for members in step.clusters for place in members}
        left = tuple(c for c in range(board.task.classes.n_classes) if c not in clustered)
        heading, sentence = _describe_cluster_step(board, step, before)
        choices, met = list[Choice](), None
        if step.kind != "seeds":
            choices = [_build_cluster_choice(board, step)]
            sentence += f": {choices[0].reason}."
            pair = next(o.pair for o in step.options if o.number == _get_chosen_number(step))
            met = board.state(pair[0]), board.state(pair[1])
        view = ClusterView(step.cluster + 1, step.members, tuple(states), left, met)
        yield board.step(heading, sentence, recoding, choices, view)
        before = step.clusters
    yield from explain_model_merges(board, recoding)


def _get_chosen_number(step: ClusterStep) -> int:
    return step.members[0] if step.kind in ("begin", "grow", "leave") else step.cluster


def _build_cluster_choice(board: Blackboard, step: ClusterStep) -> Choice:
    number = step.cluster + 1
    furthest = (
        f"furthest from {'the start of the last cluster' if step.cluster else 'the drawn record'}"
    )
    label = board.held(step.members).label
    question, rules = {
        "begin": (f"With which record does cluster {number} begin?", (Rule(furthest), FIRST)),
        "grow": (f"Which record joins cluster {number}?", (_GROWTH, FIRST)),
        "leave": (f"Which record leaves cluster {number}?", (_FURTHEST, FIRST)),
        "merge": (
            f"With which cluster is cluster {step.other + 1} merged?",
            (_LEAST, FIRST_CLUSTER),
        ),
    }.get(step.kind, (f"Which cluster does “{label}” join?", (_GROWTH, FIRST_CLUSTER)))
    candidates = []
    for option in step.options:
        first, second = option.pair
        by_class = step.kind in ("begin", "grow", "leave")
        cost = float(option.cost)
        candidate = board.build_candidate(second if by_class else first, option.key, None, cost)
        name = candidate.name if by_class else f"cluster {option.number + 1}: {candidate.name}"
        records = 1 if step.kind == "begin" else None
        terms = board.list_merge_costs(board.state(first), board.state(second), records)
        refused = "" if option.allowed else f"fewer than k = {board.task.k} records would stay"
        chosen = option.number == _get_chosen_number(step)
        candidates.append(
            replace(candidate, name=name, chosen=chosen, cost=cost, terms=terms, refused=refused)
        )
    return Choice(question, rules, tuple(candidates))


def _describe_cluster_step(
    board: Blackboard, step: ClusterStep, before: tuple[tuple[int, ...], ...]
) -> tuple[str, str]:
    k, seed, number, table = board.task.k, board.task.seed, step.cluster + 1, board.table
    state = board.held(step.members)
    label, records = state.label, count_noun(state.records, "record")
    if step.kind == "seeds":
        firsts = ", ".join(f"“{board.originals[place].label}”" for place in step.members)
        return (
            count_noun(len(step.members), "cluster begins", "clusters begin"),
            f"{sum(table.records)} records are enough for "
            f"{count_noun(sum(table.records) // k, 'cluster')} of k = {k}. Records are "
            f"drawn until there are that many different ones (seed {seed} always draws the same "
            f"records). Each begins a cluster: {firsts}.",
        )
    if step.kind == "begin":
        last = board.originals[step.other].label
        how = f"which was drawn (seed {seed} always draws it)"
        from_ = f"“{last}”, {'with which the last cluster began' if step.cluster else how}"
        return (
            f"Cluster {number} begins: {label}",
            f"Records are compared by what it would cost to merge each of them with {from_}. "
            f"“{label}” begins the cluster",
        )
    size_before = count_noun(table.size(before[step.cluster]), "record")
    if step.kind == "grow":
        return (
            f"Cluster {number}: {label} joins",
            f"The cluster holds {size_before}, fewer than k = {k}. “{label}” ({records}) joins",
        )
    if step.kind == "leftover":
        rest = sum(table.records) - sum(map(table.size, before))
        return (
            f"{label} is left over",
            f"{count_noun(rest, 'record is', 'records are')} left, fewer than k = {k}. They "
            f"join in random order. “{label}” joins cluster {number}",
        )
    if step.kind == "leave":
        return (
            f"{label} leaves cluster {number}",
            f"Cluster {number} holds {size_before}, more than k = {k}. “{label}” leaves, and at "
            "least k records stay",
        )
    if step.kind == "merge":
        return (
            f"Cluster {step.other + 1} is merged with cluster {number}",
            f"It holds {records}, fewer than k = {k}, because records with the same values "
            f"stay together. It joins cluster {number}",
        )
    why = "The remaining records, in tree order, each join the cluster that is cheapest to widen"
    if step.kind == "refill" and any(table.size(members) < k for members in before):
        why = (
            "Records that left a cluster join, in random order, the nearest cluster with fewer "
            f"than k = {k}"
        )
    elif step.kind == "refill":
        why = "No cluster is below k any more, so the record joins the nearest of all"
    return f"{label} joins cluster {number}", f"{why}. Here that is cluster {number}"


REPLAYS: Mapping[str, Callable[[Blackboard], Iterator[Step]]] = {
    "kaca": _explain_kaca,
    "k-member": lambda board: _write_clusters(board, k_member),
    "oka": lambda board: _write_clusters(board, oka),
    "mdav": explain_mdav,
}
