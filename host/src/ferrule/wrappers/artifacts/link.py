"""From a large result to the artifact that holds it, and to the summary that stands in its place."""

from __future__ import annotations

import time

from ferrule.text import strict_json
from ferrule.wrappers.artifacts.settings import WRAPPER, Settings

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

    from ferrule import Context

_BESIDE = "_meta"  # tells of the call, not of its result: it changes with each call and stays out of the body
_LARGEST_BESIDE = 2048  # bytes
_FAMILY = ("success", "error", "trust")
_LONGEST_OF_FAMILY = 60  # characters


def can_store(context: Context) -> bool:
    """Whether a result could be stored, as far as that can be told before there is one."""
    from ferrule.wrappers.artifacts.store import store_of

    return store_of(_settings(context)).is_ready()


def linked(result: dict[str, Any], context: Context) -> dict[str, Any]:
    """The summary of a result that was stored; the result itself where it is small, or cannot be stored.

    Where it cannot be, an event says why, and the host's own limit decides about the result.
    """
    settings = _settings(context)
    beside, body = _parted(result)
    if len(body) < settings.threshold:
        return result
    body = _without_secrets(body, context)
    if len(body) < settings.threshold:
        return result
    link = _stored(body, settings, context)
    return {**link, **beside} if link else result


def _settings(context: Context) -> Settings:
    return Settings(lambda key, variable: context.wrapper_setting(WRAPPER, key, variable))


def _stored(body: bytes, settings: Settings, context: Context) -> dict[str, Any] | None:
    """Store a body and return its summary; None where it cannot be stored."""
    from ferrule.wrappers.artifacts.handles import digest
    from ferrule.wrappers.artifacts.store import StoreUnavailable, store_of

    name = digest(body)
    try:
        expires = store_of(settings).put(name, body, settings.seconds)
    except StoreUnavailable as error:
        context.event({"event": "artifact_not_stored", "wrapper": WRAPPER, "tool": context.tool, "reason": str(error)})
        return None
    return _link(name, body, expires, context)


def _parted(result: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
    """What goes beside the result, and the result's body; an empty one for what JSON cannot hold."""
    beside = result.get(_BESIDE)
    try:
        if isinstance(beside, dict) and len(strict_json.dumps(beside)) <= _LARGEST_BESIDE:
            rest = {key: value for key, value in result.items() if key != _BESIDE}
            return {_BESIDE: beside}, strict_json.dumps(rest)
        return {}, strict_json.dumps(result)
    except strict_json.Unrepresentable:
        return {}, b""  # the host says what is wrong with it


def _without_secrets(body: bytes, context: Context) -> bytes:
    """The host keeps secrets out of what it prints, and cannot see what is stored."""
    secrets = context.secrets()
    if not secrets:
        return body
    from ferrule.text.redaction import redact_json

    return redact_json(body, secrets)


def _family(result: dict[str, Any]) -> dict[str, Any]:
    """What tells the family of the result: whether it is one, and whether it may be believed."""
    return {key: result[key] for key in _FAMILY if key in result and _is_small(result[key])}


def _is_small(value: object) -> bool:
    return isinstance(value, bool) or (isinstance(value, str) and len(value) <= _LONGEST_OF_FAMILY)


def _link(name: str, body: bytes, expires: int, context: Context) -> dict[str, Any]:
    from ferrule.wrappers.artifacts.handles import MIME_TYPE, uri
    from ferrule.wrappers.artifacts.summary import summary

    document = strict_json.loads(body)
    return {
        **(_family(document) if isinstance(document, dict) else {}),
        "resource": uri(name),
        "bytes": len(body),
        "mimeType": MIME_TYPE,
        "summary": summary(document, context.name_of("artifact_read")),
        "expiresAt": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(expires)),
        "linked": True,
    }
