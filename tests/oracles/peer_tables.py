"""Small odd tables that kanon and other tools measure alike, or differently for a known reason.

``python -m benchmarks.peers`` has the tools measure them and freezes what they say into
``peers.json``; the tests measure the same tables by kanon. An empty text is a blank cell.
"""

import random
from collections.abc import Mapping, Sequence
from typing import NamedTuple


class PeerTable(NamedTuple):
    columns: Mapping[str, Sequence[str]]
    quasi_identifiers: tuple[str, ...] = ("q",)
    sensitive: str = "s"
    is_number: bool = False  # whether the sensitive values are numbers


def draw_table(seed: int, n_records: int) -> PeerTable:
    """Three quasi-identifiers with blanks, and a skewed sensitive column with ties."""
    draw = random.Random(seed)
    columns = {
        "sex": draw.choices(["f", "m"], k=n_records),
        "town": draw.choices(["a", "b", "", "c"], [5, 3, 1, 1], k=n_records),
        "age": draw.choices(["20-39", "40-59", ""], [4, 4, 1], k=n_records),
        "s": draw.choices(["flu", "cold", "asthma", "none"], [1, 2, 2, 5], k=n_records),
    }
    return PeerTable(columns, ("sex", "town", "age"))


TABLES: Mapping[str, PeerTable] = {
    "four equally frequent values": PeerTable({"q": [*"aaaabbbb"], "s": [*"uvwxuvwx"]}),
    "two most frequent values": PeerTable({"q": [*"aaaaabbb"], "s": [*"uuvvwuuv"]}),
    "one value": PeerTable({"q": [*"aabb"], "s": [*"uuuu"]}),
    "a frequent value grows": PeerTable({"q": [*"aaabbb"], "s": [*"uuuuuv"]}),
    "blanks": PeerTable({"q": ["a", "a", "", "", "", "b", "b"], "s": [*"uv", "", *"uvuv"]}),
    "numbers": PeerTable(
        {"q": [*"aaaabbb"], "s": ["1", "2", "2", "10", "2", "10", "7"]}, is_number=True
    ),
    "drawn": draw_table(1, 60),
    "drawn, no blank": PeerTable(
        {
            name: [value or "other" for value in values]
            for name, values in draw_table(2, 90).columns.items()
        },
        ("sex", "age"),
    ),
}
