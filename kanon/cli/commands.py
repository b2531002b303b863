"""The commands there are: adding one is adding a file to this folder, and a row here.

The table is all that ``--help`` reads: what a command needs is imported when it is called.
"""

from __future__ import annotations

from collections.abc import Mapping

COMMANDS: Mapping[str, str] = {
    "app": "serve the dashboard on this machine",
    "run": "anonymise a table as a plan says",
    "sweep": "what every k costs under several metrics",
    "advise": "which metric and strategy suit a table",
    "reverse": "the greatest k that goes with the other models of a plan",
    "simulate": "rank the strategies on simulated sensitive columns",
    "report": "write the report of a release, for the file",
    "decide": "whether a release has what is asked of it by what it is for",
    "measure": "measure a table as it is",
    "quasi-identifiers": "the smallest sets of columns that single records out",
    "check": "see what is new in a table for a plan",
    "combine": "what somebody learns who holds the releases of several plans",
    "exercises": "mark answers to an exercise set",
    "hierarchy": "look at hierarchy files",
}
"""What each command does, in half a sentence. The file of ``quasi-identifiers`` is
``quasi_identifiers.py``."""
