"""The long texts of a page, read from the file ``how.md`` beside its module."""

import re
from pathlib import Path


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
