"""The layout of a board, saved as JSON; it does not depend on the table."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Literal, NamedTuple

from pydantic import Field, StringConstraints

from kanon.base.checked_json import Strict, read_json, validate, write_json
from kanon.errors import PlanError, quote

GRIDS = {2: (1, 2), 3: (1, 3), 4: (2, 2), 5: (2, 3), 6: (2, 3), 7: (3, 3), 8: (3, 3), 9: (3, 3)}
"""Rows and columns of a board by its number of panels. What is free holds the numbers."""

FEWEST, MOST = min(GRIDS), max(GRIDS)  # how many panels a board has

NUMBERS_ROW, NUMBERS_ROWS = 24, 9  # the table of numbers: pixels of a row, rows before it scrolls
NUMBERS_HEAD = 64  # pixels: two lines of head, and the space around the table
FOOT, LEFT, RIGHT = 58, 46, 30  # pixels: below a panel, and on both sides of all
FILLING = 1.5  # so much wider are left and foot of a panel that fills the screen, for its texts
SPACE, SPACE_OF_THREE = 0.06, 0.085  # between panels, of the width; where three stand in a row

NODES, NODES_FILLING = 10, 16  # so many rows of a cost matrix can be named, in a panel or alone


class PanelSize(NamedTuple):
    """How large a panel and its texts are, so that none is cut in a window of 1024 pixels."""

    # of what is inside the axes, in pixels
    height: int
    width: int
    # pixels of the title, of the titles of axes, and of ticks and what else is said
    title: int
    text: int
    small: int
    # the longest title, and the longest line below it
    letters: int
    about: int
    label: int  # the longest label of a row of a matrix, in letters

    def choose_label_size(self, labels: Sequence[str]) -> tuple[int, int]:
        """The letter size of a cost matrix's labels and the room they take, both in pixels."""
        longest = 0.56 * min(self.label, max(map(len, labels)))  # a letter: 0.56 of its height
        side = min(self.height, self.width) - 4
        fitting = 0.8 * side / (len(labels) + 0.8 * longest)  # in rows that remain beside the room
        size = min(self.small, int(fitting))
        return size, int(longest * size) + 4


SIZES = {
    3: PanelSize(190, 171, 14, 12, 12, 29, 40, 7),
    2: PanelSize(200, 290, 15, 13, 12, 46, 56, 12),
    1: PanelSize(350, 880, 26, 20, 18, 70, 110, 20),
}
"""The sizes of panels, by how many stand side by side; one alone fills the screen of 720 pixels."""

PROJECTED = {
    3: PanelSize(380, 235, 18, 16, 16, 31, 36, 7),
    2: PanelSize(380, 385, 20, 16, 16, 40, 48, 12),
    1: SIZES[1],
}
"""The sizes of panels on a projector, by how many stand side by side: no letter below 16 pixels."""


@dataclass(frozen=True)
class Panel:
    """One picture of a board. What a kind does not need is left empty."""

    kind: str = "curve"  # one of :data:`kanon.charts.panels.KINDS`
    measure: str = ""  # the criterion on its axis, by its name in ``CURVES.csv``
    # the column and the metric of a cost matrix
    column: str = ""
    metric: str = ""
    lines: tuple[str, ...] = ()  # the configurations, by name


@dataclass(frozen=True)
class Layout:
    panels: tuple[Panel, ...]

    def __post_init__(self) -> None:
        if not FEWEST <= len(self.panels) <= MOST:
            raise PlanError(
                f"A board has {FEWEST} to {MOST} panels; this layout has {len(self.panels)}."
            )

    @property
    def grid(self) -> tuple[int, int]:
        """The number of rows and of columns."""
        return GRIDS[len(self.panels)]

    def select_panels(self, number: int) -> Layout:
        """The layout with so many panels: its first ones, or usual ones added.

        >>> layout = create_curves_layout("min_k", "root_percent")
        >>> [panel.measure for panel in layout.select_panels(3).panels]
        ['min_k', 'root_percent', 'mean_alteration']
        """
        others = (Panel("classes"), Panel("curve", "classes"), Panel("scatter", "min_k"))
        candidates = (
            *COSTS.panels,
            *others,
            *create_curves_layout("alteration_nllm", "precision").panels,
        )
        more = [panel for panel in candidates if panel not in self.panels]
        return Layout((*self.panels, *more)[:number])

    def to_json(self) -> str:
        """The layout as the text of a JSON file; empty keys are left out."""
        panels = [
            {key: value for key, value in asdict(panel).items() if value} for panel in self.panels
        ]
        return write_json({"version": 1, "panels": panels})


def create_curves_layout(*measures: str) -> Layout:
    """A layout of curves over k only, a panel per measure."""
    return Layout(tuple(Panel("curve", measure) for measure in measures))


COSTS = create_curves_layout(
    "mean_alteration",
    "generalised_percent",
    "root_percent",
    "deleted_among_modified_percent",
    "min_k",
)
"""The layout without a sensitive column."""


def choose_starting_layout(criteria: Collection[str]) -> Layout:
    """The layout to begin with: with l and t where there is a sensitive column."""
    if not {"l_percent", "t_percent"} <= set(criteria):
        return COSTS
    return create_curves_layout(
        "mean_alteration", "l_percent", "t_percent", "generalised_percent", "root_percent", "min_k"
    )


_Name = Annotated[str, StringConstraints(strict=True, max_length=500)]


class _PanelFile(Strict):
    kind: _Name
    measure: _Name = ""
    column: _Name = ""
    metric: _Name = ""
    lines: tuple[_Name, ...] = Field(default=(), max_length=500)


class _LayoutFile(Strict):
    version: Literal[1]
    panels: tuple[_PanelFile, ...]


def read_layout(text: str | bytes, kinds: Collection[str]) -> Layout:
    """Read and check a layout.

    >>> read_layout('{"version": 1, "panels": [], "k": 5}', ["curve"])
    Traceback (most recent call last):
    kanon.errors.PlanError: The layout: the key 'k' is unknown; choose from version, panels.
    """
    content = validate(_LayoutFile, read_json(text, "The layout"), "layout")
    for place, panel in enumerate(content.panels, 1):
        if panel.kind not in kinds:
            raise PlanError(
                f"Panel {place} has the unknown kind {quote(panel.kind)}; "
                f"choose from {', '.join(kinds)}."
            )
    return Layout(tuple(Panel(**panel.model_dump()) for panel in content.panels))
