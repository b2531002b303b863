"""Text from tables and files, made harmless for Streamlit's Markdown."""

from __future__ import annotations

import re

__all__ = ["percent", "plain"]


def plain(text: object) -> str:
    """Escape every character that Markdown could read as formatting, a link or an image.

    A column may be called ``![x](http://…)``; shown as Markdown it would send a request.

    >>> print(plain("a_b"))
    a\\_b
    """
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", " ".join(str(text).split()))


def percent(number: float) -> str:
    """A percentage with one decimal; what is not quite 0 or 100 does not look like it.

    >>> percent(12.34), percent(0.01), percent(0)
    ('12.3 %', '< 0.1 %', '0.0 %')
    """
    if 0 < number < 0.05:
        return "< 0.1 %"
    if 99.95 < number < 100:
        return "> 99.9 %"
    return f"{number:.1f} %"
