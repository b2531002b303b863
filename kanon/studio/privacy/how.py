"""How the numbers of the page Privacy are computed, with one class's figures filled in."""

from collections.abc import Sequence

import numpy as np

from kanon.base.formatting import thin, write_decimals
from kanon.base.how_texts import Sections
from kanon.classes import EquivalenceClasses
from kanon.privacy import alpha_k_anonymity, entropy_l_diversity, reidentification, t_closeness
from kanon.privacy.model import rounded
from kanon.privacy.reidentification import prosecutor
from kanon.studio.privacy.attacker import facts
from kanon.studio.session.text import plain, shortened

_how = Sections(__file__)


def how_class(released: EquivalenceClasses, column: str, position: int, most: int = 4) -> str:
    """l, t and the surest guess of one class, with at most ``most`` terms written out."""
    sensitive = released.sensitive_named(column)
    one = sensitive.only(np.array([position]))
    counts, size, n = one.dense()[0], int(one.sizes[0]), int(sensitive.total.sum())
    shares, overall = counts / size, sensitive.total / n
    there = [int(place) for place in np.argsort(-counts, kind="stable") if counts[place]]
    mixed = sorted(one.folded.count.tolist(), reverse=True)
    entropy = " + ".join(
        f"{thin(count)}/{thin(size)} · ln {thin(count)}/{thin(size)}" for count in mixed[:most]
    ) + (" + …" if len(mixed) > most else "")
    gaps = np.argsort(-np.abs(shares - overall), kind="stable")
    gaps = gaps[np.abs(shares - overall)[gaps] > 0]
    differences = " + ".join(
        f"|{shares[place]:.3f} − {overall[place]:.3f}|" for place in gaps[:most]
    ) + (" + …" if len(gaps) > most else "")
    named = ", ".join(
        f"{plain(shortened(sensitive.values[place], 24))} {thin(int(counts[place]))}"
        for place in there[:most]
    ) + (", …" if len(there) > most else "")
    l_level, t_level = (
        float(entropy_l_diversity.each(one)[0]),
        float(t_closeness.each(one, "variational")[0]),
    )
    l_text, t_text = write_decimals(l_level, 4), write_decimals(t_level, 4)
    sources = "; ".join(
        module.CARD.source for module in (entropy_l_diversity, t_closeness, alpha_k_anonymity)
    )
    return _how(
        "class",
        size=thin(size),
        values=named,
        records=thin(n),
        l_formula=f"exp(−Σ p ln p) = exp(−({plain(entropy or '0')})) = {l_text}",
        l=rounded(l_level, up=False),
        t_formula=f"½ · Σ |p − q| = ½ · ({plain(differences or '0')}) = {t_text}",
        t=rounded(t_level, up=True),
        share=f"{thin(mixed[0])}/{thin(size)}",
        sources=plain(sources),
    )


def how_found(released: EquivalenceClasses, threshold: float) -> str:
    risk = prosecutor(released, threshold)
    if risk is None:
        return ""
    smallest, n = int(released.hiding.min()), released.n_records
    mean, persons = write_decimals(risk.mean, 4), ""
    if released.persons is None:
        mean = f"classes / records = {thin(released.n_classes)}/{thin(n)} = {mean}"
    else:
        mean = f"Σ records / persons of the classes, over {thin(n)} records, = {mean}"
        persons = (
            " The size of a class is the number of its persons here: records of one person hide "
            "nobody."
        )
    return _how(
        "found",
        highest=f"1/{thin(smallest)} = {write_decimals(risk.highest, 4)}",
        mean=mean,
        persons=persons,
        source=plain(_source(reidentification.__doc__ or "")),
    )


def _source(described: str) -> str:
    return " ".join(described.partition(".. [1]")[2].split()).rstrip(".")


def how_attacked(person: dict[str, str], known: Sequence[str]) -> str:
    listed = ", ".join(
        f"{plain(name)} = {plain(shortened(value))}" for name, value in facts(person, known).items()
    )
    return _how("attacked", facts=listed or "nothing")
