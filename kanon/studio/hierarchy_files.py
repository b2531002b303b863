"""Hierarchy files on their way in and out: upload, review, paste, download."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from kanon.hierarchy import Hierarchy, tables
from kanon.hierarchy.bundle import safe_name, write_bundle
from kanon.hierarchy.files import to_csv, to_json
from kanon.studio import drawing, state
from kanon.studio.choices import Choice, Waiting
from kanon.studio.files import content, file_name
from kanon.studio.imports import import_meant_for, meant, with_imported, with_imports
from kanon.studio.text import plain, shortened
from kanon.studio.uploads import upload_field
from kanon.studio.work import Work
from kanon.words import counted, thin

__all__ = ["files_panel", "review", "said_unused", "said_values"]

_NAMED = 12  # values; the rest is counted


def said_values(counts: Mapping[str, int]) -> str:
    """Values with their records, the first few of them."""
    some = [f"{shortened(value)} ({thin(n)})" for value, n in list(counts.items())[:_NAMED]]
    rest = len(counts) - len(some)
    return ", ".join(some) + (f" and {thin(rest)} more" if rest else "")


def said_unused(leaves: Sequence[str]) -> str:
    """Leaves without a record, the first few of them."""
    some = ", ".join(map(shortened, leaves[:_NAMED]))
    more = f" and {thin(len(leaves) - _NAMED)} more" if len(leaves) > _NAMED else ""
    have = counted(len(leaves), "leaf has", "leaves have")
    return f"{have} no record, which is fine: {some}{more}."


def files_panel(work: Work, column: str, choice: Choice) -> None:
    """Files in, files out."""
    # A new one after each upload: an uploader would give the files used before once more.
    key = f"tree-files-{work.version}-{work.uploads}"
    upload_field(
        "CSV, JSON or ZIP, several at once; matched with columns by name",
        "hierarchies_megabytes",
        accept_multiple_files=True,
        key=key,
        on_change=_take_files,
        args=(key,),
    )
    pasted = f"tree-pasted-{work.version}-{column}"
    with st.expander("Paste lines", icon=":material/content_paste:"):
        st.text_area(
            "Lines leaf;level 1;…;* or parent, child, weight, as a spreadsheet copies them",
            key=pasted,
            height=100,
        )
        st.button(
            "Take these lines", key="tree-paste", on_click=_take_pasted, args=(column, pasted)
        )
    if choice.tree is not None:
        tree = choice.tree
        _download(work, "CSV", "csv", {column: tree}, lambda: to_csv(tree).encode())
        make_json = lambda: to_json(tree, column).encode()  # noqa: E731
        _download(work, "JSON with weights", "json", {column: tree}, make_json)
    trees = work.trees
    if len(trees) > 1:
        label = f"All {counted(len(trees), 'hierarchy', 'hierarchies')} as ZIP"
        _download(work, label, "zip", trees, lambda: write_bundle(trees))
    st.caption("Hierarchies list the values that may occur in the table.")


def _download(
    work: Work, label: str, ending: str, trees: Mapping[str, Hierarchy], make: Callable[[], bytes]
) -> None:
    versions = [work.history(name).version for name in trees]
    what = "hierarchies" if ending == "zip" else f"hierarchy_{safe_name(next(iter(trees)))}"
    mime = {"csv": "text/csv", "json": "application/json", "zip": "application/zip"}[ending]
    st.download_button(
        label,
        data=content(make),
        file_name=file_name(what, ending, f"{list(trees)}|{versions}"),
        mime=mime,
        icon=":material/download:",
        on_click="ignore",
        key=f"tree-{ending}",
        width="stretch",
    )


def _take_files(key: str) -> None:
    """Read hierarchy files and show them for review."""
    files = [(file.name, file.getvalue()) for file in state.typed(key) or []]
    if files:
        state.attempt(lambda: with_imports(state.work(), files))


def _take_pasted(column: str, key: str) -> None:
    """Take lines that were pasted; they stay where they are if something is wrong."""
    text = state.typed(key) or ""

    def taken() -> Work:
        found = tables.tree_from_text(text)
        return drawing.with_tree_drawn(state.work(), column, found.hierarchy, found.notes)

    state.attempt(taken)


def review(work: Work) -> None:
    """The files that were read, each with the column it is meant for, before anything changes."""
    st.subheader(f"Look through {counted(len(work.imports), 'file')}; nothing is in use yet")
    key = (work.imports, work.digest, work.missing, tuple(work.quasi_identifiers))
    choices = state.remembered("imports", key, lambda: meant(work))
    for place, (waiting, choice) in enumerate(zip(work.imports, choices, strict=True)):
        name, column, said = st.columns([3, 3, 6], vertical_alignment="center")
        name.markdown(f"**{plain(shortened(waiting.file, 60))}**")
        if waiting.problem:
            said.error(plain(waiting.problem), icon=":material/error:")
            continue
        field = f"import-{work.version}-{work.uploads}-{place}"
        column.selectbox(
            f"Column of file {place + 1}",
            list(work.roles),
            index=None,
            placeholder="No column",
            key=state.seeded(field, waiting.column),
            on_change=_take_column,
            args=(place, field),
            label_visibility="collapsed",
        )
        if choice is None:
            notes = waiting.found.notes if waiting.found is not None else ()
            said.caption(plain(" ".join(["Not used: choose its column.", *notes])))
        elif choice.plan is None:
            said.warning(plain(_about(work, waiting, choice)), icon=":material/error:")
        else:
            said.caption(plain(_about(work, waiting, choice)))
    ready = [one for one in choices if one is not None and one.tree is not None]
    with st.container(horizontal=True):
        st.button(
            f"Use {counted(len(ready), 'hierarchy', 'hierarchies')}",
            type="primary",
            disabled=not ready,
            key="import-use",
            on_click=_use,
        )
        st.button("Discard", key="import-discard", on_click=lambda: state.change(imports=()))


def _use() -> None:
    """Take over the files, and say so."""
    state.put(with_imported(state.work()))
    state.change(notice="The hierarchies are in use now; Undo brings back what was before.")


def _take_column(place: int, key: str) -> None:
    """Mean a file for another column."""
    state.attempt(lambda: import_meant_for(state.work(), place, state.typed(key)))


def _about(work: Work, waiting: Waiting, choice: Choice) -> str:
    """The size of an imported hierarchy, and how it fits its column."""
    if choice.tree is None:
        return choice.problem or ""
    parts = [f"{drawing.summary(choice)}."]
    if choice.lacking:
        lacks = counted(len(choice.lacking), "value")
        records = counted(sum(choice.lacking.values()), "record")
        parts.append(f"It lacks {lacks} of {records}: {said_values(choice.lacking)}.")
    else:
        parts.append("Every value has a place.")
    if choice.unused:
        none = len(choice.unused) == choice.tree.n_leaves
        parts.append(
            "None of its values occurs in the column." if none else said_unused(choice.unused)
        )
    if waiting.column not in work.quasi_identifiers:
        parts.append("That column is not a quasi-identifier now; it is kept for when it is.")
    if sum(one.column == waiting.column for one in work.imports) > 1:
        parts.append("Another file is meant for that column too: the last one counts.")
    return " ".join([*parts, *choice.notes])
