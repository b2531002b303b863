"""A sensitive column is coarsened on the page Data: the same release as pandas and the command."""

import json

import numpy as np
import pandas as pd
import pytest

from kanon.cli.main import main
from kanon.studio.session.run_plan import apply_plan, build_plan
from kanon.studio.session.table_loading import open_uploaded_table
from kanon.studio.shell.project_file import export_project, open_project
from kanon.studio.widgets.requirements import build_table_class, describe_strictest, suggest_model
from support import dashboard as ui

RNG = np.random.default_rng(3)
PAID = pd.DataFrame(
    {"age": RNG.integers(20, 40, 80), "income": np.round(RNG.integers(0, 400_000, 80) / 10, 1)}
).astype({"income": object})
PAID.loc[[3, 40], "income"] = None
GROUPS = PAID["income"].map(
    lambda pay: f"{int(pay // 10000) * 10000} to <{int(pay // 10000) * 10000 + 10000}", "ignore"
)


def field(at, what):
    return f"coarse-{ui.work(at).version}-1-{what}"


@pytest.fixture
def data(start):
    at = ui.upload(start(ui.DATA), "paid.csv", ui.as_bytes(PAID, "csv"))
    ui.give_role(at, "age", "quasi-identifier")
    return ui.give_role(at, "income", "sensitive")


def by_tens(at):
    ui.choose(at, field(at, "builder"), "intervals")
    ui.enter(at, at.text_input(key=field(at, "widths")), "10000, 20000")
    assert ui.problems(at) == []
    return ui.choose(at, field(at, "level"), 1)


def plainly(released):
    """The l and the t of the worst class, by pandas; missing is a value."""
    pay = released["income"].fillna("nothing")
    usual = pay.value_counts(normalize=True)
    classes = [some for _, some in pay.groupby(released["age"])]
    shares = [
        some.value_counts(normalize=True).reindex(usual.index, fill_value=0) for some in classes
    ]
    apart = [float((share - usual).abs().sum() / 2) for share in shares]
    return min(some.nunique() for some in classes), max(apart)


@pytest.mark.nightly  # in every run: test_coarsening.py
def test_page_command_and_pandas_say_the_same(data, tmp_path):
    assert data.selectbox(key=field(data, "builder")).value == "", "as it is, until it is asked"
    at = ui.anonymised(by_tens(data))
    done = ui.work(at).findings.result.release(ui.work(at).settings.k)
    assert any(
        "'income' was coarsened before anything was counted" in one for one in ui.captions(at)
    )
    released = done.released(order="table").reset_index(drop=True)
    assert released["income"].fillna("").tolist() == GROUPS.fillna("").tolist()
    expected = plainly(released)
    measured = done.measures["distinct_l"], done.measures["t_variational"]
    assert measured == pytest.approx(expected)

    (tmp_path / "paid.csv").write_bytes(ui.as_bytes(PAID, "csv"))
    (tmp_path / "plan.json").write_text(build_plan(ui.work(at)).to_json(), "utf-8")
    out, measures = tmp_path / "out.csv", tmp_path / "m.json"
    given = ("--table", tmp_path / "paid.csv", "--out", out, "--measures", measures)
    assert main(["run", str(tmp_path / "plan.json"), *map(str, given)]) == 0
    by_command = pd.read_csv(out, dtype=str, keep_default_na=False)
    in_order = done.released().astype(str).where(done.released().notna(), "")
    assert by_command.to_numpy().tolist() == in_order.to_numpy().tolist()
    assert sorted(by_command["income"]) == sorted(GROUPS.fillna(""))
    known = json.loads(measures.read_text("utf-8"))
    assert (known["distinct_l"], known["t_variational"]) == pytest.approx(expected)


@pytest.mark.nightly
def test_levels_are_chosen_and_what_can_be_asked_for_is_counted_on_the_groups(data):
    at = by_tens(data)
    whole = build_table_class(ui.work(at))
    assert whole.sensitive[0].values == (
        "0 to <10000", "10000 to <20000", "20000 to <30000", "30000 to <40000", "(missing)",
    )  # fmt: skip
    model = suggest_model(ui.work(at), "distinct-l-diversity", whole)
    assert describe_strictest(model, whole) == "at most 5 for this column"
    ui.choose(at, field(at, "level"), 2)
    assert build_plan(ui.work(at)).columns["income"].level == 2
    assert at.selectbox(key=field(at, "level")).options == [
        "level 1 of 3: 5 values", "level 2 of 3: 3 values", "level 3 of 3: 1 value",
        "unchanged; the hierarchy is for distances",
    ]  # fmt: skip

    before = ui.work(at)
    fresh = open_uploaded_table(before.table.content, before.table.file.name, 7)
    for after in (
        apply_plan(fresh, build_plan(before)),
        open_project(fresh, export_project(before).encode()),
    ):
        assert build_plan(after).coarsened == build_plan(before).coarsened
    spoiled = json.loads(export_project(before))
    del spoiled["levels"]  # as an earlier version wrote it
    assert not build_plan(open_project(fresh, json.dumps(spoiled).encode())).coarsened

    ui.enter(at, at.text_input(key=field(at, "widths")), "wide")
    assert "Widths" in ui.problems(at)[0]
    ui.press(ui.go(at, "pages/anonymise.py"), "Anonymise")
    assert "'income' should be coarsened" in " ".join(ui.problems(at))
    ui.choose(ui.go(at, ui.DATA), field(at, "builder"), "")
    assert build_plan(ui.work(at)).columns["income"].level is None
    assert "level" not in build_plan(ui.work(at)).to_json()
