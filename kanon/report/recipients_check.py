"""What a released table guarantees, found out from its file alone.

Run it in the folder of the unpacked archive: python check.py
It needs Python 3.11 and pandas (for .xlsx also openpyxl or python-calamine, for
.parquet and .feather also pyarrow).
It reads SHA256SUMS, plan.json (what was asked for) and the released file, and changes nothing.
Exit status: 0 if all that it can check holds, else 1.

Rows that agree in all quasi-identifiers form a class. Each model of the plan is reckoned for every
class; the table shows that of the worst one. Blank cells of a column are one value; to l-diversity
and (alpha, k)-anonymity values that read alike are one too (Asthma and ASTHMA, I21.0 and I210).
Levels within a billionth of what was asked count as equal, as computers round.
"""

import csv
import hashlib
import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Container, Hashable, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pandas as pd

from kanon.privacy.plans import RECOUNTS
from kanon.release.cell_values import in_order, read_as, value_of

Row = dict[str, str]
Finding = tuple[str, str, float | str | None, bool | None]  # what, asked, found, holds

HOLDS = {True: "yes", False: "NO", None: "cannot be told"}

NOT_CHECKED = """
Not checked, as the file does not tell: what is known about these people from elsewhere, other
releases of the same table, what columns tell that are neither quasi-identifiers nor sensitive,
that a release is minimal, which may tell more, whether the plan asks for enough, and whether the
cells are true."""


def cell_text(cell: Any) -> str:
    """A cell as text: nothing where it is missing; 39.0 is 39, as in a file without types."""
    if cell is None or pd.isna(cell):
        return ""
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)


TYPED: dict[str, Any] = {
    ".feather": pd.read_feather,
    ".parquet": pd.read_parquet,
}


def read_table(
    path: Path, known: Container[str], how: Mapping[str, str] = MappingProxyType({})
) -> tuple[list[str], list[Row]]:
    """The names of the columns of a released file, and its rows, every cell as text."""
    if path.suffix in (".csv", ".tsv"):
        csv.field_size_limit(2**31 - 1)
        with path.open(encoding=how.get("encoding", "utf-8"), newline="") as file:
            separator = how.get("separator", "," if path.suffix == ".csv" else "\t")
            names, *rows = csv.reader(file, delimiter=separator, strict=True)
    elif path.suffix == ".xlsx":
        engine = "openpyxl" if find_spec("openpyxl") else "calamine"  # whichever there is
        sheet = pd.read_excel(path, header=None, dtype=object, keep_default_na=False, engine=engine)
        names, *rows = [[cell_text(cell) for cell in row] for row in sheet.to_numpy()]
    else:
        # Else blanks would blur long numbers.
        table = TYPED[path.suffix](path, dtype_backend="numpy_nullable")
        names = [str(name) for name in table.columns]
        rows = [[cell_text(cell) for cell in row] for row in table.itertuples(index=False)]
    # An apostrophe may have been put in front of what a spreadsheet would take for a formula.
    names = [name if name in known else name.removeprefix("'") for name in names]
    return names, [dict(zip(names, row, strict=True)) for row in rows]


def worst_class(
    asked: dict[str, Any], classes: list[Counter[str]], kind: str
) -> tuple[float | None, bool]:
    """What the worst class has of a model, and whether that is enough."""
    if not classes:
        return None, True
    whole: Counter[str] = Counter()
    for mix in classes:
        whole.update(mix)
    usual = {value: whole[value] / whole.total() for value in in_order(whole, kind)}
    recount, _ = RECOUNTS[asked["model"]]
    limits = {name: asked[name] for name in asked if name not in ("model", "column")}
    return recount(classes, usual, **limits)


def classes_by(
    rows: list[Row], quasi: list[str], column: str | None, alike: bool = False
) -> list[Counter[str]]:
    """Per class how many rows have each value of a column (of alike ones the first), or in all."""
    classes: defaultdict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    first: dict[Hashable, str] = {}
    spoken: dict[str, str] = {}  # per value the first that reads like it
    for row in rows:
        value = value_of(row[column]) if column else ""
        if alike and value not in spoken:
            spoken[value] = first.setdefault(read_as(value), value)
        value = spoken[value] if alike else value
        classes[tuple(row[name] for name in quasi)][value] += 1
    return list(classes.values())


def check_table(plan: dict[str, Any], names: list[str], rows: list[Row]) -> list[Finding]:
    """All that the plan asks for."""
    columns = plan["columns"]
    quasi = [name for name in columns if columns[name]["role"] == "quasi-identifier"]
    sensitive = [name for name in columns if columns[name]["role"] == "sensitive"]
    named = [name for name in columns if columns[name]["role"] == "identifier"]
    replaced = [name for name in named if columns[name].get("pseudonym")]
    missing = len({*quasi, *sensitive} - {*names})
    shown = len({*named} & {*names} - {*replaced})
    found: list[Finding] = [("columns missing", "0", missing, not missing)]
    if missing:
        return found
    found.append(("identifiers shown", "0", shown, not shown))
    for name in replaced:
        others = sum(not re.fullmatch("(P_[1-9][0-9]*)?", row.get(name, "")) for row in rows)
        found.append((f"no pseudonyms in {name}", "0", others, not others))
    if plan.get("suppressed") == "keep" and "suppressed" in names:
        gone = [row for row in rows if row["suppressed"] == "1"]
        rows = [row for row in rows if row["suppressed"] != "1"]
        blank = [name for name in names if name not in (*quasi, *replaced, "suppressed")]
        told = sum(any(row[name] for name in blank) for row in gone)
        told += len({tuple(row[name] for name in quasi) for row in gone}) > 1
        found.append(("suppressed rows with values", "0", told, not told))
    for asked in plan["privacy"]:
        column = None
        if asked["model"] != "k-anonymity":
            column = asked.get("column") or sensitive[0]
        what = f"{asked['model']} of {column}" if column else asked["model"]
        said = ", ".join(f"{key} = {asked[key]}" for key in asked if key not in ("model", "column"))
        kind = (plan.get("read", {}).get("kinds") or {}).get(column, "")
        if column and columns[column].get("level") is not None:  # groups have names of their own
            kind = ""
        classes = classes_by(rows, quasi, column, RECOUNTS[asked["model"]][1])
        found.append((what, said, *worst_class(asked, classes, kind)))
    if person := plan.get("person"):
        k = max(part.get("k", 1) for part in plan["privacy"])
        classes = classes_by(rows, quasi, person) if person in names else []
        least = min(map(len, classes), default=None)
        enough = (least is None or least >= k) if person in names else None
        found.append((f"persons by {person}", f"k = {k}", least, enough))
    return found


def check_sums(folder: Path) -> Iterator[Finding]:
    """Whether each file is the one that SHA256SUMS was made of."""
    for line in (folder / "SHA256SUMS").read_text("utf-8").splitlines():
        digest, name = line.split("  ", 1)
        same = hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest
        yield f"checksum of {name}", "the same", "the same" if same else "another one", same


def main(folder: Path) -> int:
    """Check the archive in a folder; returns the exit status."""
    plan = json.loads((folder / "plan.json").read_text("utf-8"))
    (path,) = folder.glob("released.*")
    table = read_table(path, plan["columns"], plan["read"])
    found = [*check_sums(folder), *check_table(plan, *table)]
    lines = [("what", "asked", "found", "holds")]
    for what, asked, level, holds in found:
        said = f"{level:.6g}" if isinstance(level, int | float) else level or "-"
        if isinstance(level, float) and said.isdecimal():  # 1.0000004 is not 1
            said = f"{level:.12g}"
        lines.append((what, asked, said, HOLDS[holds]))
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        text = "  ".join(part.ljust(width) for part, width in zip(line, widths, strict=True))
        # Signs that a terminal would obey, or cannot show, are shown as question marks.
        print("".join(sign if sign.isprintable() else "?" for sign in text).rstrip())
    print(NOT_CHECKED)
    if plan.get("order") == "table":
        print("The rows keep the table's order: anyone who knows it can tell whose each is.")
    return int(any(holds is False for *_, holds in found))


if __name__ == "__main__":
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent))
