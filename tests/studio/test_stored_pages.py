"""A table that stays where it is, on every page: opened, run, its release written by its engine."""

import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from kanon.sources.stored import StoredTable
from kanon.studio.data.table_location import TablePlace
from kanon.studio.jobs.engine_release import Destination
from kanon.studio.session.table_loading import open_sample
from kanon.studio.session.text import escape_markdown
from support import dashboard as ui

OTHERS = ["pages/lattice.py", "pages/privacy.py", "pages/utility.py"]
PAGES = [ui.DATA, ui.HIERARCHIES, ui.METRICS_PAGE, ui.ANONYMISE, ui.COMPARE, *OTHERS]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    found = tmp_path / "tables"
    found.mkdir()
    monkeypatch.setenv("KANON_TABLES", str(found))
    monkeypatch.delenv("KANON_CONNECTIONS", raising=False)
    return found


def many(n=600, seed=0):
    """People whose release has something to do: some lack a value."""
    draw = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "name": [f"Person {i}" for i in range(n)],
            "age": draw.integers(20, 60, n),
            "sex": draw.choice(["F", "M", "?"], n, p=[0.5, 0.45, 0.05]),
            "zip": draw.choice(["47601", "47602", "47905", "47911"], n),
            "disease": draw.choice(["cold", "flu", "gout"], n),
        }
    )


@pytest.fixture
def people(folder):
    path = folder / "people.parquet"
    many().to_parquet(path)
    return path


def type_place(at, text):
    return ui.enter(at, at.text_input(key=f"place-{ui.work(at).version}"), str(text))


def opened(at, text):
    """Open the table at a path, wait for it, and say that what lacks a value is dropped."""
    type_place(at, text)
    ui.settled(ui.press(at, "Open the table"))
    for missing in at.radio:
        missing.set_value("drop-records")
    return ui.go(at)


def destination(at):
    (found,) = [field for field in at.text_input if field.label == "Where the release goes"]
    return found


def written(at, path=None):
    if path is not None:
        ui.enter(at, destination(at), str(path))
    ui.settled(ui.press(at, "Write the release"))
    return at.success[0].value.replace("\\", "") if at.success else None


def anonymised(at, k=5):
    for column in ("age", "sex", "zip"):
        ui.give_role(at, column, "quasi-identifier")
    ui.give_role(at, "name", "identifier")
    ui.give_role(at, "disease", "sensitive")
    ui.go(at, ui.ANONYMISE)
    ui.enter(at, at.number_input(key=ui.frame_k(at)), k)
    return ui.settled(ui.press(at, "Anonymise"))


def smallest_class(released, columns=("age", "sex", "zip")):
    return released.groupby(list(columns), dropna=False).size().min()


def names(folder):
    return sorted(path.name for path in folder.iterdir())


# --- from a path to a release ---------------------------------------------------------------
@pytest.mark.nightly
def test_a_table_at_a_path_is_opened_run_and_released_by_its_engine(
    start, people, folder, tmp_path, monkeypatch
):
    at = opened(start(ui.DATA), people.name)
    assert ui.problems(at) == [] and ui.work(at).table.origin == "place"
    assert isinstance(ui.work(at).table.records, StoredTable)
    assert "600 records" in ui.line(at) and len(ui.shown(at)) == 100
    assert not [one for one in at.get("file_uploader") if one.label == "people.parquet"]
    found = escape_markdown(f"The table stays where it is ({people})")
    assert any(text.value.startswith(found) for text in at.markdown)
    anonymised(at, k=7)
    assert int(ui.numbers(at)["Minimum k"].split()[0]) >= 7
    assert not [one for one in at.get("download_button") if "Released" in one.label]
    assert destination(at).value == str(folder / "released-k7-gaa-nllm")
    said = written(at)
    lacking = int((many()["sex"] == "?").sum())
    assert said.startswith(f"Written: {600 - lacking} records for k = 7 in ")
    assert said.endswith(f"s to {folder / 'released-k7-gaa-nllm'}")
    released = pd.read_parquet(folder / "released-k7-gaa-nllm")
    assert len(released) == 600 - lacking and "name" not in released
    assert smallest_class(released) >= 7
    kept = many().query("sex != '?'")
    assert sorted(released["disease"]) == sorted(kept["disease"])
    assert destination(at).value == str(folder / "released-k7-gaa-nllm-2"), "never twice"
    assert names(folder) == ["people.parquet", "released-k7-gaa-nllm"]

    assert written(at, "named.csv").endswith(f"to {folder / 'named.csv'}"), "in the same folder"
    (folder / "there.csv").write_text("x")
    for path, why in {
        people: "is the table itself, or lies inside it: choose another place.",
        folder / "released-k7-gaa-nllm": "is not empty: choose another one.",
        folder / "there.csv": "already exists: choose another name.",
        folder / "none" / "released": "does not exist.",
        folder / "released.docx": "An engine cannot write",
        tmp_path / "released": "is not allowed: tables must be in the folder",
        "postgres://host/data#released": "not to a URL.",
    }.items():
        assert written(at, path) is None, "what was written is not said beside what was not"
        (problem,) = ui.problems(at)
        assert why in problem
        assert destination(at).value == str(path), "what was typed survives"
    assert (folder / "there.csv").read_text() == "x"
    expected = ["named.csv", "people.parquet", "released-k7-gaa-nllm", "there.csv"]
    assert names(folder) == expected

    smallest, asked = f"{ui.work(at).findings.result.release(7).recoding.min_k} records", []
    with monkeypatch.context() as patch:
        patch.setattr(StoredTable, "build_classes", lambda *given, **named: asked.append(given))
        ui.enter(at, at.number_input(key=ui.frame_k(at)), 20)
    assert [one.title for one in ui.work(at).kept.earlier_releases] == ["k7-gaa-nllm"]
    assert asked == [], "the engine is not asked while a page waits"
    ui.settled(ui.press(at, "Combine the releases"))
    assert ui.numbers(at)["Smallest group"] == smallest


# --- every page -----------------------------------------------------------------------------
@pytest.mark.nightly
def test_every_page_shows_a_table_that_stays_where_it_is_and_asks_its_engine_once(start, people):
    at = opened(start(ui.DATA), people)
    for page in PAGES:
        ui.go(at, page)
        assert ui.problems(at) == []
    anonymised(ui.go(at, ui.DATA))
    for page in PAGES:
        ui.go(at, page)
        assert ui.problems(at) == []
    for part in ("changed", "matrix", "learning", "predicting"):
        ui.enter(at, at.segmented_control(key="utility-part"), part)
        assert ui.problems(at) == []
    ui.go(at, "pages/decide.py").segmented_control(key="decide-part").set_value("study")
    assert ui.problems(ui.go(at)) == [] and ui.button(at, "Run the study")
    at.button_group(key="decide-part").set_value("reverse")
    ui.settled(ui.press(ui.go(at), "Find the greatest k"))
    table = ui.work(at).table.records
    assert ui.problems(at) == []
    curve = ui.work(at).findings.greatest_k.found.curve
    assert curve["k"].iloc[-1] == ui.work(at).table.complete_records.n_records
    ui.go(at, ui.COMPARE)
    ui.settled(ui.press(at, "Compare"))
    assert ui.problems(at) == []

    assert table.complete(["sex"]) is table.complete(["sex"])
    asked = []
    for one in {
        id(t): t for t in (table, ui.work(at).findings.result.prepared.source.table)
    }.values():
        connected, fetch = one.opened, one.opened.rows.fetch
        object.__setattr__(
            connected.rows, "fetch", lambda wanted, fetch=fetch: asked.append(1) or fetch(wanted)
        )
    for page in PAGES:
        ui.go(at, page)
        ui.go(at)
    assert asked == []


@pytest.mark.nightly
def test_a_table_that_changes_is_said_and_never_mixed_up(start, people):
    at = anonymised(opened(start(ui.DATA), people))
    many(seed=1).to_parquet(people)
    assert written(at) is None
    (said,) = ui.problems(at)
    assert said == "'people.parquet' has changed since it was opened: open it again."
    ui.go(at, ui.DATA)
    ui.give_role(at, "name", "quasi-identifier")
    assert said in ui.problems(at)
    at = opened(at, people)
    assert ui.problems(at) == []
    people.unlink()
    for page in PAGES:
        ui.go(at, page)


# --- what is refused ------------------------------------------------------------------------
def refused(at, text):
    """The sentence beside the field; what was typed is still there, and so is the old table."""
    before = ui.work(at).table.title
    opened(at, text)
    assert ui.work(at).table.title == before
    assert at.text_input(key=f"place-{ui.work(at).version}").value == str(text)
    (said,) = ui.problems(at)
    return said


def test_a_path_outside_of_the_folder_is_refused(start, folder, tmp_path):
    at = start(ui.DATA)
    ui.PEOPLE.to_parquet(tmp_path / "outside.parquet")
    (folder / "link.parquet").symlink_to(tmp_path / "outside.parquet")
    parts = folder / "parts"
    parts.mkdir()
    (parts / "a.parquet").symlink_to(tmp_path / "outside.parquet")
    through = folder / ".." / "outside.parquet"
    for path in (tmp_path / "outside.parquet", through, folder / "link.parquet", parts):
        assert "is not allowed: tables must be in the folder" in refused(at, path)
    ui.go(ui.go(at, ui.ANONYMISE), ui.DATA)
    assert at.text_input(key=f"place-{ui.work(at).version}").value == str(parts)


@pytest.mark.nightly
def test_without_a_folder_named_one_of_its_own_is_offered(start, tmp_path, monkeypatch):
    """Nothing else of the home folder can be opened, and nothing is made unasked."""
    monkeypatch.delenv("KANON_TABLES", raising=False)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    ui.PEOPLE.to_parquet(tmp_path / "elsewhere.parquet")
    own, at = tmp_path / "kanon-tables", start(ui.DATA)
    said = refused(at, tmp_path / "elsewhere.parquet")
    assert "is not allowed" in said and own.name in said and not own.exists()
    assert any(str(own) in caption for caption in ui.captions(at))
    ui.press(at, "Create the folder")
    assert own.is_dir() and own.stat().st_mode & 0o777 == 0o700
    assert "Create the folder" not in ui.button_labels(at)
    ui.PEOPLE.to_parquet(own / "people.parquet")
    assert ui.work(opened(at, "people.parquet")).table.origin == "place"
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("KANON_TABLES", str(tmp_path / "file" / "tables"))
    assert "cannot be written" in ui.press(ui.go(at), "Create the folder").error[0].value


@pytest.mark.nightly
def test_nothing_hidden_is_opened_or_written(start, folder):
    at = start(ui.DATA)
    ui.PEOPLE.to_parquet(folder / "people.parquet")
    (folder / ".profile").mkdir()
    ui.PEOPLE.to_parquet(folder / ".profile" / "cookies.parquet")
    link = folder / "link.parquet"
    link.symlink_to(folder / ".profile" / "cookies.parquet")
    for typed in (".profile/cookies.parquet", link):
        assert "hidden files and folders" in refused(at, typed)
    anonymised(opened(at, folder / "people.parquet"))
    for hidden in (".profile/released.parquet", ".released.parquet"):
        written(at, folder / hidden)
        assert "hidden files and folders" in at.error[0].value
    assert not list(folder.rglob("*released*"))


@pytest.mark.nightly
def test_connections_and_paths_are_switched_off_by_the_operator(start, people, monkeypatch):
    at = start(ui.DATA)
    assert refused(at, "postgres://host/data#people") == (
        "Connections to databases are switched off on this server."
    )
    monkeypatch.setenv("KANON_CONNECTIONS", "on")
    for url in ("sqlite:///etc/data#people", "duckdb:///etc/data.duckdb", "file:///etc/passwd"):
        assert "cannot be opened: give the path of a file" in refused(at, url)
    type_place(at, people)
    monkeypatch.setenv("KANON_TABLES", "off")
    ui.press(at, "Open the table")
    assert ui.work(at).table.origin != "place", "what a browser still shows is refused too"
    ui.go(at)
    assert "A path or a database" not in [tab.label for tab in at.tabs]
    assert "Open the table" not in ui.button_labels(at)


@pytest.mark.parametrize(
    "control",
    ["role", *(pytest.param(name, marks=pytest.mark.nightly) for name in ("builder", "separator"))],
)
def test_a_click_on_a_table_that_was_replaced_changes_nothing(start, control):
    """A worker may have opened another table since the page was drawn."""
    at = start(ui.DATA, sample="hospital")
    there = ui.work(at)
    key = {
        "role": f"role-{there.version}-0",
        "builder": f"hierarchy-{there.version}-1-builder",
        "separator": f"separator-{there.version}",
    }[control]
    box = at.selectbox(key=key)
    box.select_index((box.index + 1) % len(box.options))
    new = open_sample("animals-m23", there.version + 1)
    at.session_state[ui.WORK] = new
    at.run()
    assert not at.exception and ui.problems(at) == []
    assert (ui.work(at).table.roles, ui.work(at).table.asked) == (new.table.roles, new.table.asked)
    assert ui.work(at).table.choices.keys() == new.table.choices.keys()


# --- sessions and cancelling ----------------------------------------------------------------
@pytest.mark.nightly
def test_two_sessions_share_nothing(start, folder, people):
    other = folder / "others.parquet"
    ui.PEOPLE.to_parquet(other)
    ana, ben = opened(start(ui.DATA), people), opened(start(ui.DATA), other)
    assert ui.work(ana).table.records.n_records == 600
    assert ui.work(ben).table.records.n_records == 12
    assert ui.work(ana).table.records.opened.rows is not ui.work(ben).table.records.opened.rows
    assert str(other) not in str(ui.work(ana).view(TablePlace))
    assert str(people) not in str(ui.work(ben).view(TablePlace))
    same = opened(start(ui.DATA), people)
    assert ui.work(same).table.records.opened.rows is not ui.work(ana).table.records.opened.rows


@pytest.mark.nightly
def test_opening_and_writing_can_be_cancelled(start, people, folder):
    at = start(ui.DATA)
    with ui.held_worker():
        type_place(at, people)
        ui.press(at, "Open the table")
        assert ui.button(at, "Open the table").disabled and len(at.get("progress")) == 1
        ui.press(at, "Cancel")
    ui.settled(at)
    assert ui.work(at).table.origin != "place" and ui.problems(at) == []
    assert ui.infos(at) == ["Cancelled; nothing was changed."]
    anonymised(opened(at, people))
    place = folder / "mine"
    ui.enter(at, destination(at), str(place))
    for complete, said in (
        (False, "Writing was cancelled; nothing was changed."),
        (True, "The release was complete before it could be cancelled."),
    ):
        with ui.held_worker():
            ui.press(at, "Write the release")
            assert ui.button(at, "Write the release").disabled
            if complete:
                place.mkdir()
                (place / "part.parquet").touch()
            ui.click(at, at.button(key="cancel-writing"))
        ui.settled(at)
        assert ui.infos(at) == [said]
        assert [message.value.split(":")[0] for message in at.success] == ["Written"] * complete
        assert names(folder) == ["mine"] * complete + ["people.parquet"]


@pytest.mark.nightly
def test_a_killed_writer_leaves_nothing(start, folder):
    wide = folder / "wide.parquet"
    many(400_000).to_parquet(wide)
    at = anonymised(opened(start(ui.DATA), wide))
    ui.press(at, "Write the release")
    job, end = ui.job_of(at), time.monotonic() + 30
    while not list(folder.glob(".*.part")) and not job.finished:
        assert time.monotonic() < end
        time.sleep(0.005)  # between two polls of a condition
    job.cancel()
    while list(folder.glob(".*.part")):
        assert time.monotonic() < end
        time.sleep(0.005)
    ui.settled(at)
    assert not Path(destination(at).value).exists()
    written(at)
    assert Path(ui.work(at).view(Destination).written.place).is_dir()
