"""Large type for a projector, on the page Learn."""

from __future__ import annotations

__all__ = ["GROWN", "LARGE"]

GROWN = 22 / 16
"""How much larger large type is: a page's letters have 16 pixels."""

LARGE = """<style>
html { font-size: 22px; }
.stMainBlockContainer { padding: 3.75rem 1.2rem 1.2rem; }
.stMainBlockContainer h1 { font-size: 1.35rem; padding: 0; }
.stMainBlockContainer [data-testid="stCaptionContainer"] { font-size: 1rem; }
.st-key-frame { display: none; }
</style>"""
"""All sizes of letters follow that of the page, 16 pixels: so everything grows, tables too.

The line about the session's own table makes room; it is there again without large type.
"""
