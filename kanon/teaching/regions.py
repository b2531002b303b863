"""The lessons of regions: Mondrian cuts the table, the lattice sweep takes groups out of it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from kanon.algorithms import lattice_sweep
from kanon.algorithms.lattice_size import Node
from kanon.algorithms.lattice_sweep import merging_on
from kanon.algorithms.lattice_sweep_better import total_loss
from kanon.algorithms.lattice_sweep_order import in_group_order
from kanon.algorithms.lattice_sweep_walk import walked
from kanon.base.formatting import counted
from kanon.reference.sweep import Visit, join, released_by, walk
from kanon.teaching.blackboard import FIRST, Blackboard
from kanon.teaching.cuts import cutting
from kanon.teaching.lesson import Candidate, Choice, ClassState, Rule, Step, written
from kanon.teaching.merging import merges_for_models
from kanon.teaching.nodes import FIRST_LEVELS


@dataclass(frozen=True)
class Sweep:
    node: Node | None  # the levels at which the remaining records are grouped
    loss: float | None  # what raising the whole table to them would cost, in the metric's own unit
    # what is released: the groups of the node, or the class that one was joined to
    groups: tuple[ClassState, ...]
    remaining: int  # how many records are left after the step
    # where one joins a class: that class, as it was, and what joins it
    met: tuple[ClassState, ClassState] | None = None


def sweeping(board: Blackboard) -> Iterator[Step]:
    board.check_lattice()
    task = lattice_sweep.by_least_k(board.task)
    board = replace(board, task=task)
    visits = list(walk(board.table))
    yield from _walk(board, visits)
    yield from _joining(board, visits)
    if task.option(lattice_sweep.EFFORT) == "fast":
        return
    first = lattice_sweep.finished(task, walked(task))
    order = lattice_sweep.finished(task, in_group_order(task))
    losses = [total_loss(task, each) for each in (first, order)]
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
    won = losses[best] - total_loss(task, final)
    yield board.step(
        "Made better",
        "Classes are dissolved into others, or merged with near ones and split anew, wherever that "
        f"costs less: {written(board.cost(won))} less in all."
        if won
        else "Dissolving a class, or merging and splitting near ones, would cost less nowhere.",
        final,
    )


def _walk(board: Blackboard, visits: Sequence[Visit]) -> Iterator[Step]:
    """A step per node at which a group was released, the cheapest first."""
    task, table = board.task, board.table
    released, passed = list[ClassState](), list[Visit]()
    for visit in visits:
        passed.append(visit)
        if not visit.groups:
            continue
        candidates = tuple(
            Candidate(
                board.levels(each.levels),
                (each.loss, each.levels),
                each is visit,
                float(each.loss),
                figures=(float(each.loss),),
                refused="" if each is visit else f"no group of k = {task.k} records is left there",
            )
            for each in passed
        )
        # With this one again: nothing is left there that could be released.
        passed = [visit]
        held = tuple(map(board.state, visit.groups))
        released += held
        rules = Rule("least loss of the whole table"), FIRST_LEVELS
        choice = Choice("Which levels are next?", rules, candidates)
        yield board.step(
            f"Levels {board.levels(visit.levels)}: {counted(len(held), 'group')}",
            f"These levels, by which {written(choice.chosen.cost)} of the whole table would be "
            f"lost, are next: {choice.reason}. Of the records that remain, "
            f"those that look the same here and are at least k = {task.k} are released so: "
            f"{', '.join(f'“{group.label}” ({group.records})' for group in held)}.",
            board.recoded(released),
            (choice,),
            Sweep(visit.levels, float(visit.loss), held, table.size(visit.left)),
        )


def _joining(board: Blackboard, visits: Sequence[Visit]) -> Iterator[Step]:
    """What is left joins the classes that it costs least; what none can take is merged on."""
    board, left = replace(board, task=replace(board.task, weighted=True)), list(visits[-1].left)
    aside = list[int]()
    now = released_by(visits, board.table)
    for made in join(board.table, now, tuple(left)):
        each = left.pop(0)
        if made.place is None:
            aside.append(each)
            continue
        now, one = made.after, board.state(made.one)
        joined, held = board.state(made.place.group), board.state(made.place.widened)
        choice = Choice(
            f"Which class does “{one.label}” join?",
            (Rule("least cost"), FIRST),
            tuple(
                replace(
                    board.candidate(
                        place.group, (place.cost, place.group.nodes), made.place.group,
                        float(place.cost),
                    ),
                    cost=float(place.cost),
                    terms=board.merging(one, board.state(place.group)),
                    refused="" if place.allowed else "another model would break",
                )
                for place in made.places
            ),
        )  # fmt: skip
        yield board.step(
            f"“{one.label}” joins",
            f"{counted(one.records, 'record')} of “{one.label}” "
            f"{'is' if one.records == 1 else 'are'} left over, for the class that it costs "
            f"least to widen, “{joined.label}”: {choice.reason}. It becomes “{held.label}”.",
            board.recoded(map(board.state, now)),
            (choice,),
            Sweep(None, None, (held,), board.table.size([*aside, *left]), (joined, one)),
        )
    if aside:
        merging = replace(board, task=merging_on(board.task))
        yield from merges_for_models(merging, board.recoded(map(board.state, now)))


REPLAYS: Mapping[str, Callable[[Blackboard], Iterator[Step]]] = {
    "mondrian": cutting,
    "lattice-sweep": sweeping,
}
