"""Lines of a server as messages of JSON-RPC."""

from __future__ import annotations

from ferrule.text import strict_json

TYPE_CHECKING = False

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONObject


def read_messages(line: bytes) -> list[JSONObject]:
    """The messages of a line: one, or several where it is a list, as it was in 2025-03-26; none for a blank line.

    Raises ValueError for a line that holds none.
    """
    line = line.strip()
    if not line:
        return []
    value = _read_value(line)
    found = value if isinstance(value, list) else [value]
    messages = [one for one in found if isinstance(one, dict) and _is_message(one)]
    if not messages:
        raise ValueError("no message of JSON-RPC")
    return messages


def write_message(message: JSONObject) -> bytes:
    """A message as one line. Raises strict_json.Unrepresentable."""
    return strict_json.dumps(message) + b"\n"


def _read_value(line: bytes) -> object:
    try:
        return strict_json.loads(line)
    except strict_json.MalformedJSON:
        from ferrule_mcp.stdio.lenient_json import read_leniently

        return read_leniently(line)


def _is_message(value: JSONObject) -> bool:
    if isinstance(value.get("method"), str):
        return True
    return "id" in value and ("result" in value or "error" in value)
