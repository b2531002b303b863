"""Operations on hierarchies: laws over random trees, and examples by hand."""

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kanon.errors import HierarchyError
from kanon.hierarchy import LARGEST_WEIGHT, Hierarchy, edit
from kanon.hierarchy.build import groups, suppression
from kanon.hierarchy.files import parse_csv, parse_json, read_hierarchy, to_csv, to_json
from support.paths import ROOT
from support.random_tables import PlainTree, examples, trees

EDUCATION = ROOT / "hierarchies" / "adult" / "education.csv"


# --- What is compared: plain dicts and lists ----------------------------------------------------
def leaves(tree: Hierarchy) -> set[str]:
    return set(tree.labels[: tree.n_leaves])


def inner(tree: Hierarchy, root: bool = False) -> list[str]:
    return list(tree.labels[tree.n_leaves : None if root else tree.root])


def shape(tree: Hierarchy) -> dict[str, list[str]]:
    """The children of every group, in their order."""
    return {
        tree.labels[v]: [tree.labels[u] for u in tree.children[v]]
        for v in range(tree.n_leaves, tree.n_nodes)
    }


def below(tree: Hierarchy, label: str) -> dict[str, list[str]]:
    """The subtree under a node."""
    found, waiting = {}, [label]
    everything = shape(tree)
    while waiting:
        node = waiting.pop()
        found[node] = everything.get(node, [])
        waiting += found[node]
    return found


def path(tree: Hierarchy, label: str) -> list[str]:
    return [tree.labels[v] for v in tree.path(tree.node_of[label])]


def costs(tree: Hierarchy) -> dict[tuple[str, str], Fraction]:
    """The cost from each node to each of its ancestors."""
    found = {}
    for label in tree.labels:
        cost = Fraction(0)
        for step, above in itertools.pairwise([*path(tree, label), ""]):
            found[label, step] = cost
            if above:
                cost += Fraction(float(tree.weight[tree.node_of[step]]))
    return found


def snapshot(tree: Hierarchy) -> tuple[object, ...]:
    arrays = (tree.parent, tree.first, tree.last, tree.level)
    weight = None if tree.weight is None else tree.weight.tolist()
    return (tree.labels, *(array.tolist() for array in arrays), weight)


def check_valid(tree: Hierarchy) -> None:
    """Every array is what building the tree from nothing gives."""
    again = Hierarchy.from_entries(tree.entries())
    assert snapshot(again) == snapshot(tree)
    for array in (tree.parent, tree.first, tree.last, tree.level, tree.weight):
        assert array is None or not array.flags.writeable


# --- Random operations --------------------------------------------------------------------------
Operation = tuple[str, Callable[[Hierarchy], Hierarchy]]


def some(draw, labels: Sequence[str], least: int = 1) -> list[str]:
    return draw(st.lists(st.sampled_from(labels), min_size=least, max_size=5, unique=True))


@st.composite
def operations(draw, tree: Hierarchy, number: int) -> Operation:
    """An operation that the tree can bear, with its name."""
    everything, new = list(tree.labels[: tree.root]), f"new {number}"
    can = ["rename", "sort", "sort by records", "add", "insert", "group", "weights"]
    can += ["remove"] if tree.n_leaves > 1 else []
    can += ["ungroup"] if inner(tree) else []
    can += ["move", "weight"] if tree.weight is not None else ["move"]
    name = draw(st.sampled_from(can))
    if name == "rename":
        label = draw(st.sampled_from(inner(tree, root=True)))
        return name, lambda t: edit.rename(t, label, new)
    if name.startswith("sort"):
        label = draw(st.sampled_from(inner(tree, root=True)))
        records = None
        if name != "sort":
            own = draw(st.lists(st.integers(0, 3), min_size=tree.n_nodes, max_size=tree.n_nodes))
            records = tree.sum_below(np.array(own))
        return name, lambda t: edit.sort(t, label, records)
    if name == "add":
        parent = draw(st.none() | st.sampled_from(inner(tree, root=True)))
        names = [f"{new} {i}" for i in range(draw(st.integers(0, 3)))]
        return name, lambda t: edit.add_leaves(t, names, parent)
    if name == "remove":
        gone = some(draw, sorted(leaves(tree)))[: tree.n_leaves - 1]
        return name, lambda t: edit.remove_leaves(t, gone)
    if name == "ungroup":
        chosen = some(draw, inner(tree))
        return name, lambda t: edit.ungroup(t, chosen)
    if name == "weight":
        label, weight = draw(st.sampled_from(everything)), draw(st.integers(0, 12)) / 4
        return name, lambda t: edit.set_weight(t, label, weight)
    if name == "weights":
        drawn = draw(
            st.none()
            | st.lists(st.integers(0, 12), min_size=tree.n_nodes, max_size=tree.n_nodes)
        )  # fmt: skip
        weights = None if drawn is None else np.array(drawn) / 4
        return name, lambda t: edit.with_weights(t, weights)
    chosen = some(draw, everything)
    if name == "move":
        under = {x for label in chosen for x in below(tree, label)}
        target = draw(st.sampled_from([x for x in inner(tree, root=True) if x not in under]))
        return name, lambda t: edit.move(t, chosen, target)
    if name == "insert":
        return name, lambda t: edit.insert_group_above(t, chosen)
    return name, lambda t: edit.group(t, chosen, new)


def tree_of(plain: PlainTree) -> Hierarchy:
    assume(len(plain.parents) > 1)
    return plain.build()


EITHER = trees(max_nodes=10) | trees(max_nodes=10, weighted=True)
WEIGHTED = trees(max_nodes=10, weighted=True)


@examples(200)
@given(EITHER, st.data())
def test_a_sequence_of_operations_keeps_every_law_and_every_tree(plain, data):
    """The list of all trees is undo: nothing in it ever changes, and files keep each of them."""
    history = [tree_of(plain)]
    pictures = [snapshot(history[0])]
    for number in range(data.draw(st.integers(1, 6))):
        before = history[-1]
        name, operation = data.draw(operations(before, number))
        after = operation(before)
        check_valid(after)
        if name == "add":
            assert leaves(after) > leaves(before) or after == before
        elif name == "remove":
            assert leaves(after) < leaves(before)
        else:
            assert leaves(after) == leaves(before)
        if name not in ("rename", "weights"):
            assert (after.weight is None) == (before.weight is None)
        assert operation(before) == after, "the same again"
        history.append(after)
        pictures.append(snapshot(after))
    assert [snapshot(tree) for tree in history] == pictures
    for tree in history:
        assert parse_json(to_json(tree)) == tree
        assert parse_csv(to_csv(tree)).hierarchy == edit.with_weights(tree, None)


@examples(200)
@given(WEIGHTED, st.data())
def test_a_group_of_siblings_splits_the_edge(plain, data):
    tree = tree_of(plain)
    above = data.draw(st.sampled_from(inner(tree, root=True)))
    members = some(data.draw, shape(tree)[above])
    grouped = edit.group(tree, members, "new")
    old, new = costs(tree), costs(grouped)
    assert {pair: cost for pair, cost in new.items() if "new" not in pair} == old
    least = min(tree.weight[tree.node_of[x]] for x in members)
    assert grouped.weight[grouped.node_of["new"]] == least / 2
    assert shape(grouped)["new"] == [x for x in shape(tree)[above] if x in members]
    kept = [x for x in shape(tree)[above] if x not in members]
    first = min(shape(tree)[above].index(x) for x in members)
    assert shape(grouped)[above] == [*kept[:first], "new", *kept[first:]]


@examples(200)
@given(EITHER, st.data())
def test_a_group_of_any_nodes_stands_where_the_first_stood(plain, data):
    tree = tree_of(plain)
    chosen = some(data.draw, tree.labels[: tree.root])
    uppers = [x for x in chosen if not set(path(tree, x)[1:]) & set(chosen)]
    parents = [set(path(tree, x)[1:]) for x in uppers]
    common = next(x for x in path(tree, uppers[0])[1:] if all(x in p for p in parents))
    grouped = edit.group(tree, chosen, "new")
    assert set(shape(grouped)["new"]) == set(uppers)
    assert path(grouped, "new")[1] == common
    for label in uppers:
        assert below(grouped, label) == below(tree, label)
    first_leaf = {x: int(tree.first[tree.node_of[x]]) for x in uppers}
    assert shape(grouped)["new"] == sorted(uppers, key=first_leaf.__getitem__)
    old = list(tree.labels[: tree.n_leaves])
    moved = {x for label in uppers for x in below(tree, label)}
    order = [x for x in grouped.labels[: grouped.n_leaves] if x not in moved]
    assert order == [x for x in old if x not in moved], "the others keep their order"


@examples(200)
@given(WEIGHTED, st.data())
def test_a_level_between_keeps_every_path_and_can_be_taken_back(plain, data):
    tree = tree_of(plain)
    chosen = some(data.draw, tree.labels[: tree.root])
    deeper = edit.insert_group_above(tree, chosen)
    new = set(deeper.labels) - set(tree.labels)
    assert new == {f"{label} (group)" for label in chosen}
    assert {p: c for p, c in costs(deeper).items() if not new & set(p)} == costs(tree)
    assert edit.ungroup(deeper, sorted(new)) == tree


@examples(200)
@given(WEIGHTED, st.data())
def test_dissolving_keeps_the_cost_of_every_path_that_stays(plain, data):
    tree = tree_of(plain)
    assume(inner(tree))
    chosen = set(some(data.draw, inner(tree)))
    flat = edit.ungroup(tree, sorted(chosen))
    assert costs(flat) == {p: c for p, c in costs(tree).items() if not chosen & set(p)}
    assert flat.labels[: flat.n_leaves] == tree.labels[: tree.n_leaves], "in the same order"


@examples(200)
@given(EITHER, st.data())
def test_grouping_neighbours_and_dissolving_the_group_changes_nothing(plain, data):
    tree = tree_of(plain)
    siblings = shape(tree)[data.draw(st.sampled_from(inner(tree, root=True)))]
    first = data.draw(st.integers(0, len(siblings) - 1))
    last = data.draw(st.integers(first + 1, len(siblings)))
    assert edit.ungroup(edit.group(tree, siblings[first:last], "new"), ["new"]) == tree


@examples(200)
@given(EITHER, st.data())
def test_a_name_there_and_back_changes_nothing(plain, data):
    tree = tree_of(plain)
    label = data.draw(st.sampled_from(inner(tree, root=True)))
    renamed = edit.rename(tree, label, " new ")
    assert path(renamed, renamed.labels[0])[-1] == ("new" if label == plain.root else plain.root)
    assert edit.rename(renamed, "new", label) == tree
    assert edit.rename(tree, label, label) == tree


@examples(200)
@given(EITHER, st.data())
def test_moving_keeps_subtrees_and_weights_and_clears_empty_groups(plain, data):
    tree = tree_of(plain)
    chosen = some(data.draw, tree.labels[: tree.root])
    under = {x for label in chosen for x in below(tree, label)}
    target = data.draw(st.sampled_from([x for x in inner(tree, root=True) if x not in under]))
    moved = edit.move(tree, chosen, target)
    uppers = {x for x in chosen if not set(path(tree, x)[1:]) & set(chosen)}
    for label in uppers:
        assert below(moved, label) == below(tree, label)
        assert path(moved, label)[1] == target
    stayed = [x for x in shape(tree)[target] if x not in uppers and x in moved.node_of]
    arrived = shape(moved)[target][len(stayed) :]
    assert shape(moved)[target][: len(stayed)] == stayed
    assert arrived == sorted(uppers, key=lambda x: tree.first[tree.node_of[x]])
    gone = set(tree.labels) - set(moved.labels)
    assert all(leaves(tree) & set(below(tree, x)) <= under for x in gone), "they lost all"
    if tree.weight is not None:
        weight = dict(zip(tree.labels, tree.weight.tolist(), strict=True))
        assert moved.weight.tolist() == [weight[x] for x in moved.labels]


@examples(200)
@given(EITHER, st.data())
def test_leaves_that_are_added_and_removed_leave_no_trace(plain, data):
    tree = tree_of(plain)
    parent = data.draw(st.sampled_from(inner(tree, root=True)))
    grown = edit.add_leaves(tree, ["x", "y"], parent)
    assert shape(grown)[parent] == [*shape(tree)[parent], "x", "y"]
    assert edit.remove_leaves(grown, ["y", "x"]) == tree
    assert edit.add_leaves(edit.add_leaves(tree, ["x"], parent), ["y"], parent) == grown
    if tree.weight is not None:
        heaviest = max(tree.weight[tree.node_of[x]] for x in shape(tree)[parent])
        assert grown.weight[grown.node_of["x"]] == grown.weight[grown.node_of["y"]] == heaviest


@examples(200)
@given(EITHER, st.data())
def test_removing_leaves_removes_what_becomes_empty_and_nothing_else(plain, data):
    tree = tree_of(plain)
    assume(tree.n_leaves > 1)
    gone = some(data.draw, sorted(leaves(tree)))[: tree.n_leaves - 1]
    left = edit.remove_leaves(tree, gone)
    kept = {x for leaf in leaves(tree) - set(gone) for x in path(tree, leaf)}
    assert set(left.labels) == kept
    assert all(path(left, x) == path(tree, x) for x in kept)


@examples(200)
@given(EITHER, st.data())
def test_sorting_twice_is_sorting_once_and_only_the_order_changes(plain, data):
    tree = tree_of(plain)
    label = data.draw(st.sampled_from(inner(tree, root=True)))
    once = edit.sort(tree, label)
    assert edit.sort(once, label) == once
    old, new = shape(tree), shape(once)
    assert {x: sorted(c) for x, c in new.items()} == {x: sorted(c) for x, c in old.items()}
    assert {x: c for x, c in new.items() if x not in below(tree, label)} == {
        x: c for x, c in old.items() if x not in below(tree, label)
    }
    if tree.weight is not None:
        assert dict(zip(once.labels, once.weight, strict=True)) == dict(
            zip(tree.labels, tree.weight, strict=True)
        )


@examples(100)
@given(trees(max_nodes=10), st.data())
def test_sorting_by_records_puts_most_first_and_keeps_ties(plain, data):
    tree = tree_of(plain)
    own = data.draw(st.lists(st.integers(0, 3), min_size=tree.n_nodes, max_size=tree.n_nodes))
    records = tree.sum_below(np.array(own))
    counted = dict(zip(tree.labels, records.tolist(), strict=True))
    by_records = edit.sort(tree, plain.root, records)
    for label, siblings in shape(by_records).items():
        assert siblings == sorted(shape(tree)[label], key=lambda x: -counted[x])


# --- Sums below a node --------------------------------------------------------------------------
@examples(200)
@given(trees(max_nodes=12), st.data())
def test_the_sum_below_a_node_adds_what_lies_below_it(plain, data):
    tree = plain.build()
    values = data.draw(
        st.lists(st.integers(-9, 9), min_size=tree.n_nodes, max_size=tree.n_nodes)
    )  # fmt: skip
    value = dict(zip(tree.labels, values, strict=True))
    sums = tree.sum_below(np.array(values))
    assert sums.tolist() == [
        sum(value[x] for x in value if label in plain.paths[x]) for label in tree.labels
    ]
    ones = tree.sum_below(np.arange(tree.n_nodes) < tree.n_leaves)
    assert ones.tolist() == tree.leaves_covered.tolist()
    halves = tree.sum_below(np.array(values) / 2)
    assert halves.tolist() == (sums / 2).tolist()


def test_a_sum_needs_one_value_per_node():
    with pytest.raises(ValueError, match=r"one value per node"):
        suppression(["a"]).sum_below(np.ones(3))


# --- Examples by hand ---------------------------------------------------------------------------
def test_education_of_adult_from_its_flat_values():
    """The bundled hierarchy, made from sixteen flat leaves as a user would."""
    wanted = read_hierarchy(EDUCATION).hierarchy
    tree = suppression(wanted.labels[: wanted.n_leaves])
    assert tree.n_leaves == 16
    for label in wanted.labels[wanted.n_leaves : wanted.root]:
        tree = edit.group(tree, shape(wanted)[label], label)
    assert tree == wanted


def test_a_group_takes_the_name_of_a_group_that_it_empties():
    zoo = groups([{"Felid": ["Cat"], "Canid": ["Dog"]}])
    assert shape(edit.group(zoo, ["Cat", "Dog"], "Felid")) == {
        "*": ["Felid"],
        "Felid": ["Cat", "Dog"],
    }


def test_a_group_within_a_group():
    tree = groups([{"A": ["a", "b", "c"]}, {"*": ["A", "d"]}])
    assert shape(edit.group(tree, ["b", "c"], "B"))["A"] == ["a", "B"]
    assert shape(edit.group(tree, ["a"], "B"))["A"] == ["B", "b", "c"]
    assert shape(edit.group(tree, ["A", "a", "d"], "B")) == {
        "*": ["B"],
        "B": ["A", "d"],
        "A": ["a", "b", "c"],
    }


def test_nothing_named_is_nothing_done():
    tree = groups([{"A": ["a", "b"]}])
    for same in (
        edit.add_leaves(tree, []),
        edit.remove_leaves(tree, []),
        edit.move(tree, [], "A"),
        edit.ungroup(tree, []),
        edit.insert_group_above(tree, []),
    ):
        assert same == tree


def test_nodes_are_named_in_any_writing():
    tree = groups([{"A": [39, 40]}])
    assert edit.remove_leaves(tree, ["39.0", " 39 "]).labels == ("40", "A", "*")


def test_a_level_between_gets_a_name_that_is_free():
    tree = suppression(["a", "a (group)", "a (group) 2"])
    assert inner(edit.insert_group_above(tree, ["a"])) == ["a (group) 3"]
    twice = edit.insert_group_above(edit.insert_group_above(suppression(["b"]), ["b"]), ["b"])
    assert path(twice, "b") == ["b", "b (group) 2", "b (group)", "*"]


def test_names_are_sorted_as_people_read_them():
    mixed = ["b", "10-14", "A", "a10", "21", "<5", "3", "5-9", ">90", "-3", "a9", "é", "2.5"]
    assert edit.sort(suppression(mixed), "*").labels[:-1] == (
        "-3", "2.5", "3", "21", "<5", "5-9", "10-14", ">90", "A", "a9", "a10", "b", "é",
    )  # fmt: skip
    bounds = ["-5 to -1", "0-4", "-10 to -6", "0.2 to <0.3", "0.1 to <0.2"]
    assert edit.sort(suppression(bounds), "*").labels[:-1] == (
        "-10 to -6", "-5 to -1", "0-4", "0.1 to <0.2", "0.2 to <0.3",
    )  # fmt: skip
    long = ["9" * 9_000, "1" + "0" * 9_000, "x" + "9" * 9_000, "x1" + "0" * 9_000, "٣", "²"]
    assert edit.sort(suppression(long[::-1]), "*") == edit.sort(suppression(long), "*")


# --- Refusals -----------------------------------------------------------------------------------
ZOO = groups([{"Felid": ["Cat", "Lion"], "Canid": ["Dog"]}, {"Mammal": ["Felid", "Canid"]}])
DRAWN = edit.with_weights(ZOO, np.ones(ZOO.n_nodes))
ALONE = parse_csv("Cat;Cat").hierarchy

REFUSED: dict[str, tuple[Callable[[], Hierarchy], str]] = {
    "add below a leaf": (lambda: edit.add_leaves(ZOO, ["Cow"], "Cat"), "not a group"),
    "add below nothing": (lambda: edit.add_leaves(ZOO, ["Cow"], "Cattle"), "not a group"),
    "add below a single node": (lambda: edit.add_leaves(ALONE, ["Cow"]), "not a group"),
    "add what exists": (lambda: edit.add_leaves(ZOO, ["Cat"]), "listed twice"),
    "add twice": (lambda: edit.add_leaves(ZOO, ["Cow", "Cow"]), "listed twice"),
    "add a blank": (lambda: edit.add_leaves(ZOO, [" "]), "empty name"),
    "add half a character": (lambda: edit.add_leaves(ZOO, ["\ud800"]), "not valid text"),
    "remove a group": (lambda: edit.remove_leaves(ZOO, ["Canid"]), "is a group"),
    "remove nobody": (lambda: edit.remove_leaves(ZOO, ["Cow", "Yak"]), "no node"),
    "remove all": (lambda: edit.remove_leaves(ZOO, ["Cat", "Lion", "Dog"]), "at least one leaf"),
    "remove a single node": (lambda: edit.remove_leaves(ALONE, ["Cat"]), "at least one leaf"),
    "move the root": (lambda: edit.move(ZOO, ["*"], "Felid"), "cannot be moved"),
    "move nobody": (lambda: edit.move(ZOO, ["Cow"], "Felid"), "no node"),
    "move to nobody": (lambda: edit.move(ZOO, ["Cat"], "Cattle"), "no node"),
    "move below a leaf": (lambda: edit.move(ZOO, ["Cat"], "Lion"), "is a value"),
    "move below itself": (lambda: edit.move(ZOO, ["Felid"], "Felid"), "below itself"),
    "move below its child": (lambda: edit.move(ZOO, ["Mammal"], "Felid"), "below itself"),
    "group nobody": (lambda: edit.group(ZOO, [], "new"), "at least one"),
    "group the root": (lambda: edit.group(ZOO, ["Cat", "*"], "new"), "cannot be put"),
    "group a single node": (lambda: edit.group(ALONE, ["Cat"], "new"), "cannot be put"),
    "group the unknown": (lambda: edit.group(ZOO, ["Cow"], "new"), "no node"),
    "group without a name": (lambda: edit.group(ZOO, ["Cat"], " "), "cannot be empty"),
    "group with a taken name": (lambda: edit.group(ZOO, ["Cat"], "Canid"), "is in use"),
    "group with a leaf's name": (lambda: edit.group(ZOO, ["Cat"], "Cat"), "is in use"),
    "group with a long name": (
        lambda: edit.group(ZOO, ["Cat"], "x" * (edit.LONGEST_NAME + 1)),
        "at most 10\u202f000 characters, not 10\u202f001",
    ),
    "ungroup the root": (lambda: edit.ungroup(ZOO, ["*"]), "cannot be dissolved"),
    "ungroup a leaf": (lambda: edit.ungroup(ZOO, ["Felid", "Cat"]), "is a value"),
    "rename a leaf": (
        lambda: edit.rename(ZOO, "Cat", "Kitten"),
        "it is a value of the column",
    ),
    "rename a single node": (
        lambda: edit.rename(ALONE, "Cat", "Kitten"),
        "is a value of the column",
    ),
    "rename nobody": (lambda: edit.rename(ZOO, "Cattle", "Cows"), "no node"),
    "rename to nothing": (lambda: edit.rename(ZOO, "Felid", ""), "cannot be empty"),
    "rename to what exists": (lambda: edit.rename(ZOO, "Felid", "Dog"), "is in use"),
    "rename to a long name": (
        lambda: edit.rename(ZOO, "*", "x" * (edit.LONGEST_NAME + 1)),
        "at most",
    ),
    "rename to half a character": (lambda: edit.rename(ZOO, "*", "\ud800"), "not valid text"),
    "a group above the root": (lambda: edit.insert_group_above(ZOO, ["*"]), "parent of its own"),
    "a group above nobody": (lambda: edit.insert_group_above(ZOO, ["Cow"]), "no node"),
    "sort a leaf": (lambda: edit.sort(ZOO, "Cat"), "is a value"),
    "sort nobody": (lambda: edit.sort(ZOO, "Cow"), "no node"),
    "sort by too few": (lambda: edit.sort(ZOO, "*", np.ones(2)), "one number for each of the 7"),
    "weigh the root": (lambda: edit.set_weight(DRAWN, "*", 1), "no edge above"),
    "weigh without weights": (lambda: edit.set_weight(ZOO, "Cat", 1), "no weights of its own"),
    "weights of another tree": (lambda: edit.with_weights(ZOO, np.ones(3)), "one weight each"),
    "weights that are words": (lambda: edit.with_weights(ZOO, ["a"] * 7), "not a number"),
    "weights not there": (lambda: edit.with_weights(ZOO, [None] * 7), "'nan' above"),
    **{
        f"weigh {weight!r}": (lambda w=weight: edit.set_weight(DRAWN, "Cat", w), "is not allowed")
        for weight in (-1, math.nan, math.inf, LARGEST_WEIGHT * 2, 10**400, True, "1", None)
    },
    "a negative weight": (lambda: edit.with_weights(ZOO, -np.ones(7)), "'-1.0' above"),
    "an endless weight": (lambda: edit.with_weights(ZOO, np.full(7, np.inf)), "'inf' above"),
    "too heavy when dissolved": (
        lambda: edit.ungroup(edit.with_weights(ZOO, np.full(7, LARGEST_WEIGHT)), ["Felid"]),
        "is not allowed",
    ),
}


@pytest.mark.parametrize(("operation", "said"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_done_is_refused_in_a_sentence(operation, said):
    before = snapshot(ZOO), snapshot(DRAWN)
    with pytest.raises(HierarchyError) as caught:
        operation()
    error = caught.value
    assert said in error.sentence
    assert error.sentence.endswith(".") and "\n" not in error.sentence
    for label in (*ZOO.labels[:-1], "Cow", "Cattle", "Yak"):
        assert label not in str(error), "no value of a table where a log could hold it"
    assert (snapshot(ZOO), snapshot(DRAWN)) == before


@examples(100)
@given(EITHER, st.data())
def test_a_cycle_is_never_made(plain, data):
    tree = tree_of(plain)
    assume(inner(tree))
    label = data.draw(st.sampled_from(inner(tree)))
    target = data.draw(st.sampled_from([x for x in below(tree, label) if x in inner(tree)]))
    with pytest.raises(HierarchyError) as caught:
        edit.move(tree, [label], target)
    assert label not in str(caught.value) and target not in str(caught.value)


def test_the_longest_name_is_allowed():
    name = "x" * edit.LONGEST_NAME
    assert edit.group(ZOO, ["Cat"], name).node_of[name] > 0


def test_what_a_user_types_as_a_weight_is_taken():
    for weight in (0, 2, 2.5, np.float32(2.5), np.int64(2), LARGEST_WEIGHT):
        assert edit.set_weight(DRAWN, "Dog", weight).weight[DRAWN.node_of["Dog"]] == weight
    assert edit.set_weight(DRAWN, "Dog", 3).weight.sum() == DRAWN.weight.sum() + 2
    assert edit.with_weights(ALONE, np.ones(1)) == ALONE


def test_a_deep_tree_needs_no_recursion():
    deep = 3000
    entries = [("*", None, None), ("leaf", f"g{deep}", 1.0)]
    entries += [(f"g{i}", f"g{i - 1}" if i else "*", 1.0) for i in range(deep + 1)]
    chain = Hierarchy.from_entries(entries)
    assert (chain.height, chain.lca(0, chain.root)) == (deep + 3, chain.root)
    flat = edit.ungroup(chain, [f"g{i}" for i in range(deep + 1)])
    assert flat.labels == ("leaf", "*")
    assert flat.weight.tolist() == [deep + 2, 0]
    assert edit.insert_group_above(chain, chain.labels[:-1]).height == 2 * chain.height - 1
    assert edit.sort(chain, "*") == chain
    assert edit.move(chain, ["leaf"], "*").labels == ("leaf", "*")
    assert edit.group(chain, ["leaf"], "new").height == chain.height + 1
    assert chain.sum_below(np.ones(chain.n_nodes))[-1] == chain.n_nodes
