"""Outlines: every tree can be written and read again, and what is none is said with its line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon.errors import HierarchyError
from kanon.hierarchy.outline import parse_outline, write_outline
from support.labelled_trees import labelled_trees
from support.random_tables import trees


@given(st.one_of(labelled_trees(max_nodes=10), labelled_trees(max_nodes=10, weighted=True)))
def test_a_tree_is_read_as_it_was_written(plain):
    tree = plain.build()
    assert parse_outline(write_outline(tree)) == tree


@given(trees(max_nodes=8), st.integers(1, 5))
def test_any_indentation_will_do(plain, step):
    tree = plain.build()
    lines = []
    for line in write_outline(tree).split("\n"):
        name = line.lstrip()
        lines += ["", "\t" * ((len(line) - len(name)) // 4 * step) + name + "  \r"]
    assert parse_outline("\n".join(lines)) == tree


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (" \n", "outline is empty"),
        ("*\na", "Line 2: 'a' is as far left as the root"),
        ("  *\n a", "Line 2: 'a' is as far left as the root"),
        ("*\n a\n\n a", "Line 4: 'a' is listed a second time (first: line 2)"),
        ("*\n a = x", "Line 2: 'a = x' is not a node"),
        ("*\n a=1=2", "Line 2: 'a=1=2' is not a node"),
        ('*\n "a', "Line 2: '\"a' is not a node"),
        ("*\n a = -1", "weight '-1.0' above 'a'"),
        ("*\n a = 1\n b", "'b' has no weight although others have"),
        ('*\n ""', "A node has an empty name"),
    ],
)
def test_what_is_no_outline_is_said(text, said):
    with pytest.raises(HierarchyError) as error:
        parse_outline(text)
    assert said in error.value.sentence


def test_an_outline_has_limits(limits):
    limits("hierarchy_levels = 5\nhierarchy_nodes = 12\n")
    with pytest.raises(HierarchyError, match="levels"):
        parse_outline("\n".join(" " * depth + f"n{depth}" for depth in range(8)))
    with pytest.raises(HierarchyError, match="nodes"):
        parse_outline("*\n" + "\n".join(f" n{number}" for number in range(20)))
