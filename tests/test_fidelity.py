"""How near our alterations come to the published ones; docs/fidelity.md tells the whole of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.fidelity import (
    COLUMNS,
    GROUPINGS,
    OURS,
    PAGE,
    PUBLISHED_TABLES,
    Tables,
    alterations,
    checksum,
    compare,
    prepared_with,
    to_whole,
)
from kanon.sources.reading import read_table


def test_the_gap_of_hand_numbers() -> None:
    published = np.full((7, 7), 10)
    ours = published.astype(float)
    ours[3, 1] = 12.5  # LLM under NCP; rounded 13
    ours[0, 6] = 7.4  # Distortion under WNLLM; rounded 7
    ours[6, 6] = 10.49
    whole = compare(ours, published, rounded=True)
    assert (whole.mean, whole.largest) == (6 / 49, 3)
    assert whole.cells == (("distortion", "wnllm"), ("llm", "ncp"))
    exact = compare(ours, published, rounded=False)
    assert exact.mean == pytest.approx((2.5 + 2.6 + 0.49) / 49)
    assert exact.largest == pytest.approx(2.6)
    assert exact.cells == (("distortion", "wnllm"),)


def test_halves_are_rounded_upwards() -> None:
    assert to_whole(np.array([0.49, 0.5, 1.5, 2.5, 3.51])).tolist() == [0, 1, 2, 3, 4]


def test_the_page_is_about_the_hierarchies_that_are_here() -> None:
    page = PAGE.read_text("utf-8")
    for folder in GROUPINGS:
        assert checksum(folder) in page, "run python -m benchmarks.fidelity again"


@pytest.fixture(scope="module")
def ours(adult_path: Path) -> Tables:
    """The alterations of our hierarchies with gaa."""
    table = read_table(adult_path).table
    return alterations(prepared_with(table, dict.fromkeys(COLUMNS, OURS)), "gaa")


@pytest.mark.adult
def test_at_2_every_cell_is_within_one_point(ours: Tables) -> None:
    assert np.abs(to_whole(ours[2]) - PUBLISHED_TABLES[2]).max() <= 1


@pytest.mark.adult
def test_at_100_the_mean_difference_is_below_four_points(ours: Tables) -> None:
    published = PUBLISHED_TABLES[100]
    assert np.abs(ours[100] - published).mean() < 4
    assert np.abs(to_whole(ours[100]) - published).mean() < 4
