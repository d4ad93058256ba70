"""The tool `artifact_read`: gives a stored result back, in pages of characters, or what is found in it."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from ferrule.errors import ToolError
from ferrule.plugin.hooks.hookspecs import hookimpl
from ferrule.schema.schema_file import static_schema

if TYPE_CHECKING:
    from ferrule.content.artifacts import Artifact
    from ferrule.plugin.hooks.context import Context
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
    `{"line", "offset", "content"}`: where it begins, and the text around it. What is no text comes as an item of
    content, which names its type, its size and its file.

    Raises ToolError with NOT_FOUND, INVALID_INPUT, or NETWORK_ERROR where the store does not answer.
    """
    from ferrule.content.artifacts.handles import describe, uri

    resource = arguments["resource"]
    found = _read(resource)
    if found is None:
        raise ToolError("NOT_FOUND", f"artifact not found (it may have expired): {describe(resource)}")
    body, artifact = found
    head = {"success": True, "resource": uri(artifact.name), "mimeType": artifact.label.media_type}
    text = _text(body, artifact)
    if text is None:
        return _describe({**head, "bytes": artifact.size}, artifact)
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


def _read(resource: str) -> tuple[bytes, Artifact] | None:
    from ferrule.content.artifacts import read_artifact
    from ferrule.storage.errors import StorageError

    # The wrapper's own settings, whether it is switched on for this call or not: what it stored is where they say.
    try:
        return read_artifact(resource)
    except StorageError as error:
        raise ToolError("NETWORK_ERROR", str(error), hint="Try again in a moment.", retry_after=5) from None


def _text(body: bytes, artifact: Artifact) -> str | None:
    """The artifact as text; None where it is none, whatever its type says."""
    from ferrule.content.media_types import is_text

    try:
        return body.decode() if is_text(artifact.label.media_type) else None
    except UnicodeDecodeError:
        return None


def _describe(facts: JSONObject, artifact: Artifact) -> JSONObject:
    """The facts and the artifact itself, as two items of content."""
    from ferrule.content.document import item_of_artifact, kind_of

    item = item_of_artifact(kind_of(artifact.label.media_type), artifact)
    return {"success": True, "content": [{"type": "json", "value": facts}, item]}
