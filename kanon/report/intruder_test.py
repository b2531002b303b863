"""The motivated intruder test: who tried to find people in a release, how, and what came of it.

Source: ICO 2025, "Anonymisation: how do we ensure anonymisation is effective?"
"""

import datetime
from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, StrictInt, model_validator

from kanon.base.checked_json import Number, Strict, load_json, validate
from kanon.base.formatting import count_noun, write_number, write_percent
from kanon.errors import quote
from kanon.evidence.attack import Evidence
from kanon.report.words import LONGEST


class IntruderAttempt(Strict):
    """One attempt of people to recognise someone in a release."""

    people: Annotated[str, Field(min_length=1, max_length=LONGEST)]  # who tried, as typed
    date: str  # such as 2026-01-31
    knows: tuple[str, ...] = ()  # the columns of which they knew the values
    sources: Annotated[str, Field(max_length=LONGEST)] = ""
    hours: Annotated[Number, Field(ge=0)] = 0
    claims: Annotated[StrictInt, Field(ge=0)] = 0  # people whom they claimed to recognise
    right: Annotated[StrictInt, Field(ge=0)] = 0  # how many of these claims were right
    release: str = ""  # the fingerprint of the release that they had

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.right > self.claims:
            claims = count_noun(self.claims, "claim")
            raise ValueError(f"of {claims} at most all can be right, not {self.right}")
        try:
            datetime.date.fromisoformat(self.date)
        except ValueError:
            date = quote(self.date)
            raise ValueError(f"the date {date} is not allowed; write it like 2026-01-31") from None
        return self


class IntruderTest(Strict):
    """All attempts, in the order in which they were typed."""

    attempts: Annotated[tuple[IntruderAttempt, ...], Field(max_length=100)] = ()

    def describe_outcome(self, release: str) -> str:
        """What came of the attempts on one release; empty without any."""
        own = [attempt for attempt in self.attempts if attempt.release == release]
        claims, right = sum(part.claims for part in own), sum(part.right for part in own)
        outcome = f"{count_noun(len(own), 'attempt')}, {count_noun(claims, 'claim')}, {right} right"
        return outcome if own else ""

    def list_rows(self, release: str, evidence: Evidence | None, day: str) -> list[dict[str, str]]:
        """A row by kanon, if an attack was computed on that day, then one per attempt."""
        rows = []
        if evidence is not None:
            values = {title: figure.value for title, figure in evidence.figures.items()}
            rows.append({
                "Date": day, "Who tried": "kanon", "Release": "this one",
                "Knew": ", ".join(evidence.columns),
                "Sources": "the original table, without mistakes", "Time": "computed",
                "Outcome": "; ".join(f"{x} {write_percent(100 * y)}" for x, y in values.items()),
            })  # fmt: skip
        for attempt in self.attempts:
            rows.append({
                "Date": attempt.date, "Who tried": attempt.people,
                "Release": "this one" if attempt.release == release else "another one",
                "Knew": ", ".join(attempt.knows) or "nothing",
                "Sources": attempt.sources or "none", "Time": f"{write_number(attempt.hours)} h",
                "Outcome": f"{count_noun(attempt.claims, 'claim')}, {attempt.right} right",
            })  # fmt: skip
        return rows


NO_ATTEMPTS = IntruderTest()


def read_intruder_test(path: Path) -> IntruderTest:
    """Read attempts from a JSON file."""
    return validate(IntruderTest, load_json(path, "The intruder test"), "intruder test")
