"""Dates have to be of years that Python, Excel and every engine know."""

import numpy as np
import pandas as pd

from kanon.errors import TableError, quoted

_FIRST, _END = np.datetime64("0001-01-01", "s"), np.datetime64("10000-01-01", "s")


def check_days(column: pd.Series, name: str) -> None:
    """Check that the dates of a column are of the years 1 to 9999.

    >>> check_days(pd.Series(np.array(["12069-12-31"], dtype="datetime64[s]")), "born")
    Traceback (most recent call last):
    kanon.errors.TableError: Column 'born' holds a date outside of the years 1 to 9999: ...
    """
    if isinstance(column.dtype, pd.DatetimeTZDtype):
        told = [column.dt.tz_convert(None), column.dt.tz_localize(None)]  # in UTC, and here
    elif isinstance(column.dtype, np.dtype) and column.dtype.kind == "M":
        told = [column]
    else:
        return
    for moments in told:
        seconds = moments.to_numpy().astype("datetime64[s]")
        if ((seconds < _FIRST) | (seconds >= _END)).any():
            raise far_days(name)


def far_days(name: str) -> TableError:
    return TableError(
        f"Column {quoted(name)} holds a date outside of the years 1 to 9999: correct it, or "
        "convert the column to text."
    )
