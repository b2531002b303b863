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
from kanon.algorithms.search import FULL_DOMAIN
from kanon.cards import Card, parts_of
from kanon.charts.lattice import COLOURINGS
from kanon.charts.layout import PRESETS
from kanon.charts.measured import CLASSES
from kanon.charts.panels import KINDS
from kanon.comparison import L_CARD, T_CARD
from kanon.glossary import EVERYWHERE, glossary
from kanon.learning.disclosed import CARDS
from kanon.learning.representations import REPRESENTATIONS
from kanon.lessons import presets
from kanon.metrics import INTERMEDIATES, METRICS
from kanon.report.words import ASKED
from kanon.run import FAMILIES, algorithms, short_title
from kanon.strategies import SCOPES, STRATEGIES
from kanon.studio.choices import BUILDERS
from kanon.studio.report_view import LABELS

ROOT = Path(__file__).parent.parent
TEMPLATE = ROOT / "kanon" / "locale" / "kanon.pot"
KEYWORDS = {"say": None, "say_counted": (2, 3), "say_of": None}
ON_CARDS = ("title", "summary", "unit", "lowest", "highest", "arrow", "source")


def on_cards() -> Iterator[tuple[str, str]]:
    """The texts of all cards, with where they stand: these are said by ``say_of``."""
    packages = (kanon.algorithms, kanon.privacy, kanon.measures)
    parts = [part for package in packages for part in parts_of(package).values()]
    cards = [*(part.CARD for part in parts), *STRATEGIES.values(), *SCOPES.values()]
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


def of_algorithms() -> Iterator[tuple[str, str]]:
    """What an algorithm is told by beside its card; what all searches have in common, once."""
    yield FULL_DOMAIN, "kanon/algorithms/search.py"
    for name, module in algorithms().items():
        how = module.HOW.removeprefix(FULL_DOMAIN).strip()
        for text in (short_title(name), how, module.GUARANTEES, module.SLOW):
            yield text, f"the algorithm {name}"
    for text in FAMILIES.values():
        yield text, "kanon/run.py"


def of_choices() -> Iterator[tuple[str, str]]:
    """What stands in lists to choose from."""
    for text in COLOURINGS.values():
        yield text, "kanon/charts/lattice.py"
    for one in INTERMEDIATES.values():
        yield one.title, "kanon/metrics.py"
    for preset in presets.PRESETS.values():
        yield preset.title, "kanon/lessons/presets.py"
        yield preset.about, "kanon/lessons/presets.py"


def in_the_glossary() -> Iterator[tuple[str, str]]:
    yield EVERYWHERE, "kanon/glossary.py"
    for term in glossary().values():
        for text in (term.name, term.told, term.source):
            yield text, "kanon/glossary.py"


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
    elsewhere = (
        *(on_cards, of_algorithms, of_choices, of_builders, of_reports, on_the_board),
        in_the_glossary,
    )
    for text, place in (each for texts in elsewhere for each in texts()):
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
