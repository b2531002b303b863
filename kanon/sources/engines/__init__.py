"""Engines that keep the rows where they are: one module each, found by its name.

A module has ``TITLE``, ``INSTALL`` (what pip installs for it) and ``open_rows(address, settings)``,
which returns :class:`kanon.sources.engines.rows.Rows`.
"""
