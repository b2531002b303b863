"""Every number of a page is explained by a sentence with the number in it."""

import re

import pytest

from kanon.base import sentences
from kanon.base.formatting import write_percent
from support.dashboard import ANONYMISE, DATA, anonymised, go

SYMBOLS = re.compile(r"[Σ√≤≥]|\bexp\b|\bln\b")


def told(at):
    """What is said to each number of a page, by its label, beside the number."""
    return {one.label: (one.value, one.proto.help) for one in at.metric}


@pytest.mark.nightly
def test_the_sentences_are_for_everybody_and_hold_the_numbers(start):
    at = anonymised(start())
    pages = {}
    for page in (ANONYMISE, DATA, "pages/privacy.py", "pages/utility.py", "pages/lattice.py"):
        pages[page] = told(go(at, page))
    assert sum(map(len, pages.values())) >= 20
    for page, numbers in pages.items():
        for label, (value, said) in numbers.items():
            assert (said.endswith((".", ".)")) and said[0].isupper()) or said[0].isdigit(), label
            assert len(said) > 25 and not SYMBOLS.search(said), label
            # On Utility cards speak, which are of the measure and not of this release.
            own = page != "pages/utility.py"
            if own and value.endswith(" %"):
                assert value in said, label
    for label in ("Alteration ↓ better", "Minimum k ↑ better", "Classes ↑ better"):
        assert label in pages[ANONYMISE]


def test_one_and_none_are_said_rightly():
    assert sentences.describe_smallest_class(None).startswith("Nothing is released")
    assert "at least 1 other that looks the same (" in sentences.describe_smallest_class(2)
    assert sentences.describe_suppression(1, 9).startswith("1 of 9 records was in a class")
    assert sentences.describe_suppression(2, 9).startswith("2 of 9 records were in classes")
    assert "only 2 of the 3 values of ill," in sentences.describe_distinct_l(2, 3, "ill")
    assert sentences.describe_distinct_l(3, 3, "ill").startswith(
        "Every class has all 3 values of ill"
    )
    assert write_percent(0.01) in sentences.describe_alteration(0.01, "NCP"), (
        "little is not nothing"
    )
