"""Where the texts of a drawing stand in a window: which cover each other, and which are cut."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from playwright.sync_api import Locator

# Of each text that can be seen, its box, and the room that it has: in SVG the outermost drawing, in
# HTML its own element, which may hide an end of it.
_TEXTS = """(roots, selector) => roots.flatMap(root => [...root.querySelectorAll(selector)])
  .filter(one => one.textContent.trim() && one.checkVisibility(
    { opacityProperty: true, visibilityProperty: true }))
  .map(one => {
    let drawing = one;
    while (drawing.ownerSVGElement) drawing = drawing.ownerSVGElement;
    const letters = document.createRange();
    letters.selectNodeContents(one);
    const sides = (part) => {
      const { left, top, right, bottom } = part.getBoundingClientRect();
      return [left, top, right, bottom];
    };
    const box = sides(drawing === one ? letters : one);
    return { text: one.textContent.trim(), box, room: sides(drawing) };
  })"""


@dataclass(frozen=True)
class TextBox:
    """A text and where it stands.

    Attributes
    ----------
    text
        What it says.
    box, room
        Left, top, right and bottom of it, and of the drawing or element that it is in: in pixels.
    """

    text: str
    box: tuple[float, float, float, float]
    room: tuple[float, float, float, float]


def text_boxes(drawings: Locator, selector: str = "svg text") -> list[TextBox]:
    """All texts in some drawings that can be seen.

    Parameters
    ----------
    drawings
        One chart or several; what is found in another's shadow is not looked into.
    selector
        What holds a text: for HTML, the innermost elements.
    """
    drawings.first.wait_for()
    found = drawings.evaluate_all(_TEXTS, selector)
    boxes = [TextBox(item["text"], tuple(item["box"]), tuple(item["room"])) for item in found]
    return [one for one in boxes if one.box[0] < one.box[2] and one.box[1] < one.box[3]]


def covered(boxes: Sequence[TextBox], slack: float = 2.0) -> list[str]:
    """The pairs of texts of which one covers the other by more than ``slack`` pixels each way.

    >>> one = TextBox("a", (0, 0, 10, 10), (0, 0, 99, 99))
    >>> other = TextBox("b", (5, 5, 15, 15), (0, 0, 99, 99))
    >>> covered([one, other]), covered([one, other], slack=5)
    (['a | b'], [])
    """
    return [
        f"{one.text} | {other.text}"
        for one, other in combinations(boxes, 2)
        if all(
            min(one.box[side + 2], other.box[side + 2]) - max(one.box[side], other.box[side])
            > slack
            for side in (0, 1)
        )
    ]


def cut(boxes: Sequence[TextBox], slack: float = 2.0) -> list[str]:
    """The texts that reach out of their drawing by more than ``slack`` pixels.

    >>> cut([TextBox("a", (0, 0, 10, 10), (0, 3, 99, 99))])
    ['a']
    """
    return [
        one.text
        for one in boxes
        if any(one.room[side] - one.box[side] > slack for side in (0, 1))
        or any(one.box[side] - one.room[side] > slack for side in (2, 3))
    ]
