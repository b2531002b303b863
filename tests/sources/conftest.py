"""What the tests of Spark share: rows that it keeps, of the table of each file."""

from collections.abc import Iterator
from typing import Any

import pytest

from kanon.base.progress import ignore_progress


@pytest.fixture
def kept(table) -> Iterator[Any]:
    """The rows, kept by Spark; in the end nothing is left of them and of what was made of them."""
    workspace = table.rows.workspace
    rows = workspace.keep(table.rows.expression, ignore_progress, "Keeping")
    yield rows
    workspace.drop(rows)
    table.check_nothing_is_left()
