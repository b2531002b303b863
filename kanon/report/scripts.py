"""The scripts of a report: the same ones in every report, so that a policy can name them."""

import base64
import hashlib

from plotly.offline import get_plotlyjs

LIBRARY = get_plotlyjs()  # what draws a picture

DRAWING = (
    'for (const one of JSON.parse(document.getElementById("figures").textContent))'
    " Plotly.newPlot(one.place, one.figure);"
)
"""Draws each picture in its place, from the figures in the page."""


def compute_script_hashes() -> str:
    digests = (hashlib.sha256(script.encode("utf-8")).digest() for script in (LIBRARY, DRAWING))
    return " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
