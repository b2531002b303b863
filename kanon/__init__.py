"""kanon: what k-anonymity costs and what it buys."""

__version__ = "0.8.0"
