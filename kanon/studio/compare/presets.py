"""Presets of the Compare page: one press sets lines and panels, another undoes it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from kanon.charts.layout import NODES, Layout, Panel, create_curves_layout
from kanon.experiments.comparison import INTERVALS
from kanon.experiments.criteria import L_CARD, T_CARD
from kanon.metrics import PUBLISHED
from kanon.strategies import needs_sensitive
from kanon.studio.compare.state import CompareView
from kanon.studio.session.changed_settings import describe_change, is_still_current
from kanon.studio.session.parts import CompareSettings, Message
from kanon.studio.session.work import SessionState, list_compared_metrics, list_usable_strategies

_SEVEN = tuple(f"s{number}" for number in range(1, 8))
_SENSITIVE = (L_CARD.name, T_CARD.name)
_SIX = create_curves_layout(
    "mean_alteration", "generalised_percent", "root_percent", "l_percent", "t_percent", "min_k"
).panels
_MATRICES = (Panel("matrix", metric="distortion"), Panel("matrix", metric="nllm"))


@dataclass(frozen=True)
class BoardPreset:
    title: str  # the button's label
    about: str  # its help
    panels: tuple[Panel, ...]  # on the board; cost matrices get their column later
    metrics: tuple[str, ...] = ()  # none for the current one, or NLLM
    strategies: tuple[str, ...] = ("s1",)
    algorithms: tuple[str, ...] = ("gaa",)


PRESETS: Mapping[str, BoardPreset] = {
    "metrics": BoardPreset(
        "Metrics",
        "The seven published metrics, one line each: mean alteration, generalised, at root, "
        "minimum k, and the cost matrices of two of them.",
        (
            *create_curves_layout(
                "mean_alteration", "generalised_percent", "root_percent", "min_k"
            ).panels,
            *_MATRICES,
        ),
        PUBLISHED,
    ),
    "strategies": BoardPreset(
        "Strategies",
        "S1 to S7, one line each, guided by the chosen metric if there is just one, else by "
        "NLLM: alteration, l, t, minimum k, and privacy against alteration.",
        (
            *create_curves_layout("mean_alteration", "l_percent", "t_percent", "min_k").panels,
            Panel("scatter", "l_percent"),
            Panel("scatter", "t_percent"),
        ),
        strategies=_SEVEN,
    ),
    "algorithms": BoardPreset(
        "Algorithms",
        "One line per algorithm, guided by the chosen metric if there is just one, else by "
        "NLLM: alteration, generalised, at root, l, t and minimum k.",
        _SIX,
        algorithms=(
            *("gaa", "datafly", "samarati", "improved-greedy"),
            *("optimal", "mondrian", "lattice-sweep"),
        ),
    ),
    "everything": BoardPreset(
        "Everything side by side",
        "The seven published metrics, one line each, on nine panels: two cost matrices, "
        "alteration, generalised, at root, l, t, minimum k, and privacy against alteration.",
        (
            *_MATRICES,
            *_SIX,
            Panel("scatter", "l_percent"),
        ),
        PUBLISHED,
    ),
}  # fmt: skip
"""By name, in the order of their buttons."""


def set_preset(work: SessionState, name: str) -> SessionState:
    settings = _build_settings(work, PRESETS[name])
    view = work.view(CompareView)
    view = replace(view, filling=None, taken=describe_change(work, view.taken, settings))
    return work.replace_sections(settings, view, Message())


def can_undo_preset(work: SessionState) -> bool:
    return is_still_current(work, work.view(CompareView).taken)


def undo_preset(work: SessionState) -> SessionState:
    view = work.view(CompareView)
    if view.taken is None or not can_undo_preset(work):
        return work
    return view.taken.undo(work).replace_sections(
        CompareView(), Message(notice="The preset was undone.")
    )


def _build_settings(work: SessionState, preset: BoardPreset) -> CompareSettings:
    sensitive = bool(work.table.sensitive_columns)
    usable = list_usable_strategies(work.replace_sections(replace(work.settings, algorithm="gaa")))
    strategies, scopes = preset.strategies, work.compare.scopes
    if not set(strategies) <= set(usable):
        strategies = tuple(usable)
    alone = list_compared_metrics(work)
    looks = any(map(needs_sensitive, strategies))
    fitting = [ends for ends in INTERVALS if ends[1] <= work.table.complete_records.n_records]
    column = choose_matrix_column(work)
    return replace(
        work.compare,
        compared=preset.metrics or (tuple(alone) if len(alone) == 1 else ("nllm",)),
        strategies=strategies,
        algorithms=preset.algorithms,
        scopes=scopes if len(scopes) == 1 else ("table",),
        k_preset="thirteen" if looks else "fourteen",
        interval=fitting[-1] if looks and fitting else work.compare.interval,
        visible_table="areas",
        layout=Layout(
            tuple(
                replace(panel, column=column) if panel.kind == "matrix" else panel
                for panel in preset.panels
                if sensitive or panel.measure not in _SENSITIVE
            )
        ),
    )


def choose_matrix_column(work: SessionState) -> str:
    """The column of a preset's cost matrices: the user's, else the largest that fits a panel."""
    trees = work.table.trees
    if work.shared.column in trees:
        return work.shared.column
    sizes = {name: tree.n_nodes for name, tree in trees.items()}
    whole = [name for name, size in sizes.items() if size <= NODES]
    if whole:
        return max(whole, key=sizes.__getitem__)
    return min(sizes, key=sizes.__getitem__, default="")
