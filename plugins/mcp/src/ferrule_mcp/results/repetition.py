"""Texts that say what the structured content says, too. Servers send both, for clients that read one of them."""

from __future__ import annotations

from ferrule.text import strict_json

TYPE_CHECKING = False

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONMapping, JSONObject

_OF_CLIENTS = ("_meta", "annotations")
_KINDS = ("image", "audio", "resource")


def drop_repeated(blocks: list[JSONObject], structured: JSONObject) -> list[JSONObject]:
    """The blocks without texts that hold what the structured content holds.

    These are the same object as JSON; its only value, as JSON or as it is; and, of several texts, all of them where the
    only value is a list and they are its entries.
    """
    only = next(iter(structured.values())) if len(structured) == 1 else None
    texts = [block for block in blocks if _is_text(block)]
    if isinstance(only, list) and len(texts) == len(only) and all(map(_holds, texts, only)):
        return [block for block in blocks if not _is_text(block)]
    return [block for block in blocks if not (_is_text(block) and (_holds(block, structured) or _is_only(block, only)))]


def repeats_files(structured: object, blocks: list[JSONObject]) -> bool:
    """Whether structured content is the list of the blocks once more, with at least one file among them."""
    if not isinstance(structured, dict) or len(structured) != 1 or all(map(_is_text, blocks)):
        return False
    only = next(iter(structured.values()))
    return isinstance(only, list) and list(map(_strip, only)) == list(map(_strip, blocks))


def _strip(block: object) -> object:
    """A block without what is about it for clients."""
    return {key: block[key] for key in block if key not in _OF_CLIENTS} if isinstance(block, dict) else block


def _is_only(block: JSONObject, only: object) -> bool:
    return only is not None and _holds(block, only)


def _holds(block: JSONObject, value: object) -> bool:
    """Whether a text is a value: a text as it is, anything else as JSON."""
    text = block["text"]
    if isinstance(value, str):
        return bool(text.strip() == value.strip())
    if text[:1] not in "{[-0123456789tfn" and not text[:1].isspace():
        return False
    try:
        return strict_json.loads(text) == value
    except ValueError:
        return False


def describes_files(schema: JSONMapping) -> bool:
    """Whether an `outputSchema` describes files in base64 as blocks, for which the files themselves are given.

    It is then no schema of the tool's result.
    """
    from ferrule.text import strict_json

    text = strict_json.dumps(schema)
    is_file = b'"mimeType":{' in text and (b'"data":{' in text or b'"blob":{' in text)
    return is_file and any(f'"{kind}"'.encode() in text for kind in _KINDS)


def _is_text(block: JSONObject) -> bool:
    return block.get("type") == "text" and isinstance(block.get("text"), str)
