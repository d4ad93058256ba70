"""A few words about a large result, for a model that has to decide whether to read it."""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

LONGEST = 300  # characters
_TITLES = ("title", "name", "query", "url")
_TEXTS = ("summary", "description", "abstract", "content", "text", "markdown", "body")
_LONGEST_TITLE, _LONGEST_SENTENCE, _LONGEST_KEY = 80, 120, 30
_LOOKED_AT = 2000  # characters of a text in which its first sentence is looked for
_KEYS = 12
_UNITS: dict[type[str | list[object] | dict[str, object]], str] = {str: "character", list: "item", dict: "member"}
_ENDS = (". ", "! ", "? ", "。")


def summary(document: object, reader: str) -> str:
    """At most 300 characters: a title and a first sentence where there are any, the keys, and the tool that reads it.

    reader: the name under which the client knows that tool. The document must be free of secrets.
    """
    how = f" Read it with {reader}."
    facts = document if isinstance(document, dict) else {}
    parts = [*_title(facts), *_sentence(facts), f"Keys: {', '.join(_shapes(facts))}."]
    return _cut(" ".join(parts), LONGEST - len(how)) + how


def _title(facts: dict[str, Any]) -> Iterator[str]:
    for holder in (facts, facts.get("metadata")):
        for key in _TITLES:
            text = _one_line(holder.get(key)) if isinstance(holder, dict) else ""
            if text:
                yield _ended(_cut(text, _LONGEST_TITLE))
                return


def _sentence(facts: dict[str, Any]) -> Iterator[str]:
    text = next(filter(None, (_one_line(facts.get(key)) for key in _TEXTS)), "")
    ends = [text.find(end) + 1 for end in _ENDS if end in text]
    if text:
        yield _ended(_cut(text[: min(ends, default=len(text))], _LONGEST_SENTENCE))


def _shapes(facts: dict[str, Any]) -> Iterator[str]:
    for key in list(facts)[:_KEYS]:
        value = facts[key]
        yield _cut(_one_line(key), _LONGEST_KEY) + _size(value)
    if len(facts) > _KEYS:
        yield f"{len(facts) - _KEYS:,} more"


def _size(value: object) -> str:
    for kind, unit in _UNITS.items():
        if isinstance(value, kind):
            return f" ({len(value):,} {unit}{'' if len(value) == 1 else 's'})"
    return ""


def _ended(sentence: str) -> str:
    return sentence if sentence.endswith((".", "!", "?", "…", "。")) else f"{sentence}."


def _one_line(value: object) -> str:
    """A text without line breaks and what else cannot be seen, which a page may have put there."""
    words = value[:_LOOKED_AT].split() if isinstance(value, str) else []
    return "".join(letter for letter in " ".join(words) if letter.isprintable())


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"
