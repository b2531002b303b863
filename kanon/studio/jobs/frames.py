"""What server and worker send each other: pickles, and beside them large buffers as they are.

So each side holds a file or a table once, and not a second time as a part of a pickle.
"""

import pickle
import struct
from collections.abc import Callable, Sequence
from typing import IO, Any

Frame = Sequence[bytes | bytearray | memoryview]  # a pickle, then its buffers

_LENGTH = struct.Struct(">Q")
_LARGE = 1 << 16


def _asked_for(buffer: memoryview) -> bool:
    return isinstance(buffer.obj, bytes)


def packed(something: object, apart: Callable[[memoryview], bool] = _asked_for) -> Frame:
    """Pack an object; buffers that are ``apart`` go beside the pickle, as they are when written.

    >>> frame = packed([pickle.PickleBuffer(bytes(100_000)), 1])
    >>> [len(part) > 99_999 for part in frame], [*map(type, unpacked(frame))]
    ([False, True], [<class 'memoryview'>, <class 'int'>])
    """
    buffers: list[memoryview] = []

    def in_the_pickle(buffer: pickle.PickleBuffer) -> bool:
        raw = buffer.raw()
        if raw.nbytes < _LARGE or not apart(raw):
            return True
        buffers.append(raw)
        return False

    return pickle.dumps(something, 5, buffer_callback=in_the_pickle), *buffers


def is_array_or_arrow(buffer: memoryview) -> bool:
    return not buffer.readonly or type(buffer.obj).__module__.startswith("pyarrow")


def unpacked(frame: Frame) -> Any:
    return pickle.loads(frame[0], buffers=frame[1:])  # noqa: S301  our own processes' pipes


def write_frame(stream: IO[bytes], frame: Frame) -> None:
    """Write one frame: how many parts it has, then the length and the bytes of each."""
    stream.write(_LENGTH.pack(len(frame)))
    for part in frame:
        stream.write(_LENGTH.pack(len(part)))
        stream.write(part)
    stream.flush()


def read_frame(stream: IO[bytes]) -> Frame:
    """Wait for one frame; EOFError if the other side closed its end, or died within a frame.

    >>> import io
    >>> stream = io.BytesIO()
    >>> write_frame(stream, packed("a job"))
    >>> unpacked(read_frame(io.BytesIO(stream.getvalue())))
    'a job'
    """
    return [_read(stream, _number(stream)) for _ in range(_number(stream))]


def _number(stream: IO[bytes]) -> int:
    (number,) = _LENGTH.unpack(_read(stream, _LENGTH.size))
    return int(number)


def _read(stream: IO[bytes], length: int) -> bytearray:
    found = bytearray(length)
    view, done = memoryview(found), 0
    while done < length:
        some = stream.readinto(view[done:])  # type: ignore[attr-defined]
        if not some:
            raise EOFError
        done += some
    return found
