"""Memory that is read soon."""

import numpy as np


def prefetch(array: np.ndarray, place: np.int64) -> None:
    """Have the processor fetch what is read soon; compiled in :mod:`kanon.kernels.dispatchers`."""
