"""A hierarchy as an outline to type: one node per line, indented below its parent.

``Felid = 3`` has an edge of weight 3 above it. Other names are quoted as in JSON.
"""

import json
import re

from kanon.base.values import convert_to_text
from kanon.errors import HierarchyError
from kanon.hierarchy.lines import check_number
from kanon.hierarchy.tree import Hierarchy

_STEP = 4  # blanks per level, and for a tabulator
_LINE = re.compile(r'("(?:[^"\\]|\\.)*"|[^"=][^=]*?|[^=])\s*(?:=(.*))?')


def parse_outline(text: str) -> Hierarchy:
    """Read an outline; blank lines are ignored, and a tabulator counts as four blanks."""
    entries: list[tuple[str, str | None, float | None]] = []
    above: list[tuple[int, str]] = []
    line_of_name: dict[str, int] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        content = line.strip()
        if not content:
            continue
        name, weight = _parse_line(number, content)
        indent = len(line[: len(line) - len(line.lstrip())].expandtabs(_STEP))
        while above and above[-1][0] >= indent:
            above.pop()
        if entries and not above:
            raise HierarchyError(
                f"Line {number}: {{cells}} is as far left as the root. A tree has one root, so "
                "indent every other line.",
                [name],
            )
        if name in line_of_name:
            raise HierarchyError(
                f"Line {number}: {{cells}} is listed a second time "
                f"(first: line {line_of_name[name]}). List every value and every group once.",
                [name],
            )
        line_of_name[name] = number
        entries.append((name, above[-1][1] if above else None, weight))
        above.append((indent, name))
    if not entries:
        raise HierarchyError(
            "The outline is empty. Write the root, such as *, in its first line, and indent the "
            "lines below it."
        )
    check_number("nodes", len(entries))
    tree = Hierarchy.from_entries(entries)
    check_number("levels", tree.height)
    return tree


def write_outline(tree: Hierarchy) -> str:
    """Write a tree with its weights; :func:`parse_outline` reads the same tree.

    >>> print(write_outline(parse_outline("*\\n\\tA = 2\\n\\t\\ta = 0.5\\n\\tb = 1")))
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
        name = label if plain else json.dumps(label)
        weight = None if tree.weight is None or node == tree.root else float(tree.weight[node])
        end = "" if weight is None else f" = {_write_weight(weight)}"
        lines.append(f"{' ' * _STEP * depth}{name}{end}")
        waiting += [(child, depth + 1) for child in reversed(tree.children[node])]
    return "\n".join(lines)


def _write_weight(weight: float) -> str:
    return str(int(weight)) if weight.is_integer() else repr(weight)


def _parse_line(number: int, content: str) -> tuple[str, float | None]:
    match = _LINE.fullmatch(content)
    problem = HierarchyError(
        f"Line {number}: {{cells}} is not a node. Write a name and, if you like, = and a weight, "
        'such as Felid = 3. Put a name that contains = or " in quotes.',
        [content],
    )
    if match is None:
        raise problem
    name, weight = match[1], match[2]
    try:
        label = convert_to_text(json.loads(name) if name.startswith('"') else name)
        return label, None if weight is None else float(weight)
    except ValueError:
        raise problem from None
