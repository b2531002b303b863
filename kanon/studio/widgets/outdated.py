"""What was made with other settings says so, and looks old until it is renewed."""

from __future__ import annotations

import streamlit as st

from kanon.base.language import say


def outdated_notice(button: str, more: str = "") -> None:
    """Say that settings have changed, and what renews what is below.

    Parameters
    ----------
    button
        What stands on the button to press.
    more
        A further sentence.
    """
    said = say(
        "Settings have changed since this was made; press {button} to renew it.", button=button
    )
    st.warning(f"{said} {more}".rstrip(), icon=":material/history:")


def fade(container: str, button: str, old: bool, renewing: bool) -> None:
    """Over a container: have it look old while it is, or is renewed, and say what renews it.

    Parameters
    ----------
    container
        Its key.
    button
        What stands on the button that renews it.
    old
        Whether settings have changed since what it shows was made.
    renewing
        Whether it is made anew just now.
    """
    if old and not renewing:
        outdated_notice(button)
    opacity = 0.45 if old or renewing else 1
    st.html(f"<style>.st-key-{container} {{ opacity: {opacity}; }}</style>")
