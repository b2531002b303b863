"""What the page Report shows, and the texts that were typed for a report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kanon.base.formatting import thin
from kanon.base.language import say, say_of
from kanon.errors import PlanError
from kanon.report.words import LONGEST, TERMS, Words, parse_words

__all__ = ["LABELS", "ReportView"]

LABELS: Mapping[str, str] = {"title": "Title", **TERMS}
"""What each text is called on the page; said by :func:`kanon.base.language.say_of`."""

_OF_NO_TABLE = ("responsible",)
"""The texts that are true of another table too; any other might be filed with the wrong one."""


@dataclass(frozen=True)
class ReportView:
    """What is shown, and what was typed.

    Attributes
    ----------
    texts
        What was typed, by the names of :class:`kanon.report.words.Words`; too long a text stays as
        it is, so that it can be shortened.
    public
        Whether the form for publication is wanted.
    preview
        Whether the report is shown on the page.
    in_context
        Whether the report says what is asked of the release by what it is for, as on the page
        Decide.
    """

    texts: Mapping[str, str] = field(default_factory=dict)
    public: bool = False
    preview: bool = False
    in_context: bool = False

    def words(self) -> Words:
        """The texts as a report takes them.

        Raises
        ------
        PlanError
            One is too long.
        """
        for name, text in self.texts.items():
            if len(text) > LONGEST:
                raise PlanError(
                    say(
                        "{text} has {length} characters; a report takes up to {most}, so shorten "
                        "it.",
                        text=say_of(LABELS[name]),
                        length=thin(len(text)),
                        most=thin(LONGEST),
                    )
                )
        return parse_words(dict(self.texts), "The report")

    def for_another_table(self) -> ReportView:
        """What is still true when another table is loaded."""
        return ReportView({name: self.texts[name] for name in _OF_NO_TABLE if name in self.texts})
