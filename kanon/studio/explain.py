"""How the numbers of a page are computed, in words and with this table's figures."""

from __future__ import annotations

from collections.abc import Mapping

from kanon.algorithms.lattice import n_nodes
from kanon.comparison import TIE_SEEDS, Comparison
from kanon.hierarchy import Hierarchy
from kanon.metrics import INTERMEDIATES, Metric, multipliers
from kanon.plan import Plan, parameters_of
from kanon.privacy.k_anonymity import KAnonymity
from kanon.privacy.model import SensitiveModel, rounded
from kanon.privacy.t_closeness import TCloseness
from kanon.run import Run, algorithm_named, uses
from kanon.schema import Role
from kanon.strategies import LOOKS_AT, SCOPES, STRATEGIES
from kanon.studio.requirements import others_of, short
from kanon.studio.text import plain
from kanon.studio.work import Result
from kanon.words import counted, percent, thin

__all__ = [
    "formula",
    "how_algorithm",
    "how_alteration",
    "how_compared",
    "how_hierarchies",
    "how_metric",
    "least_possible",
    "what_leaves",
    "what_was_checked",
    "which_levels",
    "which_parts",
]

_DRAWN = "the weights drawn on the edges that it rose along"


def how_alteration(done: Run) -> str:
    """The alteration, with the numbers of this release filled in."""
    prepared = done.prepared
    metric = prepared.plan.metric
    told = INTERMEDIATES[metric.intermediate].told if metric.intermediate else _DRAWN
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
        f"{told}, times the multiplier of its column. This release "
        f"reaches {done.measures['alteration'][metric.name]:.4f} %.\n\n"
        "| column | nodes | values | height | multiplier |\n|---|---|---|---|---|\n"
        + listed
        + f"\n\nSource: {plain(metric.card.source)}."
    )


_MEETING: Mapping[str, str] = {
    "merging": "At first classes are merged for k alone. Then, as long as a class breaks one of "
    "these models, one of the smallest such classes is merged on by the same rule, for each k by "
    "itself.",
    "levels": "A node satisfies only if no more records than may be suppressed are in classes that "
    "break k or one of these models.",
    "regions": "A region is made only if it meets these models too.",
    "clusters": "At first clusters are made for k alone. Then, as long as one breaks one of these "
    "models, one of the smallest such is merged with the one that costs least.",
}
"""How the algorithms of a family meet models beside k."""


def how_algorithm(plan: Plan) -> str:
    """How the release was found: what the algorithm says of itself, and what guided it."""
    chosen = plan.algorithm
    module = algorithm_named(chosen.name)
    parts = [f"**{module.CARD.title}.** {plain(module.HOW)} {plain(module.GUARANTEES)}"]
    sources = [module.CARD.source]
    options = [
        f"{plain(parameter.title)}: "
        f"{plain(parameter.choices[chosen.options.get(parameter.name, parameter.default)])}"
        for parameter in parameters_of(chosen.name)
    ]
    if options:
        parts.append(f"**Chosen.** {'; '.join(options)}.")
    if uses(chosen.name, "strategy"):
        parts.append(_how_guided(plan))
        sources.append(STRATEGIES[chosen.strategy].source)
    elif uses(chosen.name, "tie_seed"):
        parts.append(_how_tied(plan))
    others = others_of(plan)
    if others:
        listed = "\n".join(f"- **{plain(one.title)}.** {plain(one.card.summary)}" for one in others)
        parts.append(f"**Also required.** {_MEETING[module.FAMILY]}\n\n{listed}")
    sources += [model.card.source for model in others]
    parts.append(f"Source: {plain('; '.join(dict.fromkeys(sources)))}.")
    return "\n\n".join(parts)


def _how_guided(plan: Plan) -> str:
    """What the strategy looks at, and how ties are broken."""
    chosen = plan.algorithm
    strategy, looks_at = STRATEGIES[chosen.strategy], LOOKS_AT[chosen.strategy]
    guided = f"**{plain(strategy.title)}.** {plain(strategy.summary)}"
    if looks_at:
        guided += (
            f" The sensitive column is {plain(plan.led_by)}. {plain(SCOPES[chosen.scope].summary)}"
        )
    if looks_at == "l":
        guided += " l is the entropy l-diversity, exp(−Σ p ln p) over the shares p of the values."
    if looks_at == "t":
        guided += (
            " t is half the sum of the absolute differences between the shares in the class and in "
            "the table (total variation)."
        )
    return f"{guided} {_how_tied(plan)}"


def _how_tied(plan: Plan) -> str:
    """How ties are broken."""
    seed = plan.algorithm.tie_seed
    return "Of equally good partners, " + (
        "the first in the order of the hierarchies is taken."
        if seed is None
        else f"tie seed {seed} picks one, the same each time."
    )


def how_hierarchies() -> str:
    """What a hierarchy is, and what the words and figures around it mean."""
    return """**A generalisation hierarchy** is a rooted tree. Its leaves are the values of the
column, each group stands for all values below it, and the root stands for total loss. Raising a
value means replacing it by a group above it; merging two records replaces their values by the
lowest group that holds both.

- **Level** of a node: the longest path, in edges, from a leaf below it. **Height** h: the nodes on
  the longest path from a leaf to the root. A value may hang directly under the root although others
  sit deeper.
- **The number beside a name** counts the records that stand at or below that node.
- **The weight of an edge** is what it costs to rise along it. A metric gives every edge a weight;
  weights of your own make the metric Custom. Grouping, inserting a level and removing a group split
  or add up weights, so that every path that stays costs what it cost before.

Source: Mauger, Le Mahec, Dequen 2020 (PPAI), section 2; 2023 (TDP 16)."""


_FACTORS = {
    "none": ("", "1"),
    "w1": (" · w1", "1 − (h − 1)^m / Σ (hᵢ − 1)^m"),
    "w2": (" · w2", "largest height / h"),
}


def formula(metric: Metric) -> str:
    """The weight that a metric gives an edge from x up to x′, as one line.

    >>> from kanon.metrics import metric_named
    >>> formula(metric_named("nllm"))
    'ω(x, x′) = ((nl(x′) − nl(x)) / nl(root)) · w2'
    """
    if not metric.intermediate:
        return "ω(x, x′) = the weight drawn on the edge"
    cost, factor = INTERMEDIATES[metric.intermediate].formula, _FACTORS[metric.multiplier][0]
    return f"ω(x, x′) = ({cost}){factor}" if factor else f"ω(x, x′) = {cost}"


def how_metric(metric: Metric, trees: Mapping[str, Hierarchy], column: str) -> str:
    """A metric's formula with the numbers of one attribute filled in."""
    tree = trees[column]
    factor = dict(zip(trees, multipliers(metric, list(trees.values())), strict=True))[column]
    parts = [
        f"**{plain(metric.card.title)}**: {plain(formula(metric))}",
        f"Here nl(root) = {thin(tree.n_leaves)} values, h = {tree.height}, "
        f"m = {len(trees)} quasi-identifiers.",
    ]
    if metric.multiplier != "none":
        rule = _FACTORS[metric.multiplier][1]
        parts.append(f"{metric.multiplier} = {plain(rule)} = {factor:.4f} for {plain(column)}.")
    counted = (
        "count counts the records at a node or below it."
        if metric.counts_records
        else "nl counts the values below a node."
    )
    parts.append(
        f"{counted} A cell of the matrix is the sum of the weights from "
        "the value of its row up to the lowest group that holds the value of its column too: "
        "M(v, v′) = cost(v, LCA(v, v′)). It is not symmetric."
    )
    parts.append(f"Source: {plain(metric.card.source)}.")
    return "\n\n".join(parts)


def how_compared(comparison: Comparison, seconds: float = 0.0) -> str:
    """What the numbers of a comparison are, and what a difference means.

    Parameters
    ----------
    comparison
        The configurations.
    seconds
        How long the last runs took; 0 if that is not known.
    """
    criteria = "\n".join(
        f"- **{plain(card.title)}** {card.arrow}: {plain(card.summary)}"
        for card in comparison.criteria.values()
    )
    led = [line.configuration for line in comparison.lines]
    used = dict.fromkeys(one.strategy for one in led)
    strategies = "\n".join(
        f"- **{plain(STRATEGIES[name].title)}.** {plain(STRATEGIES[name].summary)}" for name in used
    )
    if any(LOOKS_AT[name] for name in used):
        scopes = dict.fromkeys(one.scope for one in led if LOOKS_AT[one.strategy])
        strategies += (
            f"\n\nl and t are of the column {plain(comparison.sensitive)}. "
            if comparison.sensitive
            else "\n\n"
        ) + " ".join(f"{plain(SCOPES[scope].summary)}" for scope in scopes)
        if "table" in scopes:
            strategies += (
                " At first many classes have l = 1, and no single merge changes that: then nearly "
                "all partners tie, S2 and S5 choose as S1 does, and S3 and S6 go by cost."
            )
    seeds = {one.tie_seed for one in led}
    first = next(iter(seeds))
    order = "the canonical order" if first is None else f"tie seed {first}"
    if len(seeds) > 1:
        order = "the order of its own plan each"
    runs = (
        "**One run per line serves every k**: greedy merging for a larger k passes through the "
        "release of every smaller one."
        if comparison.every_k
        else f"**Where an algorithm serves one k, each k is a run of its own**, for "
        f"{len(comparison.ks)} k."
    )
    took = f" The last runs took {float(f'{seconds:.2g}'):g} s." if seconds else ""
    return f"""{criteria}

**Which partner a class is merged with:**

{strategies}

{runs}{took} A run that was made once is kept for this session and not made again. Curves run over
k alone: other models, such as l-diversity, are measured here and not required.

**Alteration** = 100 · cost of the release / cost of the table with every quasi-identifier at its
root, as the metric of the row counts; where one metric guides all lines, its own count stands
first. **Rank** 1 is the best by its criterion, the least or the most as the arrow says; equal
values share the smaller rank.

**NAUC** on [a, b] = 1/(b − a) · ∫ f(k) dk: trapezoids on a linear k axis over the chosen k of the
papers inside the interval, and both ends. Most of such an interval is large k, where few classes
are left.

**What ties decide.** Often several classes cost the same, and some order has to decide; the lines
use {order}. A band runs from the least to the largest value over that order and {len(TIE_SEEDS)}
seeded ones. Where a band overlaps that of the best, the difference is undecided: ≈. The difference
of two lines is undecided where their bands overlap.

Source: Mauger, Le Mahec, Dequen 2020 (PPAI); 2023 (TDP 16), section 4."""


def what_was_checked(done: Run) -> str:
    """Which models every class was checked against, what was reached, what was not considered."""
    released, models = done.recoding.released, done.prepared.plan.models
    if not released.n_classes:
        return "**Nothing is released:** every record is suppressed, so there is no class to check."
    checked = []
    for model in models:
        level = model.level(released)
        if isinstance(model, SensitiveModel):
            reached = rounded(level or 0.0, up=model.card.direction == "lower")
            if isinstance(model, TCloseness) and model.distance == "norm1":
                reached += f", a total variation of {rounded((level or 0.0) / 2, up=True)}"
            checked.append(f"{short(model)} for {model.column} (reached {reached})")
        elif isinstance(model, KAnonymity):
            checked.append(f"k ≥ {thin(model.k)} (reached {thin(level or 0)})")
    asked = {model.column for model in others_of(done.prepared.plan)}
    free = [each.name for each in released.sensitive if each.name not in asked]
    if free:
        checked[-1] += (
            f". Nothing is required of {', '.join(free)}: a whole class may have the same value"
        )
    return (
        f"**Checked in every class:** {plain('; '.join(checked))}. "
        "**Not considered:** what is known about these persons from elsewhere, releases of this "
        "table that were made elsewhere or before it was loaded here, and columns that are left as "
        "they are."
    )


def what_leaves(done: Run) -> str:
    """What the release protects and what it does not: the sentence that somebody has to sign."""
    source, records = done.prepared.source, done.prepared.classes.n_records
    passed = source.passed_through()
    dropped = done.prepared.plan.roles.columns(Role.IDENTIFIER)
    sentences = [f"The records are alike in {', '.join(done.prepared.classes.attributes)} only."]
    gone = done.recoding.suppressed_records
    if gone:
        stay = "their rows are blanked" if done.prepared.plan.suppressed == "keep" else "not in it"
        sentences.append(
            f"Suppressed: {counted(gone, 'record')}, {percent(100 * gone / records)} ({stay})."
        )
    if passed:
        sentences.append(f"Left as they are: {', '.join(passed)}.")
    if dropped:
        sentences.append(f"Left out: {', '.join(dropped)}.")
    return plain(" ".join(sentences))


def least_possible(result: Result, k: int) -> str:
    """What no other release could go below, where the algorithm knows it; nothing elsewhere."""
    bound, plan = result.solution.bound, result.prepared.plan
    if bound is None or k != plan.k or plan.algorithm.attribute_weights:
        return ""
    least, title = rounded(bound, up=False), plain(plan.metric.card.title)
    return (
        f"**Lower bound:** no release for k = {thin(k)} by these hierarchies that suppresses "
        f"nothing can lose less than {least} %, as {title} counts. Whether any comes so low is not "
        "known."
    )


def which_levels(done: Run) -> str:
    """To which level each quasi-identifier was raised, if it was one for all records."""
    trace, classes = done.recoding.trace, done.prepared.classes
    if trace.node is None:
        return ""
    levels = zip(classes.attributes, trace.node, classes.hierarchies, strict=True)
    listed = ", ".join(
        f"{plain(column)} {level} of {tree.height - 1}" for column, level, tree in levels
    )
    return (
        f"**Levels:** {listed}. Found by counting {counted(trace.evaluated, 'node')} of "
        f"{thin(n_nodes(classes.hierarchies))}."
    )


def which_parts(done: Run) -> str:
    """Into how many parts the classes were cut, and what that cost; nothing if they were not."""
    said = done.about_parts
    return f"**Parts:** {said}." if said else ""
