"""The page Anonymise: strategies, the sensitive column, what is required beside k, ties."""

import io
import json
import math
import re
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as some

from kanon.cli.main import main
from kanon.errors import PlanError
from kanon.measures.along import Points
from kanon.plan import Plan
from kanon.privacy.entropy_l_diversity import EntropyLDiversity
from kanon.privacy.known_columns import KAmongKnown
from kanon.privacy.t_closeness import TCloseness
from kanon.run import prepare
from kanon.strategies import STRATEGIES
from kanon.studio.anonymise import release_panel
from kanon.studio.anonymise.release_panel import CheaperRelease, find_cheaper_release
from kanon.studio.metrics.composed_metrics import add_composed
from kanon.studio.session.run_plan import build_plan, read_plan_settings
from kanon.studio.session.table_loading import open_sample
from kanon.studio.widgets.model_editor import get_model_key
from kanon.studio.widgets.requirements import RELEASE_KINDS
from kanon.studio.widgets.result import format_plan_for_file
from support import dashboard as ui
from support.random_tables import examples
from support.works import with_fields

ENTROPY, T = "entropy-l-diversity", "t-closeness"


# --- what a user does and sees --------------------------------------------------------------
def add(at, name):
    ui.choose(at, f"model-add-{ui.work(at).version}-{len(ui.work(at).settings.models)}", name)
    return ui.work(at).settings.models[-1]


def set_part(at, model, part, value):
    key = get_model_key(ui.work(at), model, part)
    one = at.selectbox(key=key) if isinstance(value, str) else at.number_input(key=key)
    return ui.enter(at, one, value)


def frame_strategy(at):
    return f"frame-strategy-{ui.work(at).version}-{ui.work(at).usable_strategy}"


def frame_sensitive(at):
    place = list(ui.work(at).table.roles).index(ui.work(at).focus)
    return f"frame-sensitive-{ui.work(at).version}-{place}"


def tie_seed(at):
    return at.number_input(key=f"run-ties-{ui.work(at).version}-{ui.work(at).settings.tie_seed}")


def keys(at):
    return {one.key for one in at.selectbox}


def checked(at):
    (found,) = [one for one in ui.texts(at) if one.startswith("**Checked in every class:**")]
    return found


def released(at):
    found = ui.work(at).findings.result
    return found.release(found.k_for(ui.work(at).settings.k)).released()


def classes_of(at, table):
    return table.groupby(ui.work(at).table.quasi_identifiers, observed=True)


def entropy_l(table, column):
    shares = table[column].value_counts() / len(table)
    return math.exp(-sum(p * math.log(p) for p in shares))


# --- strategies -----------------------------------------------------------------------------
@pytest.mark.nightly
def test_a_strategy_is_chosen_on_the_page_and_in_the_line(start):
    at = ui.anonymised(start())
    assert {"Algorithm: merging", "Metric: NLLM", "Strategy: cheapest"} <= {*ui.popovers(at)}
    helps = [one.proto.popover.help.replace("\\", "") for one in at.get("popover")]
    assert any("GAA" in text for text in helps) and any("S1" in text for text in helps)
    assert len(at.selectbox(key="run-strategy").options) == 10
    assert "run-scope" not in keys(at), "S1 looks at neither l nor t"
    ui.choose(at, "run-strategy", "s3")
    assert ui.OUTDATED in ui.warnings(at)[0] and at.selectbox(key=frame_strategy(at)).value == "s3"
    assert at.selectbox(key="run-scope").label == "Measure l in"
    ui.choose(at, frame_strategy(at), "s6")
    assert at.selectbox(key="run-strategy").value == "s6"
    assert at.selectbox(key="run-scope").label == "Measure t in"
    assert "Strategy: lowest t, then cheapest" in ui.popovers(at)
    ui.choose(at, "run-scope", "class")
    plan = build_plan(ui.work(at)).algorithm
    assert (plan.strategy, plan.scope) == ("s6", "class")

    ui.choose(at, "run-algorithm", "gaa-small")
    assert "run-strategy" not in keys(at)
    assert any("GAA among small classes has no strategy, so S6" in one for one in ui.captions(at))
    add(at, ENTROPY)
    ui.anonymised(at)
    assert not ui.problems(at)
    assert "Entropy l-diversity with l = 2 for 'disease' (reached: 2" in checked(at)
    ui.choose(at, "frame-algorithm-gaa-small", "datafly")
    assert at.selectbox(key="run-algorithm").value == "datafly"
    assert "Algorithm: full-domain" in ui.popovers(at)
    assert not [said for said in ui.popovers(at) if said.startswith("Partner")]
    ui.choose(at, "run-algorithm", "gaa")
    assert at.selectbox(key="run-strategy").value == "s6"


@pytest.mark.nightly
def test_without_a_sensitive_column_what_looks_at_one_is_not_offered(start):
    at = start(sample="animals-v21")
    offered = at.selectbox(key="run-strategy").options
    assert offered == ["S1: least cost", "K: highest k, then least cost"]
    assert any("No column is sensitive" in one for one in ui.captions(at))
    assert any(one.proto.page == "data" for one in at.get("page_link"))
    (adding,) = [box for box in at.selectbox if box.key.startswith("model-add")]
    assert len(adding.options) == len(RELEASE_KINDS), "those that need no sensitive column"
    ui.anonymised(at)
    assert not ui.problems(at) and not [one for one in ui.numbers(at) if one.startswith("Worst")]


@pytest.mark.nightly  # in every run: test_release_models.py
def test_models_of_the_release_are_required_and_refused(start):
    at = start()
    for place, name in enumerate(RELEASE_KINDS):
        ui.choose(at, f"model-add-{ui.work(at).version}-{place}", name)
    assert "Also require: 3 models" in ui.popovers(at)
    average, at_risk, known = ui.work(at).settings.models
    set_part(at, known, "known", 2)
    set_part(at, at_risk, "most", 0.0)
    set_part(at, average, "most", 0.25)
    at.number_input(key=ui.frame_k(at)).set_value(4)
    ui.anonymised(at)
    assert not ui.problems(at)
    table, columns = released(at), ui.work(at).table.quasi_identifiers
    sizes = table.groupby(columns, observed=True)[columns[0]].transform("size")
    assert (1 / sizes).mean() <= 0.25 and (1 / sizes <= 0.2).all()
    for pair in combinations(columns, 2):
        assert table.groupby(list(pair), observed=True).size().min() >= 4
    plan = build_plan(ui.work(at))
    assert plan.privacy[0].model_dump() == {"model": "k-anonymity", "k": 4, "known": 2}
    again = read_plan_settings(ui.work(at), plan).models
    assert {*again} == {*ui.work(at).settings.models[:2], KAmongKnown(4, 2)}

    both = {**plan.model_dump(), "privacy": [{"model": "k-anonymity", "k": 2}, *plan.privacy[:1]]}
    with pytest.raises(PlanError, match="for all quasi-identifiers and for some"):
        read_plan_settings(ui.work(at), Plan.model_validate(both))

    average = ui.work(at).settings.models[0]
    set_part(at, average, "most", 7)
    assert any("7 is not used, because most has to be" in text for text in ui.problems(at))
    set_part(at, average, "most", 0.0001)
    ui.press(at, "Anonymise")
    assert any("Average risk with most = 0.0001 cannot be reached" in t for t in ui.problems(at))


@pytest.mark.nightly
def test_what_lost_its_column_is_said_and_comes_back(start):
    """A strategy falls back meanwhile; a model that is required is never dropped in silence."""
    at = start()
    ui.choose(at, "run-strategy", "s3")
    ui.give_role(ui.go(at, ui.DATA), "disease", "insensitive")
    ui.go(at, ui.ANONYMISE)
    assert at.selectbox(key="run-strategy").value == "s1"
    (said,) = [one for one in ui.captions(at) if "S1: least cost is used for now" in one]
    assert said.startswith(f"{STRATEGIES['s3'].title} needs a sensitive column, but no column has")
    assert build_plan(ui.work(at)).algorithm.strategy == "s1"
    ui.anonymised(at)
    assert not ui.problems(at)
    ui.give_role(ui.go(at, ui.DATA), "disease", "sensitive")
    ui.go(at, ui.ANONYMISE)
    assert at.selectbox(key="run-strategy").value == "s3", "it was not forgotten"
    assert ui.OUTDATED in ui.warnings(at)[0]

    model = add(at, ENTROPY)
    ui.give_role(ui.go(at, ui.DATA), "disease", "insensitive")
    ui.go(at, ui.ANONYMISE)
    assert any("is required, but that column is not sensitive" in one for one in ui.warnings(at))
    ui.press(at, "Anonymise")
    assert "'disease' is required" in ui.problems(at)[0] and "run" not in ui.work(at).running
    at.button(key=get_model_key(ui.work(at), model, "remove")).click()
    ui.anonymised(ui.go(at))
    assert not ui.problems(at) and not ui.warnings(at)


# --- sensitive columns ----------------------------------------------------------------------
def two_sensitive(at):
    ui.with_people(at)
    for column in ("disease", "sex"):
        ui.give_role(at, column, "sensitive")
    ui.give_role(at, "name", "identifier")
    at.number_input(key=ui.frame_k(at)).set_value(3)
    return ui.go(at, ui.ANONYMISE)


@pytest.mark.nightly
def test_one_of_several_sensitive_columns_is_looked_at_and_models_are_about_each(start):
    at = two_sensitive(start(ui.DATA))
    assert "sensitive:" not in ui.line(at) and "Sensitive: sex" in ui.popovers(at)
    first, second = add(at, ENTROPY), add(at, ENTROPY)
    assert (first.column, second.column) == ("sex", "disease")
    assert ENTROPY not in {
        one for box in at.selectbox if box.key.startswith("model-add") for one in box.options
    }
    third = add(at, T)
    set_part(at, third, "column", "disease")
    assert ui.work(at).settings.models[-1].column == "disease"
    set_part(at, first, "l", 1.2)
    ui.anonymised(at)
    assert not ui.problems(at), "all hold together"
    groups = classes_of(at, released(at))
    assert min(entropy_l(group, "disease") for _, group in groups) >= 2 - 1e-9
    assert min(entropy_l(group, "sex") for _, group in groups) >= 1.2 - 1e-9

    assert {"Worst l, sex", "Worst t, sex"} <= set(ui.numbers(at))
    ui.choose(at, frame_sensitive(at), "disease")
    assert {"Worst l, disease", "Worst t, disease"} <= set(ui.numbers(at))
    assert not ui.warnings(at), "S1 looks at neither column"
    assert at.selectbox(key="run-sensitive").value == "disease"
    ui.choose(at, "run-strategy", "s4")
    assert build_plan(ui.work(at)).algorithm.sensitive == "disease"
    ui.anonymised(at)
    assert not ui.warnings(at)
    ui.choose(at, "run-sensitive", "sex")
    assert ui.OUTDATED in ui.warnings(at)[0] and "Sensitive: sex" in ui.popovers(at)
    ui.give_role(ui.go(at, ui.DATA), "sex", "insensitive")
    assert ui.work(at).focus == "disease" and "sensitive: disease" in ui.line(at)


# --- what is required beside k --------------------------------------------------------------
@pytest.mark.nightly
def test_models_are_added_changed_and_removed_and_gone_with_their_table(start):
    at = ui.anonymised(start())
    assert "Also require: nothing" in ui.popovers(at)
    model = add(at, ENTROPY)
    assert model == EntropyLDiversity(2.0, "disease") and ui.OUTDATED in ui.warnings(at)[0]
    assert "Also require: entropy l ≥ 2" in ui.popovers(at)
    assert any(one.startswith("l: at most ") for one in ui.captions(at))
    set_part(at, model, "l", 1.5)
    (model,) = ui.work(at).settings.models
    assert model.l == 1.5
    other = add(at, T)
    assert other == TCloseness(0.4, "disease", "variational")
    set_part(at, other, "distance", "norm1")
    assert ui.work(at).settings.models == (model, TCloseness(0.8, "disease", "norm1"))
    assert "Also require: entropy l ≥ 1.5 and t ≤ 0.8 (norm 1)" in ui.popovers(at)
    assert ui.line(at).endswith("k and 2 more models")
    ui.click(at, at.button(key=get_model_key(ui.work(at), model, "remove")))
    assert ui.work(at).settings.models == (TCloseness(0.8, "disease", "norm1"),)
    ui.choose(at, "run-strategy", "s3")
    ui.choose(at, "frame-sample", "voters")
    assert ui.work(at).settings.models == () and ui.work(at).settings.strategy == "s1"
    assert "Also require: nothing" in ui.popovers(at) and "sensitive: party" in ui.line(at)


def test_an_impossible_request_is_refused_at_once_and_stays(start):
    at = ui.anonymised(start())
    before = ui.numbers(at)
    model = add(at, ENTROPY)
    set_part(at, model, "l", 9.0)
    (refusal,) = ui.problems(at)
    assert refusal.startswith("Entropy l-diversity with l = 9 for 'disease' cannot be reached: ")
    ui.press(at, "Anonymise")
    assert ui.problems(at) == [refusal, refusal] and "run" not in ui.work(at).running
    assert ui.numbers(at) == before and ui.work(at).settings.models[0].l == 9
    ui.go(at, ui.DATA)
    ui.go(at, ui.ANONYMISE)
    (model,) = ui.work(at).settings.models
    assert at.number_input(key=get_model_key(ui.work(at), model, "l")).value == 9
    set_part(at, model, "l", 2.0)
    assert not ui.problems(at)


@pytest.mark.nightly
def test_the_slider_shows_no_k_that_was_not_computed(start):
    at = start()
    add(at, ENTROPY)
    ui.anonymised(at)
    result = ui.work(at).findings.result
    shown = [ui.number(one) for one in at.select_slider(key="run-k").options]
    assert shown == list(result.known)
    number = len(shown)
    assert any(f"{number} of {number} values of k" in one for one in ui.captions(at))
    for k in (result.known[0], result.known[-2]):
        ui.enter(at, at.select_slider(key="run-k"), k)
        assert ui.title(at) == f"What does k = {k} cost?"
        assert not ui.warnings(at) and not ui.problems(at)
        groups = classes_of(at, released(at))
        assert groups.size().min() >= k
        assert min(entropy_l(group, "disease") for _, group in groups) >= 2 - 1e-9
    lacking = next(k for k in range(2, 10) if k not in result.known)
    ui.enter(at, at.number_input(key=ui.frame_k(at)), lacking)
    ui.settled(at)
    assert not ui.warnings(at) and lacking in ui.work(at).findings.result.known


# --- what is typed and cannot be used -------------------------------------------------------
def test_a_mistake_in_one_field_outlives_a_change_of_another(start):
    at = start()

    def typed(model, part):
        return at.number_input(key=get_model_key(ui.work(at), model, part)).value

    model = add(at, "recursive-cl-diversity")
    set_part(at, model, "l", 1)
    set_part(at, model, "c", 4.0)
    (changed,) = ui.work(at).settings.models
    assert (changed.c, changed.l) == (4.0, 2) and typed(changed, "l") == 1
    assert [one.startswith("1 is not used, because l has") for one in ui.problems(at)] == [True]
    ui.click(at, at.button(key=get_model_key(ui.work(at), changed, "remove")))
    again = add(at, "recursive-cl-diversity")
    assert again and not ui.problems(at), "it went with its model"
    ui.click(at, at.button(key=get_model_key(ui.work(at), again, "remove")))

    model = add(at, T)
    set_part(at, model, "t", 1.5)
    (said,) = ui.problems(at)
    assert "at least 0 and at most 1" in said and ui.work(at).settings.models[0].t == 0.4
    set_part(at, model, "distance", "norm1")
    (model,) = ui.work(at).settings.models
    assert not ui.problems(at) and model.t == 0.8, "it was typed for the other scale"
    set_part(at, model, "t", 1.5)
    assert not ui.problems(at) and ui.work(at).settings.models[0].t == 1.5


# --- a larger k that costs less -------------------------------------------------------------
@pytest.mark.nightly
def test_a_larger_k_that_costs_less_is_offered(start, monkeypatch):
    at = ui.anonymised(start())
    assert not [one for one in ui.infos(at) if "loses less" in one]
    with monkeypatch.context() as patch:
        patch.setattr(
            release_panel, "find_cheaper_release", lambda *_: CheaperRelease(10, 40.0, 50.0)
        )
        (said,) = [one for one in ui.infos(ui.go(at)) if "loses less" in one]
        assert said == CheaperRelease(10, 40.0, 50.0).sentence(2)
        ui.press(at, "Show k = 10")
    assert ui.work(at).settings.k == 10 and "run" not in ui.work(at).running, "it is there already"


def points(ks, altered, suppressed=None):
    numbers = {"k": np.array(ks), "alteration_nllm": np.array(altered, dtype=float)}
    return Points(numbers, suppressed=None if suppressed is None else np.array(suppressed))


def test_what_leaves_out_more_records_is_not_offered():
    """Datafly, as published, may leave out k records."""
    assert find_cheaper_release(points([2, 5, 9], [50, 40, 30], [1.0, 2.0, 1.0]), "nllm", 2).k == 9
    assert find_cheaper_release(points([2, 5, 9], [50, 40, 30], [1.0, 1.0, 2.0]), "nllm", 2).k == 5
    assert find_cheaper_release(points([2, 5, 9], [50, 40, 30], [0.0, 1.0, 2.0]), "nllm", 2) is None


@examples(80)
@given(some.data())
def test_the_cheapest_larger_k_is_found(data):
    ks = sorted(data.draw(some.sets(some.integers(2, 99), min_size=1, max_size=8)))
    altered = [data.draw(some.integers(0, 20)) for _ in ks]
    at = data.draw(some.sampled_from(range(len(ks))))
    found = find_cheaper_release(points(ks, altered), "nllm", ks[at])
    better = [(cost, -k) for k, cost in zip(ks, altered, strict=True) if k > ks[at]]
    better = [(cost, k) for cost, k in better if cost < altered[at]]
    if not better:
        assert found is None
    else:
        cost, k = min(better)
        assert found == (-k, cost, altered[at])


# --- names and explanations -----------------------------------------------------------------
@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({}, "k3-gaa-nllm"),
        ({"strategy": "s3", "scope": "class"}, "k3-gaa-nllm-s3-class"),
        ({"strategy": "s6"}, "k3-gaa-nllm-s6"),
        ({"algorithm": "gaa-small"}, "k3-gaa-small-nllm"),
        ({"models": (EntropyLDiversity(2.0, "disease"),)}, "k3-gaa-nllm-l2"),
        ({"strategy": "t", "models": (TCloseness(0.5, "disease"),)}, "k3-gaa-nllm-t-t0.5"),
    ],
)
def test_a_download_is_named_by_what_it_is(changes, name):
    work = with_fields(open_sample("hospital"), k=3, **changes)
    prepared = prepare(build_plan(work), work.table.records)
    found = format_plan_for_file(prepared.plan)
    assert found == name and re.fullmatch(r"[a-z0-9.-]+", found)


def test_a_metric_of_ones_own_makes_no_unsafe_name():
    work = add_composed(open_sample("hospital"), "../Ärger & <b>", "levels", "none")
    work = with_fields(work, metric="../Ärger & <b>")
    found = format_plan_for_file(build_plan(work))
    assert re.fullmatch(r"[A-Za-z0-9.-]+", found) and ".." not in found


# --- ties -----------------------------------------------------------------------------------
@pytest.mark.nightly
def test_details_are_part_of_the_settings(start):
    at = ui.anonymised(start())
    ui.enter(at, tie_seed(at), 7)
    assert ui.OUTDATED in ui.warnings(at)[0] and "Details: seed 7" in ui.popovers(at)
    ui.anonymised(at)
    assert not ui.warnings(at) and build_plan(ui.work(at)).algorithm.tie_seed == 7
    assert any("Tie seed 7" in one for one in ui.texts(at))
    ui.enter(at, tie_seed(at), None)
    assert ui.work(at).settings.tie_seed is None and not ui.warnings(at), "its result is known"
    ui.choose(at, "run-gaa-parts-auto", "2")
    assert "Details: 2 parts" in ui.popovers(at) and build_plan(ui.work(at)).algorithm.parts == "2"
    ui.choose(at, "run-gaa-parts-2", "auto")
    assert ui.OUTDATED in ui.warnings(at)[0] and "Details" in ui.popovers(at)
    with ui.held_worker():
        ui.press(at, "Anonymise")
        ui.choose(at, "run-strategy", "s3")
        assert ui.work(at).running
    ui.settled(at)
    assert ui.OUTDATED in ui.warnings(at)[0], "chosen while the run was under way"


# --- the whole --------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("sample", "strategy", "scope"),
    [
        ("hospital", "s3", "table"),
        *(
            pytest.param(*one, marks=pytest.mark.nightly)
            for one in [
                *product(["hospital"], STRATEGIES, ["class"]),
                *product(["census"], ["s3", "s6"], ["class", "table"]),
            ]
        ),
    ],
)
def test_the_plan_repeats_what_the_page_shows(start, tmp_path, sample, strategy, scope):
    at = start(sample=sample)
    ui.choose(at, "run-strategy", strategy)
    if "run-scope" in keys(at):
        ui.choose(at, "run-scope", scope)
    ui.enter(at, tie_seed(at), 3)
    add(at, ENTROPY)
    add(at, T)
    ui.anonymised(at)
    assert not ui.problems(at) and not ui.warnings(at)
    text = ui.work(at).findings.result.release(ui.work(at).settings.k).prepared.plan.to_json()
    plan = Plan.from_json(text)
    assert plan.algorithm.strategy == strategy and len(plan.privacy) == 3
    (tmp_path / "plan.json").write_text(text, "utf-8")
    (tmp_path / "table.csv").write_bytes(ui.work(at).table.content)
    given = [str(tmp_path / name) for name in ("plan.json", "table.csv", "released.csv")]
    assert main(["run", given[0], "--table", given[1], "--out", given[2]]) == 0
    page = released(at).to_csv(index=False).encode()
    shown = pd.read_csv(io.BytesIO(page), dtype=str, keep_default_na=False)
    again = pd.read_csv(given[2], dtype=str, keep_default_na=False)
    pd.testing.assert_frame_equal(shown, again)
    assert json.loads(text) == json.loads(Plan.from_json(text).to_json())


# --- how the release is written ----------------------------------------------------------------
RAW = "Größe;plz;krank\r\n" + "".join(  # in the order in which a release leaves
    sorted(f"1,{n % 5};80{n % 3}1;{'Grippe' if n % 2 else 'Übelkeit'}\r\n" for n in range(30))
)


def released_from(start, name, content):
    at = ui.upload(start(ui.DATA), name, content)
    roles = {"Größe": "insensitive", "plz": "quasi-identifier", "krank": "sensitive"}
    for column, role in roles.items():
        ui.give_role(at, column, role)
    return ui.anonymised(at)


@pytest.mark.nightly
def test_a_download_is_written_as_the_upload_was_and_in_its_order_on_request(start, downloads):
    """Cells that were not blurred are the bytes that came: decimal commas too."""
    header, *lines = RAW.splitlines(keepends=True)
    upside_down = header + "".join(reversed(lines))
    at = released_from(start, "raw.csv", upside_down.encode("cp1252"))
    assert at.selectbox(key="download-format").value == "csv"
    name, make = downloads["download-release"]
    assert make() == RAW.encode("cp1252"), "k holds already, so nothing was blurred"
    (box,) = [one for one in at.checkbox if one.label == "Keep the table's order of rows"]
    box.check()
    ui.go(at)
    other, kept = downloads["download-release"]
    assert other != name and kept() == upside_down.encode("cp1252")
    assert ui.work(at).settings.row_order == "table"
    (box,) = [one for one in at.checkbox if one.label == "Keep the table's order of rows"]
    box.uncheck()
    quoted = RAW.replace("1,", '"1,').replace(";80", '";80')  # a comma stands in the cell
    plain = quoted.replace(";", ",").replace("\r", "").encode()
    forms = {"excel": RAW.encode("utf-8-sig"), "plain": plain}
    for form, expected in forms.items():
        ui.choose(at, "download-form", form)
        assert downloads["download-release"][1]() == expected
        assert downloads["download-release"][0] != name, "another file has another name"
    ui.choose(at, "download-format", "tsv")
    assert "download-form" not in keys(at)


@pytest.mark.nightly
def test_a_sheet_is_offered_as_a_sheet(start, downloads):
    book = io.BytesIO()
    pd.read_csv(io.StringIO(RAW), sep=";").to_excel(book, index=False)
    at = released_from(start, "raw.xlsx", book.getvalue())
    assert at.selectbox(key="download-format").value == "xlsx"
    assert downloads["download-release"][0].endswith(".xlsx")
