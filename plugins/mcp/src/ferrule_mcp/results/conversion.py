"""The result of `tools/call`, as what `execute` of a tool returns.

Structured content is given once: texts that say the same are left out. It is the whole answer where nothing else is
left; otherwise it is the one object among the items, so that it is what the schema of the result is about. Where it
only holds the blocks once more, with files in base64, the files are given instead.
"""

from __future__ import annotations

from ferrule_mcp.results.blocks import list_blocks, read_block
from ferrule_mcp.results.repetition import drop_repeated, repeats_files

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferrule.text.json_types import JSONObject
    from ferrule_mcp.results.blocks import Item

_VALUE_KEY = "result"  # under which structured content that is no object stands


def read_result(result: JSONObject, declined: Sequence[str] = ()) -> JSONObject | list[Item] | str:
    """What a successful result is for ferrule. declined: what the server asked for meanwhile, and was not given.

    Raises ToolError TOOL_ERROR where the server says that it is none, with its own words.
    """
    if result.get("isError") is True:
        from ferrule_mcp.results.errors import explain_error_result

        raise explain_error_result(result, declined)
    blocks = list_blocks(result)
    structured = result.get("structuredContent")
    if structured is None and "toolResult" in result and not blocks:
        structured = result["toolResult"]  # of the first release
    if structured is not None and not repeats_files(structured, blocks):
        return _join_structured(structured, blocks)
    items = [read_block(block) for block in blocks]
    return items[0] if len(items) == 1 and isinstance(items[0], str) else items


def _join_structured(structured: object, blocks: list[JSONObject]) -> JSONObject | list[Item]:
    value: JSONObject = structured if isinstance(structured, dict) else {_VALUE_KEY: structured}
    items = [_flatten(read_block(block)) for block in drop_repeated(blocks, value)]
    if items:
        return [*items, value]
    return [value] if _reads_as_answer(value) else value


def _flatten(item: Item) -> Item:
    """An object as text: the structured content is to be the only one."""
    if isinstance(item, dict):
        from ferrule.text import strict_json

        return strict_json.dumps(item).decode()
    return item


def _reads_as_answer(value: JSONObject) -> bool:
    """Whether the host would take an object for a failure, or for a list of items, which it says of itself alone."""
    is_content = value.get("success") is True and isinstance(value.get("content"), list)
    return value.get("success") is False or value.get("error") is True or is_content
