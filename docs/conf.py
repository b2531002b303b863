"""How the documentation site is built: ``make docs`` writes it to build/docs/."""

from __future__ import annotations

import re
from pathlib import Path

from pydantic import BaseModel
from sphinx.application import Sphinx

import kanon

DOCS = Path(__file__).parent
INCLUDED = {
    "CHANGELOG": "/contribute/changelog.md",
    "CONTRIBUTING": "/contribute/contributing.md",
    "SECURITY": "/operate/security.md",
}
NO_LIBRARY = ("kernels", "reference", "studio", "cli", "__main__")
PACKAGE = DOCS.parent / "kanon"

project = "kanon"
author = "the contributors of kanon"
project_copyright = author
version = release = kanon.__version__
language = "en"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["operate/deployment/*"]
smartquotes = False
suppress_warnings = ["ref.python"]  # two classes may have a field of one name

myst_heading_anchors = 3

add_module_names = False
autodoc_default_options = {"exclude-members": "model_config"}
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_typehints_format = "short"
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False
toc_object_entries = False  # with them a page takes three times as long

html_theme = "furo"
html_title = f"kanon {kanon.__version__}"
html_copy_source = False


# --- the library, room by room ----------------------------------------------------------------
def modules(room: str) -> list[str]:
    """The modules of a room: a file of the package, or a folder with all that is below it."""
    files = [*PACKAGE.glob(f"{room}.py"), *sorted((PACKAGE / room).rglob("*.py"))]
    names = [path.relative_to(PACKAGE.parent).with_suffix("").parts for path in files]
    return [".".join(name) for name in names if name[-1] != "__init__"]


def fill_in(app: Sphinx, docname: str, source: list[str]) -> None:
    """Put what docstrings say in the place of ``{library}``, and links to where pages are here."""
    text = re.sub(r"```\{library\} ([\w /\n-]+)\n```", documented, source[0])
    source[0] = re.sub(
        r"\]\((?:\.\./)+(CHANGELOG|CONTRIBUTING|SECURITY)\.md",
        lambda found: f"]({INCLUDED[found[1]]}",
        text,
    )


def documented(asked: re.Match[str]) -> str:
    """A heading per module of some rooms, and under it what is public there.

    A module after a minus is for kanon's own use.
    """
    internal = [name[1:].replace("/", ".") for name in asked[1].split() if name.startswith("-")]
    return "\n".join(
        f"## {name}\n\n```{{eval-rst}}\n.. automodule:: {name}\n   :members:\n```\n"
        for room in asked[1].split()
        for name in modules(room)
        if name.partition(".")[2] not in internal
    )


def without_substitutions(
    app: Sphinx, what: str, name: str, of: object, options: object, lines: list[str]
) -> None:
    """``|p - q|`` in a docstring is a formula, not a name to be replaced."""
    example = False
    for at, line in enumerate(lines):
        example = line.startswith(">>>") or (example and bool(line.strip()))
        if not example:
            parts = re.split(r"(``.*?``)", line)
            parts[::2] = [part.replace("|", "\\|") for part in parts[::2]]
            lines[at] = "".join(parts)


def without_fields(
    app: Sphinx, what: str, name: str, of: object, options: object, said: str, returned: str
) -> tuple[str, str] | None:
    """docs/reference/plan.md has what a part of a plan takes; no signature could."""
    return ("", "") if isinstance(of, type) and issubclass(of, BaseModel) else None


def setup(app: Sphinx) -> None:
    """Connect what is done to pages and docstrings."""
    app.connect("source-read", fill_in)
    app.connect("autodoc-process-docstring", without_substitutions)
    app.connect("autodoc-process-signature", without_fields)
