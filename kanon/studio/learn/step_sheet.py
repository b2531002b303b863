"""What a step of a lesson shows as HTML: its records by class, and what was weighed in it.

Tables of the browser itself: they grow with the page's type, and a screen reader reads them. All
text of tables is escaped.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

import pandas as pd

from kanon.base.language import say, say_counted
from kanon.charts.style import translucent
from kanon.errors import on_one_line
from kanon.recoding import Recoding
from kanon.teaching.lesson import Choice, written
from kanon.teaching.small_tables import SmallTable
from kanon.teaching.tables import arithmetic, class_numbers, records_table

_COLOURS = (
    *("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00"),
    *("#332288", "#999933", "#882255", "#44AA99", "#8C6D31", "#5B5B5B"),
)
"""One colour per class, beside its number; with more classes they begin again."""

STYLE = f"""<style>
.lesson {{ overflow-x: auto; }}
.lesson.long {{ max-height: 34rem; overflow-y: auto; }}
.lesson table {{ border-collapse: collapse; width: 100%; }}
.lesson caption {{ text-align: left; padding: 0.4rem 0; caption-side: top; color: inherit; }}
.lesson th, .lesson td {{ padding: 0.2rem 0.5rem; text-align: left; vertical-align: top;
    border-bottom: 1px solid rgba(128, 128, 128, 0.35); }}
.lesson th {{ font-weight: 600; }}
.lesson .tight {{ white-space: nowrap; }}
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

_MANY = 8
"""More candidates than these have a window of their own, the chosen one on top."""

_CHOSEN = f'<span aria-hidden="true">✓</span><span class="aloud">{escape(say("chosen"))}</span>'


def records_sheet(table: SmallTable, recoding: Recoding, before: Recoding) -> str:
    """The records after a step.

    Every record has the number and the colour of its class. A value that rose stands behind an
    arrow, with the value of the table before it; one that this step changed is framed.

    Parameters
    ----------
    recoding, before
        The table after this step, and after the one before it.
    """
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
        gone = "" if its else ' class="gone"'
        badge = _badge(its) if its else escape(say("suppressed"))
        tint = f' style="background: {translucent(_colour(its), 0.1)}"' if its else gone
        rows.append(f'<tr{tint}><td class="number">{number}</td><td>{badge}</td>{"".join(shown)}')
    names = [say("Record"), say("Class"), *map(_text, now.columns[2:])]
    label = say("Each record and its class.")
    return _table(say("The records after this step"), names, rows, label)


def choice_sheet(table: SmallTable, before: Recoding, choice: Choice, second: str) -> str:
    """All candidates of a choice, best first, with the arithmetic of each.

    Parameters
    ----------
    table, before
        The table, and how it was when the choice was made: it says the numbers of classes.
    second
        What stands over the l or t that candidates would leave.
    """
    numbers = class_numbers(table, before)
    ranked = choice.ranked
    own = [place for place, rule in enumerate(choice.rules) if rule.column]
    seconds = any(each.second is not None for each in ranked)
    costs = any(each.cost is not None for each in ranked)
    sums = any(each.terms for each in ranked)
    refused = any(each.refused for each in ranked)
    rows = []
    for each in ranked:
        its = sorted({int(numbers[one]) for one in each.classes} - {0})
        badges = " ".join(map(_badge, its)) if len(its) <= 3 else ""
        cells = [
            f"<td>{_CHOSEN if each.chosen else ''}</td>",
            f"<td>{badges} {_text(each.name)}</td>",
        ]
        if sums:
            cells.append(f"<td class=tight>{'<br>'.join(map(_text, arithmetic(each)))}</td>")
        if costs:
            cells.append(f'<td class="number">{written(each.cost)}</td>')
        if seconds:
            cells.append(f'<td class="number">{written(each.second)}</td>')
        cells += [f'<td class="number">{written(each.figure(place))}</td>' for place in own]
        if refused:
            cells.append(f"<td>{_text(each.refused)}</td>")
        rows.append(f"<tr{' class=chosen' if each.chosen else ''}>{''.join(cells)}")
    names = [f'<span class="aloud">{say("Chosen")}</span>', say("Candidate")]
    names += [say("Per record × records")] if sums else []
    names += [say("Cost ↓")] if costs else []
    names += [second] if seconds else []
    names += [_text(choice.rules[place].column) for place in own]
    names += [say("Refused")] if refused else []
    said = f"{_text(choice.question)} {say('Best: {candidate}.', candidate=_text(choice.best))}"
    label = say_counted(len(ranked), "{count} candidate", "{count} candidates")
    return _table(said, names, rows, label, len(ranked) > _MANY)


def _cell(old: object, new: object, changed: bool) -> str:
    """A value as it is now, and what it was in the table."""
    said = _text(new) if old == new else f"{_text(old)} → {_text(new)}"
    return f"<td{' class=now' if changed else ''}>{said}</td>"


def _table(
    caption: str, names: Sequence[str], rows: Iterable[str], label: str, long: bool = False
) -> str:
    """A table that scrolls by itself where it is too large, and can be reached by keyboard."""
    head = "".join(f'<th scope="col">{name}</th>' for name in names)
    body = "".join(f"{row}</tr>" for row in rows)
    return (
        f'<div class="lesson{" long" if long else ""}" tabindex="0" role="region" '
        f'aria-label="{escape(label)}"><table>'
        f"<caption>{caption}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
        "</table></div>"
    )


def _badge(number: int) -> str:
    """The number of a class on its colour."""
    colour = _colour(number)
    return (
        f'<span class="class" style="border-color: {colour}; '
        f'background: {translucent(colour, 0.2)}">{number}</span>'
    )


def _colour(number: int) -> str:
    return _COLOURS[(number - 1) % len(_COLOURS)]


def _text(text: object) -> str:
    """Text from a table as HTML, on one line; a missing cell is empty."""
    return "" if pd.isna(text) else escape(on_one_line(text))
