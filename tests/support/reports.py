"""Reports of a small table, and what a browser makes of their pages."""

import base64
import datetime
import functools
import hashlib
import itertools
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pandas as pd

from kanon.plan import Plan
from kanon.report.contents import collect_report
from kanon.report.rendering import render_report
from support.people_plans import PEOPLE, plan_with
from support.plans import qi, qi_with

DAY = datetime.date(2026, 1, 31)
STUB = "/* the library */"
TWO = [{"model": "k-anonymity", "k": 2}]


def content(**changes):
    """A good plan that names every column."""
    plan = plan_with(**changes)
    plan["columns"].setdefault("note", {"role": "insensitive"})
    return plan


@functools.cache
def plain_report():
    return collect_report(Plan.from_content(content()), PEOPLE, date=DAY)


def report_of(plan=None, table=PEOPLE, **how):
    if plan is None and table is PEOPLE and not how:
        return plain_report()
    return collect_report(Plan.from_content(plan or content()), table, date=DAY, **how)


def page_of(report):
    return render_report(report).decode("utf-8")


PLANS = {
    "the plain one": {},
    "another model": {
        "privacy": [*TWO, {"model": "distinct-l-diversity", "l": 2}],
    },
    "no k at all": {"privacy": [{"model": "entropy-l-diversity", "l": 1.5}]},
    "an infinite level": {"privacy": [*TWO, {"model": "delta-disclosure", "delta": 50}]},
    "distance in order": {
        "privacy": [*TWO, {"model": "t-closeness", "t": 1.0, "distance": "emd-ordered",
                           "column": "note"}],
        "columns": content()["columns"] | {"note": {"role": "sensitive"}},
        "read": {"missing": "drop-records"},
    },
    "two sensitive columns": {
        "columns": content()["columns"] | {"name": {"role": "sensitive"}},
    },
    "pseudonyms": {"columns": content()["columns"] | {"name": {"role": "identifier",
                                                               "pseudonym": True}}},
    "no sensitive column": {"columns": content()["columns"] | {"disease": {"role": "insensitive"}}},
    "everybody is suppressed": {
        "algorithm": {"name": "levels", "node": {"age": 0, "sex": 0}},
        "privacy": [{"model": "k-anonymity", "k": 6}],
        "suppression_limit": 1.0,
    },
    "rows that stay": {
        "algorithm": {"name": "datafly"}, "suppression_limit": {"records": 2}, "suppressed": "keep",
    },
    "a metric of one's own": {
        "algorithm": {"name": "gaa", "metric": "mine", "strategy": "s3", "tie_seed": 3,
                      "attribute_weights": {"age": 2.0}},
        "metrics": {"mine": {"intermediate": "levels", "multiplier": "w1"}},
    },
    "no hierarchies": {
        "algorithm": {"name": "mondrian"},
        "columns": content()["columns"] | {"age": {"role": "quasi-identifier"}},
    },
}  # fmt: skip

RUNE = "\u16a0"
"""A sign that stands in every cell and every label, and in no template."""


def table_of_runes(texts):
    """Ten records whose every cell holds the rune, and trees of such labels."""
    values = [f"{text}{RUNE}{place}" for place, text in enumerate(texts)]
    rows = np.arange(10)
    table = pd.DataFrame({
        "name": [f"{values[0]}{row}" for row in rows],
        "kind": [values[1 + row % 4] for row in rows],
        "place": [values[5 + row % 2] for row in rows],
        "ill": [values[7 + row % 3] for row in rows],
        "note": [values[0] for _ in rows],
    })  # fmt: skip
    low, high, top = f"low {RUNE}", f"high {RUNE}", f"all {RUNE}"
    tree = [{"name": top}, {"name": low, "parent": top}, {"name": high, "parent": top},
            *({"name": leaf, "parent": low} for leaf in values[1:3]),
            *({"name": leaf, "parent": high} for leaf in values[3:5])]  # fmt: skip
    plan = {
        "version": 2,
        "columns": {
            "name": {"role": "identifier"},
            "kind": qi_with({"nodes": tree}),
            "place": qi("groups", levels=[{top: values[5:7]}]),
            "ill": {"role": "sensitive"},
            "note": {"role": "insensitive"},
        },
        "read": {"missing_markers": [f"{RUNE}?"]},
        "algorithm": {"name": "gaa"},
        "privacy": TWO,
    }
    return table, plan


class Page(HTMLParser):
    """What a browser makes of a page, as far as tests look at it."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.scripts, self.words, self.inside = [], [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "link", "img", "br", "input", "circle", "path"):
            self.inside.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.inside.pop() == tag, f"</{tag}> closes something else"

    def handle_data(self, data):
        if self.inside and self.inside[-1] == "script":
            self.scripts.append(data)
        elif self.inside and self.inside[-1] != "style":
            self.words.append(data)

    def all(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]

    @property
    def said(self):
        return " ".join(" ".join(self.words).split())


def check_page(text):
    """What holds of every report: it is whole, asks nobody, and can be read aloud."""
    page = Page(text)
    assert page.inside == []
    assert page.all("html") == [{"lang": "en"}] and len(page.all("title")) == 1
    # Two scripts, both named by the policy, what they draw, and nothing that is fetched.
    assert len(page.scripts) == len(page.all("script")) in (0, 3)
    policy = next(one["content"] for one in page.all("meta") if "http-equiv" in one)
    assert policy.startswith("default-src 'none'; ")
    for script in page.scripts[1:]:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert not {"img", "link", "iframe", "form", "object", "base"} & {tag for tag, _ in page.tags}
    for tag, attributes in page.tags:
        assert not [name for name in attributes if name.startswith("on") or name == "src"], tag
        assert attributes.get("href", "data:").startswith("data:")
    # Headings in order, heads of tables with a scope, names for pictures, ids once.
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(low <= high + 1 for high, low in itertools.pairwise(levels))
    assert all(one.get("scope") in ("col", "row") for one in page.all("th"))
    assert len(page.all("caption")) == len(page.all("table"))
    drawings = [one for _, one in page.tags if one.get("role") == "img"]
    assert all(one["aria-label"].strip() for one in drawings)
    ids = [one["id"] for _, one in page.tags if "id" in one]
    assert len(set(ids)) == len(ids)
    asked = [one["place"] for one in json.loads(page.scripts[0])] if page.scripts else []
    assert asked == [one for one in ids if one.startswith("curve-")]
    assert re.search(r"\b(safe|anonymous)\b", page.said, re.IGNORECASE) is None
    return page


def files_in(text):
    """The files that a page carries, by their names."""
    return {
        one["download"]: base64.b64decode(unquote(one["href"].partition(",")[2])).decode()
        for one in Page(text).all("a")
    }


def attached(text):
    return json.loads(files_in(text)["report.json"])


def sha256(path):
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()
