"""A population behind the table: who else a person could be."""

import streamlit as st

from kanon.base.formatting import counted, one_or_many
from kanon.errors import KanonError
from kanon.measures.linkage import people_below
from kanon.run import Run
from kanon.sources.population import population_of
from kanon.studio.jobs import runner
from kanon.studio.jobs.upload import AT_ONCE, people_request
from kanon.studio.privacy.attacker import PrivacyView, without_population
from kanon.studio.privacy.disclosure import of_population
from kanon.studio.session import state
from kanon.studio.session.findings import Result
from kanon.studio.session.text import plain
from kanon.studio.session.work import Work
from kanon.studio.widgets.controls import upload_field
from kanon.studio.widgets.result import in_columns


def population(work: Work, result: Result, done: Run, k: int) -> None:
    classes, released = done.prepared.classes, done.recoding.released
    st.markdown(
        "An attacker who does not know whether somebody is in the table has to reckon with "
        "everybody of the population. Upload it, with the same quasi-identifiers under the "
        f"same names: {plain(', '.join(classes.attributes))}. It is kept for this session "
        "only, and nowhere on disk."
    )
    key = f"privacy-population-{work.version}-{work.view(PrivacyView).uploads}"
    upload_field("A table of the population", key=key, on_change=take_population, args=(key,))
    people = work.purpose.population
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
        numbers = of_population(released, inside, work.view(PrivacyView).threshold)
    except KanonError as error:
        st.error(plain(error.sentence), icon=":material/error:")
        return
    in_columns(numbers)
    beyond = counted_people.unplaced
    found = f"{plain(people.name)}: {counted(len(people.table), 'person', 'people')}."
    if beyond:
        found += " " + one_or_many(
            beyond,
            "{count} of them has a value that no hierarchy holds, or none, and counts only where "
            "a release says nothing about that column, so the risk is rather overstated.",
            "{count} of them have a value that no hierarchy holds, or none; they count only where "
            "a release says nothing about that column, so the risk is rather overstated.",
        )
    st.caption(found)
    st.button("Forget it", icon=":material/delete:", on_click=forget_population)


def forget_population() -> None:
    """Let go of the population, of what was counted, and of the file."""
    state.forget("population")
    state.forget("people below")
    state.put(without_population(state.silent()))


def take_population(key: str) -> None:
    """Read the population that was uploaded; what cannot be read changes nothing."""
    given = state.typed(key)
    if given is None:
        forget_population()
        return
    runner.run(people_request, given.getvalue(), given.name, wait=AT_ONCE)
