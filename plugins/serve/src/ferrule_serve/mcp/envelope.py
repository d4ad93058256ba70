"""The envelope of a request since 2026-07-28: who asks, by which release, and what the headers have to repeat of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule_serve.mcp.exchange import Peer
from ferrule_serve.protocol.header_parameters import decode
from ferrule_serve.protocol.vocabulary import (
    CAPABILITIES_KEY,
    CLIENT_KEY,
    ENVELOPE_VERSIONS,
    HEADER_MISMATCH,
    INVALID_PARAMS,
    LEVEL_KEY,
    LEVELS,
    UNSUPPORTED_VERSION,
    VERSION_KEY,
    RequestError,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ferrule.calls.server_interface import Client
    from ferrule.text.json_types import JSONObject
    from ferrule_serve.mcp.inbound import Request

VERSION_HEADER, METHOD_HEADER, NAME_HEADER = "mcp-protocol-version", "mcp-method", "mcp-name"
_NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


def has_envelope(params: JSONObject) -> bool:
    """Whether a request carries one, whole or in part."""
    meta = params.get("_meta")
    return isinstance(meta, dict) and VERSION_KEY in meta


def read_envelope(request: Request, headers: Mapping[str, str] | None = None) -> Peer:
    """Who asks. headers: of HTTP, by their names in small letters. Raises RequestError for what is missing or wrong."""
    meta = request.params.get("_meta")
    if not isinstance(meta, dict):
        raise RequestError(
            INVALID_PARAMS, f"params._meta has to be an object with {VERSION_KEY!r} and {CAPABILITIES_KEY!r}."
        )
    missing = [key for key in (VERSION_KEY, CAPABILITIES_KEY) if key not in meta]
    if missing:
        raise RequestError(INVALID_PARAMS, f"params._meta lacks {', '.join(missing)}.")
    version, level = meta[VERSION_KEY], meta.get(LEVEL_KEY)
    if headers is not None:
        _check_headers(request, version, headers)
    if not isinstance(version, str):
        raise RequestError(INVALID_PARAMS, f"{VERSION_KEY} has to be a string.")
    check_version(version)
    if not isinstance(meta[CAPABILITIES_KEY], dict):
        raise RequestError(INVALID_PARAMS, f"{CAPABILITIES_KEY} has to be an object.")
    if level is not None and level not in LEVELS:
        raise RequestError(INVALID_PARAMS, f"{LEVEL_KEY} has to be one of {', '.join(LEVELS)}.")
    return Peer(version, read_client(meta.get(CLIENT_KEY), CLIENT_KEY), level, is_ready=True)


def read_client(facts: object, key: str) -> Client | None:
    """The client as it names itself, None where it does not. Raises RequestError for what is no such name."""
    if facts is None:
        return None
    if isinstance(facts, dict):
        name, version = facts.get("name"), facts.get("version")
        if isinstance(name, str) and isinstance(version, str):
            return {"name": name, "version": version}
    raise RequestError(INVALID_PARAMS, f"{key} has to be an object with a name and a version.")


def check_version(version: str) -> None:
    """Raise RequestError for a release without a handshake that is not served."""
    if version not in ENVELOPE_VERSIONS:
        raise unsupported(version)


def unsupported(version: object) -> RequestError:
    """The error for a release that is not served."""
    asked = {"requested": version} if isinstance(version, str) else {}
    facts = {"supported": list(ENVELOPE_VERSIONS), **asked}
    return RequestError(UNSUPPORTED_VERSION, "Unsupported protocol version", facts)


def find_repeated(headers: Sequence[tuple[bytes, bytes]]) -> str | None:
    """The header on which requests are sent to servers that stands there twice: two readers could differ on it."""
    names = [name.decode("latin-1") for name, _ in headers]
    return next((name for name in (VERSION_HEADER, METHOD_HEADER, NAME_HEADER) if names.count(name) > 1), None)


def _check_headers(request: Request, version: object, headers: Mapping[str, str]) -> None:
    """A balancer decides by the headers and the tool is called by the body, so they have to say the same."""
    if headers.get(VERSION_HEADER) is None or headers.get(VERSION_HEADER) != version:
        raise mismatch(VERSION_HEADER, "the envelope's version")
    if headers.get(METHOD_HEADER) != request.method:
        raise mismatch(METHOD_HEADER, "the method of the body")
    key = _NAMED_BY.get(request.method, "")
    named = request.params.get(key)
    if named is not None and decode(headers.get(NAME_HEADER)) != named:
        raise mismatch(NAME_HEADER, f"the {key} of the body")


def mismatch(header: str, other: str) -> RequestError:
    """The error for a header that says something else than the body."""
    return RequestError(HEADER_MISMATCH, f"The header {header} does not match {other}.")
