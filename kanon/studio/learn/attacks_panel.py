"""Attacks played out, on the page Learn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from html import escape

import pandas as pd
import streamlit as st

from kanon.base.formatting import count_noun, write_count, write_percent
from kanon.base.sentences import write_records
from kanon.errors import KanonError, TableError, join_lines, list_names
from kanon.schema import Role, Schema
from kanon.sources.memory import MemoryTable
from kanon.studio.jobs.anonymisation import has_outdated_result
from kanon.studio.learn.state import AttackView, LessonsView, apply_view
from kanon.studio.learn.step_sheet import STYLE, format_html_table
from kanon.studio.learn.widgets import draw_small_table
from kanon.studio.session import state
from kanon.studio.session.state import attach_widget
from kanon.studio.session.text import escape_markdown
from kanon.studio.session.work import SessionState
from kanon.studio.widgets.projector import draw_stage, show_on_projector
from kanon.teaching.attack_tables import build_attack_case
from kanon.teaching.attacks import (
    ATTACKS,
    REGISTER_ATTACKS,
    AttackResult,
    Target,
    list_targets,
    run_attack,
)
from kanon.teaching.case import Case, build_case, list_texts
from kanon.teaching.prevention import DEDUCTIONS
from kanon.teaching.small_tables import MOST_RECORDS

STEPS = (
    "What was published",
    "What the attacker knows",
    "Who fits",
    "What follows",
    "What would have prevented it",
)
"""The steps of the story; the last one comes after it."""

_FITS, _OUT = "rgba(0, 114, 178, 0.26)", "rgba(213, 94, 0, 0.20)"
_SIGNS = {True: "● fits", False: "✗ ruled out"}


def show_attacks(work: SessionState) -> None:
    view, on_projector = work.view(LessonsView).attack, work.shared.on_projector
    if not on_projector:
        _choose(view)
    try:
        case = _get_case(work, view)
        people = list_targets(view.kind, case)
        scene = state.get_or_compute(
            "attack-scene",
            (case, view.kind, view.person, view.ruled_out),
            lambda: _play_attack(view, case, people),
        )
        texts = _describe_steps(scene, people)
    except KanonError as error:
        if on_projector:  # there is nothing to show on it
            show_on_projector(False)
            st.rerun()
        st.info(escape_markdown(error.sentence), icon=":material/info:")
        if view.own:
            with st.container(horizontal=True):
                st.page_link("pages/data.py", label="Data", icon=":material/table:")
                st.page_link("pages/anonymise.py", label="Anonymise", icon=":material/shield:")
        return
    sheets = _build_sheets(scene, view.step)
    if on_projector:
        _project_attack(view, texts[view.step - 1], sheets)
        return
    _choose_attacker(work, view, scene, people)
    left, right = st.columns(2, gap="medium")
    if view.step < len(STEPS):
        with left:
            draw_small_table(sheets[0].rows, sheets[0].tints)
        with right:
            _write_story(scene, view.step, texts)
            for sheet in sheets[1:]:
                draw_small_table(sheet.rows, sheet.tints)
        return
    left.markdown(f"**{escape_markdown(texts[-1])}**")
    for place, sheet in zip(st.columns(2, gap="medium"), sheets, strict=False):
        with place:
            st.markdown(f"**{sheet.title}**")
            _show_finding(sheet.scene)
            draw_small_table(sheet.rows, sheet.tints)


def create_own_case(work: SessionState) -> Case:
    table = work.table.complete_records
    if table.n_records > MOST_RECORDS:
        raise TableError(
            f"The table that you work on has {write_count(table.n_records)} records; an "
            f"attack is played out on at most {MOST_RECORDS}, so that everyone can follow it."
        )
    if not isinstance(table, MemoryTable):
        raise TableError("Attacks are played out only on tables in memory; load yours as a file.")
    if not work.table.sensitive_columns:
        raise TableError(
            "No column of the table that you work on is sensitive, so there is nothing to "
            "find out; choose one on the Data page."
        )
    if work.findings.result is None or has_outdated_result(work):
        raise TableError(
            "There is no release with the current settings; press Anonymise on the Anonymise page."
        )
    recoding_result = work.findings.result.release(work.findings.result.k_for(work.settings.k))
    released_table = work.table.released_level_records
    assert isinstance(released_table, MemoryTable)
    roles, trees = Schema(work.table.roles), work.table.trees
    return build_case(
        released_table.frame, roles, trees, recoding_result.recoding, sensitive=work.focus
    )


def _get_case(work: SessionState, view: AttackView) -> Case:
    if not view.own:
        return state.get_or_compute(
            "attack-preset", view.kind, lambda: build_attack_case(view.kind)
        )
    about = (
        work.findings.result,
        work.settings.k,
        work.focus,
        work.table.roles,
        has_outdated_result(work),
    )
    return state.get_or_compute("attack-own", about, lambda: create_own_case(work))


def _play_attack(view: AttackView, case: Case, people: tuple[Target, ...]) -> AttackResult:
    knowledge = None if view.person is None else people[view.person].known
    return run_attack(view.kind, case, knowledge, view.ruled_out)


# --- what is chosen -------------------------------------------------------------------------
def _choose(view: AttackView) -> None:
    begin = partial(apply_view, "attack", person=None, ruled_out=None, step=1)
    titles = {kind: attack.title for kind, attack in ATTACKS.items()}
    tables = {False: "Invented people", True: "The release I work on"}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for label, field, options in (("Attack", "kind", titles), ("On", "own", tables)):
            st.segmented_control(
                label,
                list(options),
                label_visibility="collapsed",
                required=True,
                **attach_widget(f"attack-{field}", getattr(view, field), field, into=begin),
                format_func=options.__getitem__,
            )


def _choose_attacker(
    work: SessionState, view: AttackView, scene: AttackResult, people: tuple[Target, ...]
) -> None:
    default = next(place for place, person in enumerate(people) if person.known == scene.known)
    person_place = default if view.person is None else view.person
    about = f"{view.kind}-{view.own}-{work.version}"
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox(
            "Person attacked",
            range(len(people)),
            **attach_widget(
                f"attack-person-{about}", person_place, "person",
                into=partial(apply_view, "attack", ruled_out=None),
            ),
            format_func=lambda place: people[place].name,
            width=200,
        )  # fmt: skip
        if view.kind == "background":
            st.multiselect(
                "What the attacker can rule out",
                scene.case.values,
                **attach_widget(
                    f"attack-out-{about}", list(scene.ruled_out), "ruled_out",
                    into=partial(apply_view, "attack", person=person_place), read=tuple,
                ),
                placeholder="Nothing",
                help="A neighbour may know that a person does not have a particular disease.",
                width=260,
            )  # fmt: skip
        _draw_step_buttons(view)


def _draw_step_buttons(view: AttackView) -> None:
    last = len(STEPS)
    back, next_step = (partial(apply_view, "attack", step=view.step + by) for by in (-1, 1))
    st.button("Back", key="attack-back", disabled=view.step == 1, on_click=back)
    heading = STEPS[min(view.step, last - 1)]
    next_label = f"{view.step + 1}. {heading}" if view.step < last - 1 else heading
    is_last = view.step == last
    st.button(next_label, type="primary", key="attack-next", disabled=is_last, on_click=next_step)
    st.caption("Keys: ← →", width="content")


# --- the story ------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class _Sheet:
    title: str
    scene: AttackResult
    rows: pd.DataFrame
    tints: Mapping[int, str] = field(default_factory=dict)  # of rows, by their place


def _build_sheets(scene: AttackResult, step: int) -> list[_Sheet]:
    """The release, and what else a step shows."""
    if step == len(STEPS):
        sheets = [_build_release_sheet("This release", scene, True)]
        if (safer_scene := _repeat_on_safer_release(scene)) is not None:
            title = "The same attack on a release that meets the requirement"
            sheets.append(_build_release_sheet(title, safer_scene, True))
        return sheets
    sheets = [_build_release_sheet("The release", scene, step > 2)]
    if step == 2 and scene.card.name in REGISTER_ATTACKS:
        sheets.append(_Sheet("The register", scene, _format_texts(scene.case.register)))
    if step == 4:
        sheets.append(_Sheet("How likely it is", scene, _build_likelihoods(scene)))
    return sheets


def _build_release_sheet(title: str, scene: AttackResult, with_signs: bool) -> _Sheet:
    rows = _format_texts(scene.case.released)
    signs = {place: place in scene.left for place in scene.fits} if with_signs else {}
    tints = {place: _FITS if is_left else _OUT for place, is_left in signs.items()}
    sign_column = [_SIGNS[signs[place]] if place in signs else "" for place in range(len(rows))]
    rows.insert(0, "", sign_column, allow_duplicates=True)
    return _Sheet(title, scene, rows, tints)


def _write_story(scene: AttackResult, step: int, texts: Sequence[str]) -> None:
    for number in range(1, min(step, 3) + 1):
        text = escape_markdown(texts[number - 1])
        st.markdown(f"**{number}. {STEPS[number - 1]}.** {text}")
    if step == 4:
        st.markdown(f"**4. {STEPS[3]}.**")
        _show_finding(scene)


def _describe_steps(scene: AttackResult, people: tuple[Target, ...]) -> tuple[str, ...]:
    texts = (_describe_release(scene), _describe_knowledge(scene, people), _describe_fits(scene))
    return (*map(join_lines, texts), scene.finding, scene.prevention.sentence)


def _describe_release(scene: AttackResult) -> str:
    case = scene.case
    identifiers = case.schema.columns(Role.IDENTIFIER)
    columns = list_names(case.recoding.classes.attributes, most=12)
    text = (
        f"The release has {write_records(len(case.released))} and is {case.k}-anonymous: in "
        f"{columns}, each record looks like at least {count_noun(case.k - 1, 'other', 'others')}."
    )
    if identifiers:
        text = f"{text} It was published without {list_names(identifiers, most=12)}."
    return text


def _describe_knowledge(scene: AttackResult, people: tuple[Target, ...]) -> str:
    name = next(person.name for person in people if person.known == scene.known)
    facts = ", ".join(f"{column} {value}" for column, value in scene.known.items())
    by_register = scene.card.name in REGISTER_ATTACKS
    where = "is in a public register" if by_register else "has a record in the table"
    text = f"{name} {where}, with {facts}."
    if scene.ruled_out:
        text = f"{text} {name} does not have {' or '.join(scene.ruled_out)}."
    if scene.card.name in DEDUCTIONS:
        text = f"{text} The attacker also knows that kanon raises no value further than needed."
    return text


def _describe_fits(scene: AttackResult) -> str:
    fits, n_left = len(scene.fits), len(scene.left)
    fit = count_noun(fits, "record fits", "records fit")
    if not fits:
        return f"{fit}."
    if n_left == fits:
        return f"{fit} what the attacker knows (●)."
    return f"{fit}; {write_count(fits - n_left)} ruled out (✗), {write_count(n_left)} left (●)."


def _build_likelihoods(scene: AttackResult) -> pd.DataFrame:
    after = dict(scene.after)
    rows = [
        [value, write_percent(100 * share), write_percent(100 * after.get(value, 0.0))]
        for value, share in scene.before
    ]
    value_column = "is in the table" if scene.card.name == "downcoding" else scene.case.sensitive
    return pd.DataFrame(rows, columns=[value_column, "anyone knows", "the attacker knows"])


def _format_texts(table: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({name: list_texts(table[name]) for name in table})


def _show_finding(scene: AttackResult) -> None:
    draw, icon = (st.error, "visibility") if scene.told else (st.success, "visibility_off")
    draw(escape_markdown(scene.finding), icon=f":material/{icon}:")


def _repeat_on_safer_release(scene: AttackResult) -> AttackResult | None:
    safer = scene.prevention.case
    if safer is None or scene.prevention.holds:
        return None
    return state.get_or_compute(
        "attack-again",
        scene,
        lambda: run_attack(scene.card.name, safer, scene.known, scene.ruled_out),
    )


# --- for a projector ------------------------------------------------------------------------
def _project_attack(view: AttackView, text: str, sheets: Sequence[_Sheet]) -> None:
    step, last = view.step, view.step == len(STEPS)
    places = [
        _format_sheet(f"{sheet.title}: {sheet.scene.finding}" if last else sheet.title, sheet)
        for sheet in sheets
    ]
    left, right = [*places, ""][:2]
    parts = f'<div class="left" data-fit>{left}</div><div class="right" data-fit>{right}</div>'
    draw_stage(f"{step}. {STEPS[step - 1]}", text, STYLE + parts, lambda: _draw_step_buttons(view))


def _format_sheet(title: str, sheet: _Sheet) -> str:
    """A table as HTML; where it is too long for its place, rows with a colour stay."""
    rows, lines = sheet.rows, []
    for place, cells in enumerate(rows.itertuples(index=False, name=None)):
        tint = sheet.tints.get(place)
        colour = f'style="background: {tint}"' if tint else ""
        rank = place + 1 + (0 if tint else len(rows))
        cells_html = "".join(f"<td>{escape(join_lines(cell))}</td>" for cell in cells)
        lines.append(f"<tr {colour} data-rank={rank}>{cells_html}")
    return format_html_table(
        escape(title), [escape(join_lines(name)) for name in rows], lines, title
    )
