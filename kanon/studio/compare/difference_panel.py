"""Two lines of a comparison, one minus the other."""

from collections.abc import Hashable
from dataclasses import replace

import streamlit as st

from kanon.base.formatting import thin
from kanon.charts.difference import difference_chart, difference_table, verdicts
from kanon.experiments.comparison import Comparison
from kanon.studio.session import state
from kanon.studio.session.state import bound
from kanon.studio.session.text import plain
from kanon.studio.session.work import Work
from kanon.studio.widgets.picture import PictureSettings, picture


def difference(
    work: Work, comparison: Comparison, k: int, key: Hashable, about: str, settings: PictureSettings
) -> None:
    titles = {line.name: line.title for line in comparison.lines}
    names = list(titles)
    if len(names) < 2:
        st.info("A difference needs two lines: choose another metric or strategy.")
        return
    first, second = work.compare.pair
    first = first if first in names else names[0]
    if second not in names or second == first:
        second = next(name for name in reversed(names) if name != first)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        fields = (("This one", first), ("minus this one", second))
        for place, (label, value) in enumerate(fields):
            st.selectbox(
                label,
                names,
                **bound(f"compare-pair-{place}", value, take_pair, place, (first, second)),
                format_func=lambda name: plain(titles[name]),
                width=260,
            )
        st.caption(
            ":blue[Blue]: the first is better; :orange[brown]: the second is. In percentage "
            "points; t in hundredths. "
            + (
                "Grey: what it can be over all tie seeds; undecided where that holds 0."
                if comparison.has_bands
                else "Whether more than luck is ahead shows once ties are shown."
            )
        )
    found = state.remembered(
        "difference",
        (key, first, second, k),
        lambda: (
            difference_chart(comparison, first, second, k),
            verdicts(comparison, first, second, k),
        ),
    )
    picture(
        found[0],
        lambda: difference_table(comparison, first, second),
        "difference",
        f"{about}|{first}|{second}",
        settings,
    )
    told = "\n".join(f"- {plain(one)}" for one in found[1])
    st.markdown(f"**At k = {thin(k)}**\n\n{told}")


def take_pair(place: int, pair: tuple[str, str], typed: str) -> None:
    """Copy one of the two; the one that was there takes the other's place."""
    other = pair[1 - place] if typed != pair[1 - place] else pair[place]
    new = (typed, other) if place == 0 else (other, typed)
    state.change(replace(state.work().compare, pair=new))
