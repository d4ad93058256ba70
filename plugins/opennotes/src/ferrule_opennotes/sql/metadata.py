"""A note's frontmatter as read_markdown has it: every value is text."""

from __future__ import annotations

import json
import re
from typing import Any

_HAS_TO_BE_QUOTED = re.compile(r"""[\[\]{}(),"'\\:=]|^\s|\s$|^$|^null$""", re.IGNORECASE)


def as_text(frontmatter: dict[str, Any]) -> dict[str, str | None]:
    """`{"tags": ["a", "b"], "priority": 3}` becomes `{"tags": "[a, b]", "priority": "3"}`.

    A list is written so that `CAST(metadata['tags'] AS VARCHAR[])` gives its items back; an object is JSON.
    """
    return {name: _value(value) for name, value in frontmatter.items()}


def _value(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list):
        return f"[{', '.join(map(_item, value))}]"
    return json.dumps(value, ensure_ascii=False)


def _item(value: Any) -> str:
    if value is None:
        return "NULL"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if not _HAS_TO_BE_QUOTED.search(text):
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
