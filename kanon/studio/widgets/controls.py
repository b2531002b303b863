"""Controls of several pages: uploads, popovers that close, the fields of a builder."""

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

import streamlit as st
from starlette.formparsers import MultiPartParser
from streamlit import config
from streamlit.delta_generator import DeltaGenerator

from kanon.settings import MEGABYTE, get_settings
from kanon.studio.session import state
from kanon.studio.session.choices import BUILDERS, FIELDS, HierarchyChoice
from kanon.studio.session.state import attach_widget

Limit = Literal["upload_megabytes", "hierarchies_megabytes", "plan_megabytes"]


def draw_upload_field(label: str, limit: Limit | int = "upload_megabytes", **how: Any) -> None:
    """A field for files of at most ``limit`` megabytes, a setting's name or a number."""
    _prepare_server()
    most = limit if isinstance(limit, int) else getattr(get_settings(), limit)
    st.file_uploader(label, max_upload_size=most, **how)


@st.cache_resource(show_spinner=False)
def _prepare_server() -> None:
    """Raise the server's upload limit, and keep all uploads in memory."""
    limits = get_settings()
    most = max(limits.upload_megabytes, limits.hierarchies_megabytes, limits.plan_megabytes)
    config.set_option("server.maxUploadSize", most)
    MultiPartParser.spool_max_size = (most + 1) * MEGABYTE


_listen = st.components.v2.component(
    "kanon_keys", js=(Path(__file__).parent / "keys.js").read_text("utf-8")
)


def listen_to_keys(key: str, buttons_by_key: Mapping[str, list[str]]) -> None:
    """Let keys press buttons: per key, as browsers name it, the first of its buttons that can be.

    Buttons are named by their keys.
    """
    st.html(f"<style>.st-key-{key} {{ display: none; }}</style>")
    _listen(key=key, data={"name": key, "pressed": buttons_by_key})


_wait = st.components.v2.component(
    "kanon_timer", js=(Path(__file__).parent / "timer.js").read_text("utf-8")
)


def draw_again_after(seconds: float, key: str, change: Callable[[], None] = lambda: None) -> None:
    """Draw the page, or the fragment that this stands in, again after a while, once.

    Streamlit's own timer of a fragment goes on asking while the whole page is drawn, and can then
    lose the end of that page.
    """
    st.html(f"<style>.st-key-{key} {{ display: none; }}</style>")
    data = {"seconds": seconds, "drawn": time.monotonic_ns()}  # never the same: it begins anew
    _wait(key=key, data=data, on_over_change=change)


def draw_segments(
    label: str,
    titles: Mapping[Any, str],
    key: str,
    value: object,
    field: str,
    into: Any,
    **how: Any,
) -> None:
    """A button per choice, one of them always chosen."""
    st.segmented_control(
        label,
        list(titles),
        **attach_widget(key, value, field, into=into, keep=True),
        format_func=lambda name: titles[name],
        **how,
    )


def open_closing_popover(label: str, key: str, **how: Any) -> DeltaGenerator:
    """A popover that closes when its key changes: another key makes a new, closed one."""
    # Streamlit knows a popover by its key only if it reports whether it is open.
    return st.popover(label, key=key, on_change="rerun", **how)


def draw_builder_fields(
    choice: HierarchyChoice,
    prefix: str,
    change: Callable[..., None],
    *arguments: Any,
    fine: bool = True,
) -> None:
    """Draw the fields of a choice's builder; their keys begin with ``prefix``."""
    parameters = [
        part for part in BUILDERS[choice.builder].parameters if fine or not part.is_advanced
    ]
    if not parameters:
        return
    wide = [part is parameters[0] or part.kind == "lines" for part in parameters]
    if fine or len(parameters) < 3:
        places = st.columns([1 + is_wide for is_wide in wide])
    else:
        places = [st.container() for _ in parameters]
    for parameter, place in zip(parameters, places, strict=True):
        label, help_text = parameter.label, parameter.help_text
        value = choice.typed.get(parameter.name) or ""
        if parameter.kind == "choice":
            value = value or parameter.options[0]
        field = attach_widget(f"{prefix}-{parameter.name}", value, lambda _: change(*arguments))
        if parameter.kind == "choice":
            place.selectbox(label, parameter.options, **field, help=help_text)
        elif parameter.kind == "lines":
            place.text_area(label, **field, height=200, help=help_text)
        else:
            place.text_input(label, **field, help=help_text)


def get_builder_entries(prefix: str) -> dict[str, Any]:
    """The entries of the builder fields with that prefix; None where there is no such field."""
    return {field: state.get_widget_value(f"{prefix}-{field}") for field in FIELDS}
