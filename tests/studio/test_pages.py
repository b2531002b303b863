"""The pages, driven by AppTest: what is on screen after what a user does."""

import re

import pandas as pd
import pytest
from google.protobuf.message import Message

from kanon.base.formatting import write_count
from kanon.errors import TableError
from kanon.run import run
from kanon.sources.reading import read_table
from kanon.studio.session.run_plan import build_plan
from kanon.studio.session.samples import SAMPLES
from kanon.studio.session.table_loading import open_sample
from kanon.studio.session.text import escape_markdown
from support import dashboard as ui


# --- the first start ------------------------------------------------------------------------
def test_the_first_start_shows_the_census_and_soon_a_result_for_every_k(start):
    with ui.held_worker():
        at = start(sample=None)
        assert ui.title(at) == "What does k = 5 cost?"
        assert "30\u202f000 records · 6 quasi-identifiers · sensitive: health" in ui.line(at)
        assert ui.button(at, "Anonymise").disabled and ui.button(at, "Cancel")
        assert len(at.get("progress")) == 1 and not at.info and not at.metric
        job = ui.job_of(at)
        ui.go(at, ui.DATA)
        assert ui.job_of(at) is job and not job.finished, "it goes on while another page is open"
    assert job.wait(60)
    ui.settled(ui.go(at, ui.ANONYMISE))  # the run, and then how close it is to the least possible
    assert not at.get("progress") and not at.info and not at.warning and not at.error
    assert not [button for button in at.button if button.label == "Cancel"]
    assert not ui.button(at, "Anonymise").disabled
    expected = run(build_plan(open_sample("census")), open_sample("census").table.records).measures
    few = ui.numbers(at)
    assert few.pop("Worst l, health").endswith(" of 4.24")
    assert few.pop("Worst t, health").endswith(" of 1")
    assert few == {
        "Alteration": f"{expected['alteration']['nllm']:.1f} %",
        "Generalised": f"{expected['generalised_percent']:.1f} %",
        "At root": f"{expected['root_percent']:.1f} %",
        "Minimum k": f"{expected['min_k']} records",
        "Classes": write_count(expected["classes"]),
    }
    assert {"alteration-curve"} <= {chart.key for chart in at.get("plotly_chart")}
    before, released = (table.value for table in at.dataframe)
    assert len(before) == len(released) == 100 and list(before) == list(released)
    assert "person" not in before and (before["age"] != released["age"]).any()
    assert (before["health"] == released["health"]).all()

    slider = at.select_slider(key="run-k")
    assert slider.options[:4] == ["2", "3", "4", "5"] and slider.options[-1] == "30\u202f000"
    slider.set_value(100)
    many = ui.numbers(ui.go(at))
    assert ui.title(at) == "What does k = 100 cost?"
    assert f"After, at least {many['Minimum k'].split()[0]} alike" in [
        heading.value for heading in at.subheader
    ]
    assert ui.number(many["Minimum k"]) >= 100
    assert ui.number(many["Classes"]) < ui.number(few["Classes"])
    assert ui.number(many["Alteration"]) > ui.number(few["Alteration"])
    (curve,) = [chart for chart in at.get("plotly_chart") if chart.key == "alteration-curve"]
    assert "k = 100 costs" in curve.proto.spec
    assert not ui.warnings(at), "moving k needs no new run"
    at.select_slider(key="run-k").set_value(30_000)
    assert ui.numbers(ui.go(at))["Classes"] == "1"


@pytest.mark.nightly  # in every run: test_changed_settings.py
def test_a_choice_marks_the_result_as_outdated_until_it_is_run(start):
    at = ui.anonymised(start())
    before = ui.numbers(at)
    wanted = {"run-metric": "distortion", "cost": "representatives", "run-algorithm": "gaa-small"}

    def control(name):
        return ui.cost_key(at) if name == "cost" else name

    for name, value in wanted.items():
        chosen = at.selectbox(key=control(name)).value
        ui.choose(at, control(name), value)
        assert ui.OUTDATED in ui.warnings(at)[0] and ui.numbers(at) == before
        ui.choose(at, control(name), chosen)
        assert not ui.warnings(at), "back at the settings that the result was made with"
    for name, value in wanted.items():
        ui.choose(at, control(name), value)
    ui.settled(ui.press(at, "Anonymise"))
    assert not ui.warnings(at) and not ui.problems(at) and ui.numbers(at) != before
    assert [at.selectbox(key=control(name)).value for name in wanted] == [*wanted.values()]


def test_the_line_at_the_top_changes_metric_k_and_table(start):
    at = ui.anonymised(start())
    ui.choose(at, ui.frame_metric(at), "ncp")
    assert at.selectbox(key="run-metric").value == "ncp" and ui.OUTDATED in ui.warnings(at)[0]
    ui.enter(at, at.number_input(key=ui.frame_k(at)), 5)
    assert ui.title(at) == "What does k = 5 cost?" and at.select_slider(key="run-k").value == 5
    ui.choose(at, "frame-sample", "animals-m23")
    assert "8 records" in ui.line(at) and ui.title(at) == "What does k = 4 cost?"
    assert "There is no result for this table yet" in at.info[0].value


@pytest.mark.nightly
def test_an_algorithm_for_one_k_has_a_slider_and_runs_for_the_k_that_is_chosen(start):
    at = start()
    ui.choose(at, "run-algorithm", "gaa-small")
    ui.anonymised(at)
    (sentence,) = [caption for caption in ui.captions(at) if "separately for each k" in caption]
    assert "1 of 6 values of k are computed." in sentence
    (slider,) = at.select_slider
    assert slider.options == ["2", "3", "4", "5", "7", "10"]
    for k in (4, 6):
        ui.settled(ui.enter(at, at.number_input(key=ui.frame_k(at)), k))
        assert not ui.warnings(at) and ui.number(ui.numbers(at)["Minimum k"]) >= k
    assert not ui.warnings(at) and ui.number(ui.numbers(at)["Minimum k"]) >= 6


# --- cancel ---------------------------------------------------------------------------------
@pytest.mark.nightly
def test_cancel_keeps_the_old_result(start):
    at = ui.anonymised(start())
    before = ui.numbers(at)
    with ui.held_worker():
        ui.choose(at, "run-metric", "total")
        ui.press(at, "Anonymise")
        (bar,) = at.get("progress")
        assert "Waiting: place 1 in the queue" in bar.proto.text.replace("\\", "")
        assert ui.numbers(at) == before, "the old result stays while the new one is made"
        ui.press(at, "Cancel")
        ui.settled(at)
    assert ui.problems(at) == [] and at.info[0].value.replace("\\", "") == ui.CANCELLED
    assert ui.numbers(at) == before and ui.OUTDATED in ui.warnings(at)[0]
    assert not [button for button in at.button if button.label == "Cancel"]
    ui.settled(ui.press(at, "Anonymise"))
    assert not ui.problems(at) and not ui.warnings(at) and ui.numbers(at) != before


@pytest.mark.nightly
@pytest.mark.parametrize("ended", ["done", pytest.param("cancelled", marks=pytest.mark.nightly)])
def test_a_wrong_file_is_told_of_although_a_run_ends_just_then(start, ended):
    """The first upload of a session often meets the end of the sample's own run."""
    with ui.held_worker():
        at = ui.go(ui.press(start(), "Anonymise"), ui.DATA)
        job = ui.job_of(at)
        if ended == "cancelled":
            job.cancel()
    assert job.wait(60) and ui.job_of(at) is job, "nothing was drawn since"
    ui.upload(at, "people.xlsx", b"no workbook")
    (said,) = ui.problems(at)
    assert "'people.xlsx'" in said and not ui.work(at).running
    assert (ui.work(at).findings.result is not None) == (ended == "done")


# --- samples --------------------------------------------------------------------------------
@pytest.mark.nightly  # in every run: the first start, with the census
@pytest.mark.parametrize(
    "name",
    [
        "voters",
        *(pytest.param(name, marks=pytest.mark.nightly) for name in SAMPLES if name != "voters"),
    ],
)
def test_every_sample_loads_and_runs(start, name):
    sample = SAMPLES[name]
    at = start(ui.DATA, sample="hospital" if name != "hospital" else "census")
    ui.press(at, sample.title)
    table = read_table(sample.path).table
    assert f"{write_count(len(table))} records, {len(table.columns)} columns" in [
        heading.value for heading in at.subheader
    ]
    sizes = table.groupby([c for c, role in sample.roles.items() if role == "quasi-identifier"])
    assert ui.numbers(at)["k"] == write_count(sizes.size().min())
    assert ui.numbers(at)["Classes"] == write_count(len(sizes))
    for column, role in sample.roles.items():
        assert at.selectbox(key=ui.key_of(at, column, "role")).value == role.value
    ui.anonymised(at)
    assert ui.title(at) == f"What does k = {sample.k} cost?" and not ui.problems(at)
    assert ui.number(ui.numbers(at)["Minimum k"]) >= sample.k


# --- roles ----------------------------------------------------------------------------------
@pytest.mark.nightly
def test_roles_change(start):
    at = ui.go(ui.anonymised(start()), ui.DATA)
    ui.give_role(at, "age", "insensitive")
    classes = ui.shown(at).groupby(["zip", "sex"]).ngroups
    assert "2 quasi-identifiers" in ui.line(at) and ui.numbers(at)["Classes"] == str(classes)
    ui.give_role(at, "age", "quasi-identifier")
    ui.give_role(at, "zip", "insensitive")
    assert ui.key_of(at, "zip", "builder") not in {box.key for box in at.selectbox}
    ui.give_role(at, "disease", "quasi-identifier")
    assert at.selectbox(key=ui.key_of(at, "disease", "builder")).value == "suppression"
    assert "sensitive: none" in ui.line(at)
    ui.give_role(at, "sex", "identifier")
    ui.go(at, ui.ANONYMISE)
    assert ui.OUTDATED in ui.warnings(at)[0]
    ui.settled(ui.press(at, "Anonymise"))
    released = ui.after(at)
    assert list(released) == ["age", "disease", "zip"], "identifiers are not in a release"
    assert list(released["zip"]) == list(read_table(SAMPLES["hospital"].path).table["zip"])
    ui.give_role(ui.go(at, ui.DATA), "zip", "quasi-identifier")
    assert at.selectbox(key=ui.key_of(at, "zip", "builder")).value == "file", "its tree was kept"


# --- uploads --------------------------------------------------------------------------------
@pytest.mark.nightly
def test_reading_again_keeps_roles_and_hierarchies(start):
    at = ui.with_people(start(ui.DATA))
    ui.give_role(at, "name", "insensitive")
    ui.build(at, "age", "intervals", widths="3, 6")
    at.number_input(key=ui.frame_k(at)).set_value(3)
    ui.choose(ui.go(at), ui.frame_metric(at), "ncp")
    ui.enter(at, at.multiselect(key=f"markers-{ui.work(at).version}"), ["?"])
    assert at.selectbox(key=ui.key_of(at, "name", "role")).value == "insensitive"
    assert at.text_input(key=ui.key_of(at, "age", "widths")).value == "3, 6"
    assert at.selectbox(key=ui.frame_metric(at)).value == "ncp"
    assert at.number_input(key=ui.frame_k(at)).value == 3


# --- names from tables and files ------------------------------------------------------------
NASTY = [
    "![x](http://example.invalid/a.png)",
    "<img src=x onerror=alert(1)>",
    "[click](http://example.invalid)",
    "$\\int x$ **bold** `code`",
    ":red[stop] :material/home:",
]
_ESCAPED = re.compile(r"\\[!-/:-@\[-`{-~]")
_NOT_MARKDOWN = {"id", "data", "styler", "key", "form_id", "options", "default", "raw_values"}


def texts_of(message):
    """Every text that a page sends, with the name of its field; not the cells of tables."""
    for field, value in message.ListFields():
        if field.name in _NOT_MARKDOWN or field.type == field.TYPE_BYTES:
            continue
        if (message.DESCRIPTOR.name, field.name) == ("TextInput", "value"):
            continue  # what was typed stands in a field, as it was typed
        for one in value if field.is_repeated else [value]:
            if isinstance(one, Message):
                yield from texts_of(one)
            elif isinstance(one, str):
                yield field.name, one


def sent(at):
    """Every text on screen, of elements and of the blocks around them."""
    for node in at._tree:
        if isinstance(getattr(node, "proto", None), Message):
            yield from texts_of(node.proto)


@pytest.mark.nightly
def test_names_never_reach_markdown_unescaped(start):
    table = pd.DataFrame(
        {
            NASTY[0]: [f"{i}{NASTY[1]}" for i in range(30)],
            NASTY[1]: [1, 2, "?"] * 10,
            NASTY[2]: [*NASTY] * 6,
            NASTY[3]: ["x"] * 30,
            NASTY[4]: list(range(30)),
        }
    )
    at = ui.upload(start(ui.DATA), f"{NASTY[0]} {NASTY[1]}.csv", ui.as_bytes(table, "csv"))
    assert ui.problems(at) == []
    seen = [*sent(at)]
    for column in NASTY:
        ui.give_role(at, column, "quasi-identifier")
        seen += sent(at)
    ui.give_role(at, NASTY[3], "sensitive")
    ui.enter(at, at.radio(key=f"missing-{ui.work(at).version}"), "drop-records")
    ui.upload_tree(at, NASTY[2], f"{NASTY[1]}{NASTY[0]}.csv", b"F;*\nM;*\n")
    assert len(ui.problems(at)) == 1
    seen += sent(at)
    lines = "".join(f'"{value}";"{NASTY[4]} (group)";*\n' for value in NASTY)
    ui.upload_tree(at, NASTY[2], f"{NASTY[1]}{NASTY[0]}.csv", lines.encode())
    assert ui.problems(at) == []
    ui.build(at, NASTY[4], "intervals", widths=NASTY[0])
    assert NASTY[0] in ui.problems(at)[0].replace("\u2060", "")
    seen += sent(at)
    ui.build(at, NASTY[4], "suppression")
    ui.anonymised(at)
    assert ui.numbers(at) and not ui.problems(at)
    seen += sent(at)
    ui.upload(ui.go(at, ui.DATA), f"{NASTY[1]}{NASTY[0]}.exe", b"")
    seen += sent(at)
    assert len(ui.problems(at)) == 1
    names = [text for _, text in seen if "example" in text or "onerror" in text]
    assert any(escape_markdown(NASTY[0]) in text for text in names), (
        "the names are not on the pages at all"
    )
    charts = [text for name, text in seen if name == "spec"]
    assert charts and any("&lt;img" in text for text in charts)
    for text in charts:
        assert "<img" not in text and "<a " not in text
    for name, text in seen:
        if name not in ("spec", "columns", "body_html", "json"):  # a component writes plain text
            bare = _ESCAPED.sub("", text)
            for mark in ("](", "<img", "**bold", ":red[", "`code", "$\\int", "http://example"):
                assert mark not in bare, f"{name}: {text[:200]}"


# --- sessions and pages ---------------------------------------------------------------------
def test_two_sessions_do_not_see_each_others_work(start):
    ana, ben = start(ui.DATA), start(ui.DATA)
    ui.with_people(ana, ui.PEOPLE.rename(columns={"disease": "secret-diagnosis"}))
    ui.give_role(ana, "secret-diagnosis", "quasi-identifier")
    ui.go(ben)
    assert "10 records" in ui.line(ben) and "hospital" in ui.work(ben).table.origin
    ui.anonymised(ana)
    ui.choose(ui.go(ben, ui.ANONYMISE), "run-metric", "ncp")
    assert not ben.metric and "There is no result" in ben.info[0].value
    assert ana.selectbox(key="run-metric").value == "nllm"
    for text in (text for _, text in sent(ben)):
        assert "secret" not in text and "people" not in text
    ui.anonymised(ben)
    assert list(ui.after(ui.go(ana))) == ["age", "zip", "sex", "secret-diagnosis"]
    assert "secret-diagnosis" not in ui.after(ben)
    urls = [{one.proto.url for one in at.get("download_button")} for at in (ana, ben)]
    assert not urls[0] & urls[1] - {""}


@pytest.mark.nightly
def test_leaving_a_page_and_returning_keeps_everything(start):
    at = ui.with_people(start(ui.DATA))
    ui.give_role(at, "name", "insensitive")
    ui.build(at, "age", "intervals", widths="3, 6", lowest="25")
    ui.build(at, "zip", "mask", keep="five")
    ui.build(at, "sex", "file")
    ui.go(at, ui.ANONYMISE)
    ui.choose(at, "run-metric", "wllm")
    ui.choose(at, ui.cost_key(at), "representatives")
    ui.enter(at, at.number_input(key=ui.frame_k(at)), 3)
    for page in (ui.DATA, ui.ANONYMISE, ui.DATA):
        ui.go(at, page)
    assert at.selectbox(key=ui.key_of(at, "name", "role")).value == "insensitive"
    assert at.selectbox(key=ui.key_of(at, "sex", "builder")).value == "file"
    assert at.text_input(key=ui.key_of(at, "age", "widths")).value == "3, 6"
    assert at.text_input(key=ui.key_of(at, "age", "lowest")).value == "25"
    assert at.text_input(key=ui.key_of(at, "zip", "keep")).value == "five"
    ui.build(at, "zip", "mask", keep="3")
    ui.build(at, "sex", "suppression")
    ui.anonymised(at)
    first = ui.numbers(at)
    at.select_slider(key="run-k").set_value(4)
    other = ui.numbers(ui.go(at))
    assert ui.numbers(ui.go(ui.go(at, ui.DATA), ui.ANONYMISE)) == other
    assert ui.title(at) == "What does k = 4 cost?"
    at.select_slider(key="run-k").set_value(3)
    assert ui.numbers(ui.go(at)) == first
    assert at.selectbox(key="run-metric").value == "wllm"
    assert at.selectbox(key=ui.cost_key(at)).value == "representatives"
    assert not ui.warnings(at) and not ui.problems(at)


# --- Adult ----------------------------------------------------------------------------------
@pytest.mark.nightly
def test_the_adult_table_comes_with_its_hierarchies(start, monkeypatch):
    record = b"Male,39,White,Never-married,Bachelors,United-States,State-gov,Adm-clerical,<=50K\n"
    other = b"Female,50,Black,Divorced,HS-grad,Cuba,Private,Sales,>50K\n"
    header = (
        b"sex,age,race,marital-status,education,native-country,workclass,occupation,salary-class\n"
    )
    file = read_table(header + record * 3 + other * 2, "adult.csv")
    monkeypatch.setattr("kanon.studio.session.table_loading.fetch_adult", lambda: file)
    at = ui.press(start(ui.DATA), "Download Adult")
    assert ui.problems(at) == [] and "5 records · 9 quasi-identifiers" in ui.line(at)
    assert {one.builder for one in ui.work(at).table.choices.values()} == {"file"}
    at.number_input(key=ui.frame_k(at)).set_value(4)
    ui.anonymised(ui.go(at))
    assert ui.numbers(at)["Minimum k"] == "5 records"


def test_a_failed_fetch_is_not_a_traceback(start, monkeypatch):
    def fail():
        raise TableError("The Adult table {cells} ![x](http://example.invalid).", ["<b>"])

    monkeypatch.setattr("kanon.studio.session.table_loading.fetch_adult", fail)
    at = ui.press(start(ui.DATA), "Download Adult")
    assert at.error[0].value == escape_markdown(
        "The Adult table '<b>' ![x](http://example.invalid)."
    )


# --- what a newcomer has to be told ---------------------------------------------------------
def test_a_file_that_is_still_to_come_is_no_mistake(start):
    at = ui.build(ui.with_people(start(ui.DATA)), "sex", "file")
    assert ui.problems(at) == []
    assert "Choose a CSV or JSON file of the hierarchy." in ui.captions(at)
    ui.press(ui.go(at, ui.ANONYMISE), "Anonymise")
    assert ui.problems(at) == ["'sex' has no usable hierarchy yet; see the Hierarchies page."]


@pytest.mark.nightly
def test_many_columns_are_listed_a_part_at_a_time(start):
    table = pd.DataFrame({f"c{i:03}": ["x", "y"] for i in range(70)})
    at = ui.upload(start(ui.DATA), "wide.csv", ui.as_bytes(table, "csv"))
    assert sum(box.label.startswith("Role of") for box in at.selectbox) == 30
    at.selectbox(key=f"columns-{ui.work(at).version}").select(60).run()
    shown = [box.label for box in at.selectbox if box.label.startswith("Role of")]
    assert shown == [f"Role of c{i:03}" for i in range(60, 70)]
