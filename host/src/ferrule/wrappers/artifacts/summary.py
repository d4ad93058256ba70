"""A summary of a large result, for a model that has to decide whether to read it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ferrule.content.items import items_in

if TYPE_CHECKING:
    from ferrule.content import Item
    from ferrule.text.json_types import JSONObject

MAX_CHARS = 300
_TITLES = ("title", "name", "query", "url")
_TEXTS = ("summary", "description", "abstract", "content", "text", "markdown", "body")
_MAX_TITLE_CHARS, _MAX_SENTENCE_CHARS, _MAX_KEY_CHARS = 80, 120, 30
_MAX_SEARCHED_CHARS = 2000  # of a text in which its first sentence is looked for
_MAX_KEYS = 12
_UNITS: dict[type[str | list[object] | dict[str, object]], str] = {str: "character", list: "item", dict: "member"}
_ENDS = (". ", "! ", "? ", "。")


def summary(document: object, reader: str) -> str:
    """At most 300 characters: a title and a first sentence where there are any, the keys, and the tool that reads it.

    reader: the name under which the client knows that tool. The document must be free of secrets.
    """
    how = f" Read it with {reader}."
    facts = document if isinstance(document, dict) else {}
    items = items_in(document)
    content = f"Keys: {', '.join(_describe_keys(facts))}." if items is None else f"Items: {_describe_items(items)}."
    parts = [*_title(facts), *_sentence(facts if items is None else _texts_of(items)), content]
    return _cut(" ".join(parts), MAX_CHARS - len(how)) + how


def _title(facts: JSONObject) -> Iterator[str]:
    for holder in (facts, facts.get("metadata")):
        for key in _TITLES:
            text = _one_line(holder.get(key)) if isinstance(holder, dict) else ""
            if text:
                yield _with_full_stop(_cut(text, _MAX_TITLE_CHARS))
                return


def _sentence(facts: JSONObject) -> Iterator[str]:
    text = next(filter(None, (_one_line(facts.get(key)) for key in _TEXTS)), "")
    ends = [text.find(end) + 1 for end in _ENDS if end in text]
    if text:
        yield _with_full_stop(_cut(text[: min(ends, default=len(text))], _MAX_SENTENCE_CHARS))


def _describe_keys(facts: JSONObject) -> Iterator[str]:
    for key in list(facts)[:_MAX_KEYS]:
        yield _cut(_one_line(key), _MAX_KEY_CHARS) + _describe_size(facts[key])
    if len(facts) > _MAX_KEYS:
        yield f"{len(facts) - _MAX_KEYS:,} more"


def _describe_size(value: object) -> str:
    for kind, unit in _UNITS.items():
        if isinstance(value, kind):
            return f" ({len(value):,} {unit}{'' if len(value) == 1 else 's'})"
    return ""


def _texts_of(items: Sequence[Item]) -> JSONObject:
    return {"text": " ".join(item["text"] for item in items if item["type"] == "text")}


def _describe_items(items: Sequence[Item]) -> str:
    counts = Counter(item["type"] for item in items)
    return ", ".join(f"{count:,} {kind}" for kind, count in counts.items())


def _with_full_stop(sentence: str) -> str:
    return sentence if sentence.endswith((".", "!", "?", "…", "。")) else f"{sentence}."


def _one_line(value: object) -> str:
    """A text without line breaks and other invisible characters, which a page may have put there."""
    words = value[:_MAX_SEARCHED_CHARS].split() if isinstance(value, str) else []
    return "".join(letter for letter in " ".join(words) if letter.isprintable())


def _cut(text: str, max_chars: int) -> str:
    return text if len(text) <= max_chars else text[: max_chars - 1].rstrip() + "…"
