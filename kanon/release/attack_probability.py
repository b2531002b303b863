"""How likely an attack is, by who gets a release, and the risk that is left for its success.

The rule of the Information and Privacy Commissioner of Ontario: P(attack) × P(success) is at most a
threshold, which depends on how much it would hurt a person to be recognised.

>>> compute_attack_probability(Controls(contract=True, access=True, training=True))
0.05
>>> propose_by_invasion("high", Controls(contract=True, training=True))["mean_risk"][0]
4.0
"""

import math
from collections.abc import Mapping
from typing import Literal

from pydantic import StrictBool

from kanon.base.checked_json import Strict

Invasion = Literal["low", "medium", "high"]

INVASIONS: Mapping[Invasion, str] = {"low": "Little", "medium": "Some", "high": "Much"}
"""How much it would hurt a person to be recognised."""

CONTROLS: Mapping[str, str] = {
    "contract": "Does a contract forbid looking for people?",
    "access": "Can only named people reach the release, on systems that you or they audit?",
    "training": "Are these people trained, and do they have no reason to look for someone?",
}
"""The questions about the people who get a release, by the names of :class:`Controls`."""

IPC_2025 = (
    "Information and Privacy Commissioner of Ontario, De-Identification Guidelines for Structured "
    "Data (October 2025)"
)
_IPC_2016 = "De-identification Guidelines for Structured Data (June 2016)"

_STRICT_MEAN = (
    f"{_IPC_2016}, step 4: where the mean risk counts, no record above 0.33, which is 1 in 3"
)

# By invasion the threshold, and its "1 in": 0.09 is 1 in 11 in the documents.
_THRESHOLDS: Mapping[Invasion, tuple[float, float]] = {
    "low": (0.09, 11),
    "medium": (0.075, 1 / 0.075),
    "high": (0.05, 20),
}

# By controls and by motives and capacity. Between these the document has a number for medium
# motives, which a question with two answers cannot tell from high ones.
_PROBABILITIES = {
    ("high", "low"): 0.05,
    ("high", "high"): 0.2,
    ("medium", "low"): 0.2,
    ("medium", "high"): 0.4,
    ("low", "low"): 0.4,
    ("low", "high"): 0.6,
}


class Controls(Strict):
    """What keeps the people who get a release from an attack; False: no, or not known."""

    contract: StrictBool = False
    access: StrictBool = False
    training: StrictBool = False

    @property
    def levels(self) -> tuple[str, str]:
        """The controls, by the first two answers, and motives and capacity, by the third."""
        controls = ("low", "medium", "high")[self.contract + self.access]
        return controls, "low" if self.training else "high"


def compute_attack_probability(controls: Controls | None) -> float:
    """P(attack) of these recipients; of the public, which has no controls, 1.

    Source: Information and Privacy Commissioner of Ontario 2016, step 5, after El Emam 2013, p. 208
    """
    return 1.0 if controls is None else _PROBABILITIES[controls.levels]


def propose_by_invasion(
    invasion: Invasion, controls: Controls | None
) -> dict[str, tuple[float | None, str]]:
    """The proposed thresholds of both risks and of linkability, with their sources.

    P(success) is the highest risk for the public (None), and the mean risk for others.
    """
    threshold, tries = _THRESHOLDS[invasion]
    probability = compute_attack_probability(controls)
    most = (
        f"{IPC_2025}: P(attack) × P(success) at most {threshold:g}, which is 1 in "
        f"{_round_up(tries):g}, for a {invasion} invasion of privacy"
    )
    wanted = _round_up(probability * tries)
    product = f"{probability:g} × {_round_up(tries):g} = {wanted:g} tries"
    limit = math.floor(10_000 * threshold / probability + 1e-9) / 100
    proposals: dict[str, tuple[float | None, str]] = {}
    if controls is None:
        reason = "P(attack) is 1 for the public"
        highest = f"{most}. {reason}, and P(success) is the highest risk: {product}"
        proposals["highest_risk"] = wanted, highest
        proposals["mean_risk"] = None, "Nothing is proposed: the highest risk counts instead"
    else:
        reason = (
            "P(attack) is {:g} (controls {}, motives and capacity {}: {}, step 5). Not counted: "
            "that someone is recognised by chance, or that the data are stolen"
        ).format(probability, *controls.levels, _IPC_2016)
        proposals["highest_risk"] = 3, _STRICT_MEAN
        proposals["mean_risk"] = None, f"Nothing is required: {most}. {reason}"
        if wanted > 1:
            mean = f"{most}. {reason}. P(success) is the mean risk: {product}"
            proposals["mean_risk"] = wanted, mean
    source = f"{most}. {reason}. Taking linkability as P(success) is kanon's choice"
    proposals["linkability"] = None, f"Nothing is required: {source}"
    if limit < 100:
        proposals["linkability"] = limit, f"{source}: {probability:g} × {limit:g} %"
    return proposals


def _round_up(tries: float) -> float:
    return math.ceil(100 * tries - 1e-9) / 100
