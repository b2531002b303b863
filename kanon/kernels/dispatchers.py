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

from kanon.base.progress import tell_preparation
from kanon.kernels.prefetching import prefetch

_general: Callable[[Any], Any] = types.unliteral

_LOOK_AGAIN = 0.5
"""Seconds between two looks whether another process has compiled what is waited for."""

_PATIENCE = 120.0
"""Seconds after which it is compiled here too, without asking: the other one may have stopped."""


def _all_sources() -> str:
    found = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        found.update(path.name.encode())
        found.update(hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()


_SOURCES = _all_sources()


class _CheckedFiles(IndexDataCacheFile):
    """What Numba keeps, behind a hash of it: a file that is damaged is none, and is written anew.

    Numba has no public way to say so; tests/kernels/test_cache.py sees that it holds. The version
    is part of the hash, as an index of another one may name a class which is gone.
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
    """The compiled code of one function; what is lacking is compiled by one process at a time.

    Waiting processes find what the first one cached. A function's callees are locked while it is,
    never the other way round, as no kernel calls itself.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        self._cache_file = _CheckedFiles(  # type: ignore[no-untyped-call]
            self._cache_path, self._impl.filename_base, _SOURCES
        )
        self._cache_file._version = f"{__version__} {_SOURCES}"
        self._lock: Any = None

    def load_overload(self, signature: Any, target: Any) -> Any:
        found = self._load(signature, target)
        if found is None:
            from filelock import FileLock, Timeout  # nothing needs it where all is compiled

            end = time.monotonic() + _PATIENCE
        while found is None and self._lock is None:
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
            found = self._load(signature, target)
        return found

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
    """The kernel that is being compiled with all that it calls, since when, and for how long."""

    begun: float | None = None
    seconds = 0.0
    told = False

    @classmethod
    def begin(cls, seconds: float) -> None:
        cls.begun, cls.seconds, cls.told = time.monotonic(), seconds, False

    @classmethod
    def tell(cls) -> None:
        if cls.begun is not None:
            passed = time.monotonic() - cls.begun
            tell_preparation(min(passed / cls.seconds, 0.99), cls.seconds)
            cls.told = True

    @classmethod
    def end(cls) -> None:
        cls.begun = None
        if cls.told:
            tell_preparation(1.0, cls.seconds)


class KernelDispatcher(CPUDispatcher):
    """What Python calls in the place of a kernel: it compiles it for the types of its arguments."""

    seconds = seconds_without = 1.0  # see Kernel

    def enable_caching(self) -> None:
        with contextlib.suppress(RuntimeError):  # else it is compiled at each start
            self._cache = _Cache(self.py_func)

    def compile(self, signature: Any) -> Any:
        """Load or compile it for these types of arguments; alone, if compiled, on this machine."""
        with global_compiler_lock:  # which Numba takes next
            outermost = _Preparation.begun is None
            if outermost:
                without = types.none in getattr(signature, "args", signature)
                _Preparation.begin(self.seconds_without if without else self.seconds)
            kept = self._cache if isinstance(self._cache, _Cache) else None
            if kept is None:
                _Preparation.tell()
            try:
                return super().compile(signature)
            finally:
                if kept is not None:
                    kept.release()
                if outermost:
                    _Preparation.end()

    def get_call_template(self, arguments: Sequence[Any], named: Any) -> Any:
        """Compile a literal 0 or True as any number or truth value; Numba would compile each."""
        plain = tuple(_general(each) for each in arguments)
        return super().get_call_template(plain, {n: _general(each) for n, each in named.items()})


class LoopDispatcher(KernelDispatcher):
    """The same of a loop, which kernels call and Python cannot."""

    def add_overload(self, compiled: Any) -> None:
        """Note what was compiled, for kernels alone."""
        self.overloads[tuple(compiled.signature.args)] = compiled

    def _compile_for_args(self, *_: Any, **__: Any) -> Any:
        raise TypeError(f"{self.py_func.__name__} is a loop, which kernels alone call.")


def dispatcher_of(kernel: Any) -> Any:
    """What is called for a ``Kernel`` or loop of it; the function itself without Numba's JIT."""
    if config.DISABLE_JIT:  # type: ignore[attr-defined]
        return kernel.function
    kind = KernelDispatcher if kernel.called_by_python else LoopDispatcher
    always = {"nopython": True, "nogil": True, "no_cfunc_wrapper": True}
    found = kind(kernel.function, targetoptions={**always, **kernel.options})
    found.enable_caching()
    found.seconds, found.seconds_without = kernel.seconds, kernel.seconds_without
    return found


@intrinsic
def _fetched(typing, array, place):
    def generate(context, builder, signature, arguments):
        kind = signature.args[0]
        held = context.make_array(kind)(context, builder, arguments[0])
        indices = [arguments[1]]
        address = cgutils.get_item_pointer(  # type: ignore[no-untyped-call]
            context, builder, kind, held, indices
        )
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        taken = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        fetch = builder.module.declare_intrinsic("llvm.prefetch", [byte], taken)
        to_read, soon, data = number(0), number(3), number(1)
        builder.call(fetch, [builder.bitcast(address, byte), to_read, soon, data])
        return context.get_dummy_value()

    return types.void(array, place), generate


@overload(prefetch)
def _prefetch(array, place):
    return lambda array, place: _fetched(array, place)  # type: ignore[call-arg]


def _note() -> Path | None:
    try:
        folder = _Cache(_all_sources).cache_path
    except RuntimeError:
        return None
    processor = cpu_target.target_context.codegen().magic_tuple()
    made_by = f"{_SOURCES} {__version__} {sys.version} {processor}"
    return Path(folder, f"all-{hashlib.sha256(made_by.encode()).hexdigest()[:16]}.compiled")


def all_is_compiled() -> bool:
    """Whether a note says that all kernels, as they are now, are cached."""
    note = _note()
    return note is not None and note.exists()


def note_that_all_is_compiled() -> None:
    """Note it where the kernels are kept, so that no other process looks through them."""
    note = _note()
    if note is not None:
        with contextlib.suppress(OSError):
            note.touch()
