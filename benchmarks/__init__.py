"""Measurements of kanon that are written down as pages; run by hand."""
