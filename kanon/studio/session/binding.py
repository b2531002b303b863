"""One way to bind a widget to what it shows: its key, what it shows, and who is told a change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from kanon.studio.session import state
from kanon.studio.session.server import ticking


def bound(
    key: str,
    value: object,
    take: str | Callable[..., object],
    *args: Any,
    into: type | Callable[..., object] = state.change,
    read: Callable[[Any], Any] = lambda value: value,
    keep: bool = False,
) -> dict[str, Any]:
    """The key and the callback of a widget that shows a value of the session, as its arguments."""
    state.seeded(key, value)

    def changed() -> None:
        if ticking():  # of a browser that has not drawn the new value yet: nobody chose the old one
            return
        typed = state.typed(key)
        if keep and typed is None:
            return
        new = read(typed)
        if callable(take):
            take(*args, new)
        elif isinstance(into, type):
            state.change(view=replace(state.work().view(into), **{take: new}))
        else:
            into(**{take: new})

    return {"key": key, "on_change": changed}
