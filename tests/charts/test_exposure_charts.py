"""What the charts of exposure say in their titles is what decided, ties named."""

import numpy as np
import pandas as pd
import pytest

from kanon.charts.exposure import draw_contributions, draw_singling_out
from kanon.sources.exposure import Exposure
from kanon.sources.memory import MemoryTable
from kanon.sources.singling_out import singling_out

TEN = Exposure("records", 10, np.array([1]), np.array([10]), np.array([10]))


@pytest.mark.parametrize(
    ("without", "title"),
    [
        ({"age": 1, "sex": 4}, "age singles people out most"),
        ({"age": 1, "sex": 1, "zip": 4}, "sex and age single people out most"),
        ({"age": 1, "sex": 1}, "No column stands out"),
        ({"age": 10, "sex": 10}, "No column stands out"),
    ],
)
def test_who_singles_people_out_most(without, title):
    assert draw_singling_out(without, TEN).layout.title.text == title


def test_of_many_columns_the_longest_bars_are_drawn():
    bars = draw_singling_out({f"q{i:02d}": 10 - i % 9 for i in range(30)}, TEN)
    assert len(bars.data[0].x) == 10 and min(bars.data[0].x) == 5
    assert bars.layout.xaxis.title.text.endswith("; 10 of 30 columns")


def test_who_adds_most():
    both = pd.DataFrame({"sex": list("FFMM"), "age": [1, 2, 1, 2]})
    title = draw_contributions(singling_out(MemoryTable(both), share=1), {}).layout.title.text
    assert title == "sex and age add most"
    alone = draw_contributions(singling_out(MemoryTable(both[["sex"]].assign(id=range(4)))), {})
    assert alone.layout.title.text == "id adds most"
