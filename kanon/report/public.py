"""The report for publication: what the released file shows, and typed texts.

It is computed from the file, so it cannot reveal what was never computed from the table: nothing
counts the original values, the records left out, or other possible releases. Single figures of the
table are published only where somebody asks for them by name.
"""

from __future__ import annotations

import datetime
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from kanon.base.checked_json import write_json
from kanon.base.formatting import count_noun, write_count, write_percent
from kanon.base.sentences import describe_highest_risk, describe_smallest_class
from kanon.base.values import MISSING_LABEL
from kanon.hierarchy import Hierarchy
from kanon.hierarchy.ranges import count_covered_within
from kanon.release.check import check_content, require_verdicts
from kanon.release.decision import Decision
from kanon.release.released_rows import Verdict
from kanon.report.explanations import (
    Guarantee,
    describe_check_verdict,
    describe_column_fates,
    list_guarantees,
)
from kanon.report.origin import ReleasedFile
from kanon.report.words import PUBLISHABLE_FIGURES, Words
from kanon.run import Run
from kanon.schema import Role
from kanon.sources.repairs import describe_repair_kinds

_KEPT_KEYS = {
    "suppression": ("build",),
    "intervals": ("build", "widths"),  # where they begin and end may be values of the column
    "mask": ("build", "keep", "side"),
    "codes": ("build", "separators", "prefixes"),  # ranges may be called like values
    "dates": ("build", "levels"),
    "ages": ("build", "day", "widths"),
}
"""Per builder the keys that hold no value of a table."""


@dataclass(frozen=True, eq=False)
class PublicReport:
    words: Words
    date: datetime.date
    verdict: str
    plain_sentences: tuple[str, ...]
    # of the released file
    records: int
    classes: int
    # per column its name, its role and what becomes of it
    columns: tuple[tuple[str, str, str], ...]
    guarantees: tuple[Guarantee, ...]  # each model, and what the released file reaches
    plan_for_recipients: Mapping[str, Any]  # what a recipient needs of the plan
    repairs: str  # how many steps repaired the table, by kind
    release: tuple[str, str]  # what the fingerprint is of, and the fingerprint
    # the thresholds of its purpose, and what it reaches
    decision: Decision | None = None
    # the figures of the table that are published, by the names of :data:`PUBLISHABLE_FIGURES`
    figures: Mapping[str, Any] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """What was released: in the user's words, or by its size."""
        return self.words.title or f"Release of {count_noun(self.records, 'record')}"

    @property
    def plan(self) -> str:
        """What a recipient needs of the plan, with the algorithm where it is published, as JSON."""
        content = {**self.plan_for_recipients, **self.figures.get("algorithm", {})}
        return write_json(content)

    @property
    def published_texts(self) -> dict[str, str]:
        """The published figures as texts, by what they are called."""
        return {
            PUBLISHABLE_FIGURES[name]: text
            for name, text in self.figures.items()
            if name != "algorithm"
        }

    def add_figures(self, figures: Mapping[str, Any], names: Collection[str]) -> PublicReport:
        """The same with some of the figures of the table, chosen by their names."""
        return replace(
            self, figures={name: figures[name] for name in PUBLISHABLE_FIGURES if name in names}
        )


def build_public_report(
    run: Run, file: ReleasedFile, date: datetime.date, words: Words | None = None
) -> PublicReport:
    """Compute from a released file what its report for publication says."""
    plan, recoding, fate = run.prepared.plan, run.recoding, describe_column_fates(run)
    # The file does not say whom its records are about.
    plan_to_check = plan.model_copy(update={"person": None})
    form = (file.form.separator, file.form.encoding)
    verdicts = check_content(
        file.content,
        file.kind,
        file.rows,
        plan_to_check,
        form=form,
        people=run.prepared.population_rows,
        trees=run.prepared.plain_trees,
    )
    require_verdicts(verdicts, file.kind)
    least = recoding.min_k
    in_words = [describe_smallest_class(least)]
    if plan.person is None:
        reached = list_guarantees(run, verdicts)
        in_words += [describe_highest_risk(1 / least, least)] if least else []
    else:
        *others, of_persons = list_guarantees(run, (*verdicts, Verdict("", "", "", None, True)))
        reached = (*others, replace(of_persons, reached="not in the file"))
        in_words = [describe_smallest_class(plan.k if least else None)]
    roles = plan.roles.roles
    names = dict.fromkeys((*plan.columns, *map(str, file.rows.columns)))
    return PublicReport(
        words=words or Words(),
        date=date,
        verdict=describe_check_verdict(run, reached),
        plain_sentences=tuple(in_words),
        records=int(recoding.counts.sum()),
        classes=recoding.n_classes,
        columns=tuple(
            (name, str(roles.get(name, Role.INSENSITIVE)), fate[name])
            for name in names
            if name in fate  # what marks suppressed rows is not a column of the table
        ),
        guarantees=reached,
        plan_for_recipients=_describe_plan_for_recipients(run),
        repairs=describe_repair_kinds(plan.repairs),
        release=file.fingerprint,
    )


def list_publishable_figures(run: Run) -> dict[str, Any]:
    """All figures of a table that may be published by name, as they are read."""
    plan, classes = run.prepared.plan, run.prepared.classes
    content = plan.model_dump(mode="json", exclude_none=True)
    keys = ("algorithm", "metrics", "suppression_limit", "outliers")
    return {
        "records": write_count(classes.n_records),
        "dropped": write_count(run.prepared.dropped),
        "suppressed": write_count(run.recoding.suppressed_records),
        "persons": "not counted" if classes.persons is None else write_count(classes.highest_k),
        "alteration": f"{write_percent(run.alteration)}, {plan.metric.card.title}",
        "algorithm": {key: content[key] for key in keys if content.get(key)},
    }


def _describe_plan_for_recipients(run: Run) -> dict[str, Any]:
    plan, recoding = run.prepared.plan, run.recoding
    content = plan.model_dump(mode="json", exclude_none=True)
    columns = content["columns"]
    hierarchies = {name: column.pop("hierarchy", None) for name, column in columns.items()}
    trees = zip(recoding.classes.attributes, recoding.hierarchies, recoding.nodes.T, strict=True)
    for name, tree, nodes in trees:
        chosen, column = hierarchies[name], content["columns"][name]
        if isinstance(chosen, dict) and chosen.get("build") in _KEPT_KEYS:
            # Its leaves are values from the table: how many there are says something of that.
            keys_kept = _KEPT_KEYS[chosen["build"]]
            column["hierarchy"] = {key: chosen[key] for key in keys_kept if key in chosen}
        elif chosen is not None:
            nodes = np.unique(nodes[nodes <= tree.root])  # a range says itself what it stands for
            column["hierarchy"] = {"nodes": list_nodes_above(tree, nodes)}
    for name, plain_tree in run.prepared.plain_trees.items():
        values, nodes_above = recoding.released.sensitive_named(name), {}
        for label in [values.values[place] for place in np.flatnonzero(values.total)]:
            while label in plain_tree and label not in nodes_above:
                above, level = plain_tree[label]
                nodes_above[label] = {"name": label, "parent": above or None, "level": level}
                label = above
        content["columns"][name]["hierarchy"] = {"nodes": [*nodes_above.values()]}
    sensitive = plan.roles.columns(Role.SENSITIVE)
    kinds = content["read"].get("kinds", {})
    read = {"kinds": {column: kind for column, kind in kinds.items() if column in sensitive}}
    keys = ("version", "columns", "privacy", "suppressed", "person", "order")
    return {**{key: content[key] for key in keys if key in content}, "read": read}


def list_nodes_above(tree: Hierarchy, released: np.ndarray) -> list[dict[str, Any]]:
    """The nodes of a hierarchy at or above released ones, with how many values each stands for.

    >>> tree = Hierarchy.from_entries([("*", None, None), ("old", "*", None), ("1", "*", None),
    ...     ("7", "old", None), ("8", "old", None)])
    >>> list_nodes_above(tree, np.array([tree.node_of["old"]]))
    [{'name': 'old', 'parent': '*', 'values': 2}, {'name': '*', 'parent': None, 'values': 3}]
    """
    above, last = set(), {*map(int, released)}
    while last:
        above |= last
        last = {int(tree.parent[node]) for node in last} - above - {-1}
    missing = tree.node_of.get(MISSING_LABEL, -1)  # a leaf that the table adds
    return [
        {
            "name": tree.labels[node],
            "parent": None if tree.parent[node] < 0 else tree.labels[tree.parent[node]],
            "values": int(tree.leaves_covered[node])
            - int(count_covered_within(tree, np.array(node), missing, missing + 1)),
        }
        for node in sorted(above - {missing})
    ]
