"""Configurations: runs that are never made twice, and what is kept under a name."""

import json
from dataclasses import replace

import numpy as np
import pytest

from kanon.errors import KanonError, PlanError
from kanon.experiments.comparison import TIE_SEEDS, compare_before_and_after
from kanon.experiments.sweep import run_sweep, sweep
from kanon.metrics import PUBLISHED
from kanon.privacy.distinct_l_diversity import DistinctLDiversity
from kanon.schema import Role
from kanon.studio.jobs import configurations
from kanon.studio.jobs.comparison import (
    build_comparison,
    describe_comparison,
    list_missing_runs,
    merge_compared_runs,
    plan_comparison_job,
)
from kanon.studio.jobs.configurations import (
    explain_incomparable,
    list_measuring_hierarchies,
    list_planned_lines,
)
from kanon.studio.metrics.composed_metrics import add_composed, remove_composed
from kanon.studio.session.hierarchy_choices import (
    set_builder,
    set_missing_rule,
    set_role,
    undo_hierarchy,
)
from kanon.studio.session.named_configurations import (
    apply_configuration,
    delete_configuration,
    import_configuration,
    move_configurations,
    rename_configuration,
    restore_configuration,
    save_configuration,
)
from kanon.studio.session.run_plan import apply_plan, build_plan
from kanon.studio.session.table_loading import open_sample, open_uploaded_table
from kanon.studio.widgets.tree_edits import add_missing_values, set_drawn_weights
from support.works import with_fields


@pytest.fixture
def work():
    return with_fields(open_sample("hospital", version=1), compared=("ncp", "llm"))


def run(work):
    """The work after a comparison, and how many runs it made."""
    lines = list_planned_lines(work)
    todo = list_missing_runs(work, lines, also=work.settings.k)
    job = plan_comparison_job(work, lines, todo)
    found = run_sweep(lambda part, text="": None, job.runs, job.ks, job.metrics)
    return with_fields(work, runs=merge_compared_runs(work, lines, job, found)), len(todo)


def titles(work):
    return [line.title for line in describe_comparison(work).lines]


def edited(work):
    """The same with another hierarchy for age."""
    return set_builder(work, "age", "intervals", {"widths": "5, 10"})


def test_a_comparison_says_what_a_sweep_says(work):
    assert (
        describe_comparison(work).lacking == describe_comparison(work).runs == 2
        and describe_comparison(work).comparison is None
    )
    done, made = run(work)
    assert made == 2
    found = describe_comparison(done)
    assert found.lacking == 0 and found.comparison.ks[-1] == 10
    expected = sweep(build_plan(work), work.table.records, found.comparison.ks, ["ncp", "llm"])
    table = found.comparison.table()
    shared = [name for name in expected.columns if name in table.columns]
    assert {"alteration_ncp", "mean_alteration", "min_k"} <= set(shared)
    assert table[shared].equals(expected[shared])


def test_no_run_is_made_twice(work):
    done, _ = run(work)
    again, made = run(with_fields(done, compared=("ncp",)))
    assert made == 0 and titles(again) == ["NCP"]
    more, made = run(with_fields(again, compared=("ncp", "total", "llm")))
    assert made == 1 and titles(more) == ["NCP", "Total", "LLM"]
    assert run(with_fields(more, k=7))[1] == run(with_fields(more, metric="wllm"))[1] == 0
    changed = edited(more)
    assert describe_comparison(changed).lacking == 3
    changed, _ = run(changed)
    assert describe_comparison(undo_hierarchy(changed, "age")).lacking == 0, (
        "what an undo brings back is known"
    )
    assert describe_comparison(with_fields(changed, cost="representatives")).lacking == 3
    assert describe_comparison(with_fields(changed, tie_seed=4)).lacking == 3
    assert describe_comparison(set_role(changed, "sex", Role.INSENSITIVE)).lacking == 3


def test_bands_add_their_seeds_alone(work):
    done, _ = run(work)
    banded = with_fields(done, bands=True)
    assert describe_comparison(banded).lacking == 2 * len(TIE_SEEDS)
    banded, _ = run(banded)
    assert describe_comparison(banded).comparison.has_bands
    bare = describe_comparison(with_fields(banded, bands=False))
    assert bare.lacking == 0 and not bare.comparison.has_bands
    assert describe_comparison(with_fields(banded, bands=False, tie_seed=3)).lacking == 0, (
        "3 is in the band"
    )


def test_what_changes_while_a_job_runs_does_not_change_its_lines(work):
    lines = list_planned_lines(work)
    job = plan_comparison_job(work, lines, list_missing_runs(work, lines))
    found = run_sweep(lambda part, text="": None, job.runs, job.ks, job.metrics)
    later = with_fields(work, bands=True, compared=("wllm",))
    later = with_fields(later, runs=merge_compared_runs(later, lines, job, found))
    assert [line.title for line in build_comparison(later, lines).lines] == ["NCP", "LLM"]


def test_a_new_metric_asks_for_runs_only_where_it_is_compared(work):
    done, _ = run(work)
    composed = add_composed(done, "mine", "levels", "w1")
    assert describe_comparison(with_fields(composed, compared=("ncp", "llm"))).lacking == 0
    assert describe_comparison(composed).lacking == 3, "every release is measured by it"
    composed, _ = run(composed)
    assert describe_comparison(with_fields(composed, compared=("mine", "ncp"))).lacking == 0
    more, made = run(with_fields(composed, compared=("ncp", "total")))
    assert made == 1
    assert describe_comparison(with_fields(more, compared=("mine", "total"))).lacking == 0, "known"
    other = add_composed(remove_composed(composed, "mine"), "mine", "leaves", "w1")
    assert describe_comparison(other).lacking == 3, "another metric of the same name"


def test_the_oldest_runs_are_forgotten(work, monkeypatch):
    monkeypatch.setattr("kanon.studio.jobs.comparison._MOST_RUNS", 3)
    done, _ = run(work)
    done, _ = run(with_fields(done, compared=("ncp", "total", "wllm")))
    assert len(done.findings.runs) == 3 and describe_comparison(done).lacking == 0
    assert describe_comparison(with_fields(done, compared=("llm",))).lacking == 1
    many, _ = run(with_fields(done, compared=PUBLISHED))
    assert describe_comparison(many).lacking == 0, "never fewer than one comparison needs"


def test_strategies_need_gaa_and_most_a_sensitive_column(work):
    offered, compared = (
        configurations.list_offered_strategies,
        configurations.list_compared_strategies,
    )
    assert offered(work)[:2] == ["s1", "s2"]
    chosen = with_fields(work, strategies=("s3", "t"))
    assert compared(chosen) == ["s3", "t"]
    bare = set_role(chosen, "disease", Role.INSENSITIVE)
    assert offered(bare) == ["s1", "k"] and compared(bare) == ["s1"]
    assert compared(with_fields(work, algorithm="gaa-small", strategies=("s2",))) == ["s1"]
    assert compared(with_fields(work, strategies=())) == [], "that is a choice too"


def test_strategies_are_runs_of_their_own_and_t_needs_no_metric(work):
    several = with_fields(work, compared=("ncp", "llm"), strategies=("s1", "s3", "t"))
    assert titles(several) == ["NCP · S1", "NCP · S3", "T", "LLM · S1", "LLM · S3"]
    done, made = run(several)
    assert made == 5
    found = describe_comparison(with_fields(done, compared=("llm",)))
    assert found.lacking == 0 and titles(with_fields(done, compared=("llm",))) == ["S1", "S3", "T"]
    assert describe_comparison(with_fields(done, scopes=("class",))).lacking == 3, "S1 has no scope"


def test_algorithms_are_lines_with_their_own_choices(work):
    algorithms = ("gaa", "datafly", "k-member", "optimal")
    several = with_fields(work, algorithms=algorithms, suppression=0.1, seed=4, tie_seed=9)
    lines = list_planned_lines(several)
    assert [line.title for line in lines] == [
        *("NCP · GAA", "LLM · GAA", "Datafly", "NCP · Bounded search", "LLM · Bounded search"),
        *("NCP · k-member clustering", "LLM · k-member clustering"),
    ]
    plans = {line.configuration.algorithm: line.plan for line in lines}
    assert plans["k-member"].algorithm.seed == 4, "its own, not that of ties"
    assert plans["gaa"].suppression_limit is None
    assert plans["datafly"].suppression_limit == plans["optimal"].suppression_limit == 0.1
    several, _ = run(several)
    assert describe_comparison(several).lacking == 0
    for changed in ({"suppression": 0.2}, {"seed": 5}):
        assert describe_comparison(with_fields(several, **changed)).lacking > 0
    assert describe_comparison(with_fields(several, suppression=0.2)).lacking == 3, (
        "GAA and k-member take none"
    )


# --- kept --------------------------------------------------------------------------------------
def kept(work, place=0, title="before"):
    line = list_planned_lines(work)[place]
    return save_configuration(work, line.plan, line.ground.trees, title)


def test_what_is_kept_stays_as_it_is(work):
    done, _ = run(kept(work))
    assert titles(done) == ["NCP", "LLM", "★ before"]
    before = describe_comparison(done).comparison
    changed = edited(done)
    changed, made = run(with_fields(changed, measuring_hierarchies=None))
    assert made == 2, "the kept one is as it was"
    after = describe_comparison(changed).comparison
    now, then = (one.at("mean_alteration", one.ks) for one in (after, before))
    assert now[2].tolist() == then[0].tolist()
    assert after.lines[2].kept and not after.lines[0].kept
    assert len({line.name for line in after.lines}) == 3
    assert compare_before_and_after(before, after, 2).index.tolist() == ["ncp", "llm"]
    less = with_fields(changed, compared=(), metric="total")
    assert titles(less) == ["★ before"] and describe_comparison(less).lacking == 0
    unseen = tuple(replace(saved, shown=False) for saved in changed.kept.configurations)
    assert titles(with_fields(changed, configurations=unseen)) == ["NCP", "LLM"]


def test_different_hierarchies_are_measured_by_one_yardstick(work):
    assert list_measuring_hierarchies(work) == list_measuring_hierarchies(kept(work)) == []
    changed = edited(kept(work))
    assert list_measuring_hierarchies(changed) == ["", "before", None]
    (now, _, old) = list_planned_lines(changed)
    assert now.measuring_inputs is None and dict(old.measured_by) == changed.table.trees
    (now, _, old) = list_planned_lines(with_fields(changed, measuring_hierarchies="before"))
    assert old.measuring_inputs is None and now.measured_by["age"] == work.table.trees["age"]
    own = list_planned_lines(with_fields(changed, measuring_hierarchies=None))
    assert all(line.measuring_inputs is None for line in own)
    other = set_role(changed, "sex", Role.INSENSITIVE)
    assert list_measuring_hierarchies(other) == [], "it measures sex, which nothing else does"


def test_what_loses_something_else_is_left_out_and_says_why(work):
    start = kept(work)
    (own,) = start.kept.configurations
    assert explain_incomparable(start, own) == ""
    assert [line.kept for line in list_planned_lines(start)] == [False, False, True]
    fewer = set_role(start, "sex", Role.INSENSITIVE)
    assert explain_incomparable(fewer, own) == "it has other quasi-identifiers: with 'sex'"
    (disease,) = work.table.sensitive_columns
    more = set_role(start, disease, Role.QUASI_IDENTIFIER)
    assert explain_incomparable(more, own) == f"it has other quasi-identifiers: without '{disease}'"
    for changed in (fewer, more):
        assert not any(line.kept for line in list_planned_lines(changed))
        assert changed.kept.configurations == start.kept.configurations, "it stays kept"
    back = set_role(fewer, "sex", Role.QUASI_IDENTIFIER)
    assert [line.kept for line in list_planned_lines(back)] == [False, False, True]


def test_other_records_are_not_compared(work):
    table = work.table.records.frame.copy()
    table.loc[[0, 3], "age"] = np.nan
    work = with_fields(work, file=replace(work.table.file, table=table))
    with pytest.raises(PlanError, match="2 records"):  # nobody said what happens to them
        kept(work)
    kept_work = kept(set_missing_rule(work, "drop-records"))
    (own,) = kept_work.kept.configurations
    assert not explain_incomparable(kept_work, own)
    other = set_missing_rule(kept_work, "as-value")
    assert "missing values" in explain_incomparable(other, own)
    assert not any(line.kept for line in list_planned_lines(other))


def test_a_model_that_lost_its_column_does_not_stop_a_comparison(work):
    (column,) = work.table.sensitive_columns
    asked = with_fields(work, models=(DistinctLDiversity(2, column),))
    lost = set_role(asked, column, Role.INSENSITIVE)
    with pytest.raises(PlanError):
        build_plan(lost)
    done, made = run(lost)
    assert made == 2 and describe_comparison(done).comparison is not None
    (first, *_) = list_planned_lines(asked)
    assert first.plan.models[-1] == asked.settings.models[0], "what can be met is kept"


def drawn_as(work, metric):
    """The same with the weights of a metric drawn on every hierarchy."""
    return set_drawn_weights(work, metric, work.table.quasi_identifiers)


def test_drawn_weights_that_measure_are_part_of_a_run(work):
    old = kept(drawn_as(work, "ncp"), title="old")
    new = with_fields(
        drawn_as(old, "total"), measuring_hierarchies=None, compared=("ncp", "custom")
    )
    done, _ = run(new)
    found = describe_comparison(done)
    assert found.lacking == 0, "one comparison is enough"
    by_custom = found.comparison.at("alteration_custom", [3])[:, 0, 0]
    names = [line.title for line in found.comparison.lines]
    assert names == ["NCP", "Custom", "★ old"]
    as_total = found.comparison.at("alteration_total", [3])[0, 0, 0]
    as_ncp = found.comparison.at("alteration_ncp", [3])[2, 0, 0]
    assert by_custom[0] == pytest.approx(as_total), "the weights of now"
    assert by_custom[2] == pytest.approx(as_ncp), "the weights of then"


def test_names_of_what_is_kept(work):
    one = kept(work, title="  my   line ")
    assert one.kept.configurations[0].title == "my line" and "'my line'" in one.message.notice
    for title in ("", "   ", "x" * 41, "My Line"):
        with pytest.raises(PlanError):
            kept(one, 1, title)
    two = with_fields(kept(one, 1, "other"), measuring_hierarchies="other")
    new = rename_configuration(two, "other", "third")
    assert [saved.title for saved in new.kept.configurations] == ["my line", "third"]
    assert new.kept.measuring_hierarchies == "third"
    with pytest.raises(PlanError, match="taken"):
        rename_configuration(two, "other", "my line")
    assert rename_configuration(two, "other", "Other").kept.configurations[1].title == "Other", (
        "its own name is free"
    )
    less = delete_configuration(two, "other")
    assert [saved.title for saved in less.kept.configurations] == [
        "my line"
    ] and less.kept.measuring_hierarchies == ""
    assert [saved.title for saved in restore_configuration(less).kept.configurations] == [
        "my line",
        "other",
    ]
    assert (
        restore_configuration(restore_configuration(less)).kept.configurations
        == restore_configuration(less).kept.configurations
    )
    with pytest.raises(PlanError, match="taken"):
        restore_configuration(kept(less, 1, "other"))


def test_a_plan_goes_out_and_comes_back(work):
    strategies = with_fields(work, strategies=("s3",), scopes=("class",), k=3)
    there = kept(strategies)
    text = there.kept.configurations[0].plan.to_json()
    content = json.loads(text)
    assert content["algorithm"]["strategy"] == "s3" and content["algorithm"]["scope"] == "class"
    assert content["privacy"] == [{"model": "k-anonymity", "k": 3}]
    back = import_configuration(there, text.encode(), "again")
    first, second = list_planned_lines(back)[-2:]
    assert first.configuration == second.configuration
    assert first.ground.digest == second.ground.digest
    _, made = run(back)
    assert made == 2, "the two kept ones share theirs with the first chosen one"
    assert "was imported" in back.message.notice


def test_a_plan_of_version_1_is_imported_with_a_word_on_what_changed(work):
    content = json.loads(kept(work).kept.configurations[0].plan.to_json())
    assert content["version"] == 2
    back = import_configuration(work, json.dumps({**content, "version": 1}).encode(), "old")
    assert "was imported" in back.message.notice and "nl(leaf) = 0" in back.message.notice
    assert json.loads(back.kept.configurations[0].plan.to_json()) == content


def test_a_plan_is_never_a_way_to_read_files(work):
    content = json.loads(kept(work).kept.configurations[0].plan.to_json())
    content["columns"]["age"]["hierarchy"] = "/etc/passwd"
    with pytest.raises(PlanError, match="a separate file"):
        import_configuration(work, json.dumps(content).encode(), "x")


def test_an_imported_plan_has_to_fit_table_and_metrics(work):
    mine = add_composed(work, "mine", "levels", "w1")
    content = json.loads(kept(mine).kept.configurations[0].plan.to_json())
    back = import_configuration(work, json.dumps(content).encode(), "x")
    assert list(back.settings.composed) == ["mine"]
    content["metrics"]["mine"]["multiplier"] = "w2"
    with pytest.raises(PlanError, match="is different"):
        import_configuration(mine, json.dumps(content).encode(), "x")
    content["columns"]["salary"] = {"role": "insensitive"}
    with pytest.raises(KanonError, match="salary"):
        import_configuration(work, json.dumps(content).encode(), "x")


def test_models_of_an_imported_plan_are_said_but_not_met(work):
    content = json.loads(kept(work).kept.configurations[0].plan.to_json())
    content["privacy"].append({"model": "distinct-l-diversity", "l": 2})
    back = import_configuration(work, json.dumps(content).encode(), "x")
    assert "distinct-l-diversity" in back.message.notice
    assert "all lines meet the same models" in back.message.notice
    done, made = run(back)
    assert describe_comparison(done).lacking == 0 and made == 2, (
        "without the model it is the first line"
    )


def test_another_table_keeps_what_fits(work):
    one = kept(work)
    same = move_configurations(one, open_sample("hospital", version=2))
    assert [saved.title for saved in same.kept.configurations] == ["before"]
    assert "fits this table" in same.message.notice
    assert titles(same)[-1] == "★ before"
    assert describe_comparison(same).lacking == len(PUBLISHED), "it is one of those that are chosen"
    other = move_configurations(one, open_sample("census", version=2))
    assert [saved.title for saved in other.kept.configurations] == ["before"]
    assert "does not fit" in other.message.notice
    assert other.kept.configurations[0].trees == one.kept.configurations[0].trees, (
        "for when that table comes back"
    )
    assert [found.stops for found in other.kept.configurations[0].findings][:2] == [True, True]
    assert "does not fit" in explain_incomparable(other, other.kept.configurations[0])
    with pytest.raises(KanonError, match="no column"):
        apply_configuration(other, "before")
    assert "★" not in "".join(titles(other))
    back = move_configurations(other, open_sample("hospital", version=3))
    assert back.kept.configurations[0].fits and titles(back)[-1] == "★ before"
    bare = open_sample("census", version=2)
    assert move_configurations(work, bare) is bare


# --- next month's table -----------------------------------------------------------------------
def next_month(work, **columns):
    """Another table with the columns of a work, some of them changed."""
    table = work.table.records.frame.assign(**columns)
    return open_uploaded_table(table.to_csv(index=False).encode(), "next.csv", work.version + 1)


def test_a_plan_that_is_used_sets_everything(work):
    """What the work then asks for is the plan, whatever was chosen meanwhile."""
    asked = with_fields(
        edited(set_role(work, work.table.sensitive_columns[0], Role.SENSITIVE)),
        strategy="s3", scope="class", metric="wllm", k=3, tie_seed=7, seed=2,
        models=(DistinctLDiversity(2, work.table.sensitive_columns[0]),),
        attribute_weights={"age": 2.0}, keep_suppressed=True,
    )  # fmt: skip
    wanted = build_plan(asked)
    elsewhere = set_role(with_fields(work, metric="ncp", k=2), "age", Role.INSENSITIVE)
    done = apply_plan(elsewhere, wanted)
    assert build_plan(done) == wanted and build_plan(elsewhere) != wanted
    assert done.findings.result is elsewhere.findings.result
    assert done.kept.configurations is elsewhere.kept.configurations
    assert done.table.choices["age"].builder == "intervals", "as if it had been typed"


@pytest.mark.parametrize(
    ("name", "algorithm"),
    [*(("hospital", one) for one in ("datafly", "mondrian", "levels", "optimal")),
     ("census", "levels")],
)  # fmt: skip
def test_a_plan_survives_being_used(name, algorithm):
    first = open_sample(name)
    node = dict.fromkeys(first.table.quasi_identifiers, 1)
    models = tuple(DistinctLDiversity(2, column) for column in first.table.sensitive_columns)
    wanted = build_plan(with_fields(first, algorithm=algorithm, node=node, models=models))
    assert build_plan(apply_plan(open_sample(name), wanted)) == wanted


def test_new_values_leave_a_plan_kept_and_are_added_where_trees_are_drawn(work):
    one = kept(work)
    column = next(name for name, choice in work.table.choices.items() if choice.builder == "file")
    table = next_month(work, **{column: ["unheard of", *work.table.records.frame[column][1:]]})
    moved = move_configurations(one, table)
    (new,) = [found for found in moved.kept.configurations[0].findings if found.stops]
    assert (new.kind, new.column) == ("new-values", column) and "1 value" in new.sentence
    assert (
        "does not fit this table" in moved.message.notice and "unheard" not in moved.message.notice
    )
    done = apply_configuration(moved, "before")
    assert list(done.table.choices[column].lacking) == ["unheard of"]
    assert done.table.choices[column].plan is None
    mended = add_missing_values(done, column, None)
    assert not mended.table.choices[column].lacking
    build_plan(mended)
    again = import_configuration(
        table, one.kept.configurations[0].plan.to_json().encode(), "last month"
    )
    assert not again.kept.configurations[0].fits and "does not fit" in again.message.notice
    old = json.loads(one.kept.configurations[0].plan.to_json()) | {"version": 1}
    assert (
        "nl(leaf) = 0"
        in import_configuration(table, json.dumps(old).encode(), "old").message.notice
    )
    assert again.kept.configurations[0].findings == tuple(
        found for found in moved.kept.configurations[0].findings if found.kind != "new-categories"
    )
