"""The three searches of the lattice on the page Compare."""

from dataclasses import replace
from functools import partial

import pandas as pd
import streamlit as st

from kanon.algorithms import improved_greedy
from kanon.algorithms.catalogue import short_title
from kanon.algorithms.search import FULL_DOMAIN, own_way
from kanon.base.formatting import counted, thin
from kanon.base.how_texts import Sections
from kanon.charts.searches import (
    claims_said,
    over_columns_chart,
    over_columns_table,
    over_k_chart,
    over_k_table,
)
from kanon.errors import KanonError
from kanon.experiments.comparison import PAPER_K
from kanon.experiments.exploration import WALKERS
from kanon.experiments.searches import (
    K_OVER_COLUMNS,
    SEARCHES,
    Searches,
    check_searches,
    lattice_sizes,
    measure_searches,
    most_evaluated,
    numbers_of_columns,
)
from kanon.measures import iloss, level_of_generalisation
from kanon.metrics import metric_named
from kanon.plan import Plan, composed_metrics
from kanon.run import prepare
from kanon.studio.session import state
from kanon.studio.session.changed_settings import changed_since
from kanon.studio.session.findings import SearchesResult
from kanon.studio.session.run_plan import plan_of, settings_of
from kanon.studio.session.text import plain, shortened
from kanon.studio.session.work import Request, Work
from kanon.studio.widgets.picture import PictureSettings, begun_with, data_button, picture
from kanon.studio.widgets.progress import begin_button
from kanon.studio.widgets.result import fade

_how = Sections(__file__)


def show_searches(work: Work) -> None:
    try:
        settings = settings_of_searches(work)
        check_searches(list(work.table.trees.values()), work.table.complete_records.n_records)
    except KanonError as error:
        st.info(plain(error.sentence))
        return
    result, label = work.findings.searched, "Run the three searches"
    current = result is not None and result.settings == settings
    with st.container(horizontal=True, vertical_alignment="center", key="searches-run"):
        begin_button("searches", label, searches_request, first=not current)
        st.caption(lattice_said(work), width="stretch")
    if result is None and "searches" not in work.running:
        st.info(
            "Datafly, Samarati and Improved greedy have not been measured on this table yet. "
            "They run over k, and at k = 10 over the number of quasi-identifiers."
        )
    if result is not None:
        since = partial(changed_since, work, "searches", settings_of_searches)
        fade("searches-shown", label, not current, "searches" in work.running, since)
        with st.container(key="searches-shown"):
            _show_searches_result(result.searches, result.settings)
    with st.expander("How it is computed"):
        st.markdown(how_searches(work))


def _show_searches_result(searches: Searches, about: str) -> None:
    about = f"{about}|{searches.over_k['seconds'].sum()}"  # differs from run to run
    figure = state.remembered("searches-k", about, lambda: over_k_chart(searches))
    then = begun_with(state.work(), "searches")
    picture(
        figure,
        lambda: over_k_table(searches),
        "searches-over-k",
        about,
        PictureSettings.of_table(then),
    )
    claim = (
        "**The claims about Improved greedy** (Babu et al. 2013, in our words): it raises values "
        "by clearly fewer levels than Datafly and about as many as Samarati. It loses far less "
        "than Datafly and about as much as Samarati, which should lose least. It takes about as "
        "long as Datafly and much less time than Samarati. **On this table:**"
    )
    st.markdown("\n".join([f"{claim}\n", *(f"- {line}" for line in claims_said(searches))]))
    st.caption(limit_said(searches))
    if searches.lacking:
        left_out = "The experiment over the number of quasi-identifiers is left out."
        st.info(plain(f"{left_out} {searches.lacking}"))
        return
    if searches.over_columns["columns"].nunique() > 1:
        figure = state.remembered("searches-columns", about, lambda: over_columns_chart(searches))
        picture(
            figure, None, "searches-over-columns", about, PictureSettings.of_table(then, "k = 10")
        )
    st.caption("Nodes evaluated at k = 10, the most that are possible (≤), and the lattice.")
    st.table(columns_table(searches))
    data_button(
        "Data over quasi-identifiers", lambda: over_columns_table(searches),
        "searches-over-quasi-identifiers", about, kind="tertiary",
    )  # fmt: skip


# --- what is measured -------------------------------------------------------------------------
def plan_of_searches(work: Work) -> Plan:
    """Samarati's plan, as only Samarati uses the metric; k counts records."""
    return plan_of(
        work.with_parts(
            replace(work.settings, algorithm="samarati", models=(), keep_suppressed=False),
            replace(work.table, person=None),
        )
    )


def settings_of_searches(work: Work) -> str:
    return settings_of(work, plan_of_searches(work))


def searches_request(work: Work) -> Request:
    plan = plan_of_searches(work)
    task = prepare(plan, work.table.records).task()
    check_searches(task.classes.hierarchies, task.classes.n_records)
    then = partial(_store_searches, settings_of_searches(work))
    return Request("searches", measure_searches, (task, plan.metric), then)


def _store_searches(settings: str, work: Work, searches: Searches) -> Work:
    return work.with_parts(replace(work.findings, searched=SearchesResult(searches, settings)))


def lattice_said(work: Work) -> str:
    trees = list(work.table.trees.values())
    sizes = lattice_sizes(trees)
    most = ", ".join(
        f"{short_title(name)} {thin(most_evaluated(name, trees))}" for name in SEARCHES
    )
    columns, nodes = len(trees), counted(sizes["lattice_nodes"], "node")
    return (
        f"The lattice of {counted(columns, 'quasi-identifier')} has {nodes}, "
        f"{thin(sizes['largest_height'])} at its largest height. At most, a search evaluates this "
        f"many nodes per k: {most}."
    )


def limit_said(searches: Searches) -> str:
    if not searches.limit:
        return "No search suppressed records."
    return f"Each search could suppress up to {counted(searches.limit, 'record')}."


def columns_table(searches: Searches) -> pd.DataFrame:
    """Lattice, bounds and nodes evaluated per number of quasi-identifiers."""
    rows: list[dict[str, str]] = []
    for number, own in searches.over_columns.groupby("columns"):
        first, by_name = own.iloc[0], own.set_index("algorithm")
        adds = (
            ", ".join(shortened(name, 16) for name in searches.attributes[: int(number)])
            if not rows
            else f"+ {shortened(first['adds'], 24)}"
        )
        rows.append(
            {
                "Quasi-identifiers": str(number),
                "Which": plain(adds),
                "Nodes of the lattice": thin(first["lattice_nodes"]),
                "Largest height": thin(first["largest_height"]),
                "by the normal approximation": thin(round(first["largest_height_by_formula"])),
                **{
                    short_title(name): (
                        f"{thin(by_name.loc[name, 'nodes_evaluated'])} of ≤ "
                        f"{thin(by_name.loc[name, 'most_evaluated'])}"
                    )
                    for name in SEARCHES
                },
            }
        )
    return pd.DataFrame(rows).set_index("Quasi-identifiers")


def how_searches(work: Work) -> str:
    metric = metric_named(work.settings.metric, composed_metrics(work.settings.composed)).card.title
    numbers = numbers_of_columns(
        len(work.table.quasi_identifiers), work.table.complete_records.n_records
    )
    over = (
        f"the first {numbers[0]} to {numbers[-1]} quasi-identifiers in the table's order"
        if len(numbers)
        else "the first 3 to 8 quasi-identifiers in the table's order, if there are so many"
    )
    searches = (
        f"**{plain(module.CARD.title)}.** {plain(own_way(module.CARD.how))}"
        for module in WALKERS.values()
    )
    return _how(
        "searches",
        full_domain=plain(FULL_DOMAIN),
        searches="\n\n".join(searches),
        ks=", ".join(thin(k) for k in PAPER_K),
        over=over,
        k=K_OVER_COLUMNS,
        metric=plain(metric),
        iloss=plain(iloss.CARD.title),
        level_of_generalisation=plain(level_of_generalisation.CARD.title),
        source=plain(improved_greedy.CARD.source),
    )
