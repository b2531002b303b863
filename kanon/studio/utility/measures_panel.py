"""The part *What changed*: distributions, associations and all measures."""

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


def show_measures(work: Work, result: Result, run: Run, k: int) -> None:
    about = f"{result.settings}|{k}"
    changes = state.remembered("changed", about, lambda: changed_by(run))
    st.markdown(distribution_sentence(changes))
    settings = PictureSettings.of_run(work, run.prepared, k)
    large = _show_distributions(work, changes, about, k, settings)
    in_columns(of_change(run, changes))
    _show_associations(changes, about, settings)
    picture(
        query_chart(changes.queries, query_sentence(changes)),
        lambda: query_table(changes.queries, run.recoding.classes.attributes),
        "utility-queries",
        f"{about}|queries",
        settings,
    )
    _show_all_measures(result, run, about)
    with st.expander("How it is computed", icon=":material/calculate:"):
        st.markdown(how_changed(run, changes, large))


def _show_distributions(
    work: Work, changes: Changes, about: str, k: int, settings: PictureSettings
) -> Distribution:
    """Draw a small panel per column and a large one; returns the large one."""
    distributions = changes.distributions
    most = distributions[0]
    picture(
        distribution_panels(distributions, f"k = {thin(k)}: {escaped(changed_most(changes), 90)}"),
        lambda: distributions_table(distributions),
        "utility-distributions",
        f"{about}|distributions",
        settings,
        original=True,
    )
    if len(distributions) == 1:
        return most
    by_name = {large.name: large for large in distributions}
    attribute = work.view(UtilityView).attribute
    if attribute not in by_name:
        attribute = most.name
    st.selectbox(
        "Zoom in on",
        list(by_name),
        **bound(f"utility-attribute-{work.version}", attribute, "attribute", into=UtilityView),
        width=320,
    )
    large = by_name[attribute]
    picture(
        distribution_large(
            large,
            f"{escaped(large.name)}: changed by {percent(100 * large.total_variation)} under equal "
            "spread",
        ),
        None,
        "utility-distribution",
        about,
        settings,
        original=True,
    )
    return large


def _show_associations(changes: Changes, about: str, settings: PictureSettings) -> None:
    notes = association_notes(changes)
    if notes:
        st.caption(notes)
    if not changes.before.pairs:
        return
    picture(
        association_chart(
            changes.before, changes.after, escaped(association_sentence(changes), 150)
        ),
        lambda: association_table(changes.before, changes.after),
        "utility-associations",
        f"{about}|associations",
        settings,
    )


def _show_all_measures(result: Result, run: Run, about: str) -> None:
    ends = state.remembered("ends", result.settings, lambda: ends_of(run.prepared))
    columns = [sensitive.name for sensitive in run.prepared.classes.sensitive]
    table = state.remembered(
        "overview", about, lambda: overview_table(overview_of(run, ends), columns)
    )
    st.markdown("**All measures of this release**")
    numbers = {
        name: st.column_config.NumberColumn(format="%g", help=help_text)
        for name, help_text in (
            ("Before", "The original table."),
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
            "Better": st.column_config.TextColumn(help="Which direction is better.", width=60),
            WAY: st.column_config.ProgressColumn(
                format="%.1f %%",
                min_value=0,
                max_value=100,
                help="0 %: as in the original table. 100 %: as with everything at its root.",
            ),
        },
    )
    st.caption(
        "Click a column header to sort. Blank: not defined for this release. The page Privacy "
        "shows how well the release protects people."
    )
    data_button("Data", lambda: table, "utility-measures", f"{about}|measures", kind="tertiary")
