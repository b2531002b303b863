"""The intervals above numbers, from narrow to wide, with exact decimal bounds."""

import itertools
import math
from collections.abc import Sequence
from decimal import Context, Decimal
from fractions import Fraction

import numpy as np

from kanon.errors import HierarchyError

_LARGEST = int(np.finfo(float).max)

_EXACT = Context(prec=5000)
"""More digits than a bound has: numbers and widths lie between 1e-324 and 1e308."""


def build_interval_paths(
    texts: Sequence[str],
    numbers: Sequence[Fraction],
    widths: Sequence[float],
    origin: float,
    ends: tuple[float | None, float | None],
) -> list[list[str]]:
    """List each text, by size, with the intervals above it."""
    if not math.isfinite(origin):
        raise HierarchyError("The origin of intervals has to be a finite number.")
    if any(bound is not None and not math.isfinite(bound) for bound in ends):
        raise HierarchyError("The lowest and the highest bound have to be finite numbers.")
    steps, start = _read_widths(widths, ends != (None, None)), _read_decimal(origin)
    farthest = max(map(abs, numbers), default=Fraction(0))
    if steps and farthest + abs(start) + 2 * steps[-1] > _LARGEST:
        raise HierarchyError(
            f"The width {widths[-1]:g} is too large for the numbers of the column."
        )
    if steps and any(abs(value - start) / steps[0] > 10**14 for value in numbers):
        raise HierarchyError(f"The width {widths[0]:g} is too small for the numbers of the column.")
    lowest, highest = (None if bound is None else _read_decimal(bound) for bound in ends)
    if lowest is not None and highest is not None and lowest >= highest:
        raise HierarchyError(
            f"The lowest bound {_write_decimal(lowest)} has to be below the highest bound "
            f"{_write_decimal(highest)}."
        )
    whole = all(number.denominator == 1 for number in (*numbers, *steps, start))
    lines = []
    for value, text in sorted(zip(numbers, texts, strict=True)):
        if lowest is not None and value < lowest:
            lines.append([text, f"<{_write_decimal(lowest)}"])
        elif highest is not None and value > highest:
            lines.append([text, f">{_write_decimal(highest)}"])
        else:
            bounds = lowest, highest
            lines.append([text, *(_name_interval(value, w, start, whole, bounds) for w in steps)])
    return lines


def _read_decimal(number: float) -> Fraction:
    """Read a number as the decimal that was written: 0.1 is a tenth."""
    return Fraction(number if isinstance(number, int) else repr(float(number)))


def _write_decimal(number: Fraction) -> str:
    exact = _EXACT.divide(Decimal(number.numerator), Decimal(number.denominator))
    return f"{exact:f}" if -16 < exact.adjusted() < 16 else str(exact.normalize(_EXACT))


def _read_widths(widths: Sequence[float], may_lack: bool) -> list[Fraction]:
    """Check that each width is a multiple of the one before, and read them exactly."""
    if not (widths or may_lack) or any(not 0 < width < math.inf for width in widths):
        raise HierarchyError("Intervals need at least one width, each a number above 0.")
    for narrow, wide in itertools.pairwise(widths):
        if wide <= narrow:
            raise HierarchyError(
                f"The width {wide:g} has to be larger than the width {narrow:g} before it."
            )
        if (_read_decimal(wide) / _read_decimal(narrow)).denominator > 1:
            raise HierarchyError(
                f"The width {wide:g} is not a multiple of the width {narrow:g} before it, "
                "as nested intervals require."
            )
    return list(map(_read_decimal, widths))


def _name_interval(
    value: Fraction,
    width: Fraction,
    origin: Fraction,
    whole: bool,
    bounds: tuple[Fraction | None, Fraction | None],
) -> str:
    """Name the interval of a value, cut off at the bounds where other groups begin."""
    start = origin + (value - origin) // width * width
    lowest, highest = bounds
    begins = start if lowest is None else max(start, lowest)
    ends = start + width if highest is None else min(start + width, highest)
    if not whole:
        open_end = "<" if ends == start + width else ""
        return f"{_write_decimal(begins)} to {open_end}{_write_decimal(ends)}"
    low = math.ceil(begins)
    high = int(ends) - 1 if ends == start + width else math.floor(ends)
    if low == high:
        return str(low)
    return f"{low}-{high}" if low >= 0 else f"{low} to {high}"
