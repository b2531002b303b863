"""Risks in the population behind a sample: whose figures go where, and what is said of them."""

import json

import numpy as np
import pandas as pd
import pytest

from kanon.errors import PlanError, TableError
from kanon.evidence.sample_risk import measure_sample_risk
from kanon.plan import Plan
from kanon.run import run

PLAN = {
    "version": 2,
    "columns": {"sex": {"role": "quasi-identifier", "hierarchy": {"build": "suppression"}}},
    "algorithm": {"name": "gaa"},
    "privacy": [{"model": "k-anonymity", "k": 2}],
}
TABLE = pd.DataFrame(
    {
        "sex": ["F", "F", "M", "X"],
        "weight": ["10", "30", "5", "1"],
        "home": ["a", "b", "a", "c"],
        "note": ["-", "5", None, "7"],
    }
)


@pytest.fixture(scope="module")
def release():
    return run(Plan.from_content(PLAN), TABLE)


def test_risks_are_those_of_the_classes_by_hand(release):
    found = measure_sample_risk(release, households="home")
    assert found.risks[0].values.tolist() == [0.5, 0.5, 1, 1]
    assert found.risks[1].values.tolist() == [0.5] * 4
    assert found.households[0].values.tolist() == [1, 0.5, 1]
    assert found.households[1].values.tolist() == [0.75, 0.5, 0.5]
    assert (
        "A record is found with a chance of 50.0 % on average by the release" in found.sentences[0]
    )


def test_weights_lower_the_risk(release):
    found = measure_sample_risk(release, weights="weight")
    # Alone in the sample, for five people and for one.
    assert found.risks[0].values[2:].tolist() == pytest.approx([np.log(5) / 4, 1])
    assert (found.risks[1].values < 0.5).all()


def test_uniqueness_is_told_with_its_doubt(release):
    whole = measure_sample_risk(release, fraction=1)
    assert whole.uniqueness.estimates[whole.uniqueness.chosen].uniques == 2
    assert "50.0 % by the estimate of" in whole.sentences[0]
    doubtful = measure_sample_risk(release, fraction=0.01)
    assert "No estimate of how many people" in doubtful.sentences[0]


@pytest.mark.parametrize(
    ("about", "error", "sentence"),
    [
        ({"fraction": 0.0}, PlanError, "must be above 0 %"),
        ({"weights": "note"}, PlanError, "'note' cannot be the weights"),
        ({"weights": "gone"}, PlanError, "no column 'gone'"),
        ({"households": "note"}, TableError, "lack a household"),
    ],
)
def test_what_cannot_be_measured_is_refused(release, about, error, sentence):
    with pytest.raises(error, match=sentence):
        measure_sample_risk(release, **about)


def test_the_command_says_it(kanon, folder):
    TABLE.to_csv(folder / "table.csv", index=False)
    (folder / "plan.json").write_text(json.dumps(PLAN))
    call = ("attack", "plan.json", "--table", "table.csv", "--no-control", "--households", "home")
    numbers = json.loads(kanon(*call, "--fraction", "10%", "--weights", "weight", "--json").out)
    assert {"individual_risk", "household_risk", "population_uniqueness", "special_uniques"} <= {
        *numbers
    }
    assert numbers["population_uniqueness"]["population"] == 40
    assert "A household is found with a chance" in kanon(*call).out
    assert "--fraction: 'x' is not a share" in kanon(*call, "--fraction", "x").err
