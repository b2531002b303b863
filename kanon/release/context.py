"""The purpose of a release and the thresholds that it sets, each with its source.

A context says who gets the release and what an attacker may know. Thresholds follow from it. None
is a law: each names its document or says that there is none, and all can be replaced.

>>> public, internal = Context(release="public"), Context(release="internal")
>>> [int(list_thresholds(each)["k"].wanted) for each in (public, internal)]
[11, 3]
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, StrictInt

from kanon.base.checked_json import Strict, load_json, read_json, validate, write_json
from kanon.cards import Card
from kanon.errors import PlanError
from kanon.privacy.entropy_l_diversity import EntropyLDiversity
from kanon.privacy.model import Range, SensitiveModel
from kanon.privacy.t_closeness import TCloseness

Release = Literal["public", "research", "internal"]
Attacker = Literal["prosecutor", "journalist"]

AUDIENCES: Mapping[Release, str] = {
    "public": "Anybody",
    "research": "Researchers",
    "internal": "Colleagues only",
}
"""The people who get a release, from most to fewest."""

ATTACKERS: Mapping[Attacker, str] = {
    "prosecutor": "who is in the table",
    "journalist": "not who is in it",
}
"""What someone who looks for a person knows about the table; the names are El Emam's."""

_UNIT_ONE_IN = "1 in …"

THRESHOLD_CARDS: Mapping[str, Card] = {
    card.name: card
    for card in (
        Card(
            "k",
            "Records that look alike (k-anonymity)",
            "At least this many records, a person's own included, share all quasi-identifiers.",
            "Sweeney 2002",
            unit="records",
            direction="higher",
            lowest="1: someone's record is unique",
            highest="the number of records: all look alike",
        ),
        Card(
            "highest_risk",
            "Highest risk of being found",
            "Someone who looks for any one person picks the right record at most once in this many "
            "tries.",
            "El Emam 2013",
            unit=_UNIT_ONE_IN,
            direction="higher",
            lowest="1: someone is found for certain",
            highest="the number of records: all look alike",
        ),
        Card(
            "mean_risk",
            "Mean risk of being found",
            "Someone who looks for everyone picks the right record at most once in this many tries "
            "on average.",
            "El Emam 2013",
            unit=_UNIT_ONE_IN,
            direction="higher",
            lowest="1: everyone is found for certain",
            highest="the number of records: all look alike",
        ),
        Card(
            "l",
            "Mix of sensitive values (entropy l-diversity)",
            "In every class, the sensitive value is at least as hard to guess as if there were "
            "this many equally frequent values.",
            "Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam 2007",
            unit="values",
            direction="higher",
            lowest="1: someone's value is certain",
            highest="the number of values",
        ),
        Card(
            "t",
            "Distance from the table's mix (t-closeness)",
            "At most this share of a class would need a different sensitive value to match the "
            "table's mix.",
            "Li, Li, Venkatasubramanian 2007",
            unit="0 to 1",
            direction="lower",
            lowest="0: the table's mix",
            highest="1: nothing in common with the table",
        ),
    )
}
"""What a context can require, by the keys of a context file; a risk r is written as 1 / r."""

_HIGHEST = 100_000_000
"""The highest threshold; up to here :func:`least_k` is exact in spite of its tolerance."""

_ALLOWED = {
    "k": Range(2, _HIGHEST, whole=True),
    "highest_risk": Range(1, _HIGHEST),
    "mean_risk": Range(1, _HIGHEST),
    "l": Range(1, _HIGHEST),
    "t": Range(0, 1),
}

_EL_EMAM = (
    "El Emam 2013, Guide to the De-Identification of Personal Health Information, chapter “Cell "
    "Size Precedents”"
)
_CMS = (
    "CMS Cell Size Suppression Policy (ResDAC, version of 26 January 2024): no count of 1 to 10 is "
    "shown"
)
_EMA = (
    "European Medicines Agency, guidance on Policy 0070 (EMA/90915/2016, chapter 3), and Health "
    "Canada, Public Release of Clinical Information (2019): 0.09, which is 1 in 11"
)
_IPC = (
    "Information and Privacy Commissioner of Ontario, De-Identification Guidelines for Structured "
    "Data (October 2025)"
)
_OF_THE_MEAN = "applying it to the mean is kanon's choice"
_CONVENTION = (
    "This is a convention: no document prescribes it. The Article 29 Working Party (Opinion "
    "05/2014, WP216, section 3.2) says that with k alone, sensitive values can still be inferred"
)
_POPULATION = (
    "No k is required: everyone in the population who fits the description hides a person (El "
    "Emam, Dankar 2008, JAMIA 15(5)). The risk of being found counts instead"
)
_NOTHING_INSIDE = "Nothing is proposed: no document sets a number for use inside an organisation"

UNNAMED_SOURCE = "Set by hand; no source was named"
"""The source of a threshold that was replaced without a reason."""

_PROPOSED: Mapping[Release, Mapping[str, tuple[float | None, str]]] = {
    "public": {
        "k": (11, f"{_CMS}; 11 for public releases: {_EL_EMAM}"),
        "highest_risk": (11, _EMA),
        "mean_risk": (
            20,
            f"{_IPC}: 0.05, which is 1 in 20, for a high invasion of privacy; {_OF_THE_MEAN}",
        ),
        "l": (2, _CONVENTION),
        "t": (0.3, _CONVENTION),
    },
    "research": {
        "k": (5, f"{_EL_EMAM}: the rule of five"),
        "highest_risk": (5, f"{_EL_EMAM}: 0.2, which is 1 in 5"),
        "mean_risk": (
            11,
            f"{_IPC}: 0.09, which is 1 in 11, for a low invasion of privacy; {_OF_THE_MEAN}",
        ),
        "l": (2, _CONVENTION),
        "t": (0.4, _CONVENTION),
    },
    "internal": {
        "k": (3, f"{_EL_EMAM}: some custodians use 3"),
        "highest_risk": (3, f"{_EL_EMAM}: 0.33, which is 1 in 3"),
        "mean_risk": (5, f"{_EL_EMAM}: 0.2, which is 1 in 5; {_OF_THE_MEAN}"),
        "l": (None, _NOTHING_INSIDE),
        "t": (None, _NOTHING_INSIDE),
    },
}

LONGEST = 500  # the most characters of a named source


class ChosenThreshold(Strict):
    # the number, in the unit of its card
    wanted: Annotated[float, Field(strict=True, allow_inf_nan=False)] | None
    # where it comes from, in the words of the person who chose it
    source: Annotated[str, Field(strict=True, max_length=LONGEST)] = ""


class Thresholds(Strict):
    """The replaced thresholds; None: the proposed one applies."""

    k: ChosenThreshold | None = None
    highest_risk: ChosenThreshold | None = None
    mean_risk: ChosenThreshold | None = None
    l: ChosenThreshold | None = None  # noqa: E741
    t: ChosenThreshold | None = None


class Context(Strict):
    """What a release is for. As JSON a public format: see docs/explanation/release-context.md.

    >>> Context.from_json('{"context": 1, "release": "research"}').attacker
    'prosecutor'
    """

    context: Annotated[int, Field(strict=True, ge=1, le=1)] = 1  # the version of the format
    release: Release  # for anyone, for researchers who signed a contract, or for colleagues
    # whether an attacker knows that the person is in the table (``prosecutor``), or has to consider
    # the whole population (``journalist``)
    attacker: Attacker = "prosecutor"
    known: Annotated[StrictInt, Field(ge=1)] | None = None  # the most quasi-identifiers known
    thresholds: Thresholds = Thresholds()  # the replaced ones

    @classmethod
    def from_json(cls, text: str, what: str = "The context") -> Context:
        return cls.from_content(read_json(text, what))

    @classmethod
    def from_content(cls, content: Any) -> Context:
        """Check a context that was already parsed.

        >>> Context.from_content({"context": 1, "release": "everybody"})
        Traceback (most recent call last):
        kanon.errors.PlanError: Context key release: (value withheld) is not allowed; it has to ...
        """
        if isinstance(content, dict) and "context" not in content:
            raise PlanError('This is not a kanon context: it lacks "context": 1.')
        context = validate(cls, content, "context")
        for name in _ALLOWED:
            own = getattr(context.thresholds, name)
            if own is not None and own.wanted is not None:
                check_threshold_number(name, own.wanted, f"Context key thresholds.{name}.wanted")
        return context

    @classmethod
    def load(cls, path: Path) -> Context:
        return cls.from_content(load_json(path, "The context"))

    def to_json(self) -> str:
        """The context as JSON, with only the replaced thresholds."""
        return write_json(self.content)

    @property
    def content(self) -> dict[str, Any]:
        fields = self.model_dump(mode="json")
        chosen = {name: own for name, own in fields.pop("thresholds").items() if own is not None}
        return {**fields, "thresholds": chosen}


def check_threshold_number(name: str, wanted: float, called: str) -> None:
    _ALLOWED[name].check(called, _convert_whole(float(wanted)))


def _convert_whole(number: float) -> float | int:
    """5.0 as 5, which JSON does not tell apart; 1e308 stays as it is."""
    return int(number) if number.is_integer() and abs(number) <= _HIGHEST else number


_TOLERANCE = 1e-12  # levels this much apart, relatively, count as equal, as in the release check


@dataclass(frozen=True)
class Threshold:
    card: Card  # what is required
    wanted: float | None  # how much, in the unit of the card
    source: str  # the document, or that there is none
    own: bool = False  # whether it replaces the proposed one

    def met(self, reached: float) -> bool:
        """Whether a release that reached this meets it; levels apart by rounding are equal."""
        if self.wanted is None:
            return True
        if self.card.direction == "higher":
            return reached >= self.wanted * (1 - _TOLERANCE)
        return reached <= self.wanted * (1 + _TOLERANCE) + 1e-12


def list_thresholds(context: Context) -> dict[str, Threshold]:
    """The thresholds of a context, in the order of :data:`THRESHOLD_CARDS`."""
    threshold_of_name = {}
    for name, card in THRESHOLD_CARDS.items():
        wanted, source = _PROPOSED[context.release][name]
        if name == "k" and context.attacker == "journalist":
            wanted, source = None, _POPULATION
        own: ChosenThreshold | None = getattr(context.thresholds, name)
        if own is not None:
            source = f"Set by hand: {own.source}" if own.source else UNNAMED_SOURCE
            wanted = None if own.wanted is None else _convert_whole(own.wanted)
        threshold_of_name[name] = Threshold(card, wanted, source, own is not None)
    return threshold_of_name


def replace_threshold(context: Context, name: str, own: ChosenThreshold | None) -> Context:
    """The context with one threshold replaced; None brings back the proposed one.

    >>> chosen = ChosenThreshold(wanted=7, source="Our ethics board")
    >>> list_thresholds(replace_threshold(Context(release="research"), "k", chosen))["k"].source
    'Set by hand: Our ethics board'
    """
    content = context.content
    content["thresholds"][name] = None if own is None else own.model_dump()
    return Context.from_content(content)


def compute_least_k(context: Context) -> int:
    """The least k, at least 2, that meets the thresholds of k and of the highest risk.

    In a class of k records nobody is found more often than once in k tries.

    >>> compute_least_k(Context(release="public", attacker="journalist"))
    11
    """
    required = list_thresholds(context)
    wanted = (required[name].wanted or 0 for name in ("k", "highest_risk"))
    return max(2, *(math.ceil(number * (1 - _TOLERANCE)) for number in wanted))


def list_required_models(context: Context, column: str) -> tuple[SensitiveModel, ...]:
    """The thresholds of a sensitive column as models that an algorithm can meet.

    >>> for model in list_required_models(Context(release="research"), "ill"):
    ...     print(model.sentence)
    Entropy l-diversity with l = 2 for 'ill'
    t-closeness with t = 0.4 (total variation) for 'ill'
    """
    required = list_thresholds(context)
    models: list[SensitiveModel] = []
    if required["l"].wanted is not None:
        models.append(EntropyLDiversity(l=required["l"].wanted, column=column))
    if required["t"].wanted is not None:
        models.append(TCloseness(t=required["t"].wanted, column=column, distance="variational"))
    return tuple(models)
