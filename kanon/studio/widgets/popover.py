"""Popovers that close once something is chosen in them, as they cover what it changes."""

from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator


def closing_popover(label: str, key: str, **how: Any) -> DeltaGenerator:
    """A popover that closes when its key changes: another key makes another, closed popover."""
    # Only one that tells whether it is open is known by its key.
    return st.popover(label, key=key, on_change="rerun", **how)
