"""What decides the result of a call beside its arguments, as JSON in which no secret can be read."""

from __future__ import annotations

import os

from ferrule.text.sha256 import sha256_hex
from ferrule.trust.entries import may_be_secret

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from ferrule.text.json_types import JSONMapping, JSONObject

_CANNOT_MATTER = {
    *("FERRULE_DEADLINE", "FERRULE_MEMORY", "FERRULE_EXIT_ZERO", "FERRULE_DEBUG", "FERRULE_STATE", "FERRULE_CONFIG"),
    *("FERRULE_DATA", "FERRULE_WRAPPERS", "FERRULE_WRAPPERS_DEFAULT", "FERRULE_REDIS"),
}
_PURPOSE = b"ferrule: fingerprint of a credential, 1\0"
_LOCALE = ("LANG", "LANGUAGE", "TZ")
_BLOCK_BYTES = 64  # bytes of SHA-256's block, for HMAC


def is_known(variable: str, *, locale: bool = True) -> bool:
    """Whether a variable is part of an identity, or cannot matter. locale: those of language and time zone are."""
    is_of_locale = variable.startswith("LC_") or variable in _LOCALE
    return variable.startswith("FERRULE_") or (locale and is_of_locale)


def environment(environ: Mapping[str, str], further: Iterable[str] = (), *, locale: bool = True) -> JSONObject:
    """The variables that can decide a result, by name; a value that may be a secret as its fingerprint.

    Args:
        further: variables that the tool reads, whatever they are called.
        locale: language and time zone count, too.
    """
    named = set(further)
    return {
        name: _mask_variable(name, environ[name])
        for name in sorted(environ)
        if name in named or (is_known(name, locale=locale) and name not in _CANNOT_MATTER)
    }


def settings(table: JSONMapping) -> JSONObject:
    """A table of config.toml as JSON, its texts that may be secrets as their fingerprints."""
    return {name: _as_json(name, value) for name, value in table.items()}


def fingerprint(secret: str) -> str:
    """What tells one secret from another and does not tell it: 32 hexadecimal digits, the same on every machine.

    It is an HMAC whose key is the secret's hash, so that no list of ordinary hashes has it.
    """
    key = bytes.fromhex(sha256_hex(os.fsencode(secret))).ljust(_BLOCK_BYTES, b"\0")
    inner = bytes.fromhex(sha256_hex(bytes(byte ^ 0x36 for byte in key) + _PURPOSE))
    return sha256_hex(bytes(byte ^ 0x5C for byte in key) + inner)[:32]


def _as_json(name: str, value: object) -> Any:
    if isinstance(value, dict):
        return settings(value)
    if isinstance(value, list):
        return [_as_json(name, item) for item in value]
    if isinstance(value, str):
        return _mask_variable(name, value)
    if isinstance(value, bool | int):
        return value
    is_finite = isinstance(value, float) and value - value == 0
    return value if is_finite else {"toml": f"{type(value).__name__} {value}"}


def _mask_variable(name: str, value: str) -> Any:
    if ("@" in value and "://" in value) or may_be_secret(name):
        return {"fingerprint": fingerprint(value)}
    try:
        is_text = "\0" not in value and bool(value.encode() or True)
    except UnicodeEncodeError:
        is_text = False  # bytes that are no UTF-8; they must stay apart from a text that looks the same
    return value if is_text else {"bytes": os.fsencode(value).hex()}
