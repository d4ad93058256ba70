"""Which way leads to what is at a URL: an API, or a player. Known by host and path."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit

from ferrule_research.hosts import host_of, is_on

HACKER_NEWS = "news.ycombinator.com"
LISTS = {
    **dict.fromkeys(("", "news", "front"), ("topstories", "Top stories")),
    "newest": ("newstories", "New stories"),
    "best": ("beststories", "Best stories"),
    "ask": ("askstories", "Ask HN"),
    "show": ("showstories", "Show HN"),
    "jobs": ("jobstories", "Jobs"),
}
_YOUTUBE = ("youtube.com", "youtu.be", "youtube-nocookie.com")
_VIDEO = re.compile(r"[A-Za-z0-9_-]{11}")


class Place(NamedTuple):
    """What an address on Hacker News is for. kind: "item", "user" or "list". name: a number, a user or a list."""

    kind: str
    name: str


def hacker_news_place(url: str) -> Place | None:
    """What a URL asks of Hacker News; None where it is elsewhere, or nothing that the API has."""
    if host_of(url) != HACKER_NEWS:
        return None
    parts = urlsplit(url)
    first, _, second = parts.path.strip("/").partition("/")
    if first in LISTS and not second:
        return Place("list", first)
    name = second or parse_qs(parts.query).get("id", [""])[0]
    if first == "item" and name.isascii() and name.isdigit():
        return Place("item", name)
    return Place("user", name) if first == "user" and name else None


def watch_url(url: str) -> str | None:
    """The address of the page that a video is watched on; None for what is no video on YouTube."""
    host = host_of(url)
    if not is_on(host, _YOUTUBE):
        return None
    parts = urlsplit(url)
    first, _, second = parts.path.strip("/").partition("/")
    if is_on(host, ("youtu.be",)):
        number = first
    else:
        number = second if first in ("shorts", "embed", "live", "v") else parse_qs(parts.query).get("v", [""])[0]
    if not _VIDEO.fullmatch(number):
        return None
    domain = f"www.youtube.com{f':{parts.port}' if parts.port else ''}"
    return f"{parts.scheme}://{domain}/watch?v={number}"
