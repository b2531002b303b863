"""Nothing leaves the machine, not even a question."""

from __future__ import annotations

from streamlit import net_util

__all__ = ["keep_quiet"]


def keep_quiet() -> None:
    """Have Streamlit ask nobody for this machine's address.

    Where a page of another site tries to connect, Streamlit compares its origin with the addresses
    of this machine, and would ask a server of Amazon for the outer one.
    """
    net_util.get_external_ip = lambda: None
