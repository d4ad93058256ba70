"""What a client of MCP gets of an answer: its blocks one by one, their bytes, and the whole as JSON."""

from __future__ import annotations

import copy
from base64 import b64decode
from typing import TYPE_CHECKING, NamedTuple, cast

from ferrule.content.artifacts import handles, read_artifact
from ferrule.errors import FerruleError
from ferrule.storage import StorageError

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONObject
    from ferrule_serve.protocol.vocabulary import Block, CallResult, Contents

_PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/bmp")
_MEDIA = ("image", "audio")
_MAX_BASE64_CHARS = 60  # that are shown


class ClientBlock(NamedTuple):
    """One block as the page shows it.

    kind: `text`, `image`, `audio`, `resource` or `resource_link`, as MCP has it. about: media type, size and name.
    text: of the block; empty where it is the document itself, which stands above. number: of the block whose bytes may
    be asked for; None where it has none. is_picture: whether a browser can show them.
    """

    kind: str
    about: str
    text: str = ""
    number: int | None = None
    is_picture: bool = False


class Download(NamedTuple):
    """The bytes of a block. media_type: one that a browser may show, else that of any bytes."""

    body: bytes
    media_type: str
    name: str


def client_blocks(result: CallResult, document: bytes) -> list[ClientBlock]:
    """The blocks of a result. document: that of the answer."""
    return [_describe(block, number, document) for number, block in enumerate(result["content"])]


def download_of(block: Block) -> Download | None:
    """The bytes of a block, or of the artifact that it links; None where there are none. Reads artifacts: it blocks."""
    media_type = block.get("mimeType", "")
    if block["type"] in _MEDIA:
        return _download(b64decode(block["data"]), media_type, "")
    if block["type"] == "resource":
        return _download(_bytes_in(block["resource"]), block["resource"]["mimeType"], "")
    if block["type"] != "resource_link":
        return None
    try:
        found = read_artifact(block["uri"])
    except (FerruleError, StorageError):
        return None
    return _download(found[0], media_type, block["name"]) if found else None


def result_as_json(result: CallResult) -> JSONObject:
    """The result as it goes over the wire, with base64 cut short."""
    facts = cast("JSONObject", copy.deepcopy(result))
    for block in facts["content"]:
        for holder, key in ((block, "data"), (block.get("resource"), "blob")):
            if isinstance(holder, dict) and isinstance(holder.get(key), str):
                holder[key] = _cut(holder[key])
    return facts


def _describe(block: Block, number: int, document: bytes) -> ClientBlock:
    kind, media_type = block["type"], block.get("mimeType", "")
    if kind == "text":
        text = block["text"].encode()
        is_document = text == document
        about = f"{len(text):,} B" + ", the document" * is_document
        return ClientBlock(kind, about, "" if is_document else block["text"])
    if kind in _MEDIA:
        about = f"{media_type}, {_decoded_bytes(block['data']):,} B"
        return ClientBlock(kind, about, number=number, is_picture=media_type in _PICTURES)
    if kind == "resource":
        resource = block["resource"]
        about = f"{resource['mimeType']}, {len(_bytes_in(resource)):,} B"
        return ClientBlock(kind, about, resource.get("text", ""), number)
    size_told = f", {block['size']:,} B" if "size" in block else ""
    is_readable = handles.name_in(block["uri"]) is not None
    about = f"{media_type}{size_told}, {block['name']}"
    return ClientBlock(kind, about, block["uri"], number if is_readable else None)


def _download(body: bytes, media_type: str, name: str) -> Download:
    return Download(body, media_type if media_type in _PICTURES else "application/octet-stream", name)


def _bytes_in(resource: Contents) -> bytes:
    return b64decode(resource["blob"]) if "blob" in resource else resource["text"].encode()


def _decoded_bytes(data: str) -> int:
    return len(data) * 3 // 4 - data[-2:].count("=")


def _cut(data: str) -> str:
    return data if len(data) <= _MAX_BASE64_CHARS else f"{data[:_MAX_BASE64_CHARS]}… ({len(data):,} characters)"
