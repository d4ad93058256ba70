"""The text that a model gets for a tool's answer: short, however long the answer is.

A result of the search tools becomes a numbered list; anything else is compact JSON. Either is about 1,500 tokens at the
most, since a model is asked once more with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ferrule.text import strict_json

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONMapping

UNAVAILABLE = "Search unavailable. Please answer from your knowledge."
SEARCH_PREFIX = "web_search"
_MAX_RESULTS = 5
_MAX_TITLE_CHARS, _MAX_URL_CHARS, _MAX_SNIPPET_CHARS = 200, 600, 200
_MAX_JSON_CHARS, _MAX_ERROR_CHARS = 6_000, 2_000


def content(tool: str, document: JSONMapping, *, failed: bool) -> tuple[str, bool]:
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
    """The text about a call that has failed. For a search, the model need not know more than that there is no result.

    An error in the arguments is always in it.
    """
    if is_search(tool) and code != "INVALID_INPUT":
        return UNAVAILABLE
    return _cut(error or "The tool failed, and did not say why.", _MAX_ERROR_CHARS)


def search_results(results: Sequence[object]) -> str:
    """The first five results, each with its number, title, URL and at most 200 characters of its snippet.

    results: objects with `title`, `url` and `snippet` (or `description`); what has no URL is left out.
    """
    shown = [lines for lines in map(_lines, results) if lines][:_MAX_RESULTS]
    if not shown:
        return "Search Results:\n\nNothing was found."
    numbered = [f"{number}. " + "\n   ".join(lines) for number, lines in enumerate(shown, 1)]
    return "\n\n".join(["Search Results:", *numbered])


def is_search(tool: str) -> bool:
    """Whether a tool is one of those that search the web, by its name."""
    return tool == SEARCH_PREFIX or tool.startswith(f"{SEARCH_PREFIX}_")


def _lines(result: object) -> list[str]:
    """Title, URL and, where there is one, snippet of a result; empty where it has no URL."""
    if not isinstance(result, dict):
        return []
    url = _text(result.get("url"))
    if not url:
        return []
    snippet = _text(result.get("snippet") or result.get("description"))
    title = _text(result.get("title")) or url
    lines = [_cut(title, _MAX_TITLE_CHARS), _cut(url, _MAX_URL_CHARS), _cut(snippet, _MAX_SNIPPET_CHARS)]
    return lines if snippet else lines[:2]


def _text(value: object) -> str:
    from ferrule.text.plain_text import plain_text

    # What the search tools answer is text already: a `<` in it is none of HTML's, but around emphasised words.
    return plain_text(value, html=False)


def _sentence(document: JSONMapping) -> str:
    """What a failure says: a text at `error`, or `message` and `hint`; in the shape of another family, all of it."""
    error = document.get("error")
    texts = [error] if isinstance(error, str) else [document.get("message"), document.get("hint")]
    sentence = " ".join(text for text in texts if isinstance(text, str))
    return sentence or (strict_json.dumps(document).decode() if document else "")


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 3].rstrip()}..."


def _cut_json(text: str) -> str:
    if len(text) <= _MAX_JSON_CHARS:
        return text
    return f"{text[:_MAX_JSON_CHARS]}… [cut: the first {_MAX_JSON_CHARS:,} of {len(text):,} characters]"
