"""What does this k cost? Run an algorithm, then move k and look."""

import streamlit as st

import kanon.algorithms
from kanon.cards import parts_of
from kanon.charts.curves import alteration_curve, curves_table
from kanon.charts.style import thin
from kanon.sources.writing import KINDS, MIME, table_bytes
from kanon.studio import running, state
from kanon.studio.explain import how_algorithm, how_alteration
from kanon.studio.files import release_name, side_name
from kanon.studio.frame import head, metric_choice
from kanon.studio.preview import ROWS, before_and_after
from kanon.studio.text import percent, plain
from kanon.studio.work import k_grid

running.collect()
work = head(f"What does k = {thin(state.work().k)} cost?")
algorithms = parts_of(kanon.algorithms)


def take(field: str, key: str) -> None:
    """Copy what was chosen in a widget into the state."""
    state.change(**{field: state.typed(key)})


# --- one row of choices ---------------------------------------------------------------------
with st.container(horizontal=True, vertical_alignment="bottom"):
    st.selectbox(
        "Algorithm",
        list(algorithms),
        key=state.seeded("run-algorithm", work.algorithm),
        format_func=lambda name: algorithms[name].CARD.title,
        help=plain(algorithms[work.algorithm].CARD.summary),
        on_change=take,
        args=("algorithm", "run-algorithm"),
    )
    metric_choice("run-metric")
    st.selectbox(
        "A merge counts",
        ["weighted", "representatives"],
        key=state.seeded("run-cost", work.cost),
        format_func={"weighted": "every record", "representatives": "one record per class"}.get,
        help="Whether the cost of merging two classes counts each of their records, or one each.",
        on_change=take,
        args=("cost", "run-cost"),
    )
    stale = running.outdated(work)
    st.button(
        "Anonymise",
        type="primary" if stale or work.result is None else "secondary",
        icon=":material/play_arrow:",
        disabled=work.busy,
        on_click=running.start,
    )
    st.button("Cancel", icon=":material/stop:", disabled=not work.busy, on_click=running.cancel)


@st.fragment(run_every=0.4 if work.busy else None)
def progress() -> None:
    """The run under way; draws the whole page again once it has ended."""
    job = state.work().job
    if job is None:
        return
    if job.finished:
        st.rerun()
    left = f" · about {job.remaining:.0f} s left" if job.remaining else ""
    st.progress(job.progress, text=plain(f"{job.text}{left}"))


progress()

result = work.result
if result is None:
    if not work.busy:
        st.info("There is no result for this table yet. Choose a metric, then press Anonymise.")
    st.stop()
if stale and not work.busy:
    st.warning(
        "Settings have changed since this result was made; press Anonymise to bring it up to date.",
        icon=":material/history:",
    )

# --- one slider for k, and what it costs ----------------------------------------------------
prepared, solution = result.prepared, result.solution
n_records = prepared.classes.n_records
made_with = prepared.plan
k = result.k_for(work.k)
if solution.curves is not None:
    st.plotly_chart(
        alteration_curve(solution.curves, made_with.metric, k),
        config={"displayModeBar": False},
        key="alteration-curve",
    )
    st.select_slider(
        "k, records per class at least (log scale)",
        k_grid(n_records, also=k),
        key=state.seeded("run-k", k),
        format_func=thin,
        label_visibility="collapsed",  # the chart's axis right above says it
        on_change=take,
        args=("k", "run-k"),
    )
else:
    st.caption(
        f"{plain(algorithms[made_with.algorithm.name].CARD.title)} runs once per k, so there is no "
        f"slider: this is k = {thin(k)}. Change k in the line at the top and run again."
    )

done = state.remembered("release", (result.settings, k), lambda: result.release(k))
chosen = done.prepared.plan
found = done.measures
numbers = st.columns(5)
numbers[0].metric(
    "Alteration ↓ better",
    percent(found["alteration"][made_with.metric.name]),
    help=f"How much of all that could be lost was lost, as {made_with.metric.card.title} counts.",
)
numbers[1].metric(
    "Generalised ↓ better",
    percent(found["generalised_percent"]),
    help="Quasi-identifier cells that no longer hold their original value.",
)
numbers[2].metric(
    "At root ↓ better",
    percent(found["root_percent"]),
    help="Quasi-identifier cells that say nothing any more.",
)
numbers[3].metric(
    "Minimum k ↑ better",
    f"{thin(found['min_k'])} records",
    help="The size of the smallest class of the release: the k that was reached.",
)
numbers[4].metric(
    "Classes ↑ better",
    thin(found["classes"]),
    help=f"Groups of records that look the same; the original table has "
    f"{thin(prepared.classes.n_classes)}.",
)
if found["dropped"]:
    st.caption(
        f"{thin(found['dropped'])} records lack a quasi-identifier and were dropped before the run."
    )

# --- before and after -----------------------------------------------------------------------
before, after = state.remembered("preview", (result.settings, k), lambda: before_and_after(done))
left, right = st.columns(2)
left.subheader("Before")
left.dataframe(before, height=320, hide_index=True, key="before")
right.subheader(f"After, at least {thin(found['min_k'])} alike")
right.dataframe(after, height=320, hide_index=True, key="after")
st.caption(
    f"The first {thin(min(ROWS, n_records))} of {thin(n_records)} records; the download holds all. "
    "Darker blue: the cell rose further in its hierarchy."
)

# --- take it away ---------------------------------------------------------------------------
st.subheader("Download")
with st.container(horizontal=True, vertical_alignment="bottom"):
    kind = st.selectbox(
        "Format",
        [name for name in ("csv", "parquet", "xlsx", "feather", "tsv") if name in KINDS],
        format_func=str.upper,
        key="download-format",
        width=160,
    )
    st.download_button(
        "Released table",
        data=lambda: table_bytes(done.released(), kind),
        file_name=release_name(work, chosen, kind),
        mime=MIME[kind],
        icon=":material/download:",
        on_click="ignore",
        type="primary",
    )
    st.download_button(
        "Plan",
        data=chosen.to_json(),
        file_name=side_name(work, chosen, "plan", "json"),
        mime="application/json",
        icon=":material/description:",
        on_click="ignore",
        help="Everything that was chosen; python -m kanon run repeats it. Its hierarchies list "
        "the values that occur in the table.",
    )
    if solution.curves is not None:
        curves = solution.curves
        st.download_button(
            "Data of the curve",
            data=lambda: table_bytes(curves_table(curves), "csv"),
            file_name=side_name(work, chosen, "curve", "csv"),
            mime=MIME["csv"],
            icon=":material/show_chart:",
            on_click="ignore",
        )

with st.expander("How it is computed"):
    st.markdown(how_alteration(done))
    st.markdown(how_algorithm(made_with.algorithm.name))
