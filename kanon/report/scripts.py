"""The scripts of a report: the same ones in every report, so that a policy can name them."""

import base64
import hashlib

from plotly.offline import get_plotlyjs

LIBRARY = get_plotlyjs()  # what draws a picture

DRAWING = (
    'for (const one of JSON.parse(document.getElementById("figures").textContent))'
    " Plotly.newPlot(one.place, one.figure);"
)
"""What has all pictures drawn, each in its place, from the figures that stand in the page."""


def allowed() -> str:
    """What a policy names both scripts by: the hashes of their texts."""
    digests = (hashlib.sha256(script.encode("utf-8")).digest() for script in (LIBRARY, DRAWING))
    return " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
