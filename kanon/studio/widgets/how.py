"""How the numbers of a page are computed, with this table's figures."""

import math
from collections.abc import Mapping

from kanon.base.formatting import count_noun, write_count
from kanon.base.how_texts import Sections
from kanon.cards import Card
from kanon.experiments.comparison import TIE_SEEDS, Comparison
from kanon.hierarchy import Hierarchy
from kanon.hierarchy.intermediate_costs import INTERMEDIATES
from kanon.metrics import Metric, multipliers
from kanon.plan import Plan
from kanon.recoding import Trace
from kanon.report.explanations import (
    describe_met_models,
    describe_plan_algorithm,
    list_class_guarantees,
)
from kanon.report.optimality_gap import OptimalityGap
from kanon.run import Run
from kanon.strategies import LOOKS_AT, SCOPES, STRATEGIES, needs_sensitive
from kanon.studio.session.text import escape_markdown

_how = Sections(__file__)

_DRAWN = "the weights drawn on the edges along which it rose"


def explain_alteration(run: Run) -> str:
    prepared = run.prepared
    metric = prepared.plan.metric
    cost = INTERMEDIATES[metric.intermediate].told if metric.intermediate else _DRAWN
    trees, names = prepared.classes.hierarchies, prepared.classes.attributes
    factors = zip(names, trees, multipliers(metric, trees), strict=True)
    listed = "\n".join(
        f"| {escape_markdown(name)} | {tree.n_nodes} | "
        f"{tree.n_leaves} | {tree.height} | {factor:.3f} |"
        for name, tree, factor in factors
    )
    return _how(
        "alteration",
        records=write_count(prepared.classes.n_records),
        columns=len(names),
        metric=escape_markdown(metric.card.title),
        cost=cost,
        alteration=f"{run.alteration:.4f}",
        multipliers=listed,
        source=escape_markdown(metric.card.source),
    )


def explain_algorithm(plan: Plan) -> str:
    sentences = describe_plan_algorithm(plan)
    return "\n\n".join(f"**{term}.** {escape_markdown(text)}" for term, text in sentences.items())


def explain_bound(gap: OptimalityGap) -> str:
    return f"**How close to the least possible.** {escape_markdown(gap.explanation)}"


def _format_item(card: Card) -> str:
    return f"- **{escape_markdown(card.title)}.** {escape_markdown(card.summary)}"


def explain_hierarchies() -> str:
    return _how("hierarchies")


_FACTORS = {
    "none": ("", "1"),
    "w1": (" · w1", "1 − (h − 1)^m / Σ (hᵢ − 1)^m"),
    "w2": (" · w2", "largest height / h"),
}


def format_metric_formula(metric: Metric) -> str:
    """The weight that a metric gives an edge from x up to x′, as one line.

    >>> from kanon.metrics import metric_named
    >>> format_metric_formula(metric_named("nllm"))
    'ω(x, x′) = ((nl(x′) − nl(x)) / nl(root)) · w2'
    """
    if not metric.intermediate:
        return "ω(x, x′) = the weight drawn on the edge"
    cost = INTERMEDIATES[metric.intermediate].formula
    factor = _FACTORS[metric.multiplier][0]
    return f"ω(x, x′) = ({cost}){factor}" if factor else f"ω(x, x′) = {cost}"


def explain_metric(metric: Metric, trees: Mapping[str, Hierarchy], column: str) -> str:
    tree = trees[column]
    factor = dict(zip(trees, multipliers(metric, list(trees.values())), strict=True))[column]
    multiplier = ""
    if metric.multiplier != "none":
        multiplier = (
            f"{metric.multiplier} = {escape_markdown(_FACTORS[metric.multiplier][1])} "
            f"= {factor:.4f} for {escape_markdown(column)}."
        )
    if metric.counts_records:
        counts = "count counts the records at a node or below it."
    elif metric.intermediate.startswith("other-leaves"):
        counts = "nl counts the values that a node stands for."
    else:
        counts = "nl counts the leaves below a node; a leaf has none, nl = 0."
    return _how(
        "metric",
        metric=escape_markdown(metric.card.title),
        formula=escape_markdown(format_metric_formula(metric)),
        values=write_count(tree.n_leaves),
        height=tree.height,
        columns=len(trees),
        multiplier=f"{multiplier}\n\n" if multiplier else "",
        counted=counts,
        source=escape_markdown(metric.card.source),
    )


def explain_comparison(comparison: Comparison) -> str:
    criteria = "\n".join(
        f"- **{escape_markdown(card.title)}** {card.arrow}: {escape_markdown(card.summary)}"
        for card in comparison.criteria.values()
    )
    led = [line.configuration for line in comparison.lines]
    used = dict.fromkeys(configuration.strategy for configuration in led)
    scopes = dict.fromkeys(config.scope for config in led if LOOKS_AT[config.strategy])
    looks = [escape_markdown(SCOPES[scope].summary) for scope in scopes]
    if comparison.sensitive and any(map(needs_sensitive, used)):
        looks.insert(0, f"l and t refer to the column {escape_markdown(comparison.sensitive)}.")
    seeds = {configuration.tie_seed for configuration in led}
    order = "the order of their own plans"
    if len(seeds) == 1:
        (seed,) = seeds
        order = "tree order" if seed is None else f"tie seed {seed}"
    runs = [escape_markdown(comparison.requirement)] if comparison.requirement else []
    alone = [len(comparison.list_ks(line)) for line in comparison.lines if not line.every_k]
    if alone:
        runs.append(
            "**Where a release has to be computed for each k**, because an algorithm serves only "
            f"one k or further models have to hold: {max(alone)} values of k."
        )
    else:
        runs.append(
            "**One run per line serves every k**: greedy merging for a larger k passes through the "
            "release of every smaller one."
        )
    return _how(
        "compared",
        criteria=criteria,
        strategies="\n".join(_format_item(STRATEGIES[name]) for name in used),
        looks=" ".join(looks) + "\n\n" if looks else "",
        runs=" ".join(runs),
        order=order,
        number=len(TIE_SEEDS),
    )


def explain_check(run: Run) -> str:
    met = describe_met_models(run, list_class_guarantees(run)) if run.recoding.n_classes else ""
    return format_check(met)


def format_check(met: str) -> str:
    if not met:
        return "**Nothing is released:** every record is suppressed, so there is no class to check."
    return _how("checked", models=escape_markdown(met))


def explain_levels(run: Run) -> str:
    classes = run.prepared.classes
    trees = zip(classes.attributes, classes.hierarchies, strict=True)
    return format_levels(run.recoding.trace, {column: tree.height for column, tree in trees})


def format_levels(trace: Trace, heights: Mapping[str, int]) -> str:
    if trace.node is None:
        return ""
    listed = ", ".join(
        f"{escape_markdown(column)} {level} of {height - 1}"
        for (column, height), level in zip(heights.items(), trace.node, strict=True)
    )
    nodes, most = count_noun(trace.evaluated, "node"), write_count(math.prod(heights.values()))
    return f"**Levels:** {listed}. Found by counting {nodes} of {most}."


def format_parts(parts: str) -> str:
    return f"**Parts:** {parts}." if parts else ""


def format_proof(proof: str) -> str:
    return f"**Proof:** {proof}." if proof else ""


def explain_ties() -> str:
    return _how("ties")
