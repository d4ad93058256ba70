"""Which calls are equal: those whose canonical questions have the same SHA-256.

A question is everything that the host knows to decide a result, taken whole and listed nowhere by hand. It is JSON, so
no two questions can run into each other, and its hash is used in full.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule.text import strict_json
from ferrule.text.sha256 import sha256_hex

if TYPE_CHECKING:
    from ferrule.plugin.wrapper_context import CallInfo
    from ferrule.text.json_types import JSONMapping, JSONObject

SHAPE = 1
"""The version of what is kept. It is part of every key, so a change of the shape finds nothing of the old one."""

_SHORT_CHARS = 16


def question(call: CallInfo) -> JSONObject:
    """All that decides the result of a call, as JSON."""
    return {
        "shape": SHAPE,
        "tool": call.tool,
        "distribution": call.distribution,
        "version": call.version,
        "schema": call.schema_hash,
        "arguments": dict(call.normalised_arguments),
        "identity": dict(call.identity),
    }


def key_of(asked: JSONMapping) -> str:
    """The key of a question: 64 hexadecimal digits. Raises Unrepresentable where it holds what JSON cannot.

    1 and 1.0 are two questions; where a schema says `integer`, the host has made them one before.
    """
    return sha256_hex(strict_json.canonical(asked))


def hashed(value: object) -> object:
    """The same objects with a hash instead of everything in them, to compare without knowing."""
    if isinstance(value, dict) and value:
        return {name: hashed(inner) for name, inner in value.items()}
    return f"sha256:{sha256_hex(strict_json.canonical(value))[:_SHORT_CHARS]}"


def short_key(key: str) -> str:
    """The beginning of a key, which is enough to tell two apart."""
    return key[:_SHORT_CHARS]


def differences(ours: object, theirs: object, place: str = "") -> list[tuple[str, object, object]]:
    """Where two values differ: each place, dotted, with what stands there on either side; None for nothing."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        found = []
        for name in sorted(ours.keys() | theirs.keys()):
            found += differences(ours.get(name), theirs.get(name), f"{place}.{name}" if place else name)
        return found
    is_equal = ours is not None and theirs is not None and strict_json.canonical(ours) == strict_json.canonical(theirs)
    return [] if is_equal or (ours is None and theirs is None) else [(place, ours, theirs)]
