"""Hacker News through its API: a story with its top comments, a list of stories, a user."""

from __future__ import annotations

import time
from html import escape
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from ferrule import Context, ToolError
from ferrule_fetch.library import converted
from ferrule_research.page.content import Reading
from ferrule_research.page.errors import NOT_FOUND, problem
from ferrule_research.page.metadata.authors import Name
from ferrule_research.page.metadata.bibliography import Facts
from ferrule_research.page.metadata.dates import Date
from ferrule_research.page.sources.json_api import endpoint, get_json
from ferrule_research.page.sources.url_kinds import HACKER_NEWS, LISTS, Place

if TYPE_CHECKING:
    from collections.abc import Iterable

ENDPOINT, VARIABLE = "https://hacker-news.firebaseio.com/v0", "FERRULE_HN_ENDPOINT"
SITE = "Hacker News"

_MOST_COMMENTS, _MOST_STORIES = 10, 20
_AT_ONCE = 5
_SHARE = 0.5  # of the time that is left, for the API


def read_place(place: Place, url: str, context: Context) -> Reading:
    """What is there, as the API gives it. Raises ToolError."""
    api = _API(context)
    if place.kind == "list":
        html, facts = _list(api, place.name)
    else:
        found = api.get(f"{place.kind}/{quote(place.name, safe='')}")
        if not isinstance(found, dict):
            raise problem(NOT_FOUND, url)
        html, facts = _user(found) if place.kind == "user" else _item(api, found)
    _, text = converted(html, url, context.deadline)
    return Reading(url, "markdown", text, facts)


class _API:
    def __init__(self, context: Context) -> None:
        self._context = context
        self._endpoint = endpoint(context, "hn_endpoint", VARIABLE, ENDPOINT)
        self._deadline = time.monotonic() + context.remaining() * _SHARE

    def get(self, path: str) -> Any:
        return get_json(f"{self._endpoint}/{path}.json", self._context, self._deadline)

    def items(self, numbers: Iterable[Any]) -> list[dict[str, Any]]:
        """Those of the items that there are. All threads have ended when they come back."""
        from concurrent.futures import ThreadPoolExecutor

        whole = [number for number in numbers if isinstance(number, int)]
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            found = list(pool.map(self._item, whole))
        return [item for item in found if item and not (item.get("deleted") or item.get("dead"))]

    def _item(self, number: int) -> dict[str, Any] | None:
        try:
            item = self.get(f"item/{number}")
        except ToolError:
            return None
        return item if isinstance(item, dict) else None


def _item(api: _API, item: dict[str, Any]) -> tuple[str, Facts]:
    title = _text(item, "title") or f"Comment by {_text(item, 'by') or 'somebody'}"
    kids = item.get("kids")
    comments = api.items(kids[:_MOST_COMMENTS]) if isinstance(kids, list) else []
    html = [f"<h1>{_linked(title, _text(item, 'url'))}</h1>", _line(item), f"<div>{_text(item, 'text')}</div>"]
    if comments:
        html.append("<h2>Top comments</h2>")
    for comment in comments:
        html.append(f"<h3>{escape(_text(comment, 'by'))}</h3>{_line(comment)}<div>{_text(comment, 'text')}</div>")
    return "".join(html), _facts(title, _text(item, "by"), _day(item.get("time")))


def _list(api: _API, name: str) -> tuple[str, Facts]:
    path, title = LISTS[name]
    numbers = api.get(path)
    stories = api.items(numbers[:_MOST_STORIES]) if isinstance(numbers, list) else []
    items = "".join(f"<li><p>{_entry(story)}</p>{_line(story)}</li>" for story in stories)
    return f"<h1>{title}</h1><ol>{items}</ol>", _facts(title, "", None)


def _user(user: dict[str, Any]) -> tuple[str, Facts]:
    name, karma = _text(user, "id"), user.get("karma", 0)
    since = _day(user.get("created"))
    told = f"{karma:,} karma" if isinstance(karma, int) else ""
    html = f"<h1>{escape(name)}</h1><p>{told}{f', here since {since.iso()}' if since else ''}</p>"
    return f"{html}<div>{_text(user, 'about')}</div>", _facts(name, name, None)


def _entry(story: dict[str, Any]) -> str:
    title = _linked(_text(story, "title"), _text(story, "url"))
    return f"{title} ({_linked('discussion', _discussion(story))})"


def _line(item: dict[str, Any]) -> str:
    """Who, when, and how much of it there is."""
    day, score, comments = _day(item.get("time")), item.get("score"), item.get("descendants")
    told = [
        f"by {_text(item, 'by')}" if _text(item, "by") and _text(item, "title") else "",
        day.iso() if day else "",
        f"{score:,} points" if isinstance(score, int) else "",
        f"{comments:,} comments" if isinstance(comments, int) else "",
    ]
    return f"<p>{escape(' · '.join(filter(None, told)))}</p>"


def _discussion(item: dict[str, Any]) -> str:
    return f"https://{HACKER_NEWS}/item?id={item.get('id', '')}"


def _linked(text: str, url: str) -> str:
    return f'<a href="{escape(url)}">{escape(text)}</a>' if url else escape(text)


def _text(item: dict[str, Any], name: str) -> str:
    value = item.get(name)
    return value if isinstance(value, str) else ""


def _day(seconds: Any) -> Date | None:
    try:
        return Date(*time.gmtime(seconds)[:3])
    except (TypeError, ValueError, OverflowError, OSError):
        return None


def _facts(title: str, author: str, date: Date | None) -> Facts:
    return Facts(title, [Name(author, literal=True)] if author else [], SITE, date)
