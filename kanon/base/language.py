"""The texts of the dashboard in the language of the settings.

English is what stands in the code. Another language is a catalogue of gettext,
``kanon/locale/LANGUAGE/LC_MESSAGES/kanon.mo``, and the setting ``language``;
docs/contribute/translating.md tells how one is made. One server speaks one language.

>>> say("k = {k}", k=5)
'k = 5'
"""

from __future__ import annotations

import gettext
import re
import struct
from functools import lru_cache
from pathlib import Path

from kanon.base.formatting import thin
from kanon.errors import SettingsError, quoted
from kanon.settings import ENGLISH, TRANSLATIONS, settings


def say(text: str, /, **values: object) -> str:
    """A text in the language of the settings, with values in place of their names.

    The text is a literal, so that ``make texts`` finds it, and a whole sentence, as other languages
    put their words in another order.

    >>> say("Table: {title}", title="voters")
    'Table: voters'
    """
    return _filled(catalogue().gettext(text), text, values)


def say_counted(count: int, one: str, many: str, /, **values: object) -> str:
    """A text that depends on a number, which stands in it as ``{count}``.

    >>> say_counted(1, "{count} record", "{count} records")
    '1 record'
    >>> say_counted(2, "{count} record of {table}", "{count} records of {table}", table="A")
    '2 records of A'
    """
    found = catalogue().ngettext(one, many, count)
    return _filled(found, one if count == 1 else many, {"count": thin(count), **values})


def say_of(text: str, /) -> str:
    """A text that stands elsewhere: on the card of a part, in the glossary.

    What is in no catalogue, such as the name of somebody's own metric, is said as it is.

    >>> say_of("Records")
    'Records'
    """
    return catalogue().gettext(text) if text else ""


class Sections:
    """The long texts of the file ``how.md`` beside a module, each under a heading ``## key``.

    Parameters
    ----------
    module
        The module's ``__file__``.

    Attributes
    ----------
    texts
        The texts by their keys, each paragraph, item and row of a table a line.
    """

    def __init__(self, module: str) -> None:
        content = Path(module).with_name("how.md").read_text("utf-8")
        found = re.findall(r"^## (\w+)\n\n(.*?)\s*(?=^## |\Z)", content, re.MULTILINE | re.DOTALL)
        self.texts = {key: re.sub(r"([^|\s])\n *(?![-|\s])", r"\1 ", text) for key, text in found}

    def __call__(self, key: str, /, **values: object) -> str:
        """A text in the language of the settings, with values in place of their names."""
        return say(self.texts[key], **values)


def catalogue() -> gettext.NullTranslations:
    """What is said in place of each text, in the language of the settings.

    Raises
    ------
    SettingsError
        The settings cannot be read, or the catalogue of their language.
    """
    return _read(settings().language)


@lru_cache(maxsize=2)
def _read(language: str) -> gettext.NullTranslations:
    if language == ENGLISH:
        return gettext.NullTranslations()
    try:
        return gettext.translation("kanon", TRANSLATIONS, [language])
    except (OSError, ValueError, struct.error, LookupError):  # missing, or damaged
        raise SettingsError(
            f"The translation {quoted(language)}, named by the setting language, cannot be read; "
            "docs/contribute/translating.md tells how it is made."
        ) from None


def _filled(said: str, english: str, values: dict[str, object]) -> str:
    """A text with its values; a translation that names what it is not given is left for English."""
    if not values:
        return said
    try:
        return said.format(**values)
    except (KeyError, IndexError, ValueError, AttributeError):
        return english.format(**values)
