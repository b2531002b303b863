"""Mondrian on Adult against a plain recursion and GAA; MDAV on the sample voters."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from benchmarks.case import Case
from benchmarks.fresh import ROOT
from benchmarks.markdown import aim, seconds, spread, table, thousands
from benchmarks.plans import adult_path, adult_with_sensitive
from benchmarks.timing import alternately
from kanon.algorithms import gaa, mdav, mondrian
from kanon.algorithms.task import Task
from kanon.measures import alteration
from kanon.metrics import metric_named
from kanon.plan import Plan
from kanon.privacy.t_closeness import TCloseness
from kanon.reference.mondrian import Mondrian
from kanon.run import prepare
from kanon.sources.opening import open_table

__all__ = ["CASE"]

SENSITIVE = "salary-class"
KS = (5, 100)
CLOSE = TCloseness(0.5, SENSITIVE)
SAMPLED = 3
"""One record in so many is in the table that the plain recursion cuts."""
LONGEST = 1.0
RATIO = 30.0


def _plain(task: Task) -> list[tuple[int, ...]]:
    """The cuts of the plain recursion, by the sizes of their parts."""
    classes = task.classes
    found = Mondrian(
        classes.nodes.tolist(), classes.counts.tolist(), classes.hierarchies, task.k, "strict"
    )
    return [tuple(found.size(part) for part in cut.parts) for cut in found.cuts]


def _against_plain(task: Task) -> tuple[str, float]:
    rows, ratios = [], []
    for k in KS:
        one = replace(task, k=k)
        (slow, fast), (expected, found) = alternately(
            partial(_plain, one), partial(mondrian.anonymise, one), repetitions=3
        )
        assert [cut.sizes for cut in mondrian.cuts(one)] == expected
        assert found.trace.steps == len(expected)
        ratios.append(slow.best / fast.best)
        rows.append([str(k), thousands(len(expected)), spread(slow), spread(fast),
                     thousands(ratios[-1])])  # fmt: skip
    head = ["k", "cuts", "plain recursion, s", "mondrian, s", "ratio"]
    return table(head, rows), min(ratios)


def _variants(task: Task) -> tuple[str, float]:
    """Every variant and release, for k alone and with t-closeness, beside GAA."""
    rows, longest = [], 0.0
    runs = [
        (variant, release, models)
        for variant in mondrian.VARIANT.choices
        for release in mondrian.RELEASE.choices
        for models in ((), (CLOSE,))
    ]
    for k in KS:
        works = [partial(gaa.anonymise, replace(task, k=k))]
        works += [
            partial(
                mondrian.anonymise,
                replace(task, k=k, models=models, options={"variant": variant, "release": release}),
            )
            for variant, release, models in runs
        ]
        timed, found = alternately(*works, repetitions=5)
        longest = max(longest, *(each.worst for each in timed[1:]))
        names = ["GAA, by NCP", *(
            f"{variant}, {release}" + (f", t = {CLOSE.t:g}" if models else "")
            for variant, release, models in runs
        )]  # fmt: skip
        for name, times, recoding in zip(names, timed, found, strict=True):
            assert (recoding.min_k or 0) >= k
            rows.append([
                name, str(k), thousands(recoding.n_classes),
                f"{alteration.value(recoding, metric_named('ncp')):.2f}", spread(times),
                f"{timed[0].best / times.best:.1f}",
            ])  # fmt: skip
    head = ["variant, release", "k", "classes", "NCP", "seconds", "times as fast as GAA"]
    return table(head, rows), longest


def _mdav() -> str:
    columns = ("zip", "birth-year")
    content = {
        "version": 2,
        "columns": {column: {"role": "quasi-identifier"} for column in columns},
        "algorithm": {"name": "mdav"},
        "privacy": [{"model": "k-anonymity", "k": 2}],
    }
    voters = open_table(ROOT / "sample_data" / "voters.csv").table
    task = prepare(Plan.from_content(content), voters).task()
    rows = []
    for k in (3, *KS):
        one = replace(task, k=k)
        (grouped, cut), (groups, regions) = alternately(
            partial(mdav.anonymise, one),
            partial(mondrian.anonymise, replace(one, options={"release": "ranges"})),
            repetitions=3,
        )
        losses = [alteration.value(each, metric_named("ncp")) for each in (groups, regions)]
        rows.append([
            str(k), thousands(groups.trace.steps), f"{losses[0]:.2f}", f"{losses[1]:.2f}",
            spread(grouped), spread(cut),
        ])  # fmt: skip
    head = ["k", "groups", "NCP", "NCP of mondrian", "seconds", "seconds of mondrian"]
    about = (
        f"MDAV on the sample voters: {thousands(task.classes.n_records)} records, "
        f"{thousands(task.classes.n_classes)} classes of zip and year of birth, no hierarchies."
    )
    return f"{about}\n\n{table(head, rows)}"


def _run() -> str:
    adult = open_table(adult_path()).table
    task = adult_with_sensitive(adult, SENSITIVE, "ncp", 2).task()
    sample = adult_with_sensitive(adult.iloc[::SAMPLED], SENSITIVE, "ncp", 2).task()
    plain, ratio = _against_plain(sample)
    variants, longest = _variants(task)
    return "\n\n".join(
        [
            f"Eight quasi-identifiers; {SENSITIVE} is sensitive. First one record in {SAMPLED}, "
            f"{thousands(sample.classes.n_records)}, by the plain recursion of the tests, which "
            "made identical cuts. Seconds are best / median / worst.",
            plain,
            aim(f"ratio at least {RATIO:.0f}", f"least {ratio:.0f}", ratio >= RATIO),
            f"All {thousands(task.classes.n_records)} records, "
            f"{thousands(task.classes.n_classes)} classes. NCP is alteration in percent.",
            variants,
            aim(
                f"no run of Mondrian longer than {seconds(LONGEST)} s",
                f"{seconds(longest)} s",
                longest <= LONGEST,
            ),
            _mdav(),
        ]
    )


CASE = Case(
    name="adult-mondrian",
    about="Mondrian on Adult against a plain recursion and GAA; MDAV on the sample voters",
    classes=18_109,
    run=_run,
    needs_adult=True,
)
