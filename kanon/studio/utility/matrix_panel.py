"""The part *As a matrix*: the release in one of four representations."""

from functools import partial

import streamlit as st

from kanon.base.formatting import count_noun, write_count, write_percent
from kanon.base.how_texts import Sections
from kanon.charts.representation import MatrixPart, build_representation_table, draw_representation
from kanon.learning.disclosure import CARDS, ShareDisclosure, measure_share_disclosure
from kanon.learning.export import FILE_KINDS, find_new_column_names, write_representation_file
from kanon.learning.representations import REPRESENTATIONS, Matrix, represent
from kanon.recoding import Recoding
from kanon.run import Run
from kanon.sources.memory import MemorySource
from kanon.studio.session import state
from kanon.studio.session.findings import AnonymisationResult
from kanon.studio.session.state import attach_widget
from kanon.studio.session.text import escape_markdown, format_released_class, trim_title
from kanon.studio.session.work import SessionState
from kanon.studio.shell.frame import draw_sensitive_choice
from kanon.studio.utility.state import UtilityView
from kanon.studio.widgets.controls import draw_segments
from kanon.studio.widgets.files import draw_file_button, draw_neutral_choice, draw_order_choice
from kanon.studio.widgets.numbers import Number
from kanon.studio.widgets.picture import PictureSettings, show_picture
from kanon.studio.widgets.result import (
    check_shown_release,
    format_plan_for_file,
    record_download,
)

_how = Sections(__file__)

_FEW = 3  # up to so many attributes, the whole tuple fits beside its row

_SHARES = "proportional"


def show_matrix(work: SessionState, result: AnonymisationResult, run: Run, k: int) -> None:
    recoding = run.recoding
    names, attribute = recoding.classes.attributes, work.view(UtilityView).attribute
    attribute = attribute if attribute in names else names[0]
    form_side, column_side = st.columns([3, 1], vertical_alignment="bottom")
    with form_side:
        draw_segments(
            "Representation", {name: card.title for name, card in REPRESENTATIONS.items()},
            "utility-representation", work.view(UtilityView).representation, "representation",
            UtilityView, help="The numbers in the matrix that a learning algorithm gets.",
        )  # fmt: skip
    with column_side:
        st.selectbox(
            "Columns of",
            names,
            **attach_widget(
                f"utility-matrix-attribute-{work.version}",
                attribute,
                "attribute",
                into=UtilityView,
                keep=True,
            ),
            help="The quasi-identifier whose part of the matrix is drawn.",
        )
    name = work.view(UtilityView).representation
    st.caption(escape_markdown(REPRESENTATIONS[name].summary))
    about = result.settings, k, name
    matrix: Matrix = state.get_or_compute(
        "representation", about, lambda: represent(name, recoding)
    )
    place = names.index(attribute)
    visible = state.get_or_compute(
        "representation-shown",
        (*about, attribute),
        lambda: MatrixPart.choose_part(recoding, matrix, place),
    )
    rows, titles = build_row_labels(recoding, visible)
    sizes = recoding.counts[visible.classes].tolist()
    show_picture(
        draw_representation(visible, rows, titles, describe_cells(name, visible)),
        lambda: build_representation_table(visible, titles, sizes),
        "utility-representation-picture",
        f"{result.settings}|{k}|{name}|{attribute}",
        PictureSettings.from_run(work, run.prepared, k),
        original=True,
    )
    st.caption(escape_markdown(describe_picture(recoding, visible)))
    st.caption(describe_matrix(recoding, matrix))
    if name == _SHARES:
        _show_disclosure(work, result, run, k)
    else:
        st.caption(
            f"{REPRESENTATIONS[name].title} is computed from the released table and the "
            "hierarchies alone. Anyone who has those learns nothing new from it."
        )
    _show_downloads(result, run, k, name)
    with st.expander("How it is computed"):
        st.markdown(explain_representation(matrix))


def _show_disclosure(work: SessionState, result: AnonymisationResult, run: Run, k: int) -> None:
    recoding = run.recoding
    columns = [sensitive.name for sensitive in recoding.classes.sensitive]
    column = work.focus if work.focus in columns else next(iter(columns), None)

    def measure_disclosure() -> ShareDisclosure:
        with st.spinner("Attacking every record of the table, with and without the shares …"):
            return measure_share_disclosure(recoding, column)

    st.markdown("**What the shares disclose**")
    if len(work.table.sensitive_columns) > 1:
        draw_sensitive_choice("utility-sensitive")
    numbers = state.get_or_compute("disclosed", (result.settings, k, column), measure_disclosure)
    pairs = build_disclosure_numbers(numbers)
    for place, (number, note) in zip(st.columns(len(pairs)), pairs, strict=True):
        place.metric(number.label, number.value, help=number.help)
        place.caption(escape_markdown(note))
    st.markdown(describe_shares(numbers, recoding.suppressed_records))


def _show_downloads(result: AnonymisationResult, run: Run, k: int, name: str) -> None:
    source, recoding = run.prepared.source, run.recoding
    if not isinstance(source, MemorySource):
        st.caption("This table stays in its engine, so there is no file with a matrix.")
        return
    problem = check_shown_release(result, run, k).problem
    if problem:
        st.error(escape_markdown(problem), icon=":material/error:")
        return
    clashes = state.get_or_compute(
        "representation-names",
        (result.settings, k),
        lambda: find_new_column_names(source, recoding),
    )
    rows_by = run.prepared.plan.order
    st.markdown("**The released table with this matrix**")
    with st.container(horizontal=True, vertical_alignment="center"):
        neutral = draw_neutral_choice("utility-matrix")
        order = draw_order_choice(state.get_session(), "utility-matrix")
        for kind in FILE_KINDS:
            make = partial(
                write_representation_file, source, recoding, name, kind, neutral, rows_by
            )
            draw_file_button(
                {"parquet": "Parquet", "csv": "CSV"}[kind],
                record_download(result.settings, run, make),
                f"released-{name.lower()}-{format_plan_for_file(run.prepared.plan)}",
                kind,
                f"{result.settings}|{k}|{name}|{neutral}|{order}",
                f"utility-matrix-{kind}",
                original=True,
            )
        st.caption("One row per released record: its columns, then the matrix.", width="content")
    values = count_noun(sum(tree.n_leaves for tree in recoding.hierarchies), "value")
    st.caption(
        f"**The column names of the matrix list all {values} of the hierarchies**, including "
        "those that the release generalised. If a value by itself says something about a person, "
        "protect the file as you protect the hierarchies."
    )
    if clashes:
        old, new = (f"“{escape_markdown(name)}”" for name in next(iter(clashes.items())))
        more = f", and {write_count(len(clashes) - 1)} more" if len(clashes) > 1 else ""
        st.caption(
            f"The table already has a column {old}, so the matrix calls its own {new}{more}."
        )


# --- sentences and numbers --------------------------------------------------------------------
def build_row_labels(recoding: Recoding, visible: MatrixPart) -> tuple[list[str], list[str]]:
    released = recoding.released
    place = released.attributes.index(visible.attribute)
    labels = recoding.hierarchies[place].labels
    names = [format_released_class(released, position) for position in visible.classes]
    rows = []
    for name, position in zip(names, visible.classes, strict=True):
        size = count_noun(int(recoding.counts[position]), "record")
        short = trim_title(labels[recoding.nodes[position, place]], 22)
        few = len(released.attributes) <= _FEW and len(name) <= 34
        rows.append(f"{name if few else short} · {size}")
    return rows, names


def describe_cells(name: str, visible: MatrixPart) -> str:
    filled, cells = int((visible.entries > 0).sum()), visible.entries.size
    between = int(((visible.entries > 0) & (visible.entries < 1)).sum())
    parts = f", {between} of them between 0 and 1" if between else ""
    return (
        f"{trim_title(visible.attribute, 30)}, {REPRESENTATIONS[name].title}: "
        f"{filled} of {cells} cells are above 0{parts}"
    )


def describe_picture(recoding: Recoding, visible: MatrixPart) -> str:
    classes = count_noun(len(visible.classes), "class", "classes")
    sentence = (
        f"{classes} of {write_count(recoding.n_classes)}; a learning algorithm gets the row of a "
        "class once for each of its records. Outlined: the released value, or the smallest group "
        "that covers a released range."
    )
    if visible.left_out:
        left_out = count_noun(visible.left_out, "rarer node", "rarer nodes")
        sentence = f"{sentence} {left_out} left out."
    return sentence


def describe_matrix(recoding: Recoding, matrix: Matrix) -> str:
    records = count_noun(int(recoding.counts.sum()), "released record")
    classes = count_noun(recoding.n_classes, "class", "classes")
    columns, cells = len(matrix.columns), recoding.n_classes * len(matrix.columns)
    filled = write_percent(100 * matrix.rows.nnz / cells if cells else 0.0)
    return (
        f"The matrix has a row for each of {records}, alike within "
        f"each of {classes}, and {write_count(columns)} columns, one for each node of a hierarchy. "
        f"{filled} of its cells are above 0."
    )


def build_disclosure_numbers(leak: ShareDisclosure) -> list[tuple[Number, str]]:
    cells = write_count(leak.cells)
    numbers = [
        (
            _get_number("exact_share", leak.exact_share),
            f"{write_count(leak.exact)} of {cells} cells",
        ),
        (
            _get_number("alone_share", leak.alone_share),
            f"{write_count(leak.alone)} of {cells} cells",
        ),
    ]
    if leak.release is not None and leak.shares is not None:
        for name in ("sureness", "certain", "right"):
            before, after = (getattr(guess, name) for guess in (leak.release, leak.shares))
            without = f"{write_percent(100 * before)} without the shares"
            numbers.append((_get_number(name, after), without))
    return numbers


def _get_number(name: str, share: float) -> Number:
    card = CARDS[name]
    label = f"{card.title} {card.arrow}"
    return Number(label, write_percent(100 * share), card.summary)


def describe_shares(leak: ShareDisclosure, suppressed: int) -> str:
    sentences = [
        "A share times the class size is the number of records with that original value. Where it "
        "is the whole class, the cell was generalised in vain."
    ]
    if leak.release is None:
        sentences.append(
            "No column is sensitive, so what the shares reveal about sensitive values is not "
            "measured."
        )
        return " ".join(sentences)
    sentences.append(
        "Guesses are those of anyone who knows all quasi-identifiers of a person. k, and the l "
        "and t of each class, do not show this, because they stay the same. Not considered: "
        "attackers who know more than the quasi-identifiers, and several releases combined."
    )
    if suppressed:
        records = count_noun(suppressed, "suppressed record")
        sentences.append(
            f"The figures include {records}, for which even a certain guess can be wrong."
        )
    return " ".join(sentences)


def explain_representation(matrix: Matrix) -> str:
    papers = (paper for card in REPRESENTATIONS.values() for paper in card.source.split("; "))
    sources = "; ".join(dict.fromkeys(papers))
    return _how(
        "represented",
        columns=write_count(len(matrix.columns)),
        sources=escape_markdown(sources),
    )
