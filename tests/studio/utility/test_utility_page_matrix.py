"""The part of the page Utility that shows the release as a matrix, driven by AppTest."""

import io
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from kanon.charts.representation import MOST_CLASSES, MOST_NODES, MatrixPart, draw_representation
from kanon.hierarchy.build import suppression
from kanon.learning.representations import REPRESENTATIONS, represent
from kanon.recoding import Recoding
from kanon.schema import Role, Schema
from kanon.sources.memory import MemorySource
from kanon.studio.utility.state import UtilityView
from support import dashboard as ui
from support.works import with_fields

UTILITY = "pages/utility.py"


@pytest.fixture
def opened(start):
    def open_at(sample, **fields):
        at = ui.anonymised(start(sample=sample))
        seen = replace(ui.work(at).view(UtilityView), part="matrix", **fields)
        at.session_state[ui.WORK] = with_fields(ui.work(at), view=seen)
        return ui.go(at, UTILITY)

    return open_at


def pick(at, name):
    return ui.enter(at, at.button_group(key="utility-representation"), name)


def heat_map(at):
    (found,) = at.get("plotly_chart")
    return found.proto.spec


@pytest.mark.nightly
def test_every_representation_is_drawn_and_said(opened):
    """[F, Mammal] of 2 lions and 2 dogs, [M, Felid] of 2 cats and 2 lions: sure by a half.

    Nobody's classes change with the shares: who is F is in the first class alone.
    """
    at = opened("animals-m23")
    for name, card in REPRESENTATIONS.items():
        pick(at, name)
        assert not ui.problems(at) and not ui.warnings(at)
        assert ui.work(at).view(UtilityView).representation == name
        assert card.summary in ui.captions(at)
        assert card.title in heat_map(at)
        found = ui.numbers(at)
        assert any(
            "alike within each of 2 classes, and 8 columns" in one for one in ui.captions(at)
        )
        assert ("Mean sureness" in found) == (name == "proportional")
        told = " ".join(ui.texts(at))
        assert " safe" not in told and "anonymous" not in told
    pick(at, "proportional")
    found = ui.numbers(at)
    assert found["Cells read off"] == "0.0 %"
    assert found["Mean sureness"] == "50.0 %" and found["Certain guesses"] == "0.0 %"
    assert "50.0 % without the shares" in ui.captions(at) and "0 of 16 cells" in ui.captions(at)
    assert "anyone who knows all quasi-identifiers of a person" in ui.page_text(at)


@pytest.mark.nightly
def test_the_downloads_of_a_table_without_a_sensitive_column(opened, downloads):
    at = opened("animals-v21", representation="proportional")
    assert set(ui.numbers(at)) == {"Cells read off", "Alone in class"}
    assert any("No column is sensitive, so what the shares" in text for text in ui.texts(at))
    ui.ask_for_original_values(at)
    for kind, read in (("parquet", pd.read_parquet), ("csv", pd.read_csv)):
        table = read(io.BytesIO(downloads[f"utility-matrix-{kind}"][1]()))
        assert list(table.columns[:2]) == ["gender", "race"] and len(table) == 6
        assert len(table.columns) == 2 + 14
    names = [one.proto.label for one in at.get("download_button")]
    assert {"Parquet, original values", "CSV, original values"} <= set(names)
    handed = ui.work(ui.go(at, ui.ANONYMISE)).kept.earlier_releases
    assert [one.title for one in handed] == ["k3-gaa-nllm"], "it holds the release too"


# What is picked to be shown
def flat_release(n_values, spans):
    table = pd.DataFrame({"q": [f"v{x:03}" for x in range(n_values)]})
    tree = suppression(list(table["q"]))
    source = MemorySource(table, Schema({"q": Role.QUASI_IDENTIFIER}), {"q": tree})
    targets = np.where(np.arange(n_values) < spans, tree.root, np.arange(n_values))
    return Recoding.from_targets(source.classes, targets[:, None])


def test_large_trees_show_what_most_records_have():
    recoding = flat_release(100, 60)
    shown = MatrixPart.choose_part(recoding, represent("fillParent", recoding), 0)
    assert shown.entries.shape == (MOST_CLASSES, MOST_NODES)
    assert shown.left_out == 101 - MOST_NODES
    assert shown.labels[-1] == "*" and shown.n_leaves == MOST_NODES - 1
    # Every outlined node is a column, and filled.
    assert (shown.entries[np.arange(MOST_CLASSES), shown.released] == 1).all()


def test_text_of_the_table_is_no_markup():
    table = pd.DataFrame({"<b>q</b>": ["<i>a</i>", "b"]})
    tree = suppression(["<i>a</i>", "b"])
    source = MemorySource(table, Schema({"<b>q</b>": Role.QUASI_IDENTIFIER}), {"<b>q</b>": tree})
    recoding = Recoding.from_targets(source.classes, np.array([[0], [1]]))
    shown = MatrixPart.choose_part(recoding, represent("oneClass", recoding), 0)
    drawn = draw_representation(shown, ["<u>"] * 2, ["<u>"] * 2, "<b>q</b>").to_json()
    assert "<i>" not in drawn and "<u>" not in drawn and "<b>q" not in drawn
