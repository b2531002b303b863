"""Kinds of columns: formats as they come, read, built on, released as they came, or refused."""

import io
from datetime import date, datetime

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon.base.date_patterns import find_date_patterns
from kanon.base.kinds import (
    DATES,
    PATTERNS,
    ColumnKind,
    find_fitting_kinds,
    find_kind,
    find_other_kinds,
    read_moments,
    read_numbers,
)
from kanon.errors import HierarchyError, PlanError, TableError
from kanon.hierarchy.build import ages, dates, intervals
from kanon.hierarchy.suggest import suggest_builder
from kanon.plan import Plan
from kanon.release.cell_values import order_values
from kanon.release.released_rows import _number_values
from kanon.run import run
from kanon.sensitive import order_of_values
from kanon.sources.addresses import Address
from kanon.sources.memory import MemoryTable
from kanon.sources.opening import open_address
from kanon.sources.reading import read_table
from support.paths import ROOT
from support.plans import plan_content, qi, qi_with

THIS_YEAR = date.today().year
PIVOT = f"from {THIS_YEAR - 99}"

# What stands in a column, its kind, and what its second value is: a number, a day, or nothing.
NUMBERS = {
    "whole": (["7", "1200", "31"], "whole number 1234", 1200),
    "decimal point": (["7.25", "1200.5", "3"], "decimal 1234.56", 1200.5),
    "decimal comma": (["7,25", "1200,5", "3,0"], "decimal 1234,56", 1200.5),
    "German": (["950,00", "1.234,50", "12.000,99"], "decimal 1.234,56", 1234.5),
    "English": (["950.00", "1,234.50", "12,000.99"], "decimal 1,234.56", 1234.5),
    "French": (["950,00", "1\u202f234,50", "12 000,99"], "decimal 1 234,56", 1234.5),
    "Swiss": (["950.00", "1'234.50", "12’000.99"], "decimal 1'234.56", 1234.5),
    "thousands by points": (["950", "1.234", "12.000"], "whole number 1.234", 1234),
    "millions by points": (["1.200.000", "1.234", "7"], "whole number 1.234", 1234),
    "thousands by commas": (["950", "1,234", "12,000"], "whole number 1,234", 1234),
    "thousands by blanks": (["950", "1 234", "12 000"], "whole number 1 234", 1234),
    "euros": (["€ 950,00", "€ 1.234,50"], "decimal 1.234,56", 1234.5),
    "per cent": (["7 %", "12 %", "100 %"], "whole number 1234", 12),
    "francs": (["CHF 950.00", "CHF 1'234.50"], "decimal 1'234.56", 1234.5),
    "negative": (["-7,5", "−12,25", "3,5"], "decimal 1234,56", -12.25),
}
MOMENTS = {
    "ISO": (["1981-03-14", "1990-12-05"], "date YYYY-MM-DD", "1990-12-05"),
    "German date": (["14.03.1981", "5.12.1990"], "date DD.MM.YYYY", "1990-12-05"),
    "German, short": (["14.03.81", "05.12.90"], f"date DD.MM.YY {PIVOT}", "1990-12-05"),
    "British": (["14/3/1981", "5/12/1990"], "date DD/MM/YYYY", "1990-12-05"),
    "American": (["3/14/1981", "12/5/1990"], "date MM/DD/YYYY", "1990-12-05"),
    "British, short": (["14/3/81", "5/12/90"], f"date DD/MM/YY {PIVOT}", "1990-12-05"),
    "American, short": (["3/14/81", "12/5/90"], f"date MM/DD/YY {PIVOT}", "1990-12-05"),
    "Dutch": (["14-03-1981", "05-12-1990"], "date DD-MM-YYYY", "1990-12-05"),
    "Japanese": (["1981/03/14", "1990/12/05"], "date YYYY/MM/DD", "1990-12-05"),
    "in eight digits": (["19810314", "19901205"], "date YYYYMMDD", "1990-12-05"),
    "in words": (["14 March 1981", "5 December 1990"], "date DD MMM YYYY", "1990-12-05"),
    "in German words": (["14. März 1981", "5. Dezember 1990"], "date DD MMM YYYY", "1990-12-05"),
    "of a database": (["14-Mar-81", "05-Dec-90"], f"date DD-MMM-YY {PIVOT}", "1990-12-05"),
    "in American words": (["March 14, 1981", "Dec 5, 1990"], "date MMM DD, YYYY", "1990-12-05"),
    "a month": (["03/1981", "12/1990"], "date MM/YYYY", "1990-12-01"),
    "a month in words": (["März 1981", "Dezember 1990"], "date MMM YYYY", "1990-12-01"),
    "a quarter": (["1981-Q1", "1990-Q4"], "date YYYY-Q1", "1990-10-01"),
    "a moment": (
        ["1981-03-14T12:30", "1990-12-05T08:15:30"], "date and time YYYY-MM-DD",
        "1990-12-05T08:15:30",
    ),
    "a moment with a zone": (
        ["1981-03-14T12:30:00Z", "1990-12-05T08:15:30+01:00"], "date and time YYYY-MM-DD",
        "1990-12-05T08:15:30",
    ),
    "a German moment": (
        ["14.03.1981 12:30", "05.12.1990 08:15"], "date and time DD.MM.YYYY", "1990-12-05T08:15",
    ),
    "of SAS": (["14MAR1981", "05DEC1990"], "date DDMMMYYYY", "1990-12-05"),
    "of SAS, short": (["14MAR81", "05DEC90"], f"date DDMMMYY {PIVOT}", "1990-12-05"),
    "a moment of SAS": (
        ["14MAR1981:12:30:00", "05DEC1990:08:15:30.5"], "date and time DDMMMYYYY",
        "1990-12-05T08:15:30.500000",
    ),
    "day first in eight digits": (["14031981", "05121990"], "date DDMMYYYY", "1990-12-05"),
    "month first in eight digits": (["03141981", "12051990"], "date MMDDYYYY", "1990-12-05"),
    "with a weekday": (["Sat, 14 Mar 1981", "Wed, 5 Dec 1990"], "date DD MMM YYYY", "1990-12-05"),
    "with a German weekday": (
        ["Samstag, 14. März 1981", "Mi., 5. Dez. 1990"], "date DD MMM YYYY", "1990-12-05",
    ),
    "in French words": (["1er févr. 1981", "5 décembre 1990"], "date DD MMM YYYY", "1990-12-05"),
    "without accents": (["14 aout 1981", "5 DECEMBRE 1990"], "date DD MMM YYYY", "1990-12-05"),
    "accents apart": (["14. Ma\u0308rz 1981", "5. Dez 1990"], "date DD MMM YYYY", "1990-12-05"),
    "of a mail": (
        ["Sat, 14 Mar 1981 12:30:00 +0100", "Wed, 5 Dec 1990 08:15:30 GMT"],
        "date and time DD MMM YYYY", "1990-12-05T08:15:30",
    ),
    "of a web server": (
        ["14/Mar/1981:12:30:00 +0200", "05/Dec/1990:08:15:30 +0200"],
        "date and time DD/MMM/YYYY", "1990-12-05T08:15:30",
    ),
    "of Postgres": (
        ["1981-03-14 12:30:00+02", "1990-12-05 08:15:30.25+05:30"], "date and time YYYY-MM-DD",
        "1990-12-05T08:15:30.250000",
    ),
    "with a named zone": (
        ["1981-03-14 12:30 UTC", "1990-12-05 08:15 CEST"], "date and time YYYY-MM-DD",
        "1990-12-05T08:15",
    ),
    "of Java": (
        ["1981-03-14T12:30+01:00[Europe/Berlin]", "1990-12-05T08:15Z"],
        "date and time YYYY-MM-DD", "1990-12-05T08:15",
    ),
    "of Oracle": (
        ["14-MAR-81 10.11.12 AM", "05-DEC-90 08.15.30.000000 PM +02:00"],
        f"date and time DD-MMM-YY {PIVOT}", "1990-12-05T20:15:30",
    ),
    "of a German letter": (
        ["14. März 1981 um 12:30 Uhr", "5. Dezember 1990, 8.15 Uhr"],
        "date and time DD MMM YYYY", "1990-12-05T08:15",
    ),
    "of a French letter": (
        ["14 mars 1981 à 12h30", "mercredi 5 décembre 1990 à 8h15"],
        "date and time DD MMM YYYY", "1990-12-05T08:15",
    ),
    "of a calendar file": (
        ["19810314T123000Z", "19901205T081530Z"], "date and time YYYYMMDD", "1990-12-05T08:15:30",
    ),
    "a year and a month": (["1981/03", "1990/12"], "date YYYY/MM", "1990-12-01"),
    "a month of Excel": (["Mrz-81", "Dez-90"], f"date MMM-YY {PIVOT}", "1990-12-01"),
    "a time": (["14:05", "8:15:30"], "time HH:MM", "0001-01-01T08:15:30"),
    "an American time": (["2:05 PM", "8:15 am"], "time HH:MM", "0001-01-01T08:15"),
}  # fmt: skip
OTHERS = {
    "postcodes with leading zeros": (["01067", "10115"], "code"),
    "postcodes": ([str(code) for code in range(47601, 47620)], "code"),
    "ICD": (["E11.9", "J45", "I10"], "code"),
    "codes": (["K-204", "K-17"], "code"),
    "words": (["nurse", "baker"], "text"),
    "numbers of patients": (["12345678", "20981234"], "whole number 1234"),
    "numbers with zeros before": (["04031981", "05061990"], "code"),
    "spans of times": (["08:15-10:30", "09:00-11:45"], "text"),
    "a word before a date": (["born 4 March 1981", "died 5 May 1990"], "text"),
    "a month that is none": (["4 Foo 1981", "5 Bar 1990"], "text"),
    "numbers of cases": (["12-3456", "03-0021"], "text"),
    "numbers with a slash": (["3456/12", "0021/03"], "text"),
    "digits of many days": (["31121981", "32121981"], "whole number 1234"),
    "two patterns": (["14.03.1981", "1981-03-14"], "text"),
    "two currencies": (["€ 5", "$ 5"], "text"),
    "no day": (["31.02.1981", "14.03.1981"], "text"),
    "marks that are none": (["1.23.456", "1"], "text"),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_a_format_of_numbers_is_read_built_on_and_released_as_it_came(name):
    texts, kind, second = NUMBERS[name]
    assert str(find_kind(texts)) == kind
    assert read_numbers(texts)[1] == second
    low = int(np.floor(second / 1000)) * 1000
    tree = intervals(texts, [1000])
    (above,) = [tree.labels[tree.parent[tree.node_of[texts[1]]]]]
    assert above.startswith((f"{low}-", f"{low} to "))
    assert as_released(texts, {"build": "intervals", "widths": [1000]}) == {*texts}


@pytest.mark.parametrize("name", MOMENTS)
def test_a_format_of_dates_is_read_built_on_and_released_as_it_came(name):
    texts, kind, second = MOMENTS[name]
    assert str(find_kind(texts)) == kind
    assert read_moments(texts)[1] == datetime.fromisoformat(second)
    levels, above = (
        (["hour"], "08:00 to <09:00") if kind.startswith("time") else (["year", "decade"], "1990")
    )
    tree = dates(texts, levels)
    assert tree.labels[tree.parent[tree.node_of[texts[1]]]] == above
    assert as_released(texts, {"build": "dates", "levels": levels}) == {*texts}


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_neither_is_text_or_code_and_refused_in_a_sentence(name):
    texts, kind = OTHERS[name]
    assert str(find_kind(texts)) == kind
    with pytest.raises(
        HierarchyError,
        match=r"^Dates.* are needed; \d+ distinct values? (is|are) something else \(value "
        r"withheld\)(; the kind 'date YYYY-MM-DD or DD.MM.YYYY' fits all)?\.$|"
        r"^The dates could be written DDMMYYYY or MMDDYYYY. Choose the kind of the column",
    ):
        dates(texts, ["year"])
    assert as_released(texts, {"build": "suppression"}) == {*texts}


def as_released(texts: list[str], hierarchy: dict) -> set[str]:
    """What a release holds of a column in which every value stands four times, at k = 4."""
    table = pd.DataFrame({"column": texts * 4})
    done = run(plan_for({"column": qi_with(hierarchy)}, k=4), table)
    return {*done.released(order="table")["column"]}


def plan_for(columns: dict, k: int = 2, **more) -> Plan:
    return Plan.from_content(plan_content(columns, k) | more)


# --- laws -----------------------------------------------------------------------------------
DAYS = st.dates(date(THIS_YEAR - 99, 1, 1), date(THIS_YEAR, 12, 31))
MONTHS = "Jan Feb März Apr Mai Juni Juli Aug Sept Okt Nov Dezember"


def written(day: date, pattern: str) -> str:
    """A day as a pattern has it, by other means than the reading."""
    parts = [
        ("YYYY", f"{day.year:04d}"), ("YY", f"{day.year % 100:02d}"), ("DD", f"{day.day:02d}"),
        ("MMM", MONTHS.split()[day.month - 1]), ("MM", f"{day.month:02d}"),
        ("Q1", f"Q{(day.month + 2) // 3}"),
    ]  # fmt: skip
    for number, (part, _) in enumerate(parts):
        pattern = pattern.replace(part, f"{{{number}}}")
    return pattern.format(*(text for _, text in parts))


@given(day=DAYS, pattern=st.sampled_from(DATES))
def test_a_day_that_is_written_is_read_as_it_was_meant(day, pattern):
    kind = ColumnKind.create_kind("date", pattern)
    first = {"year": (1, 1), "quarter": ((day.month - 1) // 3 * 3 + 1, 1), "month": (day.month, 1)}
    month, one = first.get(kind.resolution, (day.month, day.day))
    assert kind.moment(written(day, pattern)).date() == date(day.year, month, one)


MARKS = {"1,": (",", "."), "1.": (".", ","), "1 ": (" ", ","), "1'": ("'", "."), "12": ("", "")}


@given(
    number=st.integers(-(10**9), 10**9),
    cents=st.integers(0, 99),
    kind=st.sampled_from([(n, p) for n in ("whole number", "decimal") for p in PATTERNS[n]]),
)
def test_a_number_that_is_written_is_read_as_it_was_meant(number, cents, kind):
    name, pattern = kind
    group = pattern[1] if not pattern[1].isdigit() else ""
    mark = pattern[-3] if name == "decimal" else ""
    text = f"{number:,}".replace(",", group) + (f"{mark}{cents:02d}" if mark else "")
    wanted = float(f"{number}.{cents:02d}" if mark else number)
    assert ColumnKind(name, pattern).number(text) == wanted


EVERY = sorted({text for row in (NUMBERS | MOMENTS | OTHERS).values() for text in row[0]})


@given(st.lists(st.sampled_from(EVERY), min_size=1, max_size=6, unique=True), st.randoms())
def test_what_is_recognised_does_not_depend_on_the_order_of_the_rows(texts, seed):
    mixed = list(texts)
    seed.shuffle(mixed)
    assert find_fitting_kinds(mixed) == find_fitting_kinds(texts)
    for kind in find_fitting_kinds(texts):
        assert not kind.find_misfits(texts)


@pytest.mark.parametrize("name", [*NUMBERS, *MOMENTS])
def test_a_kind_has_a_text_that_says_it(name):
    texts, kind, _ = (NUMBERS | MOMENTS)[name]
    assert str(ColumnKind.parse(kind)) == kind
    assert ColumnKind.parse(kind) == find_kind(texts)


# --- what is a guess, and what is chosen ----------------------------------------------------
@pytest.mark.parametrize(
    ("texts", "taken", "other"),
    [
        (["3/4/1981", "5/6/1990"], "date DD/MM/YYYY", "date MM/DD/YYYY"),
        (["1.234", "5.678"], "decimal 1234.56", "whole number 1.234"),
        (["1.234", "950"], "whole number 1.234", "decimal 1234.56"),
        (["1,234", "5,678"], "whole number 1,234", "decimal 1234,56"),
        (["19810314"], "date YYYYMMDD", "whole number 1234"),
        (["04031981", "05061990"], "code", "date MMDDYYYY"),
        (["11031981", "12061990"], "whole number 1234", "date DDMMYYYY"),
    ],
)
def test_a_guess_is_called_one_and_the_other_reading_can_be_chosen(texts, taken, other):
    fits = find_fitting_kinds(texts)
    assert str(fits[0]) == taken
    assert other in map(str, find_other_kinds(fits))


def test_eight_digits_are_dates_once_somebody_says_which_come_first():
    kind = ColumnKind.parse("date MMDDYYYY")
    assert dates(["04031981", "05061990"], ["month"], kind).labels[1::2] == ("05061990", "1990-05")
    assert read_moments(["04031981", "05061990"]) is None, "not guessed"


MIXED = {"14.03.1981": 5, "1981-03-14": 2, "2.1.1979": 1, "14 March 1990": 1}


def test_dates_in_several_patterns_are_read_together_where_somebody_says_so():
    together = find_date_patterns(MIXED)
    kind = ColumnKind.parse("date DD.MM.YYYY or YYYY-MM-DD or DD MMM YYYY")
    assert together.kinds == (kind,) and together.rest == {}
    assert [(one.pattern, one.values, f"{one.moment:%d}") for one in together.patterns] == [
        ("DD.MM.YYYY", 2, "14"), ("YYYY-MM-DD", 1, "14"), ("DD MMM YYYY", 1, "14"),
    ]  # fmt: skip
    assert ColumnKind.parse(str(kind)) == kind and not kind.find_misfits([*MIXED])
    tree = dates([*MIXED], ["month", "year"], kind)
    above = {text: tree.labels[tree.parent[tree.node_of[text]]] for text in MIXED}
    assert above == {"14.03.1981": "1981-03", "1981-03-14": "1981-03", "2.1.1979": "1979-01",
                     "14 March 1990": "1990-03"}  # fmt: skip
    table = pd.DataFrame({"born": [*MIXED][:2] * 2})
    plan = plan_for(
        {"born": qi("dates", levels=["year"])}, k=4, read={"kinds": {"born": str(kind)}}
    )
    assert set(run(plan, table).released()["born"]) == {"1981"}


@pytest.mark.parametrize(
    ("counts", "kinds", "rest"),
    [
        ({"14.03.1981": 3, "1.2.1980": 1, "spring": 2}, ["date DD.MM.YYYY"], {"spring": 2}),
        ({"3/4/1981": 1, "1981-03-04": 1},
         ["date DD/MM/YYYY or YYYY-MM-DD", "date MM/DD/YYYY or YYYY-MM-DD"], {}),
        ({"13/4/1981": 1, "14/4/1981": 1, "4/15/1981": 7}, ["date DD/MM/YYYY"], {"4/15/1981": 7}),
        ({"1981": 2, "3/1981": 1, "4.3.1981": 1},
         ["date MM/YYYY or YYYY or DD.MM.YYYY"], {}),
        ({"4.3.1981 12:30": 1, "5.3.1981": 1, "1981-03-06 8:15+02": 1},
         ["date and time DD.MM.YYYY or YYYY-MM-DD"], {}),
    ],
)  # fmt: skip
def test_day_and_month_are_never_mixed_and_the_rest_is_counted(counts, kinds, rest):
    mixed = find_date_patterns(counts)
    assert {frozenset(str(kind).removeprefix("date ").split(" or ")) for kind in mixed.kinds} == {
        frozenset(kind.removeprefix("date ").split(" or ")) for kind in kinds
    }
    assert mixed.rest == rest


def test_few_dates_among_texts_are_no_column_of_dates():
    assert find_date_patterns({"nurse": 1, "baker": 1, "4.3.1981": 5}) is None
    assert find_date_patterns({}) is None


def test_two_digit_years_are_never_in_a_year_to_come():
    kind = ColumnKind.parse("date DD.MM.YY")
    assert kind.moment(f"01.01.{THIS_YEAR % 100:02d}").year == THIS_YEAR
    assert kind.moment(f"01.01.{(THIS_YEAR + 1) % 100:02d}").year == THIS_YEAR - 99


@pytest.mark.parametrize("text", ["", "dates", "date", "date DD.MM", "decimal 1;2", "code 5",
                                  "date DD.MM.YYYY from 1927"])  # fmt: skip
def test_a_kind_that_is_none_is_refused(text):
    with pytest.raises(PlanError, match="The kind "):
        ColumnKind.parse(text)
    with pytest.raises(PlanError, match="kinds"):
        plan_for({"a": {"role": "quasi-identifier"}}, read={"kinds": {"a": text}})


def test_an_age_is_that_of_a_calendar():
    born = {
        f"{day:02d}.{month:02d}.1980": (month, day) for month in (2, 11) for day in (24, 25, 26)
    }
    tree = ages([*born, "29.02.2000"], date(2001, 2, 28), [1, 5])
    for text, when in born.items():
        years = 2001 - 1980 - (when > (2, 28))
        assert tree.labels[tree.parent[tree.node_of[text]]] == f"age {years}"
    assert tree.labels[tree.parent[tree.node_of["29.02.2000"]]] == "age 0"


@pytest.mark.parametrize(
    ("values", "why"),
    [
        (["04.03.2020"], "Ages are calculated as of 2010-01-01; 1 distinct value is later"),
        (["März 1981"], "Ages need dates with a day"),
        (["baker"], "Dates such as 2021-03-04 or 04.03.2021 are needed"),
    ],
)
def test_ages_of_what_was_not_born_are_refused(values, why):
    with pytest.raises(HierarchyError, match=f"^{why}"):
        ages(values, date(2010, 1, 1), [1])


def test_many_dates_start_with_years_few_with_months_and_times_with_hours():
    days = [f"{day:02d}.{month:02d}.{year}" for year in (1980, 1990) for month in range(1, 13)
            for day in range(1, 29)]  # fmt: skip
    assert suggest_builder(days).parameters == {"levels": ["year", "decade"]}
    few = suggest_builder([*days[:50], *days[-50:]])
    assert few.parameters == {"levels": ["month", "quarter", "year", "decade"]}
    times = suggest_builder([f"{hour:02d}:05" for hour in range(24)])
    assert (times.builder, times.parameters) == ("dates", {"levels": ["hour", "part of day"]})


def test_incomes_of_one_length_are_numbers_and_postcodes_are_codes():
    incomes = [f"{number}.500,00" for number in range(12, 40)]
    assert suggest_builder(incomes).builder == "intervals"
    assert suggest_builder([str(code) for code in range(47601, 47650)]).builder == "mask"


# --- from a file to a release ---------------------------------------------------------------
GERMAN = """born;income;town
04.03.1981;1.234,50;Bonn
14.03.1981;999,90;Bonn
05.12.1990;12.000,00;Bonn
05.12.1990;12.000,00;Bonn
14.03.1981;1.000;Köln
14.03.1981;1.000;Köln
"""


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_a_german_file_is_released_as_it_came_where_a_value_stays_single(engine, tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(GERMAN, encoding="utf-8")
    plan = plan_for(
        {
            "born": qi("dates", levels=["year", "decade"]),
            "income": qi("intervals", widths=[1000, 10_000]),
            "town": {"role": "insensitive"},
        },
        read={"kinds": {"born": "date DD.MM.YYYY", "income": "decimal 1.234,56"}},
    )
    if engine == "memory":
        released = run(plan, read_table(path).table).released(order="table").astype(str)
    else:
        done = run(plan, open_address(Address.parse(str(path)), "duckdb"))
        target = Address.parse(str(tmp_path / "out.csv"))
        done.prepared.source.write(done.recoding, target)
        released = pd.read_csv(io.BytesIO((tmp_path / "out.csv").read_bytes()), dtype=str)
    seen = sorted(zip(released["born"], released["income"], strict=True))
    assert seen == sorted(
        [("1981", "0 to <10000")] * 2 + [("05.12.1990", "12.000,00")] * 2
        + [("14.03.1981", "1.000")] * 2
    )  # fmt: skip


def test_values_that_are_not_of_the_chosen_kind_are_refused_in_a_sentence():
    table = pd.DataFrame({"born": ["04.03.1981", "1981", "n/a", "5.3.81"], "ill": list("aabb")})
    columns = {"born": qi()}
    plan = plan_for(columns, read={"kinds": {"born": "date DD.MM.YYYY"}})
    with pytest.raises(TableError) as caught:
        run(plan, table)
    assert caught.value.sentence == (
        "Column 'born': 3 distinct values are not dates written DD.MM.YYYY "
        "('1981', 'n/a', '5.3.81')."
    )
    assert "1981" not in str(caught.value)
    plan = plan_for(columns, read={"kinds": {"birth": "text"}})
    with pytest.raises(PlanError, match="no column 'birth'"):
        run(plan, table)


@pytest.mark.parametrize("kinds", [None, {"income": "decimal 1.234,56"}])
def test_t_closeness_orders_incomes_by_number_and_the_check_agrees(kinds):
    drawn = np.random.default_rng(5)
    amounts = drawn.integers(50_000, 400_000, 60) / 100
    texts = [f"{one:,.2f}".translate(str.maketrans(",.", ".,")) for one in amounts]
    table = pd.DataFrame({"town": drawn.choice(list("abcd"), 60), "income": texts})
    plan = plan_for(
        {"town": qi(), "income": {"role": "sensitive"}},
        privacy=[
            {"model": "k-anonymity", "k": 2},
            {"model": "t-closeness", "t": 0.2, "distance": "emd-ordered"},
        ],
        read={"kinds": kinds} if kinds else {},
    )
    done = run(plan, table)
    released = done.released(order="table")
    # The distance by pandas alone: sums of shares up to each amount.
    order = sorted({*texts}, key=dict(zip(texts, amounts, strict=True)).__getitem__)
    whole = released["income"].value_counts(normalize=True).reindex(order).cumsum()
    worst = max(
        (group.value_counts(normalize=True).reindex(order, fill_value=0).cumsum() - whole)
        .abs().sum() / (len(order) - 1)
        for _, group in released.groupby("town")["income"]
    )  # fmt: skip
    (verdict,) = [one for one in done.verdicts if one.model == "t-closeness"]
    assert worst <= 0.2 + 1e-9
    assert verdict.level == pytest.approx(worst)


@pytest.mark.parametrize("name", NUMBERS)
def test_what_checks_a_release_orders_numbers_as_they_are(name):
    texts, kind, _ = NUMBERS[name]
    size = dict(zip(texts, read_numbers(texts), strict=True))
    wanted = sorted(texts, key=size.__getitem__)
    assert order_of_values(texts) == (wanted, True)
    for said in ("", kind):
        assert order_values(texts, said) == wanted
        assert np.argsort(_number_values(texts, said)).tolist() == [*map(texts.index, wanted)]


def test_a_chosen_kind_travels_with_the_table():
    table = MemoryTable(pd.DataFrame({"size": ["1.234", "20", None]}))
    kind = ColumnKind.parse("whole number 1.234")
    read = table.set_kinds({"size": kind}).complete(["size"])
    assert read.count_column_values("size").chosen == kind
    assert read.build_classes(["size"], ["size"]).sensitive[0].values == ("20", "1.234")
    assert table.count_column_values("size").chosen is None


@pytest.mark.parametrize("kind", ["xlsx", "parquet"])
def test_a_column_with_a_type_has_its_kind_already(kind):
    days = pd.to_datetime(["1981-03-04", "1990-12-05"])
    table = pd.DataFrame({"born": days, "seen": days + pd.Timedelta("5h"), "paid": [1.5, 3.0]})
    buffer = io.BytesIO()
    table.to_excel(buffer, index=False) if kind == "xlsx" else table.to_parquet(buffer)
    read = read_table(buffer.getvalue(), f"people.{kind}").records
    assert [str(find_kind(read.count_column_values(column).texts)) for column in table.columns] == [
        "date YYYY-MM-DD", "date and time YYYY-MM-DD", "decimal 1234.56",
    ]  # fmt: skip


def test_the_page_of_kinds_names_every_pattern():
    page = (ROOT / "docs" / "reference" / "kinds.md").read_text("utf-8")
    for name, patterns in PATTERNS.items():
        assert all(f"`{word}`" in page for word in (name, *patterns))


def test_a_coarsened_income_is_in_groups_whatever_kind_was_chosen():
    paid = ["1.234,50", "999,90", "12.000,00", "1.000", "950,00", "1.999,99"]
    table = pd.DataFrame({"town": list("ababab"), "paid": paid})
    plan = plan_for(
        {
            "town": qi(),
            "paid": {
                "role": "sensitive",
                "level": 1,
                "hierarchy": {"build": "intervals", "widths": [1000]},
            },
        },
        privacy=[{"model": "k-anonymity", "k": 3}, {"model": "t-closeness", "t": 1}],
        read={"kinds": {"paid": "decimal 1.234,56"}},
    )
    done = run(plan, table)
    assert done.released(order="table")["paid"].tolist() == [
        "1000 to <2000", "0 to <1000", "12000 to <13000", "1000 to <2000", "0 to <1000",
        "1000 to <2000",
    ]  # fmt: skip
    assert all(verdict.holds for verdict in done.verdicts)
