"""Names of downloads.

Streamlit tells large downloads apart by length, samples of the content, type and name, across all
sessions: with equal names one session could be handed another's file. So every name carries a
fingerprint of this session and of all that decides the content.
"""

from __future__ import annotations

import hashlib

from kanon.studio import state

__all__ = ["file_name"]


def file_name(what: str, ending: str, about: str) -> str:
    """The name of a download: what it is, and a fingerprint.

    The table's own file name is left out: it can name a person.

    Parameters
    ----------
    what
        What the file is, in plain letters.
    ending
        The ending of its name.
    about
        All that decides the content.
    """
    work = state.work()
    content = "|".join((state.salt(), work.digest, str(work.version), about, what, ending))
    return f"{what}-{hashlib.sha256(content.encode()).hexdigest()[:12]}.{ending}"
