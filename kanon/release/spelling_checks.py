"""Which values read alike, as a check counts them: docs/reference/kinds.md, written once more."""

import re
import unicodedata
from collections.abc import Hashable
from contextlib import suppress
from decimal import Decimal

from kanon.base.spelling import KNOWN_MARKERS, LIKELY_MARKERS

MISSING = {"".join(word.casefold().split()) for word in (*KNOWN_MARKERS, *LIKELY_MARKERS)}
BESIDE = r"((?:eur|usd|gbp|chf|fr\.|kr|zł|[^\w.,+-])*)"  # a number: its unit, or < and >
NUMBER = rf"{BESIDE}([+-]?)(\.\d+|\d(?:['’]?[.,\d])*)((?:e[+-]?\d+)?){BESIDE}"
DAY = r"\d\d?([-./])\d\d?\1(\d\d){1,2}|\d{4}([-./])\d\d?\3\d\d?|\d\d?(:\d\d){1,2}"


def read_as(text: str) -> Hashable:
    """What diversity counts a value as: values that read alike are one, and blank is missing."""
    for _ in "ab":  # what is put in its usual form may have blanks and capitals again
        text = "".join(s for s in text if unicodedata.category(s) not in "Cc Cf Zl Zp Zs")
        usual = unicodedata.normalize("NFKC", text)
        raised = len(re.findall(r"\d", usual)) > len(re.findall(r"\d", text))  # as in 10²
        usual = unicodedata.normalize("NFC", text) if raised else usual
        text = re.sub("[‐‑‒–—―−﹣－]", "-", usual.casefold())
    text = re.sub("^'(?=.)", "", text)
    if not text or text in MISSING:
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
