"""Plotly figures, drawn from results alone."""
