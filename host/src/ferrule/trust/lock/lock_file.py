"""ferrule.lock on disk: JSON that people and `diff` can read, with digests by canonical JSON (RFC 8785)."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NotRequired, TypedDict

from ferrule.errors import LockUnusable
from ferrule.storage import private_files
from ferrule.text import strict_json
from ferrule.text.sha256 import sha256_hex
from ferrule.text.visibility import make_visible, may_hide

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONObject

FORM = 1
"""The form of the file that this host reads and writes."""

_MAX_SAFE_INTEGER = (1 << 53) - 1  # above it, canonical JSON knows no integer
_MODE = 0o644
_RESTORE = "Restore it, or remove it and run `ferrule lock`."


class LockedTool(TypedDict):
    """One tool as it was accepted.

    entry_point, distribution, version: who offers it. failures: the entry point that renders its failures. files: a
    digest of the digests of all its files. schema: as a model gets it. permissions, declaration: what `tool.json` says.
    credentials: of each its name, the variable and the key of the credentials file that have it, where they are known.
    digest: of all that, as canonical JSON.
    """

    distribution: str
    version: str
    entry_point: str
    failures: NotRequired[str]
    files: str
    schema: JSONObject
    permissions: JSONObject
    declaration: JSONObject
    credentials: NotRequired[list[dict[str, str]]]
    digest: NotRequired[str]


class LockedCode(TypedDict):
    """One file that has an effect in ferrule's own process, as it was accepted: what kind of effect, whose it is, and
    its digest, empty where that is no file.
    """

    id: str
    distribution: str
    digest: str


def read(path: str) -> dict[str, LockedTool]:
    """The tools that are locked, by name. Raises LockUnusable where the file is missing or not as it was written."""
    content = _read(path)
    tools = content.get("tools") if content.get("form") == FORM else None
    if not isinstance(tools, dict):
        raise LockUnusable(f"{path} is no lock of this ferrule.", hint=_RESTORE)
    for name, tool in tools.items():
        if not isinstance(tool, dict) or tool.get("digest") != _digest_of(tool):
            message = f"{path} was changed by hand: what it says of {name} does not fit its digest."
            raise LockUnusable(message, hint=_RESTORE)
    return tools


def read_code(path: str) -> dict[str, LockedCode]:
    """The files that may have an effect in ferrule's own process, by name; none in a lock of an earlier version.

    Raises LockUnusable.
    """
    found = _read(path).get("parent_code", {})
    code = found.get("files") if isinstance(found, dict) else None
    if found and (not isinstance(code, dict) or found.get("digest") != digest(code)):
        message = f"{path} was changed by hand: what it says of parent_code does not fit its digest."
        raise LockUnusable(message, hint=_RESTORE)
    return code or {}


def _read(path: str) -> JSONObject:
    try:
        with open(path, "rb") as file:
            content = strict_json.loads(file.read())
    except FileNotFoundError:
        hint = "Run `ferrule lock`, and look at what it has written."
        raise LockUnusable(f"There is no {path}, by which tools are locked.", hint=hint) from None
    except OSError as error:
        raise LockUnusable(f"{path} cannot be read: {error.strerror}.") from None
    except ValueError as error:
        raise LockUnusable(f"{path} is not JSON: {error}.", hint=_RESTORE) from None
    return content if isinstance(content, dict) else {}


def write(path: str, tools: Mapping[str, LockedTool], code: Mapping[str, LockedCode] | None = None) -> bytes:
    """Write the lock as a whole, and return its bytes. Raises LockUnusable where that cannot be done."""
    content: JSONObject = {
        "form": FORM,
        "tools": {name: {**tool, "digest": _digest_of(tool)} for name, tool in tools.items()},
    }
    if code:
        content["parent_code"] = {"files": dict(code), "digest": digest(code)}
    data = _spelt_out(json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False)).encode() + b"\n"
    try:
        os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
        private_files.replace_file(path, data, mode=_MODE)
    except OSError as error:
        raise LockUnusable(f"{path} cannot be written: {error.strerror}.") from None
    return data


def digest(value: object) -> str:
    """`sha256:` and the digest of a value as canonical JSON."""
    import rfc8785

    return f"sha256:{sha256_hex(rfc8785.dumps(_within_domain(value)))}"


def _digest_of(tool: Mapping[str, object]) -> str:
    return digest({key: value for key, value in tool.items() if key != "digest"})


def _within_domain(value: object) -> Any:
    """The value with the integers that canonical JSON has no form for as objects of text."""
    if isinstance(value, dict):
        return {key: _within_domain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_within_domain(inner) for inner in value]
    is_large = isinstance(value, int) and abs(value) > _MAX_SAFE_INTEGER
    return {"integer": str(value)} if is_large else value


def _spelt_out(text: str) -> str:
    """JSON in which what nobody sees is an escape, as in `\\u200c`; it stands in texts alone."""
    if not may_hide(text):
        return text
    return "".join(letter if make_visible(letter) == letter else json.dumps(letter)[1:-1] for letter in text)
