"""The categories of SearXNG apart from the general one: news and images."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

import ferrule_websearch as web
from ferrule_searxng.provider import SearXNG, describe_unresponsive

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONMapping

_RESOLUTION = re.compile(r"(\d{1,6})\s*[x×*]\s*(\d{1,6})")


class SearXNGNews(SearXNG):
    """The engines of news that the instance has."""

    category = "news"

    def request(self, keys: Mapping[str, str]) -> web.Request:
        """As in general, in another category."""
        whole = super().request(keys)
        return whole._replace(params={**whole.params, "categories": self.category})


class SearXNGImages(SearXNGNews):
    """The engines of images that the instance has."""

    category = "images"

    def read(self, document: JSONMapping) -> web.Reply:
        """`results[]` has `url`, which is the page, and `img_src`, which is the image, maybe without a scheme."""
        hits = [_with_scheme(hit) for hit in document["results"]]
        results = web.read_results(hits, url="img_src", snippet="content", html=False, details=_image)
        return web.Reply(results, has_more=bool(hits), incomplete=describe_unresponsive(document))


def _with_scheme(hit: object) -> object:
    if not isinstance(hit, dict):
        return hit
    names = [name for name in ("img_src", "thumbnail_src") if str(hit.get(name)).startswith("//")]
    return {**hit, **{name: f"https:{hit[name]}" for name in names}}


def _image(hit: JSONMapping) -> JSONMapping:
    size = _RESOLUTION.search(str(hit.get("resolution")))
    sides = dict(zip(("width", "height"), map(int, size.groups()), strict=True)) if size else {}
    return {"source": hit.get("source"), "page": hit.get("url"), "thumbnail": hit.get("thumbnail_src"), **sides}
