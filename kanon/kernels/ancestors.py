"""The nodes above a node: parents have larger numbers than their children."""

from kanon.kernels.compilation import loop


@loop
def lca(parent, node, other):
    while node != other:
        if node < other:
            node = parent[node]
        else:
            other = parent[other]
    return node


@loop
def is_ancestor_or_self(parent, above, below):
    while below >= 0 and below < above:
        below = parent[below]
    return below == above
