"""The names that functions had in version 0.6: they work until version 0.8, with a warning."""

import functools
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


def keep_old_name(name: str) -> Callable[[Function], Function]:
    """Decorate a function, so that its module has it under its old name, too.

    >>> @keep_old_name("size")
    ... def measure_size(part):
    ...     return len(part)
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     size([1, 2])
    2
    >>> print(caught[0].message)
    'size' is called 'measure_size' since version 0.7; the old name goes with version 0.8.
    """

    def keep(function: Function) -> Function:
        @functools.wraps(function)
        def call(*arguments: Any, **named: Any) -> Any:
            warnings.warn(
                f"{name!r} is called {function.__name__!r} since version 0.7; the old name goes"
                " with version 0.8.",
                DeprecationWarning,
                stacklevel=2,
            )
            return function(*arguments, **named)

        call.__doc__ = f"The old name of ``{function.__name__}``."
        call.__module__ = __name__
        function.__globals__[name] = call
        return function

    return keep
