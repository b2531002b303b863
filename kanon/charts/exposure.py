"""How exposed a table is: class sizes, and what singles people out, alone or together."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kanon.base.formatting import write_count, write_percent
from kanon.charts.style import (
    BLUE,
    ROLE_COLOURS,
    draw_bars,
    escape_label,
    name_first,
    set_common_look,
)
from kanon.schema import Role
from kanon.sources.exposure import Exposure
from kanon.sources.singling_out import SinglingOut

_COLUMNS = 10  # so many columns are drawn, those that add most
_BANDS = ((1, 1), (2, 2), (3, 4), (5, 9), (10, 19), (20, 99), (100, 999), (1000, None))


def build_class_size_table(exposure: Exposure) -> pd.DataFrame:
    """The records or persons by the size of their smallest equivalence class, in bands.

    >>> seen = Exposure("records", 5, np.array([1, 3]), np.array([2, 1]), np.array([2, 3]))
    >>> build_class_size_table(seen)["records"].tolist()[:3]
    [2, 0, 3]
    """
    rows = []
    for low, high in _BANDS:
        inside = (exposure.sizes >= low) & (exposure.sizes <= (high or np.inf))
        name = (
            write_count(low)
            if low == high
            else f"{write_count(low)}–{write_count(high)}"
            if high
            else f"≥ {write_count(low)}"
        )
        rows.append(
            (name, int(exposure.classes[inside].sum()), int(exposure.members[inside].sum()))
        )
    return pd.DataFrame(rows, columns=["class size", "classes", exposure.of])


def draw_class_sizes(exposure: Exposure) -> go.Figure:
    """A bar per class size: how many records or persons are in classes of that size."""
    table = build_class_size_table(exposure)
    largest = table.index[table["classes"] > 0].max()
    table = table.loc[:largest]
    colours = [ROLE_COLOURS["identifier"] if name == "1" else BLUE for name in table["class size"]]
    figure = go.Figure()
    figure.add_bar(
        x=table["class size"],
        y=table[exposure.of],
        marker_color=colours,
        customdata=table["classes"],
        hovertemplate=f"%{{y:,}} {exposure.of} in %{{customdata:,}} classes<extra></extra>",
    )
    title = (
        f"{write_count(exposure.unique)} of {write_count(exposure.number)} {exposure.of} are unique"
    )
    set_common_look(figure, title, height=230)
    figure.update_layout(hovermode="closest")
    figure.update_xaxes(
        title="Class size: records that look the same"
        if exposure.of == "records"
        else "Smallest class of a person: persons that look the same",
        type="category",
        tickangle=0,
        tickfont={"size": 11},
    )
    return figure.update_yaxes(title=exposure.of.capitalize())


def build_singling_out_table(unique_without: Mapping[str, int], exposure: Exposure) -> pd.DataFrame:
    """How many fewer are unique when one quasi-identifier is left out.

    >>> five = Exposure("records", 5, np.array([1]), np.array([5]), np.array([5]))
    >>> build_singling_out_table({"age": 1, "sex": 4}, five)["fewer unique records"].tolist()
    [1, 4]
    """
    falls = sorted((exposure.unique - count, name) for name, count in unique_without.items())
    return pd.DataFrame(
        [(name, fall, exposure.unique - fall) for fall, name in falls],
        columns=["without column", f"fewer unique {exposure.of}", f"unique {exposure.of} left"],
    )


def draw_singling_out(unique_without: Mapping[str, int], exposure: Exposure) -> go.Figure:
    """A bar per column, of many the longest: how many fewer records are unique without it."""
    falls = build_singling_out_table(unique_without, exposure)
    fewer = falls[f"fewer unique {exposure.of}"]
    names = [escape_label(name, 24) for name in falls["without column"]]
    most = max(1, fewer.max())
    alike = int((fewer == most).sum())
    title = f"{names[-1]} singles people out most" if alike == 1 else "No column stands out"
    if 1 < alike < len(names):
        title = f"{name_first(names[-alike:][::-1])} single people out most"
    few = f"; {_COLUMNS} of {len(names)} columns" if len(names) > _COLUMNS else ""
    figure = draw_bars(
        title,
        names[-_COLUMNS:],
        left=150,
        x=fewer[-_COLUMNS:],
        marker_color=ROLE_COLOURS["quasi-identifier"],
        hovertemplate=f"Without it, %{{x:,}} fewer {exposure.of} are unique<extra></extra>",
    )
    return figure.update_xaxes(
        title=f"Fewer unique {exposure.of} without it{few}", range=[0, 1.05 * most]
    )


def build_sets_table(study: SinglingOut) -> pd.DataFrame:
    """The smallest sets of columns, each with the records or persons that it singles out.

    >>> from kanon.sources.memory import MemoryTable
    >>> from kanon.sources.singling_out import singling_out
    >>> people = pd.DataFrame({"sex": list("FFMM"), "age": [1, 2, 1, 2]})
    >>> build_sets_table(singling_out(MemoryTable(people))).to_dict("records")[0]["columns"]
    'sex + age'
    """
    rows = [
        (
            " + ".join(column_set.columns),
            len(column_set.columns),
            column_set.singled_out,
            100 * column_set.singled_out / study.number,
        )
        for column_set in study.sets
    ]
    return pd.DataFrame(rows, columns=["columns", "number of columns", *_name_count_columns(study)])


def build_contributions_table(study: SinglingOut) -> pd.DataFrame:
    """Per column the most records or persons that a set singles out only because of it."""
    rows = [
        (adds.column, adds.sets, adds.singled_out, 100 * adds.singled_out / study.number)
        for adds in study.contributions
    ]
    return pd.DataFrame(rows, columns=["column", "sets", *_name_count_columns(study)])


def _name_count_columns(study: SinglingOut) -> tuple[str, str]:
    return study.of, f"percent of {study.of}"


def draw_contributions(study: SinglingOut, roles: Mapping[str, Role]) -> go.Figure:
    """A bar per column, coloured by role: the most that it adds to a set's singling out, in %."""
    table = build_contributions_table(study).head(_COLUMNS).iloc[::-1]
    singled_out, percentage = _name_count_columns(study)
    column_roles = [roles.get(name, Role.INSENSITIVE) for name in table["column"]]
    names = [escape_label(name, 20) for name in table["column"]]
    most = table[percentage].max() if names else 1
    first = [name for name, adds in zip(names, table[percentage], strict=True) if adds == most]
    title = f"No column singles out enough {study.of}"
    if names:
        title = f"{name_first(first[::-1])} {'adds' if len(first) == 1 else 'add'} most"
    figure = draw_bars(
        title,
        names,
        left=140,
        x=table[percentage],
        marker_color=[ROLE_COLOURS[role.value] for role in column_roles],
        text=[  # the role in words, too
            f"{write_percent(share)}, {role.value}"
            for share, role in zip(table[percentage], column_roles, strict=True)
        ],
        customdata=table[["sets", singled_out]],
        hovertemplate="In %{customdata[0]:,} sets; without this column, one of them singles out "
        f"%{{customdata[1]:,}} fewer {study.of}<extra></extra>",
    )
    return figure.update_xaxes(
        title=f"Most {study.of} that one set singles out only with this column, % of all",
        range=[0, 1.3 * most],
    )
