"""The small pieces of a report."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.timing import Timed

__all__ = ["aim", "seconds", "signed", "spread", "table", "thousands", "times"]


def seconds(value: float) -> str:
    """A time with two significant digits, or in whole seconds from 10 on.

    >>> seconds(0.0834), seconds(3.14), seconds(0.5), seconds(124.4)
    ('0.083', '3.1', '0.50', '124')
    """
    if value >= 9.95:
        return f"{value:.0f}"
    for limit, digits in ((0.995, 1), (0.0995, 2), (0.00995, 3)):
        if value >= limit:
            return f"{value:.{digits}f}"
    return f"{value:.4f}"


def spread(timed: Timed) -> str:
    """Best, median and worst.

    >>> spread(Timed((0.5, 0.25, 1.0)))
    '0.25 / 0.50 / 1.0'
    """
    return " / ".join(map(seconds, (timed.best, timed.median, timed.worst)))


def thousands(number: float) -> str:
    """A whole number with commas.

    >>> thousands(19502)
    '19,502'
    """
    return f"{number:,.0f}"


def times(ratio: float) -> str:
    """A ratio with one decimal; with two if it is small, with none if it is large.

    >>> times(0.046), times(1.234), times(12.34), times(1129.4)
    ('0.05', '1.2', '12', '1,129')
    """
    if ratio < 0.095:
        return f"{ratio:.2f}"
    return f"{ratio:.1f}" if ratio < 9.95 else f"{ratio:,.0f}"


def signed(number: float, digits: int = 0) -> str:
    """A difference with its sign; nothing before 0.

    >>> signed(-2), signed(0.04, 1), signed(3)
    ('−2', '0.0', '+3')
    """
    text = f"{number:+.{digits}f}".replace("-", "−")
    return text if float(text[1:]) else text[1:]


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table; the first column is text, the others are numbers.

    >>> print(table(["metric", "s"], [["nllm", "0.1"]]))
    | metric | s |
    |---|--:|
    | nllm | 0.1 |
    """
    rule = "|---|" + "--:|" * (len(header) - 1)
    lines = [" | ".join(row) for row in (header, *rows)]
    return "\n".join([f"| {lines[0]} |", rule, *(f"| {line} |" for line in lines[1:])])


def aim(text: str, found: str, met: bool) -> str:
    """What was aimed at, what was found, and whether that meets it.

    >>> aim("ratio at least 10", "12.1", True)
    'Aim: ratio at least 10. Found: 12.1. **Met.**'
    """
    return f"Aim: {text}. Found: {found}. **{'Met' if met else 'Not met'}.**"
