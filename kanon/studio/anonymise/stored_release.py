"""The release of a table that stays where it is: its engine writes it, or makes and writes it."""

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
    work: Work, settings: str, done: Run, source: StoredSource, name: str, stale: bool
) -> None:
    suggested = suggested_destination(source.table.address, f"released-{name}")
    written = work.view(Destination).written
    write_row(
        work,
        suggested,
        "Write the release of the old settings" if stale else "Write the release",
        2.4,
        "" if written is None else _said(written),
        type="secondary" if stale else "primary",
        disabled="writing" in work.running,
        on_click=partial(runner.run, refused=said_at_destination),
        args=(writing_request, done, suggested, EarlierRelease.of(settings, name, done)),
        key="write-release",
    )


def write_row(
    work: Work, suggested: str, label: str, width: float, said: str = "", **how: Any
) -> None:
    wanted = work.view(Destination)
    where, press = st.columns([6, width], vertical_alignment="bottom")
    with where:
        _destination_field(work, suggested)
    press.button(label, icon=":material/save:", width="stretch", **how)
    order_choice(work, "write")
    with st.container():  # always there, so that what follows stays where it is
        if wanted.problem:
            st.error(plain(wanted.problem), icon=":material/error:")
        if said:
            st.success(said, icon=":material/check:")


def _destination_field(work: Work, suggested: str) -> None:
    """The field for where a release goes; what was typed is kept, else it suggests a place."""
    # The key holds what is suggested: else a browser that is slow would answer with the suggestion
    # for an earlier k, as if somebody had typed it.
    key, typed = f"destination-{work.version}-{Path(suggested).name}", work.view(Destination).typed
    st.text_input(
        "Where the release goes",
        **bound(key, typed or suggested, lambda value: _take(value, suggested)),
        help="A folder that gets Parquet files, a file that ends in .parquet, .csv or .tsv, or a "
        "new table of a DuckDB file, such as data.duckdb#released. Nothing is overwritten, "
        "and the release appears complete or not at all.",
    )


def writing_request(
    work: Work, done: Run, suggested: str, handed: EarlierRelease
) -> Request | None:
    """Have the engine write a release where it was typed, else to ``suggested``; None in memory."""
    source, plan = done.prepared.source, done.prepared.plan
    if not isinstance(source, StoredSource):
        return None
    target = checked_destination(work.view(Destination).typed or suggested, source.table.address)
    part = part_of(target.path)
    gone = 0 if plan.suppressed == "keep" else done.recoding.suppressed_records
    then = partial(_with_written, target.shown, plan.k, source.classes.n_records - gone, handed)
    return Request(
        "writing",
        write_release,
        (source, done.recoding, plan.model_dump(mode="json"), target, part, login_name()),
        then,
        limit="engine_minutes",
        lane="long",
        begins=partial(_with_target, target),
        after=partial(remove, part),
        cancelled=partial(_cancelled, then),
        failed=said_at_destination,
    )


def _with_target(target: Address, work: Work) -> Work:
    wanted = replace(work.view(Destination), problem="", written=None, target=target)
    return work.with_parts(wanted)


def _with_written(
    place: str, k: int, records: int, handed: EarlierRelease, work: Work, _: object
) -> Work:
    written = WrittenRelease(place, k, records, work.running["writing"].job.seconds)
    return work.with_parts(
        Destination(written=written),
        replace(work.kept, handed=with_handed(work.kept.handed, handed)),
    )


def _cancelled(then: Callable[[Work, object], Work], work: Work) -> Work:
    if complete_at(work.view(Destination).target):
        ended = then(work, None)
        return ended.with_notice("The release was complete before it could be cancelled.")
    return work.with_notice("Writing was cancelled; nothing was changed.")


def _take(typed: str, suggested: str) -> None:
    now = state.work().view(Destination)
    state.change(replace(now, typed="" if typed == suggested else typed, problem=""))


def _said(written: WrittenRelease) -> str:
    records, k = counted(written.records, "record"), thin(written.k)
    return f"Written: {records} for k = {k} in {written.seconds:.2f} s, to {plain(written.place)}"


# --- made and written at once -----------------------------------------------------------------
def release_by_engine(work: Work, number: int) -> None:
    st.info(
        f"{said_kept(number)} So say first where the release goes; it is made, measured, checked "
        "and written.",
        icon=":material/database:",
    )
    _controls(work, _algorithm_fits(work, number))
    made = work.findings.engine_release
    stale = engine_release_outdated(work)
    since = partial(changed_since, work, "releasing", engine_release_depends_on)
    fade("engine-release", _BUTTON, stale, "releasing" in work.running, since)
    if made is not None:
        with st.container(key="engine-release"):
            _what_came_of_it(made)


def _algorithm_fits(work: Work, number: int) -> bool:
    """Whether the chosen algorithm runs there; if not, says why, with one that does."""
    name = work.settings.algorithm
    if runs_stored(name):
        return True
    with st.container(horizontal=True, vertical_alignment="center"):
        st.warning(plain(needs_memory(name, number)), icon=":material/error:")
        st.button("Use GAA", on_click=_use_gaa, key="engine-gaa")
    return False


def _use_gaa() -> None:
    state.change(replace(state.work().settings, algorithm="gaa"))


def _controls(work: Work, fits: bool) -> None:
    table = work.table.records
    assert isinstance(table, StoredTable)
    try:
        name = f"released-{name_in_files(plan_of(work, in_engine=True))}"
    except KanonError:  # said above, or once the button is pressed
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


def _what_came_of_it(made: EngineRelease) -> None:
    measures, found = made.found.measures, made.found
    kept = made.plan.suppressed == "keep"
    records = measures["records"] - (0 if kept else measures["suppressed"])
    in_columns(_numbers(made))
    written = counted(records, "record")
    st.success(
        f"Written and checked: {written} for k = {thin(made.plan.k)} in {made.seconds:.2f} s, to "
        f"{plain(made.place)}",
        icon=":material/check:",
    )
    if dropped := measures["dropped"]:
        st.caption(said_dropped(dropped))
    told = [
        said_checked(found.met),
        plain(found.leaves),
        said_levels(found.trace, found.heights),
        which_parts(found.parts),
        what_is_proved(found.proof),
    ]
    for said in filter(None, told):
        st.markdown(said)
    show_remarks(found.remarks, released=True)
    _measures(made)
    with st.expander("How it is computed"):
        st.markdown(how_algorithm(made.plan))


def _numbers(made: EngineRelease) -> list[Number]:
    measures, found = made.found.measures, made.found
    least, gone, metric = measures["min_k"], measures["suppressed"], made.plan.metric
    return [
        Number(
            f"{alteration.CARD.title} {alteration.CARD.arrow}",
            percent(found.alteration),
            lost(found.alteration, plain(metric.card.title)),
        ),
        Number(
            f"{minimum_k.CARD.title} {minimum_k.CARD.arrow}",
            "no class" if least is None else number_said(least, "records"),
            smallest_class(least),
        ),
        Number(
            "Classes ↑ better",
            thin(measures["classes"]),
            classes_told_apart(measures["classes"], found.original_classes),
        ),
        Number(
            "Suppressed ↓ better",
            percent(100 * gone / measures["records"]),
            left_out(gone, measures["records"]),
        ),
    ]


def _measures(made: EngineRelease) -> None:
    measures, name = made.found.measures, name_in_files(made.plan)
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
        f"Not counted: {plain(listing(not_counted(measures)))}. Each needs every class of the "
        "table beside its released one, and those stay in the engine. For the same reason "
        "there is no curve over k, no table before and after, and nothing of what several "
        "releases say together."
    )
    if "prosecutor" not in measures:
        st.caption(
            "Not counted either: the risk of being found and what classes say of sensitive "
            "columns, as even the released classes are more than come here."
        )
    with st.container(horizontal=True):
        data_button("Measures as CSV", lambda: table, "measures", made.settings)
        file_button(
            "Measures as JSON",
            lambda: json.dumps(dict(measures), indent=1).encode(),
            "measures",
            "json",
            made.settings,
            "engine-measures-json",
        )
        plan_button(made.plan.to_json(), f"plan-{name}", "engine-plan")


def measures_table(measures: Mapping[str, Any]) -> pd.DataFrame:
    """The measures of a release as a table: what each is called, its name in ``M.json``, its value.

    A value is missing where it is not defined, or not counted.

    >>> found = measures_table({"min_k": 5, "alteration": {"nllm": 2.5}, "not_counted": []})
    >>> found[["measure", "name", "value"]].to_numpy().tolist()
    [['Minimum k', 'min_k', 5.0], ['Alteration, NLLM', 'alteration.nllm', 2.5]]
    """
    cards = {name: module.CARD for name, module in parts_of(kanon.measures).items()}
    rows = []
    for name, value in _numbers_by_name(measures):
        first, _, rest = name.partition(".")
        if first in cards:
            of_metric = METRICS[rest].card.title if rest in METRICS else rest
            title = ", ".join(filter(None, [cards[first].title, of_metric]))
            rows.append((title, name, value, cards[first].arrow))
        else:
            words = name.replace("_", " ").replace(".", ", ")
            rows.append((words[:1].upper() + words[1:], name, value, ""))
    found = pd.DataFrame(rows, columns=["measure", "name", "value", "better"])
    return found.astype({"value": float})


def _numbers_by_name(
    measures: Mapping[str, Any], before: str = ""
) -> Iterator[tuple[str, float | None]]:
    for name, value in measures.items():
        if isinstance(value, Mapping):
            yield from _numbers_by_name(value, f"{before}{name}.")
        elif value is None or isinstance(value, (int, float)):
            yield f"{before}{name}", value


def not_counted(measures: Mapping[str, Any]) -> list[str]:
    """What the measures are called that would need every class here."""
    cards = {name: module.CARD for name, module in parts_of(kanon.measures).items()}
    return [cards[name].title for name in measures.get("not_counted", [])]
