"""Engines that leave the rows where they are: one module each, found by its name.

A module has ``open_rows(address, settings, writes)``, which returns
:class:`kanon.sources.engines.rows.Rows`.
"""

ENGINES = (
    "duckdb",
    "spark",
    "other",
)
"""The engines by the names of their modules; ``other`` is any database that has a URL."""
