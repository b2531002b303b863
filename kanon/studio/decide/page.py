"""Which settings for this purpose? The purpose of a release, and its verdict."""

from kanon.studio.decide import advice_panel, greatest_k_panel, purpose_panel, simulated_panel
from kanon.studio.decide.state import DecideView
from kanon.studio.shell.frame import (
    choose_part,
    draw_page_head,
    show_classes_in_engine,
    show_unready,
)

PARTS = {
    "purpose": ("1 What is it for?", purpose_panel.show_purpose_panel),
    "settings": ("2 Which settings?", advice_panel.show_advice_panel),
    "reverse": ("3 Greatest k for a given l or t", greatest_k_panel.show_greatest_k_panel),
    "study": ("4 Which strategy in general?", simulated_panel.show_simulated_panel),
}
"""By the names in ``DecideView``: title, and the function that draws the part."""


def page() -> None:
    work = draw_page_head("Which settings for this purpose?", as_toast=True)
    show_unready(work)
    titles = {name: title for name, (title, _) in PARTS.items()}
    choose_part("decide-part", titles, work.view(DecideView))
    part = work.view(DecideView).part
    if part == "purpose" or not show_classes_in_engine(work):  # that part checks by itself
        PARTS[part][1](work)
