"""Where things are, for tests in whatever folder."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
