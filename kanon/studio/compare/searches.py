"""The experiment on three searches of the lattice: its settings, its numbers, how it is done."""

from dataclasses import replace
from functools import partial

import pandas as pd

from kanon.algorithms import improved_greedy
from kanon.algorithms.catalogue import short_title
from kanon.algorithms.search import FULL_DOMAIN, own_way
from kanon.base.formatting import counted, thin
from kanon.base.how_texts import Sections
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
from kanon.studio.session.findings import SearchesResult
from kanon.studio.session.run_plan import plan_of, settings_of
from kanon.studio.session.text import plain, shortened
from kanon.studio.session.work import Request, Work

_how = Sections(__file__)


def plan_of_searches(work: Work) -> Plan:
    """The plan of the experiment: Samarati's, as only it looks at the metric; k in records."""
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
    then = partial(_with_searches, settings_of_searches(work))
    return Request("searches", measure_searches, (task, plan.metric), then)


def _with_searches(settings: str, work: Work, found: Searches) -> Work:
    return work.with_parts(replace(work.findings, searched=SearchesResult(found, settings)))


def current_searches(work: Work, settings: str) -> Searches | None:
    """The measurements, if they were made with these settings."""
    searched = work.findings.searched
    return searched.searches if searched is not None and searched.settings == settings else None


def lattice_said(work: Work) -> str:
    trees = list(work.table.trees.values())
    sizes = lattice_sizes(trees)
    most = ", ".join(
        f"{short_title(name)} {thin(most_evaluated(name, trees))}" for name in SEARCHES
    )
    columns, nodes = len(trees), counted(sizes["lattice_nodes"], "node")
    return (
        f"The lattice of {counted(columns, 'quasi-identifier')} has {nodes}, "
        f"{thin(sizes['largest_height'])} at its largest height. Nodes that a search evaluates at "
        f"most, per k: {most}."
    )


def limit_said(found: Searches) -> str:
    if not found.limit:
        return "No search suppressed records."
    return f"Each search could suppress up to {counted(found.limit, 'record')}."


def columns_table(found: Searches) -> pd.DataFrame:
    """Per number of quasi-identifiers the lattice, the bounds and the nodes evaluated: for showing.

    A cell of a search is "evaluated of at most so many".
    """
    rows: list[dict[str, str]] = []
    for number, own in found.over_columns.groupby("columns"):
        first, by_name = own.iloc[0], own.set_index("algorithm")
        adds = (
            ", ".join(shortened(name, 16) for name in found.attributes[: int(number)])
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
