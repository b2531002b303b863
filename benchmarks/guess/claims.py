"""What the sentences of the page say, each as a question to the figures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from benchmarks.guess.measured import Finding

__all__ = ["CLAIMS"]

Findings = Mapping[str, Mapping[str, Finding]]
"""Per question how each rule did, see :func:`benchmarks.guess.measured.findings`."""


def _guesses(found: Findings, k: int, utility: bool) -> Iterator[Finding]:
    """How the guess did where the utility matters, alone or beside others, or where it does not."""
    for question, each in found.items():
        asked, concerns = question.split()
        if asked == f"k={k}" and utility == (concerns == "alone" or "utility" in concerns):
            yield each["guess"]


def _right(found: Findings, rule: str) -> int:
    return sum(each[rule].right for each in found.values())


CLAIMS: Mapping[str, Callable[[Findings], bool]] = {
    "the guess is right less often than always the same way": lambda found: (
        _right(found, "guess") < _right(found, "constant")
    ),
    "the guess is mostly near the best where the utility matters alone and k is around 5": (
        lambda found: all(
            4 * one.right >= 3 * one.tried and one.behind < 1
            for one in (found[f"k=5 {name}"]["guess"] for name in ("alone", "utility"))
        )
    ),
    "it is mostly wrong, by more than eight points, where the utility matters and k is around 50": (
        lambda found: all(
            2 * one.right < one.tried and one.behind > 8 for one in _guesses(found, 50, True)
        )
    ),
    "it is mostly right where l or t matter without the utility and k is around 50": (
        lambda found: all(2 * one.right > one.tried for one in _guesses(found, 50, False))
    ),
}
"""Per sentence of the page, in short, whether the figures bear it out."""
