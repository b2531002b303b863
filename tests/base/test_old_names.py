"""The names of version 0.6 that still work, as docs/reference/library/renamed.md lists them."""

import importlib
import inspect
import pkgutil
import re

import pytest

import kanon
from kanon.charts.curves import alteration_curve
from support.paths import ROOT

RENAMED = ROOT / "docs/reference/library/renamed.md"
ROW = re.compile(r"\| (?:`([\w.]+)`)? ?\| `([\w.]+)` \| `([\w.]+)` \|")


def listed_names() -> dict[tuple[str, str], str]:
    module, names = "", {}
    for above, before, now in ROW.findall(RENAMED.read_text(encoding="utf-8")):
        module = above or module
        names[module, before] = now
    return names


def old_functions() -> dict[tuple[str, str], object]:
    modules = [
        importlib.import_module(module.name)
        for module in pkgutil.walk_packages(kanon.__path__, "kanon.")
        if not module.name.startswith(("kanon.__main__", "kanon.studio"))
    ]
    return {
        (module.__name__, name): function
        for module in modules
        for name, function in vars(module).items()
        if inspect.isfunction(function) and function.__module__ == "kanon.base.old_names"
        if name != "keep_old_name"
    }


def test_each_old_name_calls_the_function_that_the_table_names():
    names, functions = listed_names(), old_functions()
    assert len(functions) > 40
    for (module, before), function in functions.items():
        now = getattr(importlib.import_module(module), names[module, before])
        assert inspect.unwrap(function) is now


def test_an_old_name_says_the_new_one():
    with (
        pytest.warns(DeprecationWarning, match="is called 'draw_alteration_curve'"),
        pytest.raises(TypeError),
    ):
        alteration_curve()
