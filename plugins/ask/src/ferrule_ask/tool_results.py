"""What a model is told of a tool's answer: short text, whatever the tool has said.

A result of the search tools becomes a numbered list; anything else is compact JSON. Either is about 1,500 tokens at the
most, since a model is asked once more with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ferrule.text import strict_json

UNAVAILABLE = "Search unavailable. Please answer from your knowledge."
SEARCH_PREFIX = "web_search"
_NOTHING_FOUND = "Search Results:\n\nNothing was found."
_RESULTS = 5
_TITLE, _URL, _SNIPPET = 200, 600, 200  # characters
_LONGEST, _LONGEST_ERROR = 6_000, 2_000
_INPUT = "INVALID_INPUT"

Json = Mapping[str, Any]


def content(tool: str, document: Json, *, failed: bool) -> tuple[str, bool]:
    """The text for the model, and whether it tells of an error.

    document: what the tool's executable answered. failed: whether it said by its exit code that the call has failed; a
    document that itself says so counts as well.
    """
    if failed or document.get("success") is False or document.get("error") is True:
        return failure(tool, str(document.get("error_code") or document.get("code") or ""), _sentence(document)), True
    results = document.get("results")
    if is_search(tool) and isinstance(results, list):
        return search_results(results), False
    return _cut_json(strict_json.dumps(document).decode()), False


def failure(tool: str, code: str, error: str) -> str:
    """The text about a call that has failed. Of a search, the model need not know more than that it is left alone.

    What was wrong with the arguments it is always told.
    """
    if is_search(tool) and code != _INPUT:
        return UNAVAILABLE
    return _cut(error or "The tool failed, and did not say why.", _LONGEST_ERROR)


def search_results(results: Sequence[Any]) -> str:
    """The first five results, each with its number, title, URL and at most 200 characters of its snippet.

    results: objects with `title`, `url` and `snippet` (or `description`); what has no URL is left out.
    """
    shown = [lines for lines in map(_lines, results) if lines][:_RESULTS]
    if not shown:
        return _NOTHING_FOUND
    numbered = [f"{number}. " + "\n   ".join(lines) for number, lines in enumerate(shown, 1)]
    return "\n\n".join(["Search Results:", *numbered])


def is_search(tool: str) -> bool:
    """Whether a tool is one of those that search the web, by its name."""
    return tool == SEARCH_PREFIX or tool.startswith(f"{SEARCH_PREFIX}_")


def _lines(result: Any) -> list[str]:
    """Title, URL and, where there is one, snippet of a result; empty where it has no URL."""
    if not isinstance(result, dict):
        return []
    url = _text(result.get("url"))
    if not url:
        return []
    snippet = _text(result.get("snippet") or result.get("description"))
    title = _text(result.get("title")) or url
    return [_cut(title, _TITLE), _cut(url, _URL), *([_cut(snippet, _SNIPPET)] if snippet else [])]


def _text(value: object) -> str:
    from ferrule.text.plain_text import plain_text

    # What the search tools answer is text already: a `<` in it is none of HTML's, but around emphasised words.
    return plain_text(value, html=False)


def _sentence(document: Json) -> str:
    """What a failure says: a text at `error`, or `message` and `hint`; in the shape of another family, all of it."""
    error = document.get("error")
    texts = [error] if isinstance(error, str) else [document.get("message"), document.get("hint")]
    sentence = " ".join(text for text in texts if isinstance(text, str))
    return sentence or (strict_json.dumps(document).decode() if document else "")


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 3].rstrip()}..."


def _cut_json(text: str) -> str:
    if len(text) <= _LONGEST:
        return text
    return f"{text[:_LONGEST]}… [cut: the first {_LONGEST:,} of {len(text):,} characters]"
