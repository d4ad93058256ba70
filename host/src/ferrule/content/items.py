"""The items of an answer that is more than one JSON object, as they stand in it.

{"success": true, "content": [{"type": "text", "text": "Sales of May"},
                              {"type": "json", "value": {"sum": 12}},
                              {"type": "image", "resource": "research://artifact/5b0f…", "mimeType": "image/png",
                               "bytes": 5120, "name": "sales.png", "path": "/home/…", "expiresAt": "2026-…Z"}]}
"""

from __future__ import annotations

from ferrule.content.artifacts.handles import name_in

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Literal, NotRequired, TypedDict

    from ferrule.text.json_types import JSONObject

    class TextItem(TypedDict):
        """A text for the model."""

        type: Literal["text"]
        text: str

    class JSONItem(TypedDict):
        """A JSON object beside other items."""

        type: Literal["json"]
        value: JSONObject

    class StoredItem(TypedDict):
        """An artifact. resource: its handle. bytes: its size. path: of the file, where it is one. expiresAt: in UTC."""

        type: Literal["image", "audio", "file"]
        resource: str
        mimeType: str
        bytes: int
        expiresAt: str
        name: NotRequired[str]
        path: NotRequired[str]

    Item = TextItem | JSONItem | StoredItem
else:
    Item = TextItem = JSONItem = StoredItem = dict  # so that the public names are there at run time, too

STORED = ("image", "audio", "file")
_KEYS = {"success", "content", "_meta"}


def items_in(document: object) -> list[Item] | None:
    """The items of an answer; None where the answer is one object of the tool's own."""
    if not isinstance(document, dict) or document.get("success") is not True or not document.keys() <= _KEYS:
        return None
    content = document.get("content")
    if not isinstance(content, list) or not all(map(_is_item, content)):
        return None
    return content


def object_in(document: JSONObject) -> JSONObject | None:
    """The object that a tool's `result_schema` is about: the answer itself, or the one object among its items."""
    items = items_in(document)
    if items is None:
        return document
    objects = [item["value"] for item in items if item["type"] == "json"]
    return objects[0] if len(objects) == 1 else None


def is_stored(item: Mapping[str, object]) -> bool:
    """Whether an item is an artifact."""
    return item["type"] in STORED


def has_stored(document: object) -> bool:
    """Whether an answer names artifacts, which do not live as long as what may be made of it."""
    return any(map(is_stored, items_in(document) or ()))


def _is_item(item: object) -> bool:
    if not isinstance(item, dict):
        return False
    if item.get("type") == "text":
        return isinstance(item.get("text"), str)
    if item.get("type") == "json":
        return isinstance(item.get("value"), dict)
    resource, size = item.get("resource"), item.get("bytes")
    is_whole = isinstance(resource, str) and name_in(resource) and isinstance(size, int)
    return bool(item.get("type") in STORED and is_whole and isinstance(item.get("mimeType"), str))
