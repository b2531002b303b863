"""Files of SPSS, Stata and SAS, where codes have labels.

In a column with value labels the cells are the labels. The code of each label goes along in the
form of the table, so that SPSS and Stata files of a release have codes and labels again.
"""

import faulthandler
import io
import os
import re
import struct
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pandas.io.stata import StataParser

from kanon.base.values import convert_to_text
from kanon.errors import TableError, quote
from kanon.settings import get_byte_limit, get_settings
from kanon.sources.arrow_tables import build_arrow_table, cast_to_text
from kanon.sources.first_line import read_column_names
from kanon.sources.limits import check_days, check_size, check_unpacked, get_date_error
from kanon.sources.read_settings import FileContent, ReadSettings
from kanon.sources.text_form import PLAIN, ColumnLabels, TextForm
from kanon.sources.typed_files import build_damage_error, convert_arrow_column

_UNREADABLE = (
    *(ValueError, LookupError, ArithmeticError, TypeError, AttributeError, OSError, SystemError),
    struct.error,
)  # fmt: skip
_TEXT_BYTES = 64  # what Python needs for a text besides its characters
_EXACT = 2**53  # whole numbers below are the same as floating-point numbers
_LARGEST_WHOLE = 2_147_483_620  # in 32 bits; the rest of them means missing in Stata
_LARGEST = 8e307  # of Stata; larger numbers mean missing
_CREATED = datetime(1980, 1, 1)  # the same table gives the same bytes on any day

# The formats in which columns of SPSS and SAS show days, moments and times.
_DAYS = (
    r"([AEJS]?DATE|MOYR|QYR|WKYR|(DDMMYY|MMDDYY|YYMMDD)[BCDNPS]?|WEEKDAT[EX]|(IS|E|B)8601DA"
    r"|MONYY|YYMON|JULIAN)\d*"
)
_MOMENTS = r"(DATETIME|YMDHMS|DATEAMPM|MDYAMPM|(IS|E|B)8601DT)\d*"
_HOURS = r"(TIME|HHMM|TOD|TIMEAMPM|(IS|E|B)8601TM)\d*"

# What they count from, and how many seconds a step is in columns of days.
_SPSS_DATES = np.datetime64("1582-10-14", "ms"), 1
_SAS_DATES = np.datetime64("1960-01-01", "ms"), 86_400


def _convert_dates(
    cells: pd.Series, shown_as: str, name: str, origin: np.datetime64, step: int
) -> pd.Series:
    """A column of numbers as dates or times, if the program shows them so."""
    shown = shown_as.partition(".")[0].upper()
    is_day, is_hour = (re.fullmatch(formats, shown) is not None for formats in (_DAYS, _HOURS))
    if not (is_day or is_hour or re.fullmatch(_MOMENTS, shown)):
        return cells
    numbers = cells.to_numpy(dtype=float, na_value=np.nan)
    filled = np.isfinite(numbers)
    seconds = numbers[filled] * (step if is_day else 1)
    if is_hour and ((seconds < 0) | (seconds >= 86_400)).any():
        return cells  # spans of time
    if (np.abs(seconds) > 1e12).any():
        raise get_date_error(name)
    moments = np.full(len(cells), "NaT", "datetime64[ms]")
    moments[filled] = origin + (1000 * seconds).round().astype("timedelta64[ms]")
    if is_hour:
        times = [None if moment is None else moment.time() for moment in moments.tolist()]
        return pd.Series(times, dtype=object)
    return pd.Series(moments.astype("datetime64[D]") if is_day else moments)


def read_sav(data: bytes, name: str, settings: ReadSettings) -> FileContent:
    return _read_by_pyreadstat(data, name, settings, "SPSS", "read_sav", _SPSS_DATES)


def read_sas(data: bytes, name: str, settings: ReadSettings) -> FileContent:
    reader = "read_xport" if name.lower().endswith(".xpt") else "read_sas7bdat"
    return _read_by_pyreadstat(data, name, settings, "SAS", reader, _SAS_DATES)


def _read_by_pyreadstat(
    data: bytes, name: str, settings: ReadSettings, title: str, reader: str, dates: tuple[Any, int]
) -> FileContent:
    import pyreadstat  # only for these files, as it takes a while

    read = getattr(pyreadstat, reader)
    how = {"disable_datetime_conversion": True, "encoding": settings.encoding}
    try:
        with warnings.catch_warnings(action="ignore"):
            _, head = _read_safely(read, data, metadataonly=True, **how)
            n_rows, columns = max(head.number_rows or 0, 0), len(head.column_names)
            check_size(name, n_rows, columns)
            texts = list(head.readstat_variable_types.values()).count("string")
            width = _TEXT_BYTES * texts + sum(head.variable_storage_width.values())
            check_unpacked(name, n_rows * width)
            if head.number_rows is None:  # then no more are read than are allowed
                memory = get_byte_limit("unpacked_megabytes")
                how["row_limit"] = min(_get_most_rows(columns), memory // width + 1)
            frame, head = _read_safely(read, data, **how)
    except (*_UNREADABLE, pyreadstat.ReadstatError, pyreadstat.PyreadstatError):
        raise build_damage_error(name, title) from None
    check_size(name, len(frame), columns)
    check_unpacked(name, len(frame) * width)
    shown_as = head.original_variable_types
    columns_read = {
        column: _convert_dates(cells, shown_as.get(column) or "", column, *dates)
        for column, cells in frame.items()
    }
    frame = pd.DataFrame(columns_read)
    return _build_content(frame, name, head.variable_value_labels, head.column_names_to_labels)


def _read_safely(read: Callable[..., Any], data: bytes, **how: Any) -> Any:
    """Read in a copy of this process first, because damage can crash ReadStat."""
    if hasattr(os, "fork"):
        child = os.fork()
        if not child:
            faulthandler.disable()
            try:
                read(io.BytesIO(data), **how)
            finally:
                os._exit(0)
        if os.waitpid(child, 0)[1]:
            raise ValueError("ReadStat crashed")
    return read(io.BytesIO(data), **how)


def read_dta(data: bytes, name: str, settings: ReadSettings) -> FileContent:
    """Read a Stata file by pandas, where texts and labels that many cells share are one object."""
    try:
        # As texts of Arrow, each cell would have its own copy of a shared text.
        option = pd.option_context("future.infer_string", False)
        opened = pd.read_stata(io.BytesIO(data), iterator=True)
        with option, warnings.catch_warnings(action="ignore"), opened as reader:
            titles = reader.variable_labels()
            if reader._encoding == "latin-1":  # before Stata 14 no file says how it is encoded
                reader._encoding = settings.encoding or "cp1252"
            frame = reader.read(nrows=_get_most_rows(len(titles)), convert_categoricals=False)
            names, sets = reader._lbllist, reader.value_labels()
    except _UNREADABLE:
        raise build_damage_error(name, "Stata") from None
    check_size(name, *frame.shape)
    texts = frame.select_dtypes(object)
    sizes = (cells.str.len().sum() for _, cells in texts.items() if len(cells))
    check_unpacked(name, int(sum(sizes)) + _TEXT_BYTES * texts.size)
    labels = {column: sets.get(used, {}) for column, used in zip(frame, names, strict=True)}
    return _build_content(frame, name, labels, titles)


def _get_most_rows(columns: int) -> int:
    limits = get_settings()
    return min(limits.rows, limits.cells // max(columns, 1)) + 1


def _build_content(
    frame: pd.DataFrame,
    name: str,
    value_labels: Mapping[str, Mapping[Any, str]],
    titles: Mapping[str, str | None],
) -> FileContent:
    names = read_column_names(map(str, frame.columns), name)
    if not names:
        raise TableError(f"{quote(name)} has no columns.")
    columns, labels = {}, {}
    for column, (given_name, cells) in zip(names, frame.items(), strict=True):
        check_days(cells, column)
        columns[column], codes = apply_labels(cells, value_labels.get(str(given_name), {}))
        labels[column] = ColumnLabels((titles.get(str(given_name)) or "").strip(), codes)
    return FileContent(pd.DataFrame(columns), form=replace(PLAIN, labels=labels))


def apply_labels(
    cells: pd.Series, labels: Mapping[Any, str]
) -> tuple[pd.Series, Mapping[str, float | str]]:
    """The cells with labels in place of codes, and the code of each label.

    A code keeps its own text where it has no label, where two codes have one label, or where the
    label is the text of another code.

    >>> cells, codes = apply_labels(pd.Series([1.0, 2.0, 3.0, None]), {1: "male", 2: "female"})
    >>> cells.tolist()[:3], codes
    (['male', 'female', '3'], {'male': 1.0, 'female': 2.0})
    """
    if cells.dtype.kind == "M" or not labels:
        return _simplify(cells), {}
    places, codes = pd.factorize(cells)
    texts = [convert_to_text(code) for code in codes]
    given = [labels.get(code, "").strip() for code in codes]
    chosen = clashes = {place for place, label in enumerate(given) if label}
    if not chosen:
        return _simplify(cells), {}
    while clashes:
        visible = [given[i] if i in chosen else text for i, text in enumerate(texts)]
        numbers = Counter(visible)
        clashes = {place for place in chosen if numbers[visible[place]] > 1}
        chosen = chosen - clashes
    values = np.array([*visible, None], dtype=object)[places]
    code_of = dict(zip(given, codes.tolist(), strict=True))
    return pd.Series(values, dtype="str"), {given[i]: code_of[given[i]] for i in sorted(chosen)}


def _simplify(cells: pd.Series) -> pd.Series:
    """Whole numbers as such: these programs store most numbers as floating-point numbers."""
    if cells.dtype == object:
        return cells.where(cells.notna(), None).infer_objects()
    cells = _widen(cells)
    filled = cells.dropna() if cells.dtype.kind == "f" else pd.Series([0.5])
    is_whole = ((filled.abs() < _EXACT) & (filled % 1 == 0)).all()
    return cells.astype("Int64") if is_whole else cells


def _widen(numbers: pd.Series) -> pd.Series:
    """Numbers of 32 bits as they are written: their 0.1 is 0.1, not 0.10000000149."""
    if numbers.dtype != "float32":
        return numbers
    return pd.Series([float(str(number)) for number in numbers.to_numpy()], dtype=float)


# --- writing ----------------------------------------------------------------------------------
@dataclass(frozen=True)
class Program:
    """What a program allows in its files."""

    title: str
    name_pattern: str
    longest_name: int  # in bytes of UTF-8 for SPSS, else in characters
    reserved: frozenset[str]  # words that are no names; SPSS knows them in capitals too
    label_bytes: int  # the most bytes of the label of a value
    text_bytes: int  # the most bytes of a cell

    def has_name(self, name: str) -> bool:
        size = len(name.encode() if self is SPSS else name)
        is_free = not {name, name.upper()} & self.reserved
        return is_free and size <= self.longest_name and bool(re.fullmatch(self.name_pattern, name))


SPSS = Program(
    "SPSS", r"[^\W\d_]([\w.$#@]*[\w$#@])?", 64,
    frozenset(re.findall(r"\w+", "ALL AND BY EQ GE GT LE LT NE NOT OR TO WITH")), 120, 32_767,
)  # fmt: skip
STATA = Program(
    "Stata", r"[^\W\d]\w*", 32, frozenset(StataParser().RESERVED_WORDS), 32_000, 2_000_000
)


@dataclass(frozen=True, eq=False)
class Variables:
    """A table as SPSS and Stata hold it: columns of numbers, moments or texts."""

    table: pd.DataFrame
    labels: dict[str, dict[float, str]]  # by column and code
    days: Sequence[str]  # columns of moments without a time

    def get_titles(self, form: TextForm, longest: int) -> dict[str, str | None]:
        titles = {name: form.labels[name].title for name in self.table if name in form.labels}
        return {name: title[:longest] for name, title in titles.items() if title}


def build_variables(program: Program, table: pd.DataFrame, form: TextForm = PLAIN) -> Variables:
    """A table as a program holds it, with codes in place of labels.

    Only labels that occur are written: others would give away what was suppressed.
    """
    names = [str(name) for name in table.columns]
    cases = Counter(name.lower() for name in names)
    for name in names:
        if not program.has_name(name) or cases[name.lower()] > 1:
            raise TableError(
                f"Column {quote(name)} cannot have this name in {program.title}: it allows at most "
                f"{program.longest_name} letters, digits and _, first a letter, no word of its own "
                "and no two names that differ in case only. Choose another format."
            )
    columns, labels, days = {}, {}, []
    for name, array in zip(names, build_arrow_table(table).columns, strict=True):
        cells = convert_arrow_column(array, name)
        codes = form.labels[name].codes if name in form.labels else {}
        restored = restore_codes(program, cells, codes) if codes else None
        if restored is None:
            columns[name] = _fit_column(program, cells, name)
        else:
            columns[name], labels[name] = restored
        if columns[name].dtype.kind == "M":
            moments = columns[name].dropna()
            days += [name] if (moments == moments.dt.normalize()).all() else []
    return Variables(pd.DataFrame(columns, index=range(len(table))), labels, days)


def restore_codes(
    program: Program, cells: pd.Series, codes: Mapping[str, float | str]
) -> tuple[pd.Series, dict[Any, str]] | None:
    """The codes of cells and the labels that occur; None if some cell is neither of the two."""
    places, distinct = pd.factorize(cells)
    texts = list(map(convert_to_text, distinct))
    is_text = any(isinstance(code, str) for code in codes.values())
    values: list[Any] = [codes.get(text, text if is_text else _parse_code(text)) for text in texts]
    labels = {value: text for value, text in zip(values, texts, strict=True) if text in codes}
    if (
        None in values
        or len({*values}) < len(values)  # a group may be called as a code
        or max((len(label.encode()) for label in labels.values()), default=0) > program.label_bytes
    ):
        return None
    if is_text:
        column = pd.Series(np.array([*values, None], dtype=object)[places], dtype="str")
        return (column, labels) if program is SPSS else None
    column = _shrink(pd.Series(np.array([*values, np.nan], dtype=float)[places]))
    is_whole = pd.api.types.is_integer_dtype(column)
    if program is STATA and not is_whole:  # only whole numbers have labels in Stata
        return None
    return column, {int(code) if is_whole else float(code): text for code, text in labels.items()}


def _parse_code(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if np.isfinite(number) and convert_to_text(number) == text else None


def _shrink(numbers: pd.Series) -> pd.Series:
    """Whole numbers of 32 bits as such, others as floating-point numbers."""
    whole = numbers.dropna()
    if (whole.between(-_LARGEST_WHOLE, _LARGEST_WHOLE) & (whole % 1 == 0)).all():
        return numbers.astype("Int32")
    return numbers.astype("float64")


def _fit_column(program: Program, cells: pd.Series, name: str) -> pd.Series:
    """The column as numbers or moments, or as texts where these would change its values."""
    cells, kind = _widen(cells), cells.dtype.kind
    if kind in "iu" and cells.dropna().between(-_EXACT, _EXACT).all():
        return _shrink(cells)
    if kind == "f" and cells.dropna().between(-_LARGEST, _LARGEST).all():
        return cells
    moments = _find_moments(cells)
    if moments is not None:
        return moments
    texts = cast_to_text(cells)
    most = max((len(text.encode()) for text in texts.dropna()), default=0)
    if most > program.text_bytes or texts.str.contains("\0", regex=False).any():
        raise TableError(
            f"Column {quote(name)} has a cell that {program.title} cannot hold, with more than "
            f"{program.text_bytes:,} bytes or a NUL character: use Parquet."
        )
    return texts.fillna("")


def _find_moments(cells: pd.Series) -> pd.Series | None:
    """A column of dates in whole seconds from 1583 on, which both programs know."""
    is_moment = cells.dtype.kind == "M" and getattr(cells.dtype, "tz", None) is None
    if not (is_moment or pd.api.types.infer_dtype(cells) == "date"):
        return None
    moments = cells.astype("datetime64[us]")
    filled = moments.dropna()
    fits = (filled.dt.year >= 1583) & (filled == filled.dt.floor("s"))
    return moments if fits.all() else None


def write_sav(table: pd.DataFrame, form: TextForm = PLAIN, *_: object) -> bytes:
    import pyreadstat  # only for these files, as it takes a while

    variables = build_variables(SPSS, table, form)

    def write(path: str) -> None:
        pyreadstat.write_sav(
            variables.table,
            path,
            column_labels=variables.get_titles(form, 250),
            variable_value_labels=variables.labels,
            variable_format=dict.fromkeys(variables.days, "DATE11"),
        )

    content = bytearray(_collect_file(write))
    content[92:109] = _CREATED.strftime("%d %b %y%H:%M:%S").encode()
    return bytes(content)


def write_dta(table: pd.DataFrame, form: TextForm = PLAIN, *_: object) -> bytes:
    variables = build_variables(STATA, table, form)
    texts = variables.table.select_dtypes("str")
    long = [name for name, cells in texts.items() if (cells.dropna().str.len() > 500).any()]
    buffer = io.BytesIO()
    variables.table.to_stata(
        buffer,
        write_index=False,
        version=118,  # from Stata 14 on, in UTF-8
        time_stamp=_CREATED,
        convert_dates=dict.fromkeys(variables.days, "td"),
        convert_strl=long,
        variable_labels=variables.get_titles(form, 80),
        value_labels=variables.labels,
    )
    return buffer.getvalue()


def _collect_file(write: Callable[[str], None]) -> bytes:
    """What a function writes that knows only paths; on Linux none of it reaches the disk."""
    if not hasattr(os, "memfd_create"):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "table")
            write(str(path))
            return path.read_bytes()
    with open(os.memfd_create("table"), "r+b") as file:
        write(f"/proc/self/fd/{file.fileno()}")
        return file.read()
