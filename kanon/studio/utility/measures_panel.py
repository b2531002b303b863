"""What changed: the part of the page Utility about distributions, associations and measures."""

import streamlit as st

from kanon.base.formatting import percent, thin
from kanon.charts.associations import association_chart, association_table
from kanon.charts.distributions import distribution_large, distribution_panels, distributions_table
from kanon.charts.query_errors import query_chart, query_table
from kanon.charts.style import escaped
from kanon.measures.distribution_change import Distribution
from kanon.report.loss import ends_of, overview_of
from kanon.run import Run
from kanon.studio.session import state
from kanon.studio.session.findings import Result
from kanon.studio.session.state import bound
from kanon.studio.session.work import Work
from kanon.studio.utility.changes import (
    WAY,
    Changes,
    association_notes,
    association_sentence,
    changed_by,
    changed_most,
    distribution_sentence,
    how_changed,
    of_change,
    overview_table,
    query_sentence,
)
from kanon.studio.utility.state import UtilityView
from kanon.studio.widgets.picture import PictureSettings, data_button, picture
from kanon.studio.widgets.result import in_columns


def show_measures(work: Work, result: Result, done: Run, k: int) -> None:
    about = f"{result.settings}|{k}"
    changed = state.remembered("changed", about, lambda: changed_by(done))
    st.markdown(distribution_sentence(changed))
    settings = PictureSettings.of_run(work, done.prepared, k)
    shown = _distributions(work, changed, about, k, settings)
    in_columns(of_change(done, changed))
    _associations(changed, about, settings)
    picture(
        query_chart(changed.queries, query_sentence(changed)),
        lambda: query_table(changed.queries, done.recoding.classes.attributes),
        "utility-queries",
        f"{about}|queries",
        settings,
    )
    _all_measures(result, done, about)
    with st.expander("How it is computed", icon=":material/calculate:"):
        st.markdown(how_changed(done, changed, shown))


def _distributions(
    work: Work, changed: Changes, about: str, k: int, settings: PictureSettings
) -> Distribution:
    """A small panel per column, and one of them large; returns that one."""
    found = changed.distributions
    most = found[0]
    picture(
        distribution_panels(found, f"k = {thin(k)}: {escaped(changed_most(changed), 90)}"),
        lambda: distributions_table(found),
        "utility-distributions",
        f"{about}|distributions",
        settings,
        original=True,
    )
    if len(found) == 1:
        return most
    by_name = {one.name: one for one in found}
    chosen = work.view(UtilityView).attribute
    if chosen not in by_name:
        chosen = most.name
    st.selectbox(
        "Look closer at",
        list(by_name),
        **bound(f"utility-attribute-{work.version}", chosen, "attribute", into=UtilityView),
        width=320,
    )
    one = by_name[chosen]
    picture(
        distribution_large(
            one,
            f"{escaped(one.name)}: changed by {percent(100 * one.total_variation)} under equal "
            "spread",
        ),
        None,
        "utility-distribution",
        about,
        settings,
        original=True,
    )
    return one


def _associations(changed: Changes, about: str, settings: PictureSettings) -> None:
    said = association_notes(changed)
    if said:
        st.caption(said)
    if not changed.before.pairs:
        return
    picture(
        association_chart(
            changed.before, changed.after, escaped(association_sentence(changed), 150)
        ),
        lambda: association_table(changed.before, changed.after),
        "utility-associations",
        f"{about}|associations",
        settings,
    )


def _all_measures(result: Result, done: Run, about: str) -> None:
    ends = state.remembered("ends", result.settings, lambda: ends_of(done.prepared))
    columns = [each.name for each in done.prepared.classes.sensitive]
    table = state.remembered(
        "overview", about, lambda: overview_table(overview_of(done, ends), columns)
    )
    st.markdown("**All measures of this release**")
    numbers = {
        name: st.column_config.NumberColumn(format="%g", help=said)
        for name, said in (
            ("Before", "The original table: the release that changes nothing."),
            ("After", "This release."),
            ("All at root", "Every quasi-identifier of every record at its root."),
        )
    }
    st.dataframe(
        table,
        height=38 + 35 * min(len(table), 12),
        hide_index=True,
        key="utility-overview",
        column_config={
            **numbers,
            "Measure": st.column_config.TextColumn(pinned=True),
            "Better": st.column_config.TextColumn(help="Which way is better.", width=60),
            WAY: st.column_config.ProgressColumn(
                format="%.1f %%",
                min_value=0,
                max_value=100,
                help="0 %: as in the original table. 100 %: as with everything at its root.",
            ),
        },
    )
    st.caption(
        "Click on a head to sort. Blank: not defined for this release. What a release "
        "protects is on the page Privacy."
    )
    data_button("Data", lambda: table, "utility-measures", f"{about}|measures", kind="tertiary")
