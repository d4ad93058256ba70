"""Brave's searches for news and for images: the same key, plan and refusals, at places of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import ferrule_websearch as web
from ferrule_brave.provider import PAGES, Brave

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONMapping

NEWS_PAGE_RESULTS = 50
MAX_NEWS = NEWS_PAGE_RESULTS * PAGES
MAX_IMAGES = 200  # there are no pages
_WEB = "/web/search"


class _Kind(Brave):
    """One kind of search. path: where it is, beneath what all have in common."""

    path: str

    def endpoint_at(self, place: str) -> str:
        """Where this kind is, next to the web search that the admin names. Another place is taken as it is."""
        return place.removesuffix(_WEB) + self.path if place.endswith(_WEB) else place

    def turns_at(self, place: str) -> str:
        """The plan of a key counts all kinds together."""
        return place.removesuffix(self.path) + _WEB if place.endswith(self.path) else place


class BraveNews(_Kind):
    """Brave's news search: pages as on the web, larger ones."""

    path = "/news/search"
    endpoint = Brave.endpoint.removesuffix(_WEB) + path
    page_results = NEWS_PAGE_RESULTS

    def read(self, document: JSONMapping) -> web.Reply:
        """`results[]` has title, url, description, page_age or age, and who published it."""
        results = web.read_results(
            document.get("results") or [],
            snippet="description",
            published=("page_age", "age"),
            extra_snippets="extra_snippets",
            details=_publisher,
        )
        return web.Reply(results, has_more=bool(results))


class BraveImages(_Kind):
    """Brave's image search: one request of up to 200 results."""

    path = "/images/search"
    endpoint = Brave.endpoint.removesuffix(_WEB) + path
    extra_snippets = {}  # noqa: RUF012 - an image has none, and Brave refuses what it does not know

    def plan(self, query: web.Query) -> web.Plan:
        """All at once."""
        return web.plan_without_pages(query, MAX_IMAGES, lambda number: {"q": query.text, "count": number})

    def read(self, document: JSONMapping) -> web.Reply:
        """`results[]` has `url`, which is the page, and `properties.url`, which is the image."""
        hits = [_with_image(hit) for hit in document.get("results") or []]
        return web.Reply(web.read_results(hits, url="image", details=_image), has_more=False)


def _publisher(hit: JSONMapping) -> JSONMapping:
    return {"source": _text(hit, "source", "name") or _text(hit, "meta_url", "hostname")}


def _with_image(hit: object) -> object:
    return {**hit, "image": _part(hit, "properties").get("url")} if isinstance(hit, dict) else hit


def _image(hit: JSONMapping) -> JSONMapping:
    properties = _part(hit, "properties")
    return {
        "source": hit.get("source"),
        "page": hit.get("url"),
        "thumbnail": _part(hit, "thumbnail").get("src"),
        "width": properties.get("width"),
        "height": properties.get("height"),
    }


def _part(hit: JSONMapping, name: str) -> JSONMapping:
    part = hit.get(name)
    return part if isinstance(part, dict) else {}


def _text(hit: JSONMapping, part: str, name: str) -> str:
    value = _part(hit, part).get(name)
    return value if isinstance(value, str) else ""
