"""How the numbers of a page are computed, in words and with this table's figures."""

from __future__ import annotations

from collections.abc import Mapping

from kanon.algorithms.catalogue import algorithm_named, uses
from kanon.algorithms.lattice_size import n_nodes
from kanon.algorithms.search import FULL_DOMAIN, own_way
from kanon.base.formatting import percent, thin
from kanon.base.language import Sections, say, say_counted, say_of
from kanon.cards import Card
from kanon.experiments.comparison import TIE_SEEDS, Comparison
from kanon.hierarchy import Hierarchy
from kanon.hierarchy.intermediate_costs import INTERMEDIATES
from kanon.metrics import Metric, multipliers
from kanon.plan import Plan, parameters_of
from kanon.privacy.k_anonymity import KAnonymity
from kanon.privacy.model import SensitiveModel, rounded
from kanon.privacy.persons import KInPersons
from kanon.privacy.t_closeness import TCloseness
from kanon.run import Run
from kanon.schema import Role
from kanon.strategies import LOOKS_AT, SCOPES, STRATEGIES, needs_sensitive
from kanon.studio.session.findings import Result
from kanon.studio.session.requirements import others_of, short
from kanon.studio.session.text import plain
from kanon.studio.widgets.algorithm_options import about_k

_how = Sections(__file__)

_DRAWN = say("the weights drawn on the edges that it rose along")


def how_alteration(done: Run) -> str:
    """The alteration, with the numbers of this release filled in."""
    prepared = done.prepared
    metric = prepared.plan.metric
    told = say_of(INTERMEDIATES[metric.intermediate].told) if metric.intermediate else _DRAWN
    trees, names = prepared.classes.hierarchies, prepared.classes.attributes
    factors = zip(names, trees, multipliers(metric, trees), strict=True)
    listed = "\n".join(
        f"| {plain(name)} | {tree.n_nodes} | {tree.n_leaves} | {tree.height} | {factor:.3f} |"
        for name, tree, factor in factors
    )
    return _how(
        "alteration",
        records=thin(prepared.classes.n_records),
        columns=len(names),
        metric=plain(say_of(metric.card.title)),
        cost=told,
        alteration=f"{done.measures['alteration'][metric.name]:.4f}",
        multipliers=listed,
        source=plain(metric.card.source),
    )


_MEETING: Mapping[str, str] = {
    "merging": say(
        "At first classes are merged for k alone. Then, as long as a class breaks one of these "
        "models, one of the smallest such classes is merged on by the same rule, for each k by "
        "itself."
    ),
    "levels": say(
        "A node satisfies only if no more records than may be suppressed are in classes that break "
        "k or one of these models."
    ),
    "regions": say("A region is made only if it meets these models too."),
    "clusters": say(
        "At first clusters are made for k alone. Then, as long as one breaks one of these models, "
        "one of the smallest such is merged with the one that costs least."
    ),
}
"""How the algorithms of a family meet models beside k."""


def how_algorithm(plan: Plan) -> str:
    """How the release was found: what the algorithm says of itself, and what guided it."""
    chosen = plan.algorithm
    module = algorithm_named(chosen.name)
    own = own_way(module.HOW)
    how = [say_of(own), say_of(module.GUARANTEES)]
    if own != module.HOW:
        how.insert(0, say_of(FULL_DOMAIN))
    parts = [f"**{say_of(module.CARD.title)}.** {plain(' '.join(how))}"]
    sources = [module.CARD.source]
    options = []
    for parameter in parameters_of(chosen.name):
        option = parameter.choices[chosen.options.get(parameter.name, parameter.default)]
        options.append(f"{plain(say_of(parameter.title))}: {plain(say_of(option))}")
    if options:
        parts.append(say("**Chosen.** {options}.", options="; ".join(options)))
    if uses(chosen.name, "strategy"):
        parts.append(_how_guided(plan))
        sources.append(STRATEGIES[chosen.strategy].source)
    elif uses(chosen.name, "tie_seed"):
        parts.append(_how_tied(plan))
    others = [model for model in plan.models if not isinstance(model, KAnonymity)]
    if others:
        parts.append(say("**Also required.** {how}", how=_MEETING[module.FAMILY]))
        parts.append("\n".join(_item(one.card) for one in others))
    sources += [model.card.source for model in others]
    parts.append(say("Source: {source}.", source=plain("; ".join(dict.fromkeys(sources)))))
    return "\n\n".join(parts)


def _item(card: Card) -> str:
    """What a part is called and what it says, in a list."""
    return f"- **{plain(say_of(card.title))}.** {plain(say_of(card.summary))}"


def _how_guided(plan: Plan) -> str:
    """What the strategy looks at, and how ties are broken."""
    chosen = plan.algorithm
    strategy, looks_at = STRATEGIES[chosen.strategy], LOOKS_AT[chosen.strategy]
    guided = [f"**{plain(say_of(strategy.title))}.** {plain(say_of(strategy.summary))}"]
    if needs_sensitive(chosen.strategy):
        guided.append(say("The sensitive column is {column}.", column=plain(plan.led_by)))
    if looks_at:
        guided.append(plain(say_of(SCOPES[chosen.scope].summary)))
    if looks_at == "l":
        guided.append(
            say("l is the entropy l-diversity, exp(−Σ p ln p) over the shares p of the values.")
        )
    if looks_at == "t":
        guided.append(
            say(
                "t is half the sum of the absolute differences between the shares in the class and "
                "in the table (total variation)."
            )
        )
    if looks_at == "k":
        guided += [say("k is the number of records in the smallest class."), plain(about_k())]
    return " ".join([*guided, _how_tied(plan)])


def _how_tied(plan: Plan) -> str:
    """How ties are broken."""
    seed = plan.algorithm.tie_seed
    if seed is None:
        return say("Of equally good partners, the first in the order of the hierarchies is taken.")
    return say(
        "Of equally good partners, tie seed {seed} picks one, the same each time.", seed=seed
    )


def how_hierarchies() -> str:
    """What a hierarchy is, and what the words and figures around it mean."""
    return _how("hierarchies")


_FACTORS = {
    "none": ("", "1"),
    "w1": (" · w1", "1 − (h − 1)^m / Σ (hᵢ − 1)^m"),
    "w2": (" · w2", say("largest height / h")),
}


def formula(metric: Metric) -> str:
    """The weight that a metric gives an edge from x up to x′, as one line.

    >>> from kanon.metrics import metric_named
    >>> formula(metric_named("nllm"))
    'ω(x, x′) = ((nl(x′) − nl(x)) / nl(root)) · w2'
    """
    if not metric.intermediate:
        return say("ω(x, x′) = the weight drawn on the edge")
    cost = say_of(INTERMEDIATES[metric.intermediate].formula)
    factor = _FACTORS[metric.multiplier][0]
    return f"ω(x, x′) = ({cost}){factor}" if factor else f"ω(x, x′) = {cost}"


def how_metric(metric: Metric, trees: Mapping[str, Hierarchy], column: str) -> str:
    """A metric's formula with the numbers of one attribute filled in."""
    tree = trees[column]
    factor = dict(zip(trees, multipliers(metric, list(trees.values())), strict=True))[column]
    multiplier = ""
    if metric.multiplier != "none":
        multiplier = say(
            "{multiplier} = {rule} = {number} for {column}.",
            multiplier=metric.multiplier,
            rule=plain(_FACTORS[metric.multiplier][1]),
            number=f"{factor:.4f}",
            column=plain(column),
        )
    if metric.counts_records:
        counted = say("count counts the records at a node or below it.")
    elif metric.intermediate.startswith("other-leaves"):
        counted = say("nl counts the values that a node stands for.")
    else:
        counted = say("nl counts the leaves below a node; a leaf has none, nl = 0.")
    return _how(
        "metric",
        metric=plain(say_of(metric.card.title)),
        formula=plain(formula(metric)),
        values=thin(tree.n_leaves),
        height=tree.height,
        columns=len(trees),
        multiplier=f"{multiplier}\n\n" if multiplier else "",
        counted=counted,
        source=plain(metric.card.source),
    )


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
        f"- **{plain(say_of(card.title))}** {say_of(card.arrow)}: {plain(say_of(card.summary))}"
        for card in comparison.criteria.values()
    )
    led = [line.configuration for line in comparison.lines]
    used = dict.fromkeys(one.strategy for one in led)
    looks: list[str] = []
    if any(LOOKS_AT[name] for name in used):
        scopes = dict.fromkeys(one.scope for one in led if LOOKS_AT[one.strategy])
        looks = [plain(say_of(SCOPES[scope].summary)) for scope in scopes]
        by_values = any(map(needs_sensitive, used))
        if comparison.sensitive and by_values:
            looks.insert(
                0, say("l and t are of the column {column}.", column=plain(comparison.sensitive))
            )
        if "table" in scopes and by_values:
            looks.append(
                say(
                    "At first many classes have l = 1, and no single merge changes that: then "
                    "nearly all partners tie, S2 and S5 choose as S1 does, and S3 and S6 go by "
                    "cost."
                )
            )
    seeds = {one.tie_seed for one in led}
    first = next(iter(seeds))
    order = say("the canonical order") if first is None else say("tie seed {seed}", seed=first)
    if len(seeds) > 1:
        order = say("the order of its own plan each")
    runs = (
        say(
            "**One run per line serves every k**: greedy merging for a larger k passes through the "
            "release of every smaller one."
        )
        if comparison.every_k
        else say(
            "**Where an algorithm serves one k, each k is a run of its own**, for {number} k.",
            number=len(comparison.ks),
        )
    )
    if seconds:
        took = say("The last runs took {seconds} s.", seconds=f"{float(f'{seconds:.2g}'):g}")
        runs = f"{runs} {took}"
    return _how(
        "compared",
        criteria=criteria,
        strategies="\n".join(_item(STRATEGIES[name]) for name in used),
        looks=" ".join(looks) + "\n\n" if looks else "",
        runs=runs,
        order=order,
        number=len(TIE_SEEDS),
    )


def what_was_checked(done: Run) -> str:
    """Which models every class was checked against, what was reached, what was not considered."""
    released, models = done.recoding.released, done.prepared.plan.models
    if not released.n_classes:
        return say(
            "**Nothing is released:** every record is suppressed, so there is no class to check."
        )
    checked = []
    for model in models:
        level = model.level(released)
        if isinstance(model, SensitiveModel):
            reached = rounded(level or 0.0, up=model.card.direction == "lower")
            if isinstance(model, TCloseness) and model.distance == "norm1":
                reached = say(
                    "{norm}, a total variation of {half}",
                    norm=reached,
                    half=rounded((level or 0.0) / 2, up=True),
                )
            checked.append(
                say(
                    "{model} for {column} (reached {level})",
                    model=short(model),
                    column=model.column,
                    level=reached,
                )
            )
        elif isinstance(model, KAnonymity):
            checked.append(
                say("k ≥ {k} (reached {level})", k=thin(model.k), level=thin(level or 0))
            )
        elif isinstance(model, KInPersons):
            checked.append(
                say(
                    "k ≥ {k} in persons, told apart by {column} (reached {level})",
                    k=thin(model.k),
                    column=model.column,
                    level=thin(level or 0),
                )
            )
    asked = {model.column for model in others_of(done.prepared.plan)}
    free = [each.name for each in released.sensitive if each.name not in asked]
    told = "; ".join(checked)
    if free:
        told = say(
            "{models}. Nothing is required of {columns}: a whole class may have the same value",
            models=told,
            columns=", ".join(free),
        )
    return _how("checked", models=plain(told))


def what_leaves(done: Run) -> str:
    """What the release protects and what it does not: the sentence that somebody has to sign."""
    source, records = done.prepared.source, done.prepared.classes.n_records
    passed = source.passed_through()
    dropped = done.prepared.plan.roles.columns(Role.IDENTIFIER)
    sentences = [
        say(
            "The records are alike in {columns} only.",
            columns=", ".join(done.prepared.classes.attributes),
        )
    ]
    gone = done.recoding.suppressed_records
    if gone:
        share = percent(100 * gone / records)
        sentences.append(
            say_counted(
                gone,
                "Suppressed: {count} record, {share} (their rows are blanked).",
                "Suppressed: {count} records, {share} (their rows are blanked).",
                share=share,
            )
            if done.prepared.plan.suppressed == "keep"
            else say_counted(
                gone,
                "Suppressed: {count} record, {share} (not in it).",
                "Suppressed: {count} records, {share} (not in it).",
                share=share,
            )
        )
    if passed:
        sentences.append(say("Left as they are: {columns}.", columns=", ".join(passed)))
    if dropped:
        sentences.append(say("Left out: {columns}.", columns=", ".join(dropped)))
    return plain(" ".join(sentences))


def least_possible(result: Result, k: int) -> str:
    """What no other release could go below, where the algorithm knows it; nothing elsewhere."""
    bound, plan = result.solution.bound, result.prepared.plan
    if bound is None or k != plan.k or plan.algorithm.attribute_weights:
        return ""
    return _how(
        "bound",
        k=thin(k),
        least=rounded(bound, up=False),
        metric=plain(say_of(plan.metric.card.title)),
    )


def which_levels(done: Run) -> str:
    """To which level each quasi-identifier was raised, if it was one for all records."""
    trace, classes = done.recoding.trace, done.prepared.classes
    if trace.node is None:
        return ""
    levels = zip(classes.attributes, trace.node, classes.hierarchies, strict=True)
    listed = ", ".join(
        say(
            "{column} {level} of {highest}",
            column=plain(column),
            level=level,
            highest=tree.height - 1,
        )
        for column, level, tree in levels
    )
    return say_counted(
        trace.evaluated,
        "**Levels:** {levels}. Found by counting {count} node of {all}.",
        "**Levels:** {levels}. Found by counting {count} nodes of {all}.",
        levels=listed,
        all=thin(n_nodes(classes.hierarchies)),
    )


def which_parts(done: Run) -> str:
    """Into how many parts the classes were cut, and what that cost; nothing if they were not."""
    said = done.about_parts
    return say("**Parts:** {parts}.", parts=said) if said else ""
