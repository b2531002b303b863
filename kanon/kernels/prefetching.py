"""Memory that is read soon."""

import numpy as np


def prefetch(array: np.ndarray, place: np.int64) -> None:
    """Have the processor fetch an element that is read soon. It changes the speed alone.

    What is compiled in its place stands in :mod:`kanon.kernels.dispatchers`, with all of Numba.
    """
