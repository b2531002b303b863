"""Attacks and exercises in narrow windows: of a tablet, an old projector, a phone."""

from __future__ import annotations

_GRID = ".st-key-exercise-grid"

NARROW = f"""<style>
.stMain [data-testid="stButtonGroup"] [role="radiogroup"] {{ flex-wrap: wrap; row-gap: 0.3rem; }}
@media (max-width: 1270px) {{
    {_GRID} [data-testid="stHorizontalBlock"] {{ gap: 0.3rem; }}
    {_GRID} [data-testid="stColumn"] [data-testid="stHorizontalBlock"] {{ gap: 0; }}
    {_GRID} [data-testid="stButton"] button {{ padding-inline: 0.15rem; }}
    {_GRID} p {{ font-size: 0.85rem; }}
    {_GRID} [data-testid="stSelectbox"] input {{ padding-inline: 0.3rem; }}
    {_GRID} [data-testid="stSelectbox"] button {{ padding-inline: 0; }}
    {_GRID} [data-testid="stSelectbox"] svg {{ width: 0.9rem; }}
}}
@media (max-width: 640px) {{
    .stMain [data-testid="stHorizontalBlock"]:not({_GRID} *) {{ flex-wrap: wrap; }}
    .stMain [data-testid="stColumn"]:not({_GRID} *) {{ flex: 1 1 100%; }}
}}
</style>"""
"""Rows of buttons go on in a second row, the fields of the grid move together, and on a phone what
stands side by side goes below each other: before anything is cut.
"""
