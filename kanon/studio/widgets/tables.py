"""Tables: the first rows, tinted by role or by what a release changed; tables to edit."""

import itertools
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st
from pandas.api.types import is_float_dtype
from pandas.io.formats.style import Styler

from kanon.run import Run
from kanon.schema import SUPPRESSED, Role
from kanon.sources.rows import name_missing_cells
from kanon.sources.tables import Table
from kanon.studio.jobs.stored_table import count_preview_rows
from kanon.studio.session import state

_TINTS: Mapping[Role, str] = {
    Role.IDENTIFIER: "rgba(192, 57, 43, 0.14)",
    Role.QUASI_IDENTIFIER: "rgba(185, 119, 14, 0.16)",
    Role.SENSITIVE: "rgba(125, 60, 152, 0.14)",
    Role.INSENSITIVE: "rgba(112, 123, 124, 0.10)",
}


def get_preview_height(run: Run) -> int:
    """Pixels for a preview, without empty rows under a small table."""
    return min(320, 38 + 35 * run.prepared.classes.n_records)


def highlight_roles(table: Table, roles: Mapping[str, Role]) -> Styler:
    top = table.head(count_preview_rows(table.n_records, len(table.columns)))
    tints = pd.DataFrame(
        {name: [f"background-color: {_TINTS[roles[name]]}"] * len(top) for name in top.columns},
        index=top.index,
    )
    return _format_rows(top).apply(lambda _: tints.set_axis(range(len(top))), axis=None)


def build_before_and_after(
    run: Run, most: int | None = None, position: int | None = None
) -> tuple[Styler | pd.DataFrame, Styler]:
    """Rows of the original and of the release; the further a cell rose, the stronger its tint.

    Identifiers are shown in neither: they never reach a release. Nor are suppressed records, unless
    the plan keeps their rows: so both tables show the same records, row by row. ``position`` picks
    one released class.
    """
    prepared = run.prepared
    if most is None:
        most = count_preview_rows(prepared.classes.n_records, len(prepared.plan.columns))
    seen = prepared.source.get_excerpt(run.recoding, most, position)
    after, rise = seen.after, seen.rise
    attributes = list(prepared.classes.attributes)
    others = [column for column in after.columns if column not in attributes]
    columns = [*attributes, *others]
    before = seen.before[[name for name in columns if name != SUPPRESSED]]
    tints = {name: [_get_tint(share) for share in rise[:, j]] for j, name in enumerate(attributes)}
    untouched = dict.fromkeys(others, "")
    colours = pd.DataFrame({**tints, **untouched}, index=range(len(after)), columns=columns)
    tinted = _format_rows(after[columns]).apply(lambda _: colours, axis=None)
    return _drop_idle_styler(_format_rows(before)), tinted


def _get_tint(share: float) -> str:
    return f"background-color: rgba(0, 114, 178, {0.15 + 0.55 * share:.2f})" if share > 0 else ""


def _format_rows(rows: pd.DataFrame) -> Styler:
    """Number rows from 0, as a styler needs unique labels; write 0.5, not 0.500000."""
    rows_numbered = name_missing_cells(rows.reset_index(drop=True))
    return rows_numbered.style.format(str, subset=_list_decimal_columns(rows_numbered))


def _drop_idle_styler(styled: Styler) -> Styler | pd.DataFrame:
    """The plain rows of what is not tinted, unless numbers need it: to draw one takes long."""
    return styled if _list_decimal_columns(styled.data) else styled.data


def _list_decimal_columns(rows: pd.DataFrame) -> list[Hashable]:
    return [name for name, kind in rows.dtypes.items() if is_float_dtype(kind)]


_numbers = itertools.count()


@dataclass
class EditedTable:
    """The table without edits, the editor's start, and its current content."""

    table_without_edits: pd.DataFrame
    began: pd.DataFrame
    current_table: pd.DataFrame
    key: str


def draw_typed_table(
    name: str, key: Hashable, fresh: Callable[[], pd.DataFrame], **how: Any
) -> EditedTable:
    """Draw a table to edit, with rows to add and remove; a new ``key`` starts afresh."""

    def begin() -> EditedTable:
        table = fresh()
        return EditedTable(table, table, table, f"draft-{next(_numbers)}")

    draft = state.get_or_compute(f"draft-{name}", key, begin)
    # An editor keeps its edits under its key.
    if state.get_widget_value(draft.key) is None:
        # A new editor on the page begins with what was typed before the page was left.
        draft.began = draft.current_table.reset_index(drop=True)
    draft.current_table = st.data_editor(
        draft.began, key=draft.key, num_rows="dynamic", hide_index=True, width="stretch", **how
    )
    return draft


def draw_table_editor(
    name: str,
    key: Hashable,
    fresh: Callable[[], pd.DataFrame],
    apply: Callable[[pd.DataFrame], None],
) -> None:
    buttons = st.container(horizontal=True, vertical_alignment="center")
    draft = draw_typed_table(name, key, fresh, height=420)
    changed = not draft.current_table.equals(draft.table_without_edits)
    with buttons:
        st.button(
            "Apply the table",
            type="primary" if changed else "secondary",
            disabled=not changed,
            key=f"{draft.key}-apply",
            on_click=lambda: apply(draft.current_table),
        )
        st.button(
            "Discard the changes",
            disabled=not changed,
            key=f"{draft.key}-forget",
            on_click=state.clear_cache_entry,
            args=(f"draft-{name}",),
        )
