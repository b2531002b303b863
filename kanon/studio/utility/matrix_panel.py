"""The release as a matrix: the part of the page Utility about representations."""

from collections.abc import Sequence
from functools import partial

import streamlit as st

from kanon.base.formatting import counted, thin
from kanon.charts.representation import ShownPart, representation_chart, representation_table
from kanon.learning.disclosure import ShareDisclosure, disclosed
from kanon.learning.export import FILE_KINDS, renamed, representation_file
from kanon.learning.representations import REPRESENTATIONS, Matrix, represent
from kanon.run import Run
from kanon.sources.memory import MemorySource
from kanon.studio.session import state
from kanon.studio.session.findings import Result
from kanon.studio.session.state import bound
from kanon.studio.session.text import plain
from kanon.studio.session.work import Work
from kanon.studio.shell.frame import sensitive_choice
from kanon.studio.utility.representation import (
    disclosure_sentence,
    finding,
    how_represented,
    nothing_more,
    of_disclosure,
    of_matrix,
    picture_caption,
    row_labels,
    which_attribute,
)
from kanon.studio.utility.state import UtilityView
from kanon.studio.widgets.files import file_button, neutral_choice, order_choice
from kanon.studio.widgets.picture import PictureSettings, picture
from kanon.studio.widgets.result import checked, in_columns, name_in_files, noting

_SHARES = "proportional"


def show_matrix(work: Work, result: Result, done: Run, k: int) -> None:
    recoding = done.recoding
    attribute = which_attribute(recoding, work.view(UtilityView).attribute)
    left, right = st.columns([3, 1], vertical_alignment="bottom")
    with left:
        _choose_representation(work)
    with right:
        _choose_attribute(work, recoding.classes.attributes, attribute)
    name = work.view(UtilityView).representation
    st.caption(plain(REPRESENTATIONS[name].summary))
    about = result.settings, k, name
    matrix: Matrix = state.remembered("representation", about, lambda: represent(name, recoding))
    place = recoding.classes.attributes.index(attribute)
    shown = state.remembered(
        "representation-shown", (*about, attribute), lambda: ShownPart.of(recoding, matrix, place)
    )
    rows, names = row_labels(recoding, shown)
    sizes = recoding.counts[shown.classes].tolist()
    picture(
        representation_chart(shown, rows, names, finding(name, shown)),
        lambda: representation_table(shown, names, sizes),
        "utility-representation-picture",
        f"{result.settings}|{k}|{name}|{attribute}",
        PictureSettings.of_run(work, done.prepared, k),
        original=True,
    )
    st.caption(plain(picture_caption(recoding, shown)))
    in_columns(of_matrix(recoding, matrix))
    if name == _SHARES:
        _disclosure(work, result, done, k)
    else:
        st.caption(plain(nothing_more(name)))
    _downloads(result, done, k, name)
    with st.expander("How it is computed"):
        st.markdown(how_represented(recoding, matrix, shown, name))


def _choose_representation(work: Work) -> None:
    chosen = work.view(UtilityView).representation
    st.segmented_control(
        "Representation",
        list(REPRESENTATIONS),
        **bound("utility-representation", chosen, "representation", into=UtilityView, keep=True),
        format_func=lambda name: REPRESENTATIONS[name].title,
        help="What stands in the matrix that a learner is given.",
    )


def _choose_attribute(work: Work, attributes: Sequence[str], attribute: str) -> None:
    key = f"utility-matrix-attribute-{work.version}"
    st.selectbox(
        "Columns of",
        list(attributes),
        **bound(key, attribute, "attribute", into=UtilityView, keep=True),
        help="The quasi-identifier whose part of the matrix is drawn.",
    )


def _disclosure(work: Work, result: Result, done: Run, k: int) -> None:
    recoding = done.recoding
    columns = [each.name for each in recoding.classes.sensitive]
    column = work.focus if work.focus in columns else next(iter(columns), None)

    def found() -> ShareDisclosure:
        with st.spinner("Attacking every record of the table, with and without the shares …"):
            return disclosed(recoding, column)

    st.markdown("**What the shares disclose**")
    if len(work.table.sensitive_columns) > 1:
        sensitive_choice("utility-sensitive")
    numbers = state.remembered("disclosed", (result.settings, k, column), found)
    told = of_disclosure(numbers)
    for place, (number, note) in zip(st.columns(len(told)), told, strict=True):
        place.metric(number.label, number.value, help=number.help)
        place.caption(plain(note))
    st.markdown(disclosure_sentence(numbers, column, recoding.suppressed_records))


def _downloads(result: Result, done: Run, k: int, name: str) -> None:
    source, recoding = done.prepared.source, done.recoding
    if not isinstance(source, MemorySource):
        st.caption("The rows of this table stay where they are, so no file with a matrix is made.")
        return
    problem = checked(result, done, k).problem
    if problem:
        st.error(plain(problem), icon=":material/error:")
        return
    clashes = state.remembered(
        "representation-names", (result.settings, k), lambda: renamed(source, recoding)
    )
    rows_by = done.prepared.plan.order
    st.markdown("**The released table with this matrix**")
    with st.container(horizontal=True, vertical_alignment="center"):
        neutral = neutral_choice("utility-matrix")
        order = order_choice(state.work(), "utility-matrix")
        for kind in FILE_KINDS:
            make = partial(representation_file, source, recoding, name, kind, neutral, rows_by)
            file_button(
                {"parquet": "Parquet", "csv": "CSV"}[kind],
                noting(result.settings, done, make),
                f"released-{name.lower()}-{name_in_files(done.prepared.plan)}",
                kind,
                f"{result.settings}|{k}|{name}|{neutral}|{order}",
                f"utility-matrix-{kind}",
                original=True,
            )
        st.caption(
            "A row per released record: its columns, then those of the matrix.", width="content"
        )
    values = counted(sum(tree.n_leaves for tree in recoding.hierarchies), "value")
    st.caption(
        f"**The names of the matrix's columns list all {values} of the hierarchies**, those that "
        "the release has blurred too: keep the file as safe as the hierarchies, where a value "
        "alone says something about a person."
    )
    if clashes:
        old, new = (f"“{plain(name)}”" for name in next(iter(clashes.items())))
        more = f", and {thin(len(clashes) - 1)} more" if len(clashes) > 1 else ""
        st.caption(
            f"The table has a column {old} of its own: that of the matrix is called {new}{more}."
        )
