"""Random trees with labels that are hard to write down."""

from hypothesis import strategies as st

from kanon.base.values import convert_to_text
from support.random_tables import PlainTree, trees

LABELS = st.text(st.sampled_from(list("abXY07;,|\t\"'<>&/ .*-_é漢\n")), min_size=1, max_size=6).map(
    convert_to_text
)


@st.composite
def labelled_trees(draw, **kwargs) -> PlainTree:
    """A random tree with unpleasant labels."""
    tree = draw(trees(**kwargs))
    size = len(tree.parents)
    names = draw(st.lists(LABELS.filter(bool), min_size=size, max_size=size, unique=True))
    name = dict(zip(tree.parents, names, strict=True))
    parents = {name[x]: None if up is None else name[up] for x, up in tree.parents.items()}
    weights = tree.weights and {name[x]: weight for x, weight in tree.weights.items()}
    return PlainTree(parents, weights)
