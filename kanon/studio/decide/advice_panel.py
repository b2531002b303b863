"""The part *Which settings?*, which tries every metric, strategy and scope."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import pandas as pd
import streamlit as st

from kanon.base.formatting import choose_plural, write_count, write_percent
from kanon.base.how_texts import Sections
from kanon.base.rounding import round_apart, write_decimals
from kanon.charts.advice import draw_advice
from kanon.errors import KanonError, PlanError, Unsatisfiable
from kanon.experiments.advisor.advice import Advice, run_configurations
from kanon.experiments.advisor.proposals import (
    NEARLY_EVERYTHING,
    Proposal,
    describe_first_warning,
    describe_limits,
)
from kanon.experiments.advisor.repetition import RepeatedLoss, run_again
from kanon.experiments.advisor.ways import (
    choose_averaged_k,
    choose_tried_k,
    create_advisor_runs,
    list_advisor_configurations,
    plan_to_advise,
)
from kanon.experiments.advisor.weights import rank_configurations
from kanon.experiments.comparison import Comparison, Line
from kanon.experiments.criteria import COSTLESS
from kanon.experiments.sweep import Configuration, PlannedRun
from kanon.measures.along import Points
from kanon.plan import Plan
from kanon.privacy.k_anonymity import too_few_records
from kanon.privacy.persons import describe_too_few_persons
from kanon.release.context import compute_least_k, list_thresholds
from kanon.run import prepare
from kanon.strategies import SCOPES, STRATEGIES
from kanon.studio.decide.settings_undo import show_undo_button, take_settings
from kanon.studio.decide.state import AdviceView
from kanon.studio.jobs import runner
from kanon.studio.jobs.durations import measure_job
from kanon.studio.session import state
from kanon.studio.session.changed_settings import list_changed_labels
from kanon.studio.session.findings import AdviceRequirements, AdviceResult
from kanon.studio.session.run_plan import build_plan, hash_run_inputs
from kanon.studio.session.state import attach_widget
from kanon.studio.session.text import escape_markdown
from kanon.studio.session.work import JobRequest, SessionState
from kanon.studio.widgets.controls import draw_segments
from kanon.studio.widgets.files import draw_code_buttons
from kanon.studio.widgets.picture import (
    PictureSettings,
    get_start_state,
    show_picture,
)
from kanon.studio.widgets.progress import draw_start_button
from kanon.studio.widgets.result import show_outdated_notice

CONCERNS: Mapping[str, str] = {
    "utility": "Little is lost",
    "l": "Mixed classes (l)",
    "t": "Classes like the table (t)",
}
"""The labels of the concerns beside their sliders."""

START = "Try every configuration"

_how = Sections(__file__)

WAY = "Configuration"  # the head of the column that names a configuration


@dataclass(frozen=True, eq=False)
class AdviceJob:
    runs: list[PlannedRun]
    wanted: tuple[Configuration, ...]
    tried: tuple[int, ...]  # all k that are run
    ks: tuple[int, ...]  # the k of the averages
    limits: Mapping[str, float]  # the thresholds of part 1 for k, l and t
    settings: str  # a fingerprint of everything that the results depend on

    @property
    def asked(self) -> AdviceRequirements:
        return self.ks, tuple(sorted(self.limits.items()))


def plan_advice(work: SessionState) -> Plan:
    settings = replace(
        work.settings, algorithm="gaa", metric="nllm", strategy="s1", scope="table", sensitive=None
    )
    plan = build_plan(work.replace_sections(settings))
    algorithm = plan.algorithm.model_copy(update={"sensitive": work.focus or None})
    return plan_to_advise(plan.model_copy(update={"algorithm": algorithm}))


def get_advice_settings(work: SessionState) -> str:
    return hash_run_inputs(work, plan_advice(work))


def get_advice_ks(work: SessionState) -> tuple[int, ...]:
    """The k of the averages; PlanError if their range is empty."""
    view = work.view(AdviceView)
    return choose_averaged_k(view.low or work.settings.k, view.high)


def get_advice_limits(work: SessionState) -> dict[str, float]:
    """The thresholds of part 1, if they count here."""
    return _list_part_1_limits(work) if work.view(AdviceView).limited else {}


def _list_part_1_limits(work: SessionState) -> dict[str, float]:
    """The thresholds of part 1; k only if it is above the k of this part."""
    required = list_thresholds(work.purpose.context)
    limits: dict[str, float | None] = {}
    if compute_least_k(work.purpose.context) > get_advice_ks(work)[0]:
        limits["k"] = compute_least_k(work.purpose.context)
    if work.table.sensitive_columns:
        limits |= {name: required[name].wanted for name in ("l", "t")}
    return {name: float(value) for name, value in limits.items() if value is not None}


def describe_advice_limits(work: SessionState) -> str:
    signs = {"k": "≥", "l": "≥", "t": "≤"}
    return ", ".join(
        f"{name} {signs[name]} {value:g}" for name, value in _list_part_1_limits(work).items()
    )


def build_advice_job(work: SessionState) -> AdviceJob:
    plan = plan_advice(work)
    ks, prepared = get_advice_ks(work), prepare(plan, work.table.records)
    wanted = list_advisor_configurations(plan.led_by is not None, plan.algorithm.tie_seed)
    runs = create_advisor_runs(prepared, wanted)
    runs[0].task.for_k(max(ks)).check()
    tried = choose_tried_k(ks, prepared.classes.highest_k)
    return AdviceJob(runs, wanted, tried, ks, get_advice_limits(work), hash_run_inputs(work, plan))


def list_concerns(work: SessionState) -> list[str]:
    return list(CONCERNS) if work.table.sensitive_columns else ["utility"]


def check_matters(work: SessionState) -> None:
    names = list_concerns(work)
    if not any(work.view(AdviceView).weights[name] for name in names):
        raise PlanError(
            "All weights are 0, so no concern counts; set at least one above 0: "
            f"{', '.join(CONCERNS[name] for name in names)}."
        )


def build_advice_request(work: SessionState) -> JobRequest:
    job, weights = build_advice_job(work), work.view(AdviceView).weights
    check_matters(work)
    then = partial(store_advice, job.settings, job.asked)
    arguments = (job.runs, job.wanted, job.tried, job.ks, weights, job.limits)
    return JobRequest("advising", run_configurations, arguments, then, limit="study_minutes")


def build_repetition_request(work: SessionState, places: Sequence[int]) -> JobRequest:
    job = build_advice_job(work)

    def store_losses(work: SessionState, losses: Sequence[RepeatedLoss]) -> SessionState:
        advised = work.findings.advice
        if advised is None:
            return work
        more = {(job.asked, place): loss for place, loss in zip(places, losses, strict=True)}
        advised = replace(advised, repeated_losses={**advised.repeated_losses, **more})
        return work.replace_sections(replace(work.findings, advice=advised))

    arguments = ([job.runs[place] for place in places], job.ks, job.limits)
    return JobRequest("advising", run_again, arguments, store_losses, limit="study_minutes")


def store_advice(
    settings: str,
    asked: AdviceRequirements,
    work: SessionState,
    result: tuple[Comparison, Mapping[int, RepeatedLoss]],
) -> SessionState:
    comparison, again = result
    losses = {(asked, place): loss for place, loss in again.items()}
    advised = AdviceResult(comparison, settings, losses)
    return work.replace_sections(replace(work.findings, advice=advised))


def build_advice(work: SessionState, advised: AdviceResult) -> Advice:
    """The advice for the current weights, limits and k; nothing is run."""
    ks, comparison = get_advice_ks(work), advised.comparison
    if max(ks) > comparison.n_records:
        too_few = too_few_records if work.table.person is None else describe_too_few_persons
        raise Unsatisfiable(too_few(max(ks), comparison.n_records))
    view = work.view(AdviceView)
    ranking = rank_configurations(comparison, ks, view.weights, get_advice_limits(work))
    asked = ks, tuple(sorted(ranking.limits.items()))
    own = {
        place: loss
        for (loss_key, place), loss in advised.repeated_losses.items()
        if loss_key == asked
    }
    return Advice(ranking, own)


def has_tried_k(work: SessionState, advised: AdviceResult) -> bool:
    ks, comparison = get_advice_ks(work), advised.comparison
    if any(isinstance(run, Points) for line in comparison.lines for run in line.runs.values()):
        return set(ks) <= set(comparison.ks)
    return max(ks) <= max(comparison.ks)


def choose_proposal_k(work: SessionState) -> int:
    """The k for which a proposal is used: the k of the settings, if it is in the range."""
    ks = get_advice_ks(work)
    return work.settings.k if ks[0] <= work.settings.k <= ks[-1] else ks[0]


def take_proposal(work: SessionState, configuration: Configuration, k: int) -> SessionState:
    """Use the settings of a proposal for ``k``; a strategy without cost keeps the metric."""
    return take_settings(
        work,
        "settings",
        "The settings are now in use; press Anonymise on the Anonymise page.",
        replace(
            work.settings,
            algorithm="gaa",
            metric=work.settings.metric
            if configuration.strategy in COSTLESS
            else configuration.metric,
            strategy=configuration.strategy,
            scope=configuration.scope,
            sensitive=work.focus or None,
            k=k,
        ),
    )


def describe_advice_size(work: SessionState) -> str:
    number = len(list_advisor_configurations(bool(work.table.sensitive_columns)))
    if work.table.sensitive_columns:
        return f"{number} configurations of metric, strategy and scope are tried for every k."
    return (
        "No column is sensitive, so there is no l or t, and only strategy S1 applies: "
        f"{number} configurations are compared by alteration only."
    )


def build_advice_table(table: pd.DataFrame) -> pd.DataFrame:
    heads = {
        "rank": "Rank",
        "way": WAY,
        "score": "Score, % ↓",
        "mean_alteration": "Alteration, % ↓",
        "l": "l ↑",
        "t": "t, 0 to 1 ↓",
        "front": "Nothing beats it",
        "meets_limits": "Meets part 1",
    }
    visible = table[[name for name in heads if name in table]].rename(columns=heads)
    numbers = visible.select_dtypes("float").columns
    return visible.assign(**{name: round_apart(visible[name], 2) for name in numbers})


# --- on the page ------------------------------------------------------------------------------
def show_advice_panel(work: SessionState) -> None:
    if work.table.records.in_engine:
        st.info(
            "The advisor needs the table in memory, but this table stays in its engine. Load it as "
            "a file on the Data page, or run python -m kanon advise with --engine memory."
        )
        return
    try:
        settings = get_advice_settings(work)
        state.get_or_compute(
            "advice prepared", settings, lambda: prepare(plan_advice(work), work.table.records)
        )
    except KanonError as error:
        st.error(escape_markdown(error.sentence), icon=":material/error:")
        return
    _show_question(work)
    advised, advice = work.findings.advice, None
    try:
        check_matters(work)
        get_advice_ks(work)
        if advised is not None and advised.settings == settings and has_tried_k(work, advised):
            advice = build_advice(work, advised)
    except KanonError as error:  # all weights are 0, or the range of k is empty
        _show_buttons(work, None)
        st.warning(escape_markdown(error.sentence), icon=":material/tune:")
        return
    _show_buttons(work, advice)
    if advice is not None:
        _show_advice(work, advice)
    elif advised is not None and "advising" not in work.running:
        if advised.settings == settings:
            st.warning(f"This k has not been tried yet; press {START}.", icon=":material/history:")
        else:
            show_outdated_notice(START, list_changed_labels(work, "advising", get_advice_settings))
    else:
        st.caption(describe_advice_size(work))
    with st.expander("How it is computed", icon=":material/calculate:"):
        weights = work.view(AdviceView).weights
        records = write_count(work.table.complete_records.n_records)
        st.markdown(
            _how("advised", whole=sum(weights.values()), records=records,
                 utility=weights["utility"], mixed=weights["l"], alike=weights["t"])
        )  # fmt: skip
        if advice is not None:
            ks = get_advice_ks(work)
            constants = {
                "K": ks[0] if len(ks) == 1 else (ks[0], ks[-1]),
                "WEIGHTS": dict(weights),
                "LIMITS": dict(get_advice_limits(work)),
                "CONCERN": _get_concern(work, advice),
            }
            draw_code_buttons("settings", lambda: plan_advice(work), constants)


def _set_weight(name: str, value: int) -> None:
    view = state.get_session().view(AdviceView)
    state.update_sections(replace(view, weights={**view.weights, name: value}))


# --- the question -----------------------------------------------------------------------------
def _show_question(work: SessionState) -> None:
    view = work.view(AdviceView)
    # A k typed before records were left out stays, with a message that it is out of reach.
    most = max(2, work.table.complete_records.n_records, view.low or 0, view.high or 0)
    low, high, *weights = st.columns([3, 3, 5, 5, 5], vertical_alignment="bottom")
    for place, field, label, value in (
        (low, "low", "k", view.low or min(work.settings.k, most)),
        (high, "high", "up to k", view.high),
    ):
        key = f"advice-{field}-{work.version}"
        place.number_input(
            label,
            min_value=2,
            max_value=most,
            value=None,
            step=1,
            placeholder="one k" if field == "high" else None,
            **attach_widget(key, value, field, into=AdviceView),
            help="Leave it empty for one k. For a range, criteria are averaged over k."
            if field == "high"
            else None,
        )
    for place, name in zip(weights, list_concerns(work), strict=False):
        key = f"advice-weight-{name}"
        place.slider(
            CONCERNS[name],
            0,
            10,
            **attach_widget(key, view.weights[name], _set_weight, name),
            help="How much it matters. 0: not at all.",
        )


def _show_buttons(work: SessionState, advice: Advice | None) -> None:
    number = len(list_advisor_configurations(bool(work.table.sensitive_columns)))
    with st.container(horizontal=True, vertical_alignment="center"):
        draw_start_button(
            "advising", START, build_advice_request, first=advice is None, key="advice",
            effort=measure_job(work, "advising", number),
        )  # fmt: skip
        if limits := describe_advice_limits(work):
            st.checkbox(
                f"First those that meet part 1: {escape_markdown(limits)}",
                **attach_widget(
                    "advice-limited", work.view(AdviceView).limited, "limited", into=AdviceView
                ),
            )
        if advice is not None and advice.weighed.comparison.sensitive:
            titles = {name: f"Alteration against {name}" for name in ("l", "t")}
            concern, options = _get_concern(work, advice), {"label_visibility": "collapsed"}
            draw_segments(
                "Picture", titles, "advice-concern", concern, "concern", AdviceView, **options
            )


def _get_concern(work: SessionState, advice: Advice) -> str:
    """The axis against the alteration: the chosen one, or the one with the widest spread."""
    apart = advice.weighed.losses.max(axis=0) - advice.weighed.losses.min(axis=0)
    return work.view(AdviceView).concern or (
        "l" if len(apart) == 1 or apart[1] >= apart[2] else "t"
    )


# --- the answer -------------------------------------------------------------------------------
def _show_advice(work: SessionState, advice: Advice) -> None:
    ranking, about, concern = advice.weighed, _get_advice_key(work), _get_concern(work, advice)
    figure = state.get_or_compute(
        "advice chart", (about, concern), lambda: draw_advice(ranking, advice.proposals, concern)
    )
    settings = PictureSettings.from_comparison(
        get_start_state(work, "advising"), ranking.comparison
    )
    show_picture(figure, advice.table, "advised", about, settings)
    if not ranking.comparison.sensitive:
        st.caption(describe_advice_size(work))
    if sentence := describe_first_warning(ranking):
        st.warning(escape_markdown(sentence), icon=":material/warning:")
    if sentence := describe_limits(ranking):
        st.markdown(f"**{escape_markdown(sentence)}**")
        if not ranking.meets.any() and ranking.comparison.sensitive:
            st.caption("In part 1, press Add as requirements to require them for the next release.")
    places = st.columns(len(advice.proposals))
    for number, (place, proposal) in enumerate(zip(places, advice.proposals, strict=True), 1):
        with place, st.container(border=True, height="stretch"):
            _show_proposal(work, advice, number, proposal)
    _show_steadiness(work, advice)
    with st.expander("All configurations", icon=":material/table_rows:"):
        table = state.get_or_compute("advice table", about, advice.table)
        config = {WAY: st.column_config.TextColumn(pinned=True, width=220)}
        st.dataframe(build_advice_table(table), hide_index=True, column_config=config)


def _get_advice_key(work: SessionState) -> str:
    view = work.view(AdviceView)
    assert work.findings.advice is not None
    limits = describe_advice_limits(work) if view.limited else ""
    weights = ",".join(f"{name}={value}" for name, value in view.weights.items())
    advised = work.findings.advice
    return f"{advised.settings}|{get_advice_ks(work)}|{weights}|{limits}|{advised.comparison.ks}"


def _show_proposal(work: SessionState, advice: Advice, number: int, proposal: Proposal) -> None:
    ranking, line = advice.weighed, advice.weighed.ways[proposal.place]
    k = ranking.k_for(proposal.place, choose_proposal_k(work))
    own = ranking.figures(proposal.place)
    st.markdown(
        f"**{number} · {escape_markdown(advice.title(proposal))}**  \n"
        f"{_describe_sake(proposal, own['mean_alteration'])}",
        help=escape_markdown(_explain_line(line)),
    )
    score = write_percent(float(ranking.scores[proposal.place]))
    figures = [f"alteration {write_percent(own['mean_alteration'])} ↓"]
    if ranking.comparison.sensitive:
        figures += [f"l = {write_decimals(own['l'], 2)} ↑", f"t = {write_decimals(own['t'], 2)} ↓"]
    st.markdown(" · ".join([*figures, f"score {score} ↓"]))
    st.markdown(escape_markdown(proposal.reason))
    st.caption(escape_markdown(advice.over_k(proposal)))
    new, now = take_proposal(work, line.configuration, k).settings, work.settings
    in_use = (
        (now.algorithm, work.usable_strategy) == ("gaa", new.strategy)
        and (now.metric, now.k) == (new.metric, new.k)
        and (new.strategy == "s1" or now.scope == new.scope)
    )
    st.button(
        "In use" if in_use else "Use these settings",
        icon=":material/tune:",
        key=f"advice-use-{number}",
        disabled=in_use,
        on_click=lambda: state.set_session(
            take_proposal(state.get_session(), line.configuration, k)
        ),
    )


def _explain_line(line: Line) -> str:
    own = line.configuration
    cards = [STRATEGIES[own.strategy]]
    if own.strategy not in COSTLESS:
        cards.insert(0, line.guide.card)
    if own.strategy != "s1":
        cards.append(SCOPES[own.scope])
    return " ".join(f"{card.title}: {card.summary}" for card in cards)


def _describe_sake(proposal: Proposal, loss: float) -> str:
    if proposal.sake == "all" and loss >= NEARLY_EVERYTHING:
        return "the lowest score by your weights, but nearly everything is lost"
    return {
        "all": "the best by your weights",
        "utility": "if little loss mattered most",
        "l": "if mixed classes mattered most",
        "t": "if classes like the table mattered most",
    }[proposal.sake]


def _show_steadiness(work: SessionState, advice: Advice) -> None:
    show_undo_button(work, "settings")
    if len(advice.proposals) == 1:
        st.markdown("No alternative is at least a point better in any criterion.")
        return
    if advice.steady is not None:
        st.markdown(f"{escape_markdown(advice.about_ties)} {escape_markdown(advice.about_records)}")
        return
    lacking = [item.place for item in advice.proposals if item.place not in advice.repeated_losses]
    st.button(
        choose_plural(len(lacking), "Run {count} proposal again", "Run {count} proposals again"),
        icon=":material/repeat:",
        key="advice-again",
        disabled="advising" in work.running,
        on_click=runner.run_request,
        args=(build_repetition_request, lacking),
        help="Shows whether the first proposal stays first with ten other tie orders and on ten "
        "tables redrawn from these records.",
    )
