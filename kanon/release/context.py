"""What a release is for, and what is therefore asked of it: thresholds, each with its source.

Nobody can say what is enough without saying for whom. A context says who gets the release and what
somebody who looks for a person may know; from it follow thresholds. None of them is a law: each
names the document that it was taken from, or says that there is none, and each can be replaced.

>>> public, internal = Context(release="public"), Context(release="internal")
>>> [int(thresholds(each)["k"].wanted) for each in (public, internal)]
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

RELEASES: Mapping[Release, str] = {
    "public": "Anybody",
    "research": "Researchers",
    "internal": "Colleagues only",
}
"""Who gets a release, from the most people to the fewest."""

ATTACKERS: Mapping[Attacker, str] = {
    "prosecutor": "who is in the table",
    "journalist": "not who is in it",
}
"""What somebody who looks for a person knows about the table; the names are El Emam's."""

_ONE_IN = "1 in …"

ASKED: Mapping[str, Card] = {
    card.name: card
    for card in (
        Card(
            "k",
            "Records that look alike (k-anonymity)",
            "So many records share all quasi-identifiers at least, one's own among them.",
            "Sweeney 2002",
            unit="records",
            direction="higher",
            lowest="1: somebody is alone",
            highest="the number of records: all look alike",
        ),
        Card(
            "highest_risk",
            "Person who is easiest to find",
            "Who looks for any one person picks the right record at most once in so many times.",
            "El Emam 2013",
            unit=_ONE_IN,
            direction="higher",
            lowest="1: somebody is found for certain",
            highest="the number of records: all look alike",
        ),
        Card(
            "mean_risk",
            "All persons on average",
            "Who looks for everybody picks the right record at most once in so many times.",
            "El Emam 2013",
            unit=_ONE_IN,
            direction="higher",
            lowest="1: everybody is found for certain",
            highest="the number of records: all look alike",
        ),
        Card(
            "l",
            "Sensitive values mixed (entropy l-diversity)",
            "Among those who look alike, a sensitive value is as hard to guess as if there were so "
            "many equally frequent ones.",
            "Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam 2007",
            unit="values",
            direction="higher",
            lowest="1: somebody's value is certain",
            highest="the number of values",
        ),
        Card(
            "t",
            "Sensitive values as in the table (t-closeness)",
            "So large a share of those who look alike, at most, would need another sensitive value "
            "for them to be mixed as the whole table is.",
            "Li, Li, Venkatasubramanian 2007",
            unit="0 to 1",
            direction="lower",
            lowest="0: mixed as the table is",
            highest="1: nothing in common with the table",
        ),
    )
}
"""What can be asked of a release, by the keys of a context file; a risk r is written as 1 / r."""

_MOST = 100_000_000
"""Nobody asks for more, and up to here :func:`least_k` is exact in spite of its tolerance."""

_ALLOWED = {
    "k": Range(2, _MOST, whole=True),
    "highest_risk": Range(1, _MOST),
    "mean_risk": Range(1, _MOST),
    "l": Range(1, _MOST),
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
_OF_THE_MEAN = "that it is asked of the mean is a choice of kanon"
_CONVENTION = (
    "A convention; no document sets it. That k alone leaves sensitive values to be inferred says "
    "the Article 29 Working Party, Opinion 05/2014 (WP216), section 3.2"
)
_POPULATION = (
    "Nothing is asked of the table: everybody of the population who could be meant hides a person "
    "(El Emam, Dankar 2008, JAMIA 15(5)). The risk of being found counts instead"
)
_NOTHING_INSIDE = "Nothing is proposed: no document sets a number for use inside an organisation"

NO_SOURCE = "Set by hand; no source was named"
"""What is said where a threshold was replaced without a reason."""

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

LONGEST = 500  # the most characters of a source that somebody names


class ChosenThreshold(Strict):
    # the number, in the unit of its card
    wanted: Annotated[float, Field(strict=True, allow_inf_nan=False)] | None
    # where it comes from, in the words of who chose it
    source: Annotated[str, Field(strict=True, max_length=LONGEST)] = ""


class Thresholds(Strict):
    """The thresholds that were replaced; None: the proposed one stands."""

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
    release: Release  # who gets it: anybody, researchers who signed a contract, or colleagues
    # whether somebody who looks for a person knows that the person is in the table
    # (``prosecutor``), or has to reckon with the whole population (``journalist``)
    attacker: Attacker = "prosecutor"
    # how many quasi-identifiers of a person somebody knows at most
    known: Annotated[StrictInt, Field(ge=1)] | None = None
    thresholds: Thresholds = Thresholds()  # those that were replaced

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
            raise PlanError('This is no context of kanon: it lacks "context": 1.')
        found = validate(cls, content, "context")
        for name in _ALLOWED:
            own = getattr(found.thresholds, name)
            if own is not None and own.wanted is not None:
                check_wanted(name, own.wanted, f"Context key thresholds.{name}.wanted")
        return found

    @classmethod
    def load(cls, path: Path) -> Context:
        return cls.from_content(load_json(path, "The context"))

    def to_json(self) -> str:
        """The context as JSON; of the thresholds only those that were replaced."""
        return write_json(self.content)

    @property
    def content(self) -> dict[str, Any]:
        found = self.model_dump(mode="json")
        chosen = {name: own for name, own in found.pop("thresholds").items() if own is not None}
        return {**found, "thresholds": chosen}


def check_wanted(name: str, wanted: float, called: str) -> None:
    """Check what is asked for in a threshold.

    >>> check_wanted("k", 0, "k")
    Traceback (most recent call last):
    kanon.errors.PlanError: k has to be a whole number of at least 2 and at most 100..., not 0.
    """
    _ALLOWED[name].check(called, _whole(float(wanted)))


def _whole(number: float) -> float | int:
    """A whole number as one: JSON does not tell 5.0 from 5, but k does. 1e308 stays as short."""
    return int(number) if number.is_integer() and abs(number) <= _MOST else number


_TOLERANCE = 1e-12  # levels this much apart, relatively, count as equal, as in the release check


@dataclass(frozen=True)
class Threshold:
    """What is asked for, how much, and who says so."""

    card: Card  # what is asked for
    wanted: float | None  # how much, in the unit of the card
    source: str  # the document, or that there is none
    own: bool = False  # whether somebody put it in place of the one that is proposed

    def met(self, reached: float) -> bool:
        """Whether a release that reached so much has enough; levels that rounding parts are equal.

        >>> asked = thresholds(Context(release="research"))
        >>> asked["k"].met(5), asked["t"].met(0.5)
        (True, False)
        """
        if self.wanted is None:
            return True
        if self.card.direction == "higher":
            return reached >= self.wanted * (1 - _TOLERANCE)
        return reached <= self.wanted * (1 + _TOLERANCE) + 1e-12


def thresholds(context: Context) -> dict[str, Threshold]:
    """What is asked of a release in a context, in the order of :data:`ASKED`.

    >>> for name, asked in thresholds(Context(release="internal")).items():
    ...     print(name, asked.wanted)
    k 3
    highest_risk 3
    mean_risk 5
    l None
    t None
    """
    found = {}
    for name, card in ASKED.items():
        wanted, source = _PROPOSED[context.release][name]
        if name == "k" and context.attacker == "journalist":
            wanted, source = None, _POPULATION
        own: ChosenThreshold | None = getattr(context.thresholds, name)
        if own is not None:
            source = f"Set by hand: {own.source}" if own.source else NO_SOURCE
            wanted = None if own.wanted is None else _whole(own.wanted)
        found[name] = Threshold(card, wanted, source, own is not None)
    return found


def with_own(context: Context, name: str, own: ChosenThreshold | None) -> Context:
    """The context with a threshold of one's own; None brings back the one that is proposed.

    >>> chosen = ChosenThreshold(wanted=7, source="Our ethics board")
    >>> thresholds(with_own(Context(release="research"), "k", chosen))["k"].source
    'Set by hand: Our ethics board'
    """
    content = context.content
    content["thresholds"][name] = None if own is None else own.model_dump()
    return Context.from_content(content)


def least_k(context: Context) -> int:
    """The k of a release that meets what is asked of k and of who is easiest to find; at least 2.

    In a class of k records nobody is found more often than once in k times, whoever is looking.

    >>> least_k(Context(release="public", attacker="journalist"))
    11
    """
    asked = thresholds(context)
    wanted = (asked[name].wanted or 0 for name in ("k", "highest_risk"))
    return max(2, *(math.ceil(each * (1 - _TOLERANCE)) for each in wanted))


def models_wanted(context: Context, column: str) -> tuple[SensitiveModel, ...]:
    """What a context asks for of a sensitive column, as models that an algorithm can meet.

    >>> for model in models_wanted(Context(release="research"), "ill"):
    ...     print(model.sentence)
    Entropy l-diversity with l = 2 for 'ill'
    t-closeness with t = 0.4 (total variation) for 'ill'
    """
    asked = thresholds(context)
    found: list[SensitiveModel] = []
    if asked["l"].wanted is not None:
        found.append(EntropyLDiversity(l=asked["l"].wanted, column=column))
    if asked["t"].wanted is not None:
        found.append(TCloseness(t=asked["t"].wanted, column=column, distance="variational"))
    return tuple(found)
