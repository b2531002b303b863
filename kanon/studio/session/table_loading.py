"""The state for a new table: a sample, an upload, a stored table; or one that is read again."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace

from kanon.base.formatting import count_noun
from kanon.errors import KanonError, list_names, quote
from kanon.schema import SUPPRESSED, Role, suggest_person, suggest_roles
from kanon.sources.limits import lift_size_limits
from kanon.sources.opening import ADULT_NAME, OpenedTable, fetch_adult, open_in_doubt, open_table
from kanon.sources.read_settings import ReadSettings
from kanon.sources.reading import TableFile, read_table
from kanon.sources.repairs import Repair, check_repairs, check_replacing_markers
from kanon.studio.session.choices import is_first_choice
from kanon.studio.session.findings import SessionResults
from kanon.studio.session.hierarchy_choices import update_hierarchies
from kanon.studio.session.parts import Message
from kanon.studio.session.samples import SAMPLES
from kanon.studio.session.table_state import TableState
from kanon.studio.session.work import SessionState


def open_sample(name: str, version: int = 0) -> SessionState:
    sample = SAMPLES[name]
    content = sample.path.read_bytes()
    with lift_size_limits():
        file = read_table(content, sample.path.name)
    work = _build_work(file, content, sample.title, name, version)
    reasons = dict.fromkeys(sample.roles, "")
    table = replace(work.table, roles=sample.roles, reasons=reasons, undecided=frozenset())
    return update_hierarchies(
        work.replace_sections(table, replace(work.settings, k=sample.k)), folder=name
    )


def open_uploaded_table(
    content: bytes, name: str, version: int, settings: ReadSettings | None = None
) -> SessionState:
    file = open_in_doubt(lambda how: open_table(content, name, how), settings)
    if file.name == ADULT_NAME:
        return _build_adult_work(file, version)
    return _check_new_table(update_hierarchies(_build_work(file, content, name, "upload", version)))


def open_adult(version: int) -> SessionState:
    return _build_adult_work(fetch_adult(), version)


def start_with_table(file: OpenedTable, version: int) -> SessionState:
    return _check_new_table(
        update_hierarchies(_build_work(file, None, file.name, "place", version))
    )


def reread_table(work: SessionState) -> SessionState:
    """Read the same file as asked for; roles and hierarchies stay where columns do."""
    if work.table.content is None:
        return work
    again = open_uploaded_table(work.table.content, work.table.file.name, 0, work.table.asked)
    return take_over_reread(work, again)


def take_over_reread(work: SessionState, again: SessionState) -> SessionState:
    """Take over the same table, read in another way; roles stay where columns do.

    A hierarchy that was proposed and never changed is proposed anew: with fewer texts that mark
    missing cells, a column may turn out to hold dates or numbers.
    """
    old, new, collection = work.table, again.table, work.kept
    table = replace(
        old,
        choices={
            column: choice
            for column, choice in old.choices.items()
            if not is_first_choice(choice, column, old.kinds.get(column))
        },
        file=new.file,
        digest=new.digest,
        roles={column: old.roles.get(column, role) for column, role in new.roles.items()},
        reasons={column: old.reasons.get(column, why) for column, why in new.reasons.items()},
        undecided=frozenset(
            column
            for column in new.roles
            if column in (old if column in old.roles else new).undecided
        ),
        imports=(),
    )
    table, problem = _keep_usable_repairs(table)
    return update_hierarchies(
        replace(
            work,
            version=work.version + 1,
            running={},
            findings=SessionResults(),
            made_with={},
            views=work.views_after_reread,
            table=table,
            kept=collection
            if new.digest == old.digest
            else replace(collection, earlier_releases=(), made=[]),
            message=replace(
                work.message,
                problem=" ".join(filter(None, [again.message.problem, problem])) or None,
            ),
        )
    )


def set_repairs(work: SessionState, steps: Sequence[Repair]) -> SessionState:
    """Repair the table as it was read, by these steps alone; roles and hierarchies stay.

    A hierarchy that was proposed and never changed is proposed anew where its values changed.

    Raises
    ------
    PlanError
        The steps contradict each other, or name a column that the table lacks.
    TableError
        No record is left, or an engine cannot do a step.
    """
    old, new_steps = work.table, tuple(check_repairs(steps))
    if new_steps == old.repairs:
        return work
    check_replacing_markers(new_steps, old.file.settings.missing_markers or ())
    records = old.file.records.repair(new_steps, old.kinds)
    touched = {
        step.column
        for step in (*old.repairs, *new_steps)
        if (step in old.repairs) != (step in new_steps)
    }
    unfit = [
        name
        for name in touched & {*old.kinds}
        if old.kinds[name].find_misfits(records.count_column_values(name).texts)
    ]
    choices = {
        column: choice
        for column, choice in old.choices.items()
        if column not in touched or not is_first_choice(choice, column, old.kinds.get(column))
    }
    table = replace(
        old,
        repairs=new_steps,
        choices=choices,
        kinds={name: kind for name, kind in old.kinds.items() if name not in unfit},
        imports=(),
    )
    new = update_hierarchies(
        replace(
            work,
            version=work.version + 1,
            running={},
            findings=SessionResults(),
            made_with={},
            views=work.views_after_reread,
            table=table,
            settings=replace(work.settings, k=min(work.settings.k, max(2, records.n_records))),
        )
    )
    return new.replace_sections(Message(notice=_describe_repairing(old, new.table, unfit)))


def _describe_repairing(old: TableState, new: TableState, unfit: Sequence[str]) -> str:
    undone = len(new.repairs) < len(old.repairs)
    sentences = [
        "The step was undone." if undone else f"Repaired: {new.records.repairs[-1].amount}."
    ]
    columns = [name for name in new.hierarchy_columns if name in old.choices]
    lacking = [
        name
        for name in columns
        if new.choices[name].plan is None and old.choices[name].plan is not None
    ]
    changed = [
        name
        for name in columns
        if name not in lacking and new.choices[name].typed != old.choices[name].typed
    ]
    if changed:
        sentences.append(f"The hierarchy of {list_names(changed)} was proposed anew.")
    if lacking:
        sentences.append(f"On the Hierarchies page, fix {list_names(lacking)}.")
    if unfit:
        sentences.append(f"The kind of {list_names(unfit)} is recognised anew.")
    return " ".join(sentences)


def _keep_usable_repairs(table: TableState) -> tuple[TableState, str]:
    """The table without repairs that cannot be done on it, and a sentence about them."""
    steps = tuple(step for step in table.repairs if step.column in table.roles)
    try:
        table.file.records.repair(steps, table.kinds)
    except KanonError:
        steps = ()
    if steps == table.repairs:
        return table, ""
    gone = len(table.repairs) - len(steps)
    return replace(table, repairs=steps), (
        f"{count_noun(gone, 'repair')} of the table cannot be done on it as it is read now, and "
        f"{'was' if gone == 1 else 'were'} removed."
    )


def get_read_settings_to_show(work: SessionState) -> ReadSettings:
    """How the file was read; after a mistake, what was asked for, so that it can be fixed."""
    if not work.message.problem:
        return work.table.file.settings
    wanted = {key: value for key, value in vars(work.table.asked).items() if value is not None}
    return replace(work.table.file.settings, **wanted)


def _build_adult_work(file: TableFile, version: int) -> SessionState:
    """As in the papers: all nine columns as quasi-identifiers, incomplete records dropped."""
    work = _build_work(file, None, "Adult (UCI)", "adult", version)
    roles = dict.fromkeys(work.table.roles, Role.QUASI_IDENTIFIER)
    reasons = dict.fromkeys(roles, "As in the papers.")
    table = replace(work.table, roles=roles, reasons=reasons, undecided=frozenset())
    return update_hierarchies(work.replace_sections(replace(table, missing="drop-records")))


def _check_new_table(work: SessionState) -> SessionState:
    columns = [column for column in work.table.roles if column.casefold() == SUPPRESSED]
    problem = None
    if columns:
        problem = (
            f"The table has a column {quote(columns[0])}. Releases mark suppressed records in a "
            "column of that name, so rename yours before you anonymise."
        )
    return work.replace_sections(
        replace(work.settings, k=min(work.settings.k, max(2, work.table.records.n_records))),
        replace(work.message, problem=problem),
    )


def _build_work(
    file: TableFile | OpenedTable, content: bytes | None, title: str, origin: str, version: int
) -> SessionState:
    distinct = file.records.distinct()
    suggestions = suggest_roles(distinct)
    roles = {column: suggestion.role for column, suggestion in suggestions.items()}
    reasons = {column: suggestion.reason for column, suggestion in suggestions.items()}
    person = None
    if isinstance(file, TableFile):  # persons are told apart in memory alone
        person = suggest_person(distinct, roles, file.records.n_records)
    if person is not None:
        reasons[person] = (
            "Suggested: judging by its name, it identifies a person, and some records share a "
            "value. So k counts persons, identified by this column; you can change that below."
        )
    without = file.fingerprint if isinstance(file, OpenedTable) else title
    fingerprint = hashlib.sha256(content if content is not None else without.encode())
    fingerprint.update(repr(file.settings).encode())
    table = TableState(
        title=title,
        origin=origin,
        file=file,
        content=content,
        digest=fingerprint.hexdigest(),
        roles=roles,
        reasons=reasons,
        undecided=frozenset(name for name, role in suggestions.items() if not role.decided),
        person=person,
    )
    return SessionState(version, table)
