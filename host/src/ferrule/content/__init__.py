"""Public: results that are more than one JSON object: text, images, sound and files.

- `Image`, `Audio`, `File`: what a tool returns, also as `ferrule.Image` and so on. `Content` is the type of all that
  it may return beside an object.
- `items_in(document)`: the `Item`s of an answer that has some, for programs that call tools. `object_in(document)`: the
  object that the `result_schema` of the tool is about.
- `is_text(media_type)`: whether bytes of a media type are meant to be read as text.

`document` makes the answer of what a tool has returned.
"""

from __future__ import annotations

from ferrule.lazy import attach

TYPE_CHECKING = False

if TYPE_CHECKING:
    from ferrule.content.items import Item, JSONItem, StoredItem, TextItem, items_in, object_in
    from ferrule.content.media import Audio, Content, File, Image
    from ferrule.content.media_types import is_text

__all__ = [
    "Audio",
    "Content",
    "File",
    "Image",
    "Item",
    "JSONItem",
    "StoredItem",
    "TextItem",
    "is_text",
    "items_in",
    "object_in",
]

_MODULES = {
    "ferrule.content.items": ("Item", "JSONItem", "StoredItem", "TextItem", "items_in", "object_in"),
    "ferrule.content.media": ("Audio", "Content", "File", "Image"),
    "ferrule.content.media_types": ("is_text",),
}
__getattr__ = attach(__name__, {name: module for module, names in _MODULES.items() for name in names})
