"""Results of the samples, kept for all sessions: nothing of a user is in them."""

from collections import OrderedDict
from threading import Lock
from typing import Any

import streamlit as st

from kanon.base.fingerprint import compute_fingerprint
from kanon.studio.session.samples import SAMPLES
from kanon.studio.session.table_loading import open_sample
from kanon.studio.session.work import SessionState

_MOST = 256
"""A class works on the same samples: so many results are kept, the latest used."""


class SampleResults:
    """The latest results, by all that they depend on.

    >>> results = SampleResults(most=1)
    >>> results.put("a", 1), results.put("b", 2), results.get("a"), results.get("b")
    (None, None, None, 2)
    """

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._results: OrderedDict[str, Any] = OrderedDict()
        self._lock = Lock()

    def get(self, key: str) -> Any:
        """The result of a key; None if it is not known, and for no key."""
        with self._lock:
            if key in self._results:
                self._results.move_to_end(key)
            return self._results.get(key)

    def put(self, key: str, result: object) -> None:
        """Keep a result under its key, if there are both."""
        if key and result is not None:
            with self._lock:
                self._results[key] = result
                self._results.move_to_end(key)
                while len(self._results) > self._most:
                    self._results.popitem(last=False)


@st.cache_resource(show_spinner=False)
def get_sample_results() -> SampleResults:
    return SampleResults()


def build_sample_key(work: SessionState, *parts: object) -> str:
    """A key for what depends only on these parts and a sample as it came; "" for all else.

    A table whose roles, hierarchies or cells were changed is no sample, and a metric that somebody
    composed is in what is measured by it.
    """
    table = work.table
    if table.origin not in SAMPLES or table is not open_sample(table.origin).table:
        return ""
    if work.settings.composed:
        return ""
    return compute_fingerprint(table.origin, *parts)
