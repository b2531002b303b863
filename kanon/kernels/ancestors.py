"""The nodes above a node: parents have larger numbers than their children."""

from kanon.kernels.compilation import loop


@loop
def lca(parent, one, other):
    """The lowest common ancestor; parents have larger numbers than their children."""
    while one != other:
        if one < other:
            one = parent[one]
        else:
            other = parent[other]
    return one


@loop
def covers(parent, above, below):
    while below >= 0 and below < above:
        below = parent[below]
    return below == above
