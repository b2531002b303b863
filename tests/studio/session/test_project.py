"""A project file brings back all that was chosen for a table, and holds no record of it."""

import functools
import gc
import json
import weakref
from pathlib import Path

import numpy as np
import pytest

from kanon.errors import KanonError
from kanon.hierarchy import edit
from kanon.plan_parts import MetricPlan
from kanon.privacy.distinct_l_diversity import DistinctLDiversity
from kanon.schema import Role
from kanon.sources.read_settings import ReadSettings
from kanon.studio.session.hierarchy_choices import set_builder, set_missing_rule, set_role
from kanon.studio.session.named_configurations import import_configuration
from kanon.studio.session.run_plan import build_plan
from kanon.studio.session.table_loading import open_sample, open_uploaded_table
from kanon.studio.shell.project_file import export_project, open_project
from kanon.studio.widgets.tree_edits import set_tree
from support.dashboard import (
    ANONYMISE,
    HIERARCHIES,
    PEOPLE,
    WORK,
    go,
    job_of,
    problems,
    work,
)
from support.works import value_of, with_fields

CSV = PEOPLE.to_csv(index=False).encode()


def people(content=CSV, **settings):
    return open_uploaded_table(content, "people.csv", 1, ReadSettings(**settings))


def chosen():
    """People, with something of everything chosen."""
    found = set_role(people(), "sex", Role.INSENSITIVE)
    found = set_builder(found, "age", "intervals", {"widths": "5, 10", "lowest": "25"})
    tree = found.table.choices["zip"].tree
    tree = edit.with_weights(tree, np.full(len(tree.labels), 1.0))
    tree = edit.set_weight(tree, "47601", 3.5)
    found = set_tree(found, "zip", tree)
    found = set_missing_rule(found, "as-value")
    found = with_fields(
        found, k=3, metric="wllm", strategy="s4", tie_seed=7, suppression=None,
        attribute_weights={"zip": 2.0}, models=(DistinctLDiversity(column="disease", l=2),),
        compared=("nllm", "ncp"), strategies=("s1", "s2"), k_only=True,
        composed={"mine": MetricPlan(intermediate="levels", multiplier="w1")},
    )  # fmt: skip
    kept = with_fields(found, models=())
    return import_configuration(found, build_plan(kept).to_json().encode(), "before")


def test_everything_chosen_comes_back():
    before = chosen()
    after = open_project(people(), export_project(before).encode())
    assert build_plan(after) == build_plan(before)
    same = (
        *("roles", "missing", "models", "compared", "strategies", "scopes", "k", "composed"),
        "k_only",
        *("attribute_weights", "metric", "strategy", "tie_seed", "suppression"),
    )
    assert {name: value_of(after, name) for name in same} == {
        name: value_of(before, name) for name in same
    }
    assert [(saved.title, saved.plan) for saved in after.kept.configurations] == [
        (saved.title, saved.plan) for saved in before.kept.configurations
    ]
    for column, choice in before.table.choices.items():
        again = after.table.choices[column]
        assert (again.builder, again.tree) == (choice.builder, choice.tree)
        texts_of = {name: text for name, text in choice.typed.items() if isinstance(text, str)}
        assert {name: again.typed[name] for name in texts_of} == texts_of
    assert export_project(after) == export_project(before)
    assert after.version > people().version, "no widget keeps what it showed"


def test_plans_of_version_1_are_opened_with_a_word_on_what_changed():
    project = json.loads(export_project(chosen()))
    plans = [project["plan"], *(part["plan"] for part in project["kept"])]
    assert [plan["version"] for plan in plans] == [2, 2]
    for plan in plans:
        before, plan["version"] = plan["version"], 1
        after = open_project(people(), json.dumps(project).encode())
        assert "was opened" in after.message.notice and "nl(leaf) = 0" in after.message.notice
        assert export_project(after) == export_project(chosen()), "as version 2"
        plan["version"] = before


def test_what_is_an_identifier_now_is_in_no_hierarchy_of_the_file():
    """Not in a plan either that was kept when it was a quasi-identifier."""
    before = chosen()
    (kept,) = before.kept.configurations
    values = [str(value) for value in PEOPLE["zip"]]
    assert any(value in export_project(before) for value in values)
    now = set_role(before, "zip", Role.IDENTIFIER)
    project = export_project(now)
    assert not any(value in project for value in values)
    opened = open_project(people(), project.encode())
    assert [saved.title for saved in opened.kept.configurations] == [kept.title], (
        "it stays, and tells"
    )
    assert "'zip' has no hierarchy" in " ".join(
        one.sentence for one in opened.kept.configurations[0].findings
    )


def test_no_record_is_in_the_file():
    saved = export_project(chosen())
    for name in PEOPLE["name"]:
        assert name not in saved, "an identifier"
    listed = json.loads(saved)
    parts = {
        "project", "kanon", "plan", "hierarchies", "levels", "compared", "comparisons", "kept",
        "reports", "words", "context", "intruder_test",
    }  # fmt: skip
    assert set(listed) == parts
    for record in PEOPLE.itertuples(index=False):
        assert json.dumps(list(map(str, record))) not in saved
    assert "gout" not in saved and "asthma" not in saved, "nor a sensitive value"


def test_what_was_typed_wrongly_comes_back_too():
    before = set_builder(people(), "age", "intervals", {"widths": "5, 7"})
    assert before.table.choices["age"].problem
    after = open_project(people(), export_project(before).encode())
    assert after.table.choices["age"].typed["widths"] == "5, 7"
    assert after.table.choices["age"].problem == before.table.choices["age"].problem


def test_next_months_table_is_told_what_its_hierarchies_lack():
    tree = people().table.choices["zip"].tree
    before = set_tree(people(), "zip", tree)
    later = PEOPLE.assign(zip=["99999", *PEOPLE["zip"][1:]])
    table = people(later.to_csv(index=False).encode())
    after = open_project(table, export_project(before).encode())
    assert "99999" in after.table.choices["zip"].problem
    assert after.table.choices["zip"].tree == tree, "as it was drawn, to be completed"


BOTH = b"a,b;c\n" + b"".join(b"%d,2;%d\n" % (i, i % 3) for i in range(9))
"""Two columns with either separator."""


def test_a_delivery_without_an_identifier_takes_the_project():
    """No release has that column; what the table cannot do without is still asked for."""
    project = export_project(people()).encode()
    assert people().table.roles["name"] is Role.IDENTIFIER
    nameless = people(PEOPLE.drop(columns="name").to_csv(index=False).encode())
    after = open_project(nameless, project)
    assert "No release can include 'name', which the table lacks." in after.message.notice
    without = people(PEOPLE.drop(columns="zip").to_csv(index=False).encode())
    with pytest.raises(KanonError, match="The project needs 'zip', which this table lacks"):
        open_project(without, project)


def test_a_project_is_no_plan_to_be_imported():
    with pytest.raises(KanonError, match="open it under Project, below the navigation"):
        import_configuration(people(), export_project(people()).encode(), "mine")


def test_the_columns_of_a_project_are_looked_for_as_it_reads_the_table():
    project = export_project(people(BOTH, separator=";")).encode()
    wrong = people(BOTH, separator=",")
    assert list(wrong.table.roles) == ["a", "b;c"]
    assert list(open_project(wrong, project).table.roles) == ["a,b", "c"]


def test_a_project_about_columns_that_are_not_there_as_it_reads_the_table_is_refused():
    decided = with_fields(people(BOTH, separator=","), undecided=frozenset())
    project = json.loads(export_project(decided))
    project["plan"]["read"]["separator"] = ";"
    with pytest.raises(KanonError, match="which this table lacks"):
        open_project(people(BOTH, separator=","), json.dumps(project).encode())


@functools.cache
def saved():
    return export_project(chosen())


def changed(parts):
    content = json.loads(saved())
    for path, value in parts.items():
        at = content
        *way, last = path.split("__")
        for step in way:
            at = at[int(step) if step.isdigit() else step]
        if value is None:
            del at[last]
        else:
            at[last] = value
    return json.dumps(content).encode()


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "The project file is not valid JSON: see line 1, character 1."),
        (b"\xff\xfe\x00", "The project file is not UTF-8 text."),
        (b"[" * 100_000, "The project file is not valid JSON."),
        (b"[]", 'This is not a kanon project file: it lacks "project": 1.'),
        (b'{"project": 2}', 'This is not a kanon project file: it lacks "project": 1.'),
        (b'{"project": 1, "project": 1}', "The project file names 'project' twice in one place"),
        (
            {"plan__metrics": {"m\ud800": {"intermediate": "levels", "multiplier": "none"}}},
            "The project file is not valid text: it contains half a character.",
        ),
        ({"hierarchies__age__typed": {"order": "1\n\udfff"}}, "not valid text: it contains half"),
        ({"kept__0__title": "\ud800"}, "is not valid text: it contains half a character"),
        (
            build_plan(people()).to_json().encode(),
            "This is a plan, not a project: import it on the Compare page.",
        ),
        (b'{"project": 1}', "The project file: the key 'plan' has to be an object."),
        ({"kept": {}}, "The project file: the key 'kept' has to be a list."),
        ({"plan__algorithm__name": "magic"}, "Plan key algorithm.name: 'magic' is unknown"),
        ({"plan__columns__age__role": "key"}, "The project file: Plan key columns.age.role"),
        ({"plan__columns__home": {"role": "insensitive"}}, "The project needs 'home', which"),
        ({"hierarchies__age": []}, "the hierarchy of 'age' names no known builder; choose from"),
        ({"hierarchies__age__builder": "magic"}, "the hierarchy of 'age' names no known builder"),
        ({"hierarchies__age__builder": {}}, "the hierarchy of 'age' names no known builder"),
        ({"hierarchies__age__typed": {"secret": "x"}}, "has fields that its builder does not"),
        ({"hierarchies__age__typed": {"widths": 5}}, "has fields that its builder does not"),
        ({"hierarchies__zip__drawn": None}, "'zip' was drawn, but its nodes are missing."),
        ({"hierarchies__zip__drawn": 7}, "the hierarchy of 'zip' has nodes that are not a list."),
        ({"hierarchies__zip__drawn": [{}]}, "the hierarchy of 'zip': Node 1 has no"),
        ({"compared__compared": "nllm"}, "the key 'compared.compared' has to be a list of names."),
        ({"compared__strategies": ["s9"]}, "the key 'compared.strategies': 's9' is unknown"),
        ({"compared__scopes": [["table"]]}, "the key 'compared.scopes':"),
        ({"compared__k_only": "no"}, "the key 'compared.k_only' has to be true or false."),
        ({"kept__0__title": 7}, "entry 1 of kept has no title."),
        ({"kept__0__title": "x" * 41}, "entry 1 of kept: A saved configuration needs a name of 1"),
        ({"kept__0__plan__columns__zip__hierarchy": "/etc/passwd"}, "of 'zip' is a separate file"),
        ({"kept__0__plan": 7}, "entry 1 of kept: The plan: '7' is not allowed"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_opened_is_told_why(content, sentence):
    with pytest.raises(KanonError) as told:
        open_project(people(), content if isinstance(content, bytes) else changed(content))
    assert sentence in told.value.sentence and "\n" not in told.value.sentence


def test_no_file_of_the_server_is_read_for_a_project(monkeypatch):
    content, fresh = changed({"kept__0__plan__columns__zip__hierarchy": "/dev/zero"}), people()
    monkeypatch.setattr(Path, "read_bytes", lambda path: pytest.fail(f"{path} was read"))
    with pytest.raises(KanonError, match="Import a plan that contains"):
        open_project(fresh, content)


def test_two_kept_plans_of_one_name_are_refused():
    twice = changed({"kept": 2 * json.loads(saved())["kept"]})
    with pytest.raises(KanonError, match=r"entry 2 of kept: The name 'before' is taken"):
        open_project(people(), twice)


# --- on the page ----------------------------------------------------------------------------
def give(at, name, content):
    """Streamlit's own tests draw what stands beside a page in their first run alone."""
    key = f"project-file-{work(at).version}-{work(at).shared.uploads}"
    at.file_uploader(key=key).set_value((name, content, "application/json"))
    return go(at)


def test_a_project_is_opened(start):
    before = with_fields(open_sample("hospital", version=1), k=7, metric="ncp")
    at = give(start(sample="hospital"), "project.json", export_project(before).encode())
    assert (work(at).settings.k, work(at).settings.metric) == (7, "ncp") and not problems(at)
    assert any("The project was opened on this table" in info.value for info in at.info)


def test_a_wrong_project_loses_nothing_and_is_told_of_on_its_page(start):
    at = start(sample="hospital")
    before = work(at)
    (said,) = {*problems(give(at, "wrong.json", b"{}"))}
    assert "This is not a kanon project file" in said
    same = ("file", "roles", "choices", "k", "result")
    assert all(value_of(work(at), name) is value_of(before, name) for name in same)
    assert said in problems(go(at)), "drawn again, it is still said"
    assert problems(go(at, HIERARCHIES)) == [] and problems(go(at, ANONYMISE)) == []


def test_forgetting_begins_anew(start):
    at = start(sample="hospital")
    job = job_of(at)
    next(button for button in at.sidebar.button if button.label == "Delete now").click().run()
    assert work(at).table.origin == "census"
    assert job is None or job.finished


def test_nothing_holds_what_was_deleted(start):
    at = start(sample=None, typed={WORK: people()})
    table = weakref.ref(work(at).table.records)
    next(button for button in at.sidebar.button if button.label == "Delete now").click()
    gc.disable()
    try:
        at.run()
        assert table() is None
    finally:
        gc.enable()
