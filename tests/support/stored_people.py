"""People of more classes than come here, a plan for them, and what it has to come to."""

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet

from kanon.plan import Plan
from kanon.run import Run
from kanon.sources.addresses import Address
from kanon.sources.row_order import sort_rows
from kanon.stored_classes import StoredClasses, StoredRecoding
from support.plans import plan_content, qi, qi_with

MOST = 600
"""So many classes come here in these tests."""

TOWNS = {"build": "groups", "levels": [
    {f"region {r}": [f"t{r}{n}" for n in range(4)] for r in range(4)},
    {"north": ["region 0", "region 1"], "south": ["region 2", "region 3"]},
]}  # fmt: skip

NOT_COUNTED = ["association_change", "number_change", "query_error_percent"]


def people(records: int = 2400) -> pd.DataFrame:
    """Skewed, with blanks around values, ties, and cells that are missing."""
    draw = np.random.default_rng(5)
    ages = 20 + (60 * draw.random(records) ** 2).astype(int)
    regions, places = (4 * draw.random(records) ** 2).astype(int), draw.integers(0, 4, records)
    towns = [f"t{region}{place}" for region, place in zip(regions, places, strict=True)]
    ills, shares = ["flu", "cold", "cough", "fever"], [0.5, 0.3, 0.15, 0.05]
    return pd.DataFrame(
        {
            "age": [f" {age}" if place % 7 == 0 else str(age) for place, age in enumerate(ages)],
            "town": [None if place % 50 == 3 else town for place, town in enumerate(towns)],
            "sex": np.where(draw.random(records) < 0.5, "F", "M"),
            "ill": draw.choice(ills, records, p=shares),
            "note": [f"n{place}" for place in range(records)],
        }
    )  # fmt: skip


PEOPLE = people()


def plan_of(algorithm: dict, k: int = 3, models: tuple[dict, ...] = (), **more: object) -> Plan:
    return Plan.from_content(
        plan_content(
            {
                "age": qi("intervals", widths=[5, 20]),
                "town": qi_with(TOWNS),
                "sex": qi(),
                "ill": {"role": "sensitive"},
                "note": {"role": "insensitive"},
            },
            k,
            algorithm,
            models=models,
            read={"missing": "as-value"},
        )
        | more
    )


def check_same(theirs: Run, ours: Run, out: Path) -> None:
    """The same node or merges, measures and release, its rows sorted."""
    assert isinstance(theirs.prepared.classes, StoredClasses)
    assert isinstance(theirs.recoding, StoredRecoding)
    assert theirs.recoding.nodes.tolist() == ours.recoding.nodes.tolist()
    assert theirs.recoding.counts.tolist() == ours.recoding.counts.tolist()
    expected = {**ours.measures, "seconds": 0, **dict.fromkeys(NOT_COUNTED)}
    expected.pop("numbers", None)  # what number_change is the mean of
    assert {**theirs.measures, "seconds": 0} == {**expected, "not_counted": NOT_COUNTED}
    assert theirs.recoding.trace.visited.tolist() == ours.recoding.trace.visited.tolist()
    theirs.write(Address(str(out)))
    found, release = pyarrow.parquet.read_table(out).to_pandas(), ours.released()
    assert rows_of(found[release.columns]) == rows_of(release.iloc[sort_rows(release)])


def rows_of(frame: pd.DataFrame) -> list[str]:
    return list(map(repr, frame.astype(object).where(frame.notna(), None).to_numpy().tolist()))
