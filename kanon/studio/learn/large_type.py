"""Large type for a projector, on the page Learn."""

from __future__ import annotations

GROWN = 22 / 16
"""How much larger large type is: a page's letters have 16 pixels."""

LARGE = """<style>
html { font-size: 22px; }
[data-testid="stHeader"] { height: 2rem; min-height: 2rem; }
.stMainBlockContainer { padding: 2.2rem 1.2rem 1.2rem; }
.stMainBlockContainer > [data-testid="stVerticalBlock"] { gap: 0.6rem; }
.stMainBlockContainer h1 { font-size: 1.35rem; padding: 0 0 0.7rem; }
.stMainBlockContainer [data-testid="stCaptionContainer"] { font-size: 1rem; }
.st-key-frame, [class*="st-key-learn-step-"] { display: none; }
</style>"""
"""All sizes of letters follow that of the page, 16 pixels: so everything grows, tables too.

The line about the session's own table and the slider make room; buttons and keys do the same.
"""
