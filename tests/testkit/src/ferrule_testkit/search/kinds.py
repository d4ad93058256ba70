"""What search APIs send for news and images, by the shapes of their references, and a route that answers with it."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from ferrule_dev.testing import Exchange
from ferrule_testkit.search.server import JSON, Hit

BRAVE_NEWS_PATH, BRAVE_IMAGES_PATH = "/res/v1/news/search", "/res/v1/images/search"
PUBLISHED = "2026-01-02T03:04:05"

Route = Callable[[Exchange], None]


def sends(document: Mapping[str, Any] | Sequence[Any]) -> Route:
    """A route that answers everything with a document; the body of a request is read first."""

    def answer(exchange: Exchange) -> None:
        exchange.read_body()
        exchange.answer(json.dumps(document).encode(), JSON)

    return answer


def brave_news(hits: Iterable[Hit]) -> dict[str, Any]:
    """A page of Brave's news."""
    results = [
        {
            "type": "news_result",
            "url": hit.url,
            "title": hit.title,
            "description": hit.text,
            "age": "2 hours ago",
            "page_age": PUBLISHED,
            "meta_url": {"scheme": "https", "hostname": urlsplit(hit.url).hostname, "path": ""},
            "thumbnail": {"src": "https://imgs.example/t.jpg"},
            "breaking": False,
        }
        for hit in hits
    ]
    return {"type": "news", "query": {"original": "q", "spellcheck_off": False}, "results": results}


def brave_images(hits: Iterable[Hit]) -> dict[str, Any]:
    """Brave's images: `url` is the page."""
    results = [
        {
            "type": "image_result",
            "title": hit.title,
            "url": f"https://pages.example/{place}",
            "source": "pages.example",
            "page_fetched": "2026-01-02T03:04:05Z",
            "thumbnail": {"src": f"https://imgs.example/{place}", "width": 500, "height": 300},
            "properties": {"url": hit.url, "placeholder": "https://imgs.example/p", "width": 1200, "height": 800},
            "meta_url": {"scheme": "https", "netloc": "pages.example", "hostname": "pages.example"},
            "confidence": "high",
        }
        for place, hit in enumerate(hits)
    ]
    return {"type": "images", "query": {"original": "q"}, "results": results, "extra": {"might_be_offensive": False}}


def google_images(hits: Iterable[Hit]) -> dict[str, Any]:
    """Google's images: `link` is the image."""
    items = [
        {
            "kind": "customsearch#result",
            "title": hit.title,
            "link": hit.url,
            "displayLink": "pages.example",
            "snippet": hit.text,
            "mime": "image/jpeg",
            "fileFormat": "image/jpeg",
            "image": {
                "contextLink": f"https://pages.example/{place}",
                "height": 800,
                "width": 1200,
                "byteSize": 123456,
                "thumbnailLink": f"https://imgs.example/{place}",
                "thumbnailHeight": 100,
                "thumbnailWidth": 150,
            },
        }
        for place, hit in enumerate(hits)
    ]
    return {"kind": "customsearch#search", "queries": {"request": [{"title": "q"}]}, "items": items}


def searxng_images(hits: Iterable[Hit]) -> dict[str, Any]:
    """SearXNG's images: `url` is the page, `img_src` the image."""
    results = [
        {
            "url": f"https://pages.example/{place}",
            "title": hit.title,
            "content": hit.text,
            "img_src": hit.url,
            "thumbnail_src": f"https://imgs.example/{place}",
            "resolution": "1200 x 800",
            "img_format": "jpeg",
            "source": "Pages",
            "template": "images.html",
            "engine": "pictures",
            "category": "images",
        }
        for place, hit in enumerate(hits)
    ]
    return {"query": "q", "results": results, "answers": [], "unresponsive_engines": []}


def gdelt_articles(hits: Iterable[Hit]) -> dict[str, Any]:
    """GDELT's list of articles; it has no snippets, and is an empty object where nothing was found."""
    articles = [
        {
            "url": hit.url,
            "url_mobile": "",
            "title": hit.title,
            "seendate": "20260102T030405Z",
            "socialimage": "https://imgs.example/s.jpg",
            "domain": urlsplit(hit.url).hostname,
            "language": "English",
            "sourcecountry": "Norway",
        }
        for hit in hits
    ]
    return {"articles": articles} if articles else {}
