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
import math
import re
import sys
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Container, Hashable, Iterable, Iterator, Mapping
from contextlib import suppress
from decimal import Decimal
from importlib.util import find_spec
from itertools import accumulate
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pandas as pd

Row = dict[str, str]
Finding = tuple[str, str, float | str | None, bool | None]  # what, asked, found, holds

LIMIT_OF = {
    "k-anonymity": "k",
    "distinct-l-diversity": "l",
    "entropy-l-diversity": "l",
    "recursive-cl-diversity": "c",
    "alpha-k-anonymity": "alpha",
    "t-closeness": "t",
    "delta-disclosure": "delta",
    "basic-beta-likeness": "beta",
    "enhanced-beta-likeness": "beta",
}
MISSING = """? na n/a nan null #n/a - -- --- . .. ... ?? / n.a. n.d. nil none <na> (missing) #value!
#ref! #div/0! missing notavailable notapplicable notknown notspecified notstated noanswer unknown
unk unspecified undefined unbekannt nichtbekannt k.a. keineangabe keineangaben ohneangabe fehlt
fehlend inconnu inconnue nonrenseigné nonprécisé sansréponse manquant manquante"""
BESIDE = r"((?:eur|usd|gbp|chf|fr\.|kr|zł|[^\w.,+-])*)"  # a number: its unit, or < and >
NUMBER = rf"{BESIDE}([+-]?)(\.\d+|\d(?:['’]?[.,\d])*)((?:e[+-]?\d+)?){BESIDE}"
DAY = r"\d\d?([-./])\d\d?\1(\d\d){1,2}|\d{4}([-./])\d\d?\3\d\d?|\d\d?(:\d\d){1,2}"
HOLDS = {True: "yes", False: "NO", None: "cannot be told"}
AT_LEAST = ("k-anonymity", "distinct-l-diversity", "entropy-l-diversity")  # at most: all others

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


def value_of(text: str) -> str:
    """A sensitive value: blanks around it, .0 behind a whole number and -0 make no other one."""
    value = re.sub(r"^([+-]?\d+)\.0$", r"\1", text.strip())
    return "0" if value in ("+0", "-0") else value


def read_as(text: str) -> Hashable:
    """What diversity counts a value as: values that read alike are one, and blank is missing."""
    for _ in "ab":  # what is put in its usual form may have blanks and capitals again
        text = "".join(s for s in text if unicodedata.category(s) not in "Cc Cf Zl Zp Zs")
        usual = unicodedata.normalize("NFKC", text)
        raised = len(re.findall(r"\d", usual)) > len(re.findall(r"\d", text))  # as in 10²
        usual = unicodedata.normalize("NFC", text) if raised else usual
        text = re.sub("[‐‑‒–—―−﹣－]", "-", usual.casefold())
    text = re.sub("^'(?=.)", "", text)
    if not text or text in MISSING.split():
        return ""
    if match := re.fullmatch(NUMBER, text):
        before, sign, digits, power, after = match.groups()
        if re.fullmatch(r"[1-9]\d?\d?([,'’]\d{3})+(\.\d*)?", digits):
            digits = re.sub("[,'’]", "", digits)
        elif re.fullmatch(r"[1-9]\d?\d?(\.\d{3})+,\d*", digits):
            digits = digits.replace(".", "")
        with suppress(ArithmeticError):  # 1.2.3 is no number
            value = Decimal(f"{sign}{digits.replace(',', '.')}{power}")
            # 1,5 and 1.5 are written in two ways that no column of numbers has both of.
            return before, value, "," in digits and value != value.to_integral_value(), after
    if re.fullmatch(DAY, text):
        return re.sub(r"(?<!\d)0+(?=\d)", "", text)
    if text[0].isalpha() and re.fullmatch(r"(?=.*\d)[\w./-]*[+*!†]?", text):  # a code
        if not text.replace(".", "").replace("-", "")[:4].isalpha():
            text = text.replace(".", "")  # behind four letters it is that of a number
        text = re.sub(r"(?<!\d)\.|\.(?!\d)", "", text)
        text = re.sub(r"(?<=[^\W_])-+(?=[^\W_])", "", text)
    return text


def sizes_of(texts: list[str], kind: str) -> list[float]:
    """The numbers that texts are, written as the plan says or as their marks tell; else all 0."""
    bare = [re.sub(r"[^0-9.,+-]", "", text.replace("−", "-")) for text in texts]
    groups = all(re.fullmatch(r"[+-]?[1-9]\d{0,2}(\.\d{3})*", text) for text in bare)
    groups = groups and any(re.fullmatch(r"[+-]?\d{3}", text) for text in bare)
    with suppress(ValueError):
        if kind in ("whole number 1234", "decimal 1234.56") or not (kind or groups):
            return [float(text) for text in texts]
    ends = [
        found[1]
        for text in bare
        if (found := re.search(r"([.,])(\d*)$", text))
        and (len(found[2]) != 3 or {".", ","} <= {*text})
    ]
    if kind:
        mark = kind[-3] if kind.startswith("decimal") else ""
    elif ends:
        mark = ends[0]
    else:  # three digits follow every mark
        mark = "" if groups or any("," in text or text.count(".") > 1 for text in bare) else "."
    other = str.maketrans({sign: "." if sign == mark else "" for sign in ".,"})
    try:
        return [float(text.translate(other)) for text in bare]
    except ValueError:
        return [0.0] * len(texts)


def in_order(values: Iterable[str], kind: str) -> list[str]:
    """Values by their size if they are numbers, else by the alphabet; the missing one last."""
    known = sorted(value for value in values if value)
    size = dict(zip(known, sizes_of(known, kind), strict=True))
    return sorted(known, key=size.__getitem__) + [value for value in values if not value]


def level_of(asked: dict[str, Any], mix: Counter[str], usual: dict[str, float]) -> float:
    """The number that a model is about, for one class."""
    model, size = asked["model"], mix.total()
    share = {value: count / size for value, count in mix.items()}
    if model == "k-anonymity":
        return size
    if model == "distinct-l-diversity":
        return len(mix)
    if model == "entropy-l-diversity":
        return math.exp(-sum(p * math.log(p) for p in share.values()))
    if model == "recursive-cl-diversity":
        counts = sorted(mix.values(), reverse=True)
        rare = sum(counts[asked["l"] - 1 :])
        return counts[0] / rare if rare else math.inf
    if model == "alpha-k-anonymity":
        return max(share.values())
    if model == "t-closeness":
        apart = [share.get(value, 0) - q for value, q in usual.items()]
        if asked["distance"] == "emd-ordered":  # how far shares are carried from value to value
            return sum(abs(carried) for carried in accumulate(apart)) / max(len(apart) - 1, 1)
        norm1 = sum(map(abs, apart))
        return norm1 if asked["distance"] == "norm1" else norm1 / 2
    if model == "delta-disclosure":
        if len(mix) < len(usual):  # a value is absent
            return math.inf
        return max(abs(math.log(p / usual[value])) for value, p in share.items())
    gain = {value: max(p / usual[value] - 1, 0) for value, p in share.items()}
    if model == "enhanced-beta-likeness":
        most = {value: -math.log(usual[value]) * (1 + 1e-12) + 1e-12 for value in gain}
        if any(gain[value] > most[value] for value in gain):
            return math.inf
    return max(gain.values())


def worst_class(
    asked: dict[str, Any], classes: list[Counter[str]], kind: str
) -> tuple[float | None, bool]:
    """What the worst class has of a model, and whether that is enough."""
    if not classes:
        return None, True
    model, limit = asked["model"], asked[LIMIT_OF[asked["model"]]]
    whole: Counter[str] = Counter()
    for mix in classes:
        whole.update(mix)
    usual = {value: whole[value] / whole.total() for value in in_order(whole, kind)}
    levels = [level_of(asked, mix, usual) for mix in classes]
    if model in AT_LEAST:
        return min(levels), min(levels) >= limit * (1 - 1e-12)
    if model == "recursive-cl-diversity":
        return max(levels), max(levels) < limit
    enough = max(levels) <= limit * (1 + 1e-12) + 1e-12
    if model == "alpha-k-anonymity":
        enough = enough and min(mix.total() for mix in classes) >= asked["k"]
    return max(levels), enough


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
        alike = asked["model"].endswith("-diversity") or asked["model"] == "alpha-k-anonymity"
        classes = classes_by(rows, quasi, column, alike)
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
