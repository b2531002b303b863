"""The Compare page: metrics, strategies and algorithms side by side."""
