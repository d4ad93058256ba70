"""Tools under other names: in their schemas, and wherever a text names a tool or its sibling."""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from ferrule.text.json_types import JSONObject


def with_prefix(tools: Iterable[str], old: str, new: str) -> dict[str, str]:
    """The other name of each tool whose name starts with `old`, which `new` takes the place of."""
    return {tool: new + tool[len(old) :] for tool in tools if tool.startswith(old)}


def rename_schema(schema: JSONObject, names: Mapping[str, str]) -> JSONObject:
    """The schema with its own name and every tool named in a description replaced; the same object without `names`."""
    if not names:
        return schema
    renamed = {key: _descriptions(value, names) for key, value in schema.items()}
    if isinstance(schema.get("name"), str):
        renamed["name"] = names.get(schema["name"], schema["name"])
    if isinstance(schema.get("description"), str):
        renamed["description"] = rename_text(schema["description"], names)
    return renamed


def rename_text(text: str, names: Mapping[str, str]) -> str:
    """The text with every tool that stands in it as a whole word under its other name.

    URLs, dotted names such as a key of the credentials file, and commands of `ferrule` stay as they are.
    """
    if not names or not any(name in text for name in names):
        return text
    import re

    words = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    # The admin's command knows tools by their own names alone.
    kept = rf"(?<!\w)\w+://\S+|\bferrule [a-z]+ (?:set |unset )?(?:{words})\b"
    meant = rf"(?<![\w-])(?<!\w\.)(?:{words})(?![\w-]|\.\w)"
    return re.sub(f"{kept}|{meant}", lambda match: names.get(match.group(), match.group()), text)


def _descriptions(value: Any, names: Mapping[str, str]) -> Any:
    if isinstance(value, list):
        return [_descriptions(item, names) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: rename_text(item, names) if key == "description" and isinstance(item, str) else _descriptions(item, names)
        for key, item in value.items()
    }
