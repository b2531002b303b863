"""What the page Decide does to what the session works on; nothing here knows Streamlit."""

from dataclasses import replace

from kanon.base.formatting import counted
from kanon.classes import EquivalenceClasses
from kanon.errors import PlanError
from kanon.release.context import Context, least_k, models_wanted
from kanon.studio.decide.settings_undo import with_taken
from kanon.studio.decide.state import DecideView
from kanon.studio.session.parts import Message
from kanon.studio.session.work import Work
from kanon.studio.widgets.requirements import refusal

IN_ENGINE = (
    "A verdict counts the released rows once more, for which the table has to be in memory, and "
    "this one stays where it is: load it as a file on the page Data, or run python -m kanon "
    "decide with --engine memory."
)
"""Why there is no verdict about a table that stays in an engine."""


def with_context(work: Work, context: Context) -> Work:
    """The work with another purpose; whatever was said before is no longer shown."""
    return work.with_parts(replace(work.purpose, context=context), Message())


def opened_context(work: Work, content: bytes) -> Work:
    """The work with the purpose of a context file; PlanError if the file is none."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise PlanError("The context file is not text in UTF-8.") from None
    found = with_context(work, Context.from_json(text))
    deciding = replace(found.view(DecideView), uploads=work.view(DecideView).uploads + 1)
    return found.with_parts(deciding, replace(found.message, notice="The context was loaded."))


def with_wishes(work: Work) -> Work:
    """The work that requires what the context asks for, as if it had been chosen by hand."""
    context = work.purpose.context
    wanted = [
        one for column in work.table.sensitive_columns for one in models_wanted(context, column)
    ]
    taken = {(one.card.name, one.column) for one in wanted}
    others = [one for one in work.settings.models if (one.card.name, one.column) not in taken]
    k = least_k(context)
    needed = f"is k = {k}"
    if wanted:
        needed = f"are k = {k} and {counted(len(wanted), 'more model')}"
    said = f"Required now {needed}; press Anonymise on the page Anonymise."
    return with_taken(work, "purpose", said, replace(work.settings, k=k, models=(*others, *wanted)))


def out_of_reach(work: Work, table: EquivalenceClasses | None) -> str | None:
    """Why no release can meet what is asked for, in a sentence; None if one can."""
    context, most = work.purpose.context, work.table.highest_k
    k = least_k(context)
    if k > most:
        about = f"is about {counted(most, 'person')}"
        if work.table.person_counted is None:
            about = f"has {counted(most, 'record')}"
        return f"No release reaches k = {k}: the table {about}."
    models = [
        one for column in work.table.sensitive_columns for one in models_wanted(context, column)
    ]
    return None if table is None else refusal(models, table)
