"""The pages, driven by AppTest: what is on screen after what a user does."""

from __future__ import annotations

import re

import pandas as pd
import pytest
from google.protobuf.message import Message

from kanon.base.formatting import thin
from kanon.errors import TableError
from kanon.metrics import METRICS
from kanon.run import run
from kanon.sources.reading import read_table
from kanon.studio.session.run_plan import plan_of
from kanon.studio.session.samples import SAMPLES
from kanon.studio.session.table_loading import sample_work
from kanon.studio.session.text import plain
from support.dashboard import (
    ANONYMISE,
    CANCELLED,
    DATA,
    OUTDATED,
    PEOPLE,
    after,
    anonymised,
    as_bytes,
    build,
    button,
    captions,
    choose,
    cost_key,
    frame_k,
    frame_metric,
    give_role,
    go,
    held_worker,
    job_of,
    key_of,
    line,
    number,
    numbers,
    press,
    problems,
    settled,
    shown,
    title,
    upload,
    upload_tree,
    warnings,
    with_people,
    work,
)


# --- the first start ------------------------------------------------------------------------
def test_the_first_start_shows_the_census_and_soon_a_result_for_every_k(start):
    with held_worker():
        at = start(sample=None)
        assert title(at) == "What does k = 5 cost?"
        assert "30\u202f000 records · 6 quasi-identifiers · sensitive: health" in line(at)
        assert button(at, "Anonymise").disabled and button(at, "Cancel")
        assert len(at.get("progress")) == 1 and not at.info and not at.metric
        job = job_of(at)
        go(at, DATA)
        assert job_of(at) is job and not job.finished, "it goes on while another page is open"
    assert job.wait(60)
    settled(go(at, ANONYMISE))  # the run, and then how close it is to the least possible
    assert not at.get("progress") and not at.info and not at.warning and not at.error
    assert not [one for one in at.button if one.label == "Cancel"]
    assert not button(at, "Anonymise").disabled
    expected = run(plan_of(sample_work("census")), sample_work("census").table.records).measures
    few = numbers(at)
    assert few.pop("Worst l, health").endswith(" of 4.24")
    assert few.pop("Worst t, health").endswith(" of 1")
    assert few == {
        "Alteration": f"{expected['alteration']['nllm']:.1f} %",
        "Generalised": f"{expected['generalised_percent']:.1f} %",
        "At root": f"{expected['root_percent']:.1f} %",
        "Minimum k": f"{expected['min_k']} records",
        "Classes": thin(expected["classes"]),
    }
    assert {"alteration-curve"} <= {chart.key for chart in at.get("plotly_chart")}
    before, released = (one.value for one in at.dataframe)
    assert len(before) == len(released) == 200 and list(before) == list(released)
    assert "person" not in before and (before["age"] != released["age"]).any()
    assert (before["health"] == released["health"]).all()

    slider = at.select_slider(key="run-k")
    assert slider.options[:4] == ["2", "3", "4", "5"] and slider.options[-1] == "30\u202f000"
    slider.set_value(100)
    many = numbers(go(at))
    assert title(at) == "What does k = 100 cost?"
    assert f"After, at least {many['Minimum k'].split()[0]} alike" in [
        one.value for one in at.subheader
    ]
    assert number(many["Minimum k"]) >= 100
    assert number(many["Classes"]) < number(few["Classes"])
    assert number(many["Alteration"]) > number(few["Alteration"])
    (chart,) = at.get("plotly_chart")
    assert "k = 100 costs" in chart.proto.spec
    assert not warnings(at), "moving k needs no new run"
    at.select_slider(key="run-k").set_value(30_000)
    assert numbers(go(at))["Classes"] == "1"


def test_a_choice_marks_the_result_as_outdated_until_it_is_run(start):
    at = anonymised(start())
    before = numbers(at)
    wanted = {"run-metric": "distortion", "cost": "representatives", "run-algorithm": "gaa-small"}

    def control(name):
        return cost_key(at) if name == "cost" else name

    for name, value in wanted.items():
        chosen = at.selectbox(key=control(name)).value
        choose(at, control(name), value)
        assert OUTDATED in warnings(at)[0] and numbers(at) == before
        choose(at, control(name), chosen)
        assert not warnings(at), "back at the settings that the result was made with"
    for name, value in wanted.items():
        choose(at, control(name), value)
    settled(press(at, "Anonymise"))
    assert not warnings(at) and not problems(at) and numbers(at) != before
    assert [at.selectbox(key=control(name)).value for name in wanted] == [*wanted.values()]


def test_the_line_at_the_top_changes_metric_k_and_table(start):
    at = anonymised(start())
    choose(at, frame_metric(at), "ncp")
    assert at.selectbox(key="run-metric").value == "ncp" and OUTDATED in warnings(at)[0]
    at.number_input(key=frame_k(at)).set_value(5)
    go(at)
    assert title(at) == "What does k = 5 cost?" and at.select_slider(key="run-k").value == 5
    choose(at, "frame-sample", "animals-m23")
    assert "8 records" in line(at) and title(at) == "What does k = 4 cost?"
    assert "There is no result for this table yet" in at.info[0].value


def test_an_algorithm_for_one_k_has_a_slider_over_those_computed(start):
    at = start()
    choose(at, "run-algorithm", "gaa-small")
    anonymised(at)
    (sentence,) = [one for one in captions(at) if "runs once per k" in one]
    assert "6 values of k were computed, nothing in between" in sentence
    (slider,) = at.select_slider
    assert slider.options == ["2", "3", "4", "5", "7", "10"]
    at.number_input(key=frame_k(at)).set_value(4)
    go(at)
    assert not warnings(at) and number(numbers(at)["Minimum k"]) >= 4
    at.number_input(key=frame_k(at)).set_value(6)
    go(at)
    assert OUTDATED in warnings(at)[0]
    settled(press(at, "Anonymise"))
    assert not warnings(at) and number(numbers(at)["Minimum k"]) >= 6


# --- cancel ---------------------------------------------------------------------------------
def test_cancel_keeps_the_old_result(start):
    at = anonymised(start())
    before = numbers(at)
    with held_worker():
        choose(at, "run-metric", "total")
        press(at, "Anonymise")
        (bar,) = at.get("progress")
        assert "Waiting: place 1 in the queue" in bar.proto.text.replace("\\", "")
        assert numbers(at) == before, "the old result stays while the new one is made"
        press(at, "Cancel")
        settled(at)
    assert problems(at) == [] and at.info[0].value.replace("\\", "") == CANCELLED
    assert numbers(at) == before and OUTDATED in warnings(at)[0]
    assert not [one for one in at.button if one.label == "Cancel"]
    settled(press(at, "Anonymise"))
    assert not problems(at) and not warnings(at) and numbers(at) != before


@pytest.mark.parametrize("ended", ["done", "cancelled"])
def test_a_wrong_file_is_told_of_although_a_run_ends_just_then(start, ended):
    """The first upload of a session often meets the end of the sample's own run."""
    with held_worker():
        at = go(press(start(), "Anonymise"), DATA)
        job = job_of(at)
        if ended == "cancelled":
            job.cancel()
    assert job.wait(60) and job_of(at) is job, "nothing was drawn since"
    upload(at, "people.xlsx", b"no workbook")
    (said,) = problems(at)
    assert "'people.xlsx'" in said and not work(at).running
    assert (work(at).findings.result is not None) == (ended == "done")


# --- samples --------------------------------------------------------------------------------
@pytest.mark.parametrize("name", list(SAMPLES))
def test_every_sample_loads_and_runs(start, name):
    sample = SAMPLES[name]
    at = start(DATA, sample="hospital" if name != "hospital" else "census")
    press(at, sample.title)
    table = read_table(sample.path).table
    assert f"{thin(len(table))} records, {len(table.columns)} columns" in [
        one.value for one in at.subheader
    ]
    sizes = table.groupby([c for c, role in sample.roles.items() if role == "quasi-identifier"])
    assert numbers(at)["k"] == thin(sizes.size().min())
    assert numbers(at)["Classes"] == thin(len(sizes))
    for column, role in sample.roles.items():
        assert at.selectbox(key=key_of(at, column, "role")).value == role.value
    anonymised(at)
    assert title(at) == f"What does k = {sample.k} cost?" and not problems(at)
    assert number(numbers(at)["Minimum k"]) >= sample.k


# --- roles ----------------------------------------------------------------------------------
def test_roles_change(start):
    at = go(anonymised(start()), DATA)
    give_role(at, "age", "insensitive")
    classes = shown(at).groupby(["zip", "sex"]).ngroups
    assert "2 quasi-identifiers" in line(at) and numbers(at)["Classes"] == str(classes)
    give_role(at, "age", "quasi-identifier")
    give_role(at, "zip", "insensitive")
    assert key_of(at, "zip", "builder") not in {one.key for one in at.selectbox}
    give_role(at, "disease", "quasi-identifier")
    assert at.selectbox(key=key_of(at, "disease", "builder")).value == "suppression"
    assert "sensitive: none" in line(at)
    give_role(at, "sex", "identifier")
    go(at, ANONYMISE)
    assert OUTDATED in warnings(at)[0]
    settled(press(at, "Anonymise"))
    released = after(at)
    assert list(released) == ["age", "disease", "zip"], "identifiers are not in a release"
    assert list(released["zip"]) == list(read_table(SAMPLES["hospital"].path).table["zip"])
    give_role(go(at, DATA), "zip", "quasi-identifier")
    assert at.selectbox(key=key_of(at, "zip", "builder")).value == "file", "its tree was kept"


# --- hierarchies ----------------------------------------------------------------------------


def test_drawn_weights_offer_the_custom_metric(start):
    at = with_people(start(DATA))
    for other in ("age", "zip"):
        give_role(at, other, "insensitive")
    assert METRICS["custom"].card.title not in at.selectbox(key=frame_metric(at)).options
    nodes = '{"name": "*"}, {"name": "F", "parent": "*", "weight": 1}'
    tree = '{"nodes": [' + nodes + ', {"name": "M", "parent": "*", "weight": 3}]}'
    upload_tree(at, "sex", "sex.json", tree.encode())
    assert problems(at) == []
    choose(go(at, ANONYMISE), "run-metric", "custom")
    upload_tree(go(at, DATA), "sex", "sex.csv", b"F;*\nM;*\n")
    press(go(at, ANONYMISE), "Anonymise")
    (problem,) = problems(at)
    assert "drawn edge weights" in problem and "'sex' has none" in problem


# --- uploads --------------------------------------------------------------------------------


def test_separator_and_encoding_can_be_chosen_afterwards(start):
    content = "age;town, region\n31;Łódź, Łódzkie\n32;Żory, Śląsk\n".encode("cp1250")
    at = upload(start(DATA), "towns.csv", content)
    for separator, columns in ((",", ["age;town", "region"]), (";", ["age", "town, region"])):
        choose(at, f"separator-{work(at).version}", separator)
        assert list(work(at).table.roles) == columns and problems(at) == []
    for encoding, said in (
        ("latin-1", None),
        ("cp1250", None),
        ("utf-8", "cannot be read in the encoding"),
        ("klingon", "not known"),
    ):
        at.text_input(key=f"encoding-{work(at).version}").set_value(encoding)
        settled(go(at))
        assert (shown(at).iloc[0, 1] == "Łódź, Łódzkie") == (encoding != "latin-1")
        assert [said in one for one in problems(at)] == [True] * bool(said)


def test_reading_again_keeps_roles_and_hierarchies(start):
    at = with_people(start(DATA))
    give_role(at, "name", "insensitive")
    build(at, "age", "intervals", widths="3, 6")
    at.number_input(key=frame_k(at)).set_value(3)
    choose(go(at), frame_metric(at), "ncp")
    at.multiselect(key=f"markers-{work(at).version}").set_value(["?"])
    go(at)
    assert at.selectbox(key=key_of(at, "name", "role")).value == "insensitive"
    assert at.text_input(key=key_of(at, "age", "widths")).value == "3, 6"
    assert at.selectbox(key=frame_metric(at)).value == "ncp"
    assert at.number_input(key=frame_k(at)).value == 3


# --- the size of k --------------------------------------------------------------------------


def test_the_k_in_the_line_at_the_top_is_the_k_in_the_title(start):
    at = go(with_people(start(DATA), PEOPLE.head(3)), ANONYMISE)
    assert f"k = {at.number_input(key=frame_k(at)).value} " in title(at)


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
    at = upload(start(DATA), f"{NASTY[0]} {NASTY[1]}.csv", as_bytes(table, "csv"))
    assert problems(at) == []
    seen = [*sent(at)]
    for column in NASTY:
        give_role(at, column, "quasi-identifier")
        seen += sent(at)
    give_role(at, NASTY[3], "sensitive")
    at.radio(key=f"missing-{work(at).version}").set_value("drop-records")
    go(at)
    upload_tree(at, NASTY[2], f"{NASTY[1]}{NASTY[0]}.csv", b"F;*\nM;*\n")
    assert len(problems(at)) == 1
    seen += sent(at)
    lines = "".join(f'"{value}";"{NASTY[4]} (group)";*\n' for value in NASTY)
    upload_tree(at, NASTY[2], f"{NASTY[1]}{NASTY[0]}.csv", lines.encode())
    assert problems(at) == []
    build(at, NASTY[4], "intervals", widths=NASTY[0])
    assert NASTY[0] in problems(at)[0].replace("\u2060", "")
    seen += sent(at)
    build(at, NASTY[4], "suppression")
    anonymised(at)
    assert numbers(at) and not problems(at)
    seen += sent(at)
    upload(go(at, DATA), f"{NASTY[1]}{NASTY[0]}.exe", b"")
    seen += sent(at)
    assert len(problems(at)) == 1
    names = [text for _, text in seen if "example" in text or "onerror" in text]
    assert any(plain(NASTY[0]) in text for text in names), "the names are not on the pages at all"
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
    ana, ben = start(DATA), start(DATA)
    with_people(ana, PEOPLE.rename(columns={"disease": "secret-diagnosis"}))
    give_role(ana, "secret-diagnosis", "quasi-identifier")
    go(ben)
    assert "10 records" in line(ben) and "hospital" in work(ben).table.origin
    anonymised(ana)
    choose(go(ben, ANONYMISE), "run-metric", "ncp")
    assert not ben.metric and "There is no result" in ben.info[0].value
    assert ana.selectbox(key="run-metric").value == "nllm"
    for text in (text for _, text in sent(ben)):
        assert "secret" not in text and "people" not in text
    anonymised(ben)
    assert list(after(go(ana))) == ["age", "zip", "sex", "secret-diagnosis"]
    assert "secret-diagnosis" not in after(ben)
    urls = [{one.proto.url for one in at.get("download_button")} for at in (ana, ben)]
    assert not urls[0] & urls[1] - {""}


def test_leaving_a_page_and_returning_keeps_everything(start):
    at = with_people(start(DATA))
    give_role(at, "name", "insensitive")
    build(at, "age", "intervals", widths="3, 6", lowest="25")
    build(at, "zip", "mask", keep="five")
    build(at, "sex", "file")
    go(at, ANONYMISE)
    choose(at, "run-metric", "wllm")
    choose(at, cost_key(at), "representatives")
    at.number_input(key=frame_k(at)).set_value(3)
    go(at)
    for page in (DATA, ANONYMISE, DATA):
        go(at, page)
    assert at.selectbox(key=key_of(at, "name", "role")).value == "insensitive"
    assert at.selectbox(key=key_of(at, "sex", "builder")).value == "file"
    assert at.text_input(key=key_of(at, "age", "widths")).value == "3, 6"
    assert at.text_input(key=key_of(at, "age", "lowest")).value == "25"
    assert at.text_input(key=key_of(at, "zip", "keep")).value == "five"
    build(at, "zip", "mask", keep="3")
    build(at, "sex", "suppression")
    anonymised(at)
    first = numbers(at)
    at.select_slider(key="run-k").set_value(4)
    other = numbers(go(at))
    assert numbers(go(go(at, DATA), ANONYMISE)) == other and title(at) == "What does k = 4 cost?"
    at.select_slider(key="run-k").set_value(3)
    assert numbers(go(at)) == first
    assert at.selectbox(key="run-metric").value == "wllm"
    assert at.selectbox(key=cost_key(at)).value == "representatives"
    assert not warnings(at) and not problems(at)


# --- Adult ----------------------------------------------------------------------------------
def test_the_adult_table_comes_with_its_hierarchies(start, monkeypatch):
    record = b"Male,39,White,Never-married,Bachelors,United-States,State-gov,Adm-clerical,<=50K\n"
    other = b"Female,50,Black,Divorced,HS-grad,Cuba,Private,Sales,>50K\n"
    header = (
        b"sex,age,race,marital-status,education,native-country,workclass,occupation,salary-class\n"
    )
    file = read_table(header + record * 3 + other * 2, "adult.csv")
    monkeypatch.setattr("kanon.studio.session.table_loading.fetch_adult", lambda: file)
    at = press(start(DATA), "Download Adult")
    assert problems(at) == [] and "5 records · 9 quasi-identifiers" in line(at)
    assert {one.builder for one in work(at).table.choices.values()} == {"file"}
    at.number_input(key=frame_k(at)).set_value(4)
    anonymised(go(at))
    assert numbers(at)["Minimum k"] == "5 records"


def test_a_failed_fetch_is_not_a_traceback(start, monkeypatch):
    def fail():
        raise TableError("The Adult table {cells} ![x](http://example.invalid).", ["<b>"])

    monkeypatch.setattr("kanon.studio.session.table_loading.fetch_adult", fail)
    at = press(start(DATA), "Download Adult")
    assert at.error[0].value == plain("The Adult table '<b>' ![x](http://example.invalid).")


# --- what a newcomer has to be told ---------------------------------------------------------
def test_a_file_that_is_still_to_come_is_no_mistake(start):
    at = build(with_people(start(DATA)), "sex", "file")
    assert problems(at) == []
    assert "Choose a CSV or JSON file of the hierarchy." in captions(at)
    press(go(at, ANONYMISE), "Anonymise")
    assert problems(at) == ["'sex' has no usable hierarchy yet; see the page Hierarchies."]


def test_many_columns_are_listed_a_part_at_a_time(start):
    table = pd.DataFrame({f"c{i:03}": ["x", "y"] for i in range(70)})
    at = upload(start(DATA), "wide.csv", as_bytes(table, "csv"))
    assert sum(box.label.startswith("Role of") for box in at.selectbox) == 30
    at.selectbox(key=f"columns-{work(at).version}").select(60).run()
    shown = [box.label for box in at.selectbox if box.label.startswith("Role of")]
    assert shown == [f"Role of c{i:03}" for i in range(60, 70)]
