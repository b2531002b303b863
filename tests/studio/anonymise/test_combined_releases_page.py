"""The page Anonymise, once a release was handed out: what one who holds several learns."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kanon.base.formatting import counted
from kanon.release.common_classes import Release
from kanon.release.composition import combine
from kanon.studio.anonymise import combined_releases
from kanon.studio.session.collection import EarlierRelease
from kanon.studio.session.session_store import Desk
from kanon.studio.session.table_loading import read_again, sample_work
from kanon.studio.shell.project_file import opened_project, saved_project
from support.dashboard import (
    ANONYMISE,
    DATA,
    PEOPLE,
    anonymised,
    captions,
    choose,
    frame_metric,
    give_role,
    go,
    numbers,
    press,
    problems,
    settled,
    warnings,
    with_people,
    work,
)
from support.works import with_fields


@pytest.fixture(autouse=True)
def download(downloads):
    """Press the button of the release; the browser fetches its file, and then something else."""

    def press_it(at):
        assert downloads["download-release"][1]()
        return go(at)

    return press_it


def at_k(at, k):
    at.number_input(key=f"frame-k-{work(at).settings.k}").set_value(k)
    return go(at)


def told(at):
    """What is said of several releases; nothing without any."""
    found = [one.value for one in at.markdown if "released this table" in one.value]
    return found[0].replace("*", "") if found else ""


def boxes(at):
    return [one for one in at.checkbox if (one.key or "").startswith("handed-")]


@pytest.fixture
def hospital(start):
    """Ten patients, anonymised; nothing was downloaded yet."""
    return anonymised(start())


def test_what_several_releases_say_is_shown_with_its_numbers(hospital, download, monkeypatch):
    at = hospital
    assert told(at) == ""
    download(at)
    assert told(at) == "" and [each.title for each in work(at).kept.handed] == ["k2-gaa-nllm"]
    download(at)
    assert len(work(at).kept.handed) == 1, "the same release again"

    at_k(at, 5)
    assert told(at).startswith("You have released this table once in this session.")
    result = work(at).findings.result
    releases = [Release.of(result.release(k)) for k in (2, 5)]
    found = combine(releases, work(at).table.records)
    (disease,) = found.learnt
    shown = numbers(at)
    assert shown["Smallest group"] == f"{found.together.min_k} records"
    assert shown["Like no other"] == f"{found.together.unique_records} of 10"
    assert shown["Certain, lined up"] == counted(disease.lined_up, "record")
    assert shown["Certain, by classes"] == counted(disease.certain, "record")
    assert f"{found.about_order}." in captions(at)
    start = "Together they do not" if found.lined_up else "With all rows lined up they would not"
    (warning,) = [text for text in warnings(at) if text.startswith(start)]
    assert "k = 5 (↑ better), asked of this release: 10 in" in warning.replace("\\", "")

    (box,) = boxes(at)
    quasi = ", ".join(work(at).table.quasi_identifiers)
    assert box.label.replace("\\", "") == f"k2-gaa-nllm (1), of {quasi}" and box.value
    box.uncheck()
    go(at)
    assert told(at).endswith(
        "once in this session; 0 of these count. Nobody holds another release."
    )
    assert "Smallest group" not in numbers(at)
    boxes(at)[0].check()
    assert numbers(go(at)) == shown

    with monkeypatch.context() as patch:
        patch.setattr(combined_releases, "_CLASSES_AT_ONCE", 0)
        at_k(at, 4)
        at_k(at, 5)
        assert "Smallest group" not in numbers(at)
        settled(press(at, "Work out what they say together"))
        assert numbers(at) == shown and problems(at) == []
        at_k(at, 4)
        assert "Smallest group" not in numbers(at), "other releases are asked for again"
    at_k(at, 5)
    download(at)
    assert "2 times in this session, as it is here among them." in told(at)
    go(at, DATA)
    with_people(at)
    assert work(at).kept.handed == () and work(at).findings.together is None, "another table"


@pytest.mark.parametrize(("metric", "size"), [("ncp", 2), ("llm", 1)])
def test_it_is_said_whether_all_still_meet_what_was_required(hospital, metric, size, download):
    """Both are 2-anonymous; NCP's classes are NLLM's, LLM's are others."""
    at = anonymised(choose(download(hospital), frame_metric(hospital), metric))
    assert numbers(at)["Smallest group"] == counted(size, "record")
    met = [text for text in captions(at) if text.startswith("Together they still meet")]
    same = [text for text in captions(at) if text.startswith("No group is smaller than")]
    broken = [text for text in warnings(at) if " not meet what was required of each" in text]
    assert (len(met), len(same), len(broken)) == ((1, 1, 0) if size == 2 else (0, 0, 1))


def test_a_column_that_is_shown_elsewhere_is_named(start, download):
    at = with_people(start(DATA), PEOPLE)
    for column in ("age", "zip", "sex"):
        give_role(at, column, "quasi-identifier")
    give_role(at, "name", "identifier")
    give_role(at, "disease", "sensitive")
    go(at, ANONYMISE)
    download(anonymised(at))
    go(at, DATA)
    give_role(at, "zip", "insensitive")
    go(at, ANONYMISE)
    anonymised(at)
    assert any(text.replace("\\", "").startswith("'zip': generalised") for text in warnings(at))
    go(at, DATA)
    give_role(at, "age", "insensitive")
    give_role(at, "zip", "quasi-identifier")
    go(at, ANONYMISE)
    at = download(anonymised(at))
    assert work(at).kept.handed[1].release.plan.roles.quasi_identifiers == ("zip", "sex")
    assert problems(at) == []


def test_a_table_read_in_another_way_forgets_it_too(hospital, download):
    now = work(download(hospital))
    same = sample_work("hospital", version=0)
    other = with_fields(same, digest="of the file as it is read with other settings")
    assert len(read_again(now, same).kept.handed) == 1
    assert read_again(now, other).kept.handed == ()


def test_a_download_just_before_a_project_is_opened_counts(hospital):
    """Nothing was drawn between the press of the button and the project."""
    at = hospital
    now = work(at)
    now.kept.made.append(
        EarlierRelease.of(
            now.findings.result.settings, "k2-gaa-nllm", now.findings.result.release(2)
        )
    )
    opened = opened_project(now, saved_project(now).encode())
    assert [one.title for one in opened.kept.made] == ["k2-gaa-nllm"]
    other = with_fields(sample_work("hospital", version=0), digest="of other values")
    assert read_again(now, other).kept.made == []
    copy = Desk(now).copied().work
    assert copy.kept.made == now.kept.made and copy.kept.made is not now.kept.made, (
        "another session's list"
    )


def test_no_rows_are_kept_and_no_other_session_knows(hospital, start, download):
    at = download(hospital)
    (one,) = work(at).kept.handed
    kept = one.release.recoding
    assert {type(value).__name__ for value in vars(one.release).values()} == {
        "Plan",
        "Recoding",
        "int",
        "tuple",
    }
    assert not kept.trace.walk and kept.assigned.shape == (kept.classes.n_classes,)
    assert work(start()).kept.handed == ()


def test_a_release_in_another_order_is_another_release(hospital):
    done = work(hospital).findings.result.release(2)
    plan = done.prepared.plan.model_copy(update={"order": "table"})
    kept = replace(done, prepared=replace(done.prepared, plan=plan))
    one, other = (EarlierRelease.of("the same settings", "k2", each) for each in (done, kept))
    assert one.key != other.key
    assert [each.release.plan.order for each in (one, other)] == ["released", "table"]
