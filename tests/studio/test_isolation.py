"""What sessions share: nothing of a user's but the desks, each under a token of its own.

Of the three ways in which Streamlit could hand somebody another one's data, the first is tried
here; the second, downloads told apart by samples of their content, in ``test_two_users_at_once``;
the third, the page script run in a worker, in ``test_the_worker_does_not_run_the_page_script``.
"""

import ast

import numpy as np
import pandas as pd
import pytest
import streamlit as st
from streamlit.runtime.caching import hashing

from support.dashboard import DATA, numbers, upload
from test_architecture import name_of, parse_modules

SHARED = {
    # what belongs to the server, and what a session's end is noticed by
    *("kanon/studio/jobs/runner.py:get_jobs", "kanon/studio/jobs/durations.py:get_durations"),
    *(f"kanon/studio/session/server.py:{name}" for name in ("get_session_store", "get_connection")),
    "kanon/studio/session/sample_results.py:get_sample_results",
    # what kanon itself is, whoever asks: settings, algorithms, cards, templates, its
    # own small tables, a k axis, an engine's session
    "kanon/studio/session/server.py:collect_garbage_regularly",
    *("kanon/settings.py:_read_settings", "kanon/studio/widgets/controls.py:_prepare_server"),
    *(
        "kanon/studio/session/table_loading.py:_read_sample",
        "kanon/teaching/glossary.py:load_glossary",
        "kanon/cards.py:parts_of",
        "kanon/base/data_files.py:_read_file",
        "kanon/teaching/handout.py:_load_templates",
        "kanon/teaching/playlist.py:load_built_in_playlists",
        "kanon/teaching/presets.py:_read_preset",
        "kanon/report/rendering.py:_load_templates",
        "kanon/algorithms/catalogue.py:algorithms",
        "kanon/privacy/model.py:ranges",
    ),
    *(
        "kanon/measures/extended_measures.py:get_further_cards",
        "kanon/measures/extended_measures.py:find_measures_at_some_k",
    ),
    *("kanon/charts/figure.py:_create_common_layout", "kanon/charts/figure.py:get_k_axis"),
    "kanon/charts/dark.py:convert_colour_to_dark",
    *("kanon/base/kinds.py:_build_shape", "kanon/base/date_texts.py:build_date_regex"),
    *("kanon/measures/privacy.py:class_measures", "kanon/report/archive.py:write_check"),
    "kanon/teaching/exercise_draft.py:list_form_fields",
    "kanon/hierarchy/codes.py:read_icd_10_chapters",
    "kanon/sources/engines/spark.py:_start_cluster",
}
CACHES = {"cache", "lru_cache", "cached", "cache_data", "cache_resource", "fragment_cache"}


def is_memoised(node):
    """Whether the results of a function outlive a call."""
    for decorator in getattr(node, "decorator_list", []):
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        if (called.attr if isinstance(called, ast.Attribute) else called.id) in CACHES:
            return True
    return False


def test_nothing_else_is_shared_or_written_to_a_module():
    """A module belongs to all sessions; what grows in one would outlive its owner."""
    shared = set()
    for path, tree in parse_modules().items():
        for node in tree.body:
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
                assert getattr(node.value.func, "id", "") not in CACHES, "as a decorator, please"
        for node in ast.walk(tree):
            assert not isinstance(node, ast.Global), path
            if is_memoised(node):
                shared.add(f"{name_of(path)}:{node.name}")
    assert shared == SHARED


def one_cell_apart():
    """Two tables above 50,000 records whose only difference Streamlit's hash does not see."""
    table = pd.DataFrame({"age": np.arange(60_000) % 7, "disease": ["flu", "cold"] * 30_000})
    seen = set(table.sample(n=hashing._PANDAS_SAMPLE_SIZE, random_state=0).index)
    place = next(row for row in table.index if row not in seen)
    other = table.copy()
    other.loc[place, "age"] = 99
    return table, other


@pytest.mark.nightly
def test_a_large_table_is_told_from_one_of_another_cell(start):
    table, other = one_cell_apart()
    told = st.cache_data(lambda frame: int(frame["age"].max()))
    assert told(table) == told(other) == 6, "the trap is still there"
    told.clear()
    shown = []
    for frame in (table, other):
        at = upload(start(DATA), "large.csv", frame.to_csv(index=False).encode())
        shown.append(numbers(at)["Classes"])
    assert shown == ["7", "8"]
