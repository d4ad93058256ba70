"""Which calls are equal: those whose canonical questions have the same SHA-256.

A question is everything that the host knows to decide a result, taken whole and listed nowhere by hand. It is JSON, so
no two questions can run into each other, and its hash is used in full.
"""

from __future__ import annotations

from ferrule.text import strict_json
from ferrule.text.sha256 import sha256_hex

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Protocol

    class Question(Protocol):
        """What `context.call` says of a call, as far as it decides the result."""

        @property
        def tool(self) -> str: ...
        @property
        def distribution(self) -> str: ...
        @property
        def version(self) -> str: ...
        @property
        def schema_hash(self) -> str: ...
        @property
        def arguments(self) -> Mapping[str, Any]: ...
        @property
        def identity(self) -> Mapping[str, Any]: ...


SHAPE = 1
"""The version of what is kept. It is part of every key, so a change of the shape finds nothing of the old one."""

_SHOWN = 16  # hexadecimal digits


def question(call: Question) -> dict[str, Any]:
    """All that decides the result of a call, as JSON."""
    return {
        "shape": SHAPE,
        "tool": call.tool,
        "distribution": call.distribution,
        "version": call.version,
        "schema": call.schema_hash,
        "arguments": dict(call.arguments),
        "identity": dict(call.identity),
    }


def key_of(asked: Mapping[str, Any]) -> str:
    """The key of a question: 64 hexadecimal digits. Raises Unrepresentable where it holds what JSON cannot."""
    return sha256_hex(canonical(asked))


def canonical(value: object) -> bytes:
    """The one way to write a JSON value: sorted keys, no blanks, UTF-8.

    Texts are compared by their characters, without normalisation. 1 and 1.0 are told apart, since a tool can tell
    them apart; where a schema says `integer`, the host has made them one before. 1.0 and 1e0 are one.
    """
    return strict_json.dumps(_sorted(value))


def hashed(value: object) -> object:
    """The same objects with a hash in the place of everything in them, to compare without knowing."""
    if isinstance(value, dict) and value:
        return {name: hashed(inner) for name, inner in value.items()}
    return f"sha256:{sha256_hex(canonical(value))[:_SHOWN]}"


def shown(key: str) -> str:
    """As much of a key as a person needs."""
    return key[:_SHOWN]


def differences(ours: object, theirs: object, place: str = "") -> list[tuple[str, object, object]]:
    """Where two values differ: each place, dotted, with what stands there on either side; None for nothing."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        found = []
        for name in sorted(ours.keys() | theirs.keys()):
            found += differences(ours.get(name), theirs.get(name), f"{place}.{name}" if place else name)
        return found
    is_equal = ours is not None and theirs is not None and canonical(ours) == canonical(theirs)
    return [] if is_equal or (ours is None and theirs is None) else [(place, ours, theirs)]


def _sorted(value: object) -> object:
    if isinstance(value, dict):
        return {name: _sorted(value[name]) for name in sorted(value)}
    if isinstance(value, list | tuple):
        return [_sorted(item) for item in value]
    return value
