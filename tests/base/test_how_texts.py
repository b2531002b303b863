"""The long texts of the pages, in files beside the modules that show them."""

import ast
import re

from kanon.base.how_texts import Sections
from support.paths import ROOT


def test_each_long_text_is_shown_with_the_values_it_names():
    for path in sorted((ROOT / "kanon").rglob("how.md")):
        sections = Sections(str(path)).texts
        heads = re.findall(r"^#.*$", path.read_text("utf-8"), re.MULTILINE)
        assert heads == [f"## {key}" for key in sections], "each heading is a key, once"
        shown = [
            (call.args[0].value, {one.arg for one in call.keywords})
            for module in path.parent.glob("*.py")
            for call in ast.walk(ast.parse(module.read_text("utf-8")))
            if isinstance(call, ast.Call) and ast.unparse(call.func) == "_how"
        ]
        assert {key for key, _ in shown} == {*sections}
        for key, given in shown:
            assert given == set(re.findall(r"{(\w+)}", sections[key])), (path, key)
