"""What Streamlit and its server would do beside their work with somebody's data, switched off."""

from __future__ import annotations

import sys

from starlette.formparsers import MultiPartParser
from streamlit import net_util

__all__ = ["keep_quiet"]


def keep_quiet() -> None:
    """Keep uploads off the disk, and ask nobody for this machine's address.

    While an upload of more than a megabyte is received, the server would hold it in a file without
    a name; it is held in memory instead, as the table read from it is, and the limit for uploads
    holds. And where a page of another site tries to connect, Streamlit compares its origin with the
    addresses of this machine, and would ask a server of Amazon for the outer one.
    """
    MultiPartParser.spool_max_size = sys.maxsize
    net_util.get_external_ip = lambda: None
