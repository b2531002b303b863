"""Read and order the values of cells, as the checks of a release count them.

Written independently of the code that makes releases, from docs/reference/kinds.md. kanon's check
uses it, and so does the recipient's check.py, which has the source of this module.
"""

import re
import unicodedata
from collections.abc import Hashable, Iterable
from contextlib import suppress
from decimal import Decimal

MISSING = """? na n/a nan null #n/a - -- --- . .. ... ?? / n.a. n.d. nil none <na> (missing) #value!
#ref! #div/0! missing notavailable notapplicable notknown notspecified notstated noanswer unknown
unk unspecified undefined unbekannt nichtbekannt k.a. keineangabe keineangaben ohneangabe fehlt
fehlend inconnu inconnue nonrenseigné nonprécisé sansréponse manquant manquante"""
BESIDE = r"((?:eur|usd|gbp|chf|fr\.|kr|zł|[^\w.,+-])*)"  # a number: its unit, or < and >
NUMBER = rf"{BESIDE}([+-]?)(\.\d+|\d(?:['’]?[.,\d])*)((?:e[+-]?\d+)?){BESIDE}"
DAY = r"\d\d?([-./])\d\d?\1(\d\d){1,2}|\d{4}([-./])\d\d?\3\d\d?|\d\d?(:\d\d){1,2}"


def fold_reading(text: str) -> Hashable:
    """The form by which diversity counts a value: values that read alike have the same one."""
    for _ in "ab":  # the usual form may have blanks and capitals again
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
        with suppress(ArithmeticError):  # 1.2.3 is not a number
            value = Decimal(f"{sign}{digits.replace(',', '.')}{power}")
            # 1,5 and 1.5 do not read alike: no column of numbers is written in both ways.
            return before, value, "," in digits and value != value.to_integral_value(), after
    if re.fullmatch(DAY, text):
        return re.sub(r"(?<!\d)0+(?=\d)", "", text)
    if text[0].isalpha() and re.fullmatch(r"(?=.*\d)[\w./-]*[+*!†]?", text):  # a code
        if not text.replace(".", "").replace("-", "")[:4].isalpha():
            text = text.replace(".", "")  # after four letters the point belongs to a number
        text = re.sub(r"(?<!\d)\.|\.(?!\d)", "", text)
        text = re.sub(r"(?<=[^\W_])-+(?=[^\W_])", "", text)
    return text


def normalise_value(text: str) -> str:
    """A sensitive value without outer blanks, .0 after a whole number, or the sign of -0."""
    value = re.sub(r"^([+-]?\d+)\.0$", r"\1", text.strip())
    return "0" if value in ("+0", "-0") else value


def parse_sizes(texts: list[str], kind: str) -> list[float]:
    bare = [re.sub(r"[^0-9.,+-]", "", text.replace("−", "-")) for text in texts]
    groups = all(re.fullmatch(r"[+-]?[1-9]\d{0,2}(\.\d{3})*", text) for text in bare)
    groups = groups and any(re.fullmatch(r"[+-]?\d{3}", text) for text in bare)
    with suppress(ValueError):
        if kind in ("whole number 1234", "decimal 1234.56") or not (kind or groups):
            return [float(text) for text in texts]
    ends = [
        mark_found[1]
        for text in bare
        if (mark_found := re.search(r"([.,])(\d*)$", text))
        and (len(mark_found[2]) != 3 or {".", ","} <= {*text})
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


def order_values(values: Iterable[str], kind: str) -> list[str]:
    """Order values by size if they are numbers, else by the alphabet; the missing one last."""
    known = sorted(value for value in values if value)
    size = dict(zip(known, parse_sizes(known, kind), strict=True))
    return sorted(known, key=size.__getitem__) + [value for value in values if not value]
