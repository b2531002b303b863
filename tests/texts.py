"""The texts that a translation translates; ``make texts`` writes kanon/locale/kanon.pot."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import write_po

import kanon.algorithms
import kanon.measures
import kanon.privacy
from kanon.cards import Card, parts_of
from kanon.charts.layout import PRESETS
from kanon.charts.measured import CLASSES
from kanon.charts.panels import KINDS
from kanon.comparison import L_CARD, T_CARD
from kanon.glossary import glossary
from kanon.learning.disclosed import CARDS
from kanon.learning.representations import REPRESENTATIONS
from kanon.metrics import METRICS
from kanon.report.words import ASKED
from kanon.strategies import STRATEGIES
from kanon.studio.choices import BUILDERS
from kanon.studio.report_view import LABELS

ROOT = Path(__file__).parent.parent
TEMPLATE = ROOT / "kanon" / "locale" / "kanon.pot"
KEYWORDS = {"say": None, "say_counted": (2, 3), "say_of": None}
ON_CARDS = ("title", "summary", "unit", "lowest", "highest", "arrow")


def on_cards() -> Iterator[tuple[str, str]]:
    """The texts of all cards, with where they stand: these are said by ``say_of``."""
    packages = (kanon.algorithms, kanon.privacy, kanon.measures)
    parts = [part for package in packages for part in parts_of(package).values()]
    cards = [*(part.CARD for part in parts), *STRATEGIES.values()]
    cards += [metric.card for metric in METRICS.values()]
    cards += [CLASSES, L_CARD, T_CARD, *CARDS.values(), *REPRESENTATIONS.values()]
    for card in cards:
        assert isinstance(card, Card)
        for name in ON_CARDS:
            yield getattr(card, name), f"the card of {card.name}"
    for part in parts:
        for parameter in getattr(part, "PARAMETERS", ()):
            for text in (parameter.title, parameter.help, *parameter.choices.values()):
                yield text, f"the card of {part.CARD.name}"


def in_the_glossary() -> Iterator[tuple[str, str]]:
    for term in glossary().values():
        yield term.name, "kanon/glossary.py"
        yield term.told, "kanon/glossary.py"


def of_builders() -> Iterator[tuple[str, str]]:
    for builder in BUILDERS.values():
        texts = [builder.title, builder.about]
        for parameter in builder.parameters:
            texts += [parameter.label, parameter.about, *parameter.options]
        for text in texts:
            yield text, "kanon/studio/choices.py"


def of_reports() -> Iterator[tuple[str, str]]:
    for text in (*LABELS.values(), *ASKED.values()):
        yield text, "kanon/report/words.py"


def on_the_board() -> Iterator[tuple[str, str]]:
    for text in (*PRESETS, *(kind.title for kind in KINDS.values())):
        yield text, "kanon/charts"


def found() -> Catalog:
    """Every text of the dashboard, in the order of the files."""
    about = "# The texts of kanon's dashboard; written by `make texts`."
    catalog = Catalog(project="kanon", header_comment=about, charset="utf-8", fuzzy=False)
    folders = [ROOT / "kanon", ROOT / "pages"]
    for folder in folders:
        for path, _, text, comments, _ in extract_from_dir(
            folder, [("**.py", "python")], keywords=KEYWORDS, comment_tags=("translators:",)
        ):
            # Without lines: they would change with every edit.
            place = f"{folder.name}/{Path(path).as_posix()}"
            catalog.add(text, locations=[(place, None)], auto_comments=comments)
    for text, place in (
        *on_cards(), *in_the_glossary(), *of_builders(), *of_reports(), *on_the_board(),
    ):  # fmt: skip
        if text:
            catalog.add(text, auto_comments=[place])
    return catalog


def as_template(catalog: Catalog) -> str:
    """The catalogue as it lies in the project: without a date, which would change it every day."""
    file = io.BytesIO()
    write_po(file, catalog, width=100, omit_header=False, include_lineno=False)
    changing = (
        r'"(POT-Creation-Date|PO-Revision-Date|Generated-By|Last-Tr|Language-Team|Report).*\n'
    )
    return re.sub(changing, "", file.getvalue().decode())


if __name__ == "__main__":
    TEMPLATE.parent.mkdir(exist_ok=True)
    TEMPLATE.write_text(as_template(found()), encoding="utf-8")
