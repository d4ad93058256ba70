"""Texts that say what the structured content says, too. Servers send both, for clients that read one of them."""

from __future__ import annotations

from ferrule.text import strict_json

TYPE_CHECKING = False

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONObject


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


def _is_text(block: JSONObject) -> bool:
    return block.get("type") == "text" and isinstance(block.get("text"), str)
