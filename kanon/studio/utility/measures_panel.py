"""The part *What changed*: distributions, associations and all measures."""

import pandas as pd
import streamlit as st

from kanon.base.formatting import write_count, write_percent
from kanon.charts.associations import build_association_table, draw_associations
from kanon.charts.distributions import (
    build_distributions_table,
    draw_distribution_panels,
    draw_large_distribution,
)
from kanon.charts.query_errors import build_query_table, draw_query_errors
from kanon.charts.style import escape_label
from kanon.measures.distribution_change import Distribution
from kanon.report.loss import (
    WAY,
    Changes,
    build_loss_table,
    list_loss_measures,
    measure_changes,
    measure_loss_ends,
)
from kanon.run import Run
from kanon.studio.session import state
from kanon.studio.session.findings import AnonymisationResult
from kanon.studio.session.state import attach_widget
from kanon.studio.session.work import SessionState
from kanon.studio.utility.changes import (
    build_change_numbers,
    describe_association,
    describe_distributions,
    describe_most_changed,
    describe_queries,
    explain_changes,
    list_association_notes,
)
from kanon.studio.utility.state import UtilityView
from kanon.studio.widgets.files import draw_code_buttons
from kanon.studio.widgets.picture import PictureSettings, draw_data_button, show_picture
from kanon.studio.widgets.result import draw_in_columns


def show_measures(work: SessionState, result: AnonymisationResult, run: Run, k: int) -> None:
    about = f"{result.settings}|{k}"
    changes = state.get_or_compute("changed", about, lambda: measure_changes(run))
    st.markdown(describe_distributions(changes))
    settings = PictureSettings.from_run(work, run.prepared, k)
    large = _show_distributions(work, changes, about, k, settings)
    draw_in_columns(build_change_numbers(run, changes))
    _show_associations(changes, about, settings)
    _show_moments(changes, about)
    show_picture(
        draw_query_errors(changes.queries, describe_queries(changes)),
        lambda: build_query_table(changes.queries, run.recoding.classes.attributes),
        "utility-queries",
        f"{about}|queries",
        settings,
    )
    _show_all_measures(result, run, about)
    with st.expander("How it is computed", icon=":material/calculate:"):
        st.markdown(explain_changes(run, changes, large))
        draw_code_buttons("utility", lambda: run.prepared.plan)


def _show_distributions(
    work: SessionState, changes: Changes, about: str, k: int, settings: PictureSettings
) -> Distribution:
    """Draw a small panel per column and a large one; returns the large one."""
    distributions = changes.distributions
    most = distributions[0]
    show_picture(
        draw_distribution_panels(
            distributions,
            f"k = {write_count(k)}: {escape_label(describe_most_changed(changes), 90)}",
        ),
        lambda: build_distributions_table(distributions),
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
        **attach_widget(
            f"utility-attribute-{work.version}", attribute, "attribute", into=UtilityView
        ),
        width=320,
    )
    large = by_name[attribute]
    show_picture(
        draw_large_distribution(
            large,
            f"{escape_label(large.name)}: changed by "
            f"{write_percent(100 * large.total_variation)} under equal spread",
        ),
        None,
        "utility-distribution",
        about,
        settings,
        original=True,
    )
    return large


def _show_associations(changes: Changes, about: str, settings: PictureSettings) -> None:
    notes = list_association_notes(changes)
    if notes:
        st.caption(notes)
    if not changes.before.pairs:
        return
    show_picture(
        draw_associations(
            changes.before, changes.after, escape_label(describe_association(changes), 150)
        ),
        lambda: build_association_table(changes.before, changes.after),
        "utility-associations",
        f"{about}|associations",
        settings,
    )


def _show_moments(changes: Changes, about: str) -> None:
    if not changes.moments:
        return
    table = pd.DataFrame(changes.moments).rename(columns=str.capitalize)
    st.markdown("**Numbers before and after**")
    st.dataframe(table, height=38 + 35 * min(len(table), 8), hide_index=True, key="utility-moments")
    st.caption(
        "Numeric quasi-identifiers, also with numeric sensitive columns. A released number counts "
        "as it is written, a group or range as the middle of its ends. Suppressed records and "
        "missing cells are left out."
    )
    draw_data_button("Data", lambda: table, "utility-moments", f"{about}|moments", kind="tertiary")


def _show_all_measures(result: AnonymisationResult, run: Run, about: str) -> None:
    ends = state.get_or_compute("ends", result.settings, lambda: measure_loss_ends(run.prepared))
    table = state.get_or_compute(
        "overview", about, lambda: build_loss_table(list_loss_measures(run, ends))
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
        "Click a column header to sort. Blank: not defined for this release. The Privacy page "
        "shows how well the release protects people."
    )
    draw_data_button(
        "Data", lambda: table, "utility-measures", f"{about}|measures", kind="tertiary"
    )
