"""The editor of a generalisation hierarchy: a tree, drawn and edited in the browser."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamlit as st

from kanon.studio.session import state

_FOLDER = Path(__file__).parent

_HTML = """<div class="tree">
    <div class="bar" role="toolbar" aria-label="Edit the tree">
        <span class="set edits">
            <button data-do="undo" title="Undo the last change (Ctrl+Z)">Undo</button>
            <button data-do="redo" title="Redo the change (Ctrl+Y)">Redo</button>
        </span>
        <span class="set edits">
            <button data-do="group" title="Put the selected nodes into a new group (G)">
                Group…</button>
            <button data-do="move" title="Move the selected nodes to a group (M)">
                Move to…</button>
            <button data-do="rename" title="Rename the selected group (F2)">Rename</button>
        </span>
        <span class="find">
            <input class="search" type="search" placeholder="Find in the tree" maxlength="200"
                aria-label="Find in the tree" title="Find (/); Enter goes to the next match">
            <span class="count" role="status"></span>
        </span>
        <button data-do="more" aria-expanded="false" title="More to edit and look at">
            Details</button>
    </div>
    <div class="bar more" role="toolbar" aria-label="Details of the tree" hidden>
        <span class="set edits">
            <button data-do="ungroup" title="Remove the groups; their members move up (Delete)">
                Remove group</button>
            <button data-do="insert" title="Insert a group above each selected node (I)">
                Insert group above</button>
        </span>
        <span class="set edits"><span class="word" aria-hidden="true">Sort</span>
            <button data-do="by-name" aria-label="Sort by name">by name</button>
            <button data-do="by-records" aria-label="Sort by records">by records</button>
        </span>
        <button data-do="matches" title="Select all that match">Select matches</button>
        <span class="set">
            <button data-do="fold">Fold all</button>
            <button data-do="unfold">Unfold all</button>
        </span>
        <span class="set">
            <button data-do="smaller" aria-label="Smaller" title="Smaller (Ctrl+wheel)">−</button>
            <span class="zoom"></span>
            <button data-do="larger" aria-label="Larger" title="Larger (Ctrl+wheel)">+</button>
            <button data-do="fit" title="Show the whole tree">Fit</button>
        </span>
        <button data-do="keys" title="What the keys do (?)">Keys</button>
    </div>
    <div class="line">
        <span class="sum"></span>
        <span class="said" role="status" aria-live="polite"></span>
        <button data-do="again" hidden>Send again</button>
    </div>
    <div class="place">
        <div class="panel" hidden></div>
        <div class="frame" tabindex="0" role="tree" aria-multiselectable="true"
            aria-label="Generalisation hierarchy">
            <div class="canvas" role="none">
                <svg class="edges" aria-hidden="true">
                    <path class="edge"/><path class="edge lit"/>
                </svg>
                <div class="nodes" role="none"></div>
            </div>
        </div>
    </div>
</div>"""

_tree = st.components.v2.component(
    "kanon_tree",
    html=_HTML,
    css=(_FOLDER / "tree.css").read_text("utf-8"),
    js=(_FOLDER / "tree.js").read_text("utf-8"),
)


def draw_tree_editor(
    data: dict[str, Any], key: str, edited: Callable[[dict[str, Any]], None]
) -> None:
    def handle_operation() -> None:
        operation = state.get_widget_value(key).get("operation")
        if isinstance(operation, dict):
            edited(operation)

    _tree(key=key, data=data, on_operation_change=handle_operation)
