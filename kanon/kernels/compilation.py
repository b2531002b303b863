"""How kernels are compiled, and how long what was compiled is kept.

Numba keeps what it compiled for a function as long as the file does not change that the function
stands in; what that file imports it does not look at. So a kernel is kept by the contents of all
kernels instead: a change in a helper compiles its callers anew, wherever they stand. Where it is
kept is Numba's choice: beside the source, in ``NUMBA_CACHE_DIR``, or in the user's cache.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from numba import njit, types

_general: Callable[[Any], Any] = types.unliteral


def _all_sources() -> str:
    """A hash of all kernels."""
    found = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        found.update(path.name.encode())
        found.update(hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()


_SOURCES = _all_sources()


def loop_with_arrays(function: Callable[..., Any], **options: Any) -> Any:
    """Compile a loop that may make arrays, and keep what was compiled."""
    compiled: Any = njit(cache=True, nogil=True, **options)(function)
    if compiled is not function:  # as it is where NUMBA_DISABLE_JIT is set
        # Numba has no public way to say so; tests/kernels/test_cache.py sees that it holds. The
        # version is looked at before an index is read that may name a class which is gone.
        kept = compiled._cache._cache_file
        kept._version = f"{kept._version} {_SOURCES}"
        kept._source_stamp = _SOURCES
        compiled.get_call_template = _without_literals(compiled.get_call_template)
    return compiled


def _without_literals(template: Callable[..., Any]) -> Callable[..., Any]:
    """Have a call with a 0 or a True compiled as a call with any number or truth value.

    Numba compiles a function once more for every literal that another one calls it with.
    """

    def found(arguments: Sequence[Any], named: Mapping[str, Any]) -> Any:
        plain = tuple(_general(each) for each in arguments)
        return template(plain, {name: _general(each) for name, each in named.items()})

    return found


def loop(function: Callable[..., Any]) -> Any:
    """Compile a loop that makes no arrays: whoever calls it holds those that it works on.

    Numba counts references to every array of a record that is handed over, up and down again; that
    took half of the time. Without the counts nothing here may be allocated, nor kept.
    """
    return loop_with_arrays(function, _nrt=False)
