"""The part *What changed*: distributions, associations and all measures."""

import pandas as pd
import streamlit as st

from kanon.base.formatting import (
    choose_plural,
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
from kanon.studio.session.text import escape_markdown, trim_title
from kanon.studio.session.work import SessionState
from kanon.studio.utility.state import UtilityView
from kanon.studio.widgets.files import draw_code_buttons
from kanon.studio.widgets.numbers import Number
from kanon.studio.widgets.picture import PictureSettings, draw_data_button, show_picture
from kanon.studio.widgets.result import draw_in_columns

_how = Sections(__file__)


# --- sentences ------------------------------------------------------------------------------
_EQUAL_SPREAD = "if a released value counts as each of its possible values with equal chance"


def describe_distributions(changes: Changes) -> str:
    most, least = changes.distributions[0], changes.distributions[-1]
    if most.total_variation == 0:
        return f"**No column changed**: every value is as frequent as before, {_EQUAL_SPREAD}."
    if len(changes.distributions) > 1 and _is_alike(most, least):
        return (
            f"**All columns changed alike**: in each, {_count_changed_records(most)} would need a "
            f"different value to match the original distribution, {_EQUAL_SPREAD}."
        )
    sentences = [
        (
            f"**{escape_markdown(most.name)} changed most**: {_count_changed_records(most)} "
            f"would need a different {escape_markdown(most.name)} "
            f"to match the original distribution, {_EQUAL_SPREAD}."
        )
    ]
    if len(changes.distributions) > 1:
        amount = (
            write_percent(100 * least.total_variation) if least.total_variation else "not at all"
        )
        sentences.append(f"{escape_markdown(least.name)} changed least ({amount}).")
    if most.suppressed:
        sentences.append(
            choose_plural(
                most.suppressed,
                "The {count} suppressed record has no value at all and counts in every column.",
                "The {count} suppressed records have no value at all and count in every column.",
            )
        )
    return " ".join(sentences)


def _count_changed_records(distribution: Distribution) -> str:
    number = distribution.total_variation * distribution.n_records
    return (
        f"{write_percent(100 * distribution.total_variation)} of the records "
        f"({'fewer than one' if number < 1 else write_count(round(number))})"
    )


def _is_alike(first: Distribution, second: Distribution) -> bool:
    return write_percent(100 * first.total_variation) == write_percent(100 * second.total_variation)


def describe_most_changed(changes: Changes) -> str:
    most, least = changes.distributions[0], changes.distributions[-1]
    if not most.total_variation:
        return "no column changed"
    share = write_percent(100 * most.total_variation)
    if len(changes.distributions) > 1 and _is_alike(most, least):
        return f"all columns changed alike, by {share} under equal spread"
    return f"{most.name} changed most, by {share} under equal spread"


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
            "records per value on average: "
            f"{_list_some([escape_markdown(name) for name in associations.near_unique])}. "
            "Nearly unique columns seem to be associated with everything."
        )
    if associations.left_out:
        pairs = [
            f"{escape_markdown(first)} × {escape_markdown(second)}"
            for first, second in associations.left_out
        ]
        most = write_count(association_change.MOST_PAIRS)
        notes.append(f"Left out for having more than {most} pairs of values: {_list_some(pairs)}.")
    if associations.binned:
        notes.append(
            f"Numeric columns in {association_change.BINS} bins with equal numbers of original "
            f"records: {_list_some([escape_markdown(name) for name in associations.binned])}."
        )
    if not associations.pairs:
        notes.append("No two columns are left to compare.")
    return " ".join(notes)


def _list_some(names: list[str]) -> str:
    first_names = ", ".join(names[:4])
    return (
        f"{first_names} and {count_noun(len(names) - 4, 'other')}"
        if len(names) > 4
        else first_names
    )


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


# --- how it is computed -----------------------------------------------------------------------
def explain_changes(run: Run, changes: Changes, large: Distribution) -> str:
    parts = [
        _explain_spread(run),
        _explain_distribution(run, changes, large),
        _explain_association(run, changes),
    ]
    return "\n\n".join([*parts, _explain_queries(run, changes), _how("root")])


def _explain_spread(run: Run) -> str:
    count = run.recoding.suppressed_records
    if not count:
        return _how("spread")
    suppressed = count_noun(count, "suppressed record has", "suppressed records have")
    return f"{_how('spread')} The {suppressed} no value at all."


def _explain_distribution(run: Run, changes: Changes, large: Distribution, most: int = 3) -> str:
    n = large.n_records
    apart = abs(large.before - large.after)
    furthest = sorted(range(len(apart)), key=lambda place: -apart[place])[:most]
    furthest = [place for place in furthest if apart[place] > 0]
    terms = [
        f"|{write_decimals(large.before[place], 1)} − {write_decimals(large.after[place], 1)}|"
        for place in furthest
    ]
    names = ", ".join(escape_markdown(trim_title(large.values[place], 20)) for place in furthest)
    sum_text = " + ".join(terms) or "0"
    rest = " + …" if (apart > 0).sum() > len(terms) else ""
    missing = f" + {write_count(large.suppressed)}" if large.suppressed else ""
    distances = [write_decimals(column.total_variation, 4) for column in changes.distributions]
    several = " + ".join(distances[:4]) + (" + …" if len(distances) > 4 else "")
    value = run.measures[distribution_change.CARD.name]
    whose = f" (the largest terms: {names})" if names else ""
    suppressed_word = " + suppressed" if missing else ""
    return _how(
        "distribution",
        column=escape_markdown(large.name),
        formula=f"½ · (Σ |before − after|{suppressed_word}) / n",
        terms=f"½ · ({escape_markdown(sum_text)}{rest}{missing}) / {write_count(n)}",
        distance=f"{write_decimals(large.total_variation, 4)}{whose}",
        number=len(distances),
        mean=f"({several}) / {len(distances)}",
        value=write_decimals(value, 4),
        source=escape_markdown(distribution_change.CARD.source),
    )


def _explain_association(run: Run, changes: Changes) -> str:
    value = run.measures[association_change.CARD.name]
    pair = strongest(changes.before, changes.after)
    pairs = changes.before.pairs
    if not pairs or value is None:
        return (
            "**Association change.** The mean of |V before − V after| over pairs of columns; "
            "here no pair can be compared."
        )
    most = ""
    if pair is not None:
        before, after = write_decimals(pair.before, 4), write_decimals(pair.after, 4)
        gap = f"|{before} − {after}| = {abs(pair.after - pair.before):.4f}"
        most = (
            f"It changed most between {escape_markdown(pair.one)} "
            f"and {escape_markdown(pair.other)}: {gap}. "
        )
        most = most.replace("|", "\\|")
    return _how(
        "associations",
        most=most,
        bins=association_change.BINS,
        fewest=association_change.RECORDS_PER_VALUE,
        number=write_count(pairs),
        value=write_decimals(value, 4),
        source=escape_markdown(association_change.CARD.source),
    )


def _explain_queries(run: Run, changes: Changes) -> str:
    study_of_counts, names = changes.queries, run.recoding.classes.attributes
    middle = int(abs(study_of_counts.errors - study_of_counts.quantile(1 / 2)).argmin())
    about = " and ".join(
        escape_markdown(names[j]) for j in study_of_counts.queries.attributes[middle] if j >= 0
    )
    n = study_of_counts.n_records
    kinds = study_of_counts.queries.of_ranges
    true, estimated = float(study_of_counts.true[middle]), float(study_of_counts.estimated[middle])
    return _how(
        "queries",
        all=write_count(len(kinds)),
        ranges=write_count(int(kinds.sum())),
        cells=write_count(int((~kinds).sum())),
        columns=about,
        true=f"{true:.1f}",
        estimate=f"{estimated:.1f}",
        error=f"{abs(estimated - true):.1f} / {max(true, n / 1000):.1f} = "
        f"{write_percent(float(study_of_counts.errors[middle]))}",
        source=escape_markdown(query_error.CARD.source),
    )


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
