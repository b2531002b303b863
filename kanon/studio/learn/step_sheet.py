"""A step of a lesson as HTML tables, all text escaped: they grow with the page's type."""

from collections.abc import Iterable, Sequence
from html import escape

import pandas as pd

from kanon.base.formatting import count_noun
from kanon.charts.dark import convert_colour_to_dark
from kanon.charts.lesson_lattice import SIGNS
from kanon.charts.lesson_look import get_class_colour
from kanon.charts.style import add_opacity
from kanon.errors import join_lines
from kanon.recoding import Recoding
from kanon.teaching.glossary import split_at_terms
from kanon.teaching.lesson import Choice, Lesson, write_number
from kanon.teaching.nodes import NodeView
from kanon.teaching.small_tables import SmallTable
from kanon.teaching.tables import build_records_table, get_class_numbers, write_arithmetic

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
.lesson .chosen {{ font-weight: 700; background: {add_opacity("#F0C808", 0.22)}; }}
.lesson .gone {{ text-decoration: line-through; }}
.sentence {{ position: relative; }}
.sentence .word {{ text-decoration: underline dotted; cursor: help; }}
.sentence .meaning {{ display: none; position: absolute; left: 0; top: 100%; z-index: 10;
    max-width: 44rem; padding: 0.5rem 0.8rem; border: 1px solid; border-radius: 0.4rem;
    background: light-dark(#FFFFFF, #14181D); white-space: pre-line; }}
.sentence .word:hover .meaning, .sentence .word:focus .meaning {{ display: block; }}
</style>"""
"""How they look; drawn once on the page."""

_MANY = 8  # more candidates than these have a window of their own, the chosen one on top

_EARLIER, _RULE, _FURTHER, _DETAIL = 900, 800, 500, 400
"""What a projector leaves out first: earlier changes, rules, further rows, arithmetic."""

_NEAREST = 2  # so many candidates besides the chosen one are left out last

_CHOSEN_MARK = '<span aria-hidden="true">✓</span><span class="aloud">chosen</span>'


def format_records(table: SmallTable, recoding: Recoding, before: Recoding) -> str:
    whole = Recoding.from_targets(table.classes, table.classes.nodes)
    first, earlier, now = (build_records_table(table, stage) for stage in (whole, before, recoding))
    rows = []
    for was, past, cells in zip(
        first.itertuples(index=False, name=None),
        earlier.itertuples(index=False, name=None),
        now.itertuples(index=False, name=None),
        strict=True,
    ):
        number, class_number = cells[:2]
        changes = [
            _format_change(old, new, new != late or (not class_number and bool(past[1])))
            for old, late, new in zip(was[2:], past[2:], cells[2:], strict=True)
        ]
        badge = _format_badge(class_number) if class_number else escape("suppressed")
        tint = (
            f'style="background: {add_opacity(get_class_colour(class_number), 0.1)}"'
            if class_number
            else "class=gone"
        )
        last = int(number) + (0 if cells[1:] != past[1:] else _FURTHER)
        rows.append(
            f'<tr {tint} data-rank={last}><td class="number">{number}</td><td>{badge}</td>'
            f"{''.join(changes)}"
        )
    names = ["Record", "Class", *map(_escape_text, now.columns[2:])]
    label = "Each record and its class."
    return format_html_table("The records after this step", names, rows, label)


def format_choice(table: SmallTable, before: Recoding, choice: Choice, second: str) -> str:
    """All candidates of a choice, best first, with the arithmetic of each.

    ``before`` is the table when the choice was made; ``second`` heads the l or t of candidates.
    """
    numbers = get_class_numbers(table, before)
    candidates = choice.ranked_candidates
    rule_places = [place for place, rule in enumerate(choice.rules) if rule.column]
    seconds = any(candidate.level_left is not None for candidate in candidates)
    costs = any(candidate.cost is not None for candidate in candidates)
    sums = any(candidate.terms for candidate in candidates)
    has_refused = any(candidate.refused for candidate in candidates)
    rows = []
    for place, candidate in enumerate(candidates):
        badge_numbers = sorted({int(numbers[part]) for part in candidate.classes} - {0})
        badges = " ".join(map(_format_badge, badge_numbers)) if len(badge_numbers) <= 3 else ""
        cells = [
            f"<td>{_CHOSEN_MARK if candidate.chosen else ''}</td>",
            f"<td>{badges} {_escape_text(candidate.name)}</td>",
        ]
        if sums:
            terms = "".join(
                f"<span class=term>{_escape_text(part)}</span>"
                for part in write_arithmetic(candidate)
            )
            cells.append(f"<td>{_mark_droppable(_DETAIL, terms) if place else terms}</td>")
        if costs:
            cells.append(f'<td class="number">{write_number(candidate.cost)}</td>')
        if seconds:
            cells.append(f'<td class="number">{write_number(candidate.level_left)}</td>')
        cells += [
            f'<td class="number">{write_number(candidate.figure(rule))}</td>'
            for rule in rule_places
        ]
        if has_refused:
            cells.append(f"<td>{_escape_text(candidate.refused)}</td>")
        last = place + (_FURTHER if place > _NEAREST else 0)
        about = f"data-rank={last}" if place else "class=chosen"
        rows.append(f"<tr {about}>{''.join(cells)}")
    names = ['<span class="aloud">Chosen</span>', "Candidate"]
    names += ["Per record × records"] if sums else []
    names += ["Cost ↓"] if costs else []
    names += [second] if seconds else []
    names += [_escape_text(choice.rules[rule].column) for rule in rule_places]
    names += ["Refused"] if has_refused else []
    best = f"Best: {_escape_text(choice.best)}."
    caption = f"{_escape_text(choice.question)} {_mark_droppable(_RULE, best)}"
    label = count_noun(len(candidates), "candidate")
    return format_html_table(caption, names, rows, label, len(candidates) > _MANY)


def format_lattice_legend(lesson: Lesson, at: int) -> str:
    """What the signs of a lattice mean, where the picture has no room for it; else empty."""
    if not any(isinstance(step.detail, NodeView) for step in lesson.steps[: at + 1]):
        return ""
    signs = "".join(
        f'<div><span style="color: light-dark({colour}, {convert_colour_to_dark(colour)})">'
        f"{sign}</span> {meaning}</div>"
        for sign, colour, meaning in SIGNS
    )
    return f'<div class="legend">{signs}</div>'


def format_sentence(sentence: str) -> str:
    """A sentence in which each word of the glossary opens its meaning, by pointer or keyboard."""
    parts = [
        escape(part) if term is None else format_word(part, f"{term.name}: {term.told}")
        for part, term in split_at_terms(join_lines(sentence))
    ]
    return f'<div class="sentence">{"".join(parts)}</div>'


def format_word(word: str, meaning: str) -> str:
    return (
        f'<span class="word" tabindex="0">{escape(word)}'
        f'<span class="meaning">{escape(meaning)}</span></span>'
    )


def _format_change(old: object, new: object, is_changed: bool) -> str:
    if old == new:
        was = ""
    else:
        was = f"{_escape_text(old)} → "
        was = was if is_changed else _mark_droppable(_EARLIER, was)
    return f"<td{' class=now' if is_changed else ''}>{was}{_escape_text(new)}</td>"


def _mark_droppable(rank: int, html: str) -> str:
    """A part that a projector's picture leaves out, from the largest rank on, to find room."""
    return f"<span data-rank={rank}>{html}</span>"


def format_html_table(
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


def _format_badge(number: int) -> str:
    light = get_class_colour(number)
    dark = convert_colour_to_dark(light)  # as in the pictures
    return (
        f'<span class="class" style="border-color: light-dark({light}, {dark}); background: '
        f'light-dark({add_opacity(light, 0.2)}, {add_opacity(dark, 0.2)})">{number}</span>'
    )


def _escape_text(text: object) -> str:
    """Text from a table as HTML, on one line; a missing cell is empty."""
    return "" if pd.isna(text) else escape(join_lines(text))
