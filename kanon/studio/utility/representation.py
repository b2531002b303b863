"""What the page Utility says of a release as a matrix: numbers, sentences, how it is computed."""

import numpy as np

from kanon.base.formatting import counted, one_or_many, percent, thin, write_decimals
from kanon.base.how_texts import Sections
from kanon.charts.representation import ShownPart
from kanon.learning.disclosure import CARDS, ShareDisclosure
from kanon.learning.representations import REPRESENTATIONS, Matrix
from kanon.recoding import Recoding
from kanon.studio.session.text import plain, released_label, shortened
from kanon.studio.widgets.numbers import Number

_how = Sections(__file__)

_READABLE = 24  # of so many nodes all are shown, with the numbers in their cells

_FEW = 3  # of so many attributes the whole tuple fits beside its row


def which_attribute(recoding: Recoding, chosen: str) -> str:
    names = recoding.classes.attributes
    if chosen in names:
        return chosen

    def seen(place: int) -> tuple[bool, int]:
        tree = recoding.hierarchies[place]
        released = np.unique(recoding.nodes[:, place])
        return 3 < tree.root + 1 <= _READABLE, int((released >= tree.n_leaves).sum())

    return names[max(range(len(names)), key=seen)]


def row_labels(recoding: Recoding, shown: ShownPart) -> tuple[list[str], list[str]]:
    """What stands beside each row, and its whole tuple."""
    released = recoding.released
    place = released.attributes.index(shown.attribute)
    labels = recoding.hierarchies[place].labels
    names = [released_label(released, position) for position in shown.classes]
    rows = []
    for name, position in zip(names, shown.classes, strict=True):
        size = counted(int(recoding.counts[position]), "record")
        short = shortened(labels[recoding.nodes[position, place]], 22)
        few = len(released.attributes) <= _FEW and len(name) <= 34
        rows.append(f"{name if few else short} · {size}")
    return rows, names


def finding(name: str, shown: ShownPart) -> str:
    filled, cells = int((shown.entries > 0).sum()), shown.entries.size
    between = int(((shown.entries > 0) & (shown.entries < 1)).sum())
    parts = f", {between} of them between 0 and 1" if between else ""
    return (
        f"{shortened(shown.attribute, 30)}, {REPRESENTATIONS[name].title}: "
        f"{filled} of {cells} cells are above 0{parts}"
    )


def picture_caption(recoding: Recoding, shown: ShownPart) -> str:
    tree = recoding.hierarchies[recoding.classes.attributes.index(shown.attribute)]
    ranges = (recoding.nodes[shown.classes] > tree.root).any() and bool(recoding.ranged)
    classes = counted(len(shown.classes), "class", "classes")
    said = [
        f"{classes} of {thin(recoding.n_classes)}; a learner gets a class's row once for each of "
        "its records.",
        "Outlined: the released value, or the smallest group that covers a released range."
        if ranges
        else "Outlined: the released value.",
    ]
    if shown.left_out:
        said.append(counted(shown.left_out, "rarer node left out.", "rarer nodes left out."))
    return " ".join(said)


def of_matrix(recoding: Recoding, matrix: Matrix) -> list[Number]:
    records, columns = int(recoding.counts.sum()), len(matrix.columns)
    classes, filled = recoding.n_classes, matrix.rows.nnz
    cells = classes * columns
    return [
        Number(
            "Matrix",
            f"{thin(records)} × {thin(columns)}",
            "Released records × columns: one column for each node of the hierarchy of each "
            "quasi-identifier.",
        ),
        Number(
            "Stored",
            f"{thin(classes)} × {thin(columns)}",
            "Classes × columns: all records of a class have the same row, so it is kept once "
            "and written out batch by batch.",
        ),
        Number(
            "Cells above 0",
            percent(100 * filled / cells if cells else 0.0),
            f"{thin(filled)} of {thin(cells)} stored cells; only these are kept in memory. "
            "More is neither better nor worse.",
        ),
    ]


def nothing_more(name: str) -> str:
    """Why the other representations disclose nothing: they are made from the release."""
    return (
        f"{REPRESENTATIONS[name].title} is computed from the released table and the hierarchies "
        "alone: who holds those learns nothing new from it."
    )


def of_disclosure(found: ShareDisclosure) -> list[tuple[Number, str]]:
    cells = thin(found.cells)
    numbers = [
        (_number("exact_share", found.exact_share), f"{thin(found.exact)} of {cells} cells"),
        (_number("alone_share", found.alone_share), f"{thin(found.alone)} of {cells} cells"),
    ]
    if found.release is not None and found.shares is not None:
        for name in ("sureness", "certain", "right"):
            before, after = (getattr(guess, name) for guess in (found.release, found.shares))
            without = f"{percent(100 * before)} without the shares"
            numbers.append((_number(name, after), without))
    return numbers


def _number(name: str, share: float) -> Number:
    card = CARDS[name]
    label = f"{card.title} {card.arrow}"
    return Number(label, percent(100 * share), card.summary)


def disclosure_sentence(found: ShareDisclosure, column: str | None, suppressed: int) -> str:
    if found.exact:
        cells = (
            f"**{percent(100 * found.exact_share)}** of the cells were generalised in vain: all "
            "records of their class have one original value, and the shares publish it again."
        )
    else:
        cells = "In no class do all records have one original value behind a generalised one."
    alone = one_or_many(
        found.alone,
        "Shares times class size tell how many records of each class have which original value: "
        "**{count} generalised cell** ({share} of all cells) is the only one of their class with "
        "that value.",
        "Shares times class size tell how many records of each class have which original value: "
        "**{count} generalised cells** ({share} of all cells) are the only ones of their class "
        "with that value.",
        share=percent(100 * found.alone_share),
    )
    said = [alone, cells]
    if found.release is None or found.shares is None or column is None:
        said.append(
            "What the shares tell about a sensitive column is not measured: no column has "
            "that role."
        )
        return " ".join(said)
    said.append(
        "Who knows all quasi-identifiers of a person is on average "
        f"{_changed(found, 'sureness')} sure of the person's {plain(column)}, certain of "
        f"{_changed(found, 'certain')} of the records, and guesses {_changed(found, 'right')} "
        "right. k and each class's l and t stay as they are, and do not show this. Not "
        "considered: who knows more than the quasi-identifiers, or several releases put "
        "together."
    )
    if suppressed:
        gone = counted(suppressed, "suppressed record")
        said.append(f"{gone} counted too: of them a certain guess can be wrong.")
    return " ".join(said)


def _changed(found: ShareDisclosure, name: str) -> str:
    assert found.release is not None and found.shares is not None
    before, after = (percent(100 * getattr(g, name)) for g in (found.release, found.shares))
    if before == after:
        return f"**{after}** (as without the shares)"
    return f"**{after}** ({before} without the shares)"


def how_represented(recoding: Recoding, matrix: Matrix, shown: ShownPart, name: str) -> str:
    papers = (paper for card in REPRESENTATIONS.values() for paper in card.source.split("; "))
    sources = "; ".join(dict.fromkeys(papers))
    return _how(
        "represented",
        columns=thin(len(matrix.columns)),
        one_class=REPRESENTATIONS["oneClass"].title,
        fill_parent=REPRESENTATIONS["fillParent"].title,
        fill_child=REPRESENTATIONS["fillChild"].title,
        proportional=REPRESENTATIONS["proportional"].title,
        row=_worked(recoding, shown, name),
        sources=plain(sources),
    )


def _worked(recoding: Recoding, shown: ShownPart, name: str) -> str:
    # The row that has most to show.
    between = ((shown.entries > 0) & (shown.entries < 1)).sum(axis=1)
    row = int(between.argmax()) if between.any() else 0
    position = int(shown.classes[row])
    size = int(recoding.counts[position])
    label = plain(released_label(recoding.released, position))
    at = plain(shortened(shown.labels[int(shown.released[row])], 24))
    entries = shown.entries[row]
    order = np.argsort(-entries, kind="stable")
    filled = [int(place) for place in order if entries[place] > 0]
    some = sorted(filled, key=lambda place: entries[place] in (0, 1))[:4]
    if name == "proportional":
        terms = [
            f"{plain(shortened(shown.labels[place], 24))}: "
            f"{thin(round(float(entries[place]) * size))}/{thin(size)} = "
            f"{write_decimals(float(entries[place]), 3)}"
            for place in some
        ]
    else:
        terms = [f"{plain(shortened(shown.labels[place], 24))}: 1" for place in some]
    rest = len(filled) - len(some)
    if rest:
        terms.append(f"and {thin(rest)} more above 0")
    records = counted(size, "record")
    return (
        f"**One row.** The class [{label}] has {records}; its v in {plain(shown.attribute)} is "
        f"{at}. {REPRESENTATIONS[name].title}: {'; '.join(terms)}; 0 elsewhere."
    )
