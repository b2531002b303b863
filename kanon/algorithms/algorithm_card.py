"""The card of an algorithm: what pages, plans and reports show and need to know."""

from dataclasses import dataclass
from typing import Literal

from kanon.base.data_files import read_data
from kanon.cards import Card, Parameter

Setting = Literal[
    "metric",
    "attribute_weights",
    "strategy",
    "cost",
    "tie_seed",
    "seed",
    "suppression",
    "outliers",
    "node",
]


@dataclass(frozen=True, kw_only=True)
class AlgorithmCard(Card):
    """The title, description and needs of an algorithm; the summary has two sentences."""

    family: Literal["merging", "levels", "regions", "clusters"]  # how it works
    how: str  # what was done, for readers of a release, and where it differs from the paper
    guarantees: str  # what every release has
    slow: str  # when it takes long
    uses: tuple[Setting, ...] = ()  # which shared settings it takes
    # its own settings: keys of plans and fields of pages, read by ``task.option``
    parameters: tuple[Parameter, ...] = ()
    needs_hierarchies: bool = True  # for every quasi-identifier
    runs_in_engine: bool = False  # whether it runs on classes that stay in an engine
    cheap: bool = False  # whether pages try it by themselves, to see if it loses less
    one_k: bool = False  # whether a run for another k may take minutes


def read_algorithm_card(
    module: str, parameters: tuple[Parameter, ...] = (), family_text: str = ""
) -> AlgorithmCard:
    """The card in the TOML file beside an algorithm, whose ``__file__`` is given.

    ``family_text`` comes first in ``how``.
    """
    entries = read_data(module)
    how = f"{family_text} {entries['how']}".lstrip()
    uses = tuple(entries.get("uses", ()))
    own = entries | {"how": how, "uses": uses, "parameters": parameters}
    return AlgorithmCard(**own)


def read_parameter(module: str, name: str) -> Parameter:
    """One of ``parameters`` in the TOML file beside an algorithm, whose ``__file__`` is given."""
    return Parameter(name, **read_data(module)["parameters"][name])
