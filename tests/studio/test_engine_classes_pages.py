"""A table with more classes than come here, on every page: its engine merges and writes."""

import io
import json

import numpy as np
import pandas as pd
import pytest

from kanon.plan import Plan
from kanon.run import run
from kanon.sources.stored_values import TableConnection
from kanon.studio.jobs.engine_release import Destination
from support import dashboard as ui

MOST = 150
"""So many classes come here in these tests."""

EVERY_CLASS = ["pages/lattice.py", ui.COMPARE, "pages/privacy.py", "pages/utility.py"]
PAGES = [ui.DATA, ui.HIERARCHIES, ui.METRICS_PAGE, ui.ANONYMISE, *EVERY_CLASS, "pages/decide.py",
         "pages/report.py", "pages/learn.py"]  # fmt: skip
RELEASE = "Anonymise and write the release"


def people(n=2000):
    draw = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "age": draw.integers(20, 60, n),
            "sex": draw.choice(["F", "M"], n),
            "zip": draw.choice(["47601", "47602", "47905", "47911"], n),
            "disease": draw.choice(["cold", "flu", "gout"], n),
        }
    )


@pytest.fixture(scope="module")
def few_classes(workers, tmp_path_factory):
    """Workers to which few classes come."""
    path = tmp_path_factory.mktemp("limits") / "settings.toml"
    path.write_text(f"classes = {MOST}\n")
    # The workers after them start once the settings are the usual ones again.
    with ui.other_workers(), pytest.MonkeyPatch.context() as patch:
        patch.setenv("KANON_SETTINGS", str(path))
        yield


@pytest.fixture
def at(start, few_classes, limits, tmp_path, monkeypatch):
    """The page Data with a table of 300 classes and more, its roles as suggested."""
    folder = tmp_path / "tables"
    folder.mkdir()
    monkeypatch.setenv("KANON_TABLES", str(folder))
    limits(classes=MOST, jobs_at_once=1, long_jobs_at_once=0, studies_at_once=0)
    people().to_parquet(folder / "people.parquet")

    def keep(*given):
        pytest.fail("the server keeps no classes in its memory")

    monkeypatch.setattr(TableConnection, "keep", keep)
    page = start(ui.DATA)
    page.text_input(key=f"place-{ui.work(page).version}").set_value("people.parquet")
    ui.settled(ui.press(ui.go(page), "Open the table"))
    roles = {name: role.value for name, role in ui.work(page).table.roles.items()}
    quasi = dict.fromkeys(["age", "sex", "zip"], "quasi-identifier")
    assert roles == {**quasi, "disease": "sensitive"}, "as suggested"
    return page


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def destination(at):
    (found,) = [field for field in at.text_input if field.label == "Where the release goes"]
    return found


def typed(at, text):
    return ui.enter(at, destination(at), str(text))


def rows_of(frame):
    return sorted(map(tuple, frame.astype(str).to_numpy().tolist()))


def n_classes():
    return len(people().drop_duplicates(["age", "sex", "zip"]))


@pytest.mark.nightly  # in every run: test_stored_pages.py, test_stored_classes.py
@pytest.mark.parametrize("algorithm", ["gaa", pytest.param("flash", marks=pytest.mark.nightly)])
def test_the_release_is_that_of_a_table_in_memory(at, tmp_path, limits, downloads, algorithm):
    assert ui.problems(at) == [] and ui.numbers(at)["Classes"] == str(n_classes())
    ui.go(at, ui.ANONYMISE)
    ui.choose(at, "run-algorithm", algorithm)
    assert any(f"have {n_classes()} different" in said for said in ui.infos(at))
    assert not [button for button in at.button if button.label == "Anonymise"]
    place = tmp_path / "tables" / f"released-k5-{algorithm}-nllm"
    assert destination(at).value == str(place)
    ui.settled(ui.press(at, RELEASE))
    assert ui.problems(at) == []
    made = ui.work(at).findings.engine_release
    content = made.plan.model_dump(mode="json")
    if algorithm == "gaa":  # in memory the classes would be one part
        content["algorithm"]["parts"] = str(made.found.trace.parts)
        assert made.found.trace.parts == 4
    limits(classes=10_000)
    ours = run(Plan.from_content(content), people())
    released = ours.released()
    assert rows_of(pd.read_parquet(place)[released.columns]) == rows_of(released)
    lacking = ["association_change", "number_change", "query_error_percent"]
    expected = {**ours.measures, **dict.fromkeys(lacking), "seconds": 0, "not_counted": lacking}
    expected.pop("numbers", None)
    stays = ours.recoding.n_classes > MOST  # even the released classes are too many to come here
    assert stays == (algorithm == "gaa") == ("prosecutor" not in made.found.measures)
    known = {name: expected[name] for name in made.found.measures}
    assert {**made.found.measures, "seconds": 0} == (known if stays else expected)
    limits(classes=MOST)
    ui.go(at)
    assert (
        at.success[0]
        .value.replace("\\", "")
        .startswith("Written and checked: 2\u202f000 records for")
    )
    assert ui.numbers(at)["Minimum k"] == f"{ours.recoding.min_k} records"
    assert ui.numbers(at)["Alteration"] == f"{ours.alteration:.1f} %"
    assert any(
        "'Association change', 'Number change', 'Query error'" in said for said in ui.captions(at)
    )
    assert stays == any("the risk of being found" in said for said in ui.captions(at))
    assert any("k = 5 (reached: 5)" in said.replace("\\", "") for said in ui.texts(at)) == stays
    told = "**Parts:** the classes were merged in 4" if algorithm == "gaa" else "**Levels:** age"
    assert any(said.startswith(told) for said in ui.texts(at))
    assert destination(at).value == f"{place}-2", "nothing is overwritten"
    _, measures = downloads["engine-measures-json"]
    assert json.loads(measures()) == made.found.measures
    _, table = downloads["measures-data"]
    shown = pd.read_csv(io.BytesIO(table())).set_index("name")["value"]
    assert shown["min_k"] == ours.recoding.min_k and np.isnan(shown["query_error_percent"])
    assert shown["alteration.nllm"] == pytest.approx(ours.alteration)
    at.number_input(key=ui.frame_k(at)).set_value(7)
    assert "Changed: k." in ui.warnings(ui.go(at))[0]


@pytest.mark.nightly
def test_what_cannot_be_written_or_run_is_said(at, tmp_path):
    ui.go(at, ui.ANONYMISE)
    for wrong, why in ((tmp_path / "out", "is not allowed"), ("people.parquet", "table itself")):
        ui.press(typed(at, wrong), RELEASE)
        assert why in ui.problems(at)[0] and ui.work(at).running == {}
        ui.go(at, ui.DATA)
        assert destination(ui.go(at, ui.ANONYMISE)).value == str(wrong)
    ui.choose(at, "run-algorithm", "mondrian")
    assert f"needs all classes in memory, but {n_classes()} are more" in (
        ui.warnings(at)[0].replace("\\", "")
    )
    assert ui.button(at, RELEASE).disabled
    ui.press(at, "Use GAA")
    assert ui.warnings(at) == [] and not ui.button(at, RELEASE).disabled
    at.selectbox(key="run-gaa-parts-auto").set_value("1")
    ui.settled(ui.press(typed(ui.go(at), ""), RELEASE))
    assert f"the limit is {MOST}" in ui.problems(at)[0]
    assert names(tmp_path / "tables") == ["people.parquet"]


@pytest.mark.nightly
def test_what_is_cancelled_leaves_nothing(at, tmp_path):
    place = tmp_path / "tables" / "mine.parquet"
    typed(ui.go(at, ui.ANONYMISE), place)
    for complete, said in (
        (False, "The run was cancelled; nothing was written."),
        (True, "The release was complete before the run could be cancelled. Its numbers are "
               "unknown."),
    ):  # fmt: skip
        with ui.held_worker():
            ui.press(at, RELEASE)
            assert ui.button(at, RELEASE).disabled and len(at.get("progress")) == 1
            if complete:
                place.touch()
            ui.press(at, "Cancel")
        ui.settled(at)
        assert ui.infos(at)[0] == said and ui.work(at).findings.engine_release is None
        assert names(place.parent) == ["mine.parquet"] * complete + ["people.parquet"]
        assert ui.work(at).view(Destination).typed == str(place)


@pytest.mark.nightly
def test_classes_are_counted_by_a_worker_when_roles_change(at):
    with ui.held_worker():
        ui.give_role(at, "disease", "quasi-identifier")
        assert list(ui.work(at).running) == ["counting"]
        assert "kanon is counting" in ui.infos(at)[0] and "Classes" not in ui.numbers(at)
        for page in PAGES:
            ui.go(at, page)
        ui.go(at, ui.DATA)
        ui.press(at, "Cancel")
    ui.settled(at)
    assert ui.infos(at)[0] == "Counting the classes was cancelled." and ui.work(at).running == {}
    ui.settled(ui.press(at, "Count the classes"))
    whole = len(people().drop_duplicates())
    assert ui.numbers(at)["Classes"] == f"{whole}"
    ui.give_role(at, "age", "insensitive")
    assert ui.work(at).running == {}, "two columns cannot have too many"
    assert ui.numbers(at)["Classes"] == str(2 * 4 * 3)
    assert [
        button.label for button in ui.go(at, ui.ANONYMISE).button if button.label == "Anonymise"
    ]
