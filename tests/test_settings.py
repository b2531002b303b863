"""The settings: every limit has a default and a meaning, and what is not allowed is refused."""

import json
import tomllib
from dataclasses import FrozenInstanceError, fields

import pytest
from streamlit.testing.v1 import AppTest

from kanon.cli.main import main
from kanon.errors import SettingsError, TableError
from kanon.settings import (
    DEFAULTS,
    VARIABLE,
    Settings,
    describe_exceeded_limit,
    get_byte_limit,
    get_settings,
)
from kanon.studio.jobs import runner
from kanon.studio.session.table_loading import open_sample, open_uploaded_table
from kanon.studio.session.text import escape_markdown
from support.dashboard import APP, WORK
from support.plans import qi


def test_the_defaults_are_those_of_the_file(monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    found = get_settings()
    assert (found.upload_megabytes, found.job_minutes, found.keep_minutes) == (200, 10, 30)
    assert found.kept_sessions == 20
    with pytest.raises(FrozenInstanceError):
        found.rows = 1


def test_every_setting_has_a_default_below_a_comment():
    lines = DEFAULTS.read_text("utf-8").splitlines()
    for each in fields(Settings):
        at = next(i for i, line in enumerate(lines) if line.startswith(f"{each.name} = "))
        while lines[at] and not lines[at].startswith("#"):
            at -= 1
        assert lines[at].startswith("# "), f"{each.name} lacks a comment"


def test_an_own_file_overrules_what_it_names_and_nothing_else(limits, monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    usual = get_settings()
    limits(rows=7, keep_minutes=0.5)
    assert (get_settings().rows, get_settings().keep_minutes) == (7, 0.5)
    assert (get_settings().columns, get_settings().classes) == (usual.columns, usual.classes)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("row = 7", "The settings file '0.toml' has the unknown name 'row'; choose from upload_"),
        ("rows = 0", "rows = 0, but it has to be a whole number from 1 to 10000000000."),
        ("rows = 1.5", "rows = 1.5, but it has to be a whole number"),
        ("rows = true", "rows = True, but it has to be a whole number"),
        ('rows = "7"', "rows = '7', but it has to be a whole number"),
        ("keep_minutes = -1", "keep_minutes = -1, but it has to be a number from 0 to 100000."),
        ("keep_minutes = nan", "keep_minutes = nan, but"),
        ("[rows]\nmost = 1", "rows = {'most': 1}, but"),
        ("rows =", "is not valid TOML: "),
        (
            "#" * ((1 << 20) + 1),
            "The settings file '0.toml' is larger than 1 MB. It needs only one line per",
        ),
        (b"rows = 1 # \xff", "named by KANON_SETTINGS, cannot be read."),
    ],
)
def test_what_is_not_allowed_is_refused_with_one_sentence(tmp_path, monkeypatch, text, sentence):
    path = tmp_path / "0.toml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    monkeypatch.setenv(VARIABLE, str(path))
    with pytest.raises(SettingsError) as refused:
        get_settings()
    assert sentence in refused.value.sentence
    assert refused.value.sentence.startswith("The settings file '0.toml'")


def test_a_file_that_is_not_there_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, str(tmp_path / "absent.toml"))
    with pytest.raises(SettingsError, match=r"'absent.toml', named by KANON_SETTINGS, cannot"):
        get_settings()


@pytest.fixture
def unfit(limits):
    """A settings file with a mistake, and the sentence about it."""
    limits(rows=0)
    with pytest.raises(SettingsError) as refused:
        get_settings()
    return refused.value.sentence


def test_no_page_is_drawn_under_settings_that_cannot_be_read(unfit, monkeypatch):
    monkeypatch.setattr(runner, "get_jobs", lambda: pytest.fail("a worker began"))
    at = AppTest.from_file(str(APP), default_timeout=30).run()
    assert not at.exception and WORK not in at.session_state
    assert [one.value for one in at.error] == [escape_markdown(unfit)]
    assert [one.type for one in at.main] == ["main", "error"] and len(at.sidebar) == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "plan.json", "--table", "t.csv", "--out", "o.csv"],
        ["sweep", "plan.json", "--table", "t.csv", "--k", "2", "--out", "o.csv"],
        ["measure", "--table", "t.csv", "--qi", "sex"],
        ["check", "plan.json", "--table", "t.csv"],
        ["combine", "plan.json", "plan.json", "--table", "t.csv"],
        ["hierarchy", "check", "age.csv"],
    ],
)
def test_the_command_line_ends_with_one_sentence_too(
    unfit, arguments, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("sex\nF\nM\n")
    (tmp_path / "age.csv").write_text("F;*\nM;*\n")
    sex = qi()
    plan = {"version": 2, "columns": {"sex": sex}, "algorithm": {"name": "gaa"}}
    privacy = [{"model": "k-anonymity", "k": 2}]
    (tmp_path / "plan.json").write_text(json.dumps(plan | {"privacy": privacy}))
    assert main(arguments) == 2
    assert capsys.readouterr() == ("", f"kanon: {unfit}\n")


def row_of(name: str) -> str:
    """How docs/operate/limits.md begins what it says about a limit."""
    about = next(each.metadata for each in fields(Settings) if each.name == name)
    default = tomllib.loads(DEFAULTS.read_text("utf-8"))[name]
    least, most = (f"{about[end]:,}".replace(",", "\u202f") for end in ("least", "most"))
    shown = f"{default:,}".replace(",", "\u202f")
    return f"| `{name}` | {shown} | {least} to {most} | "


@pytest.mark.nightly
def test_the_page_on_limits_has_every_limit_with_its_default_and_sentence(monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    lines = (DEFAULTS.parents[1] / "docs" / "operate" / "limits.md").read_text("utf-8").splitlines()
    for each in fields(Settings):
        if each.metadata:
            assert sum(line.startswith(row_of(each.name)) for line in lines) == 1, each.name


def test_a_limit_below_one_is_told_as_it_is(limits):
    limits(job_minutes=0.01)
    assert "the limit is 0.01 (job_minutes" in describe_exceeded_limit(
        "job_minutes", "It took more"
    )


def test_samples_are_there_however_small_a_table_may_be(limits):
    limits(rows=150, columns=2, cells=300)
    work = open_sample("census")
    assert work.table.records.n_records == 30_000
    with pytest.raises(TableError, match="the limit is 2 "):
        open_uploaded_table(work.table.content, "census.csv", 1)


def test_a_limit_that_is_hit_says_what_is_allowed_and_where_that_is_set(limits):
    limits(upload_megabytes=5, rows=1_000)
    assert get_byte_limit("upload_megabytes") == 5 * 2**20
    assert describe_exceeded_limit("upload_megabytes", "The file has 6 MB") == (
        "The file has 6 MB; the limit is 5 MB (upload_megabytes, see docs/operate/limits.md)."
    )
    assert "the limit is 1\u202f000 (rows, " in describe_exceeded_limit("rows", "It has more")
