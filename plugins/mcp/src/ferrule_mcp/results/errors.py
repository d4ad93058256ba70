"""What a server refuses, as the error of a tool, in the server's own words."""

from __future__ import annotations

from ferrule import ToolError
from ferrule_mcp.stdio.lines import clean_text, fit_text

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferrule.text.json_types import JSONObject

TOOL_ERROR, INVALID_INPUT, INPUT_REQUIRED = "TOOL_ERROR", "INVALID_INPUT", "INPUT_REQUIRED"
_METHOD_NOT_FOUND, _INVALID_PARAMS = -32601, -32602
_CAPABILITY_MISSING, _URL_NEEDED = -32021, -32042
_MAX_DATA_CHARS = 1_000
_CHECK = "Check the arguments against what the server says."
_UNKNOWN = (
    "If the server does not know the tool any more, the administrator can look for what has changed: "
    "`ferrule mcp refresh`."
)
_NOBODY = "Nobody can be asked during a call, and no model and no folder is lent to a server."


def explain_error_result(result: JSONObject, declined: Sequence[str] = ()) -> ToolError:
    """The error for a result with `isError`. declined: what the server asked for meanwhile."""
    from ferrule_mcp.results.blocks import list_blocks

    texts = [_read_words(block) for block in list_blocks(result)]
    words = "\n".join(filter(None, texts)) or _write_short(result.get("structuredContent"))
    return ToolError(
        TOOL_ERROR, clean_text(words).strip() or "The tool failed, and said nothing.", hint=describe_declined(declined)
    )


def explain_refusal(
    server: str, code: int, message: str, data: object = None, declined: Sequence[str] = ()
) -> ToolError:
    """The error for one of JSON-RPC.

    Args:
        server: its name, as the administrator gave it.
        code, message, data: of the error.
        declined: what the server asked for meanwhile.
    """
    words = clean_text(message).strip() or "It gave no reason."
    more = _write_short(data)
    text = f"The MCP server {server} refused the call: {words} ({code})"
    text = f"{text} {more}" if more and more not in words else text
    kinds = {
        _INVALID_PARAMS: (INVALID_INPUT, _CHECK),
        _METHOD_NOT_FOUND: (TOOL_ERROR, _UNKNOWN),
        _CAPABILITY_MISSING: (INPUT_REQUIRED, _NOBODY),
        _URL_NEEDED: (INPUT_REQUIRED, "Open the address that the server names, do what it asks, and call again."),
    }
    kind, hint = kinds.get(code, (TOOL_ERROR, ""))
    return ToolError(kind, text, hint=" ".join(filter(None, (hint, describe_declined(declined)))) or None)


def describe_declined(declined: Sequence[str]) -> str | None:
    """A sentence about what the server asked for and was not given; None where it asked for nothing."""
    return f"The server asked for {'; '.join(declined)}, which was declined. {_NOBODY}" if declined else None


def _read_words(block: JSONObject) -> str:
    """What a block of an error says; of a file, that there is one."""
    kind = block.get("type")
    if kind == "text":
        return str(block.get("text", "")).strip()
    resource = block.get("resource")
    text = resource.get("text") if isinstance(resource, dict) else None
    return text.strip() if isinstance(text, str) else f"[{kind}]"


def _write_short(value: object) -> str:
    if value is None or value in ("", {}, []):
        return ""
    from ferrule.text import strict_json

    text = value if isinstance(value, str) else strict_json.dumps(value).decode()
    return fit_text(text, _MAX_DATA_CHARS)
