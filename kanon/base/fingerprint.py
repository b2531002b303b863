"""One fingerprint for whatever a result depends on."""

import hashlib
from collections.abc import Mapping, Sequence, Set
from dataclasses import fields, is_dataclass
from enum import Enum

import numpy as np
from pydantic import BaseModel

_PLAIN = frozenset({str, bytes, int, float, bool, type(None)})


def fingerprint_of(*inputs: object) -> str:
    """A fingerprint of some inputs: another one as soon as anything in them is another.

    >>> fingerprint_of({"a": 1, "b": 2}) == fingerprint_of({"b": 2, "a": 1})
    True
    >>> fingerprint_of("a", 1) == fingerprint_of("a", 2)
    False
    """
    return _digest(inputs).hex()


def _digest(value: object) -> bytes:
    """32 bytes; every kind of value begins with another text, and parts have one length."""
    if isinstance(value, Enum):
        return _hashed(f"enum {type(value).__qualname__}", _digest(value.value))
    if type(value) in _PLAIN:
        return _hashed(repr(value))
    if isinstance(value, np.generic):
        return _digest(value.item())
    if isinstance(value, np.ndarray):
        kind = f"array {value.dtype.str} {value.shape}"
        if value.dtype.hasobject:
            return _hashed(kind, _digest(value.ravel().tolist()))
        return _hashed(kind, np.ascontiguousarray(value).tobytes())
    if isinstance(value, BaseModel):
        return _hashed(f"model {type(value).__qualname__}", _digest(value.model_dump(mode="json")))
    if is_dataclass(value) and not isinstance(value, type):
        own = [_digest((each.name, getattr(value, each.name))) for each in fields(value)]
        return _hashed(f"class {type(value).__qualname__}", *own)
    if isinstance(value, Mapping):
        return _hashed("mapping", *sorted(_digest(pair) for pair in value.items()))
    if isinstance(value, Set):
        return _hashed("set", *sorted(map(_digest, value)))
    if isinstance(value, Sequence):
        if all(type(each) in _PLAIN for each in value):  # many labels are hashed at once
            return _hashed(f"plain sequence {tuple(value)!r}")
        return _hashed("sequence", *map(_digest, value))
    raise TypeError(f"No fingerprint is known of {type(value).__qualname__}.")


def _hashed(kind: str, *parts: bytes) -> bytes:
    found = hashlib.sha256(kind.encode("utf-8", "surrogatepass") + b"\0")
    for part in parts:
        found.update(part)
    return found.digest()
