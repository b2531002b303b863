"""How Numba compiles kernels, and how long compiled code is cached.

Numba's own cache looks only at the file of a function, not at what that file imports. So the key
is the contents of all kernels: a change in a helper compiles its callers anew. The place is Numba's
choice: beside the source if writable, else the user's cache, or NUMBA_CACHE_DIR.
"""

import contextlib
import hashlib
import pickle
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from llvmlite import ir
from numba import __version__, types
from numba.core import cgutils, config
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher, cpu_target
from numba.extending import intrinsic, overload

from kanon.base.progress import send_preparation
from kanon.kernels.prefetching import prefetch

_unliteral: Callable[[Any], Any] = types.unliteral

_LOOK_AGAIN = 0.5
"""Seconds between two looks whether another process has compiled what is waited for."""

_PATIENCE = 120.0
"""Seconds after which it is compiled here too, without asking: the other one may have stopped."""


def _hash_sources() -> str:
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.name.encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


_SOURCES = _hash_sources()


class _CheckedFiles(IndexDataCacheFile):
    """Numba's cache files behind a hash: a damaged file counts as absent and is written again.

    Numba has no public way for that; tests/kernels/test_cache.py checks it. The version is part of
    the hash, as an index of another version may name a class that no longer exists.
    """

    def _hash(self, data: bytes) -> bytes:
        return hashlib.sha256(self._version.encode() + data).digest()

    def _dump(self, content: Any) -> bytes:
        data: bytes = super()._dump(content)  # type: ignore[no-untyped-call]
        return self._hash(data) + data

    def _read(self, path: str) -> Any:
        try:
            content = Path(path).read_bytes()
        except OSError:
            return None
        length = hashlib.sha256().digest_size
        intact = content[:length] == self._hash(content[length:])
        return pickle.loads(content[length:]) if intact else None  # noqa: S301

    def _load_index(self) -> Any:
        return self._read(self._index_path) or {}

    def _save_index(self, overloads: Any) -> None:
        with self._open_for_write(self._index_path) as file:
            file.write(self._dump(overloads))

    def _load_data(self, name: str) -> Any:
        return self._read(self._data_path(name))  # type: ignore[no-untyped-call]

    def _open_for_write(self, path: str) -> Any:
        if Path(path).is_dir() and not Path(path).is_symlink():
            shutil.rmtree(path, ignore_errors=True)  # nothing else would ever be kept there
        return super()._open_for_write(path)


class _Cache(FunctionCache):
    """The compiled code of one function; one process at a time compiles what is missing.

    Waiting processes load what the first one cached. A function's callees are locked inside its own
    lock, never the other way round, as no kernel calls itself.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        self._cache_file = _CheckedFiles(  # type: ignore[no-untyped-call]
            self._cache_path, self._impl.filename_base, _SOURCES
        )
        self._cache_file._version = f"{__version__} {_SOURCES}"
        self._lock: Any = None

    def load_overload(self, signature: Any, target: Any) -> Any:
        overload = self._load(signature, target)
        if overload is None:
            from filelock import FileLock, Timeout  # nothing needs it where all is compiled

            end = time.monotonic() + _PATIENCE
        while overload is None and self._lock is None:
            _Preparation.tell()
            lock = FileLock(Path(self._cache_path, f"{self._cache_file._index_name}.lock"))
            try:
                lock.acquire(timeout=_LOOK_AGAIN)
            except Timeout:  # another process compiles it
                if time.monotonic() > end:
                    break
                continue
            except (OSError, NotImplementedError):  # no locks there, or nothing can be written
                break
            self._lock = lock
            overload = self._load(signature, target)
        return overload

    def _load(self, signature: Any, target: Any) -> Any:
        return super().load_overload(signature, target)  # type: ignore[no-untyped-call]

    def save_overload(self, signature: Any, data: Any) -> None:
        with contextlib.suppress(OSError):  # a full disk: it is compiled again next time
            super().save_overload(signature, data)  # type: ignore[no-untyped-call]

    def release(self) -> None:
        if self._lock is not None:
            self._lock.release()
            self._lock = None


class _Preparation:
    """The kernel being compiled with all its callees: since when, and for how long."""

    started: float | None = None
    seconds = 0.0
    is_shown = False

    @classmethod
    def begin(cls, seconds: float) -> None:
        cls.started, cls.seconds, cls.is_shown = time.monotonic(), seconds, False

    @classmethod
    def tell(cls) -> None:
        if cls.started is not None:
            passed = time.monotonic() - cls.started
            send_preparation(min(passed / cls.seconds, 0.99), cls.seconds)
            cls.is_shown = True

    @classmethod
    def end(cls) -> None:
        cls.started = None
        if cls.is_shown:
            send_preparation(1.0, cls.seconds)


class KernelDispatcher(CPUDispatcher):
    """What Python calls for a kernel; compiles it for the types of its arguments."""

    seconds = seconds_without = 1.0  # see Kernel

    def enable_caching(self) -> None:
        with contextlib.suppress(RuntimeError):  # else it is compiled at each start
            self._cache = _Cache(self.py_func)

    def compile(self, signature: Any) -> Any:
        """Load or compile it for these argument types; only one process of a machine compiles."""
        with global_compiler_lock:  # which Numba takes next
            outermost = _Preparation.started is None
            if outermost:
                without = types.none in getattr(signature, "args", signature)
                _Preparation.begin(self.seconds_without if without else self.seconds)
            cache = self._cache if isinstance(self._cache, _Cache) else None
            if cache is None:
                _Preparation.tell()
            try:
                return super().compile(signature)
            finally:
                if cache is not None:
                    cache.release()
                if outermost:
                    _Preparation.end()

    def get_call_template(self, arguments: Sequence[Any], named: Any) -> Any:
        """Treat a literal 0 or True as any number or truth value; Numba would compile each."""
        plain = tuple(_unliteral(argument) for argument in arguments)
        return super().get_call_template(
            plain, {n: _unliteral(argument) for n, argument in named.items()}
        )


class LoopDispatcher(KernelDispatcher):
    """The same for a loop, which kernels call and Python cannot."""

    def add_overload(self, compiled: Any) -> None:
        """Register compiled code for kernels alone."""
        self.overloads[tuple(compiled.signature.args)] = compiled

    def _compile_for_args(self, *_: Any, **__: Any) -> Any:
        raise TypeError(f"{self.py_func.__name__} is a loop that only kernels can call.")


def build_dispatcher(kernel: Any) -> Any:
    """What is called for a kernel or loop; the plain function if Numba's JIT is off."""
    if config.DISABLE_JIT:  # type: ignore[attr-defined]
        return kernel.function
    kind = KernelDispatcher if kernel.called_by_python else LoopDispatcher
    always = {"nopython": True, "nogil": True, "no_cfunc_wrapper": True}
    dispatcher = kind(kernel.function, targetoptions={**always, **kernel.options})
    dispatcher.enable_caching()
    dispatcher.seconds, dispatcher.seconds_without = kernel.seconds, kernel.seconds_without
    return dispatcher


@intrinsic
def _emit_prefetch(typing, array, place):
    def generate(context, builder, signature, arguments):
        kind = signature.args[0]
        array_struct = context.make_array(kind)(context, builder, arguments[0])
        indices = [arguments[1]]
        address = cgutils.get_item_pointer(  # type: ignore[no-untyped-call]
            context, builder, kind, array_struct, indices
        )
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        prefetch_type = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        fetch = builder.module.declare_intrinsic("llvm.prefetch", [byte], prefetch_type)
        to_read, soon, data = number(0), number(3), number(1)
        builder.call(fetch, [builder.bitcast(address, byte), to_read, soon, data])
        return context.get_dummy_value()

    return types.void(array, place), generate


@overload(prefetch)
def _prefetch(array, place):
    return lambda array, place: _emit_prefetch(array, place)  # type: ignore[call-arg]


def _get_note_path() -> Path | None:
    try:
        folder = _Cache(_hash_sources).cache_path
    except RuntimeError:
        return None
    processor = cpu_target.target_context.codegen().magic_tuple()
    made_by = f"{_SOURCES} {__version__} {sys.version} {processor}"
    return Path(folder, f"all-{hashlib.sha256(made_by.encode()).hexdigest()[:16]}.compiled")


def is_everything_cached() -> bool:
    """Whether a note says that all present kernels are cached."""
    note = _get_note_path()
    return note is not None and note.exists()


def mark_everything_cached() -> None:
    """Note it beside the cached kernels, so that no other process checks them all."""
    note = _get_note_path()
    if note is not None:
        with contextlib.suppress(OSError):
            note.touch()
