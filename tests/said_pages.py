"""Draws every page with all texts in brackets; prints what has none, as JSON.

Run by tests/test_language.py in a process of its own, as texts are said once per process::

    python said_pages.py LOCALE

``LOCALE`` holds the catalogue of the language ``brackets``, and KANON_SETTINGS names it.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from kanon import language, settings

settings.TRANSLATIONS = language.TRANSLATIONS = Path(sys.argv[1])

from streamlit.testing.v1 import AppTest  # noqa: E402
from streamlit.testing.v1.element_tree import Block, Element  # noqa: E402

from kanon.studio.starting import sample_work  # noqa: E402

ROOT = Path(__file__).parent.parent
PAGES = sorted(path.name for path in (ROOT / "pages").glob("*.py"))
TEXTS = ("label", "help", "body", "placeholder", "options", "captions", "title", "text", "message")
# What no translation changes: icons, code, addresses, and styles.
APART = re.compile(r":material/\w+:|`[^`]*`|\bhttps?:\S+|<style>.*?</style>|<[^>]*>", re.DOTALL)
WORD = re.compile(r"[A-Za-z]{2,}")


def drawn(node: object) -> Iterator[tuple[str, str]]:
    """Every text of an element and of what is in it, with what it is of."""
    if isinstance(node, Block):
        proto = getattr(node, "proto", None)
        for name in ("label", "help"):
            for kind in ("expandable", "popover", "tab", "chat_message", "form", "dialog"):
                text = getattr(getattr(proto, kind, None), name, "")
                if isinstance(text, str) and text:
                    yield f"{kind}.{name}", text
        for child in node.children.values():
            yield from drawn(child)
    elif isinstance(node, Element):
        for name in TEXTS:
            value = getattr(node.proto, name, "")
            for text in [value] if isinstance(value, str) else list(value or ()):
                if isinstance(text, str) and text:
                    yield f"{node.type}.{name}", text


def outside(text: str) -> str:
    """What of a text stands in no brackets."""
    while "⟦" in text:
        shorter = re.sub(r"⟦[^⟦⟧]*⟧", "", text)
        if shorter == text:
            break
        text = shorter
    return APART.sub("", text)


def unsaid(at: AppTest, known: set[str]) -> list[str]:
    """The texts that are words, and no data."""
    found = []
    for what, text in drawn(at._tree):
        words = set(WORD.findall(outside(text.replace("\\", "").replace("\u2060", ""))))
        if words - known:
            found.append(f"{what}: {text[:160]!r} has {sorted(words - known)[:8]}")
    return sorted(set(found))


def main() -> None:
    """Draw all pages of the hospital sample, with a result."""
    wanted = sys.argv[2:] or PAGES
    work = sample_work("hospital", version=1)
    columns = work.table.columns
    data = [*columns, *work.table.head(10**4).astype(str).to_numpy().ravel()]
    known = {word for text in data for word in WORD.findall(text)}
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=300)
    at.session_state["kanon-work"] = work
    at.run()
    said = {"app.py": unsaid(at, known)}
    for page in wanted:
        at.switch_page(f"pages/{page}").run()
        job = at.session_state["kanon-work"].job
        assert job is None or job.wait(300)
        at.run()
        assert not at.exception, at.exception[0].value
        said[page] = unsaid(at, known)
    print(json.dumps(said))


if __name__ == "__main__":
    main()
