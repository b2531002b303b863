"""The names that functions had in version 0.6: they work until version 0.8, with a warning."""

import functools
import warnings
from collections.abc import Callable
from typing import ParamSpec, TypeVar

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def keep_old_name(
    function: Callable[Parameters, Result], name: str
) -> Callable[Parameters, Result]:
    """The function under its old name, which names the new one to whoever calls it.

    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     keep_old_name(len, "size")([1, 2])
    2
    >>> print(caught[0].message)
    'size' is called 'len' since version 0.7; the old name goes with version 0.8.
    """

    @functools.wraps(function)
    def call(*arguments: Parameters.args, **named: Parameters.kwargs) -> Result:
        warnings.warn(
            f"{name!r} is called {function.__name__!r} since version 0.7; the old name goes with"
            " version 0.8.",
            DeprecationWarning,
            stacklevel=2,
        )
        return function(*arguments, **named)

    call.__doc__ = f"The old name of ``{function.__name__}``."
    call.__module__ = __name__
    return call
