"""Room on the disk: what a file takes there, before it is written and while it grows."""

import shutil
from collections.abc import Callable
from pathlib import Path

from kanon.base.formatting import thin
from kanon.base.progress import Progress
from kanon.errors import TableError, quoted
from kanon.settings import MEGABYTE, bytes_of, exceeded

_LEFT_FREE = 64 * MEGABYTE
"""What a file that grows leaves to others, or as much as it has taken itself, if that is less."""


def check_room(path: Path, size: int) -> None:
    """Check that so many bytes may be written to a path, and that they fit on its disk.

    >>> check_room(Path("release.csv"), 10**18)
    Traceback (most recent call last):
    kanon.errors.TableError: 'release.csv' would take some 953...407 MB; the most allowed is ...
    """
    name = quoted(path.name)
    takes = f"{name} would take some {_megabytes(size)}"
    if size > bytes_of("release_megabytes"):
        raise TableError(exceeded("release_megabytes", takes))
    free = _free(path)
    if size > free:
        raise TableError(
            f"{takes}, and the disk has {_megabytes(free, up=False)} free: give another place."
        )


def growing(progress: Progress, path: Path, taken: Callable[[], int]) -> Progress:
    def told(fraction: float, text: str) -> None:
        size = taken()
        if size > bytes_of("release_megabytes"):
            what = f"Writing was stopped: {quoted(path.name)} had taken {_megabytes(size)}"
            raise TableError(exceeded("release_megabytes", what))
        if _free(path) < min(size, _LEFT_FREE):
            raise TableError(
                f"The disk is full but for {_megabytes(_LEFT_FREE)}: writing {quoted(path.name)} "
                "was stopped, and nothing is left of it."
            )
        progress(fraction, text)

    return told


def size_of(path: Path) -> int:
    """The bytes of a file, or of all files in a folder; 0 if there is neither.

    >>> size_of(Path(__file__)) == Path(__file__).stat().st_size, size_of(Path("nowhere"))
    (True, 0)
    """
    try:
        if not path.is_dir():
            return path.stat().st_size
        parts = list(path.iterdir())
    except OSError:  # it is not there yet, or not any more
        return 0
    return sum(map(size_of, parts))


def _free(path: Path) -> int:
    try:
        return shutil.disk_usage(path.parent).free
    except OSError:  # there is no such folder: writing will say so
        return 1 << 62


def _megabytes(size: int, up: bool = True) -> str:
    """Bytes in megabytes, fewer in smaller units: what is needed up, what is free down.

    >>> _megabytes(MEGABYTE), _megabytes(MEGABYTE - 1, up=False), _megabytes(5)
    ('1 MB', '1\u202f023 kB', '5 bytes')
    """
    units = ((MEGABYTE, "MB"), (1024, "kB"), (1, "bytes"))
    unit, name = next((one for one in units if size >= one[0]), units[-1])
    return f"{thin(-(-size // unit) if up else size // unit)} {name}"
