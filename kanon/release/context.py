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
from kanon.base.data_files import read_data
from kanon.cards import Card
from kanon.errors import PlanError
from kanon.privacy.entropy_l_diversity import EntropyLDiversity
from kanon.privacy.model import SensitiveModel
from kanon.privacy.t_closeness import TCloseness
from kanon.release.attack_probability import Controls, Invasion, propose_by_invasion
from kanon.release.threshold_cards import HIGHEST, THRESHOLD_CARDS, THRESHOLD_RANGES

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

_POPULATION = (
    "No k is required: everyone in the population who fits the description hides a person (El "
    "Emam, Dankar 2008, JAMIA 15(5)). The risk of being found counts instead"
)
_NOTHING = "Nothing is proposed: no document sets a number"

UNNAMED_SOURCE = "Set by hand; no source was named"
"""The source of a threshold that was replaced without a reason."""

_PROPOSED: Mapping[str, Mapping[str, tuple[float | None, str]]] = {
    release: {name: (entry.get("wanted"), entry["source"]) for name, entry in proposed.items()}
    for release, proposed in read_data(__file__).items()
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
    singling_out: ChosenThreshold | None = None
    linkability: ChosenThreshold | None = None
    inference: ChosenThreshold | None = None
    alteration: ChosenThreshold | None = None
    correlation: ChosenThreshold | None = None
    query_error: ChosenThreshold | None = None
    classifier: ChosenThreshold | None = None


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
    # how much it would hurt a person to be recognised; None: not assessed
    invasion: Invasion | None = None
    controls: Controls | None = None  # of recipients other than the public
    thresholds: Thresholds = Thresholds()  # the replaced ones

    @classmethod
    def from_json(cls, text: str | bytes, what: str = "The context") -> Context:
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
        if context.controls is not None and context.invasion is None:
            raise PlanError(
                "The context has the key controls, which counts only with the key invasion; set "
                "invasion to low, medium or high."
            )
        for name in THRESHOLD_CARDS:
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
        absent = [name for name in ("invasion", "controls") if fields[name] is None]
        return {key: fields[key] for key in fields if key not in absent} | {"thresholds": chosen}


def check_threshold_number(name: str, wanted: float, called: str) -> None:
    THRESHOLD_RANGES[name].check(called, _convert_whole(float(wanted)))


def _convert_whole(number: float) -> float | int:
    """5.0 as 5, which JSON does not tell apart; 1e308 stays as it is."""
    return int(number) if number.is_integer() and abs(number) <= HIGHEST else number


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
    proposed = dict(_PROPOSED[context.release])
    if context.invasion is not None:
        controls = None if context.release == "public" else context.controls or Controls()
        proposed |= propose_by_invasion(context.invasion, controls)
    threshold_of_name = {}
    for name, card in THRESHOLD_CARDS.items():
        wanted, source = proposed.get(name, (None, _NOTHING))
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


def list_recipient_contexts(context: Context) -> dict[Release, Context]:
    """The context for each kind of recipients; what was set by hand stays with its own alone."""
    return {
        release: context
        if release == context.release
        else context.model_copy(update={"release": release, "thresholds": Thresholds()})
        for release in AUDIENCES
    }


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
