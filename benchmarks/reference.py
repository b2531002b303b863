"""The plain references of the tests, under the names that the tests import them by.

Numba's cache stands beside the source and remembers the name of the module. Imported as
``tests.oracles.plain_scan`` it could not load what the tests have compiled, nor they what this has.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable

from benchmarks.fresh import ROOT
from kanon.recoding import MergePath

__all__ = ["scan"]

sys.path.append(str(ROOT / "tests"))

scan: Callable[..., MergePath] = importlib.import_module("oracles.plain_scan").scan
