"""What a reference in a schema leads to. Nothing outside of the schema is ever looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import unquote

if TYPE_CHECKING:
    from ferrule import JSONObject

_MAX_ANCHOR_SCHEMAS = 2000  # schemas that are searched for an anchor
NOWHERE = object()
"""What a reference leads to that leads out of the schema, or to nothing in it."""


def find_target(reference: object, root: JSONObject) -> object:
    """The schema that a `$ref` names, or NOWHERE. root: the schema that the server listed."""
    if not isinstance(reference, str):
        return NOWHERE
    address, _, fragment = reference.partition("#")
    if address and address != root.get("$id"):
        return NOWHERE
    fragment = unquote(fragment)
    if not fragment:
        return root
    found = _follow(fragment[1:].split("/"), root) if fragment.startswith("/") else _find_anchor(fragment, root)
    return found if isinstance(found, dict | bool) else NOWHERE


def _follow(tokens: list[str], root: JSONObject) -> object:
    found: object = root
    for token in tokens:
        key = token.replace("~1", "/").replace("~0", "~")
        if isinstance(found, dict) and key in found:
            found = found[key]
        elif isinstance(found, list) and key.isascii() and key.isdigit() and len(key) < 9 and int(key) < len(found):
            found = found[int(key)]
        else:
            return NOWHERE
    return found


def _find_anchor(name: str, root: JSONObject) -> object:
    waiting: list[object] = [root]
    for _ in range(_MAX_ANCHOR_SCHEMAS):
        if not waiting:
            break
        one = waiting.pop()
        if isinstance(one, dict):
            if name in (one.get("$anchor"), one.get("$dynamicAnchor")):
                return one
            waiting.extend(one.values())
        elif isinstance(one, list):
            waiting.extend(one)
    return NOWHERE
