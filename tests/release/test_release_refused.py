"""A release that does not meet its plan is given out nowhere, whoever made the mistake."""

from dataclasses import replace

import pytest

from kanon.errors import ReleaseError
from kanon.recoding import Recoding
from kanon.run import run
from kanon.sources.addresses import Address
from kanon.sources.memory import MemorySource
from kanon.studio.utility.state import UtilityView
from support.command_line import RUN, check_failure, files
from support.dashboard import DATA, WORK, anonymised, go, problems, with_people, work
from support.people_texts import TEXTS
from support.works import with_fields

UTILITY = "pages/utility.py"


def left_as_it_was(classes):
    """What an algorithm would return that forgot to do anything."""
    return Recoding.from_targets(classes, classes.nodes)


@pytest.fixture
def forgetful(monkeypatch):
    """Releases are made as if nothing had been recoded."""
    real = MemorySource.release
    monkeypatch.setattr(
        MemorySource,
        "release",
        lambda source, recoding: real(source, left_as_it_was(recoding.classes)),
    )


def test_nothing_is_written_to_a_file(people, tmp_path):
    plan, _, path = people
    done = run(plan, TEXTS)
    wrong = replace(done, recoding=left_as_it_was(done.prepared.classes))
    with pytest.raises(ReleaseError, match=r"k-anonymity \(k = 2\): 1 in the worst class"):
        wrong.write(Address(str(tmp_path / "released.csv")))
    assert [each.name for each in tmp_path.iterdir()] == [path.name]
    done.write(Address(str(tmp_path / "released.csv")))


@pytest.mark.nightly
def test_an_engine_leaves_nothing_behind(people, tmp_path):
    plan, table, path = people
    done = run(plan, table)
    wrong = replace(done, recoding=left_as_it_was(done.prepared.classes))
    said = r"not given out: k-anonymity \(k = 2\): 1 in the worst"
    for name in ("released", "released.parquet", "released.csv", "released.duckdb#people"):
        with pytest.raises(ReleaseError, match=said):
            wrong.write(Address.parse(str(tmp_path / name)))
        assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_the_command_line_says_so_and_writes_nothing(kanon, folder, forgetful):
    before = files(folder)
    check_failure(kanon(*RUN), 3, ["The release does not meet its plan", "1 in the worst class"])
    assert files(folder) == before


@pytest.mark.nightly
def test_no_page_offers_it(start, forgetful):
    at = anonymised(with_people(go(start(), DATA)))
    offered = {one.proto.label: one.proto.disabled for one in at.get("download_button")}
    assert offered["Released table"] and not offered["Plan"]
    assert any("does not meet its plan" in one for one in problems(at))
    at.session_state[WORK] = with_fields(work(at), view=UtilityView(part="matrix"))
    go(at, UTILITY)
    labels = {one.proto.label for one in at.get("download_button")}
    assert not {"Parquet", "CSV"} & labels
    assert any("does not meet its plan" in one for one in problems(at))
