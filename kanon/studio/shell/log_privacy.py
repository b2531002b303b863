"""Nothing leaves the machine, not even a question, and no exception takes a cell to the log."""

import logging
import os
import threading
from typing import Any

from streamlit import error_util, net_util
from streamlit.elements import exception

from kanon.errors import TRACEBACK, withheld

FAILED = (
    "This page has failed by a mistake of kanon's own. What you have chosen and typed is kept. "
    "Please report it to whoever runs kanon: the log says where it happened, without any value of "
    "your table."
)
"""What a page says of an exception that nobody expected."""

_made = logging.getLogRecordFactory()


def keep_quiet() -> None:
    """Have Streamlit ask nobody for this machine's address, and log no text of an exception.

    Where a page of another site tries to connect, Streamlit compares its origin with the addresses
    of this machine, and would ask a server of Amazon for the outer one. An exception that no page
    expected is logged with its text, which may quote a cell: here by its type and its places
    alone, unless a developer asks for more.
    """
    net_util.get_external_ip = lambda: None
    if os.environ.get(TRACEBACK):
        return
    vars(exception).update(_GENERIC_UNCAUGHT_EXCEPTION_TEXT=FAILED)
    vars(error_util).update(_print_rich_exception=_not_at_length)
    logging.setLogRecordFactory(_record)
    if threading.excepthook is threading.__excepthook__:  # nobody else looks at it
        threading.excepthook = _in_a_thread


def _record(*given: Any, **named: Any) -> logging.LogRecord:
    record = _made(*given, **named)
    if isinstance(record.args, tuple):
        record.args = tuple(
            withheld(one) if isinstance(one, BaseException) else one for one in record.args
        )
    error = record.exc_info[1] if record.exc_info else None
    if error is not None:
        record.msg, record.args = f"{record.getMessage()}: {withheld(error)}", ()
    record.exc_info = None
    return record


def _not_at_length(error: BaseException) -> None:
    """In place of a coloured traceback with its text; what raises here is logged."""
    raise NotImplementedError


def _in_a_thread(failed: threading.ExceptHookArgs) -> None:
    if failed.exc_value is not None and failed.exc_type is not SystemExit:
        logging.getLogger(__name__).error("A thread has failed: %s", withheld(failed.exc_value))
