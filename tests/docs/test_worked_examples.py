"""Small tables that the documents print, through a whole plan: what they show has to come out."""

import pandas as pd

from kanon.run import run
from support.plans import make_plan, qi_with


def plan(k, hierarchies, sensitive=(), **algorithm):
    columns = {name: qi_with(chosen) for name, chosen in hierarchies.items()}
    return make_plan(columns | {name: {"role": "sensitive"} for name in sensitive}, k, algorithm)


def test_the_four_records_of_de_spoelberch():
    """[dS] fig. 2.2: postcodes and ages of four people, 2-anonymous; each keeps its income."""
    people = pd.DataFrame({
        "zipcode": ["28488", "79203", "28473", "79203"],
        "age": [33, 24, 39, 27],
        "income": ["52k", "98k", "36k", "64k"],
    })  # fmt: skip
    trees = {
        "zipcode": {"build": "mask", "keep": [3]},
        "age": {"build": "intervals", "widths": [10]},
    }
    done = run(plan(2, trees, ["income"], name="gaa"), people)
    assert done.released(order="table").to_numpy().tolist() == [
        ["284**", "30-39", "52k"],
        ["79203", "20-29", "98k"],
        ["284**", "30-39", "36k"],
        ["79203", "20-29", "64k"],
    ]
