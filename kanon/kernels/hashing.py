"""Numbers that depend on a tuple and a seed alone (splitmix64)."""

import numpy as np

from kanon.kernels.compilation import kernel, loop_with_arrays

MIX = np.uint64(0x9E3779B97F4A7C15)


@loop_with_arrays
def hash_tuple(nodes, seed):
    state = np.uint64(seed) * MIX + MIX
    for j in range(nodes.shape[0]):
        state = (state ^ np.uint64(nodes[j] + 1)) * np.uint64(0xBF58476D1CE4E5B9)
        state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        state = state ^ (state >> np.uint64(31))
    return state


@kernel(seconds=1, arrays=True)
def hash_tuples(nodes, seed):
    """The hash of each tuple. Shapes (E, m) -> (E,)."""
    hashes = np.empty(nodes.shape[0], dtype=np.uint64)
    for e in range(nodes.shape[0]):
        hashes[e] = hash_tuple(nodes[e], seed)
    return hashes
