"""Random walks for lattices that are too large to prove a node: by hand, by law, by exhaustion.

On lattices that are small enough for both, the walks are compared with what is proved.
"""

import json
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon.algorithms import annealing, lattice_size, optimal
from kanon.algorithms.lattice import Lattice
from kanon.algorithms.lattice_size import Node
from kanon.algorithms.search import CellLoss, begin_search
from kanon.algorithms.task import Task
from kanon.base.progress import ignore_progress
from kanon.cli.main import main
from kanon.errors import PlanError
from kanon.measures.cells import scale_metric_potentials
from kanon.metrics import metric_named
from kanon.plan import Plan
from kanon.privacy.distinct_l_diversity import DistinctLDiversity
from kanon.recoding import Recoding
from kanon.report.explanations import describe_plan
from kanon.run import PreparedRun, prepare, run
from kanon.sources.reading import read_table
from oracles.plain_lattice import PlainLattice
from support.engine_tables import put_in_engine
from support.paths import ROOT
from support.plans import plan_content, qi, qi_with
from support.random_tables import SEVEN, PlainTree, Problem, examples, problems

WORDS = "these levels are the best found; that no others lose less is not proved"


@contextmanager
def walking(steps: int) -> Iterator[None]:
    """As if the lattice were too large, with walks of so many steps."""
    with patch.object(lattice_size, "MOST_NODES", 0), patch.object(annealing, "_STEPS", steps):
        yield


def task_of(problem: Problem, k: int, limit: int, metric: str = "ncp", **more: object) -> Task:
    classes = problem.classes()
    depths = scale_metric_potentials(classes, metric_named(metric))
    return Task(classes, depths, k, suppression=limit, **more)  # type: ignore[arg-type]


def compute_loss(task: Task, node: Node) -> int:
    lattice = begin_search(task, ignore_progress)
    assert lattice.satisfies(node)
    return CellLoss(lattice).of(node, lattice.evaluate(node))


# --- By hand ------------------------------------------------------------------------------------
# Seven records, k = 3, at most one suppressed: the table of tests/algorithms/test_full_domain.py.
#
#     one: a b -> A -> *, c d -> C -> *        two: x y -> X -> *, z -> Z -> *
#     b x | b y | b y | c z | d x | d y | d z
#
# By NCP (2, 2) loses 14 cells, (1, 2) 3.5 + 7, and (0, 2) 7 + 1, as c is suppressed; (1, 1)
# suppresses four records, which is too many. Nothing else that satisfies loses less than (0, 2).
def seven() -> Problem:
    one = {"*": None, "A": "*", "a": "A", "b": "A", "C": "*", "c": "C", "d": "C"}
    two = {"*": None, "X": "*", "x": "X", "y": "X", "Z": "*", "z": "Z"}
    rows = ("b x", "b y", "b y", "c z", "d x", "d y", "d z")
    return Problem((PlainTree(one), PlainTree(two)), tuple(tuple(row.split()) for row in rows))


class Dice:
    """Random numbers that are known."""

    def __init__(self, numbers: Sequence[float]) -> None:
        self.numbers = iter(numbers)

    def random(self) -> float:
        return next(self.numbers)


@pytest.mark.parametrize(("number", "last"), [(1.1, (0, 2)), (0.9, (1, 2))])
def test_a_step_to_more_loss_is_taken_as_rarely_as_its_formula_says(number, last):
    """From (0, 2) to (1, 2) the loss rises by 2.5 of 8; half-way the heat is √(0.3 · 0.0002)."""
    wanted = [(1, 2), (1, 1), (0, 2), (1, 2), (1, 2)]
    heats = [0.3 * (0.0002 / 0.3) ** (step / 6) for step in range(6)]
    assert heats[3] == pytest.approx(math.sqrt(0.3 * 0.0002))
    dice = Dice([number * math.exp(-2.5 / 8 / heats[3]), 1.0])
    seen: list[Node] = []

    def draw(lattice: Lattice, node: Node, random: Dice) -> Node:
        seen.append(node)
        return [*wanted, node][len(seen) - 1]

    lattice = begin_search(task_of(seven(), 3, 1), ignore_progress)
    with (
        walking(6),
        patch.object(annealing, "_draw_node", draw),
        patch.object(np.random, "default_rng", lambda seed: dice),
    ):
        best = annealing._walk(lattice, CellLoss(lattice), 0, 1)
    assert best == (0, 2)
    assert seen == [(2, 2), (1, 2), (1, 2), (0, 2), last, last]


def test_the_walks_end_where_no_node_beside_loses_less():
    lattice = begin_search(task_of(seven(), 3, 1), ignore_progress)
    loss = CellLoss(lattice)
    assert annealing._descend(lattice, loss, (2, 2)) == (0, 2)
    with walking(200):
        release = optimal.anonymise(task_of(seven(), 3, 1))
    assert (release.trace.node, release.suppressed_records) == ((0, 2), 1)
    assert release.counts.tolist() == [3, 3]
    assert release.trace.walk == ((2, 2), (0, 2))
    assert release.trace.gap == math.inf


@given(st.integers(0, 2**32 - 1))
@examples(40)
def test_a_step_changes_at_most_three_levels_within_the_lattice(seed):
    lattice = begin_search(task_of(seven(), 3, 1), ignore_progress)
    random = np.random.default_rng(seed)
    for node in lattice.nodes():
        other = annealing._draw_node(lattice, node, random)
        assert sum(abs(a - b) for a, b in zip(node, other, strict=True)) <= 3
        assert all(0 <= level <= top for level, top in zip(other, lattice.tops, strict=True))


def test_where_nothing_is_lost_that_is_proved():
    tree = PlainTree({"*": None, "a": "*", "b": "*"})
    task = task_of(Problem((tree,), (("a",), ("a",), ("b",), ("b",))), 2, 0)
    with walking(200):
        release = optimal.anonymise(task)
    assert (release.trace.node, release.trace.gap) == ((0,), 0.0)


# --- Laws, and every node as an oracle ----------------------------------------------------------
def check_release(lattice: PlainLattice, release: Recoding) -> None:
    """The classes at the node that have k records, and at most the allowed number is gone."""
    problem, node = lattice.problem, release.trace.node
    assert release.suppressed_records == len(lattice.suppressed(node)) <= lattice.limit
    kept = {
        labels: len(rows)
        for labels, rows in lattice.classes(node).items()
        if len(rows) >= lattice.k
    }
    assert kept == {
        tuple(tree.order[v] for tree, v in zip(problem.trees, row, strict=True)): count
        for row, count in zip(release.nodes.tolist(), release.counts.tolist(), strict=True)
    }
    for labels, target in zip(problem.sizes, release.targets.tolist(), strict=True):
        high = [tree.order[v] for tree, v in zip(problem.trees, target, strict=True)]
        assert all(
            y in tree.paths[x] for tree, x, y in zip(problem.trees, labels, high, strict=True)
        )


@given(problems(max_nodes=6, max_records=12), st.sampled_from(SEVEN), st.data())
@examples(120)
def test_a_small_lattice_is_walked_to_its_best_node(problem, metric, data):
    n = len(problem.rows)
    k, limit = data.draw(st.integers(1, n)), data.draw(st.integers(0, n))
    task = task_of(problem, k, limit, metric)
    kept = [task.classes.nodes.copy(), task.classes.counts.copy(), *map(np.copy, task.potentials)]
    with walking(600):
        release, again = optimal.anonymise(task), optimal.anonymise(task)
    lattice = PlainLattice(problem, k, limit)
    check_release(lattice, release)
    assert release.trace.visited.tolist() == again.trace.visited.tolist()
    assert release.trace.walk == again.trace.walk
    now = [task.classes.nodes, task.classes.counts, *task.potentials]
    assert all(np.array_equal(a, b) for a, b in zip(kept, now, strict=True))
    losses = [compute_loss(task, node) for node in lattice.nodes() if lattice.satisfies(node)]
    assert compute_loss(task, release.trace.node) == min(losses)
    assert release.trace.gap == (0.0 if min(losses) == 0 else math.inf)


@given(problems(max_nodes=6, max_records=12), st.data())
@examples(60)
def test_the_order_of_rows_does_not_matter(problem, data):
    rows = data.draw(st.permutations(problem.rows))
    k, limit = data.draw(st.integers(1, len(rows))), data.draw(st.integers(0, len(rows)))
    with walking(200):
        one = optimal.anonymise(task_of(problem, k, limit))
        two = optimal.anonymise(task_of(replace(problem, rows=tuple(rows)), k, limit))
    assert one.trace.walk == two.trace.walk
    assert one.trace.visited.tolist() == two.trace.visited.tolist()


def test_other_models_hold_as_well():
    """Level 1 has two classes of two records, each with one value of `ill`: only the root has 2."""
    frame = pd.DataFrame({"town": list("abcd"), "ill": list("xxyy")})
    levels = [{"A": ["a", "b"], "B": ["c", "d"]}]
    content = plan_content(
        {"town": qi("groups", levels=levels), "ill": {"role": "sensitive"}},
        2,
        "optimal",
        [{"model": "distinct-l-diversity", "l": 2}],
    )
    with walking(100):
        done = run(Plan.from_content(content), frame)
        alone = run(Plan.from_content({**content, "privacy": content["privacy"][:1]}), frame)
    assert (done.recoding.trace.node, alone.recoding.trace.node) == ((2,), (1,))
    task = replace(done.prepared.check(), suppression=1)
    assert isinstance(task.others[0], DistinctLDiversity)
    with pytest.raises(PlanError, match="only if nothing is suppressed"):
        optimal.check(task)


# --- Beside what is proved ----------------------------------------------------------------------
@cache
def read_prepared(path: Path, folder: Path, prefix: str) -> PreparedRun:
    table = read_table(path).table
    columns = {
        column: qi_with(f"{prefix}{column}.csv")
        for column in table.columns
        if (folder / f"{prefix}{column}.csv").exists()
    }
    content = plan_content(columns, 5, "optimal", read={"missing": "as-value"})
    return prepare(Plan.from_content(content), table, folder)


def check_beside_proof(prepared: PreparedRun, k: int, share: float) -> None:
    """At most 0.5 % worse than what is proved to lose least, and never better."""
    task = prepared.check().for_k(k)
    task = replace(task, suppression=int(share * task.classes.n_records))
    proved = compute_loss(task, optimal.anonymise(task).trace.node)
    with patch.object(lattice_size, "MOST_NODES", 0):
        release = optimal.anonymise(task)
    assert release.trace.gap == math.inf and release.min_k >= k
    assert proved <= compute_loss(task, release.trace.node) <= 1.005 * proved


PAIRS = list(product((2, 5, 100), (0.0, 0.05, 1.0)))
NIGHTLY = [pytest.param(*pair, marks=pytest.mark.nightly) for pair in PAIRS]


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("name", "k", "share"),
    [
        ("voters", 5, 0.0),  # where a walk that begins too cool stays in a corner
        *(pytest.param(*case, marks=pytest.mark.nightly) for case in
          ((name, *pair) for name in ("census", "voters") for pair in PAIRS)),
    ],
)  # fmt: skip
def test_the_samples_lose_as_little_as_is_proved(name, k, share):
    path, folder = ROOT / "sample_data" / f"{name}.csv", ROOT / "hierarchies" / name
    check_beside_proof(read_prepared(path, folder, ""), k, share)


@pytest.mark.nightly
@pytest.mark.adult
@pytest.mark.parametrize(("k", "share"), [pytest.param(5, 0.05), *NIGHTLY])
def test_adult_loses_as_little_as_is_proved(adult_path, k, share):
    check_beside_proof(read_prepared(adult_path, adult_path.parent, "adult_hierarchy_"), k, share)


# --- Large lattices, as users meet them ---------------------------------------------------------
def wide() -> tuple[dict[str, object], pd.DataFrame]:
    """Nine columns of six levels: more than ten million nodes."""
    drawn = np.random.default_rng(0).beta(1, 2, (60, 9)) * 32
    frame = pd.DataFrame(drawn.astype(int), columns=[f"q{j}" for j in range(9)])
    columns = {name: qi("intervals", widths=[2, 4, 8, 16]) for name in frame}
    return plan_content(columns, 3, "optimal", suppression_limit={"records": 12}), frame


@pytest.mark.nightly
def test_a_large_lattice_is_walked_and_said_not_to_be_proved(tmp_path, capsys):
    content, frame = wide()
    (tmp_path / "plan.json").write_text(json.dumps(content), "utf-8")
    frame.to_csv(tmp_path / "t.csv", index=False)
    paths = [str(tmp_path / name) for name in ("plan.json", "t.csv", "o.csv", "m.json")]
    with patch.object(annealing, "_STEPS", 2000):
        arguments = ["--table", paths[1], "--out", paths[2], "--measures", paths[3]]
        assert main(["run", paths[0], *arguments]) == 0
        done = run(Plan.from_content(content), frame)
    assert capsys.readouterr().out.endswith(f"; {WORDS}\n")
    assert json.loads((tmp_path / "m.json").read_text("utf-8"))["gap_percent"] is None
    assert (done.about_gap, ("Proof", WORDS) in describe_plan(done)) == (WORDS, True)
    released = pd.read_csv(paths[2], dtype=str)
    assert released.groupby([*released]).size().min() >= 3
    assert len(frame) - 12 <= len(released) < len(frame)


def test_more_walks_find_no_worse_levels():
    content, frame = wide()
    found = []
    for effort in ("fast", "thorough"):
        plan = Plan.from_content({**content, "algorithm": {"name": "optimal", "effort": effort}})
        task = prepare(plan, frame).check()
        with patch.object(annealing, "_STEPS", 300):
            release = optimal.anonymise(task)
        found.append((compute_loss(task, release.trace.node), release.trace.evaluated))
    assert found[1][0] <= found[0][0] and found[1][1] > 2 * found[0][1]


def test_progress_rises_and_can_end_the_walks():
    content, frame = wide()
    task, shares = prepare(Plan.from_content(content), frame).check(), []

    def note(share: float, text: str) -> None:
        shares.append(share)
        if share >= 0.5:
            raise KeyboardInterrupt

    with (
        patch.object(annealing, "_STEPS", 2000),
        patch("kanon.algorithms.lattice._REPORT_SECONDS", 0.0),
        pytest.raises(KeyboardInterrupt),
    ):
        optimal.anonymise(task, note)
    assert shares == sorted(shares) and 0.5 <= shares[-1] < 0.51


@pytest.mark.nightly
def test_classes_in_an_engine_are_refused_above_the_limit_of_the_proof(tmp_path, limits):
    content, frame = wide()
    limits(classes=20)
    classes = prepare(Plan.from_content(content), put_in_engine(frame, "duckdb", tmp_path)).classes
    task = Task(classes, scale_metric_potentials(classes, metric_named("ncp")), 3)
    with pytest.raises(PlanError) as caught:
        optimal.check(task)
    for part in ("more than 10\N{NARROW NO-BREAK SPACE}000\N{NARROW NO-BREAK SPACE}000", "'gaa'"):
        assert part in caught.value.sentence
