"""Six attacks played out on a small release: it is k-anonymous and still tells."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kanon.base.formatting import counted, percent
from kanon.base.rounding import write_decimals
from kanon.cards import Card
from kanon.errors import PlanError, quoted
from kanon.teaching.case import Case, Shares, texts_of
from kanon.teaching.lesson import enumerated
from kanon.teaching.prevention import DEDUCTIONS, LARGEST_T, Prevention, prevention_of

ATTACKS: Mapping[str, Card] = {
    card.name: card
    for card in (
        Card(
            "linkage", "Linkage",
            "A column that was left as it is stands in a public register too, with names.",
            "Sweeney 2002, k-anonymity: a model for protecting privacy",
        ),
        Card(
            "homogeneity", "Homogeneity",
            "All records that fit say the same, so it does not matter which one it is.",
            "Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam 2007, section 2",
        ),
        Card(
            "skewness", "Skewness",
            "Among the records that fit a value is far more frequent than in the whole table.",
            "Li, Li, Venkatasubramanian 2007, section 3",
        ),
        Card(
            "background", "Background knowledge",
            "The attacker can rule out a value, and the rest tells.",
            "Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam 2007, section 2",
        ),
        Card(
            "minimality", "Minimality",
            "Nothing was raised further than needed, and k needed less: some other model did.",
            "Wong, Fu, Wang, Pei 2007",
        ),
        Card(
            "downcoding", "Downcoding",
            "Nothing was raised further than needed, so the records cannot have been any others.",
            "Cohen 2022, Attacks on deidentification's defenses",
        ),
    )
}  # fmt: skip
"""The attacks, in the order in which they are told."""

BY_REGISTER = ("linkage", "downcoding")  # those on people of a public register


@dataclass(frozen=True)
class Target:
    name: str  # what the register or the table calls the person
    known: Mapping[str, str]  # what is public about the person, by column


@dataclass(frozen=True, eq=False)
class Scene:
    card: Card  # which attack
    case: Case  # the table, its release and the register
    known: Mapping[str, str]  # what the attacker knows of the person, by column
    # the sensitive values that the attacker knows the person does not have
    ruled_out: tuple[str, ...]
    people: tuple[int, ...]  # the positions in the register of those who fit what is known
    fits: tuple[int, ...]  # the positions of the released records that fit it
    left: tuple[int, ...]  # those of them that have none of the values that are ruled out
    # how often each sensitive value occurs in the whole release, and among the records that are
    # left: what anybody knows, and what the attacker knows
    before: Shares
    after: Shares
    told: bool  # whether the attack tells what it is after
    finding: str  # what the attacker learns, in a sentence
    prevention: Prevention  # the model that would have prevented it


def attack(
    kind: str,
    case: Case,
    known: Mapping[str, str] | None = None,
    ruled_out: Sequence[str] | None = None,
) -> Scene:
    if kind not in ATTACKS:
        raise PlanError(f"The attack {quoted(kind)} is unknown; known are {', '.join(ATTACKS)}.")
    strange = [value for value in ruled_out or () if value not in case.values]
    if strange:
        raise PlanError(
            f"A value that is ruled out has to occur in the column {quoted(case.sensitive)}."
        )
    if known is None:
        known = _most_telling(kind, case, tuple(ruled_out or ()))
    fits = case.fits(known)
    if ruled_out is None:
        ruled_out = _best_ruled_out(case, fits) if kind == "background" else ()
    column = texts_of(case.released[case.sensitive])
    left = tuple(place for place in fits if column[place] not in ruled_out)
    before, after = case.shares(), case.shares(left)
    if kind in DEDUCTIONS:
        before, after = DEDUCTIONS[kind](case, known)
    scene = Scene(
        card=ATTACKS[kind],
        case=case,
        known=dict(known),
        ruled_out=tuple(ruled_out),
        people=_people(case, known),
        fits=fits,
        left=left,
        before=before,
        after=after,
        told=False,
        finding="",
        prevention=prevention_of(kind, case, len(ruled_out)),
    )
    told, finding = _found(scene)
    return replace(scene, told=told, finding=finding)


# Whom to attack


def targets(kind: str, case: Case) -> tuple[Target, ...]:
    """Who can be attacked, with what is public about each, in their order."""
    people, columns = case.table, case.recoding.classes.attributes
    if kind in BY_REGISTER:
        people, columns = case.register, case.linkable
    columns = tuple(name for name in columns if name in people.columns)
    texts = [texts_of(people[name]) for name in columns]
    found = [dict(zip(columns, facts, strict=True)) for facts in zip(*texts, strict=True)]
    said = [name for name in case.names if name in people.columns]
    names = [f"person {number}" for number in range(1, len(people) + 1)]
    if said:
        names = list(map(" ".join, zip(*(texts_of(people[name]) for name in said), strict=True)))
    return tuple(Target(name, known) for name, known in zip(names, found, strict=True))


def _most_telling(kind: str, case: Case, ruled_out: tuple[str, ...]) -> Mapping[str, str]:
    """What is public about the person whom the attack tells most about; the first among equals."""
    candidates = [target.known for target in targets(kind, case)]
    fitting = [case.fits(known) for known in candidates]

    def telling(place: int) -> tuple[float, ...]:
        fits = fitting[place]
        if kind in DEDUCTIONS:
            before, after = DEDUCTIONS[kind](case, candidates[place])
            return _surest(after) - _surest(before), _surest(after)
        if kind != "linkage" or not fits:
            return _telling(kind, case, fits, ruled_out)
        people = _people(case, candidates[place])
        could_be = [other for other in fitting if fits[0] in other]
        return (1 / len(fits), 1 / len(people), 1 / len(could_be))

    return candidates[max(range(len(candidates)), key=telling)]


def _telling(
    kind: str, case: Case, fits: tuple[int, ...], ruled_out: tuple[str, ...]
) -> tuple[float, ...]:
    """How much an attack on values tells about a person whom some records fit; more is larger."""
    if not fits:
        return (-1.0,)
    if kind == "skewness":
        return (_distance(case, fits),)
    sure = _surest(case.shares(fits))
    if kind == "homogeneity":
        return (sure, float(len(fits)))
    column = texts_of(case.released[case.sensitive])
    out = ruled_out or _best_ruled_out(case, fits)
    left = [place for place in fits if column[place] not in out]
    return (_surest(case.shares(left)) - sure if left else -1.0, float(len(fits)))


def _best_ruled_out(case: Case, fits: Sequence[int]) -> tuple[str, ...]:
    """The value whose absence makes the best guess surest; none if only one value fits."""
    shares = case.shares(fits)
    if len(shares) < 2:
        return ()
    rest = {
        value: max(share for other, share in shares if other != value) / (1 - lost)
        for value, lost in shares
    }
    return (max(rest, key=lambda value: rest[value]),)


def _people(case: Case, known: Mapping[str, str]) -> tuple[int, ...]:
    """Who in the register fits what is known, by the columns that it has."""
    fitting = np.ones(len(case.register), dtype=bool)
    for name, value in known.items():
        if name in case.register.columns:
            fitting &= np.array(texts_of(case.register[name])) == value
    return tuple(np.flatnonzero(fitting).tolist())


def _distance(case: Case, positions: Sequence[int]) -> float:
    """The total variation between the shares among some records and in the whole release."""
    among = dict(case.shares(positions))
    return sum(abs(among.get(value, 0.0) - share) for value, share in case.shares()) / 2


def _surest(shares: Shares) -> float:
    return max((share for _, share in shares), default=0.0)


# What it finds


def _found(scene: Scene) -> tuple[bool, str]:
    start = f"The release is {scene.case.k}-anonymous"
    if not scene.fits:
        return False, f"{start}, and no record fits what the attacker knows: it tells nothing."
    fit = f"{counted(len(scene.fits), 'record')} {'fits' if len(scene.fits) == 1 else 'fit'}"
    if not scene.left:
        return False, f"{start}; {fit}, and all are ruled out: something that is known is wrong."
    told, what = _FOUND[scene.card.name](scene)
    return told, f"{start}{' and still tells' if told else ''}: {fit}, and {what}."


def _guess(scene: Scene) -> str:
    """The best guess, with how frequent it is in the whole release; of equally likely ones, all."""
    usual, best = dict(scene.before), _likeliest(scene)
    have = enumerated([percent(100 * usual[value]) for value in best])
    return f"{enumerated([f'“{value}”' for value in best])}, which {have} of all records have"


def _likeliest(scene: Scene) -> list[str]:
    sure = _surest(scene.after)
    return [value for value, share in scene.after if share == sure]


def _sure(scene: Scene) -> str:
    sure = _surest(scene.after)
    of = "of each of" if len(_likeliest(scene)) > 1 else "of"
    return f"{'certain' if sure == 1 else f'{percent(100 * sure)} sure'} {of} {_guess(scene)}"


def _found_linkage(scene: Scene) -> tuple[bool, str]:
    """Whether one person of the register, and nobody else, is linked with one record."""
    case = scene.case
    if len(scene.people) != 1:
        who = f"{counted(len(scene.people), 'person')} of the register fit"
        who = who if scene.people else "nobody of the register fits"
        return False, f"{who} that, so no name is told"
    (person,) = scene.people
    name = " ".join(str(case.register[column].iloc[person]) for column in case.names)
    if len(scene.fits) > 1:
        return False, f"{name} of the register fits that, so it is one of {len(scene.fits)} records"
    people = enumerate(targets("linkage", case))
    could_be = [place for place, one in people if scene.fits[0] in case.fits(one.known)]
    if could_be != [person]:
        return False, f"{counted(len(could_be), 'person')} of the register can be meant by it"
    return True, f"only {name} of the register can be meant, who has {_guess(scene)}"


def _found_homogeneity(scene: Scene) -> tuple[bool, str]:
    """Whether all records say the same."""
    if len(scene.after) > 1:
        occur = f"{counted(len(scene.after), 'value')} occur there"
        return False, f"{occur}: the attacker is {_sure(scene)}"
    alike = "it says" if len(scene.left) == 1 else "all say"
    return True, f"{alike} {_guess(scene)}: the attacker is certain, whichever record it is"


def _found_skewness(scene: Scene) -> tuple[bool, str]:
    """Whether the shares are far from those of the whole table."""
    t, usual = _distance(scene.case, scene.left), dict(scene.before)
    rises = {value: share - usual[value] for value, share in scene.after}
    most = max(rises.values())
    rose = [
        f"“{value}” rises from {percent(100 * usual[value])} of all records to "
        f"{percent(100 * share)} of these"
        for value, share in scene.after
        if most > 0 and math.isclose(rises[value], most)
    ]
    said = enumerated(rose) if rose else "no value is more frequent there"
    far = f"the shares are t = {write_decimals(t, 2)} away from those of the table"
    return t > LARGEST_T, f"{said}: {far}"


def _found_background(scene: Scene) -> tuple[bool, str]:
    if not scene.ruled_out:
        return _found_homogeneity(scene)
    out = enumerated([f"“{value}”" for value in scene.ruled_out])
    before = percent(100 * _surest(scene.case.shares(scene.fits)))
    number = len(scene.left)
    return len(scene.after) == 1, (
        f"{counted(number, 'is', 'are')} left without {out}: the attacker is {_sure(scene)}, after "
        f"being at most {before} sure of any value"
    )


def _found_minimality(scene: Scene) -> tuple[bool, str]:
    """Whether a value is surer than in the class."""
    before, after = (percent(100 * _surest(shares)) for shares in (scene.before, scene.after))
    if _surest(scene.after) <= _surest(scene.before) + 1e-9:
        return False, "how large their class is tells no more"
    best = enumerated([f"“{value}”" for value in _likeliest(scene)])
    return True, (
        "k would have allowed smaller classes, so one of them must have broken Distinct "
        f"l-diversity with l = 2: the attacker is {after} sure of {best}, after being at most "
        f"{before} sure of any value"
    )


def _found_downcoding(scene: Scene) -> tuple[bool, str]:
    """Whether somebody of the register has to be in the class."""
    before = dict(scene.before)
    sure = [name for name, share in scene.after if share == 1 > before[name]]
    if not sure:
        return False, "how far their values were raised tells no more"
    return True, (
        f"{counted(len(before), 'person', 'persons')} of the register can be meant, but any choice "
        f"without {enumerated(sure)} would have been released with finer values: so their exact "
        "values, which the register has, are among these records"
    )


_FOUND: Mapping[str, Callable[[Scene], tuple[bool, str]]] = {
    "linkage": _found_linkage,
    "homogeneity": _found_homogeneity,
    "skewness": _found_skewness,
    "background": _found_background,
    "minimality": _found_minimality,
    "downcoding": _found_downcoding,
}
