"""Check what a released table guarantees, from its file alone.

Run it in the folder of the unpacked archive: python check.py
It needs Python 3.11 and pandas (for .xlsx also openpyxl or python-calamine, for
.parquet and .feather also pyarrow, for .sav also pyreadstat).
It reads SHA256SUMS, plan.json (what was required) and the released file. It changes nothing.
Exit status: 0 if everything that it can check holds, otherwise 1.

Rows that agree in all quasi-identifiers form a class. Each model of the plan is counted in every
class; the output shows the worst class. Blank cells of a column count as one value. l-diversity and
(alpha, k)-anonymity also count values that read alike as one (Asthma and ASTHMA, I21.0 and I210).
Levels within a billionth of the requirement count as equal, because computers round.
"""

import csv
import hashlib
import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Container, Hashable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pandas as pd

from kanon.privacy.plans import RECOUNTS
from kanon.release.cell_values import fold_reading, normalise_value, order_values

Row = dict[str, str]
Finding = tuple[str, str, float | str | None, bool | None]  # checked, required, found, holds

HOLDS = {True: "yes", False: "NO", None: "cannot be checked"}

NOT_CHECKED = """
Not checked, because the file cannot show it: what is known about these people from elsewhere, other
releases of the same table, what columns with another role than quasi-identifier or sensitive
reveal, what can be inferred because values were generalised no more than needed, whether the plan
requires enough, and whether the cells are true."""


def convert_cell(cell: Any) -> str:
    """A cell as text: empty where it is missing; 39.0 is 39, as in a text file."""
    if cell is None or pd.isna(cell):
        return ""
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)


def read_stata(path: Path, **_: object) -> pd.DataFrame:
    """A Stata file, with the labels of its codes."""
    return pd.read_stata(path).astype(object)


TYPED: dict[str, Any] = {
    ".feather": pd.read_feather,
    ".parquet": pd.read_parquet,
    ".sav": pd.read_spss,
    ".dta": read_stata,
}


def read_table(
    path: Path, known: Container[str], how: Mapping[str, str] = MappingProxyType({})
) -> tuple[list[str], list[Row]]:
    """Read the column names and the rows of a released file, every cell as text."""
    if path.suffix in (".csv", ".tsv"):
        csv.field_size_limit(2**31 - 1)
        with path.open(encoding=how.get("encoding", "utf-8"), newline="") as file:
            separator = how.get("separator", "," if path.suffix == ".csv" else "\t")
            names, *rows = csv.reader(file, delimiter=separator, strict=True)
    elif path.suffix == ".xlsx":
        engine = "openpyxl" if find_spec("openpyxl") else "calamine"  # whichever there is
        sheet = pd.read_excel(path, header=None, dtype=object, keep_default_na=False, engine=engine)
        names, *rows = [[convert_cell(cell) for cell in row] for row in sheet.to_numpy()]
    else:
        # Otherwise blank cells would turn long whole numbers into inexact ones.
        table = TYPED[path.suffix](path, dtype_backend="numpy_nullable")
        names = [str(name) for name in table.columns]
        rows = [[convert_cell(cell) for cell in row] for row in table.itertuples(index=False)]
    # An apostrophe may stand before a name that a spreadsheet would take for a formula.
    names = [name if name in known else name.removeprefix("'") for name in names]
    return names, [dict(zip(names, row, strict=True)) for row in rows]


def find_worst_class(
    model: dict[str, Any], classes: list[Counter[str]], kind: str, hierarchy: Mapping[str, Any]
) -> tuple[float | None, bool]:
    """The level of the worst class for a model, and whether that is enough."""
    if not classes:
        return None, True
    whole: Counter[str] = Counter()
    for mix in classes:
        whole.update(mix)
    shares = {value: whole[value] / whole.total() for value in order_values(whole, kind)}
    recount, _ = RECOUNTS[model["model"]]
    about = ("model", "column", "columns", "others")
    limits = {name: model[name] for name in model if name not in about}
    if model.get("distance") == "hierarchical":
        nodes = hierarchy["nodes"]
        limits["tree"] = {node["name"]: (node["parent"] or "", node["level"]) for node in nodes}
    return recount(classes, shares, **limits)


def count_classes_by(
    rows: list[Row], quasi: list[str], columns: list[str], folds: bool = False,
    known: Sequence[str] = (),
) -> list[Counter[str]]:  # fmt: skip
    """Per class, its rows for each value of columns together; ``folds``: alike values are one.

    Rows of a class also agree in the columns that are known.
    """
    classes: defaultdict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    first: dict[Hashable, str] = {}
    usual_value: dict[str, str] = {}  # per value the first that reads like it
    for row in rows:
        values = [normalise_value(row[column]) for column in columns]
        for place, value in enumerate(values if folds else []):
            if value not in usual_value:
                usual_value[value] = first.setdefault(fold_reading(value), value)
            values[place] = usual_value[value]
        shared = [normalise_value(row[name]) for name in known]
        mix = classes[*(row[name] for name in quasi), *shared]
        mix[repr(values) if len(values) > 1 else "".join(values)] += 1
    return list(classes.values())


def check_whole_release(
    model: dict[str, Any], name: str, rows: list[Row], quasi: list[str], person: str | None
) -> tuple[float | None, bool | None]:
    """The level of a model of the whole release, and whether that is enough.

    Both are None where it needs a population, or persons that the file does not show.
    """
    if not rows:
        return None, True
    if name not in RECOUNTS or (person and name != "k-known" and person not in rows[0]):
        return None, None
    sizes: Counter[tuple[str, ...]] = Counter()
    persons: defaultdict[tuple[str, ...], set[str]] = defaultdict(set)
    for number, row in enumerate(rows):
        cells = tuple(row[column] for column in quasi)
        sizes[cells] += 1
        persons[cells].add(row[person] if person in row else str(number))
    classes = {cells: (size, len(persons[cells])) for cells, size in sizes.items()}
    limits = {key: model[key] for key in model if key != "model"}
    return RECOUNTS[name][0](classes, **limits)


def check_table(plan: dict[str, Any], names: list[str], rows: list[Row]) -> list[Finding]:
    """Check everything that the plan requires."""
    columns = plan["columns"]
    quasi = [name for name in columns if columns[name]["role"] == "quasi-identifier"]
    sensitive = [name for name in columns if columns[name]["role"] == "sensitive"]
    identifiers = [name for name in columns if columns[name]["role"] == "identifier"]
    pseudonymised = [name for name in identifiers if columns[name].get("pseudonym")]
    missing = len({*quasi, *sensitive} - {*names})
    identifiers_shown = len({*identifiers} & {*names} - {*pseudonymised})
    findings: list[Finding] = [("columns missing", "0", missing, not missing)]
    if missing:
        return findings
    findings.append(("identifiers shown", "0", identifiers_shown, not identifiers_shown))
    for name in pseudonymised:
        n_others = sum(not re.fullmatch("(P_[1-9][0-9]*)?", row.get(name, "")) for row in rows)
        findings.append((f"non-pseudonyms in {name}", "0", n_others, not n_others))
    if plan.get("suppressed") == "keep" and "suppressed" in names:
        suppressed_rows = [row for row in rows if row["suppressed"] == "1"]
        rows = [row for row in rows if row["suppressed"] != "1"]
        blank = [name for name in names if name not in (*quasi, *pseudonymised, "suppressed")]
        n_telling = sum(any(row[name] for name in blank) for row in suppressed_rows)
        n_telling += len({tuple(row[name] for name in quasi) for row in suppressed_rows}) > 1
        findings.append(("suppressed rows with values", "0", n_telling, not n_telling))
    for model in plan["privacy"]:
        own: list[str] = []
        name = "k-known" if model.get("known") else model["model"]
        of_release = name not in RECOUNTS or RECOUNTS[name][1] is None
        if name != "k-anonymity" and not of_release:
            own = model.get("columns") or [model.get("column") or sensitive[0]]
        subject = f"{model['model']} of {' × '.join(own)}" if own else model["model"]
        keys = [key for key in model if key not in ("model", "column", "columns")]
        limits = ", ".join(f"{key} = {model[key]}" for key in keys)
        if of_release:
            whole = check_whole_release(model, name, rows, quasi, plan.get("person"))
            findings.append((subject, limits, *whole))
            continue
        column = columns[own[0]] if own else {}
        kind = (plan.get("read", {}).get("kinds") or {}).get(" × ".join(own), "")
        if column.get("level") is not None:  # groups have names of their own
            kind = ""
        known = [name for name in sensitive if model.get("others") and name not in own]
        folds = bool(RECOUNTS[model["model"]][1])
        classes = count_classes_by(rows, quasi, own, folds, known)
        level = find_worst_class(model, classes, kind, column.get("hierarchy", {}))
        findings.append((subject, limits, *level))
    if person := plan.get("person"):
        parts = [part for part in plan["privacy"] if "population" not in part]
        k = max((part.get("k", 1) for part in parts if not part.get("known")), default=1)
        classes = count_classes_by(rows, quasi, [person]) if person in names else []
        least = min(map(len, classes), default=None)
        enough = (least is None or least >= k) if person in names else None
        findings.append((f"persons per class, by {person}", f"k = {k}", least, enough))
    return findings


def check_sums(folder: Path) -> Iterator[Finding]:
    """Check that each file is the one that SHA256SUMS lists."""
    for line in (folder / "SHA256SUMS").read_text("utf-8").splitlines():
        digest, name = line.split("  ", 1)
        same = hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest
        yield f"checksum of {name}", "the same", "the same" if same else "different", same


def main(folder: Path) -> int:
    """Check the archive in a folder and return the exit status."""
    plan = json.loads((folder / "plan.json").read_text("utf-8"))
    (path,) = folder.glob("released.*")
    table = read_table(path, plan["columns"], plan["read"])
    findings = [*check_sums(folder), *check_table(plan, *table)]
    lines = [("checked", "required", "found", "holds")]
    for subject, required, level, holds in findings:
        level_text = f"{level:.6g}" if isinstance(level, int | float) else level or "-"
        if isinstance(level, float) and level_text.isdecimal():  # 1.0000004 is not 1
            level_text = f"{level:.12g}"
        lines.append((subject, required, level_text, HOLDS[holds]))
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        text = "  ".join(part.ljust(width) for part, width in zip(line, widths, strict=True))
        # Characters that a terminal would obey, or cannot show, become question marks.
        print("".join(sign if sign.isprintable() else "?" for sign in text).rstrip())
    print(NOT_CHECKED)
    if plan.get("order") == "table":
        print("The rows keep the table's order: anyone who knows it can tell whose row each is.")
    return int(any(holds is False for *_, holds in findings))


if __name__ == "__main__":
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent))
