"""What can be asked for beside k: the best value said first, defaults that a table can meet."""

from collections import Counter
from dataclasses import fields

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as some

from kanon.classes import EquivalenceClasses
from kanon.errors import TableError
from kanon.privacy.distinct_l_diversity import DistinctLDiversity
from kanon.privacy.t_closeness import TCloseness
from kanon.schema import Role
from kanon.sensitive import Sensitive
from kanon.studio.session.hierarchy_choices import set_role
from kanon.studio.session.table_loading import open_sample, open_uploaded_table
from kanon.studio.widgets.requirements import (
    KINDS,
    RELEASE_KINDS,
    build_table_class,
    change_model,
    describe_strictest,
    explain_refusal,
    get_level_sign,
    list_addable_cards,
    suggest_model,
)
from support.dashboard import PEOPLE, as_bytes
from support.random_tables import examples
from support.works import with_fields


def one_column(values):
    """The work on a table with a quasi-identifier and a sensitive column of those values."""
    table = pd.DataFrame({"zip": ["1", "2"] * len(values), "ill": values * 2})
    work = open_uploaded_table(as_bytes(table, "csv"), "ill.csv", 1)
    return set_role(set_role(work, "zip", Role.QUASI_IDENTIFIER), "ill", Role.SENSITIVE)


# Four in six a cold, one an angina, one a flu.
ILL = ["cold", "cold", "cold", "cold", "angina", "flu"]


def test_the_whole_table_is_one_class_with_all_values():
    work = one_column(ILL)
    whole = build_table_class(work)
    (ill,) = whole.sensitive
    assert whole.counts.tolist() == [12] and ill.sizes.tolist() == [12]
    assert dict(zip(ill.values, ill.dense()[0].tolist(), strict=True)) == Counter(ILL * 2)


@pytest.mark.parametrize("missing", ["drop-records", "as-value"])
def test_records_that_drop_out_do_not_count(missing):
    table = pd.DataFrame({"zip": ["1", None, "2", "1"], "ill": ["a", "b", "a", "c"]})
    work = open_uploaded_table(as_bytes(table, "csv"), "ill.csv", 1)
    work = set_role(set_role(work, "zip", Role.QUASI_IDENTIFIER), "ill", Role.SENSITIVE)
    whole = build_table_class(with_fields(work, missing=missing))
    assert whole.counts.tolist() == [3 if missing == "drop-records" else 4]


def test_cells_that_say_that_they_are_missing_are_refused():
    table = pd.DataFrame({"zip": ["1", "2", "3"], "ill": ["(missing)", None, "cold"]})
    work = open_uploaded_table(as_bytes(table, "csv"), "ill.csv", 1)
    with pytest.raises(TableError, match="Rename the latter"):
        build_table_class(set_role(work, "ill", Role.SENSITIVE))


def tables_of_classes(values, group):
    """Classes with the values of one sensitive column."""
    counts = np.bincount(group)
    ill = Sensitive.from_records("ill", "abcd", False, group, values, len(counts))
    return EquivalenceClasses((), (), np.zeros((len(counts), 0), np.int32), counts, (ill,))


@pytest.mark.parametrize("name", sorted(KINDS))
@examples(40)
@given(
    some.lists(some.sampled_from("abcd"), min_size=2, max_size=30).filter(lambda v: len({*v}) > 1)
)
def test_what_is_suggested_can_be_met(name, values):
    work = one_column(values)
    whole = build_table_class(work)
    model = suggest_model(work, name, whole)
    assert model.card.name == name and model.column == "ill"
    assert explain_refusal([model], whole) is None
    said = describe_strictest(model, whole)
    assert get_level_sign(model) in said or "for this column" in said or "as low" in said


def test_one_value_alone_cannot_be_mixed_and_that_is_said():
    work = one_column(["cold"])
    whole = build_table_class(work)
    assert suggest_model(work, "entropy-l-diversity", whole).l == 1
    model = suggest_model(work, "distinct-l-diversity", whole)
    assert "l is at most 1" in explain_refusal([model], whole)


def test_each_model_once_per_column():
    people = open_uploaded_table(as_bytes(PEOPLE, "csv"), "people.csv", 1)
    work = set_role(set_role(people, "disease", Role.SENSITIVE), "sex", Role.SENSITIVE)
    assert work.table.sensitive_columns == ["sex", "disease"]
    whole = build_table_class(work)
    for column in ("disease", "sex"):
        model = suggest_model(with_fields(work, sensitive="disease"), "t-closeness", whole)
        assert model.column == column
        work = with_fields(work, models=(*work.settings.models, model))
    assert "t-closeness" not in list_addable_cards(work)
    assert len(list_addable_cards(work)) == len(KINDS) - 1 + len(RELEASE_KINDS)
    assert set(list_addable_cards(open_sample("animals-v21"))) == set(RELEASE_KINDS)


@examples(100)
@given(
    some.lists(some.tuples(some.integers(0, 1), some.integers(0, 3)), min_size=1, max_size=20),
    some.floats(0, 2),
)
def test_another_distance_asks_for_the_same(records, t):
    group, values = np.array(records).T
    classes = tables_of_classes(values, np.unique(group, return_inverse=True)[1])
    before = TCloseness(round(t, 3), "ill", "norm1")
    after = change_model(before, distance="variational")
    assert after is not None and after.t == before.t / 2
    assert (before.holds_each(classes) == after.holds_each(classes)).all()
    assert change_model(after, distance="norm1") == before


def test_what_does_not_go_together_changes_nothing():
    assert change_model(TCloseness(0.4, "ill", "variational"), t=1.5) is None
    assert change_model(DistinctLDiversity(2, "ill"), l=1) is None


@pytest.mark.parametrize("name", KINDS)
def test_the_parameters_of_every_model_can_be_changed(name):
    whole = build_table_class(work := one_column(ILL))
    model = suggest_model(work, name, whole)
    numbers = {part.name for part in fields(model)} - {"column", "columns", "others", "distance"}
    for part in numbers:
        value = getattr(model, part)
        new = change_model(
            model, **{part: value + 1 if isinstance(value, int) else value / 2 + 0.5}
        )
        assert new is not None and type(new) is type(model)
