"""Blocks of content: each as a text, an object, or a file."""

from __future__ import annotations

from ferrule_mcp.stdio.lines import fit_text

TYPE_CHECKING = False

if TYPE_CHECKING:
    from ferrule import Audio, File, Image
    from ferrule.text.json_types import JSONObject

    Item = str | JSONObject | Image | Audio | File

_MAX_BLOCKS = 1_000
_LINK_KEYS = ("uri", "name", "title", "description", "mimeType", "size")
_MAX_ODD_CHARS = 2_000  # of a block of a kind that is not known
_UNKNOWN_TYPE = "application/octet-stream"


def read_block(block: JSONObject) -> Item:
    """What stands for one block. Its `_meta` and its annotations are for clients, and left out."""
    kind = block.get("type")
    if kind == "text" and isinstance(block.get("text"), str):
        return str(block["text"])
    if kind in ("image", "audio"):
        return _read_media(block.get("data"), block.get("mimeType"), "", str(kind))
    if kind == "resource" and isinstance(block.get("resource"), dict):
        return _read_resource(block["resource"])
    if kind == "resource_link" and isinstance(block.get("uri"), str):
        return {"type": "resource_link"} | {key: block[key] for key in _LINK_KEYS if key in block}
    return _describe_odd(block)


def _read_resource(resource: JSONObject) -> Item:
    """A resource that came along: its text with where it is from, or a file."""
    uri, media_type = str(resource.get("uri", "")), resource.get("mimeType")
    if isinstance(resource.get("text"), str):
        named = {"mimeType": media_type} if isinstance(media_type, str) else {}
        return {"type": "resource", "uri": uri, **named, "text": resource["text"]}
    return _read_media(resource.get("blob"), media_type, _read_name(uri), "resource")


def _read_media(data: object, media_type: object, name: str, what: str) -> Item:
    """The bytes of a block, as the kind of file that its media type says; a sentence where they are none."""
    import binascii

    from ferrule import Audio, File, Image

    if not isinstance(data, str):
        return f"[The server sent {_name_kind(what)} without data.]"
    try:
        body = _decode(data)
    except (binascii.Error, ValueError):
        return f"[The server sent {_name_kind(what)} whose data is no base64: {len(data):,} characters.]"
    kind = media_type if isinstance(media_type, str) and "/" in media_type else ""
    family = kind.partition("/")[0].lower()
    if family == "image":
        return Image(body, kind, name=name)
    if family == "audio":
        return Audio(body, kind, name=name)
    return File(body, kind or ("" if name else _UNKNOWN_TYPE), name=name)


def _decode(data: str) -> bytes:
    """Bytes of base64, also of that for URLs, without its padding, or as a `data:` URL."""
    from binascii import a2b_base64

    if data.startswith("data:"):
        data = data.partition(",")[2]
    data = "".join(data.split()).replace("-", "+").replace("_", "/").rstrip("=")
    return a2b_base64(data + "=" * (-len(data) % 4), strict_mode=True)


def _name_kind(what: str) -> str:
    return f"an {what}" if what in ("image", "audio") else f"a {what}"


def _read_name(uri: str) -> str:
    """The last part of a URI, as the name of a file."""
    from urllib.parse import unquote

    return unquote(uri.partition("?")[0].partition("#")[0].rstrip("/").rpartition("/")[2])


def _describe_odd(block: JSONObject) -> str:
    """A block that the protocol does not know, as JSON, so that nothing is lost without a word."""
    from ferrule.text import strict_json

    text = strict_json.dumps({key: value for key, value in block.items() if key != "_meta"}).decode()
    return fit_text(text, _MAX_ODD_CHARS)


def list_blocks(result: JSONObject) -> list[JSONObject]:
    """The blocks of a result, as many as are given."""
    content = result.get("content")
    found = [one for one in content if isinstance(one, dict)] if isinstance(content, list) else []
    if len(found) > _MAX_BLOCKS:
        more = {"type": "text", "text": f"[{len(found) - _MAX_BLOCKS:,} more blocks are left out.]"}
        return [*found[:_MAX_BLOCKS], more]
    return found
