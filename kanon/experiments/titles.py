"""What the configurations of a comparison are called."""

from collections.abc import Mapping, Sequence
from itertools import product

from kanon.algorithms.catalogue import short_title, uses
from kanon.experiments.criteria import COSTLESS
from kanon.experiments.sweep import Configuration
from kanon.metrics import METRICS
from kanon.strategies import LOOKS_AT, Scope


def name_of(configuration: Configuration) -> str:
    metric = configuration.metric
    if metric not in METRICS:  # one of the user's own may be called like a strategy
        metric = f"“{metric}”"
    parts = [metric] if guided(configuration) else []
    parts += [configuration.strategy] if configuration.strategy != "s1" else []
    parts += [configuration.scope] if configuration.scope != "table" else []
    parts += [configuration.algorithm] if configuration.algorithm != "gaa" else []
    return " · ".join(parts)


def guided(configuration: Configuration) -> bool:
    return configuration.strategy not in COSTLESS and uses(configuration.algorithm, "metric")


def combined(
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
            configuration = Configuration(metric, strategy, tie_seed, used_scope, algorithm)
            if metrics or not guided(configuration):
                by_name.setdefault(name_of(configuration), configuration)
    return tuple(by_name.values())


def titles_of_configurations(
    configurations: Sequence[Configuration], metrics: Mapping[str, str]
) -> list[str]:
    metrics_used = {
        configuration.metric for configuration in configurations if guided(configuration)
    }
    with_strategy = [
        configuration
        for configuration in configurations
        if uses(configuration.algorithm, "strategy")
    ]
    strategies = {configuration.strategy for configuration in with_strategy}
    several = len({configuration.algorithm for configuration in configurations}) > 1
    titles = []
    for configuration in configurations:
        parts = []
        if guided(configuration) and (
            len(metrics_used) > 1 or (not several and len(strategies) <= 1)
        ):
            parts.append(metrics.get(configuration.metric, configuration.metric))
        if configuration in with_strategy and (
            len(strategies) > 1 or configuration.strategy != "s1"
        ):
            parts.append(configuration.strategy.upper())
        if several or not parts:
            parts.append(short_title(configuration.algorithm))
        titles.append(
            " · ".join(parts) + (" (merged class)" if configuration.scope == "class" else "")
        )
    return titles


def full_title(configuration: Configuration, metric: str) -> str:
    """A label for a configuration that stands alone: all that it is.

    >>> full_title(Configuration("ncp"), "NCP"), full_title(Configuration("ncp", "l"), "NCP")
    ('NCP · S1', 'L')
    >>> full_title(Configuration("ncp", "s3", scope="class"), "NCP")
    'NCP · S3 (merged class)'
    >>> full_title(Configuration("ncp", algorithm="datafly"), "NCP")
    'Datafly'
    """
    parts = [metric] if guided(configuration) else []
    if uses(configuration.algorithm, "strategy"):
        parts.append(configuration.strategy.upper())
    if configuration.algorithm != "gaa":
        parts.append(short_title(configuration.algorithm))
    return " · ".join(parts) + (" (merged class)" if configuration.scope == "class" else "")
