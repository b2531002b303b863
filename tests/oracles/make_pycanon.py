"""Measure invented tables by pyCANON and freeze what it says into ``pycanon.json``.

Run in an environment of its own, from the root of the project:

    python -m venv /tmp/pycanon && /tmp/pycanon/bin/pip install pycanon==1.3.6
    /tmp/pycanon/bin/python tests/oracles/make_pycanon.py
"""

import json
import platform
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd

ROOT = Path(__file__).parent.parent.parent
WHAT = [
    ("animals-m23", ["gender"], "disease"),
    ("animals-m23", ["gender", "race"], "disease"),
    ("hospital", ["sex"], "disease"),
    ("hospital", ["sex"], "age"),
    ("census", ["sex", "education"], "health"),
    ("census", ["region", "marital-status"], "health"),
    ("census", ["sex", "education"], "household-size"),
    ("census", ["occupation"], "age"),
]
NUMBERS = ("age", "household-size")
SEVERAL = [
    ("hospital", ["sex"], ["disease", "age"]),
    ("census", ["sex"], ["health", "marital-status"]),
    ("census", ["education"], ["health", "household-size"]),
]
"""Several sensitive columns: each is measured where the values of the others are known."""


def measured(name: str, quasi_identifiers: list[str], sensitive: str) -> dict[str, Any]:
    """The levels of one table; a distance is ordered for numbers, equal for anything else."""
    from pycanon import anonymity  # not there where the tests run

    path = ROOT / "sample_data" / f"{name}.csv"
    table = pd.read_csv(path, sep=";", dtype=str, keep_default_na=False)
    numeric = sensitive in NUMBERS
    if numeric:
        table[sensitive] = table[sensitive].astype(int)
    given = (table, quasi_identifiers, [sensitive])
    alpha, k = anonymity.alpha_k_anonymity(*given)
    levels = {
        "min_k": k,
        "distinct_l": anonymity.l_diversity(*given),
        "alpha": alpha,
        "t_emd_ordered" if numeric else "t_emd_equal": anonymity.t_closeness(*given),
        "basic_beta": anonymity.basic_beta_likeness(*given),
    }
    return {
        "table": path.relative_to(ROOT).as_posix(),
        "quasi_identifiers": quasi_identifiers,
        "sensitive": sensitive,
        "levels": {
            name: getattr(level, "item", lambda x=level: x)() for name, level in levels.items()
        },
    }


def measured_together(name: str, quasi_identifiers: list[str], sensitive: list[str]) -> Any:
    """The worst levels of several columns, the others counting as quasi-identifiers (gen=False)."""
    from pycanon import anonymity

    path = ROOT / "sample_data" / f"{name}.csv"
    table = pd.read_csv(path, sep=";", dtype=str, keep_default_na=False)
    given = (table, quasi_identifiers, sensitive, False)
    levels = {
        "distinct_l": int(anonymity.l_diversity(*given)),
        "alpha": float(anonymity.alpha_k_anonymity(*given)[0]),
        "t_emd_equal": float(anonymity.t_closeness(*given)),
        "basic_beta": float(anonymity.basic_beta_likeness(*given)),
    }
    return {
        "table": path.relative_to(ROOT).as_posix(),
        "quasi_identifiers": quasi_identifiers,
        "sensitive": sensitive,
        "levels": levels,
    }


def main() -> None:
    """Write the file."""
    found = {
        "tool": "pyCANON",
        "version": version("pycanon"),
        "python": platform.python_version(),
        "pandas": version("pandas"),
        "numpy": version("numpy"),
        "command": "python tests/oracles/make_pycanon.py",
        "date": date.today().isoformat(),
        "results": [measured(*each) for each in WHAT],
        "several": [measured_together(*each) for each in SEVERAL],
    }
    text = json.dumps(found, indent=2) + "\n"
    Path(__file__).with_name("pycanon.json").write_text(text, "utf-8")


if __name__ == "__main__":
    main()
