"""The picture of the rooms: ``make rooms`` draws docs/pictures/rooms.svg from the imports.

A row is a level of tests/test_architecture.py, the highest on top. An arrow is an import; one that
follows from others is left out. Arrows over several rows pass each row in a gap of their own.
"""

from collections.abc import Iterable
from html import escape
from itertools import pairwise

import networkx as nx

from support.paths import ROOT
from test_architecture import LEVELS, ONE_ROOM, SHARED, dotted, list_imports, room_of

PICTURE = ROOT / "docs" / "pictures" / "rooms.svg"
DASHBOARD = (*SHARED, "page", "pages", "app")
ROW, HEIGHT, GAP, LETTER = 64, 30, 22, 8.2  # pixels
STYLE = """
text { font: 14px sans-serif; text-anchor: middle; fill: #1a1a1a }
rect { stroke: #404040; fill: #d6e6f4 } .dashboard { fill: #fbe3c0 }
path { fill: none; stroke: #707070; stroke-width: 1.3; marker-end: url(#tip) }
"""

Place = tuple[str, str, int]
"""A room at its level, or where an arrow from one room to another passes a level."""


def imports() -> nx.DiGraph:
    """Which room imports from which, without what follows from other imports."""
    graph = nx.DiGraph()
    for path, names in sorted(list_imports().items()):
        own = room_of(dotted(path))
        for _, name in names:
            room = room_of(name)
            if room in LEVELS and room and own and LEVELS[room] < LEVELS[own]:
                graph.add_edge(own, room)
    return nx.transitive_reduction(graph)


def ways(graph: nx.DiGraph) -> dict[tuple[str, str], list[Place]]:
    """The places of every arrow, from the room above to the room below."""
    rows = sorted({LEVELS[room] for room in graph}, reverse=True)
    found = {}
    for high, low in sorted(graph.edges):
        between = [(high, low, row) for row in rows if LEVELS[low] < row < LEVELS[high]]
        found[high, low] = [(high, "", LEVELS[high]), *between, (low, "", LEVELS[low])]
    return found


def title(room: str) -> str:
    """What stands in the box of a room."""
    parts = [part for part, whole in ONE_ROOM.items() if whole == room]
    return " ".join(parts) or {"page": "data … learn, a folder per page"}.get(room, room)


def width(place: Place) -> float:
    """Of a box, or of the gap that an arrow passes."""
    return 4.0 if place[1] else LETTER * len(title(place[0])) + 18


def centres(row: Iterable[Place], middle: float = 0.0) -> dict[Place, float]:
    """Where the places of a row are, side by side around the middle."""
    ordered = list(row)
    at = middle - (sum(map(width, ordered)) + GAP * (len(ordered) - 1)) / 2
    found = {}
    for place in ordered:
        found[place] = at + width(place) / 2
        at += width(place) + GAP
    return found


def laid_out(arrows: Iterable[list[Place]]) -> dict[Place, float]:
    """The horizontal place of everything: each row in the order of what it is joined to."""
    joined = nx.Graph()
    for way in arrows:
        nx.add_path(joined, way)
    rows: dict[int, list[Place]] = {}
    for place in sorted(joined):
        rows.setdefault(place[2], []).append(place)
    at = {place: x for row in rows.values() for place, x in centres(row).items()}
    for turn in range(24):
        for level in sorted(rows, reverse=turn % 2 == 0):
            wish = {
                place: sum(at[other] for other in joined[place]) / joined.degree(place)
                for place in rows[level]
            }
            rows[level].sort(key=lambda place: (wish[place], place))
            at |= centres(rows[level], sum(wish.values()) / len(wish) / 2)
    return at


def picture() -> str:
    """The SVG."""
    arrows = ways(imports())
    at = laid_out(arrows.values())
    levels = sorted({place[2] for place in at}, reverse=True)
    top = {level: 10 + ROW * row for row, level in enumerate(levels)}
    left = min(x - width(place) / 2 for place, x in at.items()) - 10
    right = max(x + width(place) / 2 for place, x in at.items()) + 10
    lines = []
    for way in arrows.values():
        d = f"M{at[way[0]]:.0f} {top[way[0][2]] + HEIGHT}"
        for high, low in pairwise(way):
            start, end = top[high[2]] + HEIGHT, top[low[2]]
            half = (start + end) / 2
            d += f"C{at[high]:.0f} {half:.0f} {at[low]:.0f} {half:.0f} {at[low]:.0f} {end}"
            d += f"V{end + HEIGHT}" if low[1] else ""
        lines.append(f'<path d="{d}"/>')
    for place, x in sorted(at.items()):
        if not place[1]:
            kind = ' class="dashboard"' if place[0] in DASHBOARD else ""
            y, wide = top[place[2]], width(place)
            lines += [
                f'<rect{kind} x="{x - wide / 2:.0f}" y="{y}" width="{wide:.0f}" '
                f'height="{HEIGHT}" rx="5"/>',
                f'<text x="{x:.0f}" y="{y + 20}">{escape(title(place[0]))}</text>',
            ]
    size = f"{left:.0f} 0 {right - left:.0f} {ROW * len(levels)}"
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{size}" width="{right - left:.0f}">',
        f"<style>{STYLE}</style>",
        '<marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8"',
        'orient="auto"><path d="M0 0L8 4L0 8Z" style="fill:#707070;stroke:none"/></marker>',
        *lines,
        "</svg>\n",
    ])  # fmt: skip


if __name__ == "__main__":
    PICTURE.write_text(picture(), "utf-8")
