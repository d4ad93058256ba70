"""From what a tool has returned to the one JSON object that is its answer. Runs in the call's child.

Bytes do not travel through the pipe to the parent: they are stored here, and the answer names them by a handle.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ferrule.config import configuration
from ferrule.content import media_types
from ferrule.content.artifacts import handles
from ferrule.content.artifacts.settings import Settings
from ferrule.content.artifacts.store import ArtifactStore, Label
from ferrule.content.media import Media
from ferrule.errors import ResultInvalid, ResultNotStored

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferrule.content.artifacts.store import Artifact
    from ferrule.content.items import Item, StoredItem
    from ferrule.text.json_types import JSONObject

_MAX_NAME_CHARS = 200


def what_is_wrong(returned: object) -> str:
    """Which type in a result is none of content; empty where all is."""
    if isinstance(returned, list | tuple):
        odd = [type(item).__name__ for item in returned if not isinstance(item, str | dict | Media)]
        return f"{type(returned).__name__} with {odd[0]} in it" if odd else ""
    return "" if isinstance(returned, str | dict | Media) else type(returned).__name__


def answer_of(returned: object, secrets: Sequence[str], tool: str = "") -> JSONObject:
    """The answer with one item for each text, object, and `Media` of a result in which nothing is wrong.

    secrets: taken out of files that are text; other bytes that hold one are refused, since they would be spoilt.
    tool: whose files they are.

    Raises ResultInvalid for `Media` that cannot be given, and ResultNotStored.
    """
    items = returned if isinstance(returned, list | tuple) else [returned]
    return {"success": True, "content": [_item_of(item, secrets, tool) for item in items]}


def item_of_artifact(kind: str, artifact: Artifact) -> StoredItem:
    """The item that stands for an artifact."""
    item: StoredItem = {
        "type": kind,  # type: ignore[typeddict-item] # of those that StoredItem knows
        "resource": handles.uri(artifact.name),
        "mimeType": artifact.label.media_type,
        "bytes": artifact.size,
        "expiresAt": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(artifact.expires)),
    }
    if artifact.label.name:
        item["name"] = artifact.label.name
    if artifact.path:
        item["path"] = artifact.path
    return item


def kind_of(media_type: str) -> str:
    """`image`, `audio` or `file`."""
    family = media_type.partition("/")[0]
    return family if family in ("image", "audio") else "file"


def _item_of(item: object, secrets: Sequence[str], tool: str) -> Item:
    if isinstance(item, str):
        return {"type": "text", "text": item}
    if isinstance(item, dict):
        return {"type": "json", "value": item}
    if not isinstance(item, Media):
        raise TypeError(type(item).__name__)
    data = item.read()
    media_type = item.type_of(data)
    data = _without_secrets(data, media_type, item, secrets)
    label = Label(media_type, _file_name(item.name, secrets))
    return item_of_artifact(item.kind, _store(data, label, item.kind, tool))


def _file_name(name: str, secrets: Sequence[str]) -> str:
    """A name that JSON can hold, a terminal may show, and a client may write to: without folders and credentials."""
    name = "".join(letter if letter.isprintable() else "\ufffd" for letter in name)
    if secrets:  # it is stored, too, which is not the answer, out of which all are taken
        from ferrule.text.redaction import redact_value

        name = redact_value(name, secrets)
    name = name.replace("\\", "/").rstrip("/").rpartition("/")[2][:_MAX_NAME_CHARS]
    return "" if name in (".", "..") else name


def _store(data: bytes, label: Label, kind: str, tool: str) -> Artifact:
    from ferrule.storage.errors import StorageError

    settings = Settings.of(configuration.read())
    try:
        return ArtifactStore(settings, tool=tool).keep(data, label, settings.seconds)
    except StorageError as error:
        raise ResultNotStored(
            f"The tool's {kind} ({label.media_type}, {len(data):,} bytes) could not be stored: {error}",
            hint="Name a folder that this user can write to in FERRULE_STATE, or free some space.",
        ) from None


def _without_secrets(data: bytes, media_type: str, item: Media, secrets: Sequence[str]) -> bytes:
    if not secrets:
        return data
    from ferrule.text.redaction import redact

    clean = redact(data, secrets)
    if clean != data and not media_types.is_text(media_type):
        raise ResultInvalid(
            f"The tool's {item.kind} {item.name or f'({media_type})'} holds a credential, and is not given.",
            hint="Make it without the credential.",
        )
    return clean
