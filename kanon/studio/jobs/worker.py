"""What a worker process runs: one job after the other, until the server's pipe closes.

The server starts it with ``python -P -m kanon.studio.jobs.worker``; frames go over standard input
and output. In: the module search path, the preparation, then a frame per job. Out: progress of the
preparation; per job that it is begun, its progress messages and partial results, its answer.
"""

import os
import queue
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import IO

from kanon.base.progress import report_preparation
from kanon.errors import KanonError
from kanon.studio.jobs.processes import (
    Frame,
    is_array_or_arrow,
    pack_frame,
    read_frame,
    unpack_frame,
    write_frame,
)

GAP = 0.05  # seconds between two progress messages, at least

Message = tuple[str, object]


def describe_failure(error: BaseException) -> str:
    """The sentence about an unexpected exception: its type, never its text, which can hold values.

    >>> describe_failure(ValueError("Alice"))
    'The calculation failed (ValueError). The details are withheld: they could contain values.'
    """
    return (
        f"The calculation failed ({type(error).__name__}). The details are withheld: they could "
        "contain values."
    )


class Progress:
    """Reports how far a job is; ``send`` gets at most one message per :data:`GAP`."""

    def __init__(self, send: Callable[[Message], None]) -> None:
        self._send = send
        self._lock = threading.Lock()
        self._newest: tuple[float, str] | None = None
        self._next = 0.0
        self._timer: threading.Timer | None = None
        self._closed = False

    def __call__(self, fraction: float, text: str = "") -> None:
        with self._lock:
            if self._closed:
                return
            self._newest = (max(0.0, min(1.0, float(fraction))), str(text))
            self._send_newest()

    def _send_newest(self) -> None:
        wait = self._next - time.monotonic()
        if self._newest is None or self._closed:
            return
        if wait <= 0:
            newest, self._newest = self._newest, None
            self._next = time.monotonic() + GAP
            self._send(("progress", newest))
        elif self._timer is None:
            self._timer = threading.Timer(wait, self._send_later)
            self._timer.daemon = True
            self._timer.start()

    def _send_later(self) -> None:
        with self._lock:
            self._timer = None
            self._send_newest()

    def keep(self, part: object) -> None:
        """Hand over a partial result, which outlives a cancel."""
        with self._lock:
            if not self._closed:
                self._send(("part", part))

    def close(self) -> None:
        """Send nothing more: a stray thread's messages belong to no later job."""
        with self._lock:
            self._closed = True
            if self._timer is not None:
                self._timer.cancel()


def _take_pipes() -> tuple[IO[bytes], IO[bytes]]:
    """Move the pipes to and from the server to where a job cannot touch them."""
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    return requests, answers


def _read_frames(requests: IO[bytes], frames: queue.SimpleQueue[Frame]) -> None:
    """Queue frames; end the process, busy or not, once the server is gone."""
    try:
        while True:
            frames.put(read_frame(requests))
    except (EOFError, OSError):
        os._exit(0)


def _prepare_worker(frames: queue.SimpleQueue[Frame], send: Callable[[Message], None]) -> str:
    """Call what a first job would otherwise wait for; returns a sentence if that fails.

    It reports progress only where a job waits; else nobody would empty the pipe.
    """
    progress = Progress(lambda message: None if frames.empty() else send(message))
    try:
        warm = unpack_frame(frames.get())
        if warm is not None:
            with report_preparation(progress):
                warm()
    except BaseException as error:  # noqa: BLE001  reported by every job
        return f"The worker process could not be prepared ({type(error).__name__})."
    finally:
        progress.close()
    return ""


def _answer_job(frame: Frame, send: Callable[[Message], None]) -> Frame:
    send(("begun", None))  # before anything that a worker may die of
    progress = Progress(send)
    try:
        function, arguments = unpack_frame(frame)
        del frame
        with report_preparation(progress):
            result = function(progress, *arguments)
        return pack_frame(("done", result), is_array_or_arrow)
    except KanonError as error:
        return pack_frame(("failed", error.sentence))
    except BaseException as error:  # noqa: BLE001  also SystemExit: the worker goes on
        return pack_frame(("failed", describe_failure(error)))
    finally:
        progress.close()


def main() -> None:
    # Ctrl-C reaches every process of the terminal; the server decides what becomes of its jobs.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform != "win32":
        import resource

        # The memory of a crashed worker holds personal data: no core file.
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    requests, answers = _take_pipes()

    writing = threading.Lock()

    def write(frame: Frame) -> None:
        try:
            with writing:
                write_frame(answers, frame)
        except OSError:
            os._exit(0)

    def send(message: Message) -> None:
        write(pack_frame(message))

    frames: queue.SimpleQueue[Frame] = queue.SimpleQueue()
    threading.Thread(target=_read_frames, args=(requests, frames), daemon=True).start()
    sys.path[:] = unpack_frame(frames.get())
    trouble = _prepare_worker(frames, send)
    while True:
        # No variable holds a job or its result while waiting for the next one.
        if trouble:
            frames.get()
            send(("failed", trouble))
        else:
            write(_answer_job(frames.get(), send))


if __name__ == "__main__":
    main()
