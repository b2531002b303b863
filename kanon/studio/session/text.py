"""Text from tables and files, made harmless for Streamlit's Markdown."""

import re

from kanon.classes import EquivalenceClasses
from kanon.errors import join_lines


def escape_markdown(text: object) -> str:
    """Escape every character that Markdown could read as formatting, a link or an image.

    A column may be called ``![x](http://…)``; shown as Markdown it would send a request. Addresses
    become links even when escaped, unless an invisible character parts them. Within a word a hyphen
    and an underscore mean nothing to Markdown, and screen readers read labels as they are.

    >>> print(escape_markdown("_a*"), escape_markdown("marital-status"), escape_markdown("a_b"))
    \\_a\\* marital-status a_b
    """
    flat = join_lines(text)
    parted = re.sub(r"(?i)(www(?=\.)|:(?=//)|@)", "\\1\u2060", flat)
    return re.sub(r"(?<=[^\W_])[-_](?=[^\W_])|([!-/:-@\[-`{-~])", _escape_match, parted)


def _escape_match(match: re.Match[str]) -> str:
    return f"\\{match[1]}" if match[1] else match[0]


def escape_for_badge(text: object) -> str:
    """The same for ``st.badge``, which escapes square brackets itself.

    >>> print(escape_for_badge("a[b]_"))
    a[b]\\_
    """
    return escape_markdown(text).replace("\\[", "[").replace("\\]", "]")


def strip_for_screen_reader(text: object) -> str:
    """Text for a hidden label, which a screen reader reads as it is: words alone.

    >>> strip_for_screen_reader("![x](http://a.b)"), strip_for_screen_reader("marital-status")
    ('x http a b', 'marital-status')
    """
    return " ".join(re.sub(r"[^\w-]+", " ", str(text)).split())


def mark_odd_blanks(text: str) -> str:
    """Mark blanks that an eye would miss: one of several, or of another kind.

    >>> mark_odd_blanks("a nurse"), mark_odd_blanks("a  nurse"), mark_odd_blanks("a\\u00a0nurse")
    ('a nurse', 'a␣␣nurse', 'a␣nurse')
    """
    return re.sub(r"\s{2,}|[^\S ]", lambda found: "␣" * len(found[0]), text)


def trim_title(text: str, longest: int = 32) -> str:
    """Cut a title to leave room for others.

    >>> trim_title("a long file name.csv", longest=10)
    'a long fi…'
    """
    return text if len(text) <= longest else text[: longest - 1] + "…"


def get_released_tuple(released: EquivalenceClasses, position: int) -> tuple[str, ...]:
    nodes = zip(released.hierarchies, released.nodes[position], strict=True)
    return tuple(tree.labels[node] for tree, node in nodes)


def format_released_class(released: EquivalenceClasses, position: int) -> str:
    return ", ".join(trim_title(label, 24) for label in get_released_tuple(released, position))
