"""A hierarchy drawn for paper: where each node stands and its text, which is not escaped."""

from dataclasses import dataclass, replace

import numpy as np

from kanon.base.formatting import count_noun
from kanon.errors import join_lines
from kanon.hierarchy import Hierarchy

ROWS = 44  # the most lines of a drawing: those of a printed page

_LINE, _WIDTH, _STEP, _CHARACTER = 17, 680, 190, 6.2
"""A line's height, a page's width, the widest step between depths, and a character: in pixels."""

_DEEPEST = 7


@dataclass(frozen=True)
class Spot:
    # where it stands, in pixels
    x: float
    y: float
    text: str  # what is written beside it, as far as there is room
    whole: str  # the same in full
    above: tuple[float, float] | None  # where the line to its parent ends


@dataclass(frozen=True)
class TreeDrawing:
    # in pixels
    width: int
    height: int
    spots: tuple[Spot, ...]  # the nodes
    complete: bool  # whether every node is drawn


def place_tree(tree: Hierarchy, rows: int = ROWS) -> TreeDrawing:
    """Draw a tree from its root, on the left, to as many depths as there is room for.

    >>> from kanon.hierarchy.build import suppression
    >>> drawing = place_tree(suppression(["F", "M"]))
    >>> [(spot.text, spot.x) for spot in drawing.spots], drawing.complete
    ([('*', 6), ('F', 196), ('M', 196)], True)
    >>> [spot.text for spot in place_tree(suppression(["a", "b", "c", "d"]), rows=3).spots]
    ['*', 'a', 'b', '… 2 others']
    """
    depth = np.zeros(tree.n_nodes, dtype=np.int64)
    for node in range(tree.root - 1, -1, -1):  # parents have larger numbers
        depth[node] = depth[tree.parent[node]] + 1
    deepest = _find_deepest(tree, depth, rows)
    step = min(_STEP, (_WIDTH - 10) // (deepest + 1))
    room = int((step - 16) / _CHARACTER)
    spots: dict[int, Spot] = {}
    left_out: list[Spot] = []
    line = 0

    def place_node(node: int) -> float:
        """Give a node its place, after all that lies below it; returns its height."""
        nonlocal line
        x, below = 6 + int(depth[node]) * step, tree.children[node]
        children = below if depth[node] < deepest else ()
        drawn_children = children[: rows - 1] if len(children) > rows else children
        label = join_lines(tree.labels[node])
        if below and not children:
            label = f"{label} ({count_noun(int(tree.leaves_covered[node]), 'value')})"
        if drawn_children:
            heights = [place_node(child) for child in drawn_children]
            y = (heights[0] + heights[-1]) / 2
        else:
            y = _LINE * (line + 0.7)
            line += 1
        if len(drawn_children) < len(children):
            note = f"… {count_noun(len(children) - len(drawn_children), 'other')}"
            left_out.append(Spot(x + step, _LINE * (line + 0.7), note, note, None))
            line += 1
        # What has no line to its right may go on to the edge of the page.
        most = room if drawn_children else int((_WIDTH - x - 10) / _CHARACTER)
        text = label if len(label) <= most else f"{label[: max(most - 1, 1)]}…"
        spots[node] = Spot(x, y, text, label, None)
        return y

    place_node(tree.root)
    connected = []
    for node, spot in sorted(spots.items(), key=lambda item: (depth[item[0]], item[1].y)):
        above = spots.get(int(tree.parent[node]))  # the root has none
        connected.append(replace(spot, above=(above.x, above.y) if above else None))
    complete = len(spots) == tree.n_nodes
    return TreeDrawing(_WIDTH, _LINE * line + 6, (*connected, *left_out), complete)


def _find_deepest(tree: Hierarchy, depth: np.ndarray, rows: int) -> int:
    """The largest depth at which a drawing still has room for its lines; 1 at least, if any."""
    inner = tree.leaves_covered > 1
    inner[tree.parent[: tree.root]] = True
    deepest = 0
    for depth_limit in range(1, min(int(depth[: tree.root + 1].max()), _DEEPEST) + 1):
        ends = int(
            ((depth == depth_limit) | (~inner & (depth < depth_limit)))[: tree.root + 1].sum()
        )
        if ends > rows and depth_limit > 1:
            break
        deepest = depth_limit
    return deepest
