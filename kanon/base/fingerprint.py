"""A fingerprint of everything that a result depends on."""

import hashlib
from collections.abc import Mapping, Sequence, Set
from dataclasses import fields, is_dataclass
from enum import Enum

import numpy as np
from pydantic import BaseModel

_PLAIN = frozenset({str, bytes, int, float, bool, type(None)})


def compute_fingerprint(*inputs: object) -> str:
    """Return a fingerprint of the inputs, which differs as soon as anything in them differs.

    >>> compute_fingerprint({"a": 1, "b": 2}) == compute_fingerprint({"b": 2, "a": 1})
    True
    >>> compute_fingerprint("a", 1) == compute_fingerprint("a", 2)
    False
    """
    return _compute_digest(inputs).hex()


def _compute_digest(value: object) -> bytes:
    """Hash to 32 bytes; every kind of value begins differently, and parts have equal length."""
    if isinstance(value, Enum):
        return _hash_parts(f"enum {type(value).__qualname__}", _compute_digest(value.value))
    if type(value) in _PLAIN:
        return _hash_parts(repr(value))
    if isinstance(value, np.generic):
        return _compute_digest(value.item())
    if isinstance(value, np.ndarray):
        kind = f"array {value.dtype.str} {value.shape}"
        if value.dtype.hasobject:
            return _hash_parts(kind, _compute_digest(value.ravel().tolist()))
        return _hash_parts(kind, np.ascontiguousarray(value).tobytes())
    if isinstance(value, BaseModel):
        return _hash_parts(
            f"model {type(value).__qualname__}", _compute_digest(value.model_dump(mode="json"))
        )
    if is_dataclass(value) and not isinstance(value, type):
        digests = [
            _compute_digest((item.name, getattr(value, item.name))) for item in fields(value)
        ]
        return _hash_parts(f"class {type(value).__qualname__}", *digests)
    if isinstance(value, Mapping):
        return _hash_parts("mapping", *sorted(_compute_digest(pair) for pair in value.items()))
    if isinstance(value, Set):
        return _hash_parts("set", *sorted(map(_compute_digest, value)))
    if isinstance(value, Sequence):
        if all(type(item) in _PLAIN for item in value):  # many labels are hashed at once
            return _hash_parts(f"plain sequence {tuple(value)!r}")
        return _hash_parts("sequence", *map(_compute_digest, value))
    raise TypeError(f"There is no fingerprint for {type(value).__qualname__}.")


def _hash_parts(kind: str, *parts: bytes) -> bytes:
    digest = hashlib.sha256(kind.encode("utf-8", "surrogatepass") + b"\0")
    for part in parts:
        digest.update(part)
    return digest.digest()
