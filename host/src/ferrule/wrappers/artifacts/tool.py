"""The tool `artifact_read`: gives a stored result back, in pages of characters, or what is found in it."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from ferrule import Context, ToolError, hookimpl, static_schema

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONObject


@hookimpl
def schema() -> JSONObject:
    """Describe the tool, as `reading.schema.json` does."""
    return static_schema(__file__)


@hookimpl
def execute(arguments: JSONObject, context: Context) -> JSONObject:
    """Return `{"success", "resource", "mimeType", "content", "offset", "next_offset"?, "total"}`.

    The stored text from character `offset` on, `limit` characters at most, and as many as fit. Pages that go on with
    `next_offset` are the whole text, each character once. With `grep` it has `matches` instead of `content`, each
    `{"line", "offset", "content"}`: where it begins, and the text around it.

    Raises ToolError with NOT_FOUND, INVALID_INPUT, or NETWORK_ERROR where the store does not answer.
    """
    from ferrule.wrappers.artifacts.handles import MIME_TYPE, describe, name_in, uri

    resource = arguments["resource"]
    name = name_in(resource)
    text = _read(name) if name else None
    if name is None or text is None:
        raise ToolError("NOT_FOUND", f"artifact not found (it may have expired): {describe(resource)}")
    head = {"success": True, "resource": uri(name), "mimeType": MIME_TYPE}
    return _answer(head, text, arguments, context)


def _answer(head: JSONObject, text: str, arguments: JSONObject, context: Context) -> JSONObject:
    offset, limit, grep = arguments.get("offset", 0), arguments.get("limit"), arguments.get("grep")
    if offset > len(text):
        raise ToolError("INVALID_INPUT", f"offset: {offset} is past the end; the artifact has {len(text)} characters.")
    if grep:
        from ferrule.wrappers.artifacts.grep import matching

        return matching(head, text, grep, offset, limit, context)
    return cut_page(head, text, offset, limit, context)


def cut_page(head: JSONObject, text: str, offset: int, limit: int | None, context: Context) -> JSONObject:
    """The answer that begins with character `offset`, which is at most the length of the text.

    It has `next_offset` where something follows. Characters are counted, so no page can begin or end within one.
    """

    def until(end: int) -> JSONObject:
        further = {"next_offset": end} if end < len(text) else {}
        return {**head, "content": text[offset:end], "offset": offset, **further, "total": len(text)}

    def is_too_large(end: int) -> bool:
        return context.size(until(end)) > context.max_bytes

    # A character takes a byte or more.
    last = min(len(text), offset + min(limit or context.max_bytes, context.max_bytes))
    if not is_too_large(last):
        return until(last)
    ends = range(offset + 1, last)
    return until(offset + bisect_left(ends, True, key=is_too_large))


def _read(name: str) -> str | None:
    from ferrule.config import configuration
    from ferrule.storage.errors import StorageError
    from ferrule.wrappers.artifacts.settings import Settings
    from ferrule.wrappers.artifacts.store import ArtifactStore

    # The wrapper's own settings, whether it is switched on for this call or not: what it stored is where they say.
    try:
        body = ArtifactStore(Settings.of(configuration.read())).get(name)
        return None if body is None else body.decode()
    except UnicodeDecodeError:
        return None  # which the wrapper has not stored
    except StorageError as error:
        raise ToolError("NETWORK_ERROR", str(error), hint="Try again in a moment.", retry_after=5) from None
