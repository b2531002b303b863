"""What of the files that a command writes was written, for what is said at its end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kanon.base.formatting import joined
from kanon.errors import KanonError, quoted


class Written:
    """The files that a command is to write, and which of them it has written."""

    def __init__(self) -> None:
        self._places: dict[Path, _Place] = {}

    def watch(self, path: Path, look: Callable[[], Any], name: str = "") -> None:
        """Look after a file, the one that the command is called for first."""
        self._places[path] = _Place(quoted(name or path, 200), look, look())

    @property
    def first(self) -> bool:
        """Whether that was written which the command is called for."""
        return any(place.written for place in [*self._places.values()][:1])

    def said(self) -> str:
        """What was written and what was not, to end a sentence; empty if nothing was.

        >>> Written().said()
        ''
        """
        names: dict[bool, list[str]] = {True: [], False: []}
        for place in self._places.values():
            names[place.written].append(place.name)
        if not names[True]:
            return ""
        return ", ".join(
            f"{joined(some)} {'was' if len(some) == 1 else 'were'} {done}"
            for some, done in ((names[True], "written"), (names[False], "not"))
            if some
        )


@dataclass(frozen=True)
class _Place:
    name: str
    look: Callable[[], Any]
    before: Any

    @property
    def written(self) -> bool:
        try:
            return self.look() not in (None, self.before)
        except (KanonError, OSError):  # somebody else has it now, or its disk is gone
            return False
