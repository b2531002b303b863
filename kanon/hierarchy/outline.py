"""A hierarchy as an outline, to be typed: a node a line, farther in than the one above it.

``Felid = 3`` has the weight 3 above it. A name that could not stand so is quoted as by JSON.
"""

import json
import re

from kanon.base.values import canonical_text
from kanon.errors import HierarchyError
from kanon.hierarchy.lines import check_number
from kanon.hierarchy.tree import Hierarchy

_STEP = 4  # blanks from a node to those below it, and in place of a tabulator
_LINE = re.compile(r'("(?:[^"\\]|\\.)*"|[^"=][^=]*?|[^=])\s*(?:=(.*))?')


def parse_outline(text: str) -> Hierarchy:
    """Read an outline; blank lines count for nothing, and a tabulator for four blanks."""
    entries: list[tuple[str, str | None, float | None]] = []
    above: list[tuple[int, str]] = []
    at: dict[str, int] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        inside = line.strip()
        if not inside:
            continue
        name, weight = _parts(number, inside)
        indent = len(line[: len(line) - len(line.lstrip())].expandtabs(_STEP))
        while above and above[-1][0] >= indent:
            above.pop()
        if entries and not above:
            raise HierarchyError(
                f"Line {number}: {{cells}} stands as far left as the root; a tree has one root, so "
                "every other line has to be farther in than the first.",
                [name],
            )
        if name in at:
            raise HierarchyError(
                f"Line {number}: {{cells}} is listed a second time (first: line {at[name]}); every "
                "value and every group stands once.",
                [name],
            )
        at[name] = number
        entries.append((name, above[-1][1] if above else None, weight))
        above.append((indent, name))
    if not entries:
        raise HierarchyError(
            "The outline is empty; its first line is the root, such as *, and what is below it "
            "stands farther in."
        )
    check_number("nodes", len(entries))
    tree = Hierarchy.from_entries(entries)
    check_number("levels", tree.height)
    return tree


def to_outline(tree: Hierarchy) -> str:
    """Write a tree with its weights; :func:`parse_outline` reads the same tree.

    >>> print(to_outline(parse_outline("*\\n\\tA = 2\\n\\t\\ta = 0.5\\n\\tb = 1")))
    *
        A = 2
            a = 0.5
        b = 1
    """
    lines = []
    waiting = [(tree.root, 0)]
    while waiting:
        node, depth = waiting.pop()
        label = tree.labels[node]
        plain = label.isprintable() and "=" not in label and label[0] != '"'
        shown = label if plain else json.dumps(label)
        weight = None if tree.weight is None or node == tree.root else float(tree.weight[node])
        end = "" if weight is None else f" = {_number(weight)}"
        lines.append(f"{' ' * _STEP * depth}{shown}{end}")
        waiting += [(child, depth + 1) for child in reversed(tree.children[node])]
    return "\n".join(lines)


def _number(weight: float) -> str:
    return str(int(weight)) if weight.is_integer() else repr(weight)


def _parts(number: int, inside: str) -> tuple[str, float | None]:
    match = _LINE.fullmatch(inside)
    problem = HierarchyError(
        f"Line {number}: {{cells}} is no node; a line has a name and, if one is wanted, = and a "
        'weight, such as Felid = 3. Put a name with = or " in it in quotes.',
        [inside],
    )
    if match is None:
        raise problem
    name, weight = match[1], match[2]
    try:
        label = canonical_text(json.loads(name) if name.startswith('"') else name)
        return label, None if weight is None else float(weight)
    except ValueError:
        raise problem from None
