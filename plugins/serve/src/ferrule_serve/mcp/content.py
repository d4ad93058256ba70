"""Blocks of content for the items of an answer that is more than one object."""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING

from ferrule import config
from ferrule.content import is_text
from ferrule.content.artifacts import handles, read_artifact
from ferrule.errors import FerruleError
from ferrule.storage import StorageError
from ferrule.text import strict_json
from ferrule_serve.limits import Limits
from ferrule_serve.mcp.artifacts import EXPIRES, contents_of
from ferrule_serve.protocol.vocabulary import Block

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferrule.content import Item, StoredItem
    from ferrule.content.artifacts import Artifact


def blocks_of(items: Sequence[Item]) -> list[Block]:
    """One block for each item. Reads artifacts, so it blocks.

    A file is a link where the configuration does not let as many bytes into an answer, or where it has gone.
    """
    limits, blocks = Limits.of(config.read()), list[Block]()
    left = {True: limits.result_bytes, False: limits.media_bytes}  # for text, and for other bytes
    for item in items:
        if item["type"] == "text":
            blocks.append({"type": "text", "text": item["text"]})
        elif item["type"] == "json":
            blocks.append({"type": "text", "text": strict_json.dumps(item["value"]).decode()})
        else:
            kind = is_text(item["mimeType"])
            found = _read(item) if item["bytes"] <= left[kind] else None
            left[kind] -= item["bytes"] if found else 0
            blocks.append(_embed(item, *found) if found else _link_to(item))
    return blocks


def _read(item: StoredItem) -> tuple[bytes, Artifact] | None:
    try:
        return read_artifact(item["resource"])
    except (FerruleError, StorageError):
        return None  # the client may still read it, when the store answers again


def _embed(item: StoredItem, body: bytes, artifact: Artifact) -> Block:
    meta = _meta(item)
    if item["type"] == "file":
        return {"type": "resource", "resource": contents_of(item["resource"], body, artifact, meta)}
    return {"type": item["type"], "data": b64encode(body).decode(), "mimeType": item["mimeType"], "_meta": meta}


def _link_to(item: StoredItem) -> Block:
    return {
        "type": "resource_link",
        "uri": item["resource"],
        "name": item.get("name") or f"{item['type']} {(handles.name_in(item['resource']) or '')[:12]}",
        "mimeType": item["mimeType"],
        "size": item["bytes"],
        "_meta": _meta(item),
    }


def _meta(item: StoredItem) -> dict[str, str]:
    return {EXPIRES: item["expiresAt"]} if isinstance(item.get("expiresAt"), str) else {}
