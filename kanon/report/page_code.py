"""What a page of the dashboard shows as Python: a script, or a Jupyter notebook.

``page_code.md`` has a section per page: texts, which become comments or cells, and code. All that a
session chose stands before it in constants, as literals, so no text of a user becomes code.
"""

import re
import textwrap
from collections.abc import Mapping
from pathlib import Path
from pprint import pformat

from kanon import __version__
from kanon.base.checked_json import write_json
from kanon.plan import Plan

_ABOUT = f"""\
The figures and files of this page of kanon {__version__}, made again from the table. Run it where
kanon is installed. It holds the plan and the other settings of the page. A plan names columns, its
hierarchies list values that can occur in the table, and its repairs list the values that they
name, even of identifiers; no other value of the table is in here.
The files that it writes may say more: they have what the page shows."""

_SAVE = '''\
FOLDER.mkdir(exist_ok=True)


def save(result, name):
    """Write a table as CSV, and a figure as a page that opens offline in a browser."""
    if isinstance(result, pd.DataFrame):
        result.to_csv(FOLDER / f"{name}.csv", index=False)
    else:
        result.write_html(FOLDER / f"{name}.html", include_plotlyjs="directory")
    return result'''


def write_script(page: str, plan: Plan, table: str, settings: Mapping[str, object]) -> str:
    """A script that makes the figures and files of a page, by default from a file named ``table``.

    ``settings``: the constants of the page's section, by name; what Python writes as literals.
    """
    title, (imports, *steps) = _read_section(page)
    places = (
        f"TABLE = sys.argv[1] if len(sys.argv) > 1 else {table!r}\n"
        f'FOLDER = Path(sys.argv[2] if len(sys.argv) > 2 else "{page}-results")'
    )
    parts = [
        f'"""{title}.\n\n    python {page}.py TABLE [FOLDER]\n\n{_ABOUT}\n"""',
        f"import sys\nfrom pathlib import Path\n\nimport pandas as pd\n\n{imports[1]}",
        f"{places}\n{_write_constants(plan, settings)}\n{_SAVE}\n",
    ]
    for text, code in steps:
        comment = textwrap.fill(text, 98, initial_indent="# ", subsequent_indent="# ")
        parts.append(f"{comment}\n{code}".strip())
    return "\n\n".join(parts) + "\n"


def write_notebook(page: str, plan: Plan, table: str, settings: Mapping[str, object]) -> str:
    """The same as a notebook of nbformat 4 without outputs, which shows every figure."""
    title, (imports, *steps) = _read_section(page)
    places = f'TABLE = {table!r}\nFOLDER = Path("{page}-results")'
    cells = [
        ("markdown", f"# {title}\n\n{_ABOUT}"),
        ("code", f"from pathlib import Path\n\nimport pandas as pd\n\n{imports[1]}"),
        ("code", f"{places}\n{_SAVE}"),
        ("code", _write_constants(plan, settings)),
    ]
    for step in steps:
        cells += [cell for cell in zip(("markdown", "code"), step, strict=True) if cell[1]]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    content = {
        "cells": [
            {
                "cell_type": kind, "id": f"cell-{place}", "metadata": {}, "source": source,
                **({} if kind == "markdown" else {"execution_count": None, "outputs": []}),
            }
            for place, (kind, source) in enumerate(cells)
        ],
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }  # fmt: skip
    return write_json(content)


def _read_section(page: str) -> tuple[str, list[tuple[str, str]]]:
    """The title of a page, and its steps: a text, which may be empty, and code."""
    content = Path(__file__).with_suffix(".md").read_text("utf-8")
    section = content.split(f"\n## {page}\n", 1)[1].split("\n## ", 1)[0]
    title, rest = section.lstrip("\n# ").split("\n", 1)
    *parts, _ = re.split(r"```python\n(.*?)\n```", rest, flags=re.DOTALL)
    texts = (" ".join(text.split()) for text in parts[::2])
    return title, list(zip(texts, parts[1::2], strict=True))


def _write_constants(plan: Plan, settings: Mapping[str, object]) -> str:
    values = {"PLAN": plan.model_dump(mode="json", exclude_none=True), **settings}
    texts = {
        name: pformat(value, width=92, compact=True, sort_dicts=False)
        for name, value in values.items()
    }
    texts["PLAN"] = f"Plan.from_content({texts['PLAN']})"
    return "\n".join(f"{name} = {text}" for name, text in texts.items())
