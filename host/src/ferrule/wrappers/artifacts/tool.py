"""The tool `artifact_read`: gives a stored result back, in pages of characters, or what is found in it."""

from __future__ import annotations

from typing import Any

from ferrule import Context, ToolError, hookimpl, static_schema


@hookimpl
def schema() -> dict[str, Any]:
    """Describe the tool, as `reading.schema.json` does."""
    return static_schema(__file__)


@hookimpl
def execute(arguments: dict[str, Any], context: Context) -> dict[str, Any]:
    """Return `{"success", "resource", "mimeType", "content", "offset", "next_offset"?, "total"}`.

    The stored text from character `offset` on, `limit` characters at most, and as many as fit. Pages that go on with
    `next_offset` are the whole text, each character once. With `grep` it has `matches` instead of `content`, each
    `{"line", "offset", "content"}`: where it begins, and the text around it.

    Raises ToolError with NOT_FOUND, INVALID_INPUT, or NETWORK_ERROR where the store does not answer.
    """
    from ferrule.wrappers.artifacts.handles import MIME_TYPE, name_in, shown, uri

    resource = arguments["resource"]
    name = name_in(resource)
    text = _stored(name) if name else None
    if name is None or text is None:
        raise ToolError("NOT_FOUND", f"artifact not found (it may have expired): {shown(resource)}")
    head = {"success": True, "resource": uri(name), "mimeType": MIME_TYPE}
    return _answer(head, text, arguments, context)


def _answer(head: dict[str, Any], text: str, arguments: dict[str, Any], context: Context) -> dict[str, Any]:
    offset, limit, grep = arguments.get("offset", 0), arguments.get("limit"), arguments.get("grep")
    if offset > len(text):
        raise ToolError("INVALID_INPUT", f"offset: {offset} is past the end; the artifact has {len(text)} characters.")
    if grep:
        from ferrule.wrappers.artifacts.grep import matching

        return matching(head, text, grep, offset, limit, context)
    from ferrule.wrappers.artifacts.page import page

    return page(head, text, offset, limit, context)


def _stored(name: str) -> str | None:
    from ferrule.config import configuration
    from ferrule.wrappers.artifacts.settings import Settings
    from ferrule.wrappers.artifacts.store import StoreUnavailable, store_of

    # The wrapper's own settings, whether it is switched on for this call or not: what it stored is where they say.
    try:
        body = store_of(Settings.of(configuration.read())).get(name)
        return None if body is None else body.decode()
    except UnicodeDecodeError:
        return None  # whoever stored that, it was not the wrapper
    except StoreUnavailable as error:
        raise ToolError("NETWORK_ERROR", str(error), hint="Try again in a moment.", retry_after=5) from None
