"""Keys that press buttons, on the page Learn, wherever no text is being typed."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

_KEY = "learn-keys"
_STYLE = f"<style>.st-key-{_KEY} {{ display: none; }}</style>"

_BACK, _NEXT = ["learn-back", "attack-back"], ["learn-next", "attack-next"]

_PRESSED = {
    "ArrowLeft": _BACK,
    "ArrowRight": _NEXT,
    "Home": ["learn-first"],
    "End": ["learn-last"],
    " ": ["learn-pause", "learn-play"],
}
"""Per key, as browsers name it, buttons by their keys: the first one that can be pressed is."""

_PRESENTER = {"PageUp": _BACK, "PageDown": _NEXT, "Escape": ["learn-leave"]}
"""What a presenter's remote sends; on a page that is no projector's picture, these scroll."""

_keys = st.components.v2.component(
    "kanon_keys", js=(Path(__file__).parent / "keys.js").read_text("utf-8")
)


def keys_press(projected: bool) -> None:
    """Let keys press the buttons of lessons and attacks as long as this is drawn."""
    st.html(_STYLE)
    _keys(key=_KEY, data={"pressed": _PRESSED | (_PRESENTER if projected else {})})
