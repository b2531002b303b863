"""Diversity counts values that read alike as one: by hand, by laws, and by everybody who counts."""

import json
import re
import unicodedata
import warnings
from collections import Counter
from decimal import Decimal, InvalidOperation

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon.algorithms import gaa
from kanon.base.spelling import KNOWN_MARKERS, LIKELY_MARKERS, fold_spelling
from kanon.errors import PrivacyWarning, Unsatisfiable
from kanon.measures.along import measure_curves
from kanon.measures.privacy import sensitive_measures
from kanon.plan import Plan
from kanon.privacy import (
    alpha_k_anonymity,
    distinct_l_diversity,
    entropy_l_diversity,
    recursive_cl_diversity,
)
from kanon.release import cell_values
from kanon.release.check import check_content, check_release
from kanon.report import recipients_check
from kanon.run import prepare, run
from kanon.sensitive import Sensitive
from support.engine_tables import put_in_engine
from support.paths import ROOT
from support.plans import plan_content, qi
from support.random_tables import examples

READINGS = {"models": fold_spelling, "checks": cell_values.fold_reading}
DIVERSITY = [
    {"model": "distinct-l-diversity", "l": 2},
    {"model": "entropy-l-diversity", "l": 1.5},
    {"model": "recursive-cl-diversity", "c": 3, "l": 2},
    {"model": "alpha-k-anonymity", "alpha": 0.7, "k": 2},
]
AS_WRITTEN = [
    {"model": "t-closeness", "t": 0.5},
    {"model": "basic-beta-likeness", "beta": 2},
    {"model": "delta-disclosure", "delta": 2},
]
TOWNS = pd.DataFrame(
    {
        "town": ["Bonn"] * 3 + ["Kiel"] * 3 + ["Ulm"] * 3,
        "ill": ["Asthma", "ASTHMA", "asthma ", "I21.0", "I210", "i-21 0", "None", "n/a", None],
    }
)


def plan(privacy, k=2, ill=(), **changes):
    columns = {"town": qi(), "ill": {"role": "sensitive", **dict(ill)}}
    return Plan.from_content(
        plan_content(columns, k, models=privacy, read={"missing": "as-value"}) | changes
    )


def release(privacy, table, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        return run(plan(privacy, **more), table)


# --- the rule -----------------------------------------------------------------------------------
def rows_of_the_page():
    """The table of examples in docs/reference/kinds.md."""
    page = (ROOT / "docs" / "reference" / "kinds.md").read_text("utf-8")
    lines = page.partition("| one value | two values |")[2].splitlines()[2:]
    for line in lines:
        if not line.startswith("|"):
            return
        one, other = line.strip("|").split(" | ")
        blank = [""] * ("blank" in one)
        yield re.findall("`([^`]*)`", one) + blank, re.findall("`([^`]*)`", other)


@pytest.mark.parametrize("read", READINGS.values(), ids=READINGS)
@pytest.mark.parametrize(("alike", "different"), list(rows_of_the_page()))
def test_the_examples_of_the_page_read_as_it_says(alike, different, read):
    assert len(alike) > 1 and len({read(text) for text in alike}) == 1
    assert len(different) > 1 and len({read(text) for text in different}) == len(different)


@pytest.mark.parametrize("read", READINGS.values(), ids=READINGS)
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("caf\u00e9", "cafe\u0301"), ("Stra\u00dfe", "STRASSE"), ("\uff21sthma", "asthma"),
        ("type\u00a01", "TYPE 1"), ("HIV", "HIV\u200b"), ("I\u201121", "I21"), ("\u200b", ""),
        ("NON RENSEIGN\u00c9", "non renseigne\u0301"), ("'-5", "-5"), ("1e3", "1000"),
        ("007", "7"), ("\u0663", "3"), (".5", "0.50"), ("1'234'567", "1234567"), ("-0", "0"),
        ("1.234,50", "1234,5"), ("15,0", "15"), ("0,125", "0,1250"), ("EUR 1.50", "eur1.5"),
        ("12 %", "12.0%"), ("09:05", "9:05"), ("2021/03/04", "2021/3/4"), ("I21.", "I21"),
        ("HbA1c", "hba-1c"), ("Nr. 5", "nr5"), ("N02BE01", "N02-BE-01"),
    ],
)  # fmt: skip
def test_what_reads_alike_is_one_value(one, other, read):
    assert read(one) == read(other)


@pytest.mark.parametrize("read", READINGS.values(), ids=READINGS)
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("10\u00b2", "102"), ("\u00b2", "2"), ("x", ""), ("EUR 1.50", "EUR 150"), ("1,000", "1"),
        ("9007199254740993", "9007199254740992"), ("1.2.3", "12.3"), ("5'11", "511"),
        ("12.3, 4", "123,4"), ("1,50,000", "1,5"), ("0,125", "125"), ("5-820.0", "5-820.00"),
        ("x<1.5", "x<15"), ("1_0", "10"), (".-.", "-.-"), ("*", "**"), ("T2", "T3"),
        ("1e99999999999999999999", "inf"), ("5+", "5"), ("A17.0+", "A17.0*"), ("0", "none"),
    ],
)  # fmt: skip
def test_what_reads_differently_is_two_values(one, other, read):
    assert read(one) != read(other)


def test_the_checks_know_the_words_for_missing():
    words = {word for word in (*KNOWN_MARKERS, *LIKELY_MARKERS) if word}
    for read in READINGS.values():
        assert {read(word.upper()) for word in words} == {""}


SIGNS = "aAbI2105.,-+ 'eEkr/:<=_*"
SIGNS += "\u2019\u20ac\u00b2\u00e9\uff45\u0301\u200b\u00a0\u2011\u0663\u017f\u0130\u00df\ufb01"


@examples(2000)
@given(st.lists(st.text(SIGNS, max_size=8) | st.text("0159.,'-:/e", max_size=9), max_size=12))
def test_two_readers_that_share_no_code_agree(texts):
    numbers = {
        name: [{value: place for place, value in reversed([*enumerate(read)])}[one] for one in read]
        for name, read in (
            (name, [read(text) for text in texts]) for name, read in READINGS.items()
        )
    }
    assert numbers["models"] == numbers["checks"]


def plainly_read(text):
    """The rule in few lines, for what the tables below hold."""
    text = "".join(unicodedata.normalize("NFKC", text).casefold().split())
    if text in {"", "none", "n/a", "-", "unknown"}:
        return None
    try:
        return Decimal(text)
    except InvalidOperation:
        code = re.fullmatch("[a-z][a-z0-9.-]*", text) and re.search("[0-9]", text)
        return re.sub("(?<=[a-z0-9])[.-](?=[a-z0-9])", "", text) if code else text


WRITTEN = ["Asthma", "ASTHMA", " asthma", "I21.0", "I210", "i-21 0", "None", "n/a", "", "-", "1.5",
           "1.50", "15", "A+", "A-", "<=50K", ">50K", "caf\u00e9", "cafe\u0301"]  # fmt: skip


@st.composite
def histograms(draw):
    rows = draw(st.lists(st.tuples(st.integers(0, 2), st.sampled_from(WRITTEN)), min_size=1))
    classes = sorted({one for one, _ in rows})
    return [classes.index(one) for one, _ in rows], [text for _, text in rows], len(classes)


def made(group, texts, classes):
    values = list(dict.fromkeys(texts))
    codes = [values.index(text) for text in texts]
    return Sensitive.from_records("ill", values, False, group, codes, classes)


@examples(300)
@given(histograms())
def test_levels_are_those_of_values_that_were_replaced_before(drawn):
    group, texts, classes = drawn
    ill, plain = made(*drawn), made(group, [str(plainly_read(text)) for text in texts], classes)
    for level in (
        distinct_l_diversity.each, entropy_l_diversity.each, alpha_k_anonymity.each,
        lambda one: recursive_cl_diversity.each(one, 2),
    ):  # fmt: skip
        np.testing.assert_allclose(level(ill), level(plain), rtol=1e-12)
    assert (
        ill.folded.total.sum() == ill.total.sum()
        and ill.folded.sizes.tolist() == ill.sizes.tolist()
    )
    whole = ill.whole()
    assert distinct_l_diversity.each(whole)[0] == len({plainly_read(text) for text in texts})


@examples(300)
@given(histograms())
def test_folding_never_raises_l(drawn):
    ill = made(*drawn)
    held = np.diff(ill.start)
    assert (distinct_l_diversity.each(ill) <= held).all()
    entropy = -ill.summed(ill.count * np.log(ill.count / ill.sizes[ill.of_entry])) / ill.sizes
    assert (entropy_l_diversity.each(ill) <= np.exp(entropy) * (1 + 1e-9)).all()
    most = np.maximum.reduceat(ill.count, ill.start[:-1]) / ill.sizes
    assert (alpha_k_anonymity.each(ill) >= most).all()
    rest = ill.sizes - np.maximum.reduceat(ill.count, ill.start[:-1])
    with np.errstate(divide="ignore"):
        assert (recursive_cl_diversity.each(ill, 2) >= most * ill.sizes / rest - 1e-12).all()


CHANGES = (
    str.upper, str.lower, lambda text: f" {text}\u00a0",
    lambda text: unicodedata.normalize("NFD", text), lambda text: "\u200b".join(text),
)  # fmt: skip


@examples(200)
@given(histograms(), st.data())
def test_case_blanks_and_unicode_form_of_no_cell_change_l(drawn, data):
    group, texts, classes = drawn
    changed = [data.draw(st.sampled_from(CHANGES))(text) for text in texts]
    before, after = made(*drawn), made(group, changed, classes)
    for level in (distinct_l_diversity.each, entropy_l_diversity.each):
        assert level(before).tolist() == level(after).tolist()


# --- everybody who counts -----------------------------------------------------------------------
def test_three_towns_of_one_disease_each_are_merged():
    """Three spellings of one disease per town: l = 1 in each, and 3 diseases in all."""
    done = release(DIVERSITY[:1], TOWNS, k=3)
    assert done.recoding.n_classes == 1
    assert done.measures["distinct_l"] == 3 and done.measures["entropy_l"] == pytest.approx(3)
    assert done.measures["alpha"] == pytest.approx(1 / 3)
    assert release([], TOWNS, k=3).measures["distinct_l"] == 1
    with pytest.raises(Unsatisfiable, match="l is at most 3"):
        release([{"model": "distinct-l-diversity", "l": 4}], TOWNS)


def test_closeness_and_likeness_count_values_as_written():
    """Of 9 texts a town has 3: 3 · (1/3 - 1/9) + 6 · 1/9 = 4/3 away by norm 1."""
    measures = release([], TOWNS, k=3).measures
    assert measures["t_norm1"] == pytest.approx(4 / 3)
    assert measures["basic_beta"] == pytest.approx(2)
    assert measures["delta"] is None


def test_adults_two_incomes_stay_two():
    ill = made([0, 0], ["<=50K", ">50K"], 1)
    assert ill.folded is ill and distinct_l_diversity.each(ill).tolist() == [2]


def test_a_level_of_a_hierarchy_joins_spellings_for_every_model():
    groups = [{"asthma": ["Asthma", "ASTHMA"], "infarct": ["I21.0", "I210", "i-21 0"]}]
    coarse = {"hierarchy": {"build": "groups", "levels": groups}, "level": 1}
    table = TOWNS.iloc[[0, 1, 3, 4, 5]]
    done = release([], table, ill=coarse)
    assert sorted(done.released()["ill"].unique()) == ["asthma", "infarct"]
    assert [one.kind for one in done.remarks if one.kind == "several-spellings"] == []
    assert done.measures["t_norm1"] == pytest.approx(6 / 5)  # (1 - 2/5) · 2, not by four texts


def towns_by_chance(seed, towns, n):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {"town": rng.integers(0, towns, n).astype(str), "ill": rng.choice(WRITTEN, n)}
    )


def path_by(strategy, table):
    algorithm = {"name": "gaa", "strategy": strategy, "sensitive": "ill"}
    return gaa.merge_path(prepare(plan([], k=9, algorithm=algorithm), table).task())


def test_l_along_the_path_is_that_of_every_release():
    path = path_by("s1", towns_by_chance(5, 30, 90))
    curves = measure_curves(path, [])
    assert (curves.min_k <= 9).sum() > 4
    for k, *levels in zip(
        curves.min_k, curves.entropy_l["ill"], curves.t_norm1["ill"], strict=True
    ):
        if k > 9:  # the path was followed to 9
            break
        measured = sensitive_measures(path.at(int(k)).released.sensitive_named("ill"))
        assert [measured["entropy_l"], measured["t_norm1"]] == pytest.approx(levels)


@pytest.mark.parametrize("strategy", ["s2", "s3", "s4", "l"])
def test_strategies_by_l_merge_as_in_a_table_that_was_cleaned(strategy):
    table = towns_by_chance(6, 30, 90)
    clean = table.assign(ill=[str(plainly_read(text)) for text in table["ill"]])
    assert path_by(strategy, table).parts.tolist() == path_by(strategy, clean).parts.tolist()


@st.composite
def tables(draw):
    row = st.tuples(st.sampled_from(["Ulm", "Horb", "Bonn"]), st.sampled_from([*WRITTEN, None]))
    rows = draw(st.lists(row, min_size=4, max_size=25))
    return pd.DataFrame(rows, columns=["town", "ill"]).astype({"ill": object})


@examples(60)
@given(tables(), st.sampled_from(["csv", "parquet", "xlsx"]))
def test_run_file_check_and_recipient_say_the_same(table, kind):
    asked = plan([*DIVERSITY, *AS_WRITTEN])
    done = release([], table)
    classes = done.recoding.released
    verdicts = check_release(done.released(), asked)
    of_file = check_content(done.content(kind), kind, done.released(), asked)
    cells = done.released().fillna("").to_dict("records")
    said = recipients_check.check_table(json.loads(asked.to_json()), ["town", "ill"], cells)
    for model, verdict, again, (*_, level, holds) in zip(
        asked.models, verdicts, of_file, said[-len(verdicts) :], strict=True
    ):
        own = model.level(classes)
        assert own == pytest.approx(verdict.level, rel=1e-9, abs=1e-12)
        assert verdict.level == pytest.approx(again.level) == pytest.approx(level)
        assert model.holds(classes) is verdict.holds is again.holds is holds


@pytest.mark.parametrize("engine", ["duckdb", "sqlite"])
def test_an_engine_counts_spellings_as_memory_does(engine, tmp_path):
    table = towns_by_chance(7, 12, 80)
    mine = release(DIVERSITY, table)
    theirs = release(DIVERSITY, put_in_engine(table, engine, tmp_path))
    keys = ["entropy_l", "distinct_l", "alpha", "recursive_c", "t_norm1", "basic_beta"]
    assert [mine.measures[key] for key in keys] == [theirs.measures[key] for key in keys]
    assert Counter(mine.recoding.counts.tolist()) == Counter(theirs.recoding.counts.tolist())
