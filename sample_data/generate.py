"""Draw the two synthetic samples, census.csv and voters.csv, and shuffle hospital.csv.

    python sample_data/generate.py           write the three files beside this one
    python sample_data/generate.py --check   exit 1 if the files differ from what would be written

Every person is invented. The files come out the same, byte for byte, on every machine: the only
random numbers are `Generator.random()` on PCG64, and every distribution is a table of integer
weights, so no logarithm or exponential of a particular platform has a say.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
SEED = 20_240_229
RECORDS = 30_000

# ---------------------------------------------------------------------------------------------
# Drawing


def draw(rng: np.random.Generator, weights: np.ndarray) -> np.ndarray:
    """One index per row of `weights`, an (n, values) array of integers ≥ 0, in their proportion."""
    below = np.cumsum(weights, axis=1)
    total = below[:, -1]
    ticket = (rng.random(len(weights)) * total).astype(np.int64)
    return (below <= ticket[:, None]).sum(axis=1)


def draw_alike(rng: np.random.Generator, weights: Sequence[int] | np.ndarray) -> np.ndarray:
    """One index per record, all from the same weights."""
    return draw(rng, np.broadcast_to(np.array(weights, dtype=np.int64), (RECORDS, len(weights))))


def rows(table: Sequence[Sequence[int]], which: np.ndarray) -> np.ndarray:
    """The weights of each record: row `which` of `table`."""
    return np.array(table, dtype=np.int64)[which]


def band(values: np.ndarray, starts: Sequence[int]) -> np.ndarray:
    """The number of the band a value falls in: band i + 1 starts at `starts[i]`."""
    return np.searchsorted(np.array(starts), values, side="right")


def csv_bytes(columns: dict[str, Sequence[str]]) -> bytes:
    """A semicolon CSV with a header row, UTF-8, LF."""
    lines = [";".join(columns), *map(";".join, zip(*columns.values(), strict=True))]
    return ("\n".join(lines) + "\n").encode("utf-8")


def labels(names: Sequence[str], which: np.ndarray) -> list[str]:
    return [names[i] for i in which.tolist()]


# ---------------------------------------------------------------------------------------------
# census.csv: a country that does not exist, its people in four parts and twelve regions

SEXES = ["Female", "Male"]
REGIONS = {  # region: weight; three in five live in the capital's
    "Carrowfell": 20,
    "Brindmoor": 6,
    "Skarrowdale": 4,
    "Mereholm": 175,
    "Tallowmere": 14,
    "Esterwater": 10,
    "Gullhaven": 640,
    "Pellmouth": 40,
    "Sandrick": 10,
    "Oxenvale": 60,
    "Harrowfold": 15,
    "Barleycombe": 6,
}

EDUCATION = [
    "No schooling",
    "Primary school",
    "Middle school",
    "High school",
    "Trade certificate",
    "Bachelor",
    "Master",
    "Doctorate",
]
EDUCATION_FROM = [21, 23, 27, 35, 50, 65, 75]  # a degree takes its years; the old had fewer schools
EDUCATION_BY_AGE = [
    [1, 3, 36, 800, 160, 0, 0, 0],
    [1, 3, 30, 670, 160, 136, 0, 0],
    [1, 3, 26, 535, 180, 235, 20, 0],
    [1, 4, 30, 510, 220, 200, 31, 4],
    [1, 6, 50, 550, 260, 105, 24, 4],
    [3, 18, 130, 555, 230, 50, 12, 2],
    [6, 100, 380, 380, 110, 18, 5, 1],
    [20, 330, 400, 190, 50, 8, 2, 0],
]
SCHOOLING = [0, 0, 0, 1, 2, 3, 4, 4]  # education: which row of the tables below

MARITAL = ["Never married", "Married", "Separated", "Divorced", "Widowed"]
MARITAL_FROM = [21, 25, 30, 40, 55, 67, 78]
MARITAL_BY_AGE = [
    [993, 7, 0, 0, 0],
    [930, 66, 2, 2, 0],
    [620, 360, 8, 12, 0],
    [200, 743, 10, 45, 2],
    [80, 810, 10, 92, 8],
    [45, 795, 8, 97, 55],
    [30, 700, 3, 57, 210],
    [22, 430, 1, 22, 525],
]

OCCUPATION = [
    "Manager",
    "Professional",
    "Technician",
    "Office clerk",
    "Salesperson",
    "Service worker",
    "Craft worker",
    "Machine operator",
    "Farm worker",
    "Student",
    "Jobless",
    "Retired",
]
WORK_BY_SCHOOLING = [  # the nine kinds of work, by schooling
    [3, 0, 1, 4, 15, 250, 70, 360, 100],
    [20, 2, 10, 330, 180, 260, 70, 80, 10],
    [15, 2, 160, 20, 10, 70, 660, 60, 3],
    [170, 670, 80, 55, 15, 2, 1, 0, 0],
    [120, 870, 8, 2, 0, 0, 0, 0, 0],
]
WORK_BY_SEX = [  # per cent of the weights above
    [80, 115, 70, 180, 120, 180, 10, 35, 50],
    [120, 85, 130, 25, 80, 40, 190, 160, 150],
]
LIFE_FROM = [21, 25, 30, 55, 60, 65, 70, 76]
LIFE_BY_AGE = [  # working, student, jobless, retired
    [330, 620, 50, 0],
    [620, 310, 70, 0],
    [890, 50, 60, 0],
    [954, 1, 45, 0],
    [915, 0, 50, 35],
    [710, 0, 50, 240],
    [170, 0, 0, 830],
    [45, 0, 0, 955],
    [6, 0, 0, 994],
]

HOUSEHOLD = ["1", "2", "3", "4", "5", "6", "7"]
HOUSEHOLD_BY_STATUS = [  # young, grown, old; for the unmarried and for the married
    [120, 170, 260, 280, 110, 40, 20],
    [520, 270, 120, 60, 20, 7, 3],
    [800, 150, 30, 12, 5, 2, 1],
    [0, 430, 330, 170, 50, 15, 5],
    [0, 260, 250, 320, 120, 35, 15],
    [0, 850, 100, 35, 10, 3, 2],
]

HEALTH = [
    "none",
    "back pain",
    "high blood pressure",
    "asthma",
    "depression",
    "diabetes",
    "arthritis",
    "heart disease",
]
HEALTH_FROM = [30, 45, 60, 75]
HEALTH_BY_AGE = [
    [800, 60, 10, 65, 50, 8, 4, 3],
    [690, 130, 40, 50, 60, 18, 8, 4],
    [540, 165, 120, 40, 50, 45, 25, 15],
    [370, 140, 210, 35, 35, 85, 80, 45],
    [250, 110, 240, 30, 30, 100, 140, 100],
]

INCOME = ["under 15k", "15k to 25k", "25k to 40k", "40k to 60k", "60k and over"]
INCOME_OF_WORK = [4, 3, 2, 1, 1, 1, 1, 1, 0, 0, 0, 1]  # a score by occupation
INCOME_BY_SCORE = [
    [700, 220, 60, 15, 5],
    [380, 380, 190, 40, 10],
    [150, 350, 350, 120, 30],
    [50, 180, 420, 270, 80],
    [20, 80, 280, 390, 230],
    [10, 40, 160, 360, 430],
    [5, 20, 85, 290, 600],
    [5, 15, 55, 225, 700],
]


def census() -> dict[str, Sequence[str]]:
    """The columns of census.csv. Age comes first; all else hangs on it, directly or not."""
    rng = np.random.Generator(np.random.PCG64([SEED, 1]))
    ages = np.arange(18, 91)
    # Nearly level up to 55, then falling: by 90 one in ten is left.
    age = 18 + draw_alike(rng, np.where(ages < 55, 85 + ages // 3, 10 + 93 * (90 - ages) // 35))
    sex = draw(rng, rows([[50, 50], [53, 47], [60, 40]], band(age, [65, 78])))
    region = draw_alike(rng, list(REGIONS.values()))
    education = draw(rng, rows(EDUCATION_BY_AGE, band(age, EDUCATION_FROM)))
    marital = draw(rng, rows(MARITAL_BY_AGE, band(age, MARITAL_FROM)))

    schooling = np.array(SCHOOLING)[education]
    work = draw(rng, rows(WORK_BY_SCHOOLING, schooling) * rows(WORK_BY_SEX, sex))
    life = draw(rng, rows(LIFE_BY_AGE, band(age, LIFE_FROM)))
    occupation = np.where(life == 0, work, 8 + life)

    together = MARITAL.index("Married")
    household = draw(
        rng, rows(HOUSEHOLD_BY_STATUS, band(age, [30, 60]) + 3 * (marital == together))
    )
    health = draw(rng, rows(HEALTH_BY_AGE, band(age, HEALTH_FROM)))
    skilled = 1 * (schooling >= 1) + (schooling >= 2)
    score = np.array(INCOME_OF_WORK)[occupation] + skilled + (age >= 40)
    income = draw(rng, rows(INCOME_BY_SCORE, score))

    number = np.argsort(rng.random(RECORDS), kind="stable") + 1
    return {
        "person": [f"P{i:05d}" for i in number.tolist()],
        "age": [str(a) for a in age.tolist()],
        "sex": labels(SEXES, sex),
        "region": labels(list(REGIONS), region),
        "education": labels(EDUCATION, education),
        "marital-status": labels(MARITAL, marital),
        "occupation": labels(OCCUPATION, occupation),
        "household-size": labels(HOUSEHOLD, household),
        "health": labels(HEALTH, health),
        "income-band": labels(INCOME, income),
    }


# ---------------------------------------------------------------------------------------------
# voters.csv: an electoral roll with the hierarchy shapes 1,165 + 3 + 9 + 106

# A place is two digits (51, 52, 61, 62, 71, 72), five districts each; a district has four blocks of
# ten, district 0 a fifth one except in 72; a block uses the last digits 1 to 8.
PLACES = ["51", "52", "61", "62", "71", "72"]
ZIPS = [
    f"{place}{district}{block}{last}"
    for place in PLACES
    for district in range(5)
    for block in range(5 if district == 0 and place != "72" else 4)
    for last in range(1, 9)
]
PLACE_WEIGHTS = [30, 14, 22, 9, 16, 9]
DISTRICT_WEIGHTS = [10, 6, 4, 3, 2]  # district 0 is the town
LAST_WEIGHTS = [9, 7, 6, 5, 4, 3, 2, 1]

GENDERS = ["F", "M"]
RACES = [
    "Asian",
    "Black",
    "Hispanic",
    "Indigenous",
    "Multiracial",
    "Pacific Islander",
    "White",
    "Other",
]
RACES_BY_PLACE = [
    [60, 190, 170, 8, 30, 4, 510, 28],
    [30, 120, 90, 10, 20, 2, 710, 18],
    [90, 150, 240, 8, 35, 6, 440, 31],
    [20, 60, 70, 25, 15, 2, 795, 13],
    [40, 260, 110, 9, 25, 3, 530, 23],
    [15, 50, 50, 50, 15, 2, 805, 13],
]
PARTIES = [
    "Lantern Party",
    "Orchard Party",
    "Harbour List",
    "Compass Union",
    "Millwheel Workers",
    "Hearth Alliance",
    "Meadow Greens",
    "Free Rivers",
    "Old Bridge",
    "No party",
]
PARTIES_BY_AGE = [  # born before 1945, before 1970, later
    [380, 330, 50, 25, 30, 45, 8, 10, 40, 82],
    [330, 320, 55, 40, 40, 30, 25, 20, 15, 125],
    [280, 230, 50, 60, 35, 15, 70, 45, 5, 210],
]
PARTIES_BY_PLACE = [  # per cent of the weights above
    [120, 80, 130, 110, 90, 90, 120, 110, 90, 100],
    [95, 105, 100, 100, 120, 100, 90, 100, 100, 100],
    [115, 85, 160, 110, 100, 80, 110, 100, 80, 105],
    [75, 130, 40, 90, 90, 130, 90, 100, 130, 95],
    [105, 95, 90, 100, 150, 100, 80, 90, 100, 100],
    [65, 140, 30, 80, 80, 150, 100, 120, 150, 95],
]


def voters() -> dict[str, Sequence[str]]:
    """The columns of voters.csv."""
    rng = np.random.Generator(np.random.PCG64([SEED, 2]))
    zip_weights = [
        PLACE_WEIGHTS[PLACES.index(z[:2])]
        * DISTRICT_WEIGHTS[int(z[2])]
        * (6 - int(z[3]))
        * LAST_WEIGHTS[int(z[4]) - 1]
        for z in ZIPS
    ]
    # Drawn in two steps, so that no array of records × zips is needed.
    below = np.cumsum(np.array(zip_weights, dtype=np.int64))
    ticket = (rng.random(RECORDS) * below[-1]).astype(np.int64)
    zip_code = np.searchsorted(below, ticket, side="right")
    place = np.array([PLACES.index(z[:2]) for z in ZIPS])[zip_code]

    years = np.arange(1920, 1997)  # a roll of 2014: 18 to 94 years old
    birth_year = 1920 + draw_alike(rng, np.where(years < 1960, 2 + 2 * (years - 1920), 80))
    gender = draw(rng, rows([[60, 40], [52, 48]], band(birth_year, [1940])))
    race = draw(rng, rows(RACES_BY_PLACE, place))
    party = draw(
        rng,
        rows(PARTIES_BY_AGE, band(birth_year, [1945, 1970])) * rows(PARTIES_BY_PLACE, place),
    )
    return {
        "zip": labels(ZIPS, zip_code),
        "gender": labels(GENDERS, gender),
        "race": labels(RACES, race),
        "birth-year": [str(y) for y in birth_year.tolist()],
        "party": labels(PARTIES, party),
    }


# ---------------------------------------------------------------------------------------------
# hospital.csv: written by hand, and shuffled, as the order of its rows would give ages back

HOSPITAL = [
    "Agnes;23;47601;F;heart disease",
    "Bruno;27;47602;M;heart disease",
    "Clara;29;47605;F;heart disease",
    "Dmitri;31;47671;M;influenza",
    "Elif;34;47673;F;asthma",
    "Fatma;34;47673;F;diabetes",
    "Greta;45;47901;F;gastric ulcer",
    "Hugo;48;47904;M;influenza",
    "Ines;52;47906;F;bronchitis",
    "Jonas;57;47951;M;heart disease",
]


def hospital() -> dict[str, Sequence[str]]:
    """The columns of hospital.csv, its rows in random order."""
    rng = np.random.Generator(np.random.PCG64([SEED, 3]))
    shuffled = np.argsort(rng.random(len(HOSPITAL)), kind="stable").tolist()
    records = zip(*(HOSPITAL[row].split(";") for row in shuffled), strict=True)
    return dict(zip(["name", "age", "zip", "sex", "disease"], records, strict=True))


# ---------------------------------------------------------------------------------------------


def files() -> dict[str, bytes]:
    """The content of every generated file, by name."""
    made = {"census.csv": census(), "voters.csv": voters(), "hospital.csv": hospital()}
    return {name: csv_bytes(columns) for name, columns in made.items()}


def main(arguments: Sequence[str] | None = None, folder: Path = HERE) -> int:
    parser = argparse.ArgumentParser(
        description="Draw census.csv and voters.csv, and shuffle hospital.csv."
    )
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit 1 if a file differs"
    )
    check = parser.parse_args(arguments).check
    status = 0
    for name, content in files().items():
        path = folder / name
        if not check:
            path.write_bytes(content)
        elif not path.is_file() or path.read_bytes() != content:
            print(f"{path} differs from what generate.py draws", file=sys.stderr)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
