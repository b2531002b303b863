"""A step of a lesson as HTML: its records by class, and the choice made in it.

Tables of the browser itself grow with the page's type, and a screen reader reads them. All text
of tables is escaped.
"""

from collections.abc import Iterable, Sequence
from html import escape

import pandas as pd

from kanon.base.formatting import counted
from kanon.charts.dark import on_dark
from kanon.charts.lesson_look import class_colour
from kanon.charts.style import translucent
from kanon.errors import on_one_line
from kanon.recoding import Recoding
from kanon.teaching.lesson import Choice, written
from kanon.teaching.small_tables import SmallTable
from kanon.teaching.tables import arithmetic, class_numbers, records_table

STYLE = f"""<style>
.lesson {{ overflow-x: auto; }}
.lesson.long {{ max-height: 34rem; overflow-y: auto; }}
.lesson table {{ border-collapse: collapse; width: 100%; }}
.lesson caption {{ text-align: left; padding: 0.4rem 0; caption-side: top; color: inherit; }}
.lesson th, .lesson td {{ padding: 0.2rem 0.5rem; text-align: left; vertical-align: top;
    border-bottom: 1px solid rgba(128, 128, 128, 0.35); }}
.lesson th {{ font-weight: 600; }}
.lesson .term {{ display: block; white-space: nowrap; }}
.lesson .more {{ margin: 0; }}
.lesson .aloud {{ position: absolute; width: 1px; height: 1px; overflow: hidden;
    clip-path: inset(50%); }}
.lesson .number {{ text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }}
.lesson .class {{ display: inline-block; min-width: 1.6em; padding: 0 0.3em; text-align: center;
    border-radius: 0.3em; border: 2px solid; font-weight: 600; }}
.lesson .now {{ font-weight: 700; box-shadow: inset 0 0 0 1.5px currentColor; }}
.lesson .chosen {{ font-weight: 700; background: {translucent("#F0C808", 0.22)}; }}
.lesson .gone {{ text-decoration: line-through; }}
</style>"""
"""How they look; drawn once on the page."""

_MANY = 8  # more candidates than these have a window of their own, the chosen one on top

_EARLIER, _RULE, _FURTHER, _DETAIL = 900, 800, 500, 400
"""What is left out first where there is no room: what earlier steps changed, what the sentence says
too, records that stay as they are and candidates beyond the nearest ones, their arithmetic."""

_NEAREST = 2  # so many candidates besides the chosen one are left out last

_CHOSEN = '<span aria-hidden="true">✓</span><span class="aloud">chosen</span>'


def records_sheet(table: SmallTable, recoding: Recoding, before: Recoding) -> str:
    whole = Recoding.from_targets(table.classes, table.classes.nodes)
    first, earlier, now = (records_table(table, one) for one in (whole, before, recoding))
    rows = []
    for was, past, cells in zip(
        first.itertuples(index=False, name=None),
        earlier.itertuples(index=False, name=None),
        now.itertuples(index=False, name=None),
        strict=True,
    ):
        number, its = cells[:2]
        shown = [
            _cell(old, new, new != late or (not its and bool(past[1])))
            for old, late, new in zip(was[2:], past[2:], cells[2:], strict=True)
        ]
        badge = _badge(its) if its else escape("suppressed")
        tint = f'style="background: {translucent(class_colour(its), 0.1)}"' if its else "class=gone"
        last = int(number) + (0 if cells[1:] != past[1:] else _FURTHER)
        rows.append(
            f'<tr {tint} data-rank={last}><td class="number">{number}</td><td>{badge}</td>'
            f"{''.join(shown)}"
        )
    names = ["Record", "Class", *map(_text, now.columns[2:])]
    label = "Each record and its class."
    return sheet("The records after this step", names, rows, label)


def choice_sheet(table: SmallTable, before: Recoding, choice: Choice, second: str) -> str:
    """All candidates of a choice, best first, with the arithmetic of each.

    ``before`` is the table when the choice was made, for the numbers of classes; ``second`` the
    heading over the l or t that candidates would leave.
    """
    numbers = class_numbers(table, before)
    ranked = choice.ranked
    own = [place for place, rule in enumerate(choice.rules) if rule.column]
    seconds = any(each.second is not None for each in ranked)
    costs = any(each.cost is not None for each in ranked)
    sums = any(each.terms for each in ranked)
    refused = any(each.refused for each in ranked)
    rows = []
    for place, each in enumerate(ranked):
        its = sorted({int(numbers[one]) for one in each.classes} - {0})
        badges = " ".join(map(_badge, its)) if len(its) <= 3 else ""
        cells = [
            f"<td>{_CHOSEN if each.chosen else ''}</td>",
            f"<td>{badges} {_text(each.name)}</td>",
        ]
        if sums:
            terms = "".join(f"<span class=term>{_text(one)}</span>" for one in arithmetic(each))
            cells.append(f"<td>{_left_out_at(_DETAIL, terms) if place else terms}</td>")
        if costs:
            cells.append(f'<td class="number">{written(each.cost)}</td>')
        if seconds:
            cells.append(f'<td class="number">{written(each.second)}</td>')
        cells += [f'<td class="number">{written(each.figure(rule))}</td>' for rule in own]
        if refused:
            cells.append(f"<td>{_text(each.refused)}</td>")
        last = place + (_FURTHER if place > _NEAREST else 0)
        about = f"data-rank={last}" if place else "class=chosen"
        rows.append(f"<tr {about}>{''.join(cells)}")
    names = ['<span class="aloud">Chosen</span>', "Candidate"]
    names += ["Per record × records"] if sums else []
    names += ["Cost ↓"] if costs else []
    names += [second] if seconds else []
    names += [_text(choice.rules[rule].column) for rule in own]
    names += ["Refused"] if refused else []
    best = f"Best: {_text(choice.best)}."
    said = f"{_text(choice.question)} {_left_out_at(_RULE, best)}"
    label = counted(len(ranked), "candidate")
    return sheet(said, names, rows, label, len(ranked) > _MANY)


def _cell(old: object, new: object, changed: bool) -> str:
    if old == new:
        was = ""
    else:
        was = f"{_text(old)} → "
        was = was if changed else _left_out_at(_EARLIER, was)
    return f"<td{' class=now' if changed else ''}>{was}{_text(new)}</td>"


def _left_out_at(rank: int, html: str) -> str:
    """A part that a projector's picture leaves out, from the largest rank on, to find room."""
    return f"<span data-rank={rank}>{html}</span>"


def sheet(
    caption: str, names: Sequence[str], rows: Iterable[str], label: str, long: bool = False
) -> str:
    """A table that scrolls by itself where it is too large, and can be reached by keyboard."""
    head = "".join(f'<th scope="col">{name}</th>' for name in names)
    body = "".join(f"{row}</tr>" for row in rows)
    more = f"… and {'{count}'} more"
    return (
        f'<div class="lesson{" long" if long else ""}" tabindex="0" role="region" '
        f'aria-label="{escape(label)}"><table>'
        f"<caption>{caption}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
        f'</table><p class="more" data-more="{escape(more)}" hidden></p></div>'
    )


def _badge(number: int) -> str:
    light = class_colour(number)
    dark = on_dark(light)  # as in the pictures
    return (
        f'<span class="class" style="border-color: light-dark({light}, {dark}); background: '
        f'light-dark({translucent(light, 0.2)}, {translucent(dark, 0.2)})">{number}</span>'
    )


def _text(text: object) -> str:
    """Text from a table as HTML, on one line; a missing cell is empty."""
    return "" if pd.isna(text) else escape(on_one_line(text))
