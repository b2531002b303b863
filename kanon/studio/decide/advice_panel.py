"""The part *Which settings?*, which tries every metric, strategy and scope."""

from dataclasses import replace
from typing import Any

import streamlit as st

from kanon.base.formatting import one_or_many, percent
from kanon.base.rounding import write_decimals
from kanon.charts.advice import advised_chart
from kanon.errors import KanonError
from kanon.experiments.advisor.advice import Advice
from kanon.experiments.advisor.proposals import (
    NEARLY_EVERYTHING,
    Proposal,
    about_first,
    about_limits,
)
from kanon.experiments.comparison import Line
from kanon.experiments.criteria import COSTLESS
from kanon.run import prepare
from kanon.strategies import SCOPES, STRATEGIES
from kanon.studio.decide.advice import (
    CONCERNS,
    WAY,
    advice_of,
    advice_request,
    check_matters,
    concerns_of,
    how_advised,
    k_asked,
    ks_of,
    limits_said,
    plan_of_advice,
    repetition_request,
    settings_of_advice,
    tried,
    ways_said,
    ways_shown,
    with_proposal,
)
from kanon.studio.decide.state import DecideView
from kanon.studio.decide.undo_button import back_button
from kanon.studio.jobs import runner
from kanon.studio.session import state
from kanon.studio.session.changed_settings import changed_since
from kanon.studio.session.state import bound
from kanon.studio.session.text import plain
from kanon.studio.session.work import Work
from kanon.studio.widgets.picture import PictureSettings, begun_with, data_button, picture
from kanon.studio.widgets.progress import begin_button
from kanon.studio.widgets.result import outdated_notice

START = "Try every configuration"


def show(work: Work) -> None:
    if work.table.records.in_engine:
        st.info(
            "The advisor needs the table in memory, but this table stays in its engine. Load it as "
            "a file on the page Data, or run python -m kanon advise with --engine memory."
        )
        return
    try:
        settings = settings_of_advice(work)
        state.remembered(
            "advice prepared", settings, lambda: prepare(plan_of_advice(work), work.table.records)
        )
    except KanonError as error:
        st.error(plain(error.sentence), icon=":material/error:")
        return
    _show_question(work)
    advised, advice = work.findings.advised, None
    try:
        check_matters(work)
        ks_of(work)
        if advised is not None and advised.settings == settings and tried(work, advised):
            advice = advice_of(work, advised)
    except KanonError as error:  # all weights are 0, or the range of k is empty
        _show_buttons(work, None)
        st.warning(plain(error.sentence), icon=":material/tune:")
        return
    _show_buttons(work, advice)
    if advice is not None:
        _show_advice(work, advice)
    elif advised is not None and "advising" not in work.running:
        if advised.settings == settings:
            sentence = f"So large a k was not tried yet; press {START} again."
            st.warning(sentence, icon=":material/history:")
        else:
            outdated_notice(START, changed_since(work, "advising", settings_of_advice))
    else:
        st.caption(ways_said(work))
    with st.expander("How it is computed", icon=":material/calculate:"):
        st.markdown(how_advised(work))


def _set(**fields: Any) -> None:
    deciding = state.work().view(DecideView)
    state.change(replace(deciding, advice=replace(deciding.advice, **fields)))


def _set_weight(name: str, value: Any) -> None:
    _set(weights={**state.work().view(DecideView).advice.weights, name: value})


# --- the question -----------------------------------------------------------------------------
def _show_question(work: Work) -> None:
    view = work.view(DecideView).advice
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
            **bound(key, value, field, into=_set),
            help="Leave it empty for one k. For a range, criteria are averaged over k."
            if field == "high"
            else None,
        )
    for place, name in zip(weights, concerns_of(work), strict=False):
        key = f"advice-weight-{name}"
        place.slider(
            CONCERNS[name],
            0,
            10,
            **bound(key, view.weights[name], _set_weight, name),
            help="How much it matters. 0: not at all.",
        )


def _show_buttons(work: Work, advice: Advice | None) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        begin_button("advising", START, advice_request, first=advice is None, key="advice")
        if limits := limits_said(work):
            st.checkbox(
                f"First those that meet part 1: {plain(limits)}",
                **bound(
                    "advice-limited", work.view(DecideView).advice.limited, "limited", into=_set
                ),
            )
        if advice is not None and advice.weighed.comparison.sensitive:
            st.segmented_control(
                "Picture",
                ["l", "t"],
                **bound("advice-concern", _get_concern(work, advice), "concern", into=_set),
                label_visibility="collapsed",
                format_func=lambda name: f"Alteration against {name}",
            )


def _get_concern(work: Work, advice: Advice) -> str:
    """The axis against the alteration: the chosen one, or the one with the widest spread."""
    apart = advice.weighed.losses.max(axis=0) - advice.weighed.losses.min(axis=0)
    return work.view(DecideView).advice.concern or (
        "l" if len(apart) == 1 or apart[1] >= apart[2] else "t"
    )


# --- the answer -------------------------------------------------------------------------------
def _show_advice(work: Work, advice: Advice) -> None:
    ranking, about, concern = advice.weighed, _get_advice_key(work), _get_concern(work, advice)
    figure = state.remembered(
        "advice chart", (about, concern), lambda: advised_chart(ranking, advice.proposals, concern)
    )
    settings = PictureSettings.of_comparison(begun_with(work, "advising"), ranking.comparison)
    picture(figure, advice.table, "advised", about, settings)
    if not ranking.comparison.sensitive:
        st.caption(ways_said(work))
    if sentence := about_first(ranking):
        st.warning(plain(sentence), icon=":material/warning:")
    if sentence := about_limits(ranking):
        st.markdown(f"**{plain(sentence)}**")
        if not ranking.meets.any() and ranking.comparison.sensitive:
            st.caption("In part 1, press Add as requirements to require them of the next release.")
    places = st.columns(len(advice.proposals))
    for number, (place, proposal) in enumerate(zip(places, advice.proposals, strict=True), 1):
        with place, st.container(border=True, height="stretch"):
            _show_proposal(work, advice, number, proposal)
    _show_steadiness(work, advice)
    with st.expander("All configurations", icon=":material/table_rows:"):
        table = state.remembered("advice table", about, advice.table)
        config = {WAY: st.column_config.TextColumn(pinned=True, width=220)}
        st.dataframe(ways_shown(table), hide_index=True, column_config=config)
        data_button("Download all configurations", advice.table, "ways", about)


def _get_advice_key(work: Work) -> str:
    view = work.view(DecideView).advice
    assert work.findings.advised is not None
    limits = limits_said(work) if view.limited else ""
    weights = ",".join(f"{name}={value}" for name, value in view.weights.items())
    advised = work.findings.advised
    return f"{advised.settings}|{ks_of(work)}|{weights}|{limits}|{advised.comparison.ks}"


def _show_proposal(work: Work, advice: Advice, number: int, proposal: Proposal) -> None:
    ranking, line = advice.weighed, advice.weighed.ways[proposal.place]
    k = ranking.k_for(proposal.place, k_asked(work))
    own = ranking.figures(proposal.place)
    st.markdown(
        f"**{number} · {plain(advice.title(proposal))}**  \n"
        f"{_describe_sake(proposal, own['mean_alteration'])}",
        help=plain(_explain_line(line)),
    )
    score = percent(float(ranking.scores[proposal.place]))
    figures = [f"alteration {percent(own['mean_alteration'])} ↓"]
    if ranking.comparison.sensitive:
        figures += [f"l = {write_decimals(own['l'], 2)} ↑", f"t = {write_decimals(own['t'], 2)} ↓"]
    st.markdown(" · ".join([*figures, f"score {score} ↓"]))
    st.markdown(plain(proposal.reason))
    st.caption(plain(advice.over_k(proposal)))
    new, now = with_proposal(work, line.configuration, k).settings, work.settings
    in_use = (
        (now.algorithm, work.strategy_used) == ("gaa", new.strategy)
        and (now.metric, now.k) == (new.metric, new.k)
        and (new.strategy == "s1" or now.scope == new.scope)
    )
    st.button(
        "In use" if in_use else "Use these settings",
        icon=":material/tune:",
        key=f"advice-use-{number}",
        disabled=in_use,
        on_click=lambda: state.put(with_proposal(state.work(), line.configuration, k)),
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


def _show_steadiness(work: Work, advice: Advice) -> None:
    back_button(work, "settings")
    if len(advice.proposals) == 1:
        st.markdown("No alternative is at least a point better in any criterion.")
        return
    if advice.steady is not None:
        st.markdown(f"{plain(advice.about_ties)} {plain(advice.about_records)}")
        return
    lacking = [item.place for item in advice.proposals if item.place not in advice.again]
    st.button(
        one_or_many(len(lacking), "Run {count} proposal again", "Run {count} proposals again"),
        icon=":material/repeat:",
        key="advice-again",
        disabled="advising" in work.running,
        on_click=runner.run,
        args=(repetition_request, lacking),
        help="Shows whether the first proposal stays first with ten other orders of ties and on "
        "ten tables of redrawn records.",
    )
