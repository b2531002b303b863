"""What holds where the recipes of docs/contribute/adding/ were followed: in a copy, by
tests/docs/test_contributing.py."""

import json
import re
import subprocess
import sys
import zipfile

import numpy as np
import pandas as pd
import pytest

import kanon.measures
from kanon.algorithms.catalogue import algorithms
from kanon.cards import parts_of
from kanon.charts.style import METRIC_COLOURS, get_metric_colour
from kanon.cli.main import main
from kanon.errors import PlanError
from kanon.hierarchy.intermediate_costs import COMPOSED
from kanon.measures.extended_measures import get_further_cards
from kanon.metrics import BESIDE, METRICS, PUBLISHED, potentials
from kanon.plan import Plan
from kanon.run import run
from kanon.sources.reading import read_table
from kanon.studio.widgets.how import format_metric_formula
from kanon.teaching.glossary import load_glossary
from support import dashboard
from support.browser import QUESTIONS
from support.plans import plan_content, qi
from support.random_tables import PlainTree

PLAN = plan_content(
    {"age": qi("intervals", widths=[10]), "sex": qi()}, 2, {"name": "gaa", "metric": "pairs"}
)
TABLE = pd.DataFrame({"age": [31, 34, 38, 52, 57, 31], "sex": ["F", "F", "F", "M", "F", "F"]})


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "plan.json").write_text(json.dumps(PLAN))
    TABLE.to_csv(tmp_path / "table.csv", index=False)
    return tmp_path


def test_followed_metric_is_one_of_the_metrics():
    assert "pairs" in METRICS and "pairs" in BESIDE and "pairs" in COMPOSED
    assert "pairs" not in PUBLISHED and [*METRICS][-1] == "custom"
    tree = PlainTree({"*": None, "A": "*", "a": "A", "b": "A", "c": "*"}).build()
    (depth,) = potentials(METRICS["pairs"], [tree])
    assert [depth[tree.node_of[name]] for name in "aA*"] == pytest.approx([1, 2 / 3, 0])
    assert "nl(x′)(nl(x′) − 1)" in format_metric_formula(METRICS["pairs"])
    assert get_metric_colour("pairs") not in METRIC_COLOURS.values()


def test_followed_metric_is_one_of_plans():
    assert Plan.from_content(PLAN).algorithm.metric == "pairs"
    wrong = {**PLAN, "algorithm": {"name": "gaa", "metric": "pears"}}
    with pytest.raises(PlanError, match="general-loss, pairs, custom"):
        Plan.from_content(wrong)
    own = {"mine": {"intermediate": "pairs", "multiplier": "w2"}}
    assert Plan.from_content({**PLAN, "metrics": own}).composed_metrics["mine"].multiplier == "w2"


def test_followed_metric_and_measure_are_on_the_command_line(folder):
    given = [str(folder / "plan.json"), "--table", str(folder / "table.csv"), "--out"]
    swept = str(folder / "curves.csv")
    assert main(["sweep", *given, swept, "--k", "2,3", "--metrics", "ncp,pairs"]) == 0
    curves = pd.read_csv(swept)
    assert curves["metric"].tolist() == ["ncp", "ncp", "pairs", "pairs"]
    assert np.isfinite(curves["alteration_pairs"]).all()
    measured = str(folder / "m.json")
    assert main(["run", *given, str(folder / "out.csv"), "--measures", measured]) == 0
    with open(measured, encoding="utf-8") as file:
        found = json.load(file)
    assert "pairs" in found["alteration"]
    assert found["changed_records_percent"] == pytest.approx(100 * 4 / 6), "but for two of 31"


def test_followed_measure_is_one_of_the_measures():
    assert "changed_records_percent" in parts_of(kanon.measures)
    assert "changed_records_percent" in get_further_cards()


def test_followed_everything_is_one_of_the_algorithms():
    plan = Plan.from_content({**PLAN, "algorithm": {"name": "everything"}})
    assert "everything" in algorithms() and plan.algorithm.name == "everything"


def test_followed_model_is_met_and_checked():
    wanted = {"model": "largest-share", "share": 0.7, "column": "ill"}
    plan = {**PLAN, "columns": {**PLAN["columns"], "ill": {"role": "sensitive"}}}
    done = run(
        Plan.from_content({**plan, "privacy": [*PLAN["privacy"], wanted]}),
        TABLE.assign(ill=["flu", "flu", "cold", "cold", "flu", "cold"]),
    )
    ill = done.released().groupby(["age", "sex"])["ill"]
    largest = ill.value_counts(normalize=True).max()
    assert largest <= 0.7 and done.verdicts[1].holds
    assert done.verdicts[1].level == pytest.approx(largest)


def test_followed_model_is_checked_by_the_recipient(folder):
    wanted = {"model": "largest-share", "share": 0.7}
    columns = {**PLAN["columns"], "ill": {"role": "sensitive"}}
    plan = {**PLAN, "columns": columns, "privacy": [*PLAN["privacy"], wanted]}
    (folder / "plan.json").write_text(json.dumps(plan))
    ill = ["flu", "flu", "cold", "cold", "flu", "cold"]
    TABLE.assign(ill=ill).to_csv(folder / "table.csv", index=False)
    given = ["--table", str(folder / "table.csv"), "--out", str(folder / "out.csv")]
    pack = folder / "pack.zip"
    assert main(["run", str(folder / "plan.json"), *given, "--bundle", str(pack)]) == 0
    with zipfile.ZipFile(pack) as packed:
        packed.extractall(folder / "unpacked")
    check = [sys.executable, "check.py"]
    done = subprocess.run(check, cwd=folder / "unpacked", capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (line,) = (row for row in done.stdout.splitlines() if row.startswith("largest-share of ill"))
    assert re.fullmatch(r"largest-share of ill +share = 0.7 +0.[56]\d* +yes", line), line


def test_followed_command_counts_the_classes(folder, capsys):
    assert main(["count", "--table", str(folder / "table.csv"), "--qi", "age,sex"]) == 0
    assert capsys.readouterr().out == "5\n"


def test_followed_engine_releases_what_memory_does(folder):
    TABLE.to_parquet(folder / "table.parquet", index=False)
    plan, table = str(folder / "plan.json"), str(folder / "table.parquet")
    found = []
    for engine in ("arrow", "memory"):
        out = folder / f"{engine}.parquet"
        assert main(["run", plan, "--table", table, "--engine", engine, "--out", str(out)]) == 0
        found.append(pd.read_parquet(out).astype(str).value_counts().to_dict())
    assert found[0] == found[1]


def test_followed_format_is_read_written_and_checked(folder):
    plan, stream = str(folder / "plan.json"), str(folder / "out.arrows")
    given = ["run", plan, "--table", str(folder / "table.csv"), "--out"]
    pack = folder / "pack.zip"
    assert main([*given, stream, "--bundle", str(pack)]) == 0
    with zipfile.ZipFile(pack) as packed:
        packed.extractall(folder / "unpacked")
    check = [sys.executable, "check.py"]
    done = subprocess.run(check, cwd=folder / "unpacked", capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert main([*given, str(folder / "out.csv")]) == 0
    again, plain = (read_table(folder / name).table for name in ("out.arrows", "out.csv"))
    assert again.astype(str).to_numpy().tolist() == plain.to_numpy().tolist()


def test_followed_parts_are_words_of_the_glossary():
    assert {"Pairs", "Changed records", "Everything at the root"} <= {*load_glossary()}


def options(at, key):
    """What can be chosen in the control of that key, as it is called there."""
    (found,) = (one for one in [*at.selectbox, *at.button_group] if one.key == key)
    return [re.sub(r"\\", "", str(getattr(option, "content", option))) for option in found.options]


def test_followed_parts_are_on_the_pages(start):
    at = start()
    assert "Pairs" in options(at, dashboard.frame_metric(at))
    assert "Everything at the root — full-domain" in options(at, "run-algorithm")
    assert "Pairs" in options(dashboard.go(at, dashboard.METRICS_PAGE), "costs-first")
    assert "lost pairs / all pairs" in options(at, "compose-intermediate")
    dashboard.go(at, dashboard.COMPARE)
    assert "Pairs" in options(at, "compare-metrics")
    at.button_group(key="compare-metrics").set_value(["ncp", "pairs"])
    dashboard.settled(dashboard.press(dashboard.go(at), "Compare"))
    kind = f"board-{dashboard.work(at).version}-0-kind"
    assert "Changed records" in options(at, kind)
    at.selectbox(key=kind).set_value("Changed records")
    # It is no running sum, so it is measured now that it is asked for.
    dashboard.settled(dashboard.go(at))
    panel = dashboard.told_to_cursor(at)["panels"][0]
    assert panel["title"] == "Changed records" and len(panel["lines"]) == 2
    dashboard.settled(dashboard.press(dashboard.go(at, dashboard.ANONYMISE), "Anonymise"))
    dashboard.go(at, "pages/utility.py")
    (table,) = (table.value for table in at.dataframe if "Measure" in table.value)
    assert "Changed records" in set(table["Measure"])
    dashboard.go(at, "pages/sizes.py")
    assert at.title[0].value == "How large is each class?" == QUESTIONS["Sizes"]
    (chart,) = at.get("plotly_chart")
    assert "Classes of " in chart.proto.spec
