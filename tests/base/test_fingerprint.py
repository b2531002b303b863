"""A fingerprint changes with anything in its inputs, and with nothing else."""

import copy
from dataclasses import dataclass, fields, replace

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import assume, given

from kanon.base.fingerprint import compute_fingerprint
from kanon.schema import Role
from support.random_tables import examples


@dataclass(frozen=True)
class TreeInputs:
    labels: tuple
    parent: object
    weight: object


ARRAYS = st.builds(np.array, st.lists(st.integers(-9, 9)), st.sampled_from([np.int32, np.float64]))
PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
TREES = st.builds(TreeInputs, st.lists(st.text()).map(tuple), ARRAYS, st.none() | ARRAYS)
VALUES = st.recursive(
    PLAIN | st.binary() | ARRAYS | st.sampled_from(Role) | TREES,
    lambda inner: (
        st.lists(inner)
        | st.lists(inner).map(tuple)
        | st.dictionaries(st.text(), inner)
        | st.frozensets(PLAIN)
    ),
    max_leaves=8,
)


def spelled_out(value):
    """What a value is, as texts that are the same for the same value alone."""
    if isinstance(value, Role):
        return f"role:{value.name}"
    if isinstance(value, np.ndarray):
        return f"array:{value.dtype}{value.tolist()}"
    if isinstance(value, TreeInputs):
        return ["tree", *(spelled_out(part) for part in vars(value).values())]
    if isinstance(value, dict):
        return ["dict", *sorted((repr(key), repr(spelled_out(one))) for key, one in value.items())]
    if isinstance(value, list | tuple):
        return ["list", *map(spelled_out, value)]
    if isinstance(value, frozenset):
        return ["set", *sorted(map(repr, value))]
    return f"{type(value).__name__}:{value!r}"


@examples(200)
@given(VALUES, VALUES)
def test_two_values_have_one_fingerprint_if_they_are_the_same(one, other):
    same = spelled_out(one) == spelled_out(other)
    assert (compute_fingerprint(one) == compute_fingerprint(other)) is same


@examples(100)
@given(data=st.data())
def test_every_field_of_the_inputs_counts(data):
    names = [each.name for each in fields(TreeInputs)]
    inputs = TreeInputs(**{name: data.draw(VALUES) for name in names})
    name, value = data.draw(st.sampled_from(names)), data.draw(VALUES)
    assume(spelled_out(value) != spelled_out(getattr(inputs, name)))
    assert compute_fingerprint(replace(inputs, **{name: value})) != compute_fingerprint(inputs)
    assert compute_fingerprint(copy.deepcopy(inputs)) == compute_fingerprint(inputs)


def test_the_order_of_a_mapping_does_not_count():
    assert compute_fingerprint({"a": 1, "b": 2}) == compute_fingerprint({"b": 2, "a": 1})


def test_inputs_of_another_class_are_others():
    @dataclass(frozen=True)
    class Other:
        labels: tuple
        parent: object
        weight: object

    assert compute_fingerprint(Other((), 0, None)) != compute_fingerprint(TreeInputs((), 0, None))


def test_what_cannot_be_told_apart_is_refused():
    with pytest.raises(TypeError, match="There is no fingerprint for object"):
        compute_fingerprint({"a": object()})
