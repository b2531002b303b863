"""The names of the columns of a table, which must differ."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from kanon.errors import TableError, listing, quoted


def column_names(cells: Iterable[str], name: str) -> list[str]:
    """The names of the columns, without outer blanks.

    >>> column_names(["a", "b", "a "], "t.csv")
    Traceback (most recent call last):
    kanon.errors.TableError: 't.csv' has more than one column called 'a': names must differ.
    """
    names = [cell.strip() for cell in cells]
    if "" in names:
        raise TableError(
            f"Column {names.index('') + 1} of {quoted(name)} has no name: every column needs one"
            " in the first line."
        )
    twice = [column for column, count in Counter(names).items() if count > 1]
    if twice:
        raise TableError(
            f"{quoted(name)} has more than one column called {listing(twice)}: names must differ."
        )
    return names


def names_in_view(columns: Sequence[str], view: str, statements: Mapping[str, str]) -> list[str]:
    """The columns of a view as its SQL names them: an engine numbers a name that comes again.

    >>> names_in_view(["a", "a_1"], "v", {"t": "CREATE TABLE t(a)", "v": "SELECT a, a FROM t"})
    ['a', 'a']
    """
    sources, sql = [view], ""
    for source in sources:
        sql += statements.get(source, "").replace('""', '"') + "\n"
        sources += [other for other in statements if other not in sources and _in(sql, other)]
    known = {column.casefold(): column for column in columns}
    without = (re.sub(r"[_:][0-9]+$", "", column).casefold() for column in columns)
    pairs = zip(columns, without, strict=True)
    return [column if _in(sql, column) else known.get(first, column) for column, first in pairs]


def _in(sql: str, name: str) -> bool:
    return bool(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", sql, re.IGNORECASE))
