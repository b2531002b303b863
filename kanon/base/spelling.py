"""Spellings of one value, which diversity counts once (docs/reference/kinds.md)."""

import re
import unicodedata
from collections.abc import Hashable
from decimal import Decimal

BLANK = ""  # a text of blanks only, always a missing cell

KNOWN_MARKERS = (BLANK, "?", "NA", "N/A", "NaN", "nan", "NULL", "null", "#N/A")
"""Texts that count as missing cells unless the plan says otherwise."""

LIKELY_MARKERS = frozenset({
    "-", "--", "---", ".", "..", "...", "??", "/", "na", "n/a", "n.a.", "n. a.", "n.d.", "nan",
    "nil", "none", "null", "<na>", "(missing)", "#value!", "#ref!", "#div/0!", "missing",
    "not available", "not applicable", "not known", "not specified", "not stated", "no answer",
    "unknown", "unk", "unspecified", "undefined", "unbekannt", "nicht bekannt", "k.a.", "k. a.",
    "keine angabe", "keine angaben", "ohne angabe", "fehlt", "fehlend", "inconnu", "inconnue",
    "non renseigné", "non précisé", "sans réponse", "manquant", "manquante",
})  # fmt: skip
"""Texts, in lower case, that may mark missing cells: they are counted, and people decide."""

_UNSEEN = ("Cc", "Cf", "Zl", "Zp", "Zs")
_DASHES = str.maketrans(dict.fromkeys("‐‑‒–—―−﹣－", "-"))
_UNIT = r"((?:eur|usd|gbp|chf|fr\.|kr|zł|[^\w.,+-])*)"
_NUMBER = re.compile(rf"{_UNIT}([+-]?)(\d(?:['’]?[\d.,])*|\.\d+)((?:e[+-]?\d+)?){_UNIT}")
_GROUPS = re.compile(r"([1-9]\d{0,2}(?:[,'’]\d{3})+)(\.\d*)?|([1-9]\d{0,2}(?:\.\d{3})+)(,\d*)")
_DATE = re.compile(
    r"\d{1,2}([-./])\d{1,2}\1(\d{4}|\d{2})|\d{4}([-./])\d{1,2}\3\d{1,2}|\d{1,2}:\d\d(:\d\d)?"
)
_CODE = re.compile(r"(?=\D*\d)([^\W_]|[./_-])*[+*!†]?")


def fold_spelling(text: str) -> Hashable:
    """Map a cell to what diversity counts: spellings of one value to one result, missing to "".

    >>> len({fold_spelling(text) for text in ("I21.0", "I210", "i-21 0")})
    1
    >>> len({fold_spelling(text) for text in ("A+", "A-", "<=50K", ">50K", "1.5", "15")})
    6
    >>> fold_spelling("n/a") == fold_spelling("None") == fold_spelling(" ")
    True
    """
    if text.isascii() and text.isdecimal():
        return "", Decimal(text), False, ""
    plain = _strip_form(text)
    if not plain or plain in _MISSING:
        return BLANK
    if number := _read_number(plain):
        return number
    if _DATE.fullmatch(plain):
        return re.sub(r"(?<!\d)0+(?=\d)", "", plain)
    if plain[0].isalpha() and _CODE.fullmatch(plain):
        # Behind a word a point is that of a number: dose 1.5 and dose 15.
        word = re.sub(r"[.-]", "", plain)[:4].isalpha()
        plain = re.sub(r"(?<!\d)\.|\.(?!\d)" if word else r"\.", "", plain)
        return re.sub(r"(?<=[^\W_])-+(?=[^\W_])", "", plain)
    return plain


def _strip_form(text: str) -> str:
    """Strip what makes no other word: case, white space, Unicode form."""
    if text.isascii() and text.isprintable():
        text = text.lower().replace(" ", "")
    else:
        for _ in range(2):  # what is normalised may have blanks and capitals again
            text = "".join(sign for sign in text if unicodedata.category(sign) not in _UNSEEN)
            wide = unicodedata.normalize("NFKC", text)
            same = sum(map(str.isdecimal, wide)) == sum(map(str.isdecimal, text))
            text = wide if same else unicodedata.normalize("NFC", text)  # 10² is not 102
            text = text.casefold().translate(_DASHES)
    return text.removeprefix("'") or text  # it neutralises formulas


_MISSING = frozenset(map(_strip_form, (*KNOWN_MARKERS, *LIKELY_MARKERS)))


def _read_number(text: str) -> Hashable | None:
    """Read a number with its unit; None if it is none."""
    match = _NUMBER.fullmatch(text)
    if match is None:
        return None
    before, sign, digits, exponent, after = match.groups()
    if groups := _GROUPS.fullmatch(digits):
        digits = re.sub(r"[.,'’]", "", groups[1] or groups[3]) + (groups[2] or groups[4] or "")
    try:
        value = Decimal(sign + digits.replace(",", ".") + exponent)
    except ArithmeticError:  # an exponent out of range, or misplaced marks
        return None
    # No column of numbers has both 1,5 and 1.5.
    return before, value, "," in digits and value != value.to_integral_value(), after
