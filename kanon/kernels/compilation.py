"""What a kernel is, and a loop. Neither needs Numba until it is called, as to import it takes long.

A ``kernel`` is called by Python, a ``loop`` by kernels alone: what Numba compiles to take arguments
from Python apart, dozens of arrays, took a third of the time of compiling it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

_NO_COUNTS: Mapping[str, Any] = {"_nrt": False}
"""Whoever calls it holds the arrays that it works on.

Numba counts references to every array of a record that is handed over, up and down again; that took
half of the time. Without the counts nothing may be allocated, nor kept.
"""

_NO_PYTHON: Mapping[str, Any] = {"no_cpython_wrapper": True}  # no call from Python is compiled


@dataclass(frozen=True, eq=False)
class Kernel:
    """A function that is compiled when it is first called; the compiled code is cached."""

    function: Callable[..., Any]
    options: Mapping[str, Any] = field(default_factory=dict)  # for Numba
    seconds: float = 1.0  # about how long one core takes to compile it with all that it calls
    seconds_without: float = 1.0  # the same where an argument is None
    called_by_python: bool = True  # False for a loop

    def __call__(self, *arguments: Any) -> Any:
        return self.dispatcher(*arguments)

    @cached_property
    def dispatcher(self) -> Any:
        from kanon.kernels.dispatchers import build_dispatcher  # and with it Numba

        return build_dispatcher(self)

    @property
    def _numba_type_(self) -> Any:
        return self.dispatcher._numba_type_


def kernel(seconds: float, without: float | None = None, arrays: bool = False) -> Any:
    """Compile a loop that Python calls; ``arrays``: whether it or its callees may create arrays."""
    options = {} if arrays else _NO_COUNTS
    with_none = seconds if without is None else without
    return lambda function: Kernel(function, options, seconds, with_none)


def loop(function: Callable[..., Any]) -> Any:
    """Compile a loop that kernels call and that creates no arrays."""
    return Kernel(function, {**_NO_PYTHON, **_NO_COUNTS}, called_by_python=False)


def loop_with_arrays(function: Callable[..., Any]) -> Any:
    """Compile a loop that kernels call and that may create arrays."""
    return Kernel(function, _NO_PYTHON, called_by_python=False)
