"""The files that come with kanon: where they stand, and the long texts of the pages."""

import re
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]
_INSTALLED = _PACKAGE / "dashboard"  # made of the clone's top level by setup.py


def find_own_file(*names: str) -> Path:
    """A file or folder that comes with kanon, in a clone or an installation.

    >>> find_own_file("sample_data", "hospital.csv").is_file(), find_own_file("app.py").is_file()
    (True, True)
    """
    return (_INSTALLED if _INSTALLED.is_dir() else _PACKAGE.parent).joinpath(*names)


class Sections:
    """The texts of ``how.md`` by their headings ``## key``; one line each paragraph, item and row.

    ``module`` is the ``__file__`` of the module beside the file.
    """

    def __init__(self, module: str) -> None:
        content = Path(module).with_name("how.md").read_text("utf-8")
        parts = re.findall(r"^## (\w+)\n\n(.*?)\s*(?=^## |\Z)", content, re.MULTILINE | re.DOTALL)
        self.texts = {key: re.sub(r"([^|\s])\n *(?![-|\s])", r"\1 ", text) for key, text in parts}

    def __call__(self, key: str, /, **values: object) -> str:
        return self.texts[key].format(**values) if values else self.texts[key]
