"""What is asked of a release by what it is for, and the file that says so."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanon.errors import PlanError
from kanon.release.attack_probability import CONTROLS, INVASIONS
from kanon.release.context import (
    ATTACKERS,
    AUDIENCES,
    THRESHOLD_CARDS,
    UNNAMED_SOURCE,
    ChosenThreshold,
    Context,
    compute_least_k,
    list_required_models,
    list_thresholds,
    replace_threshold,
)
from kanon.release.threshold_cards import OF_EVIDENCE, OF_USEFULNESS
from support.paths import ROOT

DOCS = ROOT / "docs"


def wanted(context: Context) -> dict[str, float | None]:
    return {name: asked.wanted for name, asked in list_thresholds(context).items()}


# Per context what is asked of k, the highest and the mean risk, l and t, as
# docs/explanation/release-context.md says it.
PROPOSED = {
    ("public", "prosecutor"): (11, 11, 20, 2, 0.3),
    ("research", "prosecutor"): (5, 5, 11, 2, 0.4),
    ("internal", "prosecutor"): (3, 3, 5, None, None),
    ("public", "journalist"): (None, 11, 20, 2, 0.3),
    ("research", "journalist"): (None, 5, 11, 2, 0.4),
    ("internal", "journalist"): (None, 3, 5, None, None),
}


@pytest.mark.parametrize("attacker", ATTACKERS)
@pytest.mark.parametrize("release", AUDIENCES)
def test_the_context_decides_what_is_asked(release, attacker):
    context = Context(release=release, attacker=attacker)
    assert (*wanted(context).values(),) == (*PROPOSED[release, attacker], *[None] * 7)
    assert all(asked.source and not asked.own for asked in list_thresholds(context).values())


@pytest.mark.parametrize("attacker", ATTACKERS)
def test_more_people_are_never_asked_for_less(attacker):
    rows = [wanted(Context(release=each, attacker=attacker)) for each in AUDIENCES]
    for name, card in THRESHOLD_CARDS.items():
        sign = 1 if card.direction == "higher" else -1
        asked = [float("-inf") if row[name] is None else sign * row[name] for row in rows]
        assert asked == sorted(asked, reverse=True), name


def test_every_proposal_is_on_the_page_with_its_source():
    text = " ".join((DOCS / "explanation" / "release-context.md").read_text("utf-8").split())
    contexts = [Context(release=one, attacker=other) for one, other in PROPOSED]
    sources = [asked.source for each in contexts for asked in list_thresholds(each).values()]
    for name, card in THRESHOLD_CARDS.items():
        rows = [wanted(Context(release=release))[name] for release in AUDIENCES]
        cells = " | ".join("nothing" if each is None else f"{each:g}" for each in rows)
        assert f"| `{name}`: {card.title} | {card.unit} {card.arrow} | {cells} |" in text
    for named in ("CMS Cell Size", "Cell Size Precedents", "EMA/90915/2016", "Health Canada",
                  "Structured Data", "WP216", "JAMIA 15(5)"):  # fmt: skip
        assert named in text and any(named in source for source in sources), named


def test_a_threshold_of_ones_own_says_whose_it_is():
    context = replace_threshold(
        Context(release="public"), "k", ChosenThreshold(wanted=20, source="Ethics board")
    )
    asked = list_thresholds(context)["k"]
    assert (asked.wanted, asked.source, asked.own) == (20, "Set by hand: Ethics board", True)
    assert isinstance(asked.wanted, int)
    nameless = list_thresholds(replace_threshold(context, "k", ChosenThreshold(wanted=20)))["k"]
    assert nameless.source == UNNAMED_SOURCE
    assert replace_threshold(context, "k", None) == Context(release="public")
    assert wanted(replace_threshold(context, "t", ChosenThreshold(wanted=None)))["t"] is None


def test_enough_is_enough_but_for_rounding():
    asked = list_thresholds(Context(release="public"))
    assert asked["l"].met(2 - 1e-12) and not asked["l"].met(1.999)
    assert asked["t"].met(0.3 + 1e-12) and not asked["t"].met(0.301)
    assert asked["highest_risk"].met(1 / (1 / 11)) and not asked["k"].met(10)
    assert list_thresholds(Context(release="internal"))["t"].met(1.0), "nothing is asked"


def test_what_is_asked_as_models():
    found = list_required_models(Context(release="public"), "ill")
    assert [(one.card.name, one.column, vars(one)[one.symbol]) for one in found] == [
        ("entropy-l-diversity", "ill", 2),
        ("t-closeness", "ill", 0.3),
    ]
    assert list_required_models(Context(release="internal"), "ill") == ()
    assert [compute_least_k(Context(release=each)) for each in AUDIENCES] == [11, 5, 3]
    larger = replace_threshold(
        Context(release="internal"), "highest_risk", ChosenThreshold(wanted=6.5)
    )
    assert compute_least_k(larger) == 7
    unasked = ChosenThreshold(wanted=None)
    assert (
        compute_least_k(
            replace_threshold(replace_threshold(larger, "highest_risk", unasked), "k", unasked)
        )
        == 2
    )
    most = replace_threshold(Context(release="internal"), "k", ChosenThreshold(wanted=100_000_000))
    assert compute_least_k(most) == 100_000_000, "exact up to the most that may be asked"


# --- the file ---------------------------------------------------------------------------------
numbers = {
    "k": st.integers(2, 10**6),
    "highest_risk": st.floats(1, 1e6),
    "mean_risk": st.floats(1, 1e6),
    "l": st.floats(1, 1e3),
    "t": st.floats(0, 1),
    **dict.fromkeys([*OF_EVIDENCE, *OF_USEFULNESS], st.floats(0, 100)),
}
texts = st.text(st.sampled_from([*'aé“\\"\n\u2028\U0001f600']), max_size=20)
contexts = st.builds(
    lambda release, attacker, known, own, more: Context.from_content(
        {"context": 1, "release": release, "attacker": attacker, "known": known, "thresholds": own}
        | more
    ),
    st.sampled_from(list(AUDIENCES)),
    st.sampled_from(list(ATTACKERS)),
    st.none() | st.integers(1, 40),
    st.fixed_dictionaries(
        {},
        optional={
            name: st.fixed_dictionaries({"wanted": st.none() | allowed, "source": texts})
            for name, allowed in numbers.items()
        },
    ),
    st.fixed_dictionaries(
        {"invasion": st.sampled_from(list(INVASIONS))},
        optional={"controls": st.dictionaries(st.sampled_from(list(CONTROLS)), st.booleans())},
    )
    | st.just({}),
)


@settings(max_examples=20, deadline=None)
@given(contexts)
def test_a_file_brings_back_what_was_saved(context):
    text = context.to_json()
    assert Context.from_json(text) == context
    assert list_thresholds(Context.from_json(text)) == list_thresholds(context)


def test_the_file_of_the_page_can_be_read():
    text = (DOCS / "explanation" / "release-context.md").read_text("utf-8")
    block = text[text.index("    {\n") : text.index("\n    }\n") + 6]
    asked = list_thresholds(Context.from_json(block))
    assert (asked["k"].wanted, asked["t"].wanted, asked["l"].wanted) == (10, None, 2)


# Beside those of tests/support/bad_inputs.py.
@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"context": 2}, "key context:"),
        ({"known": "two"}, "key known:"),
        ({"thresholds": {"k": 5}}, "key thresholds.k:"),
        ({"thresholds": {"k": {"source": "x"}}}, "thresholds.k.wanted"),
        ({"thresholds": {"k": {"wanted": "5"}}}, "key thresholds.k.wanted:"),
        ({"thresholds": {"alteration": {"wanted": 101}}}, "alteration.wanted .* at most 100"),
        ({"thresholds": {"k": {"wanted": 1}}}, "thresholds.k.wanted has to be .* at least 2"),
        ({"thresholds": {"l": {"wanted": 2, "source": "x" * 501}}}, "thresholds.l.source: .* 500"),
    ],
)
def test_what_is_wrong_in_a_file_is_named_by_its_key(changes, key):
    with pytest.raises(PlanError, match=key):
        Context.from_json(json.dumps({"context": 1, "release": "public", **changes}))


def test_a_file_that_cannot_be_read_is_said(tmp_path):
    with pytest.raises(PlanError, match=r"^The context 'none.json' cannot be read\.$"):
        Context.load(tmp_path / "none.json")
    (tmp_path / "latin.json").write_bytes('{"release": "é"}'.encode("latin-1"))
    with pytest.raises(PlanError, match=r"^The context 'latin.json' cannot be read\.$"):
        Context.load(tmp_path / "latin.json")
    with pytest.raises(PlanError, match=r"^The context is not valid JSON: see line 1, character 2"):
        Context.from_json("{")
    with pytest.raises(PlanError, match="names 'release' twice"):
        Context.from_json('{"context": 1, "release": "public", "release": "internal"}')
