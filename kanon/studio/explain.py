"""How the numbers of a page are computed, in words and with this table's figures."""

from __future__ import annotations

import inspect

from kanon.comparison import CRITERIA, TIE_SEEDS, Comparison
from kanon.metrics import multipliers
from kanon.run import Run, algorithm_named
from kanon.schema import Role, tells_apart
from kanon.studio.text import plain
from kanon.words import thin

__all__ = ["how_algorithm", "how_alteration", "how_compared", "what_leaves"]

_INTERMEDIATES = {
    "harmonic-levels": "the share of harmonic levels that it rose",
    "levels": "the share of levels that it rose",
    "leaves": "the number of values that it could now mean besides",
    "leaves-normalised": "the share of all values that it could now mean besides",
    "": "the weights drawn on the edges that it rose along",
}


def how_alteration(done: Run) -> str:
    """The alteration, with the numbers of this release filled in."""
    prepared = done.prepared
    metric = prepared.plan.metric
    trees, names = prepared.classes.hierarchies, prepared.classes.attributes
    factors = zip(names, trees, multipliers(metric, trees), strict=True)
    listed = "\n".join(
        f"| {plain(name)} | {tree.n_nodes} | {tree.n_leaves} | {tree.height} | {factor:.3f} |"
        for name, tree, factor in factors
    )
    return (
        "**Alteration** = 100 · cost of this release / cost of the table with every "
        "quasi-identifier at its root.\n\n"
        f"The cost is a sum over {thin(prepared.classes.n_records)} records and {len(names)} "
        f"quasi-identifiers. As {plain(metric.card.title)} counts, a cell that rose costs "
        f"{_INTERMEDIATES[metric.intermediate]}, times the multiplier of its column. This release "
        f"reaches {done.measures['alteration'][metric.name]:.4f} %.\n\n"
        "| column | nodes | values | height | multiplier |\n|---|---|---|---|---|\n"
        + listed
        + f"\n\nSource: {plain(metric.card.source)}."
    )


def how_algorithm(name: str) -> str:
    """How the release was found: the first part of the algorithm's own description."""
    module = algorithm_named(name)
    described = inspect.getdoc(getattr(module, "merge_path", module.anonymise)) or ""
    text = described.split("\n\nRaises", 1)[0].split("\n\n", 1)[-1]
    return f"**{module.CARD.title}.** {plain(text)}\n\nSource: {plain(module.CARD.source)}."


def how_compared(comparison: Comparison, seconds: float) -> str:
    """What the numbers of a comparison are, and what a difference means."""
    criteria = "\n".join(
        f"- **{card.title}** {card.arrow}: {card.summary}" for card in CRITERIA.values()
    )
    first = comparison.lines[0].configuration.tie_seed
    order = "the canonical order" if first is None else f"tie seed {first}"
    runs = (
        "**One run per metric serves every k**: greedy merging for a larger k passes through the "
        "release of every smaller one."
        if comparison.every_k
        else f"**Each metric and k is a run of its own**, for {len(comparison.ks)} k."
    )
    return f"""{criteria}

{runs} These runs took {seconds:.2g} s.

**Alteration** = 100 · cost of the release / cost of the table with every quasi-identifier at its
root, as the metric of the row counts. **Rank** 1 is the least in its row; equal values share the
smaller rank.

**NAUC** on [a, b] = 1/(b − a) · ∫ f(k) dk: trapezoids on a linear k axis over the fourteen k of the
papers inside the interval, and both ends. Most of such an interval is large k.

**What ties decide.** Often several classes cost the same, and some order has to decide; the lines
use {order}. A band runs from the least to the largest value over that order and {len(TIE_SEEDS)}
seeded ones. Where a band overlaps that of the best, the difference is undecided: ≈.

Source: Mauger, Le Mahec, Dequen 2020 (PPAI); 2023 (TDP 16), section 4."""


def what_leaves(done: Run) -> str:
    """What the release protects and what it does not: the sentence that somebody has to sign."""
    source, records = done.prepared.source, done.prepared.classes.n_records
    passed = [
        f"{name} ({thin(values)} values in {thin(records)} records)"
        if tells_apart(values, records)
        else name
        for name, values in source.passed_through().items()
    ]
    dropped = done.prepared.plan.roles.columns(Role.IDENTIFIER)
    sentences = [f"The records are alike in {', '.join(done.prepared.classes.attributes)} only."]
    if passed:
        sentences.append(f"Left as they are: {', '.join(passed)}.")
    if dropped:
        sentences.append(f"Left out: {', '.join(dropped)}.")
    return plain(" ".join(sentences))
