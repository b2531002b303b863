"""What a minimal release tells: by hand, and against runs on every table that could be meant."""

import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kanon.algorithms.catalogue import algorithm_named
from kanon.algorithms.task import Task
from kanon.classes import EquivalenceClasses
from kanon.errors import Unsatisfiable
from kanon.hierarchy import Hierarchy
from kanon.hierarchy.ranges import LeafRange, add_ranges, build_flat_hierarchy
from kanon.measures import minimality
from kanon.measures.cells import scale_metric_potentials
from kanon.measures.minimality import deal_values, measure_minimality
from kanon.metrics import metric_named
from kanon.privacy.alpha_k_anonymity import AlphaKAnonymity
from kanon.privacy.distinct_l_diversity import DistinctLDiversity
from kanon.privacy.entropy_l_diversity import EntropyLDiversity
from kanon.privacy.k_anonymity import KAnonymity
from kanon.privacy.t_closeness import TCloseness
from kanon.recoding import Recoding, Trace
from kanon.sensitive import Sensitive
from support.random_tables import examples, trees

TOWN = Hierarchy.from_entries(
    [("*", None, None), ("A", "*", None), ("q1", "A", None), ("q2", "A", None), ("q3", "*", None)]
)
MODELS = [
    DistinctLDiversity(2, "ill"),
    EntropyLDiversity(1.8, "ill"),
    TCloseness(0.9, "ill"),
    AlphaKAnonymity(0.7, 2, "ill"),
]


def classes_of(towns, ills, tree=TOWN, persons=None):
    """Classes of one quasi-identifier, from the label and the sensitive value of each record."""
    labels = sorted(set(towns), key=tree.node_of.__getitem__)
    group, values = [labels.index(town) for town in towns], sorted(set(ills))
    codes = [values.index(ill) for ill in ills]
    ill = Sensitive.from_records("ill", values, False, group, codes, len(labels))
    who = persons and Sensitive.from_records(
        "who", sorted(set(persons)), False, group, [sorted(set(persons)).index(p) for p in persons],
        len(labels),
    )  # fmt: skip
    nodes = np.array([[tree.node_of[label]] for label in labels], dtype=np.int32)
    counts = np.bincount(group).astype(np.int64)
    return EquivalenceClasses(("town",), (tree,), nodes, counts, (ill,), who)


def released_at(classes, labels, node=None):
    """The classes raised to the nodes of these labels."""
    targets = np.array([[classes.hierarchies[0].node_of[label]] for label in labels])
    return Recoding.from_targets(classes, targets, trace=Trace(node=node))


def run_algorithm(name, classes, k, model, **options):
    potentials = scale_metric_potentials(classes, metric_named("nllm"))
    task = Task(classes, potentials, k, models=(KAnonymity(k), model), options=options)
    return algorithm_named(name).anonymise(task)


# --- by hand --------------------------------------------------------------------------------
def test_two_people_of_one_town_must_have_the_value_that_occurs_twice():
    """Wong et al.: of 10 ways to deal hiv, hiv, flu, cold, gout only one breaks a part of A."""
    towns = ["q1", "q1", "q2", "q2", "q2", "q3", "q3"]
    classes = classes_of(towns, ["hiv", "hiv", "flu", "cold", "gout", "flu", "cold"])
    for node in (None, (1,)):  # a class by itself, or the level of all
        result = measure_minimality(released_at(classes, ["A", "A", "q3"], node), MODELS[:1], 2)
        assert (
            result.n_telling,
            result.records,
            result.n_needless,
            result.n_without_conclusion,
        ) == (1, 5, 0, 0)
        assert result.worst == (0.4, 1.0)
        others = {tuple(c.members.tolist()): c.after.tolist() for c in result.conclusions}
        third = pytest.approx(1 / 3)
        assert others == {(0,): [0, 0, 0, 1], (1,): [third, third, third, 0]}


def test_a_class_that_could_have_been_split_is_counted_apart():
    classes = classes_of(["q1", "q1", "q2", "q2"], ["flu", "cold", "flu", "cold"])
    result = measure_minimality(released_at(classes, ["A", "A"]), MODELS[:1], 2)
    assert (result.n_telling, result.n_needless, result.conclusions) == (0, 1, ())


def test_nothing_follows_where_a_part_is_below_k():
    classes = classes_of(["q1", "q1", "q2", "q2", "q2"], ["hiv", "hiv", "flu", "cold", "gout"])
    result = measure_minimality(released_at(classes, ["A", "A"]), MODELS[:1], 3)
    assert (result.n_telling, result.n_needless) == (0, 0)


def test_parts_are_counted_in_persons_where_they_are_known():
    ills, towns = ["hiv", "hiv", "flu", "cold", "gout"], ["q1", "q1", "q2", "q2", "q2"]
    for persons, telling in ((["a", "b", "c", "d", "e"], 1), (["a", "a", "c", "d", "e"], 0)):
        classes = classes_of(towns, ills, persons=persons)
        result = measure_minimality(released_at(classes, ["A", "A"]), MODELS[:1], 2)
        assert result.n_telling == telling


def test_without_a_model_beside_k_nothing_is_measured():
    classes = classes_of(["q1", "q1", "q2", "q2"], ["hiv", "hiv", "flu", "flu"])
    assert measure_minimality(released_at(classes, ["A", "A"]), [], 2) is None


def test_full_domain_classes_that_are_parted_together_are_counted_alone():
    """Some class of two breaks at the lower level, and nobody can tell which."""
    tree = Hierarchy.from_entries(
        [("*", None, None), ("A", "*", None), ("B", "*", None)]
        + [(town, town[0].upper(), None) for town in ("a1", "a2", "b1", "b2")]
    )
    towns = ["a1", "a1", "a2", "a2", "b1", "b1", "b2", "b2"]
    classes = classes_of(towns, ["x", "x", "y", "z", "x", "y", "x", "z"], tree)
    together, alone = (
        measure_minimality(released_at(classes, ["A", "A", "B", "B"], node), MODELS[:1], 2)
        for node in ((1,), None)
    )
    assert (together.n_telling, together.n_needless, together.n_without_conclusion) == (2, 0, 2)
    assert (alone.n_telling, alone.n_needless, alone.n_without_conclusion, alone.worst) == (
        1,
        1,
        0,
        None,
    )


def test_large_classes_are_counted_alone(monkeypatch):
    monkeypatch.setattr(minimality, "MOST_WAYS", 3)
    classes = classes_of(["q1", "q1", "q2", "q2", "q2"], ["hiv", "hiv", "flu", "cold", "gout"])
    result = measure_minimality(released_at(classes, ["A", "A"]), MODELS[:1], 2)
    assert (result.n_telling, result.n_without_conclusion, result.conclusions) == (1, 1, ())
    monkeypatch.setattr(minimality, "_MOST_PLACES", 1)
    result = measure_minimality(released_at(classes, ["A", "A"]), MODELS[:1], 2)
    assert (result.n_telling, result.n_without_conclusion, result.conclusions) == (0, 1, ())


# --- the oracle -----------------------------------------------------------------------------
def tables_with_this_release(name, towns, ills, tree, k, model, **options):
    """Per record how often it has each value, among all tables that an algorithm releases so."""

    def look(dealt):
        recoding = run_algorithm(name, classes_of(towns, dealt, tree), k, model, **options)
        released = recoding.released
        return recoding, (released.nodes.tolist(), released.sensitive[0].dense().tolist())

    recoding, seen = look(ills)
    held, tables = [Counter() for _ in towns], 0
    for dealt in set(itertools.permutations(ills)):
        try:
            same = look(dealt)[1] == seen
        except Unsatisfiable:  # of the whole table, whatever is dealt to whom
            continue
        if same:
            tables += 1
            for record, ill in zip(held, dealt, strict=True):
                record[ill] += 1
    return recoding, [{ill: Fraction(n, tables) for ill, n in some.items()} for some in held]


def hold_against_all_tables(name, towns, ills, tree, k, model, **options):
    try:
        recoding, chances = tables_with_this_release(name, towns, ills, tree, k, model, **options)
    except Unsatisfiable:
        assume(False)
    result = measure_minimality(recoding, [model], k)
    assert result.n_needless == 0
    if result.n_telling > 1 and recoding.trace.node is not None:
        assert result.n_without_conclusion == result.n_telling
        return result.n_telling
    assert result.n_without_conclusion == 0
    classes = recoding.classes
    values, labels = classes.sensitive[0].values, tree.labels
    told = {}
    for one in result.conclusions:
        for member in one.members.tolist():
            told[labels[classes.nodes[member, 0]]] = dict(
                zip([values[v] for v in one.values], one.after.tolist(), strict=True)
            )
    released = recoding.released.sensitive[0].dense()
    of = {labels[node]: recoding.assigned[e] for e, node in enumerate(classes.nodes[:, 0])}
    for town, chance in zip(towns, chances, strict=True):
        mixed = released[of[town]] / released[of[town]].sum()
        known = told.get(town) or dict(zip(values, mixed.tolist(), strict=True))
        for ill in values:
            assert known.get(ill, 0) == pytest.approx(float(chance.get(ill, 0)))
    return result.n_telling


@st.composite
def small_tables(draw, tree):
    towns = sorted(draw(st.lists(st.sampled_from(tree.leaves), min_size=3, max_size=7)))
    ills = [draw(st.sampled_from("xxyyz")) for _ in towns]
    return towns, ills


@pytest.mark.nightly
@examples(60)
@given(trees(max_nodes=9), st.data(), st.sampled_from(MODELS),
       st.sampled_from(["incognito", "samarati", "ola", "flash", "optimal"]))  # fmt: skip
def test_full_domain_probabilities_are_those_of_all_tables(tree, data, model, name):
    towns, ills = data.draw(small_tables(tree))
    hold_against_all_tables(name, towns, ills, tree.build(), 2, model)


@st.composite
def binary_trees(draw):
    parts = [f"v{i}" for i in range(draw(st.integers(2, 5)))]
    entries, number = [], 0
    while len(parts) > 1:
        at = draw(st.integers(0, len(parts) - 2))
        name = "*" if len(parts) == 2 else f"n{(number := number + 1)}"
        entries += [(part, name, None) for part in parts[at : at + 2]]
        parts[at : at + 2] = [name]
    return Hierarchy.from_entries([("*", None, None), *entries[::-1]])


@examples(60)
@given(binary_trees(), st.data(), st.sampled_from(MODELS))
def test_probabilities_of_hierarchy_cuts_are_those_of_all_tables(tree, data, model):
    leaves = tree.labels[: tree.n_leaves]
    towns = sorted(data.draw(st.lists(st.sampled_from(leaves), min_size=4, max_size=7)))
    ills = [data.draw(st.sampled_from("xxyyz")) for _ in towns]
    hold_against_all_tables("mondrian", towns, ills, tree, 2, model, variant="hierarchy")


@pytest.mark.parametrize("name", ["incognito", "mondrian"])
def test_the_oracle_meets_releases_that_tell(name):
    options = {"variant": "hierarchy"} if name == "mondrian" else {}
    towns, ills = ["q1", "q1", "q2", "q2", "q3", "q3"], ["x", "x", "y", "z", "y", "z"]
    assert hold_against_all_tables(name, towns, ills, TOWN, 2, MODELS[0], **options) == 1


@examples(100)
@given(st.lists(st.integers(1, 3), min_size=1, max_size=4), st.data())
def test_every_table_of_values_by_groups_is_dealt_once(sizes, data):
    counts = Counter(data.draw(st.integers(0, 3)) for _ in range(sum(sizes)))
    columns = np.array([counts[value] for value in sorted(counts)])
    found = deal_values(np.array(sizes), columns, 10**6)
    listed = [tuple(map(tuple, table.tolist())) for table in found]
    rows = [list(itertools.product(*(range(c + 1) for c in columns))) for _ in sizes]
    slow = {
        table for table in itertools.product(*rows)
        if [sum(row) for row in table] == sizes and (np.sum(table, axis=0) == columns).all()
    } if len(rows[0]) ** len(sizes) < 50_000 else set(listed)  # fmt: skip
    assert len(listed) == len(set(listed)) and set(listed) == slow


def test_records_that_have_the_common_node_already_are_no_part_of_their_own():
    """Two records of A itself, two of q1 and two of q2: split off, they would be A as the rest."""
    towns = ["A", "A", "q1", "q1", "q2", "q2"]
    classes = classes_of(towns, ["x", "y", "z", "z", "z", "z"])
    result = measure_minimality(released_at(classes, ["A", "A", "A"]), MODELS[:1], 3)
    assert (result.n_telling, result.n_needless) == (0, 0)
    result = measure_minimality(released_at(classes, ["A", "A", "A"]), MODELS[:1], 2)
    groups = {tuple(one.members.tolist()) for one in result.conclusions}
    assert (result.n_telling, groups) == (1, {(0,), (1,), (2,)})


def test_ranges_are_split_between_lower_and_higher_values():
    """Ages 20, 20, 30, 40, 40, 50: with k = 3 there is one cut, and its lower part fails."""
    ages = build_flat_hierarchy(["20", "30", "40", "50"])
    towns, ills = ["20", "20", "30", "40", "40", "50"], ["x", "x", "x", "y", "z", "y"]
    tree = add_ranges(ages, [LeafRange(0, 4, "[20, 50]")])
    classes = classes_of(towns, ills, ages)
    release = Recoding.from_targets(classes, np.full((4, 1), tree.n_nodes - 1), hierarchies=(tree,))
    result = measure_minimality(release, MODELS[:1], 3)
    assert (result.n_telling, result.n_needless) == (1, 0)
    told = {tuple(one.members.tolist()): one.after.tolist() for one in result.conclusions}
    assert told == {(0, 1): [1 / 2, 1 / 3, 1 / 6], (2, 3): [1 / 2, 1 / 3, 1 / 6]}
