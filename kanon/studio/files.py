"""Names of downloads.

Streamlit tells large downloads apart by length, samples of the content, type and name, across all
sessions: with equal names one session could be handed another's file. So every name carries a
fingerprint of this session and of all that decides the content.
"""

from __future__ import annotations

import hashlib
import re

from kanon.plan import Plan
from kanon.studio import state
from kanon.studio.work import Work

__all__ = ["file_name"]


def file_name(work: Work, plan: Plan, what: str, ending: str) -> str:
    """The name of a download: what it is, k, and a fingerprint.

    The table's own file name is left out: it can name a person.
    """
    content = f"{state.salt()}|{work.digest}|{work.version}|{plan.to_json()}|{what}|{ending}"
    fingerprint = hashlib.sha256(content.encode()).hexdigest()[:12]
    algorithm = re.sub(r"\W+", "-", plan.algorithm.name)
    return f"{what}-k{plan.k}-{algorithm}-{plan.algorithm.metric}-{fingerprint}.{ending}"
