"""The people as text, and as a table of every engine."""

from pathlib import Path

import pandas as pd
import pytest

from kanon.plan import Plan
from kanon.sources.addresses import Address
from kanon.sources.missing import mark_missing
from kanon.sources.stored import StoredTable, open_stored
from support.plans import plan_content, qi

AS_WRITTEN = pd.DataFrame(
    {
        "name": ["Ana", "Ben", "Chi", "Ana", "Eve", "?", "Gil", "Hal", "Ida", "Jon", "Kim", "Lou"],
        "age": ["34", " 34", "34.0", "47", "47", "?", "51", "51", "52", "90", "34", "47"],
        "zip": ["007", "007", "008", "008", "7", "7", "", "007", "008", "009", "007", "NA"],
        "note": ["a,b", 'say "x"', "NA", "", "é", "é", "1.10", "null", "c", "d", "e\nf", "g"],
        "ill": ["flu", "flu", "cold", "?", "10", "9", "flu", "cold", "", "flu", "flu", "9"],
    }
)


TEXTS = mark_missing(AS_WRITTEN)[0]


PASSED = {"role": "insensitive"}


TEXT_ROLES = {
    "note": PASSED,
    "name": {"role": "identifier", "pseudonym": True},
    "age": qi("intervals", widths=[10, 40]),
    "zip": qi(),
    "ill": {"role": "sensitive"},
}


GAA = {"name": "gaa"}


DATAFLY = {"name": "datafly"}


def plan_of(roles: dict, algorithm: dict, missing: str, suppressed: str, k: int = 2) -> Plan:
    content = plan_content(roles, k, algorithm, read={"missing": missing})
    if algorithm is DATAFLY:
        content |= {"suppression_limit": {"records": 6}, "suppressed": suppressed}
    return Plan.from_content(content)


@pytest.fixture
def people(tmp_path) -> tuple[Plan, StoredTable, Path]:
    path = tmp_path / "people.parquet"
    AS_WRITTEN.to_parquet(path, index=False)
    return plan_of(TEXT_ROLES, GAA, "as-value", "leave-out"), open_stored(Address(str(path))), path
