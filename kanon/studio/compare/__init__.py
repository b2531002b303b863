"""The page Compare: metrics, strategies and algorithms side by side."""
