"""The pictures of docs/figures/utility.md: the dashboard's charts, drawn by Chromium."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import plotly.graph_objects as go
import plotly.io
from playwright.sync_api import sync_playwright

from benchmarks.case import CaseError
from benchmarks.fresh import ROOT
from benchmarks.learning.measured import CLASSIFIERS, Findings
from kanon.charts.learning import describe_scores, draw_agreement, draw_scores
from kanon.learning.classifiers import CLASSIFIERS as EVERY
from kanon.learning.experiments import bands
from kanon.learning.representations import REPRESENTATIONS
from kanon.learning.scores import SCORES
from kanon.studio.utility.prediction_panel import (
    compute_agreements,
    describe_best_measure,
    select_measures,
)

__all__ = ["PICTURES", "draw"]

PICTURES = ROOT / "docs" / "figures"
_WIDTH = 1100


def draw(found: Findings) -> None:
    """Draw and save all pictures.

    Raises
    ------
    CaseError
        Chromium is missing.
    """
    for (name, trained), lesson in found.lessons.items():
        score = SCORES[lesson.score]
        if trained == "original":
            own = bands(lesson.outcomes, lesson.score, "proportional", live=True)
            chance = 0.5 if lesson.score == "auc" else lesson.most_frequent
            title = f"{name}, live networks: {describe_scores(own, lesson.ks, score)}"
            figure = draw_scores({"": own}, lesson.ks, score, title, chance=chance)
        else:
            panels = {
                f"trained in {REPRESENTATIONS[each].title}": bands(
                    lesson.outcomes, lesson.score, each, live=True
                )
                for each in REPRESENTATIONS
            }
            title = f"{name}: trained on the release for k = 100, live networks"
            figure = draw_scores(panels, lesson.ks, score, title)
        _save(figure, f"utility-{name}-{trained}")
    learned = {each: EVERY[each].card.title for each in CLASSIFIERS}
    for name, points in found.points.items():
        measures = select_measures(points)
        agreed = compute_agreements(points, measures)
        ordered = {each: measures[each] for each in dict.fromkeys(agreed["measure"])}
        score_name = next(one.score for key, one in found.lessons.items() if key[0] == name)
        title = f"{name}: {describe_best_measure(agreed, measures, score_name)}"
        _save(draw_agreement(agreed, ordered, learned, title), f"utility-{name}-agreement")


def _save(figure: go.Figure, name: str) -> None:
    chromium = os.environ.get("KANON_CHROMIUM") or shutil.which("chromium")
    if not chromium:
        raise CaseError("Chromium is missing: it draws the pictures of docs/figures/utility.md.")
    figure.update_layout(width=_WIDTH, paper_bgcolor="white", title={"x": 0.01})
    page_of = plotly.io.to_html(figure, include_plotlyjs=True, config={"staticPlot": True})
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": _WIDTH, "height": int(figure.layout.height)})
        page.set_content(page_of)
        page.locator(".main-svg").first.wait_for()
        page.locator(".plot-container").screenshot(path=str(Path(PICTURES) / f"{name}.png"))
        browser.close()
