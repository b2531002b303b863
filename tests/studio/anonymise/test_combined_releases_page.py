"""The page Anonymise, once a release was handed out: what one who holds several learns."""

from dataclasses import replace

import pytest

from kanon.base.formatting import count_noun
from kanon.release.common_classes import Release
from kanon.release.composition import combine_releases
from kanon.studio.anonymise import combined_releases
from kanon.studio.session.parts import EarlierRelease
from kanon.studio.session.session_store import StoredSession
from kanon.studio.session.table_loading import open_sample, take_over_reread
from kanon.studio.shell.project_file import export_project, open_project
from support import dashboard as ui
from support.works import with_fields


@pytest.fixture(autouse=True)
def download(downloads):
    """Press the button of the release; the browser fetches its file, and then something else."""

    def press_it(at):
        assert downloads["download-release"][1]()
        return ui.go(at)

    return press_it


def at_k(at, k):
    return ui.enter(at, at.number_input(key=f"frame-k-{ui.work(at).settings.k}"), k)


def told(at):
    """What is said of several releases; nothing without any."""
    found = [one.value for one in at.markdown if "released this table" in one.value]
    return found[0].replace("*", "") if found else ""


def boxes(at):
    return [one for one in at.checkbox if (one.key or "").startswith("handed-")]


@pytest.fixture
def hospital(start):
    """Ten patients, anonymised; nothing was downloaded yet."""
    return ui.anonymised(start())


@pytest.mark.nightly  # in every run: test_composition.py
def test_what_several_releases_say_is_shown_with_its_numbers(hospital, download, monkeypatch):
    at = hospital
    assert told(at) == ""
    download(at)
    assert told(at) == "" and [each.title for each in ui.work(at).kept.earlier_releases] == [
        "k2-gaa-nllm"
    ]
    download(at)
    assert len(ui.work(at).kept.earlier_releases) == 1, "the same release again"

    at_k(at, 5)
    assert told(at).startswith("You have released this table once in this session.")
    result = ui.work(at).findings.result
    releases = [Release.from_run(result.release(k)) for k in (2, 5)]
    found = combine_releases(releases, ui.work(at).table.records)
    (disease,) = found.learnt
    shown = ui.numbers(at)
    assert shown["Smallest group"] == f"{found.together.min_k} records"
    assert shown["Like no other"] == f"{found.together.unique_records} of 10"
    assert shown["Certain, lined up"] == count_noun(disease.lined_up, "record")
    assert shown["Certain, by classes"] == count_noun(disease.certain, "record")
    assert f"{found.order_sentence}." in ui.captions(at)
    start = "Together, the releases" if found.lined_up else "With all rows lined up, the releases"
    (warning,) = [text for text in ui.warnings(at) if text.startswith(start)]
    assert "k = 5 (↑ better), required by this release: 10 in" in warning.replace("\\", "")

    (box,) = boxes(at)
    quasi = ", ".join(ui.work(at).table.quasi_identifiers)
    assert (
        box.label.replace("\\", "") == f"k2-gaa-nllm (1): quasi-identifiers {quasi}" and box.value
    )
    box.uncheck()
    ui.go(at)
    assert told(at).endswith(
        "once in this session; 0 of them count. No other release was given out."
    )
    assert "Smallest group" not in ui.numbers(at)
    boxes(at)[0].check()
    assert ui.numbers(ui.go(at)) == shown

    with monkeypatch.context() as patch:
        patch.setattr(combined_releases, "_CLASSES_AT_ONCE", 0)
        at_k(at, 4)
        at_k(at, 5)
        assert "Smallest group" not in ui.numbers(at)
        ui.settled(ui.press(at, "Combine the releases"))
        assert ui.numbers(at) == shown and ui.problems(at) == []
        at_k(at, 4)
        assert "Smallest group" not in ui.numbers(at), "other releases are asked for again"
    at_k(at, 5)
    download(at)
    including = "Including this one, you have released this table 2 times in this session."
    assert including in told(at)
    ui.go(at, ui.DATA)
    ui.with_people(at)
    assert ui.work(at).kept.earlier_releases == () and ui.work(at).findings.together is None, (
        "another table"
    )


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("metric", "size"), [("ncp", 2), ("llm", 1)])
def test_it_is_said_whether_all_still_meet_what_was_required(hospital, metric, size, download):
    """Both are 2-anonymous; NCP's classes are NLLM's, LLM's are others."""
    at = ui.anonymised(ui.choose(download(hospital), ui.frame_metric(hospital), metric))
    assert ui.numbers(at)["Smallest group"] == count_noun(size, "record")
    met = [text for text in ui.captions(at) if text.startswith("Together, the releases still meet")]
    same = [text for text in ui.captions(at) if text.startswith("No group is smaller than")]
    broken = [text for text in ui.warnings(at) if " not meet all their requirements" in text]
    assert (len(met), len(same), len(broken)) == ((1, 1, 0) if size == 2 else (0, 0, 1))


@pytest.mark.nightly
def test_a_column_that_is_shown_elsewhere_is_named(start, download):
    at = ui.with_people(start(ui.DATA), ui.PEOPLE)
    for column in ("age", "zip", "sex"):
        ui.give_role(at, column, "quasi-identifier")
    ui.give_role(at, "name", "identifier")
    ui.give_role(at, "disease", "sensitive")
    ui.go(at, ui.ANONYMISE)
    download(ui.anonymised(at))
    ui.go(at, ui.DATA)
    ui.give_role(at, "zip", "insensitive")
    ui.go(at, ui.ANONYMISE)
    ui.anonymised(at)
    assert any(text.replace("\\", "").startswith("'zip': generalised") for text in ui.warnings(at))
    ui.go(at, ui.DATA)
    ui.give_role(at, "age", "insensitive")
    ui.give_role(at, "zip", "quasi-identifier")
    ui.go(at, ui.ANONYMISE)
    at = download(ui.anonymised(at))
    assert ui.work(at).kept.earlier_releases[1].release.plan.roles.quasi_identifiers == (
        "zip",
        "sex",
    )
    assert ui.problems(at) == []


@pytest.mark.nightly
def test_a_table_read_in_another_way_forgets_it_too(hospital, download):
    now = ui.work(download(hospital))
    same = open_sample("hospital", version=0)
    other = with_fields(same, digest="of the file as it is read with other settings")
    assert len(take_over_reread(now, same).kept.earlier_releases) == 1
    assert take_over_reread(now, other).kept.earlier_releases == ()


def test_a_download_just_before_a_project_is_opened_counts(hospital):
    """Nothing was drawn between the press of the button and the project."""
    at = hospital
    now = ui.work(at)
    now.kept.made.append(
        EarlierRelease.from_run(
            now.findings.result.settings, "k2-gaa-nllm", now.findings.result.release(2)
        )
    )
    opened = open_project(now, export_project(now).encode())
    assert [one.title for one in opened.kept.made] == ["k2-gaa-nllm"]
    other = with_fields(open_sample("hospital", version=0), digest="of other values")
    assert take_over_reread(now, other).kept.made == []
    copy = StoredSession(now).copy_state().work
    assert copy.kept.made == now.kept.made
    assert copy.kept.made is not now.kept.made, "another session's list"


def test_no_rows_are_kept_and_no_other_session_knows(hospital, start, download):
    at = download(hospital)
    (one,) = ui.work(at).kept.earlier_releases
    kept = one.release.recoding
    assert {type(value).__name__ for value in vars(one.release).values()} == {
        "Plan",
        "Recoding",
        "int",
        "tuple",
    }
    assert not kept.trace.walk and kept.assigned.shape == (kept.classes.n_classes,)
    assert ui.work(start()).kept.earlier_releases == ()


@pytest.mark.nightly
def test_a_release_in_another_order_is_another_release(hospital):
    done = ui.work(hospital).findings.result.release(2)
    plan = done.prepared.plan.model_copy(update={"order": "table"})
    kept = replace(done, prepared=replace(done.prepared, plan=plan))
    one, other = (EarlierRelease.from_run("the same settings", "k2", each) for each in (done, kept))
    assert one.key != other.key
    assert [each.release.plan.order for each in (one, other)] == ["released", "table"]
