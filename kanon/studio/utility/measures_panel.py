"""The part *What changed*: distributions, associations and all measures."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from kanon.base.formatting import (
    count_noun,
    write_count,
    write_percent,
)
from kanon.base.how_texts import Sections
from kanon.base.rounding import write_decimals
from kanon.base.sentences import describe_query_error
from kanon.charts.associations import build_association_table, draw_associations
from kanon.charts.distributions import (
    build_distributions_table,
    draw_distribution_panels,
    draw_large_distribution,
)
from kanon.charts.query_errors import build_query_table, draw_query_errors
from kanon.charts.style import escape_label
from kanon.measures import association_change, distribution_change, query_error
from kanon.measures.association_change import strongest
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
from kanon.studio.session.text import escape_markdown
from kanon.studio.session.work import SessionState
from kanon.studio.utility.state import UtilityView
from kanon.studio.widgets.files import draw_code_buttons
from kanon.studio.widgets.numbers import Number
from kanon.studio.widgets.picture import PictureSettings, draw_data_button, show_picture
from kanon.studio.widgets.result import draw_in_columns

_how = Sections(__file__)


# --- sentences ------------------------------------------------------------------------------
def describe_spread(changes: Changes) -> str:
    sentence = "A released value counts as each of its possible values with equal chance."
    suppressed = changes.distributions[0].suppressed
    if not suppressed:
        return sentence
    records = count_noun(suppressed, "suppressed record has", "suppressed records have")
    return f"{sentence} {records} no value at all, which counts in every column."


def describe_largest_change(changes: Changes) -> str:
    shares = [column.total_variation for column in changes.distributions]
    least, most = (write_percent(100 * share) for share in (min(shares), max(shares)))
    return f"columns changed by {least} to {most} under equal spread"


def describe_association(changes: Changes) -> str:
    pair = strongest(changes.before, changes.after)
    if pair is None:
        return "All columns are associated as before"
    digits = ".2f" if abs(pair.after - pair.before) >= 0.01 else ".4f"
    before, after = f"{pair.before:{digits}}", f"{pair.after:{digits}}"
    if before == after:
        return "All columns are associated as before, to four digits"
    verb = "less" if pair.after < pair.before else "more"
    values = f"Cramér's V {before} before, {after} after"
    return f"{pair.one} and {pair.other} say {verb} about each other: {values}"


def list_association_notes(changes: Changes) -> str:
    associations, notes = changes.before, []
    if associations.near_unique:
        notes.append(
            f"Left out for having fewer than {association_change.RECORDS_PER_VALUE} "
            f"records per value on average: {_list_some(associations.near_unique)}. "
            "Nearly unique columns seem to be associated with everything."
        )
    if associations.left_out:
        pairs = [" × ".join(pair) for pair in associations.left_out]
        most = write_count(association_change.MOST_PAIRS)
        notes.append(f"Left out for having more than {most} pairs of values: {_list_some(pairs)}.")
    if associations.binned:
        notes.append(
            f"Numeric columns in {association_change.BINS} bins with equal numbers of original "
            f"records: {_list_some(associations.binned)}."
        )
    if not associations.pairs:
        notes.append("No two columns are left to compare.")
    return " ".join(notes)


def _list_some(names: Sequence[str]) -> str:
    more = [f"and {count_noun(len(names) - 4, 'other')}"] if len(names) > 4 else []
    return escape_markdown(" ".join([", ".join(names[:4]), *more]))


def describe_queries(changes: Changes) -> str:
    queries = changes.queries
    return (
        f"Half of {write_count(len(queries.errors))} counts are off by at most "
        f"{write_percent(queries.quantile(0.5))}, nine of ten "
        f"by at most {write_percent(queries.quantile(0.9))}"
    )


def build_change_numbers(run: Run, changes: Changes) -> list[Number]:
    association = run.measures[association_change.CARD.name]
    median, last = changes.queries.quantile(0.5), changes.queries.quantile(0.9)
    half = describe_query_error(median, "Half")
    return [
        Number(
            f"Distribution change {distribution_change.CARD.arrow}",
            write_percent(100 * run.measures[distribution_change.CARD.name]),
            distribution_change.CARD.summary,
        ),
        Number(
            f"Association change {association_change.CARD.arrow}",
            f"{write_decimals(association, 3)} of 1" if association is not None else "–",
            association_change.CARD.summary,
        ),
        Number(
            f"Query error, median {query_error.CARD.arrow}",
            write_percent(median),
            f"{half} {query_error.CARD.summary}",
        ),
        Number(
            f"Query error, 9 of 10 {query_error.CARD.arrow}",
            write_percent(last),
            describe_query_error(last, "Nine of ten") + " " + "One in ten is off by more.",
        ),
    ]


def explain_changes(changes: Changes) -> str:
    of_ranges = changes.queries.queries.of_ranges
    return "\n\n".join(
        [
            _how("spread"),
            _how("distribution", source=escape_markdown(distribution_change.CARD.source)),
            _how(
                "associations",
                bins=association_change.BINS,
                fewest=association_change.RECORDS_PER_VALUE,
                number=write_count(changes.before.pairs),
                source=escape_markdown(association_change.CARD.source),
            ),
            _how(
                "queries",
                all=write_count(len(of_ranges)),
                ranges=write_count(int(of_ranges.sum())),
                cells=write_count(int((~of_ranges).sum())),
                source=escape_markdown(query_error.CARD.source),
            ),
            _how("root"),
        ]
    )


def show_measures(work: SessionState, result: AnonymisationResult, run: Run, k: int) -> None:
    about = f"{result.settings}|{k}"
    changes = state.get_or_compute("changed", about, lambda: measure_changes(run))
    st.caption(describe_spread(changes))
    settings = PictureSettings.from_run(work, run.prepared, k)
    _show_distributions(work, changes, about, k, settings)
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
        st.markdown(explain_changes(changes))
        draw_code_buttons("utility", lambda: run.prepared.plan)


def _show_distributions(
    work: SessionState, changes: Changes, about: str, k: int, settings: PictureSettings
) -> None:
    """Draw a small panel per column and a large one."""
    distributions = changes.distributions
    show_picture(
        draw_distribution_panels(
            distributions,
            f"k = {write_count(k)}: {describe_largest_change(changes)}",
        ),
        lambda: build_distributions_table(distributions),
        "utility-distributions",
        f"{about}|distributions",
        settings,
        original=True,
    )
    if len(distributions) == 1:
        return
    by_name = {large.name: large for large in distributions}
    attribute = work.view(UtilityView).attribute
    if attribute not in by_name:
        attribute = distributions[0].name
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
