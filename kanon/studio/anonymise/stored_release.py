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
from kanon.base.formatting import counted, percent, thin
from kanon.base.sentences import classes_told_apart, left_out, lost, number_said, smallest_class
from kanon.cards import parts_of
from kanon.errors import KanonError, listing
from kanon.measures import alteration, minimum_k
from kanon.metrics import METRICS
from kanon.run import Run
from kanon.sources.addresses import Address
from kanon.sources.stored import StoredTable
from kanon.sources.stored_source import StoredSource, part_of, remove
from kanon.studio.anonymise.combined_releases import with_handed
from kanon.studio.jobs import runner
from kanon.studio.jobs.engine_release import (
    Destination,
    WrittenRelease,
    checked_destination,
    complete_at,
    engine_release_depends_on,
    engine_release_outdated,
    releasing_request,
    said_at_destination,
    suggested_destination,
)
from kanon.studio.jobs.stored_table import write_release
from kanon.studio.session import state
from kanon.studio.session.changed_settings import changed_since
from kanon.studio.session.findings import EngineRelease
from kanon.studio.session.parts import EarlierRelease
from kanon.studio.session.run_plan import plan_of
from kanon.studio.session.server import login_name
from kanon.studio.session.state import bound
from kanon.studio.session.text import plain
from kanon.studio.session.work import Request, Work, said_kept
from kanon.studio.widgets.files import file_button, order_choice, plan_button
from kanon.studio.widgets.how import (
    how_algorithm,
    said_checked,
    said_levels,
    what_is_proved,
    which_parts,
)
from kanon.studio.widgets.numbers import Number, said_dropped
from kanon.studio.widgets.picture import data_button
from kanon.studio.widgets.remarks import show_remarks
from kanon.studio.widgets.result import fade, in_columns, name_in_files

_BUTTON = "Anonymise and write the release"


def write_controls(
    work: Work, settings: str, run: Run, source: StoredSource, name: str, stale: bool
) -> None:
    suggested = suggested_destination(source.table.address, f"released-{name}")
    written = work.view(Destination).written
    write_row(
        work,
        suggested,
        "Write the release (old settings)" if stale else "Write the release",
        2.4,
        "" if written is None else _describe_file(written),
        type="secondary" if stale else "primary",
        disabled="writing" in work.running,
        on_click=partial(runner.run, refused=said_at_destination),
        args=(writing_request, run, suggested, EarlierRelease.of(settings, name, run)),
        key="write-release",
    )


def write_row(
    work: Work, suggested: str, label: str, width: float, success: str = "", **button_options: Any
) -> None:
    destination = work.view(Destination)
    where, press = st.columns([6, width], vertical_alignment="bottom")
    with where:
        _show_destination_field(work, suggested)
    press.button(label, icon=":material/save:", width="stretch", **button_options)
    order_choice(work, "write")
    with st.container():  # always there, so that what follows stays where it is
        if destination.problem:
            st.error(plain(destination.problem), icon=":material/error:")
        if success:
            st.success(success, icon=":material/check:")


def _show_destination_field(work: Work, suggested: str) -> None:
    # The key holds the suggestion: otherwise a slow browser would send the suggestion for an
    # earlier k as if the user had typed it.
    key, typed = f"destination-{work.version}-{Path(suggested).name}", work.view(Destination).typed
    st.text_input(
        "Where the release goes",
        **bound(key, typed or suggested, lambda value: _set_destination(value, suggested)),
        help="A folder for Parquet files, a file that ends in .parquet, .csv or .tsv, or a "
        "new table of a DuckDB file, such as data.duckdb#released. Nothing is overwritten, "
        "and the release appears complete or not at all.",
    )


def writing_request(work: Work, run: Run, suggested: str, handed: EarlierRelease) -> Request | None:
    """None for a table in memory; ``suggested`` is used where no destination was typed."""
    source, plan = run.prepared.source, run.prepared.plan
    if not isinstance(source, StoredSource):
        return None
    target = checked_destination(work.view(Destination).typed or suggested, source.table.address)
    part = part_of(target.path)
    suppressed = 0 if plan.suppressed == "keep" else run.recoding.suppressed_records
    then = partial(
        _store_result, target.shown, plan.k, source.classes.n_records - suppressed, handed
    )
    return Request(
        "writing",
        write_release,
        (source, run.recoding, plan.model_dump(mode="json"), target, part, login_name()),
        then,
        limit="engine_minutes",
        lane="long",
        begins=partial(_store_target, target),
        after=partial(remove, part),
        cancelled=partial(_end_writing, then),
        failed=said_at_destination,
    )


def _store_target(target: Address, work: Work) -> Work:
    destination = replace(work.view(Destination), problem="", written=None, target=target)
    return work.with_parts(destination)


def _store_result(
    place: str, k: int, records: int, handed: EarlierRelease, work: Work, _: object
) -> Work:
    written = WrittenRelease(place, k, records, work.running["writing"].job.seconds)
    return work.with_parts(
        Destination(written=written),
        replace(work.kept, handed=with_handed(work.kept.handed, handed)),
    )


def _end_writing(then: Callable[[Work, object], Work], work: Work) -> Work:
    if complete_at(work.view(Destination).target):
        finished = then(work, None)
        return finished.with_notice("The release was complete before it could be cancelled.")
    return work.with_notice("Writing was cancelled; nothing was changed.")


def _set_destination(typed: str, suggested: str) -> None:
    now = state.work().view(Destination)
    state.change(replace(now, typed="" if typed == suggested else typed, problem=""))


def _describe_file(written: WrittenRelease) -> str:
    records, k = counted(written.records, "record"), thin(written.k)
    return f"Written: {records} for k = {k} in {written.seconds:.2f} s to {plain(written.place)}"


# --- made and written at once -----------------------------------------------------------------
def release_by_engine(work: Work, number: int) -> None:
    st.info(
        f"{said_kept(number)} So choose first where the release goes. The engine then makes, "
        "measures, checks and writes it.",
        icon=":material/database:",
    )
    _show_engine_controls(work, _can_run_algorithm(work, number))
    release = work.findings.engine_release
    stale = engine_release_outdated(work)
    since = partial(changed_since, work, "releasing", engine_release_depends_on)
    fade("engine-release", _BUTTON, stale, "releasing" in work.running, since)
    if release is not None:
        with st.container(key="engine-release"):
            _show_engine_release(release)


def _can_run_algorithm(work: Work, number: int) -> bool:
    """Whether the chosen algorithm runs in the engine; if not, say why and offer one that does."""
    name = work.settings.algorithm
    if runs_stored(name):
        return True
    with st.container(horizontal=True, vertical_alignment="center"):
        st.warning(plain(needs_memory(name, number)), icon=":material/error:")
        st.button("Use GAA", on_click=_set_gaa, key="engine-gaa")
    return False


def _set_gaa() -> None:
    state.change(replace(state.work().settings, algorithm="gaa"))


def _show_engine_controls(work: Work, fits: bool) -> None:
    table = work.table.records
    assert isinstance(table, StoredTable)
    try:
        name = f"released-{name_in_files(plan_of(work, in_engine=True))}"
    except KanonError:  # shown above, or once the button is pressed
        name = "released"
    suggested = suggested_destination(table.address, name)
    write_row(
        work,
        suggested,
        _BUTTON,
        2.8,
        type="primary",
        disabled=not fits or "releasing" in work.running,
        on_click=lambda: runner.run(releasing_request, suggested, refused=said_at_destination),
        key="release-by-engine",
    )


def _show_engine_release(release: EngineRelease) -> None:
    measures, figures = release.found.measures, release.found
    keeps_suppressed = release.plan.suppressed == "keep"
    records = measures["records"] - (0 if keeps_suppressed else measures["suppressed"])
    in_columns(_build_engine_numbers(release))
    written = counted(records, "record")
    st.success(
        f"Written and checked: {written} for k = {thin(release.plan.k)} in {release.seconds:.2f} "
        f"s to {plain(release.place)}",
        icon=":material/check:",
    )
    if dropped := measures["dropped"]:
        st.caption(said_dropped(dropped))
    paragraphs = [
        said_checked(figures.met),
        plain(figures.leaves),
        said_levels(figures.trace, figures.heights),
        which_parts(figures.parts),
        what_is_proved(figures.proof),
    ]
    for paragraph in filter(None, paragraphs):
        st.markdown(paragraph)
    show_remarks(figures.remarks, released=True)
    _show_measures(release)
    with st.expander("How it is computed"):
        st.markdown(how_algorithm(release.plan))


def _build_engine_numbers(release: EngineRelease) -> list[Number]:
    measures, figures = release.found.measures, release.found
    least, suppressed, metric = measures["min_k"], measures["suppressed"], release.plan.metric
    return [
        Number(
            f"{alteration.CARD.title} {alteration.CARD.arrow}",
            percent(figures.alteration),
            lost(figures.alteration, plain(metric.card.title)),
        ),
        Number(
            f"{minimum_k.CARD.title} {minimum_k.CARD.arrow}",
            "no class" if least is None else number_said(least, "records"),
            smallest_class(least),
        ),
        Number(
            "Classes ↑ better",
            thin(measures["classes"]),
            classes_told_apart(measures["classes"], figures.original_classes),
        ),
        Number(
            "Suppressed ↓ better",
            percent(100 * suppressed / measures["records"]),
            left_out(suppressed, measures["records"]),
        ),
    ]


def _show_measures(release: EngineRelease) -> None:
    measures, name = release.found.measures, name_in_files(release.plan)
    table = measures_table(measures)
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
    st.caption(
        f"Not measured: {plain(listing(not_counted(measures)))}. Each needs every class of the "
        "table beside its released class, and these stay in the engine. For the same reason "
        "there is no curve over k, no table before and after, and no combination of several "
        "releases."
    )
    if "prosecutor" not in measures:
        st.caption(
            "Not measured either: the risk of being found and what classes reveal of sensitive "
            "columns, as even the released classes are too many to load here."
        )
    with st.container(horizontal=True):
        data_button("Measures as CSV", lambda: table, "measures", release.settings)
        file_button(
            "Measures as JSON",
            lambda: json.dumps(dict(measures), indent=1).encode(),
            "measures",
            "json",
            release.settings,
            "engine-measures-json",
        )
        plan_button(release.plan.to_json(), f"plan-{name}", "engine-plan")


def measures_table(measures: Mapping[str, Any]) -> pd.DataFrame:
    """The measures of a release as a table: title, name in ``M.json``, value, better direction.

    A value is missing where it is not defined, or not counted.

    >>> found = measures_table({"min_k": 5, "alteration": {"nllm": 2.5}, "not_counted": []})
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


def not_counted(measures: Mapping[str, Any]) -> list[str]:
    cards = {name: module.CARD for name, module in parts_of(kanon.measures).items()}
    return [cards[name].title for name in measures.get("not_counted", [])]
