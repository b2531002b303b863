"""What can still be found out about someone? Worst classes first, then an attack of one's own."""

from dataclasses import replace

import numpy as np
import streamlit as st

from kanon.base.formatting import counted, thin
from kanon.base.language import say, say_counted, say_of
from kanon.charts.curves import curves_table
from kanon.charts.privacy import (
    AFTER_COLOUR,
    BEFORE_COLOUR,
    Series,
    distribution_chart,
    distribution_table,
    level_chart,
)
from kanon.charts.style import INK
from kanon.errors import KanonError
from kanon.measures.along import levels_along
from kanon.measures.linkage import linkage, matching, people_below
from kanon.privacy.model import rounded
from kanon.sources.population import population_of
from kanon.studio.privacy.attacker import (
    about_everybody,
    about_person,
    baseline_of,
    facts,
    known_used,
    occurring,
    person_used,
    somebody,
    with_population,
    without_population,
)
from kanon.studio.privacy.disclosure import (
    LEVELS,
    MOST_CLASSES,
    THRESHOLDS,
    class_named,
    class_sentence,
    levels_offered,
    of_attribute,
    of_population,
    of_risk,
    threshold_text,
    what_it_means,
    worst_classes,
)
from kanon.studio.privacy.how import how_attacked, how_class, how_found
from kanon.studio.session import state
from kanon.studio.session.outdated import outdated
from kanon.studio.session.text import plain, released_label, released_tuple
from kanon.studio.shell.frame import head, sensitive_choice, unready
from kanon.studio.widgets.how import what_was_checked
from kanon.studio.widgets.picture import chart, data_button, picture
from kanon.studio.widgets.preview import before_and_after
from kanon.studio.widgets.progress import cancel_button, progress
from kanon.studio.widgets.result import choose_k, in_columns, notice, release_shown, start_button
from kanon.studio.widgets.uploads import upload_field


def look(**fields):
    """Look at something else on this page."""
    state.change(looking=replace(state.work().looking, **fields))


def take(field, key, read=lambda value: value):
    """Copy what was chosen in the widget of that key; for callbacks."""
    look(**{field: read(state.typed(key))})


def lacking(work, stale):
    """What is missing, with the one click that gives it."""
    if not work.sensitive_columns:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.info(
                say(
                    "No column is sensitive yet: without one, only the risk of being found is "
                    "shown."
                ),
                icon=":material/visibility_off:",
            )
            st.page_link("pages/data.py", label=say("Choose it"), icon=":material/table:")
    if work.result is None or stale or work.busy:
        with st.container(horizontal=True):
            start_button(work, stale, "privacy-run")
            cancel_button()


def levels_of(work, result, done, k, column):
    """l and t against k, and the slider under them."""
    curves = result.solution.curves
    drawn = column is not None and curves is not None
    if drawn:
        level_charts(result, done, k, column)
    several = len(work.sensitive_columns) > 1
    place, data, choice = st.columns([6, 1, 2 if several else 0.1], vertical_alignment="center")
    if several:
        with choice:
            sensitive_choice("privacy-sensitive")
    with place:
        choose_k(work, result, k, "privacy-k")
    if drawn:
        with data:
            data_button(
                say("Data"), lambda: curves_table(curves), "privacy-curves",
                f"{result.settings}|curves", kind="tertiary",
            )  # fmt: skip


def level_charts(result, done, k, column):
    """l and t of the worst class against k, side by side."""
    curves = result.solution.curves
    columns = [each.name for each in done.prepared.classes.sensitive]
    diverse, distance = state.remembered(
        "levels", (result.settings, column), lambda: levels_along(curves, column, columns)
    )
    sensitive = done.recoding.released.sensitive_named(column)
    l_here = float(LEVELS["l"].each(sensitive).min())
    t_here = float(LEVELS["t"].each(sensitive).max())
    best = float(LEVELS["l"].each(sensitive.whole())[0])
    left, right = st.columns(2)
    with left:
        chart(
            level_chart(
                curves, diverse, k, l_here,
                f"k = {thin(k)}: the worst class has l = {rounded(l_here, up=False)} of "
                f"{rounded(best, up=False)}",
                "l, values (↑ better)", best, best,
            ),
            "privacy-l",
        )  # fmt: skip
    with right:
        chart(
            level_chart(
                curves, distance, k, t_here,
                f"k = {thin(k)}: the worst class has t = {rounded(t_here, up=True)} of 1",
                "t, 0 to 1 (↓ better)", 1.0,
            ),
            "privacy-t",
        )  # fmt: skip


def numbers_of(work, done, column):
    """What the worst class gives away, and how easily records are found."""
    released, threshold = done.recoding.released, work.looking.threshold
    if column is not None:
        st.markdown(say("**Learning the value: {column}**", column=plain(column)))
        st.markdown(what_it_means(released, column))
        in_columns(of_attribute(done, column))
    st.markdown(say("**Finding the record**"))
    in_columns(of_risk(released, done.prepared.classes, threshold))
    left, right = st.columns([1, 2], vertical_alignment="bottom")
    left.select_slider(
        say("A risk counts as high above"),
        sorted({*THRESHOLDS, threshold}, reverse=True),
        key=state.seeded("privacy-threshold", threshold),
        format_func=threshold_text,
        help=say("1/5 is the risk in a class of five. A round number to begin with, and no norm."),
        on_change=take,
        args=("threshold", "privacy-threshold"),
    )
    right.markdown(what_was_checked(done))


def classes_of(work, result, done, column, k):
    """The worst classes, and one of them: its distribution and its records."""
    released, looking = done.recoding.released, work.looking
    sensitive = released.sensitive_named(column)
    offered = levels_offered(sensitive)
    by = looking.by if looking.by in offered else "l"
    extra = tuple(name for name in looking.extra if name in offered)
    st.subheader(say("Worst classes first"))
    left, right = st.columns([1, 2], vertical_alignment="bottom")
    left.selectbox(
        say("Worst by"),
        offered,
        key=state.seeded("privacy-by", by),
        format_func=lambda name: LEVELS[name].title,
        help=plain(say_of(LEVELS[by].summary)),
        on_change=lambda: look(by=state.typed("privacy-by"), chosen=None),
    )
    right.multiselect(
        say("Also show"),
        [name for name in offered if name not in ("l", "t")],
        key=state.seeded("privacy-extra", list(extra)),
        format_func=lambda name: LEVELS[name].title,
        placeholder=say("Other measures"),
        on_change=take,
        args=("extra", "privacy-extra", tuple),
    )
    listed, table = state.remembered(
        "worst", (result.settings, k, column, by, extra),
        lambda: worst_classes(released, column, by, extra),
    )  # fmt: skip
    # A key of its own for every list: the number of a row means something in one of them only.
    place = work.sensitive_columns.index(column)
    key = f"worst-{work.version}-{result.settings[:16]}-{k}-{offered.index(by)}-{place}"
    event = st.dataframe(
        table,
        height=min(260, 38 + 35 * len(table)),
        hide_index=True,
        key=key,
        on_select="rerun",
        selection_mode="single-row",
        column_config={
            level.title: st.column_config.NumberColumn(
                format=level.text, help=say_of(level.summary)
            )
            for level in LEVELS.values()
        },
    )
    if released.n_classes > len(listed):
        there = say_counted(
            released.n_classes,
            "{count} class; the {most} worst are listed.",
            "{count} classes; the {most} worst are listed.",
            most=MOST_CLASSES,
        )
    else:
        there = say_counted(released.n_classes, "{count} class.", "{count} classes.")
    reading = say(
        "Select a row to look into its class. ↑ ↓: which way is better for the persons in it; l "
        "in values, rounded down; t as total variation distance from 0 to 1, rounded up."
    )
    st.caption(f"{there} {reading}")
    if event["selection"]["rows"]:
        # Kept by what everybody in it looks like: at another k the class may still be there.
        row = listed[event["selection"]["rows"][0]]
        look(chosen=released_tuple(released, row))
    position = class_named(released, state.work().looking.chosen, listed)
    one_class(result, done, column, k, position)
    return position


def one_class(result, done, column, k, position):
    """The distribution of the sensitive attribute in a class against the table, and its records."""
    released = done.recoding.released
    sensitive = released.sensitive_named(column)
    label = released_label(released, position)
    st.markdown(f"**{plain(label)}** — {class_sentence(released, column, position)}")
    inside = sensitive.only(np.array([position])).dense()[0]
    table = distribution_table(
        sensitive.values, sensitive.numeric, {"table": sensitive.total, "class": inside}
    )
    size = thin(int(released.counts[position]))
    whole = Series("table", INK, "whole table")
    about = f"{result.settings}|{k}|{column}|{released.nodes[position].tolist()}"
    chart, records = st.columns([1, 1])
    with chart:
        picture(
            distribution_chart(
                table, whole, [Series("class", AFTER_COLOUR, "this class")],
                "This class against the whole table", f"Share of the {size} records of the class",
            ),
            lambda: table, "privacy-class", about,
        )  # fmt: skip
    *both, shown = state.remembered(
        "records", (result.settings, k, position), lambda: records_of(done, position)
    )
    with records:
        st.markdown(say("**Its records**, {shown} of {all}", shown=thin(shown), all=size))
        tabs = st.tabs([say("After"), say("Before")])
        for tab, name, rows in zip(tabs, ("after", "before"), both[::-1], strict=True):
            tab.dataframe(
                rows,
                height=min(300, 38 + 35 * shown),
                hide_index=True,
                column_order=[column, *(c for c in rows.columns if c != column)],
                key=f"class-{name}",
            )


def records_of(done, position):
    """The records of a class, before and after, as many as are shown."""
    before, after = before_and_after(done, position=position)
    return before, after, len(after.data)


def attack(work, result, done, column, k):
    """A linkage attack on the user's own table."""
    classes, released = done.prepared.classes, done.recoding.released
    known = known_used(work.looking, classes)
    person = state.remembered(
        "person", (result.settings, tuple(known), tuple(work.looking.person.items())),
        lambda: person_used(work.looking, classes, known),
    )  # fmt: skip
    st.subheader(say("Try to find somebody"))
    st.caption(
        say(
            "Choose what an attacker knows about one person: a neighbour, a colleague, a list with "
            "names."
        )
    )
    offered = state.remembered(
        "occurring", (result.settings, tuple(known)),
        lambda: {name: occurring(classes, name) for name in known},
    )  # fmt: skip
    facts_known(work, classes, offered, person)
    given = facts(person, known)
    before, after = matching(classes, given, column), matching(released, given, column)
    baseline = None
    if column is not None:
        baseline = baseline_of(classes.sensitive_named(column))
    about = result.settings, column, tuple(known)
    everybody = [
        state.remembered("linkage", about, lambda: linkage(classes, classes, known, column)),
        state.remembered("linked", (*about, k), lambda: linkage(classes, released, known, column)),
    ]
    left, right = st.columns([2, 3], gap="medium")
    with left:
        for sentence in about_person(before, after, baseline, done.recoding.suppressed_records):
            st.markdown(sentence)
        if None not in everybody:
            st.markdown(about_everybody(classes.n_records, known, *everybody, baseline))
    if baseline is not None:
        with right:
            attacked(result, k, column, given, classes, before, after, baseline)
    return known, person


def facts_known(work, classes, offered, person):
    """What is known, and of whom; for each fact, the values that occur."""
    known = list(offered)
    key = f"privacy-known-{work.version}"
    st.multiselect(
        say("Known"),
        list(classes.attributes),
        key=state.seeded(key, known),
        placeholder=say("Nothing is known"),
        on_change=know_of,
        args=(person, key),
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for name, values in offered.items():
            field = f"privacy-fact-{work.version}-{classes.attributes.index(name)}"
            st.selectbox(
                plain(name),
                values if person[name] in values else [person[name], *values],
                key=state.seeded(field, person[name]),
                on_change=know,
                args=(person, name, field),
                width=190,
            )
        st.button(
            say("Take a random record"),
            icon=":material/casino:",
            help=say("One that is unique by what is known, if there is one."),
            on_click=take_random,
            args=(classes, known),
            key="privacy-random",
        )


def know_of(person, key):
    """Other facts about the same person."""
    look(known=tuple(state.typed(key)), person=person)


def know(person, name, key):
    """Another value of the person that is looked for."""
    look(person={**person, name: state.typed(key)})


def take_random(classes, known):
    """Look for another person of the table."""
    look(person=somebody(classes, known, np.random.default_rng()))


def attacked(result, k, column, given, classes, before, after, baseline):
    """How the sensitive values are spread among the records that match."""
    sensitive = classes.sensitive_named(column)
    series = {"table": baseline.counts, "before": before.counts, "after": after.counts}
    table = distribution_table(sensitive.values, sensitive.numeric, series, most=12)
    bars = [
        Series("before", BEFORE_COLOUR, f"before: {counted(before.records, 'record')}"),
        Series("after", AFTER_COLOUR, f"after: {counted(after.records, 'record')}"),
    ]
    about = "|".join([result.settings, str(k), column, *map(repr, given.items())])
    picture(
        distribution_chart(
            table, Series("table", INK, "whole table"), bars,
            "How sure is an attacker, before and after?", "Share of the matching records",
        ),
        lambda: table, "privacy-attack", about,
    )  # fmt: skip


def population(work, result, done, k):
    """Who else could it be: the population that the persons of the table come from."""
    classes, released = done.prepared.classes, done.recoding.released
    st.markdown(
        say(
            "An attacker who does not know whether somebody is in the table has to reckon with "
            "everybody of the population. Upload it, with the same quasi-identifiers under the "
            "same names: {columns}. It is kept for this session only, and nowhere on disk.",
            columns=plain(", ".join(classes.attributes)),
        )
    )
    key = f"privacy-population-{work.version}-{work.looking.uploads}"
    upload_field(say("A table of the population"), key=key, on_change=take_population, args=(key,))
    people = work.looking.population
    if people is None:
        return
    try:
        counted_people = state.remembered(
            "population", (result.settings, people),
            lambda: population_of(classes, people.table),
        )  # fmt: skip
        inside = state.remembered(
            "people below", (result.settings, k, people),
            lambda: people_below(released, counted_people.classes),
        )  # fmt: skip
        numbers = of_population(released, inside, work.looking.threshold)
    except KanonError as error:
        st.error(plain(error.sentence), icon=":material/error:")
        return
    in_columns(numbers)
    beyond = counted_people.unplaced
    found = say_counted(
        len(people.table), "{file}: {count} person.", "{file}: {count} people.",
        file=plain(people.name),
    )  # fmt: skip
    if beyond:
        found += " " + say_counted(
            beyond,
            "{count} of them has a value that no hierarchy holds, or none, and counts only where "
            "a release says nothing about that column, so the risk is rather overstated.",
            "{count} of them have a value that no hierarchy holds, or none; they count only where "
            "a release says nothing about that column, so the risk is rather overstated.",
        )
    st.caption(found)
    st.button(say("Forget it"), icon=":material/delete:", on_click=forget_population)


def forget_population():
    """Let go of the population, of what was counted, and of the file."""
    state.forget("population")
    state.forget("people below")
    state.change(looking=without_population(state.work().looking))


def take_population(key):
    """Read the population that was uploaded; what cannot be read changes nothing."""
    given = state.typed(key)
    if given is None:
        forget_population()
        return
    try:
        seen = with_population(state.work().looking, given.getvalue(), given.name)
    except KanonError as error:
        state.change(problem=error.sentence)
        return
    state.change(looking=seen)


def found_out(work, result):
    """Everything about the release for the k that can be shown."""
    k, done = release_shown(work, result)
    released = done.recoding.released
    if not released.n_classes:
        st.info(say("Every record was suppressed: the release is empty."))
        choose_k(work, result, k, "privacy-k")
        return
    there = [each.name for each in released.sensitive]
    column = work.focus if work.focus in there else None
    levels_of(work, result, done, k, column)
    numbers_of(work, done, column)
    position = None if column is None else classes_of(work, result, done, column, k)
    known, person = attack(work, result, done, column, k)
    with st.expander(say("A population behind the table: who else could it be?")):
        population(work, result, done, k)
    with st.expander(say("How it is computed")):
        if position is not None:
            st.markdown(how_class(released, column, position))
        st.markdown(how_found(released, work.looking.threshold))
        st.markdown(how_attacked(person, known))


work = head(say("What can still be found out about someone?"), aloud=True)
stale = outdated(work)
unready(work)
lacking(work, stale)
progress()
result = work.result
notice(work, stale)
if result is not None:
    with st.container(key="result"):
        found_out(work, result)
