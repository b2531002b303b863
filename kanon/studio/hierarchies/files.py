"""Upload, review, paste and download of hierarchy files."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from kanon.base.formatting import choose_plural, count_noun, write_count
from kanon.base.sentences import write_records
from kanon.hierarchy import Hierarchy, tables
from kanon.hierarchy.bundle import FileResult, build_safe_name, read_bundle, write_bundle
from kanon.hierarchy.files import to_csv, to_json
from kanon.hierarchy.graphs import can_write_graphml, write_graphml, write_node_link
from kanon.studio.session import state
from kanon.studio.session.choices import HierarchyChoice, build_imported_choice
from kanon.studio.session.hierarchy_choices import set_hierarchies
from kanon.studio.session.parts import Message
from kanon.studio.session.state import attach_widget
from kanon.studio.session.table_state import TableState
from kanon.studio.session.text import escape_markdown, trim_title
from kanon.studio.session.work import SessionState
from kanon.studio.widgets import tree_edits
from kanon.studio.widgets.controls import draw_upload_field
from kanon.studio.widgets.files import draw_file_button

_NAMED = 12  # so many values are listed; the rest are counted


def list_values(counts: Mapping[str, int]) -> str:
    examples = [
        f"{trim_title(value)} ({write_count(n)})" for value, n in list(counts.items())[:_NAMED]
    ]
    return _add_rest(", ".join(examples), len(counts) - len(examples))


def describe_unused(leaves: Sequence[str]) -> str:
    examples = [trim_title(leaf) for leaf in leaves[:_NAMED]]
    leaf_list = _add_rest(", ".join(examples), len(leaves) - len(examples))
    have = count_noun(len(leaves), "leaf has", "leaves have")
    return f"{have} no records, which is fine: {leaf_list}."


def _add_rest(names: str, rest: int) -> str:
    return f"{names} and {write_count(rest)} more" if rest else names


def show_files_panel(work: SessionState, column: str, choice: HierarchyChoice) -> None:
    # A new key after each upload: otherwise the uploader would return the earlier files again.
    key = f"tree-files-{work.version}-{work.shared.uploads}"
    draw_upload_field(
        "CSV, JSON, GraphML or ZIP, one or more; matched to columns by name",
        "hierarchies_megabytes",
        accept_multiple_files=True,
        key=key,
        on_change=_take_files,
        args=(key,),
    )
    paste_key = f"tree-pasted-{work.version}-{column}"
    with st.expander("Paste lines", icon=":material/content_paste:"):
        st.text_area(
            "Lines leaf;level 1;…;* or parent, child, weight, as copied from a spreadsheet",
            key=paste_key,
            height=100,
        )
        st.button(
            "Add these lines", key="tree-paste", on_click=_take_lines, args=(column, paste_key)
        )
    if choice.tree is not None:
        tree, own = choice.tree, {column: choice.tree}
        _show_download(work, "CSV", "csv", own, partial(to_csv, tree))
        _show_download(work, "JSON with weights", "json", own, partial(to_json, tree, column))
        graph = "Graph as node-link JSON"
        _show_download(work, graph, "json", own, partial(write_node_link, tree), "graph")
        if can_write_graphml(tree):
            _show_download(work, "Graph as GraphML", "graphml", own, partial(write_graphml, tree))
    trees = work.table.trees
    if len(trees) > 1:
        label = f"All {count_noun(len(trees), 'hierarchy', 'hierarchies')} as ZIP"
        _show_download(work, label, "zip", trees, partial(write_bundle, trees))
    st.caption("Hierarchies list the values that can occur in the table.")


def _show_download(
    work: SessionState,
    label: str,
    ending: str,
    trees: Mapping[str, Hierarchy],
    write: Callable[[], str | bytes],
    prefix: str = "",
) -> None:
    def make() -> bytes:
        content = write()
        return content.encode() if isinstance(content, str) else content

    versions = [work.table.get_history(name).version for name in trees]
    stem = "hierarchies" if ending == "zip" else f"hierarchy_{build_safe_name(next(iter(trees)))}"
    stem = f"{prefix}_{stem}" if prefix else stem
    about, key = f"{list(trees)}|{versions}", f"tree-{prefix or ending}"
    draw_file_button(label, make, stem, ending, about, key, width="stretch")


def _take_files(key: str) -> None:
    files = [(file.name, file.getvalue()) for file in state.get_widget_value(key) or []]
    if files:
        state.try_step(add_imports, files)


def _take_lines(column: str, key: str) -> None:
    """Use the pasted lines; they stay in the field if something is wrong."""
    state.try_step(_set_pasted_tree, column, state.get_widget_value(key) or "")


def _set_pasted_tree(work: SessionState, column: str, text: str) -> SessionState:
    table = tables.read_pasted_tree(text)
    return tree_edits.set_tree(work, column, table.hierarchy, table.notes)


def show_review(work: SessionState) -> None:
    files = count_noun(len(work.table.imports), "file")
    st.subheader(f"Review {files}; nothing is in use yet")
    table = work.table
    key = (table.imports, table.digest, table.missing, tuple(table.hierarchy_columns))
    choices = state.get_or_compute("imports", key, lambda: match_imports(work))
    for place, (waiting, choice) in enumerate(zip(work.table.imports, choices, strict=True)):
        name, column, remark = st.columns([3, 3, 6], vertical_alignment="center")
        name.markdown(f"**{escape_markdown(trim_title(waiting.file, 60))}**")
        if waiting.problem:
            remark.error(escape_markdown(waiting.problem), icon=":material/error:")
            continue
        field = f"import-{work.version}-{work.shared.uploads}-{place}"
        column.selectbox(
            f"Column of file {place + 1}",
            list(work.table.roles),
            index=None,
            placeholder="No column",
            **attach_widget(field, waiting.column, state.try_step, set_import_column, place),
            label_visibility="collapsed",
        )
        if choice is None:
            notes = waiting.hierarchy_file.notes if waiting.hierarchy_file is not None else ()
            remark.caption(escape_markdown(" ".join(["Not used: choose its column.", *notes])))
        elif choice.plan is None:
            remark.warning(
                escape_markdown(_describe_import(work, waiting, choice)), icon=":material/error:"
            )
        else:
            remark.caption(escape_markdown(_describe_import(work, waiting, choice)))
    ready = [usable for usable in choices if usable is not None and usable.tree is not None]
    with st.container(horizontal=True):
        st.button(
            choose_plural(len(ready), "Use {count} hierarchy", "Use {count} hierarchies"),
            type="primary",
            disabled=not ready,
            key="import-use",
            on_click=_take_imports,
        )
        st.button(
            "Discard",
            key="import-discard",
            on_click=state.update_fields,
            args=(TableState,),
            kwargs={"imports": ()},
        )


def _take_imports() -> None:
    state.try_step(take_imports)
    notice = "The hierarchies are now in use. Undo brings back the earlier ones."
    state.update_sections(Message(notice=notice))


def _describe_import(work: SessionState, waiting: FileResult, choice: HierarchyChoice) -> str:
    if choice.tree is None:
        return choice.problem or ""
    parts = [f"{tree_edits.describe_tree(choice)}."]
    if choice.lacking:
        lacking, records = len(choice.lacking), sum(choice.lacking.values())
        parts.append(
            f"It lacks {count_noun(lacking, 'value')} found in {write_records(records)}: "
            f"{list_values(choice.lacking)}."
        )
    else:
        parts.append("Every value has a place.")
    if choice.unused_values:
        none = len(choice.unused_values) == choice.tree.n_leaves
        parts.append(
            "None of its values occurs in the column."
            if none
            else describe_unused(choice.unused_values)
        )
    if waiting.column not in work.table.hierarchy_columns:
        parts.append("That column needs no hierarchy now; this one is saved for later.")
    if sum(review.column == waiting.column for review in work.table.imports) > 1:
        parts.append("There is another file for this column; the last one is used.")
    return " ".join([*parts, *choice.notes])


def add_imports(work: SessionState, files: Sequence[tuple[str, bytes]]) -> SessionState:
    bundle = read_bundle(files, list(work.table.roles))
    only = work.drawn_column if len(bundle) == 1 and not work.table.imports else None
    if only is not None and bundle[0].hierarchy_file is not None:
        values = work.table.complete_records.count_column_values(only).texts
        if not any(value in bundle[0].hierarchy_file.hierarchy.node_of for value in values):
            only = None  # none of its values occurs in the column
    waiting = [
        replace(file, column=None if file.problem else file.column or only) for file in bundle
    ]
    return work.replace_sections(
        replace(work.table, imports=(*work.table.imports, *waiting)),
        replace(work.shared, uploads=work.shared.uploads + 1),
        Message(),
    )


def set_import_column(work: SessionState, place: int, column: str | None) -> SessionState:
    review = replace(work.table.imports[place], column=column)
    imports = (*work.table.imports[:place], review, *work.table.imports[place + 1 :])
    return work.replace_sections(replace(work.table, imports=imports), Message())


def match_imports(work: SessionState) -> tuple[HierarchyChoice | None, ...]:
    """Each file in the review as the choice for its column; None without a column."""
    return tuple(_match_import(work, file) for file in work.table.imports)


def _match_import(work: SessionState, file: FileResult) -> HierarchyChoice | None:
    column, hierarchy = file.column, file.hierarchy_file
    if hierarchy is None or column is None or column not in work.table.roles:
        return None
    values = work.table.complete_records.count_column_values(column)
    return build_imported_choice(file.file, hierarchy, column, values)


def take_imports(work: SessionState) -> SessionState:
    """Use every file in the review that has a column; one step of Undo takes all back."""
    choices = {
        waiting.column: choice
        for waiting, choice in zip(work.table.imports, match_imports(work), strict=True)
        if waiting.column is not None and choice is not None and choice.tree is not None
    }
    work = set_hierarchies(work, choices)
    return work.replace_sections(replace(work.table, imports=()))
