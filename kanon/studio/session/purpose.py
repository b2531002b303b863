"""What the release of a session is for, and what only its user knows about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kanon.base.formatting import thin
from kanon.errors import PlanError
from kanon.release.context import Context
from kanon.report.origin import Origin
from kanon.report.words import LONGEST, TERMS, Words, parse_words
from kanon.sources.reading import TableFile

LABELS: Mapping[str, str] = {"title": "Title", **TERMS}  # what each text is called on the page


@dataclass(frozen=True, eq=False)
class Purpose:
    """What the release is for, whom its risk is measured by, and what a report says of it."""

    # What is asked of the release by what it is for.
    context: Context = field(default_factory=lambda: Context(release="public"))
    # The table of the population that was uploaded, never written anywhere; and the fingerprint of
    # its file.
    population: TableFile | None = None
    population_origin: Origin | None = None
    # What was typed for a report, by the names of :class:`kanon.report.words.Words`; too long a
    # text stays as it is, so that it can be shortened.
    texts: Mapping[str, str] = field(default_factory=dict)

    def words(self) -> Words:
        """The texts as a report takes them."""
        for name, text in self.texts.items():
            if len(text) > LONGEST:
                raise PlanError(
                    f"{LABELS[name]} has {thin(len(text))} characters; a report takes up to "
                    f"{thin(LONGEST)}, so shorten it."
                )
        return parse_words(dict(self.texts), "The report")
