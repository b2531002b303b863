"""Attacks played out, on the page Learn."""

from collections.abc import Callable, Mapping
from functools import partial
from html import escape

import pandas as pd
import streamlit as st

from kanon.base.formatting import counted, percent, thin
from kanon.base.sentences import records_said
from kanon.errors import KanonError, TableError, listing, on_one_line
from kanon.schema import Role, Schema
from kanon.sources.memory import MemoryTable
from kanon.studio.jobs.anonymisation import outdated
from kanon.studio.learn.projector import project, stage
from kanon.studio.learn.state import AttackView, LessonsView, look
from kanon.studio.learn.step_sheet import STYLE, sheet
from kanon.studio.learn.widgets import small_table
from kanon.studio.session import state
from kanon.studio.session.state import bound
from kanon.studio.session.text import plain
from kanon.studio.session.work import Work
from kanon.teaching.attack_tables import preset
from kanon.teaching.attacks import ATTACKS, BY_REGISTER, Scene, Target, attack, targets
from kanon.teaching.case import Case, case_of, texts_of
from kanon.teaching.prevention import DEDUCTIONS
from kanon.teaching.small_tables import MOST_RECORDS

STEPS = (
    "What was published",
    "What the attacker knows",
    "Who fits",
    "What follows",
    "What would have prevented it",
)
"""The steps of the story, and what comes after it."""

_FITS, _OUT = "rgba(0, 114, 178, 0.26)", "rgba(213, 94, 0, 0.20)"
_SIGNS = {True: "● fits", False: "✗ ruled out"}


def show_attacks(work: Work) -> None:
    view, projected = work.view(LessonsView).attack, work.view(LessonsView).projected
    if not projected:
        _choose(view)
    try:
        case = _case(work, view)
        people = targets(view.kind, case)
        scene = state.remembered(
            "attack-scene",
            (case, view.kind, view.person, view.ruled_out),
            lambda: _played(view, case, people),
        )
    except KanonError as error:
        if projected:  # there is nothing to show on it
            project(False)
            st.rerun()
        st.info(plain(error.sentence), icon=":material/info:")
        if view.own:
            with st.container(horizontal=True):
                st.page_link("pages/data.py", label="Data", icon=":material/table:")
                st.page_link("pages/anonymise.py", label="Anonymise", icon=":material/shield:")
        return
    if projected:
        _projected(scene, view, people)
        return
    _attacker(work, view, scene, people)
    if view.step < len(STEPS):
        table, story = st.columns([1, 1], gap="medium")
        with table:
            small_table(*_marked(scene, view.step > 2))
        with story:
            _story(scene, view.step, people)
    else:
        _prevented(scene)


def own_case(work: Work) -> Case:
    """The release that the session works on, to be attacked; KanonError says why it cannot be."""
    table = work.table.complete_records
    if table.n_records > MOST_RECORDS:
        raise TableError(
            f"The table that you work on has {thin(table.n_records)} records; an attack is played "
            f"out on at most {MOST_RECORDS}, so that everybody can follow it."
        )
    if not isinstance(table, MemoryTable):
        raise TableError("An attack is played out on a table in memory; load it as a file.")
    if not work.table.sensitive_columns:
        raise TableError(
            "No column of the table that you work on is sensitive, so there is nothing to "
            "find out; choose one on the page Data."
        )
    if work.findings.result is None or outdated(work):
        raise TableError(
            "There is no release with the settings of now; press Anonymise on the page Anonymise."
        )
    done = work.findings.result.release(work.findings.result.k_for(work.settings.k))
    released = work.table.coarse_records
    assert isinstance(released, MemoryTable)
    roles, trees = Schema(work.table.roles), work.table.trees
    return case_of(released.frame, roles, trees, done.recoding, sensitive=work.focus)


def _case(work: Work, view: AttackView) -> Case:
    if not view.own:
        return state.remembered("attack-preset", view.kind, lambda: preset(view.kind))
    about = (work.findings.result, work.settings.k, work.focus, work.table.roles, outdated(work))
    return state.remembered("attack-own", about, lambda: own_case(work))


def _played(view: AttackView, case: Case, people: tuple[Target, ...]) -> Scene:
    known = None if view.person is None else people[view.person].known
    return attack(view.kind, case, known, view.ruled_out)


# --- what is chosen -------------------------------------------------------------------------
def _choose(view: AttackView) -> None:
    begin = partial(look, "attack", person=None, ruled_out=None, step=1)
    titles = {kind: attack.title for kind, attack in ATTACKS.items()}
    tables = {False: "Invented people", True: "The release I work on"}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for label, field, options in (("Attack", "kind", titles), ("On", "own", tables)):
            st.segmented_control(
                label,
                list(options),
                label_visibility="collapsed",
                required=True,
                **bound(f"attack-{field}", getattr(view, field), field, into=begin),
                format_func=options.__getitem__,
            )


def _attacker(work: Work, view: AttackView, scene: Scene, people: tuple[Target, ...]) -> None:
    told = next(place for place, one in enumerate(people) if one.known == scene.known)
    chosen = told if view.person is None else view.person
    about = f"{view.kind}-{view.own}-{work.version}"
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox(
            "Person attacked",
            range(len(people)),
            **bound(
                f"attack-person-{about}", chosen, "person",
                into=partial(look, "attack", ruled_out=None),
            ),
            format_func=lambda place: people[place].name,
            width=200,
        )  # fmt: skip
        if view.kind == "background":
            st.multiselect(
                "What the attacker can rule out",
                scene.case.values,
                **bound(
                    f"attack-out-{about}", list(scene.ruled_out), "ruled_out",
                    into=partial(look, "attack", person=chosen), read=tuple,
                ),
                placeholder="Nothing",
                help="A neighbour may know that somebody does not have a disease.",
                width=260,
            )  # fmt: skip
        _steps(view)


def _steps(view: AttackView) -> None:
    last = len(STEPS)
    back, on = (partial(look, "attack", step=view.step + by) for by in (-1, 1))
    st.button("Back", key="attack-back", disabled=view.step == 1, on_click=back)
    heading = STEPS[min(view.step, last - 1)]
    following = f"{view.step + 1}. {heading}" if view.step < last - 1 else heading
    off = view.step == last
    st.button(following, type="primary", key="attack-next", disabled=off, on_click=on)
    st.caption("Keys: ← →", width="content")


# --- the story ------------------------------------------------------------------------------
def _marked(scene: Scene, marked: bool) -> tuple[pd.DataFrame, dict[int, str]]:
    rows = _texts(scene.case.released)
    signs = {place: place in scene.left for place in scene.fits} if marked else {}
    tints = {place: _FITS if left else _OUT for place, left in signs.items()}
    listed = [_SIGNS[signs[place]] if place in signs else "" for place in range(len(rows))]
    rows.insert(0, "", listed, allow_duplicates=True)
    return rows, tints


def _story(scene: Scene, step: int, people: tuple[Target, ...]) -> None:
    """The steps so far, one below the other, the last one in full."""
    for number, (heading, said) in enumerate(zip(STEPS, _TOLD, strict=False), start=1):
        if number <= step:
            st.markdown(f"**{number}. {heading}.** {said(scene, people, plain, '**')}")
    if step == 2 and scene.card.name in BY_REGISTER:
        small_table(_texts(scene.case.register))
    if step == 4:
        st.markdown(f"**4. {STEPS[3]}.**")
        _finding(scene)
        small_table(_shares(scene))


Write = Callable[[object], str]
"""How texts of the table are written: so that Markdown leaves them as they are, or just so."""


def _was_published(scene: Scene, _: tuple[Target, ...], write: Write, strong: str) -> str:
    case = scene.case
    gone = case.schema.columns(Role.IDENTIFIER)
    columns = listing(case.recoding.classes.attributes, most=12)
    said = (
        f"The release has {records_said(len(case.released))} and is {case.k}-anonymous: in "
        f"{columns} each of them looks like at least {counted(case.k - 1, 'other one', 'others')}."
    )
    if gone:
        said = f"{said} It was published without {listing(gone, most=12)}."
    return write(said)


def _is_known(scene: Scene, people: tuple[Target, ...], write: Write, strong: str) -> str:
    name = write(next(one.name for one in people if one.known == scene.known))
    facts = ", ".join(
        f"{write(column)} {strong}{write(value)}{strong}" for column, value in scene.known.items()
    )
    by_register = scene.card.name in BY_REGISTER
    where = "is in a public register" if by_register else "has a record in the table"
    said = f"{name} {where}, with {facts}."
    if scene.ruled_out:
        values = " or ".join(f"{strong}{write(value)}{strong}" for value in scene.ruled_out)
        said = f"{said} {name} does not have {values}."
    if scene.card.name in DEDUCTIONS:
        said = f"{said} The attacker also knows that kanon raises no value further than needed."
    return said


def _who_fits(scene: Scene, _: tuple[Target, ...], write: Write, strong: str) -> str:
    fits, left = len(scene.fits), len(scene.left)
    fit = counted(fits, "record fits", "records fit")
    if not fits:
        return f"{fit}."
    if left == fits:
        return f"{fit} what the attacker knows (●)."
    return f"{fit}; {thin(fits - left)} ruled out (✗), {thin(left)} left (●)."


_TOLD = (_was_published, _is_known, _who_fits)


def _shares(scene: Scene) -> pd.DataFrame:
    after = dict(scene.after)
    rows = [
        [value, percent(100 * share), percent(100 * after.get(value, 0.0))]
        for value, share in scene.before
    ]
    what = "is in the table" if scene.card.name == "downcoding" else scene.case.sensitive
    return pd.DataFrame(rows, columns=[what, "anybody knows", "the attacker knows"])


def _texts(table: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({name: texts_of(table[name]) for name in table})


def _finding(scene: Scene) -> None:
    draw, icon = (st.error, "visibility") if scene.told else (st.success, "visibility_off")
    draw(plain(scene.finding), icon=f":material/{icon}:")


def _prevented(scene: Scene) -> None:
    prevention = scene.prevention
    st.markdown(f"**{plain(prevention.sentence)}**")
    before, after = st.columns(2, gap="medium")
    with before:
        st.markdown("**This release**")
        _finding(scene)
        small_table(*_marked(scene, True))
    again = _again(scene)
    if again is None:
        return
    with after:
        st.markdown("**The same attack on one that meets it**")
        _finding(again)
        small_table(*_marked(again, True))


def _again(scene: Scene) -> Scene | None:
    """The same attack on a release that meets the model; None where there is no such release."""
    safer = scene.prevention.case
    if safer is None or scene.prevention.holds:
        return None
    return state.remembered(
        "attack-again", scene, lambda: attack(scene.card.name, safer, scene.known, scene.ruled_out)
    )


# --- for a projector ------------------------------------------------------------------------
def _projected(scene: Scene, view: AttackView, people: tuple[Target, ...]) -> None:
    step, right = view.step, ""
    left = _sheet("The release", *_marked(scene, step > 2))
    if step <= len(_TOLD):
        said = _TOLD[step - 1](scene, people, on_one_line, "")
        if step == 2 and scene.card.name in BY_REGISTER:
            right = _sheet("The register", _texts(scene.case.register))
    elif step < len(STEPS):
        said = scene.finding
        right = _sheet("How likely it is", _shares(scene))
    else:
        said = scene.prevention.sentence
        left = _sheet(f"This release: {scene.finding}", *_marked(scene, True))
        if (again := _again(scene)) is not None:
            title = "The same attack on one that meets it"
            right = _sheet(f"{title}: {again.finding}", *_marked(again, True))
    parts = f'<div class="left" data-fit>{left}</div><div class="right" data-fit>{right}</div>'
    stage(f"{step}. {STEPS[step - 1]}", said, STYLE + parts, lambda: _steps(view))


def _sheet(title: str, rows: pd.DataFrame, tints: Mapping[int, str] | None = None) -> str:
    """A table as HTML; where it is too long for its place, rows with a colour stay."""
    colours = tints or {}
    lines = []
    for place, cells in enumerate(rows.itertuples(index=False, name=None)):
        colour = f'style="background: {colours[place]}"' if place in colours else ""
        rank = place + 1 + (0 if place in colours else len(rows))
        shown = "".join(f"<td>{escape(on_one_line(cell))}</td>" for cell in cells)
        lines.append(f"<tr {colour} data-rank={rank}>{shown}")
    return sheet(escape(title), [escape(on_one_line(name)) for name in rows], lines, title)
