"""From a large result to the artifact that holds it, and to the summary that stands in its place."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ferrule.content.artifacts.settings import NAME, Settings
from ferrule.text import strict_json

if TYPE_CHECKING:
    from ferrule.content.artifacts.store import ArtifactStore
    from ferrule.plugin.wrapper_context import WrapperContext
    from ferrule.text.json_types import JSONObject

_META = "_meta"  # tells of the call, not of its result: it changes with each call and stays out of the body
_MAX_META_BYTES = 2048
_FAMILY = ("success", "error", "trust")
_MAX_FAMILY_CHARS = 60


def can_store(context: WrapperContext) -> bool:
    """Whether a result could be stored, as far as that is known before there is one."""
    from ferrule.content.artifacts.store import ArtifactStore

    store = ArtifactStore(_settings(context), tool=context.tool)
    is_ready = store.is_ready()
    _report_outage(store, context)
    return is_ready


def link_large(result: JSONObject, context: WrapperContext) -> JSONObject:
    """The summary of a result that was stored; the result itself where it is small, or cannot be stored.

    Where it cannot be, an event says why, and the host's own limit decides about the result.
    """
    settings = _settings(context)
    return _link_from(min(settings.threshold_bytes, context.max_bytes + 1), result, settings, context)


def link_too_large(result: JSONObject, context: WrapperContext) -> JSONObject:
    """The same for a result that has more than `context.max_bytes`: only a credential in it can make it small."""
    return _link_from(0, result, _settings(context), context)


def _link_from(least_bytes: int, result: JSONObject, settings: Settings, context: WrapperContext) -> JSONObject:
    meta, body = _split(result)
    if len(body) < least_bytes:
        return result
    body = _without_secrets(body, context)
    if len(body) < least_bytes:
        return result
    link = _store(body, settings, context)
    return {**link, **meta} if link else result


def _settings(context: WrapperContext) -> Settings:
    return Settings(lambda key, variable: context.wrapper_setting(NAME, key, variable))


def _store(body: bytes, settings: Settings, context: WrapperContext) -> JSONObject | None:
    """Store a body and return its summary; None where it cannot be stored."""
    from ferrule.content.artifacts.handles import digest
    from ferrule.content.artifacts.store import ArtifactStore
    from ferrule.storage.errors import StorageError

    name = digest(body)
    store = ArtifactStore(settings, tool=context.tool)
    try:
        expires = store.put(name, body, settings.seconds)
        _report_outage(store, context)
    except StorageError as error:
        context.event({"event": "artifact_not_stored", "wrapper": NAME, "tool": context.tool, "reason": str(error)})
        return None
    return _link(name, body, expires, context)


def _report_outage(store: ArtifactStore, context: WrapperContext) -> None:
    """Say once that files are used instead of a server that does not answer."""
    if store.new_outage:
        content = f"{store.new_outage}; files of this machine are."
        context.event({"event": "state_unavailable", "wrapper": NAME, "content": content})


def _split(result: JSONObject) -> tuple[JSONObject, bytes]:
    """What stays with the link, and the result's body; an empty one for what JSON cannot hold."""
    meta = result.get(_META)
    try:
        if isinstance(meta, dict) and len(strict_json.dumps(meta)) <= _MAX_META_BYTES:
            rest = {key: value for key, value in result.items() if key != _META}
            return {_META: meta}, strict_json.dumps(rest)
        return {}, strict_json.dumps(result)
    except strict_json.Unrepresentable:
        return {}, b""  # the host says what is wrong with it


def _without_secrets(body: bytes, context: WrapperContext) -> bytes:
    """The host keeps secrets out of what it prints, and cannot see what is stored."""
    secrets = context.secrets()
    if not secrets:
        return body
    from ferrule.text.redaction import redact_json

    return redact_json(body, secrets)


def _family(result: JSONObject) -> JSONObject:
    """What tells the family of the result: whether it is one, and whether it may be believed."""
    return {key: result[key] for key in _FAMILY if key in result and _is_small(result[key])}


def _is_small(value: object) -> bool:
    return isinstance(value, bool) or (isinstance(value, str) and len(value) <= _MAX_FAMILY_CHARS)


def _link(name: str, body: bytes, expires: float, context: WrapperContext) -> JSONObject:
    from ferrule.content.artifacts.handles import MIME_TYPE, uri
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
