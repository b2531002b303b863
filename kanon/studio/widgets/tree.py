"""The editor of a generalisation hierarchy: a tree, drawn and edited in the browser."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamlit as st

from kanon.studio.session import state

_FOLDER = Path(__file__).parent

_HTML = """<div class="tree">
    <div class="bar edits" role="toolbar" aria-label="Edit the tree">
        <span class="set">
            <button data-do="undo" title="Undo the last change (Ctrl+Z)">Undo</button>
            <button data-do="redo" title="Make it again (Ctrl+Y)">Redo</button>
        </span>
        <span class="set">
            <button data-do="group" title="Put the selected into a new group (G)">Group…</button>
            <button data-do="move" title="Move the selected to a group (M)">Move to…</button>
            <button data-do="rename" title="Rename the selected group (F2)">Rename</button>
            <button data-do="ungroup" title="What is in the selected groups goes up (Delete)">
                Remove group</button>
            <button data-do="insert" title="A group of its own above each of the selected (I)">
                Insert group above</button>
        </span>
        <span class="set"><span class="word" aria-hidden="true">Sort</span>
            <button data-do="by-name" aria-label="Sort by name">by name</button>
            <button data-do="by-records" aria-label="Sort by records">by records</button>
        </span>
    </div>
    <div class="bar views" role="toolbar" aria-label="Look at the tree">
        <span class="set">
            <span class="find">
                <input class="search" type="search" placeholder="Find in the tree" maxlength="200"
                    aria-label="Find in the tree" title="Find (/); Enter goes to the next match">
                <span class="count" role="status"></span>
            </span>
            <button data-do="matches" title="Select all that match">Select matches</button>
        </span>
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


def tree_editor(data: dict[str, Any], key: str, edited: Callable[[dict[str, Any]], None]) -> None:
    """Draw a tree, and tell what the user does to it.

    ``data`` is what to draw, with nodes numbered as in :class:`~kanon.hierarchy.tree.Hierarchy`;
    all but the tree itself may be missing:

    - ``about``: what the tree is of; on a change, folding, selection, search and zoom start anew
    - ``version`` of the tree; ``answered``, the ``id`` of the last operation done, at first ""
    - ``said``, ``bad``: a sentence about that operation, and whether it was refused
    - ``select``: nodes to select once that operation is answered, for example a new group
    - ``labels``, ``parents``, ``leaves`` (their number): the tree; the root's parent is -1
    - ``records`` at and below each node, as text; ``empty``: leaves without a record
    - ``weights`` of the edge above each node, as text; "" for the root
    - ``weighable``, ``editable``: what may be changed; ``undo``, ``redo``: how many steps there are
    - ``lit``: nodes lit up; ``climbed``: nodes of which the edge above is lit up, with its weight
    - ``height``: at most so many pixels; ``bare``: without tools around the tree

    ``edited`` is told each operation: a dictionary of ``id`` (unique), ``about`` and ``base`` (the
    tree that it was made on, and its version) and ``kind``, with

    - ``move``: ``nodes``, ``to``
    - ``group``: ``nodes``, ``name``
    - ``rename``: ``node``, ``name``
    - ``ungroup``, ``insert``: ``nodes``
    - ``weigh``: ``node``, ``weight`` (the text as typed)
    - ``sort``: ``node``, ``by`` ("name" or "records")
    - ``undo``, ``redo``

    It comes from a browser: nothing in it can be relied on. The browser sends the next operation
    only when the ``id`` of the last one is ``answered``, and may send the same one again if no
    answer came.
    """

    def told() -> None:
        operation = state.typed(key).get("operation")
        if isinstance(operation, dict):
            edited(operation)

    _tree(key=key, data=data, on_operation_change=told)
