"""``--json``: one object with the facts of the plain text, and all else as without it."""

import json
import re
from collections.abc import Iterator

import pytest

from kanon.cli.main import COMMANDS
from kanon.experiments.simulated.columns import COLUMNS
from kanon.experiments.simulated.study import list_missing_runs
from kanon.teaching.exercises import BUILT_IN, Answers, read_exercises
from support.command_line import PLAN, RUN, write_plan

TABLE = RUN[1:4]
NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?")
CALLS = {
    "run": RUN,
    "sweep": ("sweep", *TABLE, "--k", "2,3", "--metrics", "ncp,total", "--out", "curves.csv"),
    "reverse": ("reverse", *TABLE, "--out", "curve.csv"),
    "simulate": ("simulate", *TABLE, "--out", "results.csv"),
    "report": ("report", *TABLE, "--out", "report.html"),
    "exercises": ("exercises", "score", str(BUILT_IN), "answers.json", "--out", "scores.csv"),
    "hierarchy": ("hierarchy", "check", "sex.csv", *TABLE[1:], "--column", "sex"),
}


@pytest.fixture
def ready(folder, monkeypatch):
    """What the calls need beside plan and table."""
    exercises = read_exercises(BUILT_IN)
    first = exercises.questions[0]
    right = {first.id: first.solution(exercises.get_table(first))}
    answers = Answers(
        set=exercises.fingerprint, student="Chi", answers=json.loads(json.dumps(right))
    )
    (folder / "answers.json").write_text(answers.to_json(), "utf-8")
    write_plan(folder, privacy=[{"model": "distinct-l-diversity", "l": 2}, *PLAN["privacy"]])
    monkeypatch.setattr(
        "kanon.cli.simulate.list_missing_runs",
        lambda done: [run for run in list_missing_runs(done) if run.column in COLUMNS[::12]],
    )
    return folder


def collect_numbers(content) -> Iterator[float]:
    """All numbers of an object, how long its lists are, and those in its texts."""
    if isinstance(content, dict | list):
        yield len(content)
        for part in [*content, *content.values()] if isinstance(content, dict) else content:
            yield from collect_numbers(part)
    elif isinstance(content, str):
        yield from map(float, NUMBER.findall(content))
    elif content is not None:
        yield content


@pytest.mark.sampled(3)
@pytest.mark.parametrize("command", CALLS)
def test_json_holds_the_numbers_of_the_plain_text(kanon, ready, command):
    plain = kanon(*CALLS[command])
    said = kanon(*CALLS[command], "--json")
    assert said.status == plain.status == 0
    content = json.loads(said.out)
    assert said.out.count("\n") == 1 and isinstance(content, dict)
    numbers = [*collect_numbers(content)]
    shown = NUMBER.findall(plain.out)
    assert shown
    for text in shown:
        decimals = len(text.partition(".")[2])
        assert text in {f"{number:.{decimals}f}" for number in numbers}, text


def test_json_of_a_run_is_its_file_of_measures(kanon, ready):
    said = kanon(*RUN, "--measures", "m.json", "--bound", "--json")
    content = json.loads(said.out)
    assert content == json.loads((ready / "m.json").read_text("utf-8"))
    assert content["lower_bound"] <= content["alteration"]["ncp"]


def test_json_of_a_check_holds_what_stops_a_plan(kanon, ready):
    table = (ready / "people.csv").read_text("utf-8").replace("52;M", "52;X")
    (ready / "next.csv").write_text(table, "utf-8")
    call = ("check", "plan.json", "--table", "next.csv")
    plain, said = kanon(*call), kanon(*call, "--json")
    assert plain.status == said.status == 2 and plain.err == said.err
    content = json.loads(said.out)
    assert content["can_run"] is False
    assert plain.out.splitlines() == [
        f"{'stops' if part['stops'] else 'note'}: {part['sentence']}"
        for part in content["findings"]
    ]


def test_json_of_unmarked_answers_has_no_mean(kanon, ready):
    (ready / "answers.json").write_text("{}", "utf-8")
    content = json.loads(kanon(*CALLS["exercises"], "--json").out)
    assert (content["files"], content["marked"], content["percent"]) == (1, 0, None)
    assert content["questions"] and all(part["mean"] is None for part in content["questions"])


@pytest.mark.parametrize("command", [name for name in COMMANDS if name != "app"])
def test_every_command_but_app_takes_json(kanon, capsys, command):
    with pytest.raises(SystemExit):
        kanon(
            *CALLS.get(command, (command,))[: 2 if command in ("exercises", "hierarchy") else 1],
            "--help",
        )
    assert "--json" in capsys.readouterr().out
