"""What the configurations of a comparison are called."""

from collections.abc import Mapping, Sequence
from itertools import product

from kanon.algorithms.catalogue import short_title, uses
from kanon.experiments.criteria import COSTLESS
from kanon.experiments.sweep import Configuration
from kanon.metrics import METRICS
from kanon.plan import Plan
from kanon.strategies import LOOKS_AT, Scope


def get_configuration(plan: Plan) -> Configuration:
    led = plan.algorithm
    scope = led.scope if LOOKS_AT[led.strategy] else "table"
    return Configuration(led.metric, led.strategy, led.tie_seed, scope, led.name)


def name_configuration(config: Configuration) -> str:
    metric = config.metric
    if metric not in METRICS:  # one of the user's own may be called like a strategy
        metric = f"“{metric}”"
    parts = [metric] if is_guided(config) else []
    parts += [config.strategy] if config.strategy != "s1" else []
    parts += [config.scope] if config.scope != "table" else []
    parts += [config.algorithm] if config.algorithm != "gaa" else []
    return " · ".join(parts)


def is_guided(config: Configuration) -> bool:
    return config.strategy not in COSTLESS and uses(config.algorithm, "metric")


def combine_settings(
    metrics: Sequence[str],
    strategies: Sequence[str],
    scopes: Sequence[Scope] = ("table",),
    algorithms: Sequence[str] = ("gaa",),
    tie_seed: int | None = None,
) -> tuple[Configuration, ...]:
    by_name: dict[str, Configuration] = {}
    for algorithm in algorithms:
        used_strategies = strategies if uses(algorithm, "strategy") else ("s1",)
        for metric, strategy, scope in product(metrics or ["nllm"], used_strategies, scopes):
            used_scope = scope if LOOKS_AT[strategy] else "table"
            config = Configuration(metric, strategy, tie_seed, used_scope, algorithm)
            if metrics or not is_guided(config):
                by_name.setdefault(name_configuration(config), config)
    return tuple(by_name.values())


def create_titles(configs: Sequence[Configuration], metrics: Mapping[str, str]) -> list[str]:
    metrics_used = {config.metric for config in configs if is_guided(config)}
    with_strategy = [config for config in configs if uses(config.algorithm, "strategy")]
    strategies = {config.strategy for config in with_strategy}
    several = len({config.algorithm for config in configs}) > 1
    titles = []
    for config in configs:
        parts = []
        if is_guided(config) and (len(metrics_used) > 1 or (not several and len(strategies) <= 1)):
            parts.append(metrics.get(config.metric, config.metric))
        if config in with_strategy and (len(strategies) > 1 or config.strategy != "s1"):
            parts.append(config.strategy.upper())
        if several or not parts:
            parts.append(short_title(config.algorithm))
        titles.append(" · ".join(parts) + (" (merged class)" if config.scope == "class" else ""))
    return titles


def get_full_title(config: Configuration, metric: str) -> str:
    """A label for a configuration that stands alone: all that it is.

    >>> get_full_title(Configuration("ncp"), "NCP")
    'NCP · S1'
    >>> get_full_title(Configuration("ncp", "l"), "NCP")
    'L'
    >>> get_full_title(Configuration("ncp", "s3", scope="class"), "NCP")
    'NCP · S3 (merged class)'
    >>> get_full_title(Configuration("ncp", algorithm="datafly"), "NCP")
    'Datafly'
    """
    parts = [metric] if is_guided(config) else []
    if uses(config.algorithm, "strategy"):
        parts.append(config.strategy.upper())
    if config.algorithm != "gaa":
        parts.append(short_title(config.algorithm))
    return " · ".join(parts) + (" (merged class)" if config.scope == "class" else "")
