"""The page about reliability: figures that were found, and parts that were not run."""

import pytest

from benchmarks.reliability import figures
from benchmarks.reliability.classroom import SERVER_MB, SESSION_MB, WORKERS_MB, limit_memory
from benchmarks.reliability.page import page
from benchmarks.reliability.soak import growth
from support.paths import ROOT

ABOUT = {"date": "2026-01-02", "commit": "abc", "machine": "a small one"}
FED = {"inputs": 1_000_000, "refused": 7, "slowest": 0.25, "seconds": 60, "findings": []}
FOUND = {
    "releases": {
        "seeds": [2], "released": {"gaa": 99_999, "levels": 1}, "refused": {"levels": 3},
        "models": {"k-anonymity": 100_000}, "metrics": {"ncp": 9}, "strategies": {"s1": 2},
        "suppressed": 5, "checked": 6, "tables": 70, "seconds": 600.0,
    },
    "files": {
        "seeds": [2], "released": {"memory, csv": 100_000}, "refused": 3, "withheld": 0,
        "tables": 7, "faults": [], "seconds": 600.0,
    },
    "fuzz": {"seed": 7, "targets": {"plan": FED}, "seconds": 600.0},
    "kills": {
        "seed": 7, "records": 60, "during": {"merging": 3}, "spared": 1, "slowest": 0.1,
        "again": 2.0,
    },
    "signals": {
        "seed": 7, "records": 60, "by": {"SIGINT": 300}, "left": {"nothing": 300}, "spared": 1,
        "slowest": 0.1, "seconds": 600.0,
    },
    "mutants": {
        "seed": 7, "planted": {"recoding": 200}, "killed": {"recoding": 199}, "hung": 1,
        "survivors": [
            ["kanon/recoding.py", 350, "self.into < 0", "live = np.flatnonzero((self.into <= 0))"]
        ], "seconds": 600.0,
    },
    "sessions": {
        "seed": 7, "seconds": 600.0, "sessions": 20, "opened": 25, "plateau": 1000.0, "end": 1101.0,
        "steps": {"reload": 4}, "slow": {}, "requests": 900, "elsewhere": 0, "complaints": [],
        "memory": [[0.0, 900.0], [0.5, 1000.0]],
    },
    "classroom": {
        "seed": 7, "seconds": 600.0, "sessions": 60, "browsers": 2, "errors": [], "busy": 0.5,
        "waits": {"take a step": [900, 0.5, 1.0, 7.5], "anonymise": [100, 1.5, 3.0, 8.0]},
        "all": [1000, 0.6, 2.0, 8.0], "memory": [[250.0, 2_000.0], 900.0], "session": 29.2,
        "limit": 6_350,
    },
    "visitors": {
        "seed": 7, "seconds": 600.0, "runs": 300, "heavy": {"a run": 20, "a comparison": 9},
        "records": {"short": 60, "compared": 20_000, "long": 100_000, "stored": 5_000_000},
        "begins": [0.1, 4.9], "results": [0.2, 5.1],
    },
    "browser": {
        "said": "9 passed in 60 s", "passed": True, "seconds": 60.0,
        "requests": {"windows": 2, "requests": 5_000},
        "measured": {
            "cancel, s": {"Data": 0.3, "Lattice": 1.5},
            "clicks, s": {"alone": [0.1, 0.2, 0.3], "beside a run": [0.5, 0.9, 0.6]},
            "kills": 6,
        },
    },
}  # fmt: skip


def full():
    return {name: {**ABOUT, **found} for name, found in FOUND.items()}


def test_aims_are_judged_by_the_figures():
    found = full()
    text = page(found)
    assert text.count("**Met.**") == 14 and text.count("**Not met.**") == 1
    assert "at most 10 % above the plateau. Found: +10.1 %. **Not met.**" in text
    assert "median 0.20 s alone, 0.60 s beside. **Met.**" in text
    found["fuzz"]["targets"] = {"csv": {**FED, "findings": ["7/csv/3: ValueError: no"]}}
    found["files"]["faults"] = ["table 2/5, memory, csv: no"]
    found["signals"]["by"] = {"SIGINT": 299}
    found["mutants"]["survivors"] = [["kanon/recoding.py", 1, "a < b", "a <= b"]]
    found["releases"]["released"] = {"gaa": 99_999}
    found["browser"]["passed"] = False
    found["browser"]["measured"]["cancel, s"]["Data"] = 2.5
    found["browser"]["measured"]["clicks, s"]["beside a run"] = [0.8]
    found["visitors"]["begins"] = [0.1, 5.1]
    found["classroom"] |= {"errors": ["step: No answer"], "all": [9, 2.1, 8, 8], "limit": 2_899}
    text = page(found)
    assert text.count("**Met.**") == 1
    assert "- `step: No answer`" in text
    assert "`table 2/5, memory, csv: no`" in text and "`7/csv/3: ValueError: no`" in text


@pytest.mark.parametrize("smaller", [{"sessions": 59}, {"seconds": 599.0}])
def test_a_smaller_class_meets_no_aim(smaller):
    found = full()
    found["classroom"] |= smaller
    (*lines,) = (line for line in page(found).splitlines() if line.startswith("- *classroom*"))
    assert len(lines) == 3 and all("**Not met.**" in line for line in lines)


def test_a_class_may_take_what_is_documented():
    text = (ROOT / "docs" / "operate" / "service.md").read_text("utf-8")
    for figure in (SERVER_MB, SESSION_MB):
        assert f"{figure} MB" in text
    assert f"{WORKERS_MB / 1000:g} GB" in text
    assert limit_memory(1) - limit_memory(0) == SESSION_MB


def test_the_page_that_is_kept_is_the_one_that_its_figures_give():
    assert figures.PAGE.read_text("utf-8") == page(figures.kept())


@pytest.mark.parametrize(("end", "expected"), [(100, 0), (110, 0.1)])
def test_growth_compares_the_end_with_the_middle(end, expected):
    memory = [
        (second, 50.0 if second < 20 else 100.0 if second < 50 else end) for second in range(60)
    ]
    plateau, last = growth(memory)
    assert (plateau, last / plateau - 1) == (100, pytest.approx(expected))
