"""The three searches of the lattice on the Compare page."""

from dataclasses import replace
from functools import partial

import streamlit as st

from kanon.algorithms import improved_greedy
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
    Searches,
    check_searches,
    count_lattice_sizes,
    measure_searches,
)
from kanon.measures import iloss, level_of_generalisation
from kanon.plan import Plan
from kanon.run import prepare
from kanon.studio.jobs.durations import measure_job
from kanon.studio.session import state
from kanon.studio.session.changed_settings import list_changed_labels
from kanon.studio.session.findings import SearchesResult
from kanon.studio.session.run_plan import build_plan, hash_run_inputs
from kanon.studio.session.text import escape_markdown
from kanon.studio.session.work import JobRequest, SessionState, get_metric
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
        columns = count_noun(len(work.table.trees), "quasi-identifier")
        effort = measure_job(work, "searches", nodes)
        draw_start_button(
            "searches", label, build_searches_request, first=not current, effort=effort
        )
        size = count_noun(nodes, "node")
        st.caption(f"The lattice of {columns} has {size}.", width="stretch")
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
    limit = f"up to {count_noun(searches.limit, 'record')}" if searches.limit else "no records"
    st.caption(f"Each search could suppress {limit}.{k_only}")
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
    st.caption("Nodes evaluated at k = 10, the most possible, and the size of the lattice.")
    st.dataframe(
        build_over_columns_table(searches),
        hide_index=True,
        key="searches-table",
        column_config={
            "columns": "Quasi-identifiers",
            "adds": "The last of them",
            "algorithm": "Search",
            "nodes_evaluated": "Nodes evaluated",
            "most_evaluated": "The most possible",
            "lattice_nodes": "Nodes of the lattice",
            "largest_height": "Widest height",
            "largest_height_by_formula": "by the normal approximation",
        },
    )
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
    key = get_searches_key(work)

    def store_searches(work: SessionState, searches: Searches) -> SessionState:
        result = SearchesResult(searches, key)
        return work.replace_sections(replace(work.findings, searches=result))

    return JobRequest("searches", measure_searches, (task, plan.metric), store_searches)


def explain_searches(work: SessionState) -> str:
    metric = get_metric(work, work.settings.metric).card.title
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
        k=K_OVER_COLUMNS,
        metric=escape_markdown(metric),
        iloss=escape_markdown(iloss.CARD.title),
        level_of_generalisation=escape_markdown(level_of_generalisation.CARD.title),
        source=escape_markdown(improved_greedy.CARD.source),
    )
