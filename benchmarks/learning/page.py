"""docs/figures/utility.md: the text of page.md with its figures filled in."""

from __future__ import annotations

from pathlib import Path

from benchmarks.claims import check_claims
from benchmarks.fidelity.page import checksum
from benchmarks.fresh import ROOT
from benchmarks.learning import tables
from benchmarks.learning.claims import CLAIMS
from benchmarks.learning.measured import (
    ALGORITHMS,
    CLASSIFIERS,
    REPRESENTATION,
    TABLES,
    Findings,
    Lesson,
)
from benchmarks.markdown import thousands
from benchmarks.provenance import machine, made
from kanon.algorithms.catalogue import short_title
from kanon.learning.classifiers import CLASSIFIERS as EVERY
from kanon.learning.representations import REPRESENTATIONS
from kanon.studio.utility.prediction_panel import (
    compute_agreements,
    describe_agreements,
    select_measures,
)

__all__ = ["PAGE", "page"]

PAGE = ROOT / "docs" / "figures" / "utility.md"
TEXT = Path(__file__).with_name("page.md")


def page(found: Findings) -> str:
    """The whole page.

    Raises
    ------
    CaseError
        The figures do not bear out a sentence.
    """
    check_claims(CLAIMS, found)
    adult, voters = found.lessons["adult", "original"], found.lessons["voters", "original"]
    second = found.lessons["adult", "release"]
    parts: dict[str, str] = {}
    for name, points in found.points.items():
        measures = select_measures(points)
        agreed = compute_agreements(points, measures)
        parts |= {
            f"{name}_said": "\n".join(f"- {one}" for one in describe_agreements(agreed, measures)),
            f"{name}_agreement": tables.agreement(agreed, measures),
            f"{name}_at_equal_k": tables.agreement(agreed, measures, "_at_equal_k"),
            f"{name}_releases": thousands(len(points)),
        }
    return TEXT.read_text("utf-8").format(
        records={name: thousands(number) for name, number in found.records.items()},
        targets=TABLES,
        adult=_about(adult),
        voters=_about(voters),
        adult_all=tables.experiment_one(adult, live=False),
        adult_live=tables.experiment_one(adult, live=True),
        adult_best=_best(adult),
        adult_last=thousands(tables.largest_k(adult, 0.55)),
        voters_all=tables.experiment_one(voters, live=False),
        voters_live=tables.experiment_one(voters, live=True),
        voters_best=_best(voters),
        voters_most=_most(voters),
        second=_about(second),
        second_all=tables.experiment_two(second, live=False),
        second_live=tables.experiment_two(second, live=True),
        means=_second(second),
        panels="\n\n".join(
            f"Trained in **{name}**:\n\n{tables.panel(second, name)}" for name in REPRESENTATIONS
        ),
        minutes=f"{(adult.seconds + second.seconds) / 60:.1f}",
        whole=f"{found.seconds / 60:.0f}",
        algorithms=", ".join(short_title(name) for name in ALGORITHMS),
        classifiers=", ".join(EVERY[name].card.title.lower() for name in CLASSIFIERS),
        representation=REPRESENTATION,
        machine=machine(),
        made="\n".join(made(PAGE, "scikit-learn", "numpy", "pandas", "numba")),
        checksum=checksum("adult"),
        **parts,
    )


def _about(lesson: Lesson) -> dict[str, str]:
    return {
        "training": thousands(lesson.training),
        "validation": thousands(lesson.validation),
        "networks": str(len(lesson.outcomes)),
        "dead": str(tables.dead(lesson)),
        "most": f"{lesson.most_frequent:.3f}",
        "labels": str(lesson.labels),
    }


def _best(lesson: Lesson) -> str:
    """Where the proportional representation is the best, of all networks and of the live ones."""
    said = []
    for live, who in ((False, "over all networks"), (True, "over the live ones")):
        behind = tables.not_best(lesson, live)
        listed = ", ".join(map(thousands, behind))
        where = f"at every k but {listed}" if behind else "at every k"
        said.append(f"{who} {where}")
    return f"proportional is the best, or as good to three digits, {'; '.join(said)}"


def _most(lesson: Lesson) -> str:
    """Whether the mean of any release beats saying the most frequent label."""
    highest = [tables.highest(lesson, live) for live in (False, True)]
    said = (
        f"Who always says the most frequent label reaches {lesson.most_frequent:.3f}; the highest "
        f"mean of all networks is {highest[0]:.3f}, of the live ones {highest[1]:.3f}"
    )
    if max(highest) <= lesson.most_frequent:
        said += ", so that on average the network does no better than that"
    return said


def _second(lesson: Lesson) -> dict[str, str]:
    """The means of experiment 2 that the page names, of the live networks up to k = 5,000."""
    found, order = tables.pairs(lesson, live=True), tables.in_order(lesson)
    names = list(REPRESENTATIONS)

    def across(trained: str) -> str:
        own = [found[trained, name] for name in names]
        return f"{min(own):.3f} to {max(own):.3f}"

    def mean(name: str) -> str:
        return f"{sum(found[one, name] for one in names) / len(names):.3f}"

    parent, child = ("fillParent", "proportional"), ("fillChild", "fillChild")
    return {
        "both": f"{found['proportional', 'proportional']:.3f}",
        "parent": f"{found[parent]:.3f}",
        "place": str(order.index(parent) + 1),
        "one": f"{found['oneClass', 'proportional']:.3f}",
        "child": f"{found[child]:.3f}",
        "child_proportional": f"{found['fillChild', 'proportional']:.3f}",
        "across_one": across("oneClass"),
        "across_child": across("fillChild"),
        "mean_proportional": mean("proportional"),
        "mean_parent": mean("fillParent"),
    }
