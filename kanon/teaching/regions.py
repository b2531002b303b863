"""Lessons of regions: Mondrian cuts the table, the lattice sweep takes groups out of it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from kanon.algorithms import lattice_sweep
from kanon.algorithms.lattice_size import Node
from kanon.algorithms.lattice_sweep_better import total_loss
from kanon.algorithms.lattice_sweep_order import sweep_by_groups
from kanon.algorithms.lattice_sweep_rest import merging_on
from kanon.algorithms.lattice_sweep_walk import walk_lattice
from kanon.base.formatting import count_noun
from kanon.reference.sweep import Visit, collect_released_groups, join, walk
from kanon.teaching.blackboard import FIRST, Blackboard
from kanon.teaching.cuts import explain_mondrian
from kanon.teaching.lesson import Candidate, Choice, ClassState, Rule, Step, write_number
from kanon.teaching.merging import explain_model_merges
from kanon.teaching.nodes import FIRST_LEVELS


@dataclass(frozen=True)
class SweepView:
    node: Node | None  # the levels at which the remaining records are grouped
    loss: float | None  # of raising the whole table to them, in the metric's own unit
    groups: tuple[ClassState, ...]  # the released groups of the node, or the class that was joined
    remaining: int  # records left after the step
    # where a class is joined: that class before, and what joins it
    met: tuple[ClassState, ClassState] | None = None


def explain_lattice_sweep(board: Blackboard) -> Iterator[Step]:
    board.check_lattice()
    task = lattice_sweep.by_least_k(board.task)
    board = replace(board, task=task)
    visits = list(walk(board.table))
    yield from _explain_sweep_walk(board, visits)
    yield from _explain_joining(board, visits)
    if task.option(lattice_sweep.EFFORT) == "fast":
        return
    first = lattice_sweep.finished(task, walk_lattice(task))
    order = lattice_sweep.finished(task, sweep_by_groups(task))
    losses = [total_loss(task, release) for release in (first, order)]
    best = min(range(2), key=losses.__getitem__)
    names = "in the order of the nodes", "in the order of the groups’ cost per record"
    choice = Choice(
        "Which sweep is kept?",
        (Rule("least loss"), Rule("the first")),
        tuple(
            Candidate(
                name, (loss, place), place == best, board.cost(loss), figures=(board.cost(loss),)
            )
            for place, (name, loss) in enumerate(zip(names, losses, strict=True))
        ),
    )
    yield board.step(
        "A second sweep",
        "The groups are released one by one, the cheapest per record first. The sweep "
        f"{names[best]} is kept: {choice.reason}.",
        (first, order)[best],
        (choice,),
    )
    final = lattice_sweep.anonymise(task)
    saved = losses[best] - total_loss(task, final)
    yield board.step(
        "Improvement",
        "Classes are dissolved into others, or merged with neighbouring ones and split again, "
        f"wherever that costs less. In all, this saves {write_number(board.cost(saved))}."
        if saved
        else "Neither dissolving a class nor merging and splitting neighbouring classes would cost "
        "less.",
        final,
    )


def _explain_sweep_walk(board: Blackboard, visits: Sequence[Visit]) -> Iterator[Step]:
    """A step per node at which a group was released, the cheapest first."""
    task, table = board.task, board.table
    released, passed = list[ClassState](), list[Visit]()
    for visit in visits:
        passed.append(visit)
        if not visit.groups:
            continue
        candidates = tuple(
            Candidate(
                board.levels(past.levels),
                (past.loss, past.levels),
                past is visit,
                float(past.loss),
                figures=(float(past.loss),),
                refused="" if past is visit else f"no group of k = {task.k} records is left there",
            )
            for past in passed
        )
        # This one is listed again: nothing releasable is left there.
        passed = [visit]
        groups = tuple(map(board.state, visit.groups))
        listed = ", ".join(f"“{group.label}” ({group.records})" for group in groups)
        released += groups
        rules = Rule("least loss for the whole table"), FIRST_LEVELS
        choice = Choice("Which levels are next?", rules, candidates)
        yield board.step(
            f"Levels {board.levels(visit.levels)}: {count_noun(len(groups), 'group')}",
            "Raising the whole table to these levels would lose "
            f"{write_number(choice.chosen.cost)}. These levels are next: {choice.reason}. Groups "
            f"of at least k = {task.k} remaining records that look the same here are released: "
            f"{listed}.",
            board.build_recoding(released),
            (choice,),
            SweepView(visit.levels, float(visit.loss), groups, table.size(visit.left)),
        )


def _explain_joining(board: Blackboard, visits: Sequence[Visit]) -> Iterator[Step]:
    """Remaining classes join the cheapest released ones; those that none can take are merged."""
    board, left = replace(board, task=replace(board.task, weighted=True)), list(visits[-1].left)
    aside = list[int]()
    now = collect_released_groups(visits, board.table)
    for joining in join(board.table, now, tuple(left)):
        remaining = left.pop(0)
        if joining.place is None:
            aside.append(remaining)
            continue
        now, state = joining.after, board.state(joining.one)
        joined, widened = board.state(joining.place.group), board.state(joining.place.widened)
        choice = Choice(
            f"Which class does “{state.label}” join?",
            (Rule("least cost"), FIRST),
            tuple(
                replace(
                    board.build_candidate(
                        place.group, (place.cost, place.group.nodes), joining.place.group,
                        float(place.cost),
                    ),
                    cost=float(place.cost),
                    terms=board.list_merge_costs(state, board.state(place.group)),
                    refused="" if place.allowed else "another model would not be met",
                )
                for place in joining.places
            ),
        )  # fmt: skip
        yield board.step(
            f"“{state.label}” joins",
            f"{count_noun(state.records, 'record')} of “{state.label}” "
            f"{'is left over and joins' if state.records == 1 else 'are left over and join'} "
            f"“{joined.label}”, the class that is cheapest to widen: {choice.reason}. That class "
            f"becomes “{widened.label}”.",
            board.build_recoding(map(board.state, now)),
            (choice,),
            SweepView(None, None, (widened,), board.table.size([*aside, *left]), (joined, state)),
        )
    if aside:
        merging = replace(board, task=merging_on(board.task))
        yield from explain_model_merges(merging, board.build_recoding(map(board.state, now)))


REPLAYS: Mapping[str, Callable[[Blackboard], Iterator[Step]]] = {
    "mondrian": explain_mondrian,
    "lattice-sweep": explain_lattice_sweep,
}
