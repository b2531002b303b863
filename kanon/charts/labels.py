"""Labels that find a place beside their marks: none covers another, or sticks out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Anchor(NamedTuple):
    """Where a label may stand: at a point, in pixels from the upper left, on a side of it."""

    x: float
    y: float
    side: str  # as Plotly calls it: ``middle right``, ``top center``
    clear: float = 0  # the diameter of the mark at the point


class Box(NamedTuple):
    left: float
    top: float
    right: float
    bottom: float

    def has_overlap(self, other: Box) -> bool:
        """Whether both cover a common area; boxes that only touch do not overlap."""
        return (
            self.left < other.right and other.left < self.right
            and self.top < other.bottom and other.top < self.bottom
        )  # fmt: skip

    def is_inside(self, other: Box) -> bool:
        return (
            other.left <= self.left and self.right <= other.right
            and other.top <= self.top and self.bottom <= other.bottom
        )  # fmt: skip


class Scale(NamedTuple):
    x: tuple[float, float]
    y: tuple[float, float]
    box: Box

    def convert_to_pixels(self, x: float, y: float) -> tuple[float, float]:
        """Where a point stands in the picture.

        >>> scale = Scale((0, 10), (0, 1), Box(20, 20, 120, 220))
        >>> scale.convert_to_pixels(5, 1)
        (70.0, 20.0)
        """
        (left, right), (low, high), box = self.x, self.y, self.box
        return (
            box.left + (x - left) / (right - left) * (box.right - box.left),
            box.top + (high - y) / (high - low) * (box.bottom - box.top),
        )


class Label(NamedTuple):
    texts: Sequence[str]  # the whole text first, then shorter ones for where that finds no room
    anchors: Sequence[Anchor]  # where it may stand, the best place first


class LabelPlace(NamedTuple):
    """What came of a label: where it stands, and which text; none where there was no room."""

    anchor: Anchor
    text: str


def place_labels(
    labels: Iterable[Label], size: float, inside: Box, occupied: Iterable[Box] = ()
) -> list[LabelPlace]:
    """A place for each label, none over another: those that come first choose first.

    >>> near = [Label([text, text[:1]], [Anchor(x, 20, "middle right")])
    ...         for text, x in (("Felid", 10), ("Mammal", 30), ("Dog", 52))]
    >>> [found.text for found in place_labels(near, 10, Box(0, 0, 200, 40))]
    ['Felid', '', 'Dog']
    """
    taken_boxes, label_places = list(occupied), []
    for label in labels:
        tries = ((text, anchor) for text in label.texts for anchor in label.anchors)
        for text, anchor in tries:
            box = compute_text_box(text, anchor, size)
            if box.is_inside(inside) and not any(box.has_overlap(other) for other in taken_boxes):
                taken_boxes.append(box)
                label_places.append(LabelPlace(anchor, text))
                break
        else:
            label_places.append(LabelPlace(label.anchors[0], ""))
    return label_places


def compute_text_box(text: str, anchor: Anchor, size: float) -> Box:
    """The box, in pixels, that Plotly fills with a text beside a mark."""
    width, away = estimate_text_width(text, size), (anchor.clear / 1.6 + 1 if anchor.clear else 0)
    upright, across = anchor.side.split()
    left = {
        "left": anchor.x - away - width, "center": anchor.x - width / 2, "right": anchor.x + away
    }[across]  # fmt: skip
    line = {  # on which the letters stand
        "top": anchor.y - away - size / 4, "middle": anchor.y + size / 4,
        "bottom": anchor.y + away + 3 * size / 4,
    }[upright]  # fmt: skip
    return Box(left, line - 0.8 * size, left + width, line + 0.25 * size)


def estimate_text_width(text: str, size: float) -> float:
    """About how wide a text is, in pixels; rather too wide than too narrow.

    >>> ill, age, wide = (estimate_text_width(text, 10) for text in ("ill", "age", "WWW"))
    >>> ill < age < wide
    True
    """
    return size * sum(
        0.32 if letter in _NARROW else 0.9 if letter in _WIDE or ord(letter) > 0x2E80 else 0.56
        for letter in text
    )


_NARROW, _WIDE = frozenset("iljtfI.,:;!|'’()[] "), frozenset("mwMW@%…→—")


def list_shortened(text: str, *lengths: int) -> list[str]:
    """A text, and the same cut to these lengths where it is longer.

    >>> list_shortened("Vertebrate", 6, 3)
    ['Vertebrate', 'Verte…', 'Ve…']
    """
    return [text, *(text[: most - 1] + "…" for most in lengths if len(text) > most)]
