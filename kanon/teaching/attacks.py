"""Six attacks on a small release that is k-anonymous and still gives something away."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kanon.base.formatting import count_noun, join_words, write_percent
from kanon.cards import Card
from kanon.errors import PlanError, quote
from kanon.teaching.case import Case, Shares, list_texts
from kanon.teaching.lesson import write_apart
from kanon.teaching.prevention import DEDUCTIONS, LARGEST_T, Prevention, find_prevention

ATTACKS: Mapping[str, Card] = {
    card.name: card
    for card in (
        Card(
            "linkage", "Linkage",
            "A column that was released unchanged is also in a public register, with names.",
            "Sweeney 2002, k-anonymity: a model for protecting privacy",
        ),
        Card(
            "homogeneity", "Homogeneity",
            "All matching records have the same value, so it does not matter which one is right.",
            "Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam 2007, section 2",
        ),
        Card(
            "skewness", "Skewness",
            "One value is far more frequent among the matching records than in the whole table.",
            "Li, Li, Venkatasubramanian 2007, section 3",
        ),
        Card(
            "background", "Background knowledge",
            "The attacker can rule out a value, which leaves only a few or just one.",
            "Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam 2007, section 2",
        ),
        Card(
            "minimality", "Minimality",
            "Values are raised only as far as needed. If k-anonymity alone needed less than "
            "this, another model must have required the rest.",
            "Wong, Fu, Wang, Pei 2007",
        ),
        Card(
            "downcoding", "Downcoding",
            "Values are raised only as far as needed, which rules out other people.",
            "Cohen 2022, Attacks on deidentification's defenses",
        ),
    )
}  # fmt: skip
"""The attacks, in the order in which they are explained."""

REGISTER_ATTACKS = ("linkage", "downcoding")  # attacks on people of a public register


@dataclass(frozen=True)
class Target:
    name: str  # what the register or the table calls the person
    known: Mapping[str, str]  # what is public about the person, by column


@dataclass(frozen=True, eq=False)
class AttackResult:
    card: Card  # which attack
    case: Case  # the table, its release and the register
    known: Mapping[str, str]  # what the attacker knows of the person, by column
    ruled_out: tuple[str, ...]

    @cached_property
    def people(self) -> tuple[int, ...]:
        """The positions in the register of the people who match what is known."""
        register = self.case.register
        fitting = np.ones(len(register), dtype=bool)
        for name, value in self.known.items():
            if name in register.columns:
                fitting &= np.array(list_texts(register[name])) == value
        return tuple(np.flatnonzero(fitting).tolist())

    @cached_property
    def fits(self) -> tuple[int, ...]:
        """The positions of the released records that match what is known."""
        return self.case.fits(self.known)

    @cached_property
    def left(self) -> tuple[int, ...]:
        """Those of them that have none of the values that are ruled out."""
        column = list_texts(self.case.released[self.case.sensitive])
        return tuple(place for place in self.fits if column[place] not in self.ruled_out)

    @cached_property
    def chances(self) -> tuple[Shares, Shares]:
        """How often each value occurs in the whole release, and among the records left."""
        if self.card.name in DEDUCTIONS:
            return DEDUCTIONS[self.card.name](self.case, self.known)
        return self.case.shares(), self.case.shares(self.left)

    @property
    def before(self) -> Shares:
        return self.chances[0]

    @property
    def after(self) -> Shares:
        return self.chances[1]

    @cached_property
    def conclusion(self) -> tuple[bool, str]:
        return _draw_conclusion(self)

    @property
    def told(self) -> bool:
        """Whether the attack succeeds."""
        return self.conclusion[0]

    @property
    def finding(self) -> str:
        """What the attacker learns, in a sentence."""
        return self.conclusion[1]

    @cached_property
    def prevention(self) -> Prevention:
        """The model that would have prevented it."""
        return find_prevention(self.card.name, self.case, len(self.ruled_out))


def run_attack(
    kind: str,
    case: Case,
    known: Mapping[str, str] | None = None,
    ruled_out: Sequence[str] | None = None,
) -> AttackResult:
    """Attack a person, or the one about whom the attack reveals most; the first of equals."""
    if kind not in ATTACKS:
        raise PlanError(f"The attack {quote(kind)} is unknown; choose from {', '.join(ATTACKS)}.")
    unknown_values = [value for value in ruled_out or () if value not in case.values]
    if unknown_values:
        raise PlanError(
            f"Only values that occur in the column {quote(case.sensitive)} can be ruled out."
        )
    targets = [target.known for target in list_targets(kind, case)] if known is None else [known]
    results = []
    for facts in targets:
        values = ruled_out
        if values is None:
            values = _choose_ruled_out(case, case.fits(facts)) if kind == "background" else ()
        results.append(AttackResult(ATTACKS[kind], case, dict(facts), tuple(values)))
    return max(results, key=_rank_result)


def _rank_result(result: AttackResult) -> tuple[bool, float]:
    gain = _get_largest_share(result.after) - _get_largest_share(result.before)
    return result.told, gain


def list_targets(kind: str, case: Case) -> tuple[Target, ...]:
    people, columns = case.table, case.recoding.classes.attributes
    if kind in REGISTER_ATTACKS:
        people, columns = case.register, case.linkable_columns
    columns = tuple(name for name in columns if name in people.columns)
    texts = [list_texts(people[name]) for name in columns]
    public_values = [dict(zip(columns, facts, strict=True)) for facts in zip(*texts, strict=True)]
    name_columns = [name for name in case.names if name in people.columns]
    names = [f"person {number}" for number in range(1, len(people) + 1)]
    if name_columns:
        names = list(
            map(" ".join, zip(*(list_texts(people[name]) for name in name_columns), strict=True))
        )
    return tuple(Target(name, values) for name, values in zip(names, public_values, strict=True))


def _choose_ruled_out(case: Case, fits: Sequence[int]) -> tuple[str, ...]:
    shares = case.shares(fits)
    if len(shares) < 2:
        return ()
    rest = {
        value: max(share for other, share in shares if other != value) / (1 - removed_share)
        for value, removed_share in shares
    }
    return (max(rest, key=lambda value: rest[value]),)


def _measure_distance_from_table(case: Case, positions: Sequence[int]) -> float:
    """The total variation between the shares among some records and in the whole release."""
    among = dict(case.shares(positions))
    return sum(abs(among.get(value, 0.0) - share) for value, share in case.shares()) / 2


def _get_largest_share(shares: Shares) -> float:
    return max((share for _, share in shares), default=0.0)


# What it finds


def _draw_conclusion(scene: AttackResult) -> tuple[bool, str]:
    start = f"The release is {scene.case.k}-anonymous"
    if not scene.fits:
        return False, f"{start}, and no record matches what the attacker knows."
    matching = (
        f"{count_noun(len(scene.fits), 'record')} {'matches' if len(scene.fits) == 1 else 'match'}"
    )
    if not scene.left:
        return (
            False,
            f"{start}; {matching}, but all are ruled out: the attacker is wrong about something.",
        )
    succeeded, what_follows = _EXPLANATIONS[scene.card.name](scene)
    start += ", yet the attack succeeds" if succeeded else ""
    return succeeded, f"{start}: {matching}, and {what_follows}."


def _describe_guess(scene: AttackResult) -> str:
    usual_share, best = dict(scene.before), _list_likeliest_values(scene)
    have = join_words([write_percent(100 * usual_share[value]) for value in best])
    return f"{join_words([f'“{value}”' for value in best])}, which {have} of all records have"


def _list_likeliest_values(scene: AttackResult) -> list[str]:
    sure = _get_largest_share(scene.after)
    return [value for value, share in scene.after if share == sure]


def _describe_sureness(scene: AttackResult) -> str:
    sure = _get_largest_share(scene.after)
    of_which = "of each of" if len(_list_likeliest_values(scene)) > 1 else "of"
    sureness = "certain" if sure == 1 else f"{write_percent(100 * sure)} sure"
    return f"{sureness} {of_which} {_describe_guess(scene)}"


def _explain_linkage(scene: AttackResult) -> tuple[bool, str]:
    case = scene.case
    if len(scene.people) != 1:
        who = f"{count_noun(len(scene.people), 'person', 'people')} in the register match"
        who = who if scene.people else "nobody in the register matches"
        return False, f"{who}, so the attacker learns no name"
    (person,) = scene.people
    name = " ".join(str(case.register[column].iloc[person]) for column in case.names)
    if len(scene.fits) > 1:
        return False, f"{name} in the register could be any of these {len(scene.fits)} records"
    fits_of_people = enumerate(_list_fits_of_people(case))
    could_be = [place for place, fits in fits_of_people if scene.fits[0] in fits]
    if could_be != [person]:
        candidates = count_noun(len(could_be), "person", "people")
        return False, f"{candidates} in the register could be behind it"
    return True, f"only {name} in the register fits it: the value is {_describe_guess(scene)}"


def _list_fits_of_people(case: Case) -> list[tuple[int, ...]]:
    return [case.fits(target.known) for target in list_targets("linkage", case)]


def _explain_homogeneity(scene: AttackResult) -> tuple[bool, str]:
    if len(scene.after) > 1:
        occur = f"they have {count_noun(len(scene.after), 'different value')}"
        return False, f"{occur}: the attacker is {_describe_sureness(scene)}"
    alike = "it has" if len(scene.left) == 1 else "all have"
    return (
        True,
        f"{alike} {_describe_guess(scene)}: the attacker is certain, whichever record it is",
    )


def _explain_skewness(scene: AttackResult) -> tuple[bool, str]:
    t, usual_share = _measure_distance_from_table(scene.case, scene.left), dict(scene.before)
    rises = {value: share - usual_share[value] for value, share in scene.after}
    most = max(rises.values())
    rises_in_words = [
        f"“{value}” rises from {write_percent(100 * usual_share[value])} of all records to "
        f"{write_percent(100 * share)} of the matching ones"
        for value, share in scene.after
        if most > 0 and math.isclose(rises[value], most)
    ]
    rise = join_words(rises_in_words) if rises_in_words else "no value is more frequent among them"
    far = f"their mix of values differs from the table's by t = {write_apart([t, LARGEST_T])[0]}"
    return t > LARGEST_T, f"{rise}: {far}"


def _explain_background(scene: AttackResult) -> tuple[bool, str]:
    if not scene.ruled_out:
        return _explain_homogeneity(scene)
    out = join_words([f"“{value}”" for value in scene.ruled_out])
    before = write_percent(100 * _get_largest_share(scene.case.shares(scene.fits)))
    number = len(scene.left)
    return len(scene.after) == 1, (
        f"{count_noun(number, 'remains', 'remain')} without {out}: the attacker was "
        f"at most {before} sure of any value before, and is now {_describe_sureness(scene)}"
    )


def _explain_minimality(scene: AttackResult) -> tuple[bool, str]:
    before, after = (
        write_percent(100 * _get_largest_share(shares)) for shares in (scene.before, scene.after)
    )
    if _get_largest_share(scene.after) <= _get_largest_share(scene.before) + 1e-9:
        return False, "the size of their class reveals nothing more"
    best = join_words([f"“{value}”" for value in _list_likeliest_values(scene)])
    return True, (
        "k would have allowed smaller classes, so one of them cannot have met Distinct "
        f"l-diversity with l = 2: the attacker was at most {before} sure of any value before, "
        f"and is now {after} sure of {best}"
    )


def _explain_downcoding(scene: AttackResult) -> tuple[bool, str]:
    before = dict(scene.before)
    sure = [name for name, share in scene.after if share == 1 > before[name]]
    if not sure:
        return False, "how far their values were raised reveals nothing more"
    return True, (
        f"{count_noun(len(before), 'person', 'people')} in the register could be behind them, but "
        f"without {join_words(sure)} the records would have been released with finer values. So "
        f"these records hide the exact values of {join_words(sure)}, which are in the register"
    )


_EXPLANATIONS: Mapping[str, Callable[[AttackResult], tuple[bool, str]]] = {
    "linkage": _explain_linkage,
    "homogeneity": _explain_homogeneity,
    "skewness": _explain_skewness,
    "background": _explain_background,
    "minimality": _explain_minimality,
    "downcoding": _explain_downcoding,
}
