"""The frame of every page: the line at the top, its question, and messages."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from kanon.algorithms.catalogue import FAMILIES, algorithm_named, algorithms, short_title, uses
from kanon.base.formatting import count_noun, write_count
from kanon.base.sentences import write_records
from kanon.errors import list_names
from kanon.sources.stored import StoredTable
from kanon.strategies import PARTNERS, STRATEGIES
from kanon.studio.jobs import runner
from kanon.studio.jobs.stored_table import count_classes
from kanon.studio.session import state
from kanon.studio.session.parts import RunSettings, StateSection
from kanon.studio.session.samples import SAMPLES
from kanon.studio.session.state import attach_widget
from kanon.studio.session.table_loading import open_sample
from kanon.studio.session.text import escape_markdown, trim_title
from kanon.studio.session.work import (
    JobRequest,
    SessionState,
    count_classes_in_engine,
    describe_class_count_inputs,
    describe_classes_in_engine,
    get_countable_table,
    get_metric,
    list_usable_metrics,
    list_usable_strategies,
    needs_class_count,
)
from kanon.studio.shell.navigation import select_page
from kanon.studio.shell.undecided import show_undecided
from kanon.studio.widgets.algorithm_options import describe_algorithm, describe_k_strategy
from kanon.studio.widgets.controls import draw_segments, open_closing_popover
from kanon.studio.widgets.how import explain_ties
from kanon.studio.widgets.progress import draw_running_jobs


@dataclass(frozen=True)
class ClassCount(StateSection):
    of: str = ""  # by :func:`describe_class_count_inputs`; empty before the first count
    problem: str = ""  # Why that brought nothing


_STYLE = f"<style>{(Path(__file__).parent / 'frame.css').read_text('utf-8')}</style>"


def draw_page_head(
    question: str, as_toast: bool = False, line: bool = True, invite: bool = False
) -> SessionState:
    """Draw what every page begins with; ``invite`` is for the page that newcomers see first."""
    if not state.is_marked(state.ENTERED):
        # Beside a folder called pages, Streamlit runs the first page of a fresh server without
        # app.py, until the navigation was drawn once.
        select_page()
        st.rerun()
    runner.collect_jobs()
    count_by_itself()
    state.clear_message_of_other_page(question)
    work = state.get_session()
    st.html(_STYLE)
    if line:
        _draw_line(work)
    if invite and work.version == 0:
        label = "Sample table: load your own"
        st.page_link("pages/data.py", label=label, icon=":material/upload:")
    draw_running_jobs()
    st.title(question)
    with st.container():  # always there, so that what follows stays where it is
        if work.message.problem:
            st.error(escape_markdown(work.message.problem), icon=":material/error:")
        if work.message.notice:
            st.info(escape_markdown(work.message.notice), icon=":material/info:")
    sentence = work.message.problem or work.message.notice
    if as_toast and sentence and state.is_first_time("said", work):
        st.toast(
            escape_markdown(sentence),
            icon=":material/error:" if work.message.problem else ":material/info:",
        )
    return work


def choose_part(key: str, titles: Mapping[str, str], view: Any) -> None:
    options = {"label_visibility": "collapsed"}
    draw_segments("Look at", titles, key, view.part, "part", type(view), **options)


def show_unready(work: SessionState) -> None:
    show_undecided(work)
    if needs_class_count(work):
        show_class_count(work)
    unfit = [name for name in work.table.quasi_identifiers if work.table.choices[name].plan is None]
    if unfit:
        with st.container(horizontal=True, vertical_alignment="center"):
            have = "has" if len(unfit) == 1 else "have"
            st.warning(
                f"{escape_markdown(list_names(unfit))} {have} no usable hierarchy yet.",
                icon=":material/error:",
            )
            st.page_link("pages/hierarchies.py", label="Fix it", icon=":material/account_tree:")


def show_class_count(work: SessionState) -> None:
    problem = work.view(ClassCount).problem
    with st.container(horizontal=True, vertical_alignment="center"):
        st.info(
            escape_markdown(problem)
            or "kanon is counting the different combinations of values in the quasi-identifiers. "
            "Their number decides whether it can load them."
        )
        if problem:
            st.button(
                "Count the classes",
                icon=":material/play_arrow:",
                on_click=runner.run_request,
                args=(request_class_count,),
                key="count-classes",
            )


def show_classes_in_engine(work: SessionState) -> bool:
    """Whether the classes stay in the engine; says so on a page that needs them."""
    number = count_classes_in_engine(work)
    if number is None:
        return needs_class_count(work)  # which was said
    with st.container(horizontal=True, vertical_alignment="center"):
        st.info(
            f"{describe_classes_in_engine(number)} This page needs every class, so it cannot show "
            "such a table. Choose fewer quasi-identifiers, or use a server with a higher limit.",
            icon=":material/database:",
        )
        st.page_link(
            "pages/anonymise.py", label="Anonymise in the engine", icon=":material/arrow_forward:"
        )
        st.page_link("pages/data.py", label="Choose roles", icon=":material/table:")
    return True


def get_metric_titles(work: SessionState) -> dict[str, str]:
    names = dict.fromkeys([*list_usable_metrics(work), work.settings.metric])
    return {name: get_metric(work, name).card.title for name in names}


def draw_algorithm_choice(key: str) -> None:
    work, available = state.get_session(), algorithms()
    st.selectbox(
        "Algorithm",
        list(available),
        **attach_widget(key, work.settings.algorithm, "algorithm", into=RunSettings),
        format_func=lambda name: f"{short_title(name)} — {FAMILIES[available[name].CARD.family]}",
        help=describe_algorithm(work.settings.algorithm),
    )


def draw_metric_choice(key: str) -> None:
    work = state.get_session()
    usable, titles = list_usable_metrics(work), get_metric_titles(work)
    help_sentences = [
        "How loss is counted.",
        escape_markdown(get_metric(work, work.settings.metric).card.summary),
    ]
    if not uses(work.settings.algorithm, "metric"):
        help_sentences.append(
            "The chosen algorithm follows its own rule; the metric only measures."
        )
    st.selectbox(
        "Metric",
        usable if work.settings.metric in usable else [*usable, work.settings.metric],
        **attach_widget(key, work.settings.metric, "metric", into=RunSettings),
        format_func=lambda name: titles[name],
        help=" ".join(help_sentences),
    )


def draw_strategy_choice(key: str) -> None:
    work = state.get_session()
    help_sentences = [
        "How the merge partner of a smallest class is chosen.",
        escape_markdown(STRATEGIES[work.usable_strategy].summary),
    ]
    if work.usable_strategy == "k":
        help_sentences.append(escape_markdown(describe_k_strategy()))
    if len(list_usable_strategies(work)) < len(STRATEGIES):
        help_sentences.append(
            escape_markdown(
                "Other strategies need GAA; those that look at l or t also need a sensitive column."
            )
        )
    help_sentences.append(escape_markdown(explain_ties()))
    st.selectbox(
        "Strategy",
        list_usable_strategies(work),
        **attach_widget(key, work.usable_strategy, "strategy", into=RunSettings),
        format_func=lambda name: STRATEGIES[name].title,
        help=" ".join(help_sentences),
    )


def draw_sensitive_choice(key: str) -> None:
    work = state.get_session()
    st.selectbox(
        "Sensitive column",
        work.table.sensitive_columns,
        **attach_widget(key, work.focus, "sensitive", into=RunSettings),
        help="The sensitive column that strategies look at, and whose l and t are shown.",
    )


def _draw_line(work: SessionState) -> None:
    """Draw the line at the top. Its keys hold the values, as a closed popover is not updated."""
    sensitive = work.table.sensitive_columns
    records, dropped = work.table.records.n_records, work.table.dropped
    facts = [
        f"{write_count(records - dropped)} of {write_records(records)}"
        if dropped
        else write_records(records),
        count_noun(len(work.table.quasi_identifiers), "quasi-identifier"),
    ]
    if not sensitive:
        facts.append("sensitive: none")
    elif len(sensitive) == 1:
        facts.append(f"sensitive: {escape_markdown(sensitive[0])}")
    if work.table.person_for_k is not None:
        facts.append("k counts persons")
    elif work.table.person is not None:
        facts.append("k cannot count persons yet")
    if required := work.settings.models:
        facts.append(f"k and {count_noun(len(required), 'more model')}")
    weights = {
        name: weight
        for name, weight in work.settings.attribute_weights.items()
        if weight != 1 and name in work.table.quasi_identifiers
    }
    if weights:
        listed = ", ".join(f"{trim_title(name)} × {weight:g}" for name, weight in weights.items())
        facts.append(f"counts: {escape_markdown(listed)}")
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="frame"):
        title = f"Table: {escape_markdown(trim_title(work.table.title))}"
        with open_closing_popover(title, f"frame-table-{work.version}", type="tertiary"):
            sample = work.table.origin if work.table.origin in SAMPLES else None
            st.selectbox(
                "Work on a sample",
                list(SAMPLES),
                index=None,
                placeholder="Choose a sample",
                **attach_widget("frame-sample", sample, _take_sample, keep=True),
                format_func=lambda name: SAMPLES[name].title,
            )
            st.page_link("pages/data.py", label="Load your own table", icon=":material/upload:")
        st.caption(" · ".join(facts), width="content")
        if len(sensitive) > 1 and work.focus is not None:
            position = list(work.table.roles).index(work.focus)
            with open_closing_popover(
                f"Sensitive: {escape_markdown(trim_title(work.focus, 20))}",
                f"frame-focus-{work.version}-{position}",
                type="tertiary",
            ):
                draw_sensitive_choice(f"frame-sensitive-{work.version}-{position}")
        _draw_algorithm_controls(work)
        with st.popover(f"k = {write_count(work.settings.k)}", type="tertiary"):
            most, k = max(2, work.table.records.n_records), work.settings.k
            st.number_input(
                f"k, minimum {'records' if work.table.person is None else 'persons'} per class",
                min_value=2,
                max_value=most,
                **attach_widget(f"frame-k-{k}", min(k, most), "k", into=RunSettings, read=int),
            )


def _draw_algorithm_controls(work: SessionState) -> None:
    algorithm, metric = work.settings.algorithm, get_metric(work, work.settings.metric).card
    of_algorithm, title = algorithm_named(algorithm), metric.title
    with open_closing_popover(
        f"Algorithm: {FAMILIES[of_algorithm.CARD.family]}",
        f"frame-how-{algorithm}",
        type="tertiary",
        help=escape_markdown(of_algorithm.CARD.title),
    ):
        draw_algorithm_choice(f"frame-algorithm-{algorithm}")
    with open_closing_popover(
        f"Metric: {escape_markdown(trim_title(title))}",
        f"frame-by-{work.settings.metric}",
        type="tertiary",
        help=escape_markdown(f"{title}. {metric.summary}"),
    ):
        draw_metric_choice(f"frame-metric-{work.settings.metric}")
    if uses(algorithm, "strategy"):
        strategy = STRATEGIES[work.usable_strategy]
        with open_closing_popover(
            f"Strategy: {PARTNERS[work.usable_strategy]}",
            f"frame-with-{work.usable_strategy}",
            type="tertiary",
            help=escape_markdown(f"{strategy.title}. {strategy.summary}"),
        ):
            draw_strategy_choice(f"frame-strategy-{work.version}-{work.usable_strategy}")


def _take_sample(name: str) -> None:
    version = state.get_session().version
    state.try_update(lambda: open_sample(name, version + 1))


def request_class_count(work: SessionState) -> JobRequest | None:
    """Request to count the classes of a stored table; None where that is not needed."""
    table = get_countable_table(work)
    if table is None or not needs_class_count(work):
        return None
    counted_for = describe_class_count_inputs(work)
    return JobRequest(
        "counting", count_classes, (table, work.table.quasi_identifiers), _store_class_count,
        limit="engine_minutes",
        # This begins by itself, so the message of the last action stays.
        begins=lambda new: (
            replace(new, message=work.message).replace_sections(ClassCount(counted_for))
        ),
        handle_cancel=partial(_store_count_problem, sentence="Counting the classes was cancelled."),
        handle_failure=_store_count_problem,
    )  # fmt: skip


def count_by_itself() -> None:
    """Count the classes once for each choice of quasi-identifiers, if needed."""
    work = state.get_session()
    wanted = describe_class_count_inputs(work) if needs_class_count(work) else ""
    if "counting" in work.running and work.view(ClassCount).of != wanted:
        runner.cancel_job("counting")
        runner.collect_jobs()
    if wanted and state.get_session().view(ClassCount).of != wanted:
        runner.run_request(request_class_count)


def _store_class_count(work: SessionState, table: StoredTable) -> SessionState:
    if isinstance(work.table.records, StoredTable):
        work.table.records.collect_answers(table)
    return work.replace_sections(ClassCount(work.view(ClassCount).of))


def _store_count_problem(work: SessionState, sentence: str) -> SessionState:
    return work.replace_sections(ClassCount(work.view(ClassCount).of, sentence))
