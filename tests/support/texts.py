"""The texts that a translation translates; ``make texts`` writes kanon/locale/kanon.pot."""

from __future__ import annotations

import ast
import io
import re
from collections.abc import Iterator
from itertools import chain

from babel.messages.catalog import Catalog
from babel.messages.pofile import write_po

import kanon.algorithms
import kanon.measures
import kanon.privacy
from kanon.algorithms.catalogue import FAMILIES, algorithms, short_title
from kanon.algorithms.search import FULL_DOMAIN, own_way
from kanon.base.kinds import PATTERNS
from kanon.base.language import Sections
from kanon.cards import Card, parts_of
from kanon.charts import comparison_measures, lattice, panels
from kanon.experiments.criteria import CRITERIA, L_CARD, SUPPRESSED_CARD, T_CARD
from kanon.experiments.greatest_k import WAYS
from kanon.experiments.simulated.columns import DISTRIBUTIONS
from kanon.experiments.studies import measures_of_points
from kanon.hierarchy.intermediate_costs import INTERMEDIATES
from kanon.learning import disclosure
from kanon.learning.classifiers import CLASSIFIERS
from kanon.learning.representations import REPRESENTATIONS
from kanon.learning.scores import SCORES
from kanon.metrics import METRICS, PUBLISHED, metric_named
from kanon.privacy.persons import IN_PERSONS
from kanon.privacy.t_closeness import SPOKEN
from kanon.release import context
from kanon.release.remark_kinds import KINDS
from kanon.report.explanations import LOOKS, MEETING
from kanon.report.words import ASKED, FIGURES
from kanon.schema import Role
from kanon.strategies import PARTNERS, SCOPES, STRATEGIES
from kanon.studio.learn.attacks_state import STEPS
from kanon.studio.session import requirements
from kanon.studio.session.choices import BUILDERS
from kanon.studio.session.purpose import LABELS
from kanon.studio.session.samples import SAMPLES
from kanon.studio.shell.log_privacy import FAILED
from kanon.teaching import attacks, presets
from kanon.teaching.glossary import EVERYWHERE, glossary
from support.paths import ROOT

TEMPLATE = ROOT / "kanon" / "locale" / "kanon.pot"
MARKS = {"say": slice(0, 1), "say_counted": slice(1, 3)}
"""What marks a text, and which of its arguments are the text."""

ON_CARDS = ("title", "summary", "unit", "arrow")


def in_the_code() -> Iterator[tuple[tuple[str, ...], str]]:
    """The texts that are marked, each alone or with its plural, with where they stand.

    The tree of the code is read: Babel's own reader passes over what stands in an f-string.
    """
    for folder in ("kanon", "pages"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            place, code = path.relative_to(ROOT).as_posix(), path.read_text("utf-8")
            for call in calls(ast.parse(code)) if "from kanon.base.language import" in code else ():
                if isinstance(call.func, ast.Name) and call.func.id in MARKS:
                    texts = call.args[MARKS[call.func.id]]
                    assert all(isinstance(one, ast.Constant) for one in texts), ast.unparse(call)
                    yield tuple(ast.literal_eval(one) for one in texts), place
    for path in sorted((ROOT / "kanon").rglob("how.md")):
        for text in Sections(str(path)).texts.values():
            yield (text,), path.relative_to(ROOT).as_posix()


def calls(node: ast.AST) -> Iterator[ast.Call]:
    """All calls, in the order of the code."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Call):
            yield child
        yield from calls(child)


def cards() -> Iterator[Card]:
    """All cards of the library."""
    packages = (kanon.algorithms, kanon.privacy, kanon.measures)
    yield from (part.CARD for package in packages for part in parts_of(package).values())
    yield from (one.card for one in (*METRICS.values(), *CLASSIFIERS.values()))
    for some in (STRATEGIES, SCOPES, WAYS, CRITERIA, REPRESENTATIONS, SCORES, disclosure.CARDS):
        yield from some.values()
    yield from attacks.ATTACKS.values()
    yield from DISTRIBUTIONS.values()
    yield from context.ASKED.values()
    yield from measures_of_points([metric_named(name) for name in PUBLISHED]).values()
    yield from (L_CARD, T_CARD, SUPPRESSED_CARD, comparison_measures.CLASSES, IN_PERSONS)


def elsewhere() -> Iterator[tuple[str, str]]:
    """The texts that ``say_of`` says, with where they stand."""
    for card in cards():
        texts = [getattr(card, name) for name in ON_CARDS]
        for text in (*texts, comparison_measures.short_title(card)):
            yield text, f"the card of {card.name}"
    yield FULL_DOMAIN, "kanon/algorithms/search.py"  # what all searches have in common, once
    for name, module in algorithms().items():
        how = own_way(module.HOW)
        for text in (short_title(name), how, module.GUARANTEES, module.SLOW):
            yield text, f"the algorithm {name}"
        for parameter in getattr(module, "PARAMETERS", ()):
            for text in (parameter.title, parameter.help, *parameter.choices.values()):
                yield text, f"the algorithm {name}"
    for one in INTERMEDIATES.values():
        for text in (one.title, one.formula, one.told):
            yield text, "kanon/hierarchy/intermediate_costs.py"
    for model in requirements.KINDS.values():
        yield requirements.level_name(model), f"the card of {model.card.name}"
    for preset in presets.PRESETS.values():
        yield from ((text, "kanon/teaching/presets.py") for text in (preset.title, preset.about))
    for sample in SAMPLES.values():
        yield from (
            (text, "kanon/studio/session/samples.py") for text in (sample.title, sample.about)
        )
    for builder in BUILDERS.values():
        texts = [builder.title, builder.about]
        for parameter in builder.parameters:
            texts += [parameter.label, parameter.about, *parameter.options]
        yield from ((text, "kanon/studio/session/choices.py") for text in texts)
    for term in glossary().values():
        yield from ((text, "kanon/teaching/glossary.py") for text in (term.name, term.told))
    lists = {
        "kanon/release/remarks.py": chain.from_iterable(
            (about.title, about.title.lower(), about.advice) for about in KINDS.values()
        ),
        "kanon/release/context.py": (
            *context.RELEASES.values(),
            *context.ATTACKERS.values(),
            *context.SOURCES,
        ),
        "kanon/run.py": FAMILIES.values(),
        "kanon/base/kinds.py": PATTERNS,
        "kanon/strategies.py": PARTNERS.values(),
        "kanon/schema.py": (role.value for role in Role),
        "kanon/privacy/t_closeness.py": SPOKEN.values(),
        "kanon/charts/lattice.py": lattice.COLOURINGS.values(),
        "kanon/charts/panels.py": (kind.title for kind in panels.KINDS.values()),
        "kanon/report/explanations.py": (*MEETING.values(), *filter(None, LOOKS.values())),
        "kanon/report/words.py": (*LABELS.values(), *ASKED.values(), *FIGURES.values()),
        "kanon/teaching/glossary.py": (EVERYWHERE,),
        "kanon/studio/shell/log_privacy.py": (FAILED,),
        "kanon/studio/learn/attacks_state.py": STEPS,
    }
    for place, texts in lists.items():
        yield from ((text, place) for text in texts)


def found() -> Catalog:
    """Every text of the dashboard, in the order of the files."""
    about = "# The texts of kanon's dashboard; written by `make texts`."
    catalog = Catalog(project="kanon", header_comment=about, charset="utf-8", fuzzy=False)
    for text, place in in_the_code():
        # Without lines: they would change with every edit.
        catalog.add(text[0] if len(text) == 1 else text, locations=[(place, None)])
    for text, place in elsewhere():
        if text:
            catalog.add(text, auto_comments=[place])
    return catalog


def as_template(catalog: Catalog) -> str:
    """The catalogue as a file: without a date, which would change it every day."""
    file = io.BytesIO()
    write_po(file, catalog, width=100, omit_header=False, include_lineno=False)
    changing = (
        r'^"(POT-Creation-Date|PO-Revision-Date|Generated-By|Last-Tr|Language-Team|Report-).*\n'
    )
    return re.sub(changing, "", file.getvalue().decode(), flags=re.MULTILINE)


if __name__ == "__main__":
    TEMPLATE.parent.mkdir(exist_ok=True)
    TEMPLATE.write_text(as_template(found()), encoding="utf-8")
