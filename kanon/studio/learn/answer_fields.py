"""A question of an exercise set, and the field to answer it, on the page Learn."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, assert_never

import pandas as pd
import streamlit as st

from kanon.base.formatting import count_noun
from kanon.hierarchy import Hierarchy
from kanon.metrics import metric_named
from kanon.schema import Role
from kanon.studio.learn.exercises import get_current_answer
from kanon.studio.learn.form import draw_numbers
from kanon.studio.learn.state import Attempt
from kanon.studio.learn.widgets import draw_small_table
from kanon.studio.session import state
from kanon.studio.session.state import attach_widget
from kanon.studio.session.text import escape_markdown, strip_for_screen_reader
from kanon.teaching.by_hand import HandRecoding, Row, measure_hand_recoding, set_value, step_column
from kanon.teaching.exercises import ExerciseSet
from kanon.teaching.handout import draw_trees
from kanon.teaching.question import LevelsQuestion, RecodeQuestion, format_question_heading
from kanon.teaching.questions import AnyQuestion, ChoiceQuestion, NumberQuestion
from kanon.teaching.small_tables import SmallTable, format_tuple

Give = Callable[[Any], None]

_SMALL = "rgba(213, 94, 0, 0.20)"

_WIDTH, _NARROW = 6.5, 4.2
"""Of a column of the grid, and in a narrow window, in letters' sizes, with the gap beside it."""

_LARGEST = 1e15  # the largest number that the field shows; beyond it a browser rounds counts


def draw_question(
    exercises: ExerciseSet,
    attempt: Attempt,
    question: AnyQuestion,
    number: int,
    give: Give,
    draw_beside: Callable[[], object] = lambda: None,
) -> None:
    text = f"{question.text} {question.describe_task(exercises.get_table(question))}".strip()
    points = "1 point" if question.points == 1 else f"{question.points:g} points"
    st.markdown(
        f"**{escape_markdown(format_question_heading(number, question))}** "
        f"({points}). {escape_markdown(text)}"
    )
    if _is_wide(exercises, question):
        answer_place = st.container()
        aside_place, tree_place = st.columns(2, gap="medium")
    else:
        answer_place, aside_place = st.columns([7, 5], gap="medium")
        tree_place = aside_place
    with answer_place:
        _draw_answer_field(exercises, attempt, question, give)
    with aside_place:
        draw_beside()
    with tree_place:
        _draw_trees(exercises, question)


def _is_wide(exercises: ExerciseSet, question: AnyQuestion) -> bool:
    roles = exercises.get_table(question).schema.roles
    return isinstance(question, RecodeQuestion) and len(_list_kept_columns(roles)) > 3


def _list_kept_columns(roles: Mapping[str, Role]) -> list[str]:
    return [name for name, role in roles.items() if role is not Role.IDENTIFIER]


def _draw_answer_field(
    exercises: ExerciseSet, attempt: Attempt, question: AnyQuestion, give: Give
) -> None:
    table = exercises.get_table(question)
    now = get_current_answer(attempt, exercises, question)
    about = f"{exercises.fingerprint}-{exercises.questions.index(question)}"
    match question:
        case RecodeQuestion():
            _draw_recode_grid(question, table, now, give, about, practice=not exercises.exam)
        case LevelsQuestion():
            _draw_levels_question(question, table, now, give, about, practice=not exercises.exam)
        case NumberQuestion():
            _draw_number_question(question, now, give, about)
            _draw_original_table(table)
        case ChoiceQuestion():
            _draw_choice_question(question, table, now, give, about)
            _draw_original_table(table)
        case _:
            assert_never(question)


def _draw_trees(exercises: ExerciseSet, question: AnyQuestion) -> None:
    if question.needed_metric is None and not getattr(question, "levels", None):
        return
    metric = question.needed_metric or "nllm"
    table = exercises.get_table(question)
    pictures = state.get_or_compute(
        "exercise-trees", (exercises.fingerprint, question.table, metric),
        lambda: draw_trees(table, metric_named(metric)),
    )  # fmt: skip
    title = metric_named(metric).card.title
    for picture in pictures:
        caption = f"{picture.name}: the cost of each step, measured by {title}"
        st.markdown(escape_markdown(caption))
        alt = f"Tree of {strip_for_screen_reader(picture.name)}"
        st.image(picture.svg, width=picture.width, alt=alt)
        if picture.left_out:
            left_out = count_noun(picture.left_out, "value", "values")
            st.caption(f"Not drawn: {left_out} that no record has.")


# --- recoding by hand -----------------------------------------------------------------------
def _draw_recode_grid(
    question: RecodeQuestion, table: SmallTable, now: Any, give: Give, about: str, practice: bool
) -> None:
    hand = measure_hand_recoding(question, table, now)
    if practice:
        _show_hand_result(question, hand)
    columns = table.classes.attributes
    others = [name for name in _list_kept_columns(table.schema.roles) if name not in columns]
    first = len(columns) + practice
    count = first + len(others)
    st.html(_format_grid_style(count))
    with st.container(gap="xxsmall", key="exercise-grid"):
        head = st.columns(count, vertical_alignment="bottom", gap="small")
        for cell, name in zip(head, columns, strict=False):
            with cell:
                _draw_column_head(table, now, name, give, columns.index(name))
        if practice:
            head[len(columns)].markdown("**class**")
        for cell, name in zip(head[first:], others, strict=True):
            cell.markdown(f"**{escape_markdown(name)}**")
        for number, row in enumerate(hand.rows):
            cells = st.columns(count, vertical_alignment="center", gap="small")
            for j, (cell, name) in enumerate(zip(cells, columns, strict=False)):
                with cell:
                    _draw_value(table, now, row, name, give, f"{about}-{number}-{j}")
            if practice:
                colour, sign = ("green", "✓") if row.size >= question.k else ("red", "✗")
                cells[len(columns)].markdown(f":{colour}[**{row.letter}** · {row.size} {sign}]")
            for cell, name in zip(cells[first:], others, strict=True):
                values = table.frame[name].iloc[list(row.records)]
                cell.markdown(escape_markdown(", ".join(values)))


def _format_grid_style(count: int) -> str:
    grid, row = ".st-key-exercise-grid", '[data-testid="stHorizontalBlock"]'
    return f"""<style>
{grid} {{ overflow-x: auto; }}
{grid} {row}:has(> [data-testid="stColumn"]) {{
    flex-wrap: nowrap; min-width: {count * _WIDTH - 1}rem;
}}
{grid} [data-testid="stColumn"] {{ flex: 1 1 0; min-width: 0; }}
@media (max-width: 1270px) {{
    {grid} {row}:has(> [data-testid="stColumn"]) {{ min-width: {count * _NARROW - 1}rem; }}
}}
</style>"""


def _draw_column_head(table: SmallTable, now: Any, name: str, give: Give, place: int) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        st.markdown(f"**{escape_markdown(name)}**", width="content")
        for up, step, sign in (True, "raise", "↑"), (False, "lower", "↓"):
            st.button(
                sign,
                type="tertiary",
                help=f"{step.capitalize()} all values of {escape_markdown(name)} one step",
                key=f"exercise-{step}-{place}",
                on_click=lambda up=up: give(step_column(table, now, name, up)),
            )


def _draw_value(table: SmallTable, now: Any, row: Row, name: str, give: Give, about: str) -> None:
    records = ", ".join(str(place + 1) for place in row.records)
    st.selectbox(
        f"{strip_for_screen_reader(name)} of record {records}",
        row.choices[name],
        **attach_widget(
            f"exercise-value-{about}",
            row.values[name],
            lambda value: give(set_value(table, now, row.records, name, value)),
        ),
        label_visibility="collapsed",
    )


def _show_hand_result(question: RecodeQuestion | LevelsQuestion, hand: HandRecoding) -> None:
    classes = count_noun(hand.classes, "class", "classes")
    too_small = " :green[✓]"
    if hand.small_classes:
        too_small = f", :red[{hand.small_classes} too small ✗]"
    k_and_alteration = (
        f"smallest class **{hand.k}** of {question.k} · alteration **{hand.loss}** ↓ "
        f"({escape_markdown(metric_named(question.metric).card.title)})"
    )
    st.markdown(f"**{classes}**{too_small} · {k_and_alteration}")


def _draw_original_table(table: SmallTable) -> None:
    roles = table.schema.roles
    draw_small_table(table.frame.rename(columns=lambda name: f"{name} ({roles[name].value})"))


# --- the other kinds ------------------------------------------------------------------------
def _draw_levels_question(
    question: LevelsQuestion, table: SmallTable, now: Any, give: Give, about: str, practice: bool
) -> None:
    hand = measure_hand_recoding(question, table, now)
    pairs = list(zip(table.classes.attributes, table.classes.hierarchies, strict=True))
    levels = {name: _read_level(now, name, tree) for name, tree in pairs}
    highest = {name: tree.height - 1 for name, tree in pairs}
    with st.container(horizontal=True):
        draw_numbers("Level of {}, 0 to {}", levels, highest, f"exercise-level-{about}", give)
    if practice:
        _show_hand_result(question, hand)
    _draw_hand_release(question, hand, table, practice)


def _read_level(now: Any, name: str, tree: Hierarchy) -> int:
    level = now.get(name) if isinstance(now, dict) else None
    return level if type(level) is int and 0 <= level < tree.height else 0


def _draw_hand_release(
    question: LevelsQuestion, hand: HandRecoding, table: SmallTable, practice: bool
) -> None:
    columns = list(table.frame.columns)
    of_record = {record: row for row in hand.rows for record in row.records}
    rows, tints = [], {}
    for place, record in enumerate(table.frame.to_dict("records")):
        row = of_record[place]
        cells = record | row.values
        rows.append([cells[name] for name in columns])
        if practice:
            enough = row.size >= question.k
            rows[-1].append(f"{row.letter} · {row.size} {'✓' if enough else '✗'}")
            if not enough:
                tints[place] = _SMALL
    heads = [*columns, "class"] if practice else columns
    draw_small_table(pd.DataFrame(rows, columns=heads), tints)


def _draw_number_question(question: NumberQuestion, now: Any, give: Give, about: str) -> None:
    is_shown = isinstance(now, int | float) and not isinstance(now, bool) and abs(now) < _LARGEST
    st.number_input(
        "Your answer",
        value=None,
        step=1.0 if question.whole else 0.01,
        format="%g",
        **attach_widget(
            f"exercise-number-{about}", float(now) if is_shown else None, give, read=_round_whole
        ),
        width=260,
    )


def _round_whole(number: float | None) -> float | int | None:
    return int(number) if number is not None and number == int(number) else number


def _draw_choice_question(
    question: ChoiceQuestion, table: SmallTable, now: Any, give: Give, about: str
) -> None:
    options: Sequence[tuple[str, ...]] = question.options(table)
    answer = tuple(now) if isinstance(now, list) else ()
    st.radio(
        "Your answer",
        range(len(options)),
        **attach_widget(
            f"exercise-choice-{about}",
            options.index(answer) if answer in options else None,
            give,
            read=lambda place: list(options[place]),
        ),
        format_func=lambda place: escape_markdown(format_tuple(options[place])),
        index=None,
        horizontal=True,
    )
