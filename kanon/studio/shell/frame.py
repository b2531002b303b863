"""The frame of every page: the line at the top, its question, and messages."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import streamlit as st

from kanon.algorithms.catalogue import FAMILIES, algorithm_named, algorithms, short_title, uses
from kanon.base.formatting import counted, thin
from kanon.base.sentences import records_said
from kanon.errors import listing
from kanon.sources.stored import StoredTable
from kanon.strategies import PARTNERS, STRATEGIES
from kanon.studio.jobs import runner
from kanon.studio.jobs.stored_table import count_classes
from kanon.studio.session import state
from kanon.studio.session.parts import RunSettings, SessionPart
from kanon.studio.session.samples import SAMPLES
from kanon.studio.session.state import bound
from kanon.studio.session.table_loading import sample_work
from kanon.studio.session.text import plain, shortened
from kanon.studio.session.work import (
    Request,
    Work,
    classes_kept,
    counted_by,
    counted_table,
    metric_called,
    said_kept,
    uncounted,
    usable_metrics,
    usable_strategies,
)
from kanon.studio.shell.navigation import chosen_page
from kanon.studio.shell.undecided import undecided
from kanon.studio.widgets.algorithm_options import about, about_k
from kanon.studio.widgets.controls import closing_popover, segments
from kanon.studio.widgets.how import tie_rule
from kanon.studio.widgets.progress import calculations


@dataclass(frozen=True)
class ClassCount(SessionPart):
    of: str = ""  # What they are of, see :func:`counted_by`; empty before the first count
    problem: str = ""  # Why that brought nothing


# Less empty space above the question, so that the picture is on the first screen; captions and
# filled buttons that are readable in both themes; a visible sentence for a file that is too large;
# running calculations at the foot, where they move nothing; on a tablet, columns that wrap.
_STYLE = """<style>
.stMainBlockContainer { padding: 3.9rem 2.5rem 3rem; }
.st-key-tab { display: none; }
[data-testid="stLayoutWrapper"]:has(> .st-key-calculations) {
    order: 1; position: sticky; bottom: 0; z-index: 90;
    background: light-dark(#FFFFFF, #14181D);
}
.st-key-calculations:has(.stProgress) { padding: 0.5rem 0; border-top: 1px solid #8A949E; }
[data-testid="stCaptionContainer"] { opacity: 0.8; }
[data-testid="stBaseButton-primary"]:not(:disabled), [data-tag], [data-tag] span {
    color: light-dark(#FFFFFF, #14181D) !important;
}
[data-testid="stFileChip"][aria-invalid="true"]::after {
    content: "This file is larger than allowed and was not loaded.";
    color: #B3261E; margin-left: 0.75rem; white-space: nowrap;
}
@media (max-width: 1024px) {
    .stMainBlockContainer { padding: 3.9rem 1rem 3rem; }
    [data-testid="stHorizontalBlock"] { flex-wrap: wrap; }
    [data-testid="stColumn"] { flex: 1 1 11rem; min-width: 11rem; }
    [data-testid="stColumn"]:has([data-testid="stPlotlyChart"]) { min-width: 22rem; }
}
</style>"""


def head(question: str, aloud: bool = False, line: bool = True) -> Work:
    if not state.entered():
        # Beside a folder called pages, Streamlit runs the first page of a fresh server without
        # app.py, until the navigation was drawn once.
        chosen_page()
        st.rerun()
    runner.collect()
    count_by_itself()
    state.leave_behind(question)
    work = state.work()
    st.html(_STYLE)
    if line:
        _draw_line(work)
    calculations()
    st.title(question)
    with st.container():  # always there, so that what follows stays where it is
        if work.message.problem:
            st.error(plain(work.message.problem), icon=":material/error:")
        if work.message.notice:
            st.info(plain(work.message.notice), icon=":material/info:")
    sentence = work.message.problem or work.message.notice
    if aloud and sentence and state.first_time("said", work):
        st.toast(
            plain(sentence), icon=":material/error:" if work.message.problem else ":material/info:"
        )
    return work


def choose_part(key: str, titles: Mapping[str, str], view: Any) -> None:
    options = {"label_visibility": "collapsed"}
    segments("Look at", titles, key, view.part, "part", type(view), **options)


def unready(work: Work) -> None:
    undecided(work)
    if uncounted(work):
        counting(work)
    unfit = [name for name in work.table.quasi_identifiers if work.table.choices[name].plan is None]
    if unfit:
        with st.container(horizontal=True, vertical_alignment="center"):
            have = "has" if len(unfit) == 1 else "have"
            st.warning(
                f"{plain(listing(unfit))} {have} no usable hierarchy yet.", icon=":material/error:"
            )
            st.page_link("pages/hierarchies.py", label="Fix it", icon=":material/account_tree:")


def counting(work: Work) -> None:
    problem = work.view(ClassCount).problem
    with st.container(horizontal=True, vertical_alignment="center"):
        st.info(
            plain(problem)
            or "kanon is counting the different combinations of values in the quasi-identifiers. "
            "Their number decides whether it can load them."
        )
        if problem:
            st.button(
                "Count the classes",
                icon=":material/play_arrow:",
                on_click=runner.run,
                args=(counting_request,),
                key="count-classes",
            )


def classes_elsewhere(work: Work) -> bool:
    """Whether the classes stay in the engine; says so on a page that needs them."""
    number = classes_kept(work)
    if number is None:
        return uncounted(work)  # which was said
    with st.container(horizontal=True, vertical_alignment="center"):
        st.info(
            f"{said_kept(number)} This page needs every class, so it cannot show such a table. "
            "Choose fewer quasi-identifiers, or use a server with a higher limit.",
            icon=":material/database:",
        )
        st.page_link(
            "pages/anonymise.py", label="Anonymise in the engine", icon=":material/arrow_forward:"
        )
        st.page_link("pages/data.py", label="Choose roles", icon=":material/table:")
    return True


def metric_titles(work: Work) -> dict[str, str]:
    names = dict.fromkeys([*usable_metrics(work), work.settings.metric])
    return {name: metric_called(work, name).card.title for name in names}


def algorithm_choice(key: str) -> None:
    work, available = state.work(), algorithms()
    st.selectbox(
        "Algorithm",
        list(available),
        **bound(key, work.settings.algorithm, "algorithm", into=RunSettings),
        format_func=lambda name: f"{short_title(name)} — {FAMILIES[available[name].CARD.family]}",
        help=about(work.settings.algorithm),
    )


def metric_choice(key: str) -> None:
    work = state.work()
    usable, titles = usable_metrics(work), metric_titles(work)
    help_sentences = [
        "How loss is counted.",
        plain(metric_called(work, work.settings.metric).card.summary),
    ]
    if not uses(work.settings.algorithm, "metric"):
        help_sentences.append(
            "The chosen algorithm follows its own rule; the metric only measures."
        )
    st.selectbox(
        "Metric",
        usable if work.settings.metric in usable else [*usable, work.settings.metric],
        **bound(key, work.settings.metric, "metric", into=RunSettings),
        format_func=lambda name: titles[name],
        help=" ".join(help_sentences),
    )


def strategy_choice(key: str) -> None:
    work = state.work()
    help_sentences = [
        "How the partner of a smallest class is chosen for a merge.",
        plain(STRATEGIES[work.strategy_used].summary),
    ]
    if work.strategy_used == "k":
        help_sentences.append(plain(about_k()))
    if len(usable_strategies(work)) < len(STRATEGIES):
        help_sentences.append(
            plain(
                "Other strategies need GAA; those that look at l or t also need a sensitive column."
            )
        )
    help_sentences.append(plain(tie_rule()))
    st.selectbox(
        "Strategy",
        usable_strategies(work),
        **bound(key, work.strategy_used, "strategy", into=RunSettings),
        format_func=lambda name: STRATEGIES[name].title,
        help=" ".join(help_sentences),
    )


def sensitive_choice(key: str) -> None:
    work = state.work()
    st.selectbox(
        "Sensitive column",
        work.table.sensitive_columns,
        **bound(key, work.focus, "sensitive", into=RunSettings),
        help="The sensitive column that strategies look at, and whose l and t are shown.",
    )


def _draw_line(work: Work) -> None:
    """Draw the line at the top. Its keys hold the values, as a closed popover is not updated."""
    sensitive = work.table.sensitive_columns
    records, dropped = work.table.records.n_records, work.table.dropped
    facts = [
        f"{thin(records - dropped)} of {records_said(records)}"
        if dropped
        else records_said(records),
        counted(len(work.table.quasi_identifiers), "quasi-identifier"),
    ]
    if not sensitive:
        facts.append("sensitive: none")
    elif len(sensitive) == 1:
        facts.append(f"sensitive: {plain(sensitive[0])}")
    if work.table.person_counted is not None:
        facts.append("k counts persons")
    elif work.table.person is not None:
        facts.append("k cannot count persons yet")
    if work.settings.models:
        facts.append(f"k and {counted(len(work.settings.models), 'more model')}")
    weights = {
        name: weight
        for name, weight in work.settings.attribute_weights.items()
        if weight != 1 and name in work.table.quasi_identifiers
    }
    if weights:
        listed = ", ".join(f"{shortened(name)} × {weight:g}" for name, weight in weights.items())
        facts.append(f"counts: {plain(listed)}")
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="frame"):
        title = f"Table: {plain(shortened(work.table.title))}"
        with closing_popover(title, f"frame-table-{work.version}", type="tertiary"):
            sample = work.table.origin if work.table.origin in SAMPLES else None
            st.selectbox(
                "Work on a sample",
                list(SAMPLES),
                index=None,
                placeholder="Choose a sample",
                **bound("frame-sample", sample, _take_sample, keep=True),
                format_func=lambda name: SAMPLES[name].title,
            )
            st.page_link("pages/data.py", label="Load your own table", icon=":material/upload:")
        st.caption(" · ".join(facts), width="content")
        if len(sensitive) > 1 and work.focus is not None:
            position = list(work.table.roles).index(work.focus)
            with closing_popover(
                f"Sensitive: {plain(shortened(work.focus, 20))}",
                f"frame-focus-{work.version}-{position}",
                type="tertiary",
            ):
                sensitive_choice(f"frame-sensitive-{work.version}-{position}")
        _draw_algorithm_controls(work)
        with st.popover(f"k = {thin(work.settings.k)}", type="tertiary"):
            most, k = max(2, work.table.records.n_records), work.settings.k
            st.number_input(
                f"k, {'records' if work.table.person is None else 'persons'} per class at least",
                min_value=2,
                max_value=most,
                **bound(f"frame-k-{k}", min(k, most), "k", into=RunSettings, read=int),
            )


def _draw_algorithm_controls(work: Work) -> None:
    algorithm, metric = work.settings.algorithm, metric_called(work, work.settings.metric).card
    of_algorithm, title = algorithm_named(algorithm), metric.title
    with closing_popover(
        f"Algorithm: {FAMILIES[of_algorithm.CARD.family]}",
        f"frame-how-{algorithm}",
        type="tertiary",
        help=plain(of_algorithm.CARD.title),
    ):
        algorithm_choice(f"frame-algorithm-{algorithm}")
    with closing_popover(
        f"Metric: {plain(shortened(title))}",
        f"frame-by-{work.settings.metric}",
        type="tertiary",
        help=plain(f"{title}. {metric.summary}"),
    ):
        metric_choice(f"frame-metric-{work.settings.metric}")
    if uses(algorithm, "strategy"):
        strategy = STRATEGIES[work.strategy_used]
        with closing_popover(
            f"Strategy: {PARTNERS[work.strategy_used]}",
            f"frame-with-{work.strategy_used}",
            type="tertiary",
            help=plain(f"{strategy.title}. {strategy.summary}"),
        ):
            strategy_choice(f"frame-strategy-{work.version}-{work.strategy_used}")


def _take_sample(name: str) -> None:
    version = state.work().version
    state.attempt(lambda: sample_work(name, version + 1))


def counting_request(work: Work) -> Request | None:
    """Request to count the classes of a stored table; None where that is not needed."""
    table = counted_table(work)
    if table is None or not uncounted(work):
        return None
    counted_for = counted_by(work)
    return Request(
        "counting", count_classes, (table, work.table.quasi_identifiers), _store_class_count,
        limit="engine_minutes",
        # This begins by itself, so the message of the last action stays.
        begins=lambda new: replace(new, message=work.message).with_parts(ClassCount(counted_for)),
        cancelled=partial(_store_count_problem, sentence="Counting the classes was cancelled."),
        failed=_store_count_problem,
    )  # fmt: skip


def count_by_itself() -> None:
    """Count the classes once for each choice of quasi-identifiers, if needed."""
    work = state.work()
    counted_for = counted_by(work) if "counting" in work.running or uncounted(work) else ""
    if "counting" in work.running and work.view(ClassCount).of != counted_for:
        runner.cancel("counting")
        runner.collect()
    if uncounted(state.work()) and state.work().view(ClassCount).of != counted_for:
        runner.run(counting_request)


def _store_class_count(work: Work, table: StoredTable) -> Work:
    if isinstance(work.table.records, StoredTable):
        work.table.records.learn(table)
    return work.with_parts(ClassCount(work.view(ClassCount).of))


def _store_count_problem(work: Work, sentence: str) -> Work:
    return work.with_parts(ClassCount(work.view(ClassCount).of, sentence))
