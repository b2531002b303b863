"""Plans as their JSON holds them, in few words: for tests that need one, not for tests of plans."""

from collections.abc import Iterable, Mapping
from typing import Any

from kanon.plan import Plan


def qi(build: str = "suppression", **settings: Any) -> dict[str, Any]:
    """A quasi-identifier whose hierarchy a builder makes."""
    return qi_with({"build": build, **settings})


def qi_with(hierarchy: Any) -> dict[str, Any]:
    """A quasi-identifier with a hierarchy: nodes, the settings of a builder, or a path."""
    return {"role": "quasi-identifier", "hierarchy": hierarchy}


def plan_content(
    columns: Mapping[str, Any],
    k: int = 2,
    algorithm: str | Mapping[str, Any] = "gaa",
    models: Iterable[Mapping[str, Any]] = (),
    **more: Any,
) -> dict[str, Any]:
    """A plan that asks for k-anonymity, and for other models beside it."""
    return {
        "version": 2,
        "columns": columns,
        "algorithm": {"name": algorithm} if isinstance(algorithm, str) else algorithm,
        "privacy": [{"model": "k-anonymity", "k": k}, *models],
        **more,
    }


def make_plan(*content: Any, **more: Any) -> Plan:
    """A plan by the same arguments as :func:`plan_content`."""
    return Plan.from_content(plan_content(*content, **more))
