"""The state for a new table: a sample, an upload, a stored table; or one that is read again."""

import hashlib
from collections.abc import Iterable
from dataclasses import replace
from functools import cache

from kanon.errors import KanonError, PlanError, quote
from kanon.schema import SUPPRESSED, Role, suggest_person, suggest_roles
from kanon.sources.limits import lift_size_limits
from kanon.sources.opening import ADULT_NAME, OpenedTable, fetch_adult, open_in_doubt, open_table
from kanon.sources.read_settings import ReadSettings
from kanon.sources.reading import TableFile, read_table
from kanon.sources.repairs import Repair, check_repairs
from kanon.studio.session.choices import is_first_choice
from kanon.studio.session.findings import SessionResults
from kanon.studio.session.hierarchy_choices import update_hierarchies
from kanon.studio.session.parts import Message, RunSettings
from kanon.studio.session.samples import SAMPLES
from kanon.studio.session.table_state import TableState
from kanon.studio.session.work import SessionState


def open_sample(name: str, version: int = 0) -> SessionState:
    return SessionState(version, _read_sample(name), RunSettings(k=SAMPLES[name].k))


@cache
def _read_sample(name: str) -> TableState:
    """Read a sample once for all sessions: nothing of a user is in it, and nobody changes it."""
    sample = SAMPLES[name]
    content = sample.path.read_bytes()
    with lift_size_limits():
        file = read_table(content, sample.path.name)
    work = _build_work(file, content, sample.title, name, 0)
    reasons = dict.fromkeys(sample.roles, "")
    table = replace(work.table, roles=sample.roles, reasons=reasons, undecided=frozenset())
    return update_hierarchies(work.replace_sections(table), folder=name).table


def open_uploaded_table(
    content: bytes, name: str, version: int, settings: ReadSettings | None = None
) -> SessionState:
    file = open_in_doubt(lambda how: open_table(content, name, how), settings)
    if file.name == ADULT_NAME:
        return _build_adult_work(file, version)
    return start_with_upload(file, content, name, version)


def start_with_upload(
    file: TableFile, content: bytes, title: str, version: int = 0
) -> SessionState:
    work = _build_work(file, content, title, "upload", version)
    return _check_new_table(update_hierarchies(work))


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

    With fewer texts that mark missing cells, a column may turn out to hold dates or numbers.
    """
    old, new, collection = work.table, again.table, work.kept
    table = replace(
        old,
        file=new.file,
        digest=new.digest,
        roles={column: old.roles.get(column, role) for column, role in new.roles.items()},
        reasons={column: old.reasons.get(column, why) for column, why in new.reasons.items()},
        undecided=frozenset(
            column
            for column in new.roles
            if column in (old if column in old.roles else new).undecided
        ),
        repairs=_list_usable_repairs(old, new),
    )
    problems = [again.message.problem] if again.message.problem else []
    if table.repairs != old.repairs:
        problems.append("Repairs that the table does not allow as it is read now were removed.")
    if new.digest != old.digest:
        collection = replace(collection, earlier_releases=(), made=[])
    return restart_with_table(
        replace(
            work,
            kept=collection,
            message=replace(work.message, problem=" ".join(problems) or None),
        ),
        table,
    )


def _list_usable_repairs(old: TableState, new: TableState) -> tuple[Repair, ...]:
    markers = new.file.settings.missing_markers
    steps = tuple(
        step
        for step in old.repairs
        if step.column in new.roles and _is_allowed_with_markers(step, markers)
    )
    try:
        new.file.records.repair(steps, old.kinds)
    except KanonError:
        return ()
    return steps


def _is_allowed_with_markers(step: Repair, markers: tuple[str, ...] | None) -> bool:
    try:
        check_repairs([step], markers)
    except PlanError:
        return False
    return True


def set_repairs(work: SessionState, steps: Iterable[Repair]) -> SessionState:
    """Repair the table as it was read, by these steps alone; roles and hierarchies stay."""
    old, new_steps = work.table, tuple(steps)
    if new_steps == old.repairs:
        return work
    check_repairs(new_steps, old.file.settings.missing_markers)
    table = replace(old, repairs=new_steps)
    for column in {step.column for step in new_steps} & {*old.kinds}:
        old.kinds[column].check(column, table.records.count_column_values(column).texts)
    message = "The step was undone."
    if len(new_steps) >= len(old.repairs):
        result = table.records.repairs[-1]
        message = " ".join([f"Repaired: {result.amount}.", *result.notes])
    return restart_with_table(work, table).replace_sections(Message(notice=message))


def restart_with_table(work: SessionState, table: TableState) -> SessionState:
    """The session with a changed table: what was computed from the old one goes.

    Hierarchies that were proposed and never changed are proposed anew.
    """
    choices = {
        column: choice
        for column, choice in table.choices.items()
        if not is_first_choice(choice, column, table.kinds.get(column))
    }
    return update_hierarchies(
        replace(
            work,
            version=work.version + 1,
            running={},
            findings=SessionResults(),
            made_with={},
            views=work.views_after_reread,
            table=replace(table, choices=choices, imports=()),
        )
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
