"""Which columns single records or persons out together, and what each column adds to a set."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import plotly.graph_objects as go

from kanon.base.formatting import percent
from kanon.charts.style import ROLE_COLOURS, escaped, first_named, lay_out
from kanon.schema import Role
from kanon.sources.singling_out import SinglingOut

_MOST = 10  # so many columns are drawn, those that add most


def sets_table(found: SinglingOut) -> pd.DataFrame:
    """The smallest sets of columns, each with the records or persons that it singles out.

    >>> from kanon.sources.memory import MemoryTable
    >>> from kanon.sources.singling_out import singling_out
    >>> people = pd.DataFrame({"sex": list("FFMM"), "age": [1, 2, 1, 2]})
    >>> sets_table(singling_out(MemoryTable(people))).to_dict("records")[0]["columns"]
    'sex + age'
    """
    rows = [
        (
            " + ".join(one.columns),
            len(one.columns),
            one.singled_out,
            100 * one.singled_out / found.number,
        )
        for one in found.sets
    ]
    return pd.DataFrame(rows, columns=["columns", "number of columns", *_counted(found)])


def contributions_table(found: SinglingOut) -> pd.DataFrame:
    """Per column the most records or persons that a set singles out and would not without it."""
    rows = [
        (one.column, one.sets, one.singled_out, 100 * one.singled_out / found.number)
        for one in found.contributions
    ]
    return pd.DataFrame(rows, columns=["column", "sets", *_counted(found)])


def _counted(found: SinglingOut) -> tuple[str, str]:
    """The names of the columns that hold how many are singled out, and which share of all."""
    return found.of, f"percent of {found.of}"


def contributions_chart(found: SinglingOut, roles: Mapping[str, Role]) -> go.Figure:
    """What each column adds to one of the sets at most, in the colour of its role."""
    table = contributions_table(found).head(_MOST).iloc[::-1]
    singled_out, percentage = _counted(found)
    given = [roles.get(name, Role.INSENSITIVE) for name in table["column"]]
    names = [escaped(name, 20) for name in table["column"]]
    figure = go.Figure()
    figure.add_bar(
        x=table[percentage],
        # Positions, not names: two long names may be shortened to the same label.
        y=list(range(len(names))),
        orientation="h",
        marker_color=[ROLE_COLOURS[role.value] for role in given],
        text=[  # the role in words, too
            f"{percent(share)}, {role.value}"
            for share, role in zip(table[percentage], given, strict=True)
        ],
        customdata=table[["sets", singled_out]],
        hovertemplate="In %{customdata[0]:,} sets; without it, one of them singles out "
        f"%{{customdata[1]:,}} {found.of} fewer<extra></extra>",
    )
    most = table[percentage].max() if names else 1
    first = [name for name, adds in zip(names, table[percentage], strict=True) if adds == most]
    title = "No column singles out enough"
    if names:
        title = f"{first_named(first[::-1])} {'adds' if len(first) == 1 else 'add'} most"
    lay_out(figure, title, height=120 + 30 * len(names))
    figure.update_layout(hovermode="closest", margin={"l": 140})
    figure.update_yaxes(tickvals=list(range(len(names))), ticktext=names)
    return figure.update_xaxes(
        title=f"{found.of.capitalize()} that a set would not single out without it, at most, "
        "% of all",
        range=[0, 1.3 * most],
    )
