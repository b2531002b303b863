"""The page Compare, driven by AppTest."""

import io

import numpy as np
import pandas as pd
import pytest

from kanon.experiments.comparison import PAPER_K
from kanon.experiments.criteria import CRITERIA
from kanon.metrics import METRICS, PUBLISHED
from kanon.privacy.distinct_l_diversity import DistinctLDiversity
from kanon.run import run
from kanon.studio.session.run_plan import build_plan
from kanon.studio.session.table_loading import open_sample
from kanon.studio.widgets.standings import MEAN_RANK, MEAN_RANK_OF_LOSS, MEAN_RANK_OF_PRIVACY
from support import dashboard as ui
from support.works import with_fields

MEANS = [MEAN_RANK, MEAN_RANK_OF_LOSS, MEAN_RANK_OF_PRIVACY]
NOTHING_COMPARED = "Nothing has been compared for this table yet"
COMPARISON_OUTDATED = "Settings have changed since this was made; press Compare"


def compared(at):
    return ui.settled(ui.press(ui.go(at, ui.COMPARE), "Compare"))


def pick(at, *metrics):
    return ui.enter(at, at.button_group(key="compare-metrics"), [*metrics])


def cells(table):
    """The numbers of a table that shows ranks in brackets, without arrows in its names."""
    rows = table.value.drop(index=MEANS, errors="ignore")
    rows.index = [name.removesuffix(" ↓").removesuffix(" ↑") for name in rows.index]
    return rows.map(lambda cell: float(cell.split()[0]))


def see(at, table):
    return ui.enter(at, at.button_group(key="compare-table"), table)


@pytest.mark.nightly
def test_compare_shows_every_metric_at_every_k(start):
    at = ui.go(start(sample="census"), ui.COMPARE)
    assert ui.title(at) == "Which choice is better here?"
    assert NOTHING_COMPARED in at.info[0].value and not at.table and not at.get("plotly_chart")
    assert "7 of 7 runs are new" in at.info[0].value
    assert "7 metrics × S1, GAA" in ui.captions(at)
    compared(at)
    assert not at.info and not ui.warnings(at) and not ui.problems(at)
    told = ui.told_to_cursor(at)
    assert ui.board_lines(at) == [METRICS[name].card.title for name in PUBLISHED]
    assert (told["ks"][0], told["ks"][-1], told["k"]) == (2, 30_000, 5)
    assert set(PAPER_K) <= set(told["ks"])
    areas, groups = at.table
    assert areas.value.index[0] == "Mean alteration ↓" and len(areas.value.columns) == 7
    assert {"counts: levels", "multiplier: w2", "normalised: no"} <= {
        name.replace("\\", "") for name in groups.value.index
    }
    alone = run(build_plan(open_sample("census")), open_sample("census").table.records).measures
    (table,) = see(at, "alterations").table
    column = cells(table)["NLLM"].tolist()
    assert column == [float(f"{alone['alteration'][name]:.1f}") for name in PUBLISHED]
    assert table.value.loc["NLLM ↓", "NLLM"].endswith("(1)")
    assert any("Alteration at k = 5" in one for one in ui.captions(at))
    (table,) = see(at, "places").table
    found = cells(table)["NLLM"]
    for name in ("mean_alteration", "generalised_percent", "root_percent"):
        assert found[CRITERIA[name].title] == float(f"{alone[name]:.1f}")
    assert 137 not in told["ks"]
    at.number_input(key=ui.frame_k(at)).set_value(137)
    assert ui.told_to_cursor(ui.go(at))["k"] == 137, "a k that is typed is shown"
    assert not ui.warnings(at) and not ui.problems(at)


@pytest.mark.nightly
def test_fewer_metrics_need_no_new_run_and_more_do(start):
    at = pick(ui.go(ui.anonymised(start()), ui.COMPARE), "ncp", "llm")
    compared(at)
    assert ui.board_lines(at) == ["NCP", "LLM"]
    pick(at, "llm")
    assert ui.board_lines(at) == ["LLM"] and not ui.warnings(at)
    pick(at, "llm", "total")
    assert COMPARISON_OUTDATED in ui.warnings(at)[0] and "1 of 2 runs is new" in ui.warnings(at)[0]
    with ui.held_worker():
        ui.press(at, "Compare")
        assert len(at.get("progress")) == 1 and ui.button(at, "Compare").disabled
        assert ui.board_lines(at) == ["NCP", "LLM"], "the old picture stays meanwhile"
        ui.go(at, ui.ANONYMISE)
        assert any("opacity: 1;" in one.proto.body for one in at.get("html"))
        (bar,) = at.get("progress")
        assert "Comparing" in bar.proto.text
        ui.press(ui.go(at, ui.COMPARE), "Cancel")
        ui.settled(at)
    assert ui.infos(at)[0] == ui.CANCELLED and ui.board_lines(at) == ["NCP", "LLM"]
    compared(at)
    assert ui.board_lines(at) == ["Total", "LLM"] and not ui.warnings(at)
    pick(at, "ncp", "total", "llm")
    assert ui.board_lines(at) == ["NCP", "Total", "LLM"]
    assert not ui.warnings(at), "each was run before"
    assert not ui.work(at).running
    ui.choose(ui.go(at, ui.ANONYMISE), ui.cost_key(at), "representatives")
    assert COMPARISON_OUTDATED in ui.warnings(ui.go(at, ui.COMPARE))[0]
    ui.settled(ui.press(at, "Compare"))
    assert not ui.warnings(at)
    ui.choose(ui.go(at, ui.ANONYMISE), "run-metric", "total")
    assert not ui.warnings(ui.go(at, ui.COMPARE)), "each line has a metric of its own"
    pick(at)
    assert ui.button(at, "Compare").disabled and "at least one metric" in at.info[0].value
    assert not at.table
    ui.choose(at, "frame-sample", "animals-m23")
    pick(at, "ncp")
    assert NOTHING_COMPARED in at.info[0].value and not at.table


@pytest.mark.nightly
def test_ties_whole_percentages_and_differences_are_shown_on_request(start):
    at = see(compared(start()), "alterations")
    exact = at.table[0].value
    assert all("≈" not in cell for cell in exact.to_numpy().ravel())
    found = ui.work(at).findings.comparison.comparison
    k = found.nearest(ui.work(at).settings.k)
    at.toggle(key="compare-rounded").set_value(True)
    rounded = ui.go(at).table[0].value.drop(index=MEAN_RANK)
    ranks = rounded.map(lambda cell: int(cell.split("(")[1][:-1])).to_numpy()
    assert (ranks == found.compare_alterations(k, digits=0).ranks.to_numpy()).all()
    whole = exact.drop(index=MEAN_RANK).map(lambda cell: float(cell.split()[0]))
    assert np.abs(cells(at.table[0]).to_numpy() - whole.to_numpy()).max() <= 0.56
    assert (cells(at.table[0]) % 1 == 0).all(axis=None)
    at.toggle(key="compare-rounded").set_value(False)

    with ui.held_worker():
        ui.enter(at, at.toggle(key="compare-bands"), True)
        ui.press(at, "Cancel")
        ui.settled(at)
    assert ui.infos(at)[0] == ui.CANCELLED and not ui.warnings(at)
    assert not at.toggle(key="compare-bands").value and len(at.table) == 1
    at.toggle(key="compare-bands").set_value(True)
    ui.settled(ui.go(at))
    assert not ui.warnings(at) and not ui.problems(at)
    found = ui.work(at).findings.comparison.comparison
    assert found.has_bands and {len(line.runs) for line in found.lines} == {11}
    marked = [cell for cell in at.table[0].value.to_numpy().ravel() if "≈" in cell]
    assert len(marked) == int(found.compare_alterations(k).undecided.to_numpy().sum())
    assert any("undecided" in one for one in ui.captions(at))
    job = ui.job_of(at)
    ui.enter(at, at.toggle(key="compare-bands"), False)
    assert ui.job_of(at) is job, "hiding what is known needs no run"
    assert all("≈" not in cell for cell in at.table[0].value.to_numpy().ravel())

    see(at, "difference")
    assert len(at.get("plotly_chart")) == 2
    (said,) = [one.value for one in at.markdown if "**At k = 2**" in one.value]
    assert "Mean alteration" in said
    first, second = at.selectbox(key="compare-pair-0"), at.selectbox(key="compare-pair-1")
    assert (first.value, second.value) == ("distortion", "wnllm")
    ui.choose(at, "compare-pair-0", "wnllm")
    assert ui.work(at).compare.pair == ("wnllm", "distortion"), (
        "a line has no difference from itself"
    )
    ui.choose(at, "compare-pair-0", "ncp")
    ui.choose(at, "compare-pair-1", "llm")
    assert ui.work(at).compare.pair == ("ncp", "llm") and not ui.problems(at)
    see(pick(at, "ncp"), "difference")
    assert any("needs two lines" in one.value for one in at.info)


def test_what_cannot_be_compared_is_said(start):
    at = start(ui.DATA)
    for column in [
        name for name, role in ui.work(at).table.roles.items() if role == "quasi-identifier"
    ]:
        ui.give_role(at, column, "insensitive")
    ui.go(at, ui.COMPARE)
    assert "No column is a quasi-identifier" in at.info[0].value.replace("\\", "")
    ui.press(at, "Compare")
    assert "No column is a quasi-identifier" in ui.problems(at)[0]


def keep(at, name, place=0):
    (line,) = [one for one in at.selectbox if one.key.startswith("keep-line-")]
    ui.enter(at, at.selectbox(key=line.key), place)
    (field,) = [one for one in at.text_input if one.key.startswith("keep-name-")]
    at.text_input(key=field.key).set_value(name)
    return ui.click(at, at.button(key="keep"))


@pytest.mark.nightly  # in every run: test_anonymise_page.py, of one run
def test_a_plan_is_exported_and_imported(start):
    at = pick(ui.go(start(), ui.COMPARE), "ncp")
    keep(compared(at), "one")
    plan = ui.work(at).kept.configurations[0].plan.to_json().encode()
    key = f"kept-import-{ui.work(at).version}"
    ui.enter(at, at.file_uploader(key=key), ("again.json", plan, "application/json"))
    assert ui.board_lines(at) == ["NCP", "★ one", "★ again"] and not ui.problems(at)
    ui.enter(at, at.file_uploader(key=key), ("bad.json", b"{", "application/json"))
    assert "not valid JSON" in ui.problems(at)[0]
    assert ui.board_lines(at) == ["NCP", "★ one", "★ again"], "what was kept survives"
    ui.choose(at, "frame-sample", "census")
    assert "do not fit" in at.info[0].value
    assert not any(each.fits for each in ui.work(at).kept.configurations)


@pytest.mark.nightly
def test_the_page_says_what_lines_meet_and_k_only_changes_it(start, downloads):
    """Headline, captions and files name the models; the toggle brings the papers' curves back."""
    at = start()
    model = DistinctLDiversity(2, "disease")
    at.session_state[ui.WORK] = with_fields(
        ui.work(at), models=(model,), compared=("ncp",), algorithms=("gaa", "mondrian")
    )
    met = "Every line meets distinct l-diversity with l = 2 for 'disease'."
    compared(at)
    assert not ui.problems(at) and met in ui.captions(at)
    told = ui.told_to_cursor(at)
    at_two = told["headlines"][told["ks"].index(2)]
    assert at_two.startswith("k = 2: ") and at_two.endswith(f". {met}")
    assert any(one.startswith("NAUC is") and met in one for one in ui.captions(at))
    for key in ("curves-data", "areas-data"):
        file = pd.read_csv(io.BytesIO(downloads[key][1]()))
        assert set(file["requirement"]) == {met}
    ui.settled(ui.enter(at, at.toggle(key="compare-k-only"), True))
    assert ui.work(at).compare.k_only and not ui.problems(at) and not ui.warnings(at)
    left_out = "Lines meet k only; Anonymise also requires distinct l-diversity with l = 2"
    assert any(left_out in one for one in ui.captions(at))
    told = ui.told_to_cursor(at)
    assert all(left_out in one for one in told["headlines"])
    gaa, mondrian = told["columns"][0]["shown"]
    assert "–" not in gaa and mondrian[told["ks"].index(7)] == "–"
    at.number_input(key=ui.frame_k(at)).set_value(7)
    ui.go(at)
    assert any(
        one == "Mondrian has no value at k = 7. Press Compare to compute k = 7."
        for one in ui.captions(at)
    )
    assert list(see(at, "alterations").table[0].value.columns) == ["GAA"]
    see(at, "difference")
    verdicts = [one.value.replace("\\", "") for one in at.markdown if "At k" in one.value]
    assert any("Mondrian has no value at k = 7." in verdict for verdict in verdicts)
    assert not ui.problems(at) and not at.exception


@pytest.mark.nightly
def test_algorithms_are_chosen_in_the_list(start):
    at = ui.go(start(), ui.COMPARE)
    ui.enter(at, at.multiselect(key="compare-algorithms"), ["gaa", "mondrian"])
    assert ui.work(at).compare.algorithms == ("gaa", "mondrian") and not ui.problems(at)
    compared = ui.work(ui.settled(ui.press(at, "Compare"))).findings.comparison.comparison
    assert {line.configuration.algorithm for line in compared.lines} == {"gaa", "mondrian"}
