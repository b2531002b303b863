"""Which columns, how far? The lattice of levels, the walks of searches, and a node to release."""

from dataclasses import replace

import streamlit as st

from kanon.algorithms.catalogue import short_title
from kanon.base.formatting import percent, thin
from kanon.base.language import say, say_counted, say_of
from kanon.base.sentences import records_said
from kanon.charts.lattice import (
    COLOURINGS,
    DRAWN,
    heights_chart,
    heights_table,
    lattice_chart,
    lattice_table,
    neighbourhood_chart,
)
from kanon.charts.walks import WALK_LOOKS
from kanon.errors import KanonError
from kanon.studio.jobs import runner
from kanon.studio.lattice.sentences import (
    how_lattice,
    levels_said,
    levels_shown,
    size_said,
    step_said,
    verdict,
)
from kanon.studio.lattice.subject import (
    ROWS,
    around,
    at_once,
    chosen_node,
    drawn_whole,
    explored_now,
    known_lattice,
    labels_at,
    lattice_columns,
    levels_in,
    minimal_table,
    ready,
    release_at,
    small,
    taken_in,
    usable_columns,
    use_node,
    with_level,
    with_node,
)
from kanon.studio.session import state
from kanon.studio.session.text import plain, shortened
from kanon.studio.shell.frame import head, unready
from kanon.studio.widgets.algorithm_options import suppression_field
from kanon.studio.widgets.picture import chart, data_button
from kanon.studio.widgets.preview import before_and_after, preview_height
from kanon.studio.widgets.progress import cancel_button, progress

IN_A_ROW = 6  # so many steppers


def take_view(**fields):
    """Change what is shown."""
    work = state.work()
    state.change(lattice=replace(work.lattice, **fields))


def choices(work):
    """Which columns; what may be suppressed, what the colour says, whose walks."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(
            say("Columns"),
            width=80,
            help=say(
                "The lattice of these quasi-identifiers alone, as if the others were none. What "
                "fails here fails with more columns too; what satisfies here may fail with more."
            ),
        )
        key = f"lattice-columns-{work.version}"
        st.pills(
            say("Quasi-identifiers in the lattice"),
            usable_columns(work),
            selection_mode="multi",
            label_visibility="collapsed",
            key=state.seeded(key, list(lattice_columns(work))),
            format_func=lambda name: plain(shortened(name)),
            on_change=lambda: take_view(columns=tuple(state.typed(key)) or None, step=None),
        )
    left, middle, right = st.columns([20, 38, 42])
    with left:
        suppression_field(
            work,
            "lattice-suppression",
            say("none"),
            say(
                "It is the same setting as on Anonymise. Empty: none, but k records for Datafly, "
                "as published."
            ),
        )
    middle.segmented_control(
        say("Colour says") if drawn_whole(work) else say("Colour beside the chosen node says"),
        list(COLOURINGS),
        key=state.seeded("lattice-colour", work.lattice.colouring),
        format_func=lambda name: say_of(COLOURINGS[name]),
        on_change=lambda: take_view(
            colouring=state.typed("lattice-colour") or work.lattice.colouring
        ),
        help=say("The marker always says whether a node satisfies: circles do, crosses do not."),
    )
    right.pills(
        say("Walks of searches"),
        list(WALK_LOOKS),
        selection_mode="multi",
        key=state.seeded("lattice-walks", list(work.lattice.walks)),
        format_func=lambda name: say_of(short_title(name)),
        on_change=lambda: take_view(walks=tuple(state.typed("lattice-walks"))),
        help=say("Which nodes a search moved through, in its order; a number at each step."),
    )


def partly(work, explored):
    """That some quasi-identifiers are left out, with the one click that takes them in."""
    columns, usable = lattice_columns(work), usable_columns(work)
    if len(columns) == len(usable):
        return
    amounts = {"shown": len(columns), "all": len(usable), "most": thin(DRAWN)}
    said = (
        say("Shown are {shown} of {all} quasi-identifiers.", **amounts)
        if work.lattice.columns
        else say(
            "Shown are {shown} of {all} quasi-identifiers, so that at most {most} nodes are drawn.",
            **amounts,
        )
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(said + " " + say("A release needs levels for all."), width="content")
        st.button(
            say("Take in all"),
            type="tertiary",
            icon=":material/select_all:",
            on_click=lambda: state.put(taken_in(state.work(), explored)),
            key="lattice-all",
        )


def looked_at(work, one):
    """The lattice, as far as it was looked at; what has to be done if it was not."""
    if at_once(one):
        return state.remembered("lattice", one.settings, lambda: explored_now(one))
    explored = known_lattice(work, one)
    if explored is not None:
        return explored
    if small(one) and not work.busy and state.first_time("lattice-begun", one.settings):
        runner.explore_lattice(one)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            say("Explore this lattice"),
            type="primary",
            icon=":material/play_arrow:",
            disabled=state.work().busy,
            on_click=runner.explore_lattice,
            args=(one,),
            key="lattice-explore",
        )
        cancel_button()
        size = say_counted(one.outline.size, "{count} node", "{count} nodes")
        st.caption(
            say("Counts the classes at all {nodes}.", nodes=size)
            if small(one)
            else say(
                "{nodes}: too many to count each. The walks of Datafly and Improved greedy are "
                "found, and what lies around a node.",
                nodes=size,
            ),
            width="content",
        )
    progress()
    return one.outline


def picture(work, one, explored, node):
    """The lattice; a click on a node chooses it."""
    view = work.lattice
    walks = tuple(name for name in view.walks if explored.walk(name).steps)
    drawable = explored.complete and explored.size <= DRAWN
    # What a figure holds decides what it is called in the browser: a click on an older one is gone.
    key = (one.settings, view, node, explored.complete, walks)
    if drawable:
        figure = state.remembered(
            "lattice-figure", key,
            lambda: lattice_chart(explored, view.colouring, walks, view.step, node),
        )  # fmt: skip
        clickable("lattice-picture", figure, explored)
        table = lattice_table
    else:
        figure = state.remembered(
            "lattice-figure", key, lambda: heights_chart(explored, walks, view.step, node)
        )
        chart(figure, "lattice-picture")
        table = heights_table
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(plain(size_said(one)), width="content")
        looked = explored is not one.outline
        about = f"{one.settings}|{explored.complete}|{drawable}|{looked}"
        data_button(say("Data"), lambda: table(explored), "lattice", about, kind="tertiary")
        if not drawable and len(explored.assessed.nodes):
            data_button(
                say("Counted nodes"),
                lambda: lattice_table(explored),
                "nodes",
                about,
                kind="tertiary",
            )


def clickable(key, figure, explored):
    """A chart whose nodes can be chosen by a click; each carries its levels."""

    def clicked():
        points = (state.typed(key) or {}).get("selection", {}).get("points", [])
        if points:  # none: something was deselected
            state.put(with_node(state.work(), explored, levels_in(points[0].get("customdata"))))

    chart(figure, key, on_select=clicked, selection_mode="points")


def walks(work, explored):
    """Up to which step the walks are drawn, and what happened there."""
    view = work.lattice
    told = [
        said
        for walk in explored.walks
        if walk.algorithm in view.walks and (said := step_said(explored, walk, view.step))
    ]
    if not told:
        return
    left, right = st.columns([1, 3])
    last = max((walk.last for walk in explored.walks if walk.steps), default=0)
    if last > 0:
        key = f"lattice-step-{last}"
        left.slider(
            say("Walks up to step"),
            0,
            last,
            key=state.seeded(key, last if view.step is None else min(view.step, last)),
            on_change=lambda: take_view(
                step=None if state.typed(key) == last else state.typed(key)
            ),
        )
    right.markdown("\n".join(f"- {plain(said)}" for said in told))


def steppers(work, one, explored, node):
    """The levels of the chosen node, one stepper per column; under each what the values become."""
    st.subheader(say("The chosen node"))
    names = explored.attributes
    for start in range(0, len(names), IN_A_ROW):
        places = st.columns(min(IN_A_ROW, len(names)))
        listed = range(start, min(start + IN_A_ROW, len(names)))
        for place, j in zip(places, listed, strict=False):
            name, top = names[j], explored.tops[j]
            key = f"lattice-level-{work.version}-{list(work.roles).index(name)}-{top}"
            with place:
                st.number_input(
                    say("{column}, of {top}", column=plain(shortened(name, 20)), top=top),
                    min_value=0,
                    max_value=max(top, 1),
                    step=1,
                    disabled=top == 0,
                    key=state.seeded(key, node[j]),
                    on_change=step_to,
                    args=(explored, name, key),
                )
                labels = state.remembered(
                    f"lattice-labels-{j}", (one.settings, j, node[j]),
                    lambda j=j: labels_at(one, j, node[j]),
                )  # fmt: skip
                st.caption(plain(levels_shown(labels)))


def step_to(explored, name, key):
    """Choose the node with another level of one column."""
    state.put(with_level(state.work(), explored, name, int(state.typed(key))))


def goes_to(work, explored, node):
    """The nodes that stand out, to be chosen from a list."""
    known = {}
    if explored.least is not None:
        known[explored.least] = say("least loss")
    for one in explored.tied:
        mingen = say_of(short_title("mingen"))
        known[one] = f"{known[one]}; {mingen}" if one in known else mingen
    for walk in explored.walks:
        if walk.steps:
            last, search = walk.steps[-1], say_of(short_title(walk.algorithm))
            title = say("end of {search}", search=search)
            if last.suppressed > explored.limit:
                title = say(
                    "end of {search}, which suppresses {records}",
                    search=search,
                    records=thin(last.suppressed),
                )
            end = last.node
            known[end] = f"{known[end]}; {title}" if end in known else title
    found = explored.assessed
    loss = {one: float(found.loss[found.places[one]]) for one in explored.minimal}
    least = say("minimal")
    for one in sorted(explored.minimal, key=lambda one: (loss[one], one)):
        known[one] = f"{known[one]}; {least}" if one in known else least
    if not known:
        return
    key = f"lattice-go-{work.version}"
    st.selectbox(
        say("Or take one that stands out"),
        list(known),
        index=None,
        placeholder=say("Choose a node"),
        key=state.seeded(key, node if node in known else None),
        format_func=lambda one: (
            f"{known[one]}: {levels_said(explored, one)}"
            + (f" ({percent(loss[one])})" if one in loss else "")
        ),
        on_change=lambda: state.put(with_node(state.work(), explored, state.typed(key))),
    )


def numbers(explored, found, node):
    """What the chosen node amounts to."""
    place = found.places[node]
    gone, n = int(found.suppressed[place]), explored.n_records
    loss, highest = percent(float(found.loss[place])), len(explored.per_height) - 1
    told = (
        (say("k reached ↑ better"), thin(int(found.reached[place])),
         say("The size of the smallest class, once at most the allowed records are suppressed.")),
        (say("Classes ↑ better"), thin(int(found.classes[place])),
         say("Groups of records that look the same and satisfy what is required.")),
        (say("Suppressed ↓ better"), f"{thin(gone)} ({percent(100 * gone / n)})",
         say("Records in classes that do not satisfy: they would leave the release.")),
        (say("Loss ↓ better"), loss,
         say("{loss} of all that could be lost is lost, as the metric counts; suppressed records "
             "lose everything.", loss=loss)),
        (say("Height"), say("{part} of {whole}", part=sum(node), whole=highest),
         say("All columns together rise by {height} of {highest} levels.",
             height=sum(node), highest=highest)),
    )  # fmt: skip
    for where, (label, value, said) in zip(st.columns(len(told)), told, strict=True):
        where.metric(label, value, help=said)


def use(work, one, explored, found, node):
    """Release the chosen node."""
    satisfies = bool(found.satisfying[found.places[node]])
    whole = len(explored.attributes) == len(work.quasi_identifiers)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            say("Use this one"),
            type="primary",
            icon=":material/shield:",
            disabled=not (satisfies and whole) or work.busy,
            on_click=used,
            args=(explored, node),
            key="lattice-use",
        )
        if explored is not one.outline:  # else it stands above
            cancel_button()
        said = verdict(explored, found, node)
        if not whole:
            said += " " + say(
                "Take in all quasi-identifiers to use it: a release needs levels for all."
            )
        st.markdown(plain(said), width="content")
        levels = dict(zip(explored.attributes, node, strict=True))
        if work.node == levels and work.algorithm in ("levels", "mingen"):
            st.page_link(
                "pages/anonymise.py", label=say("See the release"), icon=":material/arrow_forward:"
            )

    if explored is not one.outline:
        progress()


def used(explored, node):
    """Choose the levels for the run, and start it."""
    state.put(use_node(state.work(), explored, node))
    runner.start()


def tables(one, explored, found, node):
    """The first records before and after."""
    done, (before, after) = state.remembered(
        "lattice-preview", (one.settings, node), lambda: previewed(one, node)
    )
    left, right = st.columns(2)
    left.subheader(say("Before"))
    left.dataframe(before, height=preview_height(done), hide_index=True, key="lattice-before")
    right.subheader(say("At these levels"))
    right.dataframe(after, height=preview_height(done), hide_index=True, key="lattice-after")
    gone = int(found.suppressed[found.places[node]])
    first, others = records_said(len(after.data)), records_said(gone)
    which = (
        say(
            "The first {records} of classes that satisfy ({others} in others).",
            records=first,
            others=others,
        )
        if gone
        else say("The first {records}.", records=first)
    )
    st.caption(which + " " + say("Darker blue: the cell rose further, so it says less."))


def previewed(one, node):
    """The release at a node, and its preview."""
    done = release_at(one, node)
    return done, before_and_after(done, ROWS)


def minimal(one, explored):
    """The minimal satisfying nodes."""
    if not explored.minimal:
        return
    st.subheader(
        say_counted(
            len(explored.minimal),
            "{count} minimal node, least loss first",
            "{count} minimal nodes, least loss first",
        )
    )
    table = state.remembered("lattice-minimal", one.settings, lambda: minimal_table(explored))
    st.dataframe(
        table,
        height=min(38 + 35 * len(table), 320),
        hide_index=True,
        key="lattice-minimal",
        column_config={"Loss, % ↓": st.column_config.NumberColumn(format="%.1f")},
    )
    data_button(say("Minimal nodes"), lambda: table, "minimal-nodes", one.settings, kind="tertiary")


work = head(say("Which columns, how far?"))
unready(work)
if not usable_columns(work):
    st.info(
        say("No quasi-identifier has a usable hierarchy yet, so there are no levels to choose.")
    )
    st.page_link(
        "pages/data.py", label=say("Choose roles on Data"), icon=":material/arrow_forward:"
    )
    st.stop()
choices(work)
try:
    one = ready(work, state.remembered)
    above = st.container()
    explored = looked_at(work, one)
    with above:
        partly(work, explored)
except KanonError as error:
    st.warning(plain(error.sentence), icon=":material/error:")
    if work.suppression and work.models:
        st.button(
            say("Suppress nothing"), on_click=state.change, kwargs={"suppression": 0.0}, key="none"
        )
    st.stop()
work = state.work()
node = chosen_node(work, explored)
picture(work, one, explored, node)
walks(work, explored)
found = state.remembered(
    "lattice-around", (one.settings, explored.complete, node), lambda: around(one, explored, node)
)
steppers(work, one, explored, node)
goes_to(work, explored, node)
numbers(explored, found, node)
use(work, one, explored, found, node)
if not (explored.complete and explored.size <= DRAWN):
    clickable(
        "lattice-neighbourhood",
        neighbourhood_chart(explored, found, node, work.lattice.colouring),
        explored,
    )
    data_button(
        say("Data of the neighbourhood"),
        lambda: lattice_table(explored, found),
        "neighbourhood",
        f"{one.settings}|{node}",
        kind="tertiary",
    )
tables(one, explored, found, node)
minimal(one, explored)
with st.expander(say("How it is computed")):
    st.markdown(how_lattice(one, explored))
