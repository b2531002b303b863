"""Processes beside the server: its workers, and one that compiles the other kernels.

Without Streamlit, which a worker would take half a second to import. A worker gets and sends
pickled frames over its pipes, and either side notices when the other's pipe closes. Unlike
multiprocessing, this never forks the threaded server nor imports its ``__main__`` (Streamlit
makes that the page script), needs no port and no file, so that user data stay in memory, and is the
same on Linux, macOS and Windows.
"""

import atexit
import contextlib
import os
import pickle
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Any, cast

Frame = Sequence[bytes | bytearray | memoryview]  # a pickle, then its buffers

_LENGTH = struct.Struct(">Q")
_LARGE = 1 << 16


def _is_bytes(buffer: memoryview) -> bool:
    return isinstance(buffer.obj, bytes)


def pack_frame(content: object, apart: Callable[[memoryview], bool] = _is_bytes) -> Frame:
    """Pack an object; buffers that are ``apart`` go beside the pickle, without a copy.

    >>> frame = pack_frame([pickle.PickleBuffer(bytes(100_000)), 1])
    >>> [len(part) > 99_999 for part in frame], [*map(type, unpack_frame(frame))]
    ([False, True], [<class 'memoryview'>, <class 'int'>])
    """
    buffers: list[memoryview] = []

    def keeps_in_pickle(buffer: pickle.PickleBuffer) -> bool:
        raw = buffer.raw()
        if raw.nbytes < _LARGE or not apart(raw):
            return True
        buffers.append(raw)
        return False

    return pickle.dumps(content, 5, buffer_callback=keeps_in_pickle), *buffers


def is_array_or_arrow(buffer: memoryview) -> bool:
    return not buffer.readonly or type(buffer.obj).__module__.startswith("pyarrow")


def unpack_frame(frame: Frame) -> Any:
    return pickle.loads(frame[0], buffers=frame[1:])  # noqa: S301  our own processes' pipes


def write_frame(stream: IO[bytes], frame: Frame) -> None:
    """Write one frame: how many parts it has, then the length and the bytes of each."""
    stream.write(_LENGTH.pack(len(frame)))
    for part in frame:
        stream.write(_LENGTH.pack(len(part)))
        stream.write(part)
    stream.flush()


def read_frame(stream: IO[bytes]) -> Frame:
    """Wait for one frame; EOFError if the other side closed its end, or died within a frame."""
    return [_read_bytes(stream, _read_number(stream)) for _ in range(_read_number(stream))]


def _read_number(stream: IO[bytes]) -> int:
    (number,) = _LENGTH.unpack(_read_bytes(stream, _LENGTH.size))
    return int(number)


def _read_bytes(stream: IO[bytes], length: int) -> bytearray:
    content = bytearray(length)
    view, position = memoryview(content), 0
    while position < length:
        length_read = stream.readinto(view[position:])  # type: ignore[attr-defined]
        if not length_read:
            raise EOFError
        position += length_read
    return content


_ROOT = str(Path(__file__).resolve().parents[3])
_LOW = 10  # the niceness of a worker of a longer lane

_THREADS = (
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)


def build_worker_environment(threads: int) -> dict[str, str]:
    # What the operator has set wins over our number of threads.
    environment = dict.fromkeys(_THREADS, str(threads)) | os.environ
    paths = [_ROOT, environment.get("PYTHONPATH", "")]
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    return environment


class WorkerProcess:
    """A worker process. Any thread may kill it; only its slot's thread does the rest."""

    def __init__(self, preparation: Frame, threads: int) -> None:
        self._process = subprocess.Popen(
            # -P: a file in the current folder must not pass for a module.
            [sys.executable, "-P", "-m", "kanon.studio.jobs.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # a traceback can hold cell values
            env=build_worker_environment(threads),
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),  # Windows only
        )
        self.has_low_priority = False
        assert self._process.stdin is not None and self._process.stdout is not None
        self._requests, self._answers = self._process.stdin, self._process.stdout
        # A name has to mean the same module on both sides.
        path = [os.path.abspath(entry) for entry in sys.path]
        with contextlib.suppress(OSError):  # already dead: the first job reports it
            self.send(pack_frame(path if _ROOT in path else [*path, _ROOT]))
            self.send(preparation)

    def send(self, payload: Frame) -> None:
        write_frame(self._requests, payload)

    def receive(self) -> tuple[str, object]:
        return cast(tuple[str, object], unpack_frame(read_frame(self._answers)))

    @property
    def processor_seconds(self) -> float | None:
        """What it has used of the processors so far; None where the system does not say."""
        try:
            text = Path(f"/proc/{self._process.pid}/stat").read_text("ascii", "replace")
        except OSError:  # no Linux; a process that is gone
            return None
        user, system = text.rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def alive(self) -> bool:
        """Whether the process lives; a dead one leaves no zombie."""
        return self._process.poll() is None

    def kill(self) -> None:
        self._process.kill()

    def lower(self) -> None:
        """Lower its priority for good; not on Windows."""
        self.has_low_priority = True
        process = self._process.pid
        with contextlib.suppress(AttributeError, OSError):  # Windows; a process that is gone
            os.setpriority(os.PRIO_PROCESS, process, _LOW)
            for thread in Path(f"/proc/{process}/task").iterdir():  # Linux: each by itself
                os.setpriority(os.PRIO_PROCESS, int(thread.name), _LOW)

    def close_process(self) -> None:
        self._process.kill()
        for pipe in (self._requests, self._answers):
            with contextlib.suppress(OSError):  # unsent bytes for a process that is gone
                pipe.close()
        self._process.wait()


_BEHIND_THE_PAGE = """
import os, sys, threading, time
getattr(os, "nice", int)(10)
# The pipe closes with the server, however that ends.
threading.Thread(target=lambda: (sys.stdin.buffer.read(), os._exit(0)), daemon=True).start()
time.sleep(5)  # the browser is drawing the first result
from kanon.warm import load_remaining_kernels
load_remaining_kernels()
"""


def load_kernels() -> None:
    """Load the kernels of the first result in a fresh worker; all would take longer."""
    from kanon.warm import load_first_kernels

    load_first_kernels()


def start_compiling_rest() -> None:
    """Compile all other kernels in a process of low priority that ends with the server."""
    # On Windows alone; elsewhere the process lowers its priority itself.
    low, unseen = (
        getattr(subprocess, name, 0) for name in ("BELOW_NORMAL_PRIORITY_CLASS", "CREATE_NO_WINDOW")
    )
    with contextlib.suppress(OSError):
        process = subprocess.Popen(
            [sys.executable, "-P", "-c", _BEHIND_THE_PAGE],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=build_worker_environment(threads=1),
            creationflags=low | unseen,
        )
        threading.Thread(target=process.wait, daemon=True).start()  # or it would stay as a zombie
        atexit.register(_end_process, process)


def _end_process(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
