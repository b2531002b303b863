"""What all tests of reports share."""

import json
from pathlib import Path

import pytest

from support.people_plans import PEOPLE
from support.reports import STUB, content


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Without the five megabytes of the library, which a test of its own looks at."""
    monkeypatch.setattr("kanon.report.scripts.LIBRARY", STUB)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the table and the plan."""
    monkeypatch.chdir(tmp_path)
    PEOPLE.to_csv("people.csv", index=False)
    Path("plan.json").write_text(json.dumps(content()), "utf-8")
    return tmp_path
