"""The release of a table that stays in its engine, which writes it, or makes and writes it."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

import kanon.measures
from kanon.algorithms.catalogue import needs_memory, runs_stored
from kanon.base.formatting import count_noun, write_count, write_percent
from kanon.base.sentences import (
    describe_alteration,
    describe_class_numbers,
    describe_smallest_class,
    describe_suppression,
    write_records_or_persons,
)
from kanon.cards import parts_of
from kanon.errors import KanonError, list_names
from kanon.measures import alteration, minimum_k
from kanon.metrics import METRICS
from kanon.run import Run
from kanon.sources.addresses import Address
from kanon.sources.stored import StoredTable
from kanon.sources.stored_source import StoredSource, get_part_path, remove_part
from kanon.studio.anonymise.combined_releases import add_earlier_release
from kanon.studio.jobs import runner
from kanon.studio.jobs.engine_release import (
    Destination,
    WrittenRelease,
    add_destination_problem,
    check_destination,
    has_outdated_engine_release,
    hash_engine_release_inputs,
    is_release_complete,
    request_engine_release,
    suggest_destination,
)
from kanon.studio.jobs.stored_table import write_release
from kanon.studio.session import state
from kanon.studio.session.changed_settings import list_changed_labels
from kanon.studio.session.findings import EngineRelease
from kanon.studio.session.parts import EarlierRelease
from kanon.studio.session.run_plan import build_plan
from kanon.studio.session.server import get_login_name
from kanon.studio.session.state import attach_widget
from kanon.studio.session.text import escape_markdown
from kanon.studio.session.work import JobRequest, SessionState, describe_classes_in_engine
from kanon.studio.widgets.files import draw_file_button, draw_order_choice, draw_plan_button
from kanon.studio.widgets.how import (
    explain_algorithm,
    format_check,
    format_levels,
    format_parts,
    format_proof,
)
from kanon.studio.widgets.numbers import Number, describe_dropped
from kanon.studio.widgets.picture import draw_data_button
from kanon.studio.widgets.remarks import show_remarks
from kanon.studio.widgets.result import draw_in_columns, fade_old_result, format_plan_for_file

_BUTTON = "Anonymise and write the release"


def write_controls(
    work: SessionState, settings: str, run: Run, source: StoredSource, name: str, stale: bool
) -> None:
    suggested = suggest_destination(source.table.address, f"released-{name}")
    written = work.view(Destination).written
    write_row(
        work,
        suggested,
        "Write the release (old settings)" if stale else "Write the release",
        2.4,
        "" if written is None else f"Written: {_describe_written(written)}",
        type="secondary" if stale else "primary",
        disabled="writing" in work.running,
        on_click=partial(runner.run_request, refused=add_destination_problem),
        args=(build_writing_request, run, suggested, EarlierRelease.from_run(settings, name, run)),
        key="write-release",
    )


def write_row(
    work: SessionState,
    suggested: str,
    label: str,
    width: float,
    success: str = "",
    **button_options: Any,
) -> None:
    destination = work.view(Destination)
    where, press = st.columns([6, width], vertical_alignment="bottom")
    with where:
        _show_destination_field(work, suggested)
    press.button(label, icon=":material/save:", width="stretch", **button_options)
    draw_order_choice(work, "write")
    with st.container():  # always there, so that what follows stays where it is
        if destination.problem:
            st.error(escape_markdown(destination.problem), icon=":material/error:")
        if success:
            st.success(success, icon=":material/check:")


def _show_destination_field(work: SessionState, suggested: str) -> None:
    # The key holds the suggestion: otherwise a slow browser would send the suggestion for an
    # earlier k as if the user had typed it.
    key, typed = f"destination-{work.version}-{Path(suggested).name}", work.view(Destination).typed
    st.text_input(
        "Where the release goes",
        **attach_widget(key, typed or suggested, lambda value: _set_destination(value, suggested)),
        help="A folder for Parquet files, a file that ends in .parquet, .csv or .tsv, or a "
        "new table of a DuckDB file, such as data.duckdb#released. Nothing is overwritten, "
        "and the release appears complete or not at all.",
    )


def build_writing_request(
    work: SessionState, run: Run, suggested: str, handed: EarlierRelease
) -> JobRequest | None:
    """None for a table in memory; ``suggested`` is used where no destination was typed."""
    source, plan = run.prepared.source, run.prepared.plan
    if not isinstance(source, StoredSource):
        return None
    target = check_destination(work.view(Destination).typed or suggested, source.table.address)
    part = get_part_path(target.path)
    suppressed = 0 if plan.suppressed == "keep" else run.recoding.suppressed_records
    then = partial(
        _store_result, target.shown, plan.k, source.classes.n_records - suppressed, handed
    )
    return JobRequest(
        "writing",
        write_release,
        (source, run.recoding, plan.model_dump(mode="json"), target, part, get_login_name()),
        then,
        limit="engine_minutes",
        lane="long",
        begins=partial(_store_target, target),
        after=partial(remove_part, part),
        handle_cancel=partial(_end_writing, then),
        handle_failure=add_destination_problem,
    )


def _store_target(target: Address, work: SessionState) -> SessionState:
    destination = replace(work.view(Destination), problem="", written=None, target=target)
    return work.replace_sections(destination)


def _store_result(
    place: str, k: int, records: int, handed: EarlierRelease, work: SessionState, _: object
) -> SessionState:
    written = WrittenRelease(place, k, records, work.running["writing"].job.seconds)
    return work.replace_sections(
        Destination(written=written),
        replace(
            work.kept, earlier_releases=add_earlier_release(work.kept.earlier_releases, handed)
        ),
    )


def _end_writing(
    then: Callable[[SessionState, object], SessionState], work: SessionState
) -> SessionState:
    if is_release_complete(work.view(Destination).target):
        finished = then(work, None)
        return finished.add_notice("The release was complete before it could be cancelled.")
    return work.add_notice("Writing was cancelled; nothing was changed.")


def _set_destination(typed: str, suggested: str) -> None:
    now = state.get_session().view(Destination)
    state.update_sections(replace(now, typed="" if typed == suggested else typed, problem=""))


def _describe_written(written: WrittenRelease) -> str:
    records, k = count_noun(written.records, "record"), write_count(written.k)
    return f"{records} for k = {k} in {written.seconds:.2f} s to {escape_markdown(written.place)}"


# --- made and written at once -----------------------------------------------------------------
def show_engine_run(work: SessionState, number: int) -> None:
    st.info(
        f"{describe_classes_in_engine(number)} So first choose where the release goes. The engine "
        "then makes, measures, checks and writes it.",
        icon=":material/database:",
    )
    _show_engine_controls(work, _can_run_algorithm(work, number))
    release = work.findings.engine_release
    stale = has_outdated_engine_release(work)
    since = partial(list_changed_labels, work, "releasing", hash_engine_release_inputs)
    fade_old_result("engine-release", _BUTTON, stale, "releasing" in work.running, since)
    if release is not None:
        with st.container(key="engine-release"):
            _show_engine_release(release)


def _can_run_algorithm(work: SessionState, number: int) -> bool:
    """Whether the chosen algorithm runs in the engine; if not, say why and offer one that does."""
    name = work.settings.algorithm
    if runs_stored(name):
        return True
    with st.container(horizontal=True, vertical_alignment="center"):
        st.warning(escape_markdown(needs_memory(name, number)), icon=":material/error:")
        st.button(
            "Use GAA",
            on_click=lambda: state.update_sections(
                replace(state.get_session().settings, algorithm="gaa")
            ),
            key="engine-gaa",
        )
    return False


def _show_engine_controls(work: SessionState, fits: bool) -> None:
    table = work.table.records
    assert isinstance(table, StoredTable)
    try:
        name = f"released-{format_plan_for_file(build_plan(work, in_engine=True))}"
    except KanonError:  # shown above, or once the button is pressed
        name = "released"
    suggested = suggest_destination(table.address, name)
    write_row(
        work,
        suggested,
        _BUTTON,
        2.8,
        type="primary",
        disabled=not fits or "releasing" in work.running,
        on_click=lambda: runner.run_request(
            request_engine_release, suggested, refused=add_destination_problem
        ),
        key="release-by-engine",
    )


def _show_engine_release(release: EngineRelease) -> None:
    measures, figures = release.found.measures, release.found
    keeps_suppressed = release.plan.suppressed == "keep"
    records = measures["records"] - (0 if keeps_suppressed else measures["suppressed"])
    draw_in_columns(_build_engine_numbers(release))
    written = WrittenRelease(release.place, release.plan.k, records, release.seconds)
    st.success(f"Written and checked: {_describe_written(written)}", icon=":material/check:")
    if dropped := measures["dropped"]:
        st.caption(describe_dropped(dropped))
    paragraphs = [
        format_check(figures.met),
        escape_markdown(figures.leaves),
        format_levels(figures.trace, figures.heights),
        format_parts(figures.parts),
        format_proof(figures.proof),
    ]
    for paragraph in filter(None, paragraphs):
        st.markdown(paragraph)
    show_remarks(figures.remarks, released=True)
    _show_measures(release)
    with st.expander("How it is computed"):
        st.markdown(explain_algorithm(release.plan))


def _build_engine_numbers(release: EngineRelease) -> list[Number]:
    measures, figures = release.found.measures, release.found
    least, suppressed, metric = measures["min_k"], measures["suppressed"], release.plan.metric
    return [
        Number(
            f"{alteration.CARD.title} {alteration.CARD.arrow}",
            write_percent(figures.alteration),
            describe_alteration(figures.alteration, escape_markdown(metric.card.title)),
        ),
        Number(
            f"{minimum_k.CARD.title} {minimum_k.CARD.arrow}",
            "no class" if least is None else write_records_or_persons(least, "records"),
            describe_smallest_class(least),
        ),
        Number(
            "Classes ↑ better",
            write_count(measures["classes"]),
            describe_class_numbers(measures["classes"], figures.original_classes),
        ),
        Number(
            "Suppressed ↓ better",
            write_percent(100 * suppressed / measures["records"]),
            describe_suppression(suppressed, measures["records"]),
        ),
    ]


def _show_measures(release: EngineRelease) -> None:
    measures, name = release.found.measures, format_plan_for_file(release.plan)
    table = build_engine_table(measures)
    st.subheader("Measures of the release")
    st.dataframe(
        table,
        hide_index=True,
        height=300,
        column_config={
            "measure": "Measure",
            "name": "Name in files",
            "value": st.column_config.NumberColumn("Value", format="%.6g"),
            "better": "Better",
        },
        key="engine-measures",
    )
    cards = {name: module.CARD for name, module in parts_of(kanon.measures).items()}
    unmeasured = [cards[name].title for name in measures.get("not_counted", [])]
    st.caption(
        f"Not measured: {escape_markdown(list_names(unmeasured))}. Each of them "
        "compares every class of the table with its released class, but the classes stay in the "
        "engine. For the same reason there is no curve over k, no table before and after, and no "
        "combination of several releases."
    )
    if "prosecutor" not in measures:
        st.caption(
            "Not measured either: the risk of being found and what classes reveal of sensitive "
            "columns, because even the release has too many classes to load here."
        )
    with st.container(horizontal=True):
        draw_data_button("Measures as CSV", lambda: table, "measures", release.settings)
        draw_file_button(
            "Measures as JSON",
            lambda: json.dumps(dict(measures), indent=1).encode(),
            "measures",
            "json",
            release.settings,
            "engine-measures-json",
        )
        draw_plan_button(release.plan.to_json(), f"plan-{name}", "engine-plan")


def build_engine_table(measures: Mapping[str, Any]) -> pd.DataFrame:
    """The measures of a release as a table: title, name in ``M.json``, value, better direction.

    A value is missing where it is not defined, or not counted.

    >>> found = build_engine_table({"min_k": 5, "alteration": {"nllm": 2.5}, "not_counted": []})
    >>> found[["measure", "name", "value"]].to_numpy().tolist()
    [['Minimum k', 'min_k', 5.0], ['Alteration, NLLM', 'alteration.nllm', 2.5]]
    """
    cards = {name: module.CARD for name, module in parts_of(kanon.measures).items()}
    rows = []
    for name, value in _list_numbers(measures):
        first, _, rest = name.partition(".")
        if first in cards:
            of_metric = METRICS[rest].card.title if rest in METRICS else rest
            title = ", ".join(filter(None, [cards[first].title, of_metric]))
            rows.append((title, name, value, cards[first].arrow))
        else:
            words = name.replace("_", " ").replace(".", ", ")
            rows.append((words[:1].upper() + words[1:], name, value, ""))
    table = pd.DataFrame(rows, columns=["measure", "name", "value", "better"])
    return table.astype({"value": float})


def _list_numbers(
    measures: Mapping[str, Any], before: str = ""
) -> Iterator[tuple[str, float | None]]:
    for name, value in measures.items():
        if isinstance(value, Mapping):
            yield from _list_numbers(value, f"{before}{name}.")
        elif value is None or isinstance(value, (int, float)):
            yield f"{before}{name}", value
