"""Which metric and which strategy for this table: every way of merging, weighed by what matters."""
