"""What every lesson uses: labels, costs on the trees, and the table after a step."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from kanon.algorithms.lattice_size import count_lattice_nodes
from kanon.algorithms.task import Task
from kanon.base.formatting import write_count
from kanon.errors import PlanError, quote
from kanon.hierarchy import Hierarchy
from kanon.kernels.hashing import hash_tuples
from kanon.measures import alteration
from kanon.metrics import Metric, potentials
from kanon.privacy import entropy_l_diversity, t_closeness
from kanon.privacy.conjunction import find_broken
from kanon.privacy.model import Model
from kanon.recoding import Recoding
from kanon.reference.merging import PlainMerge
from kanon.reference.table import Group, PlainTable
from kanon.strategies import LOOKS_AT
from kanon.teaching.lesson import Candidate, Choice, ClassState, CostTerm, Numbers, Rule, Step

FIRST = Rule("the first in tree order")  # decides ties where there is no seed

MOST_NODES = 1000
"""A search of a larger lattice gets no lesson: nobody goes through that many nodes."""


@dataclass(frozen=True, eq=False)
class Blackboard:
    task: Task  # the input of the algorithm
    metric: Metric
    attribute_weights: tuple[float, ...] = ()
    class_numbers: tuple[int, ...] = ()  # the number of each original class

    @cached_property
    def unit(self) -> Fraction:
        """What 1 of the task's whole numbers is worth, in the metric's own unit."""
        classes, scale = self.task.classes, self.task.potentials.scale
        records = classes.records_below if self.metric.counts_records else None
        real = potentials(self.metric, classes.hierarchies, records)
        weights = self.attribute_weights or (1.0,) * len(real)
        for whole, depth, weight, nodes in zip(
            self.task.potentials, real, weights, classes.nodes.T, strict=True
        ):
            node = int(nodes[np.argmax(depth[nodes])])
            due = depth[node] * weight * float(scale)
            if abs(int(whole[node]) - due) > 1 + 1e-6 * due:
                raise PlanError(
                    "A lesson needs to know the unit of the costs, but the costs of this task "
                    f"are not those of the metric {quote(self.metric.name)} with these "
                    "attribute weights."
                )
        return 1 / scale

    @cached_property
    def sensitive(self) -> str | None:
        """The sensitive column that is followed: the strategy's, or the first."""
        columns = self.task.classes.sensitive
        return self.task.sensitive or (columns[0].name if columns else None)

    def check_lattice(self) -> None:
        size = count_lattice_nodes(self.task.classes.hierarchies)
        if size > MOST_NODES:
            raise PlanError(
                f"The lattice of these hierarchies has {write_count(size)} "
                f"nodes, and a lesson searches at most {write_count(MOST_NODES)}; "
                "take fewer quasi-identifiers or smaller hierarchies."
            )

    # --- labels and costs -----------------------------------------------------------------------
    def label(self, nodes: Iterable[Any], hierarchies: Sequence[Hierarchy] | None = None) -> str:
        trees = self.task.classes.hierarchies if hierarchies is None else hierarchies
        return ", ".join(tree.labels[int(node)] for tree, node in zip(trees, nodes, strict=True))

    def levels(self, node: Sequence[int]) -> str:
        names = self.task.classes.attributes
        return ", ".join(f"{name} {level}" for name, level in zip(names, node, strict=True))

    def held(self, members: Iterable[int], nodes: Sequence[int] | None = None) -> ClassState:
        targets = None if nodes is None else tuple(map(int, nodes))
        return self.state(self.table.group(map(int, members), targets))

    def name_class(self, state: ClassState) -> str:
        numbers = self.class_numbers or range(1, self.task.classes.n_classes + 1)
        return f"class {min(numbers[place] for place in state.classes)} ({state.label})"

    @cached_property
    def originals(self) -> tuple[ClassState, ...]:
        return tuple(map(self.state, self.table.originals))

    @cached_property
    def table(self) -> PlainTable:
        """The table as the reference algorithms take it, with exact costs."""
        task, classes = self.task, self.task.classes
        exact, counted = (
            task.potentials.get_exact,
            task.potentials.slack and not task.potentials.digits,
        )
        nodes = [tuple(row) for row in classes.nodes.tolist()]
        histograms: list[dict[int, int]] = []
        if task.sensitive is not None:
            sensitive = classes.sensitive_named(task.sensitive)
            sensitive = sensitive.folded if LOOKS_AT[task.strategy] == "l" else sensitive
            histograms = [dict(enumerate(row)) for row in sensitive.dense().tolist()]
        return PlainTable(
            hierarchies=classes.hierarchies,
            nodes=nodes,
            records=classes.counts.tolist(),
            potentials=[
                {node: exact(j, node) for low in {*column} for node in tree.path(low)}
                for j, (tree, column) in enumerate(
                    zip(classes.hierarchies, zip(*nodes, strict=True), strict=True)
                )
            ],
            k=task.k,
            weighted=task.weighted,
            seed=task.seed,
            order=self.order,
            breaks=lambda members: bool(task.others) and self.is_breaking(members, task.others),
            histograms=histograms,
            slack=task.potentials.slack / task.potentials.scale if counted else Fraction(0),
        )

    def state(self, group: Group) -> ClassState:
        return ClassState(group.nodes, self.label(group.nodes), group.records, group.members)

    def build_candidate(
        self, group: Group, key: tuple[Any, ...], chosen: Group | None, *figures: float | None
    ) -> Candidate:
        name = self.state(group).name
        return Candidate(name, key, group == chosen, classes=group.members, figures=figures)

    def list_rise_costs(
        self, state: ClassState, nodes: Sequence[int], records: int | None = None
    ) -> tuple[CostTerm, ...]:
        classes = self.task.classes
        paying = (state.records if self.task.weighted else 1) if records is None else records
        terms = []
        for j, (low, high) in enumerate(zip(state.nodes, nodes, strict=True)):
            exact, labels = self.task.potentials.get_exact, classes.hierarchies[j].labels
            cost = exact(j, low) - exact(j, high)
            where = classes.attributes[j], labels[low], labels[high]
            terms.append(CostTerm(state.label, *where, float(cost), paying, cost * paying))
        return tuple(terms)

    def list_merge_costs(
        self, state: ClassState, other: ClassState, records: int | None = None
    ) -> tuple[CostTerm, ...]:
        met = self.table.find_meeting_nodes(state.nodes, other.nodes)
        return self.list_rise_costs(state, met, records) + self.list_rise_costs(other, met, records)

    def cost(self, whole: int) -> float:
        return float(whole * self.unit)

    def order(self, nodes: Sequence[int]) -> tuple[int, tuple[int, ...]]:
        """The place of a tuple among ties: by the hash of the seed, then canonical."""
        seed, tuple_ = self.task.tie_seed, tuple(int(node) for node in nodes)
        if seed is None:
            return 0, tuple_
        return int(hash_tuples(np.array([tuple_], dtype=np.int32), seed)[0]), tuple_

    @property
    def first(self) -> Rule:
        if self.task.tie_seed is None:
            return FIRST
        return Rule(f"the first in the order of tie seed {self.task.tie_seed}")

    def is_breaking(self, members: Iterable[int], models: Sequence[Model]) -> bool:
        positions = np.array(sorted(members), dtype=np.int64)
        return bool(
            find_broken(models, self.task.classes.pooled(positions, np.zeros_like(positions), 1))[0]
        )

    # --- the table after a step -----------------------------------------------------------------
    def numbers(self, recoding: Recoding) -> Numbers:
        diversity = closeness = None
        if self.sensitive is not None and recoding.n_classes:
            sensitive = recoding.released.sensitive_named(self.sensitive)
            diversity = float(entropy_l_diversity.each(sensitive).min())
            closeness = float(t_closeness.each(sensitive, "variational").max())
        altered_percent = alteration.value(recoding, self.metric)
        sizes = recoding.min_k, recoding.n_classes, recoding.suppressed_records
        return Numbers(*sizes, altered_percent, diversity, closeness)

    def step(
        self,
        heading: str,
        sentence: str,
        recoding: Recoding,
        choices: Sequence[Choice] = (),
        detail: Any = None,
    ) -> Step:
        return Step(heading, sentence, recoding, self.numbers(recoding), tuple(choices), detail)

    def build_recoding(self, states: Iterable[ClassState]) -> Recoding:
        targets = self.task.classes.nodes.copy()
        for state in states:
            targets[list(state.classes)] = state.nodes
        return Recoding.from_targets(self.task.classes, targets)

    def apply_merges(self, merges: Sequence[PlainMerge]) -> Recoding:
        return self.build_recoding(map(self.state, merges[-1].after if merges else ()))
