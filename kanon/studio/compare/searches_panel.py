"""The three searches of the lattice on the page Compare."""

from functools import partial

import streamlit as st

from kanon.charts.searches import (
    claims_said,
    over_columns_chart,
    over_columns_table,
    over_k_chart,
    over_k_table,
)
from kanon.errors import KanonError
from kanon.experiments.searches import Searches, check_searches
from kanon.studio.compare.searches import (
    columns_table,
    current_searches,
    how_searches,
    lattice_said,
    limit_said,
    searches_request,
    settings_of_searches,
)
from kanon.studio.session import state
from kanon.studio.session.changed_settings import changed_since
from kanon.studio.session.text import plain
from kanon.studio.session.work import Work
from kanon.studio.widgets.picture import PictureSettings, begun_with, data_button, picture
from kanon.studio.widgets.progress import begin_button
from kanon.studio.widgets.result import fade


def show_searches(work: Work) -> None:
    try:
        settings = settings_of_searches(work)
        check_searches(list(work.table.trees.values()), work.table.complete_records.n_records)
    except KanonError as error:
        st.info(plain(error.sentence))
        return
    found, label = current_searches(work, settings), "Run the three searches"
    with st.container(horizontal=True, vertical_alignment="center", key="searches-run"):
        begin_button("searches", label, searches_request, first=found is None)
        st.caption(lattice_said(work), width="stretch")
    shown = found
    if shown is None and work.findings.searched is not None:
        shown = work.findings.searched.searches
    if shown is None and "searches" not in work.running:
        st.info(
            "Datafly, Samarati and Improved greedy have not been run against each other on "
            "this table yet. They are run over k, and over the number of quasi-identifiers "
            "at k = 10."
        )
    if shown is not None:
        since = partial(changed_since, work, "searches", settings_of_searches)
        fade("searches-shown", label, found is None, "searches" in work.running, since)
        with st.container(key="searches-shown"):
            assert work.findings.searched is not None
            _results(shown, work.findings.searched.settings)
    with st.expander("How it is computed"):
        st.markdown(how_searches(work))


def _results(found: Searches, about: str) -> None:
    about = f"{about}|{found.over_k['seconds'].sum()}"  # every run takes another time
    drawn = state.remembered("searches-k", about, lambda: over_k_chart(found))
    then = begun_with(state.work(), "searches")
    picture(
        drawn, lambda: over_k_table(found), "searches-over-k", about, PictureSettings.of_table(then)
    )
    claim = (
        "**What is said of Improved greedy** (Babu et al. 2013, in our words): it rises clearly "
        "fewer levels than Datafly and about as many as Samarati, loses about as much as "
        "Samarati, which should lose least, and far less than Datafly; it takes about as long as "
        "Datafly and much less time than Samarati. **On this table:**"
    )
    st.markdown("\n".join([f"{claim}\n", *(f"- {one}" for one in claims_said(found))]))
    st.caption(limit_said(found))
    if found.lacking:
        left_out = "The experiment over the number of quasi-identifiers is left out."
        st.info(plain(f"{left_out} {found.lacking}"))
        return
    if found.over_columns["columns"].nunique() > 1:
        drawn = state.remembered("searches-columns", about, lambda: over_columns_chart(found))
        picture(
            drawn, None, "searches-over-columns", about, PictureSettings.of_table(then, "k = 10")
        )
    st.caption("Nodes evaluated, of at most so many, at k = 10, and the lattice they are in.")
    st.table(columns_table(found))
    data_button(
        "Data over quasi-identifiers", lambda: over_columns_table(found),
        "searches-over-quasi-identifiers", about, kind="tertiary",
    )  # fmt: skip
