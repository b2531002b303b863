"""A link opens a page with a sample, settings and k; it never undoes anybody's work."""

from urllib.parse import parse_qsl, urlsplit

import pytest
from streamlit.testing.v1 import AppTest

from kanon.errors import PlanError
from kanon.studio.session.table_loading import open_sample, open_uploaded_table
from kanon.studio.shell.link import build_link, read_link
from support import dashboard as ui
from support.works import with_fields

URL = "https://kanon.example/compare"


def parts(link):
    return dict(parse_qsl(urlsplit(link).query))


@pytest.fixture(scope="module")
def sample():
    return open_sample("hospital", version=1)


def test_a_link_brings_the_choices_back(sample):
    work = with_fields(
        sample, metric="ncp", strategy="s4", k=3, compared=("ncp", "llm"),
        algorithms=("gaa", "datafly"), strategies=("s1", "s4"),
    )  # fmt: skip
    link = build_link(work, URL)
    assert link.startswith(f"{URL}?sample=hospital&algorithm=gaa&metric=ncp&strategy=s4&k=3")
    new = read_link(open_sample("census"), parts(link))
    assert new.table.origin == "hospital" and new.table.digest == sample.table.digest
    for name in ("algorithm", "metric", "strategy", "k"):
        assert getattr(new.settings, name) == getattr(work.settings, name)
    for name in ("compared", "algorithms", "strategies"):
        assert getattr(new.compare, name) == getattr(work.compare, name)
    elsewhere = parts(build_link(work, "https://kanon.example/data"))
    assert [*elsewhere] == ["sample", "algorithm", "metric", "strategy", "k"]


def test_an_own_table_and_own_metrics_are_in_no_link(sample):
    content = b"age,ill\n31,flu\n32,cold\n33,flu\n"
    assert build_link(open_uploaded_table(content, "alice.csv", 1), URL) == ""
    own = with_fields(sample, metric="secret", compared=("secret", "ncp"))
    assert "secret" not in build_link(own, URL) and "metrics=ncp" in build_link(own, URL)


def test_levels_chosen_by_hand_are_in_no_link(sample):
    link = build_link(with_fields(sample, algorithm="levels"), URL)
    assert "algorithm=" not in link
    assert read_link(sample, parts(link)).settings.algorithm == "gaa"


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"sample": "alice"}, "names the sample 'alice'.*choose from census"),
        ({"sample": ""}, "names the sample ''"),
        ({"algoritm": "gaa"}, "names the part 'algoritm'.*choose from sample, algorithm"),
        ({"algorithm": "levels"}, "names the algorithm 'levels'"),
        ({"metric": "custom"}, "names the metric 'custom'"),
        ({"k": "five"}, "k = 'five'; k is a whole number from 2 to 10"),
        ({"k": "11"}, "from 2 to 10"),
        ({"k": "²"}, "from 2 to 10"),
        ({"metrics": "ncp,xx"}, "names the metric 'xx'"),
        ({"strategies": "s99"}, "names the strategy 's99'"),
    ],
)
def test_a_wrong_part_is_named(sample, changed, sentence):
    with pytest.raises(PlanError, match=sentence):
        read_link(sample, {"sample": "hospital", **changed})


@pytest.fixture
def opened(workers, no_job_is_left):
    """Open an address, perhaps in a tab that has a session, as after a reload."""

    def begin(earlier=None, **parameters):
        at = AppTest.from_file(str(ui.APP), default_timeout=30)
        for name, value in parameters.items():
            at.query_params[name] = value
        if earlier is not None:
            at.session_state[ui.WORK] = earlier
        no_job_is_left.append(ui.go(at))
        return at

    return begin


def test_a_link_opens_once_and_a_reload_changes_nothing(opened):
    link = {"sample": "hospital", "metric": "ncp", "k": "3"}
    at = opened(**link)
    work = ui.work(at)
    assert (work.table.origin, work.settings.metric, work.settings.k) == ("hospital", "ncp", 3)
    assert dict(at.query_params) == {}, "the address is plain again"
    ui.settled(at)
    assert ui.work(at).findings.result is not None and not ui.problems(at)
    later = with_fields(ui.work(at), k=4)
    again = opened(later, **link)
    now = ui.work(again)
    assert (now.table, now.settings, now.version) == (later.table, later.settings, later.version)
    assert "Open the link" not in ui.button_labels(again)


def test_a_link_asks_before_it_replaces_work(opened):
    earlier = with_fields(open_sample("hospital", version=1), k=4)
    at = opened(earlier, sample="animals-m23")
    assert ui.work(at) is earlier
    assert any("is a link to a sample table" in info for info in ui.infos(at))
    ui.press(at, "Keep my work")
    assert ui.work(at).settings.k == 4 and ui.work(at).table.origin == "hospital"
    at = opened(earlier, sample="animals-v21")
    ui.press(at, "Open the link")
    assert ui.work(at).table.origin == "animals-v21"


@pytest.mark.nightly
def test_a_wrong_link_is_said_and_changes_nothing(opened):
    at = opened(sample="hospital", k="1000")
    assert ui.work(at).table.origin == "census"
    (problem,) = ui.problems(at)
    assert problem.endswith("k is a whole number from 2 to 10 here. Nothing was changed.")


def test_the_menu_offers_the_link(start):
    at = start()
    codes = [code.value for code in at.code]
    assert any("sample=hospital&algorithm=gaa" in code for code in codes)
