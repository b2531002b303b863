"""A link that opens a page with a sample table, settings and k; no own table is in an address."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode, urlsplit

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from kanon.errors import KanonError, PlanError, quote
from kanon.metrics import BESIDE, PUBLISHED
from kanon.studio.jobs import runner
from kanon.studio.jobs.anonymisation import request_anonymisation, run_first_time
from kanon.studio.jobs.comparison import request_comparison
from kanon.studio.jobs.configurations import list_offered_algorithms
from kanon.studio.session import state
from kanon.studio.session.parts import Message
from kanon.studio.session.samples import SAMPLES
from kanon.studio.session.table_loading import open_sample
from kanon.studio.session.work import SessionState, list_usable_strategies

_METRICS = (*PUBLISHED, *BESIDE)  # only this session knows its own ones
# each setting, what is compared of it, and the field of that
_SEVERAL = {
    "algorithm": ("algorithms", "algorithms"),
    "metric": ("metrics", "compared"),
    "strategy": ("strategies", "strategies"),
}
_PARTS = ("sample", *_SEVERAL, "k", *(name for name, _ in _SEVERAL.values()))


def build_link(work: SessionState, url: str) -> str:
    """The link to a page with the current choices; empty for a table that is no sample."""
    settings, compare = work.settings, work.compare
    if work.table.origin not in SAMPLES:
        return ""
    parts = {
        "sample": work.table.origin,
        "algorithm": settings.algorithm if settings.algorithm in list_offered_algorithms() else "",
        "metric": settings.metric if settings.metric in _METRICS else "",
        "strategy": work.usable_strategy,
        "k": str(settings.k),
    }
    address = urlsplit(url)
    if address.path.endswith("/compare"):
        metrics = (name for name in compare.compared if name in _METRICS)
        lists = (compare.algorithms, metrics, compare.strategies)
        parts |= {name: ",".join(names) for name, names in zip(_PARTS[-3:], lists, strict=True)}
    query = urlencode({key: value for key, value in parts.items() if value}, safe=",")
    return address._replace(query=query, fragment="").geturl()


def read_link(work: SessionState, parameters: Mapping[str, str]) -> SessionState:
    """The session that a link asks for; PlanError names a part that is wrong."""
    for name in parameters:
        _check("part", name, _PARTS)
    sample = parameters.get("sample", "")
    _check("sample", sample, SAMPLES)
    new = open_sample(sample, work.version + 1)  # with an algorithm that takes every strategy
    k, n_records = parameters.get("k", str(new.settings.k)), new.table.records.n_records
    if not (k.isascii() and k.isdigit() and len(k) < 10 and 2 <= int(k) <= n_records):
        raise PlanError(
            f"The link asks for k = {quote(k)}; k is a whole number from 2 to {n_records} here."
        )
    settings: dict[str, Any] = {"k": int(k)}
    compared: dict[str, Any] = {}
    known = (list_offered_algorithms(), _METRICS, list_usable_strategies(new))
    for (name, (several, field)), names in zip(_SEVERAL.items(), known, strict=True):
        if name in parameters:
            settings[name] = parameters[name]
            _check(name, parameters[name], names)
        if several in parameters:
            compared[field] = tuple(dict.fromkeys(parameters[several].split(",")))
            for entry in compared[field]:
                _check(name, entry, names)
    return new.replace_sections(replace(new.settings, **settings), replace(new.compare, **compared))


def _check(what: str, name: str, known: Collection[str]) -> None:
    if name not in known:
        raise PlanError(
            f"The link names the {what} {quote(name)}, which is not known here; "
            f"choose from {', '.join(known)}."
        )


def follow_link(page: StreamlitPage) -> None:
    """Open what the address asks for, once; earlier work is replaced only by a press."""
    parameters = st.query_params.to_dict()
    if page.url_path == "learn" and "sample" not in parameters:
        return  # the page itself follows a link to a lesson
    text = urlencode(parameters)
    if not parameters or state.get_session().shared.link == text:
        return
    if not state.has_begun():
        open_link(text, parameters)
        return
    with st.container(horizontal=True, vertical_alignment="center", key="link"):
        st.info(
            "The address of this page is a link to a sample table with other settings. Opening it "
            "replaces the table and the results of this tab.",
            icon=":material/link:",
        )
        st.button("Open the link", key="link-open", on_click=open_link, args=(text, parameters))
        st.button("Keep my work", key="link-keep", on_click=_mark_followed, args=(text,))


def open_link(text: str, parameters: Mapping[str, str]) -> None:
    try:
        new = read_link(state.get_session(), parameters)
    except KanonError as error:
        run_first_time()  # before the message, which it would clear
        _mark_followed(text, Message(problem=f"{error.sentence} Nothing was changed."))
        return
    state.set_session(new)
    _mark_followed(text)
    runner.run_request(request_anonymisation)
    if {*_PARTS[-3:]} & {*parameters}:
        runner.run_request(request_comparison)


def _mark_followed(text: str, message: Message | None = None) -> None:
    """A reload finds the session as it is, even where its address still has the link."""
    state.update_sections(replace(state.get_session().shared, link=text), message or Message())
    st.query_params.clear()


def draw_link() -> None:
    """Offer the link to this page; there is none for an own table."""
    link = build_link(state.get_session(), st.context.url or "")
    if link:
        st.markdown("**Copy link** to this page with its sample, algorithm, metric, strategy, k")
        st.code(link, language=None, wrap_lines=True)
