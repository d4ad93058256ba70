"""Hacker News through its API: a story with its top comments, a list of stories, a user."""

from __future__ import annotations

import time
from html import escape
from urllib.parse import quote

from ferrule import Context, JSONObject, ToolError
from ferrule_fetch.library import convert_page
from ferrule_research.page.content import PageContent
from ferrule_research.page.errors import NOT_FOUND, page_error
from ferrule_research.page.metadata.authors import Name
from ferrule_research.page.metadata.bibliography import Bibliography
from ferrule_research.page.metadata.dates import Date
from ferrule_research.page.sources.json_api import endpoint, get_json
from ferrule_research.page.sources.url_kinds import HACKER_NEWS, LISTS, Place

ENDPOINT, VARIABLE = "https://hacker-news.firebaseio.com/v0", "FERRULE_HN_ENDPOINT"
SITE = "Hacker News"

_MAX_COMMENTS, _MAX_STORIES = 10, 20
_PARALLEL_REQUESTS = 5
_TIME_SHARE = 0.5  # of the time that is left


def read_hacker_news(place: Place, url: str, context: Context) -> PageContent:
    """What is there, as the API gives it. Raises ToolError."""
    api = _API(context)
    if place.kind == "list":
        html, bibliography = _render_list(api, place.name)
    else:
        found = api.get(f"{place.kind}/{quote(place.name, safe='')}")
        if not isinstance(found, dict):
            raise page_error(NOT_FOUND, url)
        html, bibliography = _render_user(found) if place.kind == "user" else _render_item(api, found)
    text = convert_page(html, url, context.deadline).markdown
    return PageContent(url, "markdown", text, bibliography, quality="complete" if api.is_whole else "partial")


class _API:
    """is_whole: whether every item was had that was asked for."""

    def __init__(self, context: Context) -> None:
        self.is_whole = True
        self._context = context
        self._endpoint = endpoint(context, "hn_endpoint", VARIABLE, ENDPOINT)
        self._deadline = time.monotonic() + context.remaining() * _TIME_SHARE

    def get(self, path: str) -> object:
        return get_json(f"{self._endpoint}/{path}.json", self._context, self._deadline)

    def items(self, numbers: object, limit: int) -> list[JSONObject]:
        """The first items of a list of numbers, as far as they are there. All threads have ended then."""
        from concurrent.futures import ThreadPoolExecutor

        first = numbers[:limit] if isinstance(numbers, list) else []
        with ThreadPoolExecutor(_PARALLEL_REQUESTS) as pool:
            found = list(pool.map(self._item, [number for number in first if isinstance(number, int)]))
        return [item for item in found if item and not (item.get("deleted") or item.get("dead"))]

    def _item(self, number: int) -> JSONObject:
        try:
            item = self.get(f"item/{number}")
        except ToolError:
            self.is_whole = False
            return {}
        return item if isinstance(item, dict) else {}


def _render_item(api: _API, item: JSONObject) -> tuple[str, Bibliography]:
    title = _text(item, "title") or f"Comment by {_text(item, 'by') or 'somebody'}"
    comments = api.items(item.get("kids"), _MAX_COMMENTS)
    html = [f"<h1>{_linked(title, _text(item, 'url'))}</h1>", _line(item), f"<div>{_text(item, 'text')}</div>"]
    if comments:
        html.append("<h2>Top comments</h2>")
    for comment in comments:
        html.append(f"<h3>{escape(_text(comment, 'by'))}</h3>{_line(comment)}<div>{_text(comment, 'text')}</div>")
    return "".join(html), _bibliography(title, _text(item, "by"), _day(item.get("time")))


def _render_list(api: _API, name: str) -> tuple[str, Bibliography]:
    path, title = LISTS[name]
    stories = api.items(api.get(path), _MAX_STORIES)
    items = "".join(f"<li><p>{_entry(story)}</p>{_line(story)}</li>" for story in stories)
    return f"<h1>{title}</h1><ol>{items}</ol>", _bibliography(title, "", None)


def _render_user(user: JSONObject) -> tuple[str, Bibliography]:
    name, karma = _text(user, "id"), user.get("karma", 0)
    since = _day(user.get("created"))
    told = f"{karma:,} karma" if isinstance(karma, int) else ""
    html = f"<h1>{escape(name)}</h1><p>{told}{f', here since {since.iso()}' if since else ''}</p>"
    return f"{html}<div>{_text(user, 'about')}</div>", _bibliography(name, name, None)


def _entry(story: JSONObject) -> str:
    title = _linked(_text(story, "title"), _text(story, "url"))
    discussion = f"https://{HACKER_NEWS}/item?id={story.get('id', '')}"
    return f"{title} ({_linked('discussion', discussion)})"


def _line(item: JSONObject) -> str:
    """Who, when, and how much of it there is."""
    day, score, comments = _day(item.get("time")), item.get("score"), item.get("descendants")
    told = [
        f"by {_text(item, 'by')}" if _text(item, "by") and _text(item, "title") else "",
        day.iso() if day else "",
        f"{score:,} points" if isinstance(score, int) else "",
        f"{comments:,} comments" if isinstance(comments, int) else "",
    ]
    return f"<p>{escape(' · '.join(filter(None, told)))}</p>"


def _linked(text: str, url: str) -> str:
    return f'<a href="{escape(url)}">{escape(text)}</a>' if url else escape(text)


def _text(item: JSONObject, name: str) -> str:
    value = item.get(name)
    return value if isinstance(value, str) else ""


def _day(seconds: object) -> Date | None:
    try:
        return Date(*time.gmtime(seconds)[:3]) if isinstance(seconds, int | float) else None
    except (ValueError, OverflowError, OSError):
        return None


def _bibliography(title: str, author: str, date: Date | None) -> Bibliography:
    return Bibliography(title, [Name(author, literal=True)] if author else [], SITE, date)
