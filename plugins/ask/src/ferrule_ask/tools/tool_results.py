"""The text that a model gets for a tool's answer: short, however long the answer is.

A result of the search tools becomes a numbered list, and one of several items their texts, with a line for each image
or file, which says what it is and where; anything else is compact JSON. The conversation cuts it to
`tool_tokens`, since a model is asked once more with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ferrule.content import items_in
from ferrule.text import strict_json
from ferrule_ask.tools.protocols import Passage, Source, ToolResult

if TYPE_CHECKING:
    from ferrule.content import Item
    from ferrule.text.json_types import JSONMapping

UNAVAILABLE = "Search unavailable. Please answer from your knowledge."
SEARCH_PREFIX = "web_search"
_MAX_RESULTS = 5
_MAX_TITLE_CHARS, _MAX_URL_CHARS, _MAX_SNIPPET_CHARS, _MAX_DATE_CHARS = 200, 600, 200, 40
_MAX_ERROR_CHARS = 2_000
_MAX_SOURCES, _MAX_SOURCE_CHARS = 50, 2_000


def content(tool: str, document: JSONMapping, *, failed: bool) -> ToolResult:
    """The result of a call, with the text for the model.

    document: what the tool's executable answered. failed: whether it said by its exit code that the call has failed; a
    document that itself says so counts as well.
    """
    if failed or document.get("success") is False or document.get("error") is True:
        code = str(document.get("error_code") or document.get("code") or "")
        return failure(tool, code, _sentence(document), _wait(document))
    results = document.get("results")
    if is_search(tool) and isinstance(results, list):
        sources = find_sources(tool, document)[:_MAX_RESULTS]
        text, passages = search_results(results), tuple(_hits(results))
        return ToolResult(text, is_error=False, seconds=0.0, sources=sources, passages=passages)
    items = items_in(document)
    text = strict_json.dumps(document).decode() if items is None else "\n\n".join(map(_item, items))
    sources = find_sources(tool, document)
    passages = tuple(_passages(document, text, sources)) if sources else ()
    return ToolResult(text, is_error=False, seconds=0.0, sources=sources, passages=passages)


def failure(tool: str, code: str, error: str, retry_after: float | None = None) -> ToolResult:
    """The result of a call that has failed. Of a search, the model need not know more than that there is no result.

    An error of its own, in the name or the arguments, is always told to it.
    """
    said = _cut(error or "The tool failed, and did not say why.", _MAX_ERROR_CHARS)
    text = UNAVAILABLE if is_search(tool) and code not in ("INVALID_INPUT", "UNKNOWN_TOOL") else said
    return ToolResult(text, is_error=True, seconds=0.0, code=code or None, error=said, retry_after=retry_after)


def search_results(results: Sequence[object]) -> str:
    """The first five results, each with its number, title, URL, at most 200 characters of its snippet, and its date.

    results: objects with `title`, `url` and `snippet` (or `description`), and `published` where that is known; what has
    no URL is left out.
    """
    shown = [lines for lines in map(_lines, results) if lines][:_MAX_RESULTS]
    if not shown:
        return "Search Results:\n\nNothing was found."
    numbered = [f"{number}. " + "\n   ".join(lines) for number, lines in enumerate(shown, 1)]
    return "\n\n".join(["Search Results:", *numbered])


def find_sources(tool: str, document: JSONMapping) -> tuple[Source, ...]:
    """The places of what an answer says: the page that it is of, and its `results`, as far as they have a URL."""
    results = document.get("results")
    listed = results if isinstance(results, list) else []
    found = [one for one in (document, *listed[:_MAX_SOURCES]) if isinstance(one, dict) and _text(one.get("url"))]
    return tuple(
        Source(
            _cut(_text(one.get("title")) or _text(one["url"]), _MAX_TITLE_CHARS),
            _text(one["url"])[:_MAX_SOURCE_CHARS],
            _cut(_text(one.get("published")), _MAX_DATE_CHARS),
            tool,
        )
        for one in found
    )


def _hits(results: Sequence[object]) -> Iterator[Passage]:
    """The listed results of a search, each with its snippet and date."""
    listed = [(one, lines) for one, lines in ((one, _lines(one)) for one in results) if isinstance(one, dict) and lines]
    for one, (title, _, *rest) in listed[:_MAX_RESULTS]:
        yield Passage(_text(one["url"])[:_MAX_SOURCE_CHARS], title, "\n".join(rest))


def _passages(document: JSONMapping, text: str, sources: Sequence[Source]) -> Iterator[Passage]:
    """The parts of another tool's answer: a page is one; a list has one for each entry that has a place."""
    if len(sources) == 1 and sources[0].url == _text(document.get("url"))[:_MAX_SOURCE_CHARS]:
        yield Passage(sources[0].url, sources[0].title, text)
        return
    places = {one.url: one for one in sources}
    entries = document.get("results")
    others: list[object] = []
    for entry in entries if isinstance(entries, list) else []:
        url = _text(entry.get("url"))[:_MAX_SOURCE_CHARS] if isinstance(entry, dict) else ""
        if url in places:
            yield Passage(url, places[url].title, strict_json.dumps(entry).decode())
        else:
            others.append(entry)
    rest = {name: value for name, value in document.items() if name != "results"}
    yield Passage("", "", strict_json.dumps({**rest, "results": others} if others else rest).decode())


def is_search(tool: str) -> bool:
    """Whether a tool is one of those that search the web, by its name."""
    return tool == SEARCH_PREFIX or tool.startswith(f"{SEARCH_PREFIX}_")


def _lines(result: object) -> list[str]:
    """Title and URL of a result, its snippet and when it was published where it has them; empty without a URL."""
    if not isinstance(result, dict):
        return []
    url = _text(result.get("url"))
    if not url:
        return []
    snippet = _text(result.get("snippet") or result.get("description"))
    title = _text(result.get("title")) or url
    published = _cut(_text(result.get("published")), _MAX_DATE_CHARS)
    date = f"Published: {published}" if published else ""
    lines = [_cut(title, _MAX_TITLE_CHARS), _cut(url, _MAX_URL_CHARS), _cut(snippet, _MAX_SNIPPET_CHARS), date]
    return [line for line in lines if line]


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


def _wait(document: JSONMapping) -> float | None:
    """Seconds after which the same call may succeed, where a failure says so."""
    from ferrule.errors import failure_in

    wait = (failure_in(document) or {}).get("retry_after")
    return float(wait) if isinstance(wait, int | float) and not isinstance(wait, bool) else None


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 3].rstrip()}..."


def _item(item: Item) -> str:
    """The text of an item; of a file, what the model can tell the user."""
    if item["type"] == "text":
        return item["text"]
    if item["type"] == "json":
        return strict_json.dumps(item["value"]).decode()
    name = f"{item['name']}, " if "name" in item else ""
    return (
        f"[{item['type']}: {name}{item['mimeType']}, {item['bytes']:,} bytes, in {item.get('path', item['resource'])}]"
    )
