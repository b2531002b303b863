"""The language of the dashboard: every text can be translated, and is found for the template."""

from __future__ import annotations

import ast
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

from kanon import settings as settings_module
from kanon.base import language
from kanon.base.language import Sections, catalogue, say, say_counted, say_of
from kanon.errors import SettingsError
from kanon.settings import VARIABLE, settings
from support import texts
from support.paths import ROOT


def test_the_template_holds_every_text_with_where_it_stands():
    written = list(read_po(io.BytesIO(texts.as_template(texts.found()).encode())))[1:]
    ids = [(one.id,) if isinstance(one.id, str) else tuple(one.id) for one in written]
    assert {text for text, _ in texts.in_the_code()} <= set(ids)
    assert {text for text, _ in texts.elsewhere() if text} <= {one[0] for one in ids}
    assert all(one.locations or one.auto_comments for one in written)


def test_each_long_text_is_said_with_the_values_it_names():
    for path in sorted((ROOT / "kanon").rglob("how.md")):
        sections = Sections(str(path)).texts
        heads = re.findall(r"^#.*$", path.read_text("utf-8"), re.MULTILINE)
        assert heads == [f"## {key}" for key in sections], "each heading is a key, once"
        said = [
            (call.args[0].value, {one.arg for one in call.keywords})
            for module in path.parent.glob("*.py")
            for call in texts.calls(ast.parse(module.read_text("utf-8")))
            if ast.unparse(call.func) == "_how"
        ]
        assert {key for key, _ in said} == {*sections}
        for key, given in said:
            assert given == set(re.findall(r"{(\w+)}", sections[key])), (path, key)


def translated(folder: Path, name: str, translations: dict) -> Path:
    """A folder with one catalogue; ``translations`` by the English text, or its singular."""
    catalog = Catalog(locale="en")
    for text, said in translations.items():
        catalog.add(text, said)
    path = folder / name / "LC_MESSAGES" / "kanon.mo"
    path.parent.mkdir(parents=True)
    with path.open("wb") as file:
        write_mo(file, catalog)
    return path


@pytest.fixture
def spoken(tmp_path, limits, monkeypatch):
    """Speak a language of a few texts."""

    def speak(translations):
        path = translated(tmp_path / "locale", "xx", translations)
        for module in (settings_module, language):
            monkeypatch.setattr(module, "TRANSLATIONS", tmp_path / "locale")
        language._read.cache_clear()
        limits(language='"xx"')
        return path

    yield speak
    language._read.cache_clear()


def test_a_text_is_said_in_the_language_of_the_settings(spoken):
    spoken(
        {
            "Table: {title}": "Tabelle {title}",
            "Plan": "Vorhaben",
            ("{count} record", "{count} records"): ("{count} Satz", "{count} Sätze"),
        }
    )
    assert say("Table: {title}", title="{voters}") == "Tabelle {voters}"
    assert say("Plan") == say_of("Plan") == "Vorhaben"
    assert say_counted(1, "{count} record", "{count} records") == "1 Satz"
    assert say_counted(2000, "{count} record", "{count} records") == "2\u202f000 Sätze"


def test_what_is_not_translated_is_said_in_english(spoken):
    spoken({"Plan": "Vorhaben"})
    assert say("Table: {title}", title="voters") == "Table: voters"
    assert say_counted(2, "{count} row", "{count} rows") == "2 rows"
    assert say_of("") == "" and say("{braces}") == "{braces}"


@pytest.mark.parametrize("wrong", ["Tabelle {titel}", "Tabelle {0}", "Tabelle {", "{title.x}"])
def test_a_translation_that_cannot_be_filled_leaves_the_english_text(spoken, wrong):
    spoken({"Table: {title}": wrong})
    assert say("Table: {title}", title="voters") == "Table: voters"


def test_a_language_without_a_translation_is_refused(limits):
    limits(language='"tlh"')
    with pytest.raises(SettingsError) as refused:
        settings()
    assert "language = 'tlh', but it has to be one of 'en'" in refused.value.sentence
    limits(language=7)
    with pytest.raises(SettingsError, match="language = 7, but"):
        settings()


@pytest.mark.parametrize("content", [b"", b"nonsense", b"\xde\x12\x04\x95" + b"\xff" * 40])
def test_a_damaged_translation_is_refused(spoken, content):
    spoken({}).write_bytes(content)
    with pytest.raises(SettingsError, match=r"The translation 'xx', .* cannot be read"):
        catalogue()


def test_under_unfit_settings_nothing_is_said_before_they_are_checked(tmp_path):
    """What app.py imports before it asks for the settings must not need them."""
    path = tmp_path / "own.toml"
    path.write_text("rows = 0")
    importing = (
        "import kanon.studio.shell.log_privacy, kanon.studio.shell.settings_gate; "
        "import kanon.studio.jobs.server_pool, kanon.studio.session.server"
    )
    subprocess.run(
        [sys.executable, "-c", importing],
        check=True,
        cwd=ROOT,
        env={**os.environ, VARIABLE: str(path)},
    )


CATALOGUES = sorted(settings_module.TRANSLATIONS.glob("*/LC_MESSAGES/kanon.po"))


def unknown_values(translation: bytes) -> list[str]:
    """The translated texts that name a value which their English text does not name."""
    names, found = re.compile(r"{(\w+)"), []
    for message in read_po(io.BytesIO(translation)):
        english = [message.id] if isinstance(message.id, str) else list(message.id)
        said = [message.string] if isinstance(message.string, str) else list(message.string)
        allowed = {name for each in english for name in names.findall(each)}
        found += [text for text in said if not set(names.findall(text or "")) <= allowed]
    return found


def test_a_translation_names_the_values_that_its_text_names():
    wrong = b'msgid "Table: {title}"\nmsgstr "Tabelle {titel}"\n\nmsgid "Plan"\nmsgstr "Plan"\n'
    assert unknown_values(wrong) == ["Tabelle {titel}"]
    assert [text for path in CATALOGUES for text in unknown_values(path.read_bytes())] == []


# --- nothing is shown that cannot be translated ----------------------------------------------
# The calls of Streamlit that show a text, with where it stands: first, or under these names.
NAMED = {"label", "help", "placeholder", "title", "body", "caption"}
SHOWING = re.compile(
    r"^(st|column|left|right|middle)\.(title|header|subheader|markdown|caption|write|text|info|"
    r"warning|error|success|toast|button|checkbox|toggle|radio|selectbox|multiselect|slider|"
    r"select_slider|text_input|text_area|number_input|date_input|file_uploader|download_button|"
    r"expander|popover|metric|badge|segmented_control|pills|spinner|status|form_submit_"
    r"button|link_button|color_picker|tabs)$"
)
SHOWN = sorted((ROOT / "kanon" / "studio").rglob("*.py"))


def words_of(node: ast.expr) -> str:
    """The words of a literal, or of one with values in it."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        text = node.value
    elif isinstance(node, ast.JoinedStr):
        text = " ".join(str(part.value) for part in node.values if isinstance(part, ast.Constant))
    elif isinstance(node, ast.BinOp):
        text = f"{words_of(node.left)} {words_of(node.right)}"
    elif isinstance(node, ast.IfExp):
        text = f"{words_of(node.body)} {words_of(node.orelse)}"
    elif isinstance(node, ast.List | ast.Tuple):
        text = " ".join(words_of(each) for each in node.elts)
    else:
        return ""
    return " ".join(
        re.findall(r"[A-Za-z]{2,}", re.sub(r":material/\w+:|<[^>]*>|`[^`]*`", "", text))
    )


def test_no_text_is_shown_that_is_not_marked():
    calls = (
        (path, call)
        for path in SHOWN
        for call in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(call, ast.Call)
    )
    bare = []
    for path, call in calls:
        shown = [one.value for one in call.keywords if one.arg in NAMED]
        if SHOWING.match(ast.unparse(call.func)) or ast.unparse(call.func) == "head":
            shown += call.args[:1]
        bare += [f"{path}:{call.lineno}: {words_of(one)}" for one in shown if words_of(one)]
    assert bare == [], "say(...) marks a text for translation"


def in_brackets(text: str) -> str:
    """A text in brackets; its values stand outside, as they are to be said by themselves."""
    return re.sub(r"{\w+}", r"⟧\g<0>⟦", f"⟦{text}⟧")


@pytest.mark.nightly
def test_on_every_page_every_text_comes_from_the_catalogue(tmp_path):
    catalog = texts.found()
    brackets = {
        message.id: in_brackets(message.id)
        if isinstance(message.id, str)
        else tuple(map(in_brackets, message.id))
        for message in catalog
        if message.id
    }
    translated(tmp_path / "locale", "brackets", brackets)
    own = tmp_path / "own.toml"
    own.write_text('language = "brackets"\n')
    path = os.pathsep.join([str(ROOT), str(ROOT / "tests")])
    done = subprocess.run(
        [sys.executable, str(ROOT / "tests/support/said_pages.py"), str(tmp_path / "locale")],
        check=False, capture_output=True, text=True, cwd=ROOT,
        env={**os.environ, VARIABLE: str(own), "PYTHONPATH": path},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout.splitlines()[-1])
    assert {page: found for page, found in said.items() if found} == {}
