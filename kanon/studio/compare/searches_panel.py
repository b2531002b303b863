"""The three searches of the lattice on the Compare page."""

from dataclasses import replace
from functools import partial

import pandas as pd
import streamlit as st

from kanon.algorithms import improved_greedy
from kanon.algorithms.catalogue import short_title
from kanon.algorithms.search import FULL_DOMAIN, get_own_steps
from kanon.base.formatting import count_noun, write_count
from kanon.base.how_texts import Sections
from kanon.charts.searches import (
    build_over_columns_table,
    build_over_k_table,
    describe_claims,
    draw_over_columns,
    draw_over_k,
)
from kanon.errors import KanonError
from kanon.experiments.comparison import PAPER_K
from kanon.experiments.exploration import WALKING_SEARCHES
from kanon.experiments.searches import (
    K_OVER_COLUMNS,
    SEARCHES,
    Searches,
    check_searches,
    choose_column_numbers,
    count_lattice_sizes,
    count_most_evaluated,
    measure_searches,
)
from kanon.measures import iloss, level_of_generalisation
from kanon.metrics import metric_named
from kanon.plan import Plan
from kanon.plan_parts import build_composed_metrics
from kanon.run import prepare
from kanon.studio.jobs.durations import measure_job
from kanon.studio.session import state
from kanon.studio.session.changed_settings import list_changed_labels
from kanon.studio.session.findings import SearchesResult
from kanon.studio.session.run_plan import build_plan, hash_run_inputs
from kanon.studio.session.text import escape_markdown, trim_title
from kanon.studio.session.work import JobRequest, SessionState
from kanon.studio.widgets.picture import (
    PictureSettings,
    draw_data_button,
    get_start_state,
    show_picture,
)
from kanon.studio.widgets.progress import draw_start_button
from kanon.studio.widgets.result import fade_old_result

_how = Sections(__file__)


def show_searches(work: SessionState) -> None:
    try:
        settings = get_searches_key(work)
        check_searches(list(work.table.trees.values()), work.table.complete_records.n_records)
    except KanonError as error:
        st.info(escape_markdown(error.sentence))
        return
    result, label = work.findings.searches, "Run the three searches"
    current = result is not None and result.settings == settings
    with st.container(horizontal=True, vertical_alignment="center", key="searches-run"):
        nodes = count_lattice_sizes([*work.table.trees.values()])["lattice_nodes"]
        effort = measure_job(work, "searches", nodes)
        draw_start_button(
            "searches", label, build_searches_request, first=not current, effort=effort
        )
        st.caption(describe_search_lattice(work), width="stretch")
    if result is None and "searches" not in work.running:
        st.info(
            "Datafly, Samarati and Improved greedy have not been measured on this table yet. "
            "They run for several k, and at k = 10 for several numbers of quasi-identifiers."
        )
    if result is not None:
        since = partial(list_changed_labels, work, "searches", get_searches_key)
        fade_old_result("searches-shown", label, not current, "searches" in work.running, since)
        with st.container(key="searches-shown"):
            _show_searches_result(result.searches, result.settings)
    with st.expander("How it is computed"):
        st.markdown(explain_searches(work))


def _show_searches_result(searches: Searches, about: str) -> None:
    about = f"{about}|{searches.over_k['seconds'].sum()}"  # differs from run to run
    figure = state.get_or_compute("searches-k", about, lambda: draw_over_k(searches))
    then = get_start_state(state.get_session(), "searches")
    show_picture(
        figure,
        lambda: build_over_k_table(searches),
        "searches-over-k",
        about,
        PictureSettings.from_table(then),
    )
    claim = (
        "**The claims about Improved greedy** (Babu et al. 2013, in our words): it raises values "
        "by clearly fewer levels than Datafly and by about as many as Samarati. It loses far less "
        "than Datafly and about as much as Samarati, which should lose least. It takes about as "
        "long as Datafly and much less time than Samarati. **On this table:**"
    )
    st.markdown("\n".join([f"{claim}\n", *(f"- {line}" for line in describe_claims(searches))]))
    k_only = " The searches meet k only." if state.get_session().settings.models else ""
    st.caption(f"{describe_search_limit(searches)}{k_only}")
    if searches.lacking:
        left_out = "The experiment over the number of quasi-identifiers is left out."
        st.info(escape_markdown(f"{left_out} {searches.lacking}"))
        return
    if searches.over_columns["columns"].nunique() > 1:
        figure = state.get_or_compute(
            "searches-columns", about, lambda: draw_over_columns(searches)
        )
        show_picture(
            figure, None, "searches-over-columns", about, PictureSettings.from_table(then, "k = 10")
        )
    st.caption("Nodes evaluated at k = 10, the most possible (≤), and the size of the lattice.")
    st.table(build_columns_table(searches))
    draw_data_button(
        "Data over quasi-identifiers", lambda: build_over_columns_table(searches),
        "searches-over-quasi-identifiers", about, kind="tertiary",
    )  # fmt: skip


# --- what is measured -------------------------------------------------------------------------
def plan_searches(work: SessionState) -> Plan:
    """Samarati's plan, as only Samarati uses the metric; k counts records."""
    return build_plan(
        work.replace_sections(
            replace(work.settings, algorithm="samarati", models=(), keep_suppressed=False),
            replace(work.table, person=None),
        )
    )


def get_searches_key(work: SessionState) -> str:
    return hash_run_inputs(work, plan_searches(work))


def build_searches_request(work: SessionState) -> JobRequest:
    plan = plan_searches(work)
    task = prepare(plan, work.table.records).task()
    check_searches(task.classes.hierarchies, task.classes.n_records)
    then = partial(_store_searches, get_searches_key(work))
    return JobRequest("searches", measure_searches, (task, plan.metric), then)


def _store_searches(settings: str, work: SessionState, searches: Searches) -> SessionState:
    return work.replace_sections(
        replace(work.findings, searches=SearchesResult(searches, settings))
    )


def describe_search_lattice(work: SessionState) -> str:
    trees = list(work.table.trees.values())
    sizes = count_lattice_sizes(trees)
    most = ", ".join(
        f"{short_title(name)} {write_count(count_most_evaluated(name, trees))}" for name in SEARCHES
    )
    columns, nodes = len(trees), count_noun(sizes["lattice_nodes"], "node")
    return (
        f"The lattice of {count_noun(columns, 'quasi-identifier')} has {nodes}, "
        f"{write_count(sizes['largest_height'])} of them at its widest height. "
        f"The most nodes that a search can evaluate per k: {most}."
    )


def describe_search_limit(searches: Searches) -> str:
    if not searches.limit:
        return "No search suppressed records."
    return f"Each search could suppress up to {count_noun(searches.limit, 'record')}."


def build_columns_table(searches: Searches) -> pd.DataFrame:
    """Lattice, bounds and nodes evaluated per number of quasi-identifiers."""
    rows: list[dict[str, str]] = []
    for number, own in searches.over_columns.groupby("columns"):
        first, by_name = own.iloc[0], own.set_index("algorithm")
        adds = (
            ", ".join(trim_title(name, 16) for name in searches.attributes[: int(number)])
            if not rows
            else f"+ {trim_title(first['adds'], 24)}"
        )
        rows.append(
            {
                "Quasi-identifiers": str(number),
                "Which": escape_markdown(adds),
                "Nodes of the lattice": write_count(first["lattice_nodes"]),
                "Widest height": write_count(first["largest_height"]),
                "by the normal approximation": write_count(
                    round(first["largest_height_by_formula"])
                ),
                **{
                    short_title(name): (
                        f"{write_count(by_name.loc[name, 'nodes_evaluated'])} of ≤ "
                        f"{write_count(by_name.loc[name, 'most_evaluated'])}"
                    )
                    for name in SEARCHES
                },
            }
        )
    return pd.DataFrame(rows).set_index("Quasi-identifiers")


def explain_searches(work: SessionState) -> str:
    metric = metric_named(
        work.settings.metric, build_composed_metrics(work.settings.composed)
    ).card.title
    numbers = choose_column_numbers(
        len(work.table.quasi_identifiers), work.table.complete_records.n_records
    )
    over = (
        f"the first {numbers[0]} to {numbers[-1]} quasi-identifiers in the table's order"
        if len(numbers)
        else "the first 3 to 8 quasi-identifiers in the table's order, or as many as there are"
    )
    searches = (
        f"**{escape_markdown(module.CARD.title)}.** "
        f"{escape_markdown(get_own_steps(module.CARD.how))}"
        for module in WALKING_SEARCHES.values()
    )
    return _how(
        "searches",
        full_domain=escape_markdown(FULL_DOMAIN),
        searches="\n\n".join(searches),
        ks=", ".join(write_count(k) for k in PAPER_K),
        over=over,
        k=K_OVER_COLUMNS,
        metric=escape_markdown(metric),
        iloss=escape_markdown(iloss.CARD.title),
        level_of_generalisation=escape_markdown(level_of_generalisation.CARD.title),
        source=escape_markdown(improved_greedy.CARD.source),
    )
