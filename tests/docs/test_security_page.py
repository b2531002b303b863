"""Every claim of SECURITY.md names a test that there is."""

import re

import pytest

from support.paths import ROOT

ROWS = [line for line in (ROOT / "SECURITY.md").read_text("utf-8").splitlines() if "tests/" in line]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.split("|")[1].strip()[:40])
def test_the_tests_that_a_claim_names_are_there(row):
    named = re.findall(r"tests/[\w/]+\.py", row)
    source = "".join((ROOT / name).read_text("utf-8") for name in named)
    for function in re.findall(r"`(test_\w+|left_the_host)`", row):
        assert f"def {function}(" in source


def test_every_threat_names_a_test():
    threats = (ROOT / "SECURITY.md").read_text("utf-8").split("|---|---|---|\n")[1].split("\n\n")[0]
    assert threats.splitlines() == ROWS
